/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files about collectives that lie beside dumps (docs/formats/companions.md): what PyTorch's flight
 * recorder of a rank wrote, and the status that NCCL's RAS told. Numbers of both are read, and
 * kept as how far a rank came in a group.
 */
#include "triage/internal.h"

#include "report/library.h"
#include "triage/tree.h"

enum {
	MAX_RANKS = 1 << 16, /* of a group */
	MAX_GROUPS = 256,    /* of one rank */
};

/* ---- PyTorch's flight recorder ---- */

/* One group of the rank whose recorder it was. */
struct recorded {
	struct ws_str name, description, ranks;
	int64_t id;                         /* -1: not known; of this rank alone */
	uint64_t enqueued, completed, next; /* next: the first that is not complete */
	struct ws_str operation;            /* of that */
	bool has_calls;
};

struct recorder {
	const struct wsi_tree *tree;
	struct recorded group[MAX_GROUPS];
	size_t n;
};

/* The group of a name; NULL: there are too many. */
static struct recorded *recorded_of(struct recorder *r, struct ws_str name)
{
	for (size_t i = 0; i < r->n; i++)
		if (ws_str_equal(r->group[i].name, name))
			return &r->group[i];
	if (r->n == MAX_GROUPS)
		return NULL;
	r->group[r->n] = (struct recorded){ .name = name, .id = -1, .next = UINT64_MAX };
	return &r->group[r->n++];
}

/* pg_config: {"0": {"desc": "default_pg", "ranks": "[0, 1]"}} */
static void read_config(struct recorder *r, const struct wsi_tree_node *config)
{
	uint32_t at = wsi_tree_first(config, WSI_TREE_MAP);
	while (at != WS_NONE) {
		struct ws_str name = wsi_tree_text(wsi_tree_next(r->tree, &at));
		const struct wsi_tree_node *one = wsi_tree_next(r->tree, &at);
		struct recorded *group = recorded_of(r, name);
		if (!group)
			return;
		group->description = wsi_tree_text(wsi_tree_get(r->tree, one, "desc"));
		group->ranks = wsi_tree_text(wsi_tree_get(r->tree, one, "ranks"));
	}
}

/* One call: {"pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 44,
 * "is_p2p": false, "profiling_name": "nccl:all_reduce", "state": "started"} */
static void read_recorded_call(struct recorder *r, const struct wsi_tree_node *call)
{
	const struct wsi_tree_node *who = wsi_tree_get(r->tree, call, "process_group");
	struct ws_str name = wsi_tree_text(wsi_tree_at(r->tree, who, 0));
	int64_t place;
	if (!wsi_tree_number(wsi_tree_get(r->tree, call, "collective_seq_id"), &place) ||
	    place < 0 || wsi_tree_is_true(wsi_tree_get(r->tree, call, "is_p2p")) || !name.len)
		return;
	struct recorded *group = recorded_of(r, name);
	if (!group)
		return;
	group->has_calls = true;
	if (!group->description.len)
		group->description = wsi_tree_text(wsi_tree_at(r->tree, who, 1));
	(void)wsi_tree_number(wsi_tree_get(r->tree, call, "pg_id"), &group->id);
	group->enqueued = wsi_max_u64(group->enqueued, (uint64_t)place);
	if (ws_str_equal(wsi_tree_text(wsi_tree_get(r->tree, call, "state")),
			 ws_str_of("completed"))) {
		group->completed = wsi_max_u64(group->completed, (uint64_t)place);
	} else if ((uint64_t)place < group->next) {
		group->next = (uint64_t)place;
		group->operation = wsi_tree_text(wsi_tree_get(r->tree, call, "profiling_name"));
	}
}

/* The group that a rank calls by a number; without calls names are such numbers. */
static struct recorded *recorded_by(struct recorder *r, struct ws_str id)
{
	int64_t number;
	struct recorded *named = NULL;
	for (size_t i = 0; i < r->n; i++) {
		char text[24];
		number = r->group[i].id;
		snprintf(text, sizeof text, "%" PRId64, number);
		if (number >= 0 && ws_str_equal(id, ws_str_of(text)))
			return &r->group[i];
		if (number < 0 && ws_str_equal(id, r->group[i].name))
			named = &r->group[i];
	}
	return named;
}

