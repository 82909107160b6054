/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What registers, predicates and local memory of a device that checks hold: something that nobody
 * wrote, or a pointer into an allocation (check.h).
 *
 * Reading what nobody wrote is no mistake yet: functions keep registers of their callers,
 * structures have padding. So it is followed through moves, additions, multiplications, comparisons
 * and the stack, and told where it decides something: an address, a guard, a branch, a word that is
 * stored where others see it. What any other operation makes of it counts as written.
 *
 * A pointer is a kernel parameter or another constant that points into an allocation, or a constant
 * of bank 4, where compilers keep them, that is the address of a variable. What is added to it
 * stays a pointer of that allocation or variable; where two of different ones meet nothing is
 * known.
 */
#include "sim/check/check.h"

/* wsi_trail_word.of: FIRST + number of an allocation, or VARIABLE + where one lies in the heap. */
enum { NONE, MIXED, FIRST };
#define VARIABLE UINT32_C(0x80000000)
enum { OF_VARIABLES = 4 };                /* the bank with their addresses */
enum { ARGUMENTS = 4, N_ARGUMENTS = 12 }; /* registers that a call of the device's own may write */
enum { ALIGN_BITS = 8 };                  /* of allocations */

/* ---- words ---- */

size_t wsi_trail_bytes(uint32_t n_regs)
{
	return sizeof(struct wsi_trail) + n_regs * sizeof(struct wsi_trail_word);
}

struct wsi_trail *wsi_trail_create(uint32_t n_regs)
{
	struct wsi_trail *trail = wsi_zalloc(wsi_trail_bytes(n_regs));
	if (!trail)
		return NULL;
	trail->n_regs = n_regs;
	for (uint32_t i = 0; i < n_regs; i++)
		trail->reg[i].unknown = UINT32_MAX;
	for (unsigned i = 0; i < WSI_COUNT(trail->pred); i++)
		trail->pred[i].unknown = UINT32_MAX;
	trail->reg[1].unknown = 0; /* code may count on a stack pointer */
	return trail;
}

void wsi_trail_destroy(struct wsi_trail *trail)
{
	for (size_t i = 0; trail && trail->local && i < trail->n_local; i++)
		wsi_free(trail->local[i]);
	if (trail) {
		wsi_free(trail->local);
		wsi_free(trail->products);
	}
	wsi_free(trail);
}

/* NULL: a zero register, or one that is not followed. */
static struct wsi_trail_word *reg_at(struct wsi_trail *trail, unsigned number)
{
	return number != 255 && number < trail->n_regs ? &trail->reg[number] : NULL;
}

/* Memory for what is known of local memory, counted for the block. */
static void *local_trail_take(const struct wsi_run *run, size_t n, size_t size)
{
	bool fits = wsi_block_take(run->sim, run->warp->block, "what is checked of local memory",
				   n * size);
	return fits ? wsi_zalloc_array(n, size) : NULL;
}

/* A word of local memory; NULL: not followed. */
static struct wsi_trail_word *local_at(const struct wsi_run *run, uint64_t address)
{
	struct wsi_trail *trail = run->warp->trace->trail;
	struct wsi_check *check = run->sim->check;
	size_t chunk = (size_t)(address / WSI_LOCAL_CHUNK);
	uint32_t size = run->warp->block->grid->local_bytes;
	if (address >= size)
		return NULL;
	if (!trail->local) {
		trail->n_local = size / WSI_LOCAL_CHUNK + 1;
		trail->local = local_trail_take(run, trail->n_local, sizeof *trail->local);
	}
	if (trail->local && !trail->local[chunk]) {
		trail->local[chunk] =
			local_trail_take(run, WSI_LOCAL_CHUNK / 4, sizeof **trail->local);
		for (size_t i = 0; trail->local[chunk] && i < WSI_LOCAL_CHUNK / 4; i++)
			trail->local[chunk][i].unknown = UINT32_MAX;
	}
	if (!trail->local || !trail->local[chunk]) {
		check->no_memory = true;
		return NULL;
	}
	return &trail->local[chunk][address % WSI_LOCAL_CHUNK / 4];
}

/* ---- allocations ---- */

/* The allocation or variable at an address of a region: its number, and where it lies. NONE:
 * pointers into it are not followed. */
