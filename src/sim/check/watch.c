/* SPDX-License-Identifier: Apache-2.0 */
/* Watches operations of a device that checks: what each accesses, and what that means. check.h */
#include "sim/check/check.h"

enum { MEETINGS = 1 << 12, MAX_MEETINGS = 1 << 16, MAX_BYTES = 32 };

/* One access of all lanes. */
struct watch_touch {
	bool reads, writes, strong;
	bool tells_all; /* no fence is needed: it arrives at a barrier in memory */
	uint32_t lanes;
	unsigned bytes;
	const uint32_t *values; /* that are written; NULL: not known */
	uint64_t address[WSI_LANES], key[WSI_LANES];
	enum ws_sim_space space[WSI_LANES];
	bool starts[WSI_LANES]; /* may hold what nobody wrote */
	uint8_t before[WSI_LANES][MAX_BYTES];
	const uint8_t *shared[WSI_LANES]; /* where in shared memory; NULL: global */
};

/* ---- where ---- */

/* The bytes at an address, which is not to be touched: NULL when it must not be. */
static const uint8_t *locate_bytes(const struct wsi_run *run, enum ws_sass_space space,
				   unsigned lane, struct watch_touch *t)
{
	uint64_t address = t->address[lane], window = address & ~(WSI_WINDOW_BYTES - 1);
	bool generic = space == WS_SASS_SPACE_GENERIC;
	if (address % t->bytes != 0)
		return NULL;
	if (space == WS_SASS_SPACE_SHARED || (generic && window == WSI_SHARED_WINDOW)) {
		uint32_t offset;
		const struct wsi_block *block = wsi_shared_owner(run, (uint32_t)address, &offset);
		t->space[lane] = WS_SIM_SPACE_SHARED;
		t->address[lane] = offset;
		t->shared[lane] = block ? wsi_shared_bytes(block, offset, t->bytes) : NULL;
		if (!t->shared[lane])
			return NULL;
		t->key[lane] = wsi_check_shared_key(block, offset);
		t->starts[lane] = offset >= run->sim->device->kept &&
				  !(block->behind && offset >= block->behind);
		return t->shared[lane];
	}
	if (space == WS_SASS_SPACE_LOCAL || (generic && window == WSI_LOCAL_WINDOW))
		return NULL; /* no other thread's, and padding is copied like anything else */
	bool no_memory;
	uint64_t n = t->bytes;
	const struct wsi_region *region = wsi_memory_find(&run->sim->memory, address);
	t->space[lane] = WS_SIM_SPACE_GLOBAL;
	t->key[lane] = address;
	t->starts[lane] =
		region && (region->kind == WSI_REGION_USER || region->kind == WSI_REGION_HEAP);
	const uint8_t *bytes = wsi_memory_read(&run->sim->memory, address, &n, &no_memory);
	return n == t->bytes ? bytes : NULL;
}

/* Leaves those lanes whose access is one. */
static void locate_all(const struct wsi_run *run, enum ws_sass_space space, struct watch_touch *t)
{
	for (uint32_t left = t->lanes; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		const uint8_t *bytes = locate_bytes(run, space, lane, t);
		if (!bytes) {
			t->lanes &= ~(1u << lane);
			continue;
		}
		memcpy(t->before[lane], bytes, t->bytes);
	}
}