/* pg_status: {"0": {"last_enqueued_collective": 44, "last_completed_collective": 42}}; -1: none */
static void read_status(struct recorder *r, const struct wsi_tree_node *status)
{
	uint32_t at = wsi_tree_first(status, WSI_TREE_MAP);
	while (at != WS_NONE) {
		struct recorded *group = recorded_by(r, wsi_tree_text(wsi_tree_next(r->tree, &at)));
		const struct wsi_tree_node *one = wsi_tree_next(r->tree, &at);
		int64_t enqueued, completed;
		if (!group ||
		    !wsi_tree_number(wsi_tree_get(r->tree, one, "last_enqueued_collective"),
				     &enqueued) ||
		    !wsi_tree_number(wsi_tree_get(r->tree, one, "last_completed_collective"),
				     &completed))
			continue;
		group->has_calls = true;
		if (enqueued > 0)
			group->enqueued = wsi_max_u64(group->enqueued, (uint64_t)enqueued);
		if (completed > 0)
			group->completed = wsi_max_u64(group->completed, (uint64_t)completed);
	}
}

/* "[0, 1, 2]"; how many. */
static size_t ranks_read(struct ws_str text, uint64_t *ranks)
{
	size_t n = 0;
	while (text.len && n < MAX_RANKS) {
		uint64_t number = 0;
		size_t digits = 0;
		while (digits < text.len && digits < 9 && wsi_is_digit(text.ptr[digits]))
			number = number * 10 + (uint64_t)(text.ptr[digits++] - '0');
		if (digits)
			ranks[n++] = number;
		text = wsi_str_skip(text, digits ? digits : 1);
	}
	return n;
}

static bool keep_recorded(struct ws_triage *triage, const struct recorded *group, uint64_t rank,
			  uint64_t *ranks)
{
	bool is_world = ws_str_equal(group->description, ws_str_of("default_pg")) ||
			(!group->description.len && ws_str_equal(group->name, ws_str_of("0")));
	size_t n = ranks_read(group->ranks, ranks), index;
	char name[128] = "";
	if (!is_world)
		snprintf(name, sizeof name, "%.*s%s%.*s",
			 (int)wsi_min_u64(group->description.len, 60), group->description.ptr,
			 group->description.len ? " " : "", (int)wsi_min_u64(group->name.len, 60),
			 group->name.ptr);
	if (!wsi_evidence_group(triage, ws_str_of(name), ranks, n, &index))
		return false;
	if (!group->has_calls)
		return true;
	bool is_next = group->next == group->completed + 1;
	return wsi_evidence_count(
		triage, index,
		&(struct wsi_count){ .teller = WSI_RECORDER,
				     .rank = rank,
				     .enqueued = group->enqueued,
				     .completed = group->completed,
				     .operation = is_next ? group->operation : ws_str_of("") });
}

/* The number at the end of a name: "nccl_trace_rank_12", "rank_12.json.gz". */
static bool rank_of_name(const char *name, uint64_t *ret_rank)
{
	static const char *const endings[] = { ".json", ".pickle", ".pkl", ".pt" };
	struct ws_str text = wsi_unpacked_name(wsi_report_file_name(ws_str_of(name)));
	uint64_t number = 0;
	size_t start;
	for (size_t i = 0; i < WSI_COUNT(endings); i++) {
		size_t n = strlen(endings[i]);
		if (text.len > n && memcmp(text.ptr + text.len - n, endings[i], n) == 0)
			text.len -= n;
	}
	for (start = text.len; start > 0 && wsi_is_digit(text.ptr[start - 1]);)
		start--;
	for (size_t i = start; i < text.len && i - start < 10; i++)
		number = number * 10 + (uint64_t)(text.ptr[i] - '0');
	*ret_rank = number;
	return text.len > start && text.len - start < 10;
}

static enum ws_status take_recorder(struct ws_triage *triage, const char *name,
				    const struct wsi_tree *tree, struct ws_error *err)
{
	const struct wsi_tree_node *root = wsi_tree_root(tree);
	uint64_t rank;
	if (!rank_of_name(name, &rank))
		return wsi_fail(
			err, WS_MALFORMED, WS_NO_OFFSET,
			"a dump of the flight recorder, and its name does not end in a rank");
	wsi_scoped_free struct recorder *r = wsi_zalloc(sizeof *r);
	wsi_scoped_free uint64_t *ranks = wsi_zalloc_array(MAX_RANKS, sizeof *ranks);
	if (!r || !ranks)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a dump of the flight recorder");
	r->tree = tree;
	read_config(r, wsi_tree_get(tree, root, "pg_config"));
	const struct wsi_tree_node *calls = wsi_tree_get(tree, root, "entries");
	for (uint32_t at = wsi_tree_first(calls, WSI_TREE_LIST); at != WS_NONE;)
		read_recorded_call(r, wsi_tree_next(tree, &at));
	read_status(r, wsi_tree_get(tree, root, "pg_status"));
	for (size_t i = 0; i < r->n; i++)
		if (!keep_recorded(triage, &r->group[i], rank, ranks))
			return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET,
					"a dump of the flight recorder");
	return WS_OK;
}