static uint32_t object_at(const struct wsi_run *run, const struct wsi_region *region,
			  uint64_t address, struct wsi_extent *ret_extent)
{
	if (!region || region->start < WSI_HEAP_START)
		return NONE;
	uint64_t start = region->start, number = FIRST + ((start - WSI_HEAP_START) >> ALIGN_BITS);
	*ret_extent = (struct wsi_extent){ start, region->size };
	if (region->kind == WSI_REGION_USER || region->kind == WSI_REGION_HEAP)
		return number < VARIABLE ? (uint32_t)number : NONE;
	const struct wsi_extent *variable = wsi_check_variable(run->sim->check, address);
	if (region->kind != WSI_REGION_MODULE || !variable ||
	    variable->start - WSI_HEAP_START >= VARIABLE)
		return NONE;
	*ret_extent = *variable;
	return VARIABLE | (uint32_t)(variable->start - WSI_HEAP_START);
}

/* That of a number; false: it is gone. */
static bool object_of(const struct wsi_run *run, uint32_t number, struct wsi_extent *ret_extent)
{
	bool is_variable = number & VARIABLE;
	uint64_t start = WSI_HEAP_START + (is_variable ? number & ~VARIABLE
						       : (uint64_t)(number - FIRST) << ALIGN_BITS);
	const struct wsi_region *region = wsi_memory_find(&run->sim->memory, start);
	return object_at(run, region, start, ret_extent) == number;
}

/* Of an address that is that of a symbol. */
static uint32_t symbol_variable_of(const struct wsi_run *run, uint64_t address)
{
	struct wsi_extent extent;
	const struct wsi_region *region = wsi_memory_find(&run->sim->memory, address);
	uint32_t number = object_at(run, region, address, &extent);
	return number & VARIABLE && extent.start == address ? number : NONE;
}

static uint32_t pointer_into(const struct wsi_run *run, unsigned bank, uint64_t value)
{
	struct wsi_extent extent;
	const struct wsi_region *region = wsi_memory_find(&run->sim->memory, value);
	uint32_t number = object_at(run, region, value, &extent);
	if (number & VARIABLE)
		return bank == OF_VARIABLES ? symbol_variable_of(run, value) : NONE;
	return number;
}

static uint32_t both(uint32_t a, uint32_t b)
{
	return a == NONE || a == b ? b : b == NONE ? a : MIXED;
}

/* That of a constant, or of the half of one. */
static uint32_t trail_constant_of(const struct wsi_run *run, unsigned bank, uint64_t off)
{
	const struct wsi_bank *b = &run->bank[bank];
	off &= ~UINT64_C(7);
	if (bank >= WSI_BANKS || b->size < 8 || off > b->size - 8)
		return NONE;
	return pointer_into(run, bank, wsi_load_u64(b->bytes + off));
}

/* ---- what an operation makes ---- */

/* Operations whose result depends on all of each operand. */
static bool operands_follow(unsigned operation)
{
	switch (operation) {
	case WS_OP_MOV:
	case WS_OP_UMOV:
	case WS_OP_IADD:
	case WS_OP_IADD3:
	case WS_OP_UIADD3:
	case WS_OP_VIADD:
	case WS_OP_IMAD:
	case WS_OP_UIMAD:
	case WS_OP_LEA:
	case WS_OP_ULEA:
	case WS_OP_R2UR:
	case WS_OP_FADD:
	case WS_OP_FMUL:
	case WS_OP_FFMA:
	case WS_OP_DADD:
	case WS_OP_DMUL:
	case WS_OP_DFMA:
	case WS_OP_ISETP:
	case WS_OP_FSETP:
	case WS_OP_DSETP:
		return true;
	default:
		return false;
	}
}

static void add_of(uint32_t *restrict sum, const uint32_t *restrict of)
{
	for (unsigned lane = 0; lane < WSI_LANES; lane++) {
		uint32_t a = sum[lane], b = of[lane], mixed = b == NONE ? a : MIXED;
		sum[lane] = (a == NONE) | (a == b) ? b : mixed;
	}
}

static void add_all(struct wsi_trail_word *sum, uint32_t of)
{
	for (unsigned lane = 0; lane < WSI_LANES; lane++)
		sum->of[lane] = both(sum->of[lane], of);
}

/* Where what nobody wrote was read first: here, if it was not before. */
static struct wsi_trail_origin read_at(const struct wsi_run *run, const struct wsi_trail_word *word,
				       enum ws_sim_space space, uint64_t address)
{
	return word->origin.pc ? word->origin
			       : (struct wsi_trail_origin){ run->pc, address, (uint8_t)space };
}