/* What an operation is about to access; returns the number of accesses. */
static unsigned look_at_accesses(struct wsi_run *run, const struct wsi_op *op,
				 uint32_t scratch[4 * WSI_LANES], struct watch_touch t[2])
{
	enum wsi_does does = (enum wsi_does)op->does;
	uint32_t lanes = run->mask;
	bool wide = op->space == WS_SASS_SPACE_GENERIC || op->space == WS_SASS_SPACE_GLOBAL;
	enum ws_sass_space space = (enum ws_sass_space)op->space;
	if (op->n_at == 0)
		return 0;
	t[0].bytes = op->bytes ? op->bytes : 8; /* of a barrier in memory */
	t[0].lanes = lanes;
	t[0].strong = WSI_HAS(op, STRONG);
	if (does == WSI_DOES_LOAD || does == WSI_DOES_COPY) {
		for (unsigned i = 0; i < op->alu.n_predicates; i++)
			lanes &= wsi_pred_source(run, op, i);
	}
	if (does == WSI_DOES_LOAD) {
		t[0].reads = true;
		t[0].lanes = lanes;
	} else if (does == WSI_DOES_STORE && op->alu.n_sources == 1) {
		t[0].writes = true;
		t[0].values = wsi_sim_source(run, &op->alu.source[0], scratch);
	} else if (does == WSI_DOES_LOAD_WIDE) {
		t[0].reads = true;
	} else if (does == WSI_DOES_STORE_WIDE) {
		t[0].writes = true;
	} else if (does == WSI_DOES_UNIFORM_STORE) { /* .MMIO, with release semantics */
		t[0].reads = op->insn.operation == WS_OP_UREDGR;
		t[0].writes = t[0].strong = t[0].tells_all = true;
		t[0].lanes = 1u << wsi_first_bit(lanes);
	} else if (does == WSI_DOES_ATOMIC) {
		t[0].reads = t[0].writes = t[0].strong = true;
		t[0].tells_all = WSI_HAS(op, ARRIVE);
	} else if (does == WSI_DOES_ARRIVE || does == WSI_DOES_ARRIVES) {
		t[0].reads = t[0].writes = t[0].strong = t[0].tells_all = true;
		space = WS_SASS_SPACE_SHARED;
		wide = false;
	} else if (does == WSI_DOES_TEST) {
		t[0].reads = t[0].strong = true;
		space = WS_SASS_SPACE_SHARED;
		wide = false;
	} else if (does == WSI_DOES_EXCHANGE) {
		t[0].writes = true;
		t[0].lanes = 1u << wsi_first_bit(lanes);
		space = WS_SASS_SPACE_SHARED;
		wide = false;
	} else if (does == WSI_DOES_MATRIX_LOAD) {
		unsigned n = 8u * op->alu.result[0].words;
		t[0].reads = true;
		if (ws_sass_has(&op->insn, WS_MOD_U4x16P64TO8) ||
		    ws_sass_has(&op->insn, WS_MOD_U6x16P32TO8))
			t[0].bytes = 8; /* not what is behind the numbers, of 6 bits not all */
		t[0].lanes = n >= WSI_LANES ? UINT32_MAX : (1u << n) - 1;
		space = WS_SASS_SPACE_SHARED;
		wide = false;
	} else if (does == WSI_DOES_COPY && op->n_at == 2) {
		t[0].writes = true;
		t[0].lanes = WSI_HAS(op, ZFILL) ? t[0].lanes : lanes;
		t[1].bytes = op->bytes;
		t[1].reads = true;
		t[1].lanes = lanes;
		wsi_addresses(run, &op->at[0], false, t[0].address);
		wsi_addresses(run, &op->at[1], true, t[1].address);
		locate_all(run, WS_SASS_SPACE_SHARED, &t[0]);
		locate_all(run, WS_SASS_SPACE_GLOBAL, &t[1]);
		return 2;
	} else {
		return 0;
	}
	wsi_addresses(run, &op->at[0], wide, t[0].address);
	locate_all(run, space, &t[0]);
	return 1;
}

/* ---- meetings ---- */