/* ---- NCCL's RAS ---- */

struct ras {
	struct ws_triage *triage;
	const struct wsi_tree *tree;
	struct wsi_map by_process; /* host, process, device -> rank in the largest communicator */
	uint64_t *ranks;           /* owned; of one communicator */
	int64_t largest;
};

static struct wsi_map_key process_key(const struct ras *ras, const struct wsi_tree_node *one)
{
	char text[64];
	int64_t pid = 0, device = 0;
	(void)wsi_tree_number(wsi_tree_get(ras->tree, one, "pid"), &pid);
	(void)wsi_tree_number(wsi_tree_get(ras->tree, one, "nvml_dev"), &device);
	snprintf(text, sizeof text, "%" PRId64 " %" PRId64, pid, device);
	return wsi_key_of(wsi_tree_text(wsi_tree_get(ras->tree, one, "host")), ws_str_of(text));
}

static int64_t number_of(const struct ras *ras, const struct wsi_tree_node *map, const char *key)
{
	int64_t number;
	return wsi_tree_number(wsi_tree_get(ras->tree, map, key), &number) ? number : -1;
}

/* Which processes are which ranks, by the largest communicator. */
static bool read_processes(struct ras *ras, const struct wsi_tree_node *comm)
{
	static const char *const lists[] = { "ranks", "missing_ranks" };
	int64_t size = number_of(ras, comm, "size");
	bool is_new;
	for (size_t k = 0; k < WSI_COUNT(lists); k++) {
		const struct wsi_tree_node *list = wsi_tree_get(ras->tree, comm, lists[k]), *one;
		uint32_t at = wsi_tree_first(list, WSI_TREE_LIST);
		while ((one = wsi_tree_next(ras->tree, &at))) {
			int64_t rank = number_of(ras, one, "rank"),
				pid = number_of(ras, one, "pid");
			struct wsi_map_key key = process_key(ras, one);
			struct wsi_comm_member member = { .pid = (uint64_t)pid,
							  .rank = (uint64_t)rank,
							  .n_ranks = (uint64_t)size };
			const struct wsi_tree_node *status = wsi_tree_get(ras->tree, one, "status");
			bool gone =
				k == 1 &&
				(wsi_tree_is_true(
					 wsi_tree_get(ras->tree, status, "considered_dead")) ||
				 wsi_tree_is_true(wsi_tree_get(ras->tree, status, "unresponsive")));
			if (rank < 0 || rank >= size || pid < 0)
				continue;
			if (!wsi_map_put(&ras->by_process, &key, (uint32_t)rank, &is_new) ||
			    !wsi_evidence_member(ras->triage, &member) ||
			    (gone && !wsi_evidence_gone(ras->triage, (uint64_t)rank)))
				return false;
		}
	}
	return true;
}

/* Calls that all ranks of a communicator must make alike. */
static uint64_t snapshot_calls_of(const struct ras *ras, const struct wsi_tree_node *one)
{
	const struct wsi_tree_node *counts = wsi_tree_get(ras->tree, one, "collective_counts");
	uint32_t at = wsi_tree_first(counts, WSI_TREE_MAP);
	uint64_t sum = 0;
	for (int i = 0; i < 64 && at != WS_NONE; i++) {
		struct ws_str name = wsi_tree_text(wsi_tree_next(ras->tree, &at));
		int64_t n;
		bool is_pair = wsi_str_begins(name, "Send") || wsi_str_begins(name, "Recv");
		if (wsi_tree_number(wsi_tree_next(ras->tree, &at), &n) && n > 0 && !is_pair)
			sum += wsi_min_u64((uint64_t)n, UINT32_MAX);
	}
	return sum;
}

