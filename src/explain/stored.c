/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the code stored on a thread's stack. -G code keeps every variable there, and calls pass
 * structures there, so an address must be traced through it to reach the kernel's parameters.
 *
 * A stack slot is a number here: an offset in the thread's local memory. The address of each
 * earlier store is computed for the thread (eval.c) and compared with it. A store whose address
 * cannot be computed, and a called function, are assumed to write elsewhere: what is found is
 * likely, not certain.
 */
#include "explain/explain.h"

enum { MAX_KNOWN = 400 /* stores whose address is computed for one access */ };

/* A store that was looked at. */
struct known_store {
	uint64_t pc, address; /* in local memory */
	uint32_t depth, lane;
	bool is_local; /* it writes to the stack, at `address` */
	bool is_sure;  /* nothing that may have changed since is part of the address */
};

struct wsi_stored {
	struct ws_flow_slice slice; /* scratch */
	uint32_t n_known;
	struct known_store known[MAX_KNOWN];
};

struct judge {
	const struct wsi_scene *scene;
	const struct wsi_function_code *code;
	uint64_t address; /* asked for */
	uint32_t bytes, lane, depth;
};

static const struct wsi_function_code *code_at_depth(const struct wsi_scene *scene, uint32_t depth)
{
	if (depth == 0)
		return &scene->code;
	return depth <= scene->n_callers ? &scene->callers[depth - 1].code : NULL;
}

static void compute_stored(const struct judge *judge, const struct ws_insn *insn,
			   struct known_store *store)
{
	struct wsi_stored *stored = judge->scene->stored;
	unsigned uses = 0;
	uint64_t address;
	uint32_t rank;
	if (ws_flow_slice_address(judge->code->flow, store->pc, 0, &stored->slice, NULL) != WS_OK ||
	    stored->slice.n == 0 ||
	    !wsi_eval(judge->scene, &stored->slice, 0, judge->lane, judge->depth, &address, &uses))
		return;
	store->is_sure = !(uses & WSI_EVAL_MEMORY);
	store->is_local = true;
	store->address = address;
	if (insn->flags & WS_SASS_GENERIC)
		store->is_local = wsi_scene_resolve(judge->scene, address, &store->address,
						    &rank) == WS_SPACE_LOCAL;
}

static const struct known_store *look_at_stored(const struct judge *judge,
						const struct ws_insn *insn, uint64_t pc)
{
	struct wsi_stored *stored = judge->scene->stored;
	for (uint32_t i = 0; i < stored->n_known; i++) {
		const struct known_store *one = &stored->known[i];
		if (one->pc == pc && one->depth == judge->depth && one->lane == judge->lane)
			return one;
	}
	if (stored->n_known == MAX_KNOWN)
		return NULL;
	struct known_store *store = &stored->known[stored->n_known++];
	*store = (struct known_store){ .pc = pc, .depth = judge->depth, .lane = judge->lane };
	compute_stored(judge, insn, store);
	return store;
}

static enum ws_flow_hit judge_store(void *context, uint64_t pc)
{
	const struct judge *judge = context;
	struct ws_insn insn;
	if (!wsi_code_insn(judge->code, pc, &insn))
		return WS_FLOW_UNSURE;
	const struct known_store *store = look_at_stored(judge, &insn, pc);
	uint32_t bytes = ws_sass_access_bytes(&insn);
	if (!store || !bytes)
		return WS_FLOW_UNSURE;
	if (!store->is_local || store->address >= judge->address + judge->bytes ||
	    judge->address >= store->address + bytes)
		return WS_FLOW_MISS;
	bool all = store->address <= judge->address &&
		   judge->address + judge->bytes <= store->address + bytes &&
		   (judge->address - store->address) % 4 == 0;
	return all && store->is_sure ? WS_FLOW_HIT : WS_FLOW_UNSURE;
}

/* Turns a store that hits into the register that holds the part that is asked for. */
static bool take_store(const struct judge *judge, const struct ws_flow_stores *stores, size_t i,
		       struct wsi_put *put)
{
	struct wsi_stored *stored = judge->scene->stored;
	for (uint32_t k = 0; k < stored->n_known; k++) {
		const struct known_store *one = &stored->known[k];
		if (one->pc != stores->store[i].pc || one->depth != judge->depth ||
		    one->lane != judge->lane)
			continue;
		put->pc = one->pc;
		put->kind = stores->store[i].kind;
		put->number =
			stores->store[i].number + (unsigned)((judge->address - one->address) / 4);
		return put->kind == WS_OPERAND_REG && stores->store[i].number < 255;
	}
	return false;
}

enum ws_status wsi_stored_find(struct wsi_scene *scene, uint32_t lane, uint32_t depth, uint64_t pc,
			       uint64_t address, uint32_t bytes, struct wsi_puts *ret_puts)
{
	struct ws_flow_stores stores = { .n = 0 };
	struct wsi_puts puts = { .depth = depth };
	struct judge judge = { scene, NULL, address, bytes, lane, depth };
	if (!scene->stored && !(scene->stored = wsi_zalloc(sizeof *scene->stored)))
		return WS_NO_MEMORY;
	for (;; judge.depth++) { /* what a function did not write, its caller did */
		judge.code = code_at_depth(scene, judge.depth);
		if (!judge.code || !judge.code->flow)
			return WS_ABSENT;
		enum ws_status st = ws_flow_find_stores(judge.code->flow, pc, judge_store, &judge,
							&stores, NULL);
		if (st != WS_OK)
			return st;
		if (stores.n > 0)
			break;
		if (judge.depth >= scene->n_callers)
			return WS_ABSENT;
		pc = scene->callers[judge.depth].call_pc;
	}
	puts.depth = judge.depth;
	for (size_t i = 0; i < stores.n; i++) {
		if (stores.entry || !take_store(&judge, &stores, i, &puts.put[puts.n++]))
			return WS_ABSENT;
	}
	*ret_puts = puts;
	return WS_OK;
}