static struct wsi_meeting *meeting(struct wsi_check *check, uint64_t key, bool make)
{
	if (!check->meetings && make)
		check->meetings = wsi_zalloc_array(MEETINGS, sizeof(struct wsi_meeting *));
	if (!check->meetings)
		return NULL;
	/* one too many: words share, and order more than they do */
	uint64_t hash = (key >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 52;
	struct wsi_meeting **at = &check->meetings[hash];
	for (; *at; at = &(*at)->next)
		if ((*at)->key == key || check->n_meetings >= MAX_MEETINGS)
			return *at;
	if (!make)
		return NULL;
	*at = wsi_zalloc(sizeof **at);
	if (*at) {
		(*at)->key = key;
		check->n_meetings++;
	}
	return *at;
}

void wsi_meetings_fini(struct wsi_check *check)
{
	for (size_t i = 0; check->meetings && i < MEETINGS; i++) {
		while (check->meetings[i]) {
			struct wsi_meeting *gone = check->meetings[i];
			check->meetings[i] = gone->next;
			wsi_clock_fini(&gone->clock);
			wsi_free(gone);
		}
	}
	wsi_free(check->meetings);
}

static void fence(struct wsi_check *check, struct wsi_trace *trace, uint32_t lanes)
{
	trace->tellers |= lanes;
	check->no_memory |= !wsi_clock_join(&trace->fenced, &trace->knows) ||
			    !wsi_clock_set(&trace->fenced, trace->entity, check->time);
}

/*
 * A strong access: what others did before they wrote here is known, and what was done before the
 * last fence is told by those that had a part in one. Unoptimised code has a fence before its EXIT,
 * to which a warp's other lanes may have come. Code does not say which loads of shared memory are
 * volatile: all may be.
 */
static void meet_access(struct wsi_check *check, struct wsi_trace *trace,
			const struct watch_touch *t)
{
	if (t->tells_all)
		fence(check, trace, t->lanes);
	uint32_t tellers = t->strong && t->writes ? trace->tellers : 0;
	uint64_t last = 0;
	bool told = false;
	for (uint32_t left = t->lanes; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		uint64_t key = t->key[lane] & ~UINT64_C(7); /* one of 64 bits, or half */
		bool tells = tellers >> lane & 1;
		if (key == last && (told || !tells))
			continue;
		last = key;
		told = tells;
		struct wsi_meeting *word = meeting(check, key, tells);
		if (word && t->reads) {
			check->no_memory |= !wsi_clock_join(&trace->knows, &word->clock);
			trace->met = check->time; /* lanes are not told apart here */
		}
		if (tells)
			check->no_memory |= !word || !wsi_clock_join(&word->clock, &trace->fenced);
	}
}

/* ---- races ---- */

/* Whether a word is another one than before the access: what writes the same again is no write. */
static bool is_word_changed(const struct wsi_run *run, const struct watch_touch *t, unsigned lane,
			    unsigned word)
{
	uint64_t n = t->bytes < 4 ? t->bytes : 4;
	const uint8_t *now = t->shared[lane];
	bool no_memory;
	if (!now)
		now = wsi_memory_read(&run->sim->memory, t->key[lane], &n, &no_memory);
	return !now || memcmp(now + 4 * word, t->before[lane] + 4 * word, (size_t)n) != 0;
}

static bool ordered(const struct wsi_run *run, const struct wsi_shadow_access *before,
		    const struct wsi_shadow_access *now)
{
	const struct wsi_trace *trace = run->warp->trace;
	const struct wsi_check *check = run->sim->check;
	if (before->time <= check->floor)
		return true;
	if (before->entity != now->entity)
		return wsi_clock_knows(&trace->knows, before->entity) >= before->time;
	return before->lane == now->lane || before->time <= trace->met ||
	       before->time <= trace->lanes[now->lane][before->lane] ||
	       now->group >> before->lane & 1 || before->group >> now->lane & 1;
}

static bool conflicts(const struct wsi_run *run, const struct wsi_shadow_access *before,
		      const struct wsi_shadow_access *now)
{
	return before->time != 0 && (before->bytes & now->bytes) != 0 &&
	       !(before->strong && now->strong) && !ordered(run, before, now);
}

/* Whether a read and a write conflict. In shared memory no read conflicts with an atomic: see
 * meet_access().
 */
static bool read_conflicts(const struct wsi_run *run, const struct watch_touch *t,
			   const struct wsi_shadow_access *before,
			   const struct wsi_shadow_access *now)
{
	bool meets = t->space[now->lane] == WS_SIM_SPACE_SHARED && (before->strong || now->strong);
	return !meets && conflicts(run, before, now);
}

/* Two lanes of one store that put different values in one place. */
static bool clashes(const struct watch_touch *t, const struct wsi_shadow_access *before,
		    const struct wsi_shadow_access *now, unsigned word)
{
	if (!t->values || before->time != now->time || before->lane == now->lane ||
	    (before->bytes & now->bytes) == 0)
		return false;
	uint32_t mask = t->bytes >= 4 ? UINT32_MAX : (1u << 8 * t->bytes) - 1;
	const uint32_t *values = t->values + (size_t)word * WSI_LANES;
	return ((values[before->lane] ^ values[now->lane]) & mask) != 0;
}

static void watch_shadow_word(const struct wsi_run *run, const struct watch_touch *t,
			      const struct wsi_shadow_access *now, unsigned word)
{
	struct wsi_check *check = run->sim->check;
	unsigned lane = now->lane;
	uint64_t key = t->key[lane] + 4 * (uint64_t)word, address = t->address[lane] + 4u * word;
	struct wsi_shadow_word *words = wsi_shadow_words(&check->shadow, key);
	if (!words)
		return;
	struct wsi_shadow_word *w = &words[key % WSI_SHADOW_BYTES / 4];
	enum ws_sim_space space = t->space[lane];
	bool writes = t->writes && is_word_changed(run, t, lane, word);
	if (t->writes && clashes(t, &w->write, now, word))
		wsi_check_tell(check, WS_SIM_RACE_WAW, space, address, now, &w->write);
	else if (writes && conflicts(run, &w->write, now))
		wsi_check_tell(check, WS_SIM_RACE_WAW, space, address, now, &w->write);
	else if (!t->writes && read_conflicts(run, t, &w->write, now))
		wsi_check_tell(check, WS_SIM_RACE_RAW, space, address, now, &w->write);
	for (unsigned i = 0; writes && i < WSI_SHADOW_READS; i++)
		if (read_conflicts(run, t, &w->read[i], now))
			wsi_check_tell(check, WS_SIM_RACE_WAR, space, address, now, &w->read[i]);
	if (t->writes && !writes) { /* nobody can tell who wrote it */
		w->write.time = 0;
	} else if (writes) {
		*w = (struct wsi_shadow_word){ .write = *now };
	} else {
		if (w->read[0].entity != now->entity)
			w->read[1] = w->read[0];
		w->read[0] = *now;
	}
}

/* ---- what an operation did ---- */

static void watch(const struct wsi_run *run, const struct watch_touch *t, uint64_t pc)
{
	struct wsi_check *check = run->sim->check;
	struct wsi_shadow_access now = {
		.time = check->time,
		.pc = pc,
		.entity = run->warp->trace->entity,
		.group = run->group,
		.strong = t->strong,
	};
	unsigned n_words = (t->bytes + 3) / 4;
	for (uint32_t left = t->lanes; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left), part = t->bytes < 4 ? t->bytes : 4;
		now.lane = (uint8_t)lane;
		now.bytes = (uint8_t)(((1u << part) - 1) << t->key[lane] % 4);
		for (unsigned i = 0; i < n_words; i++) {
			if (t->reads && t->starts[lane] &&
			    !wsi_shadow_any(&check->shadow, t->key[lane] + 4 * i, part) &&
			    check->shadow.lost == 0)
				wsi_check_tell(check, WS_SIM_UNINITIALIZED, t->space[lane],
					       t->address[lane] + 4 * i, &now, NULL);
			watch_shadow_word(run, t, &now, i);
		}
	}
	for (uint32_t left = t->writes ? t->lanes : 0; left; left &= left - 1)
		wsi_shadow_mark(&check->shadow, t->key[wsi_first_bit(left)], t->bytes);
	if (t->strong || (t->reads && check->n_meetings > 0 && t->lanes != 0 &&
			  t->space[wsi_first_bit(t->lanes)] == WS_SIM_SPACE_SHARED))
		meet_access(check, run->warp->trace, t);
}