static bool read_communicator(struct ras *ras, const struct wsi_tree_node *comm)
{
	static const char *const lists[] = { "ranks", "missing_ranks" };
	struct ws_str hash = wsi_tree_text(wsi_tree_get(ras->tree, comm, "hash"));
	const struct wsi_tree_node *one;
	size_t n = 0, group;
	for (size_t k = 0; k < WSI_COUNT(lists); k++) {
		uint32_t at =
			wsi_tree_first(wsi_tree_get(ras->tree, comm, lists[k]), WSI_TREE_LIST);
		while ((one = wsi_tree_next(ras->tree, &at)) && n < MAX_RANKS) {
			struct wsi_map_key key = process_key(ras, one);
			const uint32_t *rank = wsi_map_find(&ras->by_process, &key);
			if (!rank)
				return true; /* of another job */
			ras->ranks[n++] = *rank;
		}
	}
	const char *name =
		wsi_keep_format(ras->triage, "NCCL %.*s", (int)wsi_min_u64(hash.len, 40), hash.ptr);
	if (!name || !wsi_evidence_group(ras->triage, ws_str_of(name), ras->ranks, n, &group))
		return false;
	uint32_t at = wsi_tree_first(wsi_tree_get(ras->tree, comm, lists[0]), WSI_TREE_LIST);
	for (size_t i = 0; (one = wsi_tree_next(ras->tree, &at)) && i < n; i++)
		if (!wsi_evidence_count(
			    ras->triage, group,
			    &(struct wsi_count){ .teller = WSI_RAS,
						 .rank = ras->ranks[i],
						 .enqueued = snapshot_calls_of(ras, one),
						 .completed = WSI_NO_NUMBER }))
			return false;
	return true;
}

/* Goes over the communicators; false: memory is out. */
static bool read_ras(struct ras *ras)
{
	const struct wsi_tree_node *list =
		wsi_tree_get(ras->tree, wsi_tree_root(ras->tree), "communicators");
	const struct wsi_tree_node *comm;
	for (uint32_t at = wsi_tree_first(list, WSI_TREE_LIST);
	     (comm = wsi_tree_next(ras->tree, &at));)
		if (number_of(ras, comm, "size") > ras->largest)
			ras->largest = number_of(ras, comm, "size");
	for (uint32_t at = wsi_tree_first(list, WSI_TREE_LIST);
	     (comm = wsi_tree_next(ras->tree, &at));)
		if (number_of(ras, comm, "size") == ras->largest && !read_processes(ras, comm))
			return false;
	for (uint32_t at = wsi_tree_first(list, WSI_TREE_LIST);
	     (comm = wsi_tree_next(ras->tree, &at));)
		if (!read_communicator(ras, comm))
			return false;
	return true;
}

static enum ws_status take_ras(struct ws_triage *triage, const struct wsi_tree *tree,
			       struct ws_error *err)
{
	struct ras ras = { .triage = triage, .tree = tree };
	ras.ranks = wsi_zalloc_array(MAX_RANKS, sizeof *ras.ranks);
	bool good = ras.ranks && read_ras(&ras);
	wsi_free(ras.ranks);
	wsi_map_fini(&ras.by_process);
	return good ? WS_OK : wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "the status of NCCL's RAS");
}

/* ---- which it is ---- */

bool wsi_triage_is_snapshot(struct ws_span bytes)
{
	size_t i = 0;
	while (i < bytes.len && memchr(" \t\r\n", bytes.ptr[i], 4))
		i++;
	return i < bytes.len && (bytes.ptr[i] == '{' || bytes.ptr[i] == 0x80);
}

enum ws_status ws_triage_snapshot(struct ws_triage *triage, const char *name, char *bytes,
				  size_t len, struct ws_error *err)
{
	struct wsi_tree tree;
	bool is_pickle = len && (unsigned char)*bytes == 0x80;
	bool whole = is_pickle ? wsi_tree_read_pickle(&tree, bytes, len)
			       : wsi_tree_read_json(&tree, bytes, len);
	const struct wsi_tree_node *root = wsi_tree_root(&tree);
	bool is_ras = wsi_tree_get(&tree, root, "communicators") != NULL;
	bool is_recorder = !is_ras && (wsi_tree_get(&tree, root, "pg_status") ||
				       wsi_tree_get(&tree, root, "pg_config") ||
				       wsi_tree_get(&tree, root, "entries"));
	enum ws_status st;
	if (tree.no_memory)
		st = wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "%s", name);
	else if (!whole && (is_pickle || is_ras || is_recorder))
		st = wsi_fail(err, WS_MALFORMED, WS_NO_OFFSET,
			      is_pickle
				      ? "is cut, or no plain data: nothing of a pickle is executed"
				      : "is cut, or too large");
	else if (is_ras)
		st = take_ras(triage, &tree, err);
	else if (is_recorder)
		st = take_recorder(triage, name, &tree, err);
	else
		st = wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "tells nothing of collectives");
	wsi_tree_fini(&tree);
	return st;
}