/* What the operands of an operation hold together. */
static void gather_trail(struct wsi_run *run, const struct wsi_op *op, struct wsi_trail_word *sum)
{
	struct wsi_trail *trail = run->warp->trace->trail;
	*sum = (struct wsi_trail_word){ .unknown = 0 };
	for (unsigned i = 0; i < op->alu.n_sources; i++) {
		const struct wsi_alu_value *v = &op->alu.source[i];
		for (unsigned k = 0; k < v->words; k++) {
			struct wsi_trail_word *word = reg_at(trail, v->number + k);
			if (v->place == WSI_ALU_UREG && v->number != 255)
				add_all(sum, trail->uniform[v->number + k]);
			if (v->place != WSI_ALU_REG || v->number == 255 || !word)
				continue;
			if (!sum->unknown)
				sum->origin =
					read_at(run, word, WS_SIM_SPACE_REGISTER, v->number + k);
			sum->unknown |= word->unknown & run->mask;
			add_of(sum->of, word->of);
		}
		if (v->place == WSI_ALU_CONSTANT && v->words <= 2)
			add_all(sum, trail_constant_of(run, v->number, v->value));
		if (v->place == WSI_ALU_NUMBER && op->target != 0)
			add_all(sum, symbol_variable_of(run, op->target));
	}
}

static void put_word(struct wsi_trail_word *to, const struct wsi_trail_word *from, uint32_t mask)
{
	to->unknown = (to->unknown & ~mask) | (from->unknown & mask);
	if (from->unknown & mask || !to->unknown)
		to->origin =
			from->unknown & mask ? from->origin : (struct wsi_trail_origin){ .pc = 0 };
	wsi_wrap_put(&to->wrap, &from->wrap, mask);
	if (mask == UINT32_MAX)
		memcpy(to->of, from->of, sizeof to->of);
	for (uint32_t left = mask == UINT32_MAX ? 0 : mask; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		to->of[lane] = from->of[lane];
	}
}

static void put_results(const struct wsi_run *run, const struct wsi_op *op,
			const struct wsi_trail_word *made, const struct wsi_wrap wrap[2])
{
	struct wsi_trail *trail = run->warp->trace->trail;
	for (unsigned i = 0; i < op->alu.n_results; i++) {
		const struct wsi_alu_value *v = &op->alu.result[i];
		for (unsigned k = 0; k < v->words && v->number != 255; k++) {
			struct wsi_trail_word *word = reg_at(trail, v->number + k);
			if (v->place == WSI_ALU_UREG) {
				trail->uniform[v->number + k] =
					made->of[run->mask ? wsi_first_bit(run->mask) : 0];
				trail->uniform_wrap[v->number + k] = wrap[k > 0];
			} else if (word) {
				put_word(word, made, run->mask);
				wsi_wrap_put(&word->wrap, &wrap[k > 0], run->mask);
			}
		}
	}
	for (unsigned i = 0; i < op->alu.n_predicate_results; i++) {
		const struct wsi_alu_predicate *p = &op->alu.predicate_result[i];
		if (!p->is_uniform && p->number < 7)
			put_word(&trail->pred[p->number], made, run->mask);
	}
}

/* Each pair of words of a constant that is loaded. */
static void put_constants(const struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_trail *trail = run->warp->trace->trail;
	const struct wsi_alu_value *v = &op->alu.result[0];
	const struct wsi_op_address *at = &op->at[0];
	uint32_t base = (uint32_t)wsi_at_base(run->warp, at), of = NONE;
	for (unsigned k = 0; op->alu.n_results == 1 && v->number != 255 && k < v->words; k++) {
		struct wsi_trail_word *word = reg_at(trail, v->number + k);
		for (uint32_t left = run->mask; left; left &= left - 1) {
			unsigned lane = wsi_first_bit(left);
			uint32_t off = base + 4 * k;
			if (at->reg_words != 0)
				off += wsi_reg(run->warp, at->reg)[lane];
			of = trail_constant_of(run, at->bank, off);
			if (v->place == WSI_ALU_REG && word)
				word->of[lane] = of;
		}
		if (v->place == WSI_ALU_UREG)
			trail->uniform[v->number + k] = of;
	}
}

