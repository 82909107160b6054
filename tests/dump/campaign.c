/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damages dumps in memory, many times, and opens them: campaign COUNT SEED DUMP... Prints TAP.
 *
 * No damage may crash the reader, make it slow (2 s) or hungry (4 times the file and 64 MiB). Of
 * damages to a single field, at least 99 % must leave every fact alone that does not hang off the
 * damaged field. A fact is a row, a register file, a call stack, a piece of memory ... that the
 * reader hands out; it hangs off the sections and rows on its way up to the root of the tree.
 *
 * It uses the reader's insides only to tell where a fact came from.
 */
#include "target/dump/dump.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "walk.h"

#undef malloc
#undef calloc
#undef free
#undef printf
#undef exit
#undef abort

enum { MAX_DEPTH = 7 };

/* What a checker keeps of freed memory is not the reader's. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEASURES_MEMORY false
#elif defined(__has_feature)
#define MEASURES_MEMORY (!__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer))
#else
#define MEASURES_MEMORY true
#endif

/* ---- random numbers ---- */

struct random {
	uint64_t state;
};

static uint32_t rnd(struct random *r, uint32_t n)
{
	r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return n ? (uint32_t)((r->state >> 33) % n) : 0;
}

/* ---- facts ---- */

struct place {
	uint32_t section, row;
};

struct fact {
	uint64_t key, value;
	struct place way[MAX_DEPTH]; /* from the fact up to the root; section 0 ends it */
	unsigned seen;               /* number of the mutant that had it last */
};

struct facts {
	struct fact *at;
	size_t n, cap;
	uint32_t *map; /* key -> index + 1, open addressing */
	size_t map_size;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash ^= value + UINT64_C(0x9e3779b97f4a7c15) + (hash << 6) + (hash >> 2);
	return hash * UINT64_C(0xff51afd7ed558ccd);
}

static uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* A node of the tree on the way down. */
struct node {
	const struct node *parent;
	struct place place;
	uint64_t path;
};

static struct node node_of(const struct ws_core *core, const struct node *parent,
			   struct wsi_ref ref)
{
	const struct wsi_table *table = &core->tables[ref.table];
	return (struct node){ parent,
			      { table->section, ref.row },
			      mix(mix(parent ? parent->path : 7, table->kind), ref.row) };
}

typedef void fact_fn(void *user, const struct fact *fact);

struct walker {
	const struct ws_core *core;
	fact_fn *each;
	void *user;
};

static void tell(struct walker *w, const struct node *node, uint32_t leaf, unsigned what,
		 uint64_t value)
{
	struct fact fact = { .key = mix(node ? node->path : 3, what), .value = value };
	unsigned depth = 0;
	if (leaf)
		fact.way[depth++] = (struct place){ leaf, WS_NONE };
	for (; node && depth < MAX_DEPTH; node = node->parent)
		fact.way[depth++] = node->place;
	w->each(w->user, &fact);
}

static uint64_t row_hash(const struct ws_core *core, struct wsi_ref ref)
{
	struct ws_span row = wsi_core_row(core, ref);
	return mix_bytes(5, row.ptr, row.len);
}

static void tell_leaf(struct walker *w, const struct node *node, struct wsi_ref ref,
		      enum wsi_kind kind)
{
	uint32_t section = wsi_core_slot(w->core, ref, kind);
	struct ws_span bytes = { 0 };
	if (!section)
		return;
	(void)!wsi_core_hold(w->core, section, &bytes, NULL);
	tell(w, node, section, kind, mix_bytes(11, bytes.ptr, bytes.len));
}