void wsi_check_copied(const struct wsi_run *run, enum ws_sass_space space, uint64_t address,
		      unsigned bytes)
{
	struct wsi_check *check = run->sim->check;
	uint64_t window = address & ~(WSI_WINDOW_BYTES - 1), key = address;
	bool generic = space == WS_SASS_SPACE_GENERIC;
	if (check->watching || space == WS_SASS_SPACE_LOCAL ||
	    (generic && window == WSI_LOCAL_WINDOW))
		return;
	if (space == WS_SASS_SPACE_SHARED || (generic && window == WSI_SHARED_WINDOW)) {
		uint32_t offset;
		const struct wsi_block *block = wsi_shared_owner(run, (uint32_t)address, &offset);
		key = block ? wsi_check_shared_key(block, offset) : 0;
	}
	const struct wsi_shadow_chunk *chunk = wsi_shadow_find(&check->shadow, key, true);
	for (unsigned i = 0; chunk && chunk->words && i < bytes; i += 4)
		chunk->words[(key + i) % WSI_SHADOW_BYTES / 4] =
			(struct wsi_shadow_word){ .write = { .time = 0 } };
	wsi_shadow_mark(&check->shadow, key, bytes);
}

void wsi_check_stored(const struct wsi_run *run, enum ws_sass_space space, unsigned lane,
		      uint64_t address, const uint8_t *before, unsigned bytes)
{
	struct watch_touch t = { .writes = true, .lanes = 1u << lane, .bytes = bytes };
	t.address[lane] = address;
	locate_all(run, space, &t);
	memcpy(t.before[lane], before, bytes);
	watch(run, &t, run->pc);
}

void wsi_check_fetched(const struct wsi_run *run, unsigned lane, uint64_t address, unsigned bytes)
{
	struct watch_touch t = { .reads = true, .lanes = 1u << lane, .bytes = bytes };
	t.address[lane] = address;
	locate_all(run, WS_SASS_SPACE_GLOBAL, &t);
	watch(run, &t, run->pc);
}

enum wsi_step wsi_run_checked(struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_check *check = run->sim->check;
	uint32_t scratch[4 * WSI_LANES];
	struct watch_touch t[2] = { { .bytes = 0 }, { .bytes = 0 } };
	uint64_t pc = run->pc;
	check->time++;
	wsi_trail_follow(run, op);
	if (op->does == WSI_DOES_FENCE)
		fence(check, run->warp->trace, run->mask);
	unsigned n = look_at_accesses(run, op, scratch, t);
	if (n > 0 && t[0].values && t[0].values != scratch) { /* as they are now */
		memcpy(scratch, t[0].values, (t[0].bytes + 3u) / 4 * sizeof(uint32_t[WSI_LANES]));
		t[0].values = scratch;
	}
	check->watching = true;
	enum wsi_step step = op->checked(run, op);
	check->watching = false;
	for (unsigned i = 0; i < n && step != WSI_STEP_FAULT; i++)
		watch(run, &t[i], pc);
	run->no_memory |= check->no_memory;
	return step;
}

enum wsi_step wsi_run_followed(struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_check *check = run->sim->check;
	check->time++;
	wsi_trail_follow(run, op);
	run->no_memory |= check->no_memory;
	return op->checked(run, op);
}