/* Offset in local memory of a lane's access; false: it goes elsewhere. */
static bool is_local(const struct wsi_op *op, uint64_t address, uint64_t *ret_offset)
{
	bool window = op->space == WS_SASS_SPACE_GENERIC &&
		      (address & ~(WSI_WINDOW_BYTES - 1)) == WSI_LOCAL_WINDOW;
	*ret_offset = window ? (uint32_t)address : address;
	return window || op->space == WS_SASS_SPACE_LOCAL;
}

/* The stack: words as they are. */
static void move_local(struct wsi_run *run, const struct wsi_op *op,
		       const uint64_t address[WSI_LANES], bool store)
{
	struct wsi_trail *trail = run->warp->trace->trail;
	const struct wsi_alu_value *v = store ? &op->alu.source[0] : &op->alu.result[0];
	static const struct wsi_trail_word written;
	for (uint32_t left = run->mask; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		uint64_t offset;
		if (!is_local(op, address[lane], &offset))
			continue;
		for (unsigned k = 0; k < v->words; k++) {
			struct wsi_trail_word *word = local_at(run, offset + 4 * (uint64_t)k);
			struct wsi_trail_word *reg =
				v->place == WSI_ALU_REG ? reg_at(trail, v->number + k) : NULL;
			if (!word || (!store && !reg))
				continue;
			struct wsi_trail_word from = store ? (reg ? *reg : written) : *word;
			if (store && op->bytes < 4)
				from = written;
			from.origin = read_at(run, &from,
					      store ? WS_SIM_SPACE_REGISTER : WS_SIM_SPACE_LOCAL,
					      store ? v->number + k : offset + 4 * (uint64_t)k);
			put_word(store ? word : reg, &from, 1u << lane);
		}
	}
}

/* ---- what is told ---- */

struct wsi_shadow_access wsi_trail_party(const struct wsi_run *run, uint64_t pc, uint32_t lanes)
{
	return (struct wsi_shadow_access){
		.time = run->sim->check->time,
		.pc = pc,
		.entity = run->warp->trace->entity,
		.lane = (uint8_t)wsi_first_bit(lanes),
	};
}

static void tell_unknown(const struct wsi_run *run, const struct wsi_trail_word *word,
			 uint32_t lanes, enum ws_sim_space space, uint64_t number)
{
	uint32_t unknown = word->unknown & lanes;
	if (!unknown)
		return;
	struct wsi_trail_origin from = read_at(run, word, space, number);
	struct wsi_shadow_access who = wsi_trail_party(run, run->pc, unknown);
	struct wsi_shadow_access other = wsi_trail_party(run, from.pc, unknown);
	wsi_check_tell(run->sim->check, WS_SIM_UNINITIALIZED, (enum ws_sim_space)from.space,
		       from.address, &who, from.pc == run->pc ? NULL : &other);
}

static void check_address(const struct wsi_run *run, const struct wsi_op_address *at)
{
	struct wsi_trail *trail = run->warp->trace->trail;
	for (unsigned k = 0; k < at->reg_words; k++) {
		const struct wsi_trail_word *word = reg_at(trail, at->reg + k);
		if (word)
			tell_unknown(run, word, run->mask, WS_SIM_SPACE_REGISTER, at->reg + k);
	}
}

/* A store of several words may have padding in one of them. */
static void check_stored(const struct wsi_run *run, const struct wsi_op *op,
			 const uint64_t address[WSI_LANES])
{
	struct wsi_trail *trail = run->warp->trace->trail;
	const struct wsi_alu_value *v = &op->alu.source[0];
	uint32_t lanes = run->mask;
	uint64_t offset;
	for (uint32_t left = run->mask; left; left &= left - 1)
		if (is_local(op, address[wsi_first_bit(left)], &offset))
			lanes &= ~(left & -left);
	for (unsigned k = 0; k < v->words; k++) {
		const struct wsi_trail_word *word = reg_at(trail, v->number + k);
		lanes &= v->place == WSI_ALU_REG && word ? word->unknown : 0;
	}
	if (lanes)
		tell_unknown(run, reg_at(trail, v->number), lanes, WS_SIM_SPACE_REGISTER,
			     v->number);
}