static void tell_lane(struct walker *w, const struct node *warp, uint32_t index,
		      const struct ws_lane *lane)
{
	const struct ws_core *core = w->core;
	struct wsi_ref ref;
	uint32_t values[256], n = 0;
	struct ws_return_address frames[32];
	if (!wsi_core_lane_row(core, index, lane->id, &ref))
		return;
	struct node node = node_of(core, warp, ref);
	tell(w, &node, 0, 100, row_hash(core, ref));
	if (ws_target_registers(&core->target, index, lane->id, WS_REG_R, 0, 256, values, &n,
				NULL) == WS_OK)
		tell(w, &node, wsi_core_slot(core, ref, WSI_KIND_REGS), 101,
		     mix_bytes(1, values, n * 4u));
	if (ws_target_registers(&core->target, index, lane->id, WS_REG_P, 0, 256, values, &n,
				NULL) == WS_OK)
		tell(w, &node, wsi_core_slot(core, ref, WSI_KIND_PREDS), 102,
		     mix_bytes(1, values, n * 4u));
	if (ws_target_call_stack(&core->target, index, lane->id, frames, 32, &n, NULL) == WS_OK &&
	    n) {
		uint64_t hash = n;
		for (uint32_t i = 0; i < n && i < 32; i++)
			hash = mix(mix(hash, frames[i].address), frames[i].level);
		tell(w, &node, wsi_core_slot(core, ref, WSI_KIND_FRAMES), 103, hash);
	}
	tell_leaf(w, &node, ref, WSI_KIND_LOCAL);
}

static void tell_blocks(struct walker *w, const struct node *sm, uint32_t sm_index)
{
	const struct ws_core *core = w->core;
	for (uint32_t b = core->blocks.first[sm_index]; b < core->blocks.first[sm_index + 1]; b++) {
		struct node block = node_of(core, sm, core->blocks.at[b]);
		tell(w, &block, 0, 1, row_hash(core, core->blocks.at[b]));
		tell_leaf(w, &block, core->blocks.at[b], WSI_KIND_SHARED);
		for (uint32_t i = core->warps.first[sm_index]; i < core->warps.first[sm_index + 1];
		     i++) {
			struct ws_lane lanes[WS_MAX_LANES];
			uint32_t n = 0;
			if (wsi_core_block_of(core, i) != b)
				continue;
			struct node warp = node_of(core, &block, core->warps.at[i]);
			tell(w, &warp, 0, 1, row_hash(core, core->warps.at[i]));
			tell_leaf(w, &warp, core->warps.at[i], WSI_KIND_UREGS);
			tell_leaf(w, &warp, core->warps.at[i], WSI_KIND_UPREDS);
			tell_leaf(w, &warp, core->warps.at[i], WSI_KIND_BARRIERS);
			(void)!ws_target_lanes(&core->target, i, lanes, &n, NULL);
			for (uint32_t l = 0; l < n; l++)
				tell_lane(w, &warp, i, &lanes[l]);
		}
	}
}

static void tell_device(struct walker *w, uint32_t d)
{
	const struct ws_core *core = w->core;
	struct node device = node_of(core, NULL, core->devices.at[d]);
	tell(w, &device, 0, 1, row_hash(core, core->devices.at[d]));
	for (uint32_t c = core->contexts.first[d]; c < core->contexts.first[d + 1]; c++) {
		struct node context = node_of(core, &device, core->contexts.at[c]);
		tell(w, &context, 0, 1, row_hash(core, core->contexts.at[c]));
		for (uint32_t m = core->modules.first[c]; m < core->modules.first[c + 1]; m++) {
			struct node module = node_of(core, &context, core->modules.at[m]);
			tell(w, &module, 0, 1, row_hash(core, core->modules.at[m]));
			tell_leaf(w, &module, core->modules.at[m], WSI_KIND_IMAGE);
			tell_leaf(w, &module, core->modules.at[m], WSI_KIND_RELOCATED);
		}
	}
	for (uint32_t g = core->grids.first[d]; g < core->grids.first[d + 1]; g++) {
		struct node grid = node_of(core, &device, core->grids.at[g]);
		tell(w, &grid, 0, 1, row_hash(core, core->grids.at[g]));
		tell_leaf(w, &grid, core->grids.at[g], WSI_KIND_PARAM);
		tell_leaf(w, &grid, core->grids.at[g], WSI_KIND_BANK);
	}
	for (uint32_t s = 0; s < core->sms.n; s++) {
		if (core->tables[core->sms.at[s].table].parent != d)
			continue;
		struct node sm = node_of(core, &device, core->sms.at[s]);
		tell(w, &sm, 0, 1, row_hash(core, core->sms.at[s]));
		tell_blocks(w, &sm, s);
	}
}

/* Every fact of an open dump. */
static void tell_all(const struct ws_core *core, fact_fn *each, void *user)
{
	struct walker w = { core, each, user };
	for (uint32_t d = 0; d < core->devices.n; d++)
		tell_device(&w, d);
	for (uint32_t g = 0; g < core->n_globals; g++) {
		struct wsi_shdr shdr = wsi_elf_shdr(&core->elf, core->globals[g]);
		uint8_t bytes[512];
		size_t n = 0;
		struct ws_address at = { .space = WS_SPACE_GLOBAL, .address = shdr.addr };
		(void)!ws_target_read_memory(&core->target, &at, bytes,
					     wsi_min_u64(shdr.size, sizeof bytes), &n, NULL);
		tell(&w, NULL, core->globals[g], 1000 + core->globals[g], mix_bytes(2, bytes, n));
	}
	if (core->meta_section)
		tell(&w, NULL, core->meta_section, 999, core->facts.flags);
}

static void fact_add(void *user, const struct fact *fact)
{
	struct facts *facts = user;
	if (!wsi_grow(&facts->at, &facts->cap, facts->n, sizeof *facts->at, 1u << 24))
		abort();
	facts->at[facts->n++] = *fact;
}

static void facts_index(struct facts *facts)
{
	for (facts->map_size = 64; facts->map_size < facts->n * 3;)
		facts->map_size *= 2;
	facts->map = calloc(facts->map_size, sizeof *facts->map);
	for (size_t i = 0; i < facts->n; i++) {
		size_t slot = facts->at[i].key & (facts->map_size - 1);
		while (facts->map[slot])
			slot = (slot + 1) & (facts->map_size - 1);
		facts->map[slot] = (uint32_t)i + 1;
	}
}

struct marking {
	struct facts *facts;
	unsigned number;
};

static void fact_mark(void *user, const struct fact *fact)
{
	struct marking *marking = user;
	struct facts *facts = marking->facts;
	for (size_t slot = fact->key & (facts->map_size - 1); facts->map[slot];
	     slot = (slot + 1) & (facts->map_size - 1)) {
		struct fact *known = &facts->at[facts->map[slot] - 1];
		if (known->key == fact->key && known->value == fact->value) {
			known->seen = marking->number;
			return;
		}
	}
}

/* ---- damage ---- */

struct dump {
	const char *path;
	uint8_t *bytes, *work;
	size_t len;
	struct wsi_elf elf;
	uint32_t *known, n_known;       /* sections of the format */
	uint32_t *children, n_children; /* those with a parent */
	uint32_t *tables, n_tables;     /* those with rows */
	struct facts facts;
};

struct damage {
	size_t len;
	uint32_t section;  /* damaged header, 0: none */
	struct place row;  /* damaged row */
	uint32_t other[2]; /* places that a new link and row, or a twin, points at: section and row
			    */
	bool has_other;
	bool single;
};

enum field { TYPE = 4, ADDR = 16, OFFSET = 24, SIZE = 32, LINK = 40, INFO = 44, ENTSIZE = 56 };

static uint8_t *field_at(struct dump *d, uint32_t section, enum field field)
{
	return d->work + d->elf.shoff + (uint64_t)section * d->elf.shentsize + field;
}