/* Whose pointer a lane uses that accesses `bytes` at an address where it may not; NONE: it may. */
static uint32_t misused(struct wsi_run *run, uint32_t of, uint64_t address, unsigned bytes)
{
	struct wsi_extent there;
	const struct wsi_region *region = wsi_memory_find(&run->sim->memory, address);
	uint32_t here = object_at(run, region, address, &there);
	bool in_module = region && region->kind == WSI_REGION_MODULE; /* maybe between variables */
	if (here == NONE && !in_module)
		return NONE;
	bool beyond = here != NONE && address - there.start + bytes > there.size;
	if (of < FIRST)
		return beyond && !in_module ? here : NONE;
	return of != here || beyond ? of : NONE;
}

/* Accesses of global memory through a pointer of another allocation or variable, or behind the end
 * of one. */
static void check_trail_bounds(struct wsi_run *run, const struct wsi_op *op,
			       const struct wsi_op_address *at, const uint64_t address[WSI_LANES])
{
	struct wsi_trail *trail = run->warp->trace->trail;
	const struct wsi_trail_word *word = at->reg_words ? reg_at(trail, at->reg) : NULL;
	uint32_t uniform = at->ureg_words ? trail->uniform[at->ureg] : NONE;
	for (uint32_t left = run->mask; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		uint32_t of = misused(run, both(uniform, word ? word->of[lane] : NONE),
				      address[lane], op->bytes);
		struct wsi_extent base;
		if (of == NONE || !object_of(run, of, &base))
			continue;
		struct wsi_shadow_access who = wsi_trail_party(run, run->pc, 1u << lane);
		struct ws_sim_finding *finding =
			wsi_check_tell(run->sim->check, WS_SIM_OUT_OF_BOUNDS, WS_SIM_SPACE_GLOBAL,
				       address[lane], &who, NULL);
		if (!finding)
			continue;
		finding->base = base.start;
		finding->base_bytes = base.size;
	}
}

/* ---- one operation ---- */

static void check_predicates(const struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_trail *trail = run->warp->trace->trail;
	if (op->guard < 7 && !op->guard_uniform)
		tell_unknown(run, &trail->pred[op->guard], run->group, WS_SIM_SPACE_PREDICATE,
			     op->guard);
	for (unsigned i = 0; op->splits && i < op->alu.n_predicates; i++) {
		const struct wsi_alu_predicate *p = &op->alu.predicate[i];
		if (!p->is_uniform && p->number < 7)
			tell_unknown(run, &trail->pred[p->number], run->mask,
				     WS_SIM_SPACE_PREDICATE, p->number);
	}
}

static void follow_access(struct wsi_run *run, const struct wsi_op *op)
{
	static const struct wsi_trail_word written;
	static const struct wsi_wrap fits[2];
	enum wsi_does does = (enum wsi_does)op->does;
	uint64_t address[WSI_LANES];
	uint32_t all = run->mask;
	for (unsigned i = 0; does == WSI_DOES_LOAD && i < op->alu.n_predicates; i++)
		run->mask &= wsi_pred_source(run, op, i);
	check_address(run, &op->at[0]);
	bool wide = op->space == WS_SASS_SPACE_GENERIC || op->space == WS_SASS_SPACE_GLOBAL;
	wsi_addresses(run, &op->at[0], wide, address);
	if ((does == WSI_DOES_STORE || does == WSI_DOES_ATOMIC) && op->alu.n_sources > 0)
		check_stored(run, op, address);
	if (wide) {
		check_trail_bounds(run, op, &op->at[0], address);
		wsi_wrap_access(run, &op->at[0], address);
	}
	if (does == WSI_DOES_STORE && op->alu.n_sources == 1)
		move_local(run, op, address, true);
	uint32_t some = run->mask;
	run->mask = all;
	put_results(run, op, &written, fits);
	run->mask = some;
	if (does == WSI_DOES_LOAD && op->alu.n_results == 1)
		move_local(run, op, address, false);
	run->mask = all;
}

void wsi_trail_follow(struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_trail *trail = run->warp->trace->trail;
	struct wsi_trail_word made = { .unknown = 0 };
	struct wsi_wrap wrap[2];
	uint64_t address[WSI_LANES];
	enum wsi_does does = (enum wsi_does)op->does;
	check_predicates(run, op);
	if (op->n_at == 1 &&
	    (does == WSI_DOES_LOAD || does == WSI_DOES_STORE || does == WSI_DOES_ATOMIC ||
	     does == WSI_DOES_LOAD_WIDE || does == WSI_DOES_STORE_WIDE)) {
		follow_access(run, op);
		return;
	}
	if (does == WSI_DOES_COPY && op->n_at == 2) {
		wsi_addresses(run, &op->at[1], true, address);
		wsi_wrap_access(run, &op->at[1], address);
	}
	if (operands_follow(op->insn.operation))
		gather_trail(run, op, &made);
	wsi_wrap_follow(run, op, wrap);
	put_results(run, op, &made, wrap);
	if (does == WSI_DOES_LOAD_CONSTANT && op->n_at == 1)
		put_constants(run, op);
	for (unsigned i = 0; op->insn.operation == WS_OP_R2P && i < WSI_COUNT(trail->pred); i++)
		trail->pred[i].unknown &= ~run->mask;
}

void wsi_trail_called(struct wsi_warp *warp, uint32_t lanes)
{
	static const struct wsi_trail_word written;
	for (unsigned i = 0; i < N_ARGUMENTS; i++) {
		struct wsi_trail_word *word = reg_at(warp->trace->trail, ARGUMENTS + i);
		if (word)
			put_word(word, &written, lanes);
	}
}

/* ---- for who looks from outside ---- */

static enum ws_sim_known bit_of(uint32_t unknown, unsigned lane)
{
	return unknown >> lane & 1 ? WS_SIM_NEVER_WRITTEN : WS_SIM_WRITTEN;
}

/* Global and shared memory. */
static enum ws_sim_known memory_known(const struct ws_sim *sim, const struct wsi_region *region,
				      uint64_t key)
{
	if (region && region->kind != WSI_REGION_USER && region->kind != WSI_REGION_HEAP)
		return WS_SIM_WRITTEN;
	if (wsi_shadow_any(&sim->check->shadow, key, 1))
		return WS_SIM_WRITTEN;
	return sim->check->shadow.lost ? WS_SIM_NOT_RECORDED : WS_SIM_NEVER_WRITTEN;
}

static bool is_place_there(const struct ws_sim_place *place, const struct wsi_warp *warp)
{
	switch (place->space) {
	case WS_SIM_SPACE_LOCAL:
		return place->address < warp->block->grid->local_bytes;
	case WS_SIM_SPACE_SHARED:
		return place->address < warp->block->shared_bytes;
	case WS_SIM_SPACE_REGISTER:
		return place->address < warp->n_regs;
	case WS_SIM_SPACE_PREDICATE:
		return place->address < 7;
	case WS_SIM_SPACE_NONE:
	case WS_SIM_SPACE_GLOBAL:
		break;
	}
	return false;
}

enum ws_status ws_sim_known(struct ws_sim *sim, const struct ws_sim_place *place,
			    enum ws_sim_known *ret_known, struct ws_error *err)
{
	bool global = place->space == WS_SIM_SPACE_GLOBAL;
	const struct wsi_region *region =
		global ? wsi_memory_find(&sim->memory, place->address) : NULL;
	const struct wsi_warp *warp = global ? NULL : wsi_warp_at(sim, place->sm, place->warp);
	if (place->size != sizeof *place || place->lane >= WSI_LANES ||
	    (global ? !region : !warp || !is_place_there(place, warp)))
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "no such register or memory");
	*ret_known = WS_SIM_NOT_RECORDED;
	if (!sim->check)
		return WS_OK;
	const struct wsi_trail *trail = warp ? warp->trace->trail : NULL;
	uint64_t at = place->address, chunk = at / WSI_LOCAL_CHUNK;
	if (global)
		*ret_known = memory_known(sim, region, at);
	else if (place->space == WS_SIM_SPACE_SHARED)
		*ret_known =
			memory_known(sim, NULL, wsi_check_shared_key(warp->block, (uint32_t)at));
	else if (place->space == WS_SIM_SPACE_PREDICATE)
		*ret_known = bit_of(trail->pred[at].unknown, place->lane);
	else if (place->space == WS_SIM_SPACE_REGISTER && at < trail->n_regs)
		*ret_known = bit_of(trail->reg[at].unknown, place->lane);
	else if (place->space == WS_SIM_SPACE_LOCAL && trail->local && trail->local[chunk])
		*ret_known =
			bit_of(trail->local[chunk][at % WSI_LOCAL_CHUNK / 4].unknown, place->lane);
	else if (place->space == WS_SIM_SPACE_LOCAL)
		*ret_known = WS_SIM_NEVER_WRITTEN;
	return WS_OK;
}