static void put(uint8_t *at, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t odd_value(struct random *r, uint64_t old, uint64_t len)
{
	const uint64_t values[] = { 0,
				    1,
				    old - 1,
				    old + 1,
				    old * 2,
				    old / 2,
				    len,
				    len - 1,
				    0xffffffff,
				    0x7fffffff,
				    UINT64_MAX,
				    UINT64_MAX - old,
				    UINT64_C(1) << 63,
				    UINT64_C(1) << 40,
				    old ^ 1u << rnd(r, 32) };
	return values[rnd(r, WSI_COUNT(values))];
}

static void flip(struct dump *d, struct random *r, uint64_t start, uint64_t size)
{
	for (uint32_t i = rnd(r, 8) + 1; i > 0 && size > 0; i--)
		d->work[start + rnd(r, (uint32_t)size)] ^= (uint8_t)(rnd(r, 255) + 1);
}

static void damage_place(struct dump *d, struct random *r, struct damage *damage)
{
	uint32_t s = d->children[rnd(r, d->n_children)];
	struct wsi_shdr shdr = wsi_elf_shdr(&d->elf, s);
	uint32_t link = shdr.link, info = shdr.info;
	switch (rnd(r, 4)) {
	case 0:
		info = (uint32_t)odd_value(r, info, 64);
		break;
	case 1:
		info = rnd(r, 64);
		break;
	case 2:
		link = rnd(r, 2) ? d->tables[rnd(r, d->n_tables)] : (uint32_t)odd_value(r, link, s);
		break;
	default:
		link = rnd(r, 2) ? s : rnd(r, (uint32_t)d->elf.n_present);
	}
	put(field_at(d, s, LINK), link, 4);
	put(field_at(d, s, INFO), info, 4);
	*damage = (struct damage){ d->len, s, { 0, 0 }, { link, info }, true, true };
}

static void damage_header(struct dump *d, struct random *r, struct damage *damage)
{
	static const enum field fields[] = { TYPE, ADDR, OFFSET, SIZE, ENTSIZE, ENTSIZE, SIZE };
	uint32_t s = d->known[rnd(r, d->n_known)];
	enum field field = fields[rnd(r, WSI_COUNT(fields))];
	struct wsi_shdr shdr = wsi_elf_shdr(&d->elf, s);
	*damage = (struct damage){ .len = d->len, .section = s, .single = true };
	if (field == TYPE) { /* under another type it may claim a place of its new siblings */
		put(field_at(d, s, TYPE), WSI_CUDBG_SHT_BASE + rnd(r, 25), 4);
		damage->has_other = true;
		damage->other[0] = shdr.link;
		damage->other[1] = shdr.info;
		return;
	}
	uint64_t old = field == ADDR     ? shdr.addr
		       : field == OFFSET ? shdr.offset
		       : field == SIZE   ? shdr.size
					 : shdr.entsize;
	uint64_t value = odd_value(r, old, d->len);
	if (field == ADDR && rnd(r, 2))
		value = wsi_elf_shdr(&d->elf, d->known[rnd(r, d->n_known)]).addr;
	put(field_at(d, s, field), value, 8);
}

static void damage_row(struct dump *d, struct random *r, struct damage *damage)
{
	uint32_t s = d->tables[rnd(r, d->n_tables)];
	struct wsi_shdr shdr = wsi_elf_shdr(&d->elf, s);
	uint32_t row = rnd(r, (uint32_t)(shdr.size / shdr.entsize));
	uint64_t at = shdr.offset + row * shdr.entsize;
	if (rnd(r, 2))
		flip(d, r, at, shdr.entsize);
	else
		put(d->work + at + rnd(r, (uint32_t)shdr.entsize / 4) * 4, odd_value(r, 3, 64), 4);
	*damage = (struct damage){ .len = d->len, .row = { s, row }, .single = true };
}

static void damage_any(struct dump *d, struct random *r, struct damage *damage)
{
	*damage = (struct damage){ .len = d->len };
	switch (rnd(r, 6)) {
	case 0:
		damage->len = rnd(r, (uint32_t)d->len);
		break;
	case 1:
		flip(d, r, 0, d->len);
		break;
	case 2:
		flip(d, r, 0, WSI_ELF_HEADER_BYTES);
		break;
	case 3:
		flip(d, r, d->elf.shoff, d->elf.n_present * d->elf.shentsize);
		break;
	case 4: /* several fields at once */
		for (uint32_t i = rnd(r, 12) + 2; i > 0; i--) {
			struct damage one;
			(rnd(r, 2) ? damage_header : damage_place)(d, r, &one);
		}
		break;
	default: { /* a table under one of its own descendants */
		uint32_t s = d->children[rnd(r, d->n_children)];
		put(field_at(d, wsi_elf_shdr(&d->elf, s).link, LINK), s, 4);
	}
	}
}

/* Whether a fact may be lost by a damage. */
static bool hangs_off(const struct fact *fact, const struct damage *damage)
{
	for (unsigned i = 0; i < MAX_DEPTH && fact->way[i].section; i++) {
		struct place p = fact->way[i];
		if (damage->section && p.section == damage->section)
			return true;
		if (damage->row.section && p.section == damage->row.section &&
		    (p.row == damage->row.row || p.row == WS_NONE))
			return true;
		/* the section that it collides with, and what hangs off that */
		if (damage->has_other && p.section == damage->other[0] && p.row == damage->other[1])
			return true;
	}
	return false;
}

/* ---- the campaign ---- */

struct totals {
	unsigned mutants, opened, refused, slow;
	unsigned single, survived; /* damages to one field; those that cost nothing else */
	unsigned strict;           /* those that did not even cost the place that they point at */
	uint64_t facts, kept;
	double slowest;
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void judge(struct dump *d, const struct damage *damage, unsigned number,
		  struct totals *totals, bool verbose)
{
	struct damage strict = *damage;
	uint64_t lost = 0, lost_strictly = 0;
	strict.has_other = false;
	for (size_t i = 0; i < d->facts.n; i++) {
		const struct fact *fact = &d->facts.at[i];
		bool kept = fact->seen == number;
		bool free_of_it = !hangs_off(fact, damage);
		totals->facts += free_of_it;
		totals->kept += free_of_it && kept;
		lost += free_of_it && !kept;
		lost_strictly += !kept && !hangs_off(fact, &strict);
	}
	totals->single++;
	totals->survived += lost == 0;
	totals->strict += lost_strictly == 0;
	if (verbose && lost)
		printf("# mutant %u of %s: %" PRIu64 " facts lost (section %u, row %u of %u)\n",
		       number, d->path, lost, damage->section, damage->row.row,
		       damage->row.section);
}

static void mutant_run(struct dump *d, const struct damage *damage, unsigned number,
		       struct totals *totals, bool verbose)
{
	struct ws_target *target = NULL;
	struct ws_error err;
	double start = now();
	alarm(20);
	/* a block of its own, so that checkers see reads beyond it */
	uint8_t *exact = malloc(damage->len + 1);
	memcpy(exact, d->work, damage->len);
	struct ws_span bytes = { exact, damage->len, 0 };
	enum ws_status st = ws_core_open_memory(bytes, d->path, &target, &err);
	struct marking marking = { &d->facts, number };
	if (st == WS_OK) {
		totals->opened++;
		tell_all(wsi_core_of(target), fact_mark, &marking);
		if (number % 8 == 0)
			(void)core_walk(target);
	} else {
		totals->refused++;
		if (!err.message[0] || err.status != st)
			abort();
	}
	if (damage->single)
		judge(d, damage, number, totals, verbose);
	ws_target_close(target);
	free(exact);
	double took = now() - start;
	totals->slowest = took > totals->slowest ? took : totals->slowest;
	totals->slow += took > 2;
}

static void mutant(struct dump *d, uint64_t seed, unsigned number, struct totals *totals,
		   bool verbose)
{
	struct random r = { (seed + d->len) ^ number * UINT64_C(0x9e3779b97f4a7c15) };
	struct damage damage;
	memcpy(d->work, d->bytes, d->len);
	rnd(&r, 1);
	switch (rnd(&r, 4)) {
	case 0:
		damage_place(d, &r, &damage);
		break;
	case 1:
		damage_header(d, &r, &damage);
		break;
	case 2:
		damage_row(d, &r, &damage);
		break;
	default:
		damage_any(d, &r, &damage);
	}
	damage.single = damage.single && memcmp(d->work, d->bytes, d->len) != 0;
	totals->mutants++;
	mutant_run(d, &damage, number, totals, verbose);
}

static void lists_fill(struct dump *d)
{
	size_t n = (size_t)d->elf.n_present;
	d->known = calloc(n, sizeof *d->known);
	d->children = calloc(n, sizeof *d->children);
	d->tables = calloc(n, sizeof *d->tables);
	for (uint32_t i = 1; i < n; i++) {
		struct wsi_shdr shdr = wsi_elf_shdr(&d->elf, i);
		enum wsi_kind kind = wsi_kind_of(shdr.type);
		if (kind == WSI_KIND_NONE)
			continue;
		d->known[d->n_known++] = i;
		if (wsi_kind_infos[kind].parent)
			d->children[d->n_children++] = i;
		if (wsi_kind_infos[kind].base_bytes && shdr.size && shdr.entsize)
			d->tables[d->n_tables++] = i;
	}
}

static bool dump_load(const char *path, struct dump *ret_dump)
{
	struct wsi_file file;
	struct ws_target *target;
	struct ws_error err;
	*ret_dump = (struct dump){ .path = path };
	if (wsi_file_open_any(path, NULL, &file, &err) != WS_OK)
		return false;
	ret_dump->len = file.bytes.len;
	ret_dump->bytes = malloc(file.bytes.len);
	ret_dump->work = malloc(file.bytes.len);
	memcpy(ret_dump->bytes, file.bytes.ptr, file.bytes.len);
	wsi_file_close(&file);
	struct ws_span bytes = { ret_dump->bytes, ret_dump->len, 0 };
	if (wsi_elf_open(bytes, &ret_dump->elf, &err) != WS_OK ||
	    ws_core_open_memory(bytes, path, &target, &err) != WS_OK)
		return false;
	tell_all(wsi_core_of(target), fact_add, &ret_dump->facts);
	facts_index(&ret_dump->facts);
	ws_target_close(target);
	lists_fill(ret_dump);
	return true;
}

static void dump_free(struct dump *d)
{
	free(d->bytes);
	free(d->work);
	free(d->known);
	free(d->children);
	free(d->tables);
	free(d->facts.map);
	wsi_free(d->facts.at);
}

/* Every length of a dump: what is left opens, or is refused with words. */
static unsigned truncations(struct dump *d, size_t step)
{
	struct totals totals = { 0 };
	unsigned n = 0;
	memcpy(d->work, d->bytes, d->len);
	for (size_t len = 0; len < d->len; len += step, n++) {
		struct damage damage = { .len = len };
		mutant_run(d, &damage, 8 * n + 8, &totals, false);
	}
	return n;
}

static void campaign(struct dump *d, unsigned count, uint64_t seed, unsigned number, bool verbose)
{
	struct totals t = { 0 };
	struct rusage before, after;
	getrusage(RUSAGE_SELF, &before);
	for (unsigned i = 0; i < count; i++)
		mutant(d, seed, i + 1, &t, verbose);
	getrusage(RUSAGE_SELF, &after);
	long grown_kb = after.ru_maxrss - before.ru_maxrss;
	bool hungry = MEASURES_MEMORY && (uint64_t)grown_kb * 1024 > 4 * d->len + (64u << 20);
	double kept = t.single ? 100.0 * t.survived / t.single : 100;
	bool good = t.slow == 0 && !hungry && (kept >= 99 || t.single < 100);
	printf("%s %u - %s: %u mutants, %u opened, %u refused, slowest %.3f s, %ld kB more; of %u "
	       "damages "
	       "to one field %.2f %% cost nothing else (%.2f %% not even the place that they point "
	       "at); "
	       "%.4f %% of other facts kept\n",
	       good ? "ok" : "not ok", number,
	       strrchr(d->path, '/') ? strrchr(d->path, '/') + 1 : d->path, t.mutants, t.opened,
	       t.refused, t.slowest, grown_kb, t.single, kept,
	       t.single ? 100.0 * t.strict / t.single : 100,
	       t.facts ? 100.0 * (double)t.kept / (double)t.facts : 100);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	unsigned count = (unsigned)strtoul(argv[1], NULL, 10) / (unsigned)(argc - 3);
	uint64_t seed = strtoull(argv[2], NULL, 10);
	bool verbose = getenv("CAMPAIGN_VERBOSE") != NULL;
	printf("1..%d\n", 2 * (argc - 3));
	for (int i = 3; i < argc; i++) {
		struct dump d;
		unsigned number = 2 * (unsigned)(i - 3) + 1;
		if (!dump_load(argv[i], &d)) {
			printf("not ok %u - %s cannot be read\n", number, argv[i]);
			return 1;
		}
		campaign(&d, count, seed, number, verbose);
		printf("ok %u - %u lengths of it\n", number + 1,
		       truncations(&d, d.len < 8192 ? 1 : d.len / 512));
		fflush(stdout);
		dump_free(&d);
	}
	return 0;
}
