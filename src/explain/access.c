/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory access that an exception is about: which instruction, what its operands held, which
 * address each lane used, and which lanes can be to blame.
 *
 * A warp runs on for a few instructions until its fault is detected, so a register may hold a later
 * value than the one that the instruction used. flow.h tells what lies between the error PC and the
 * pc; an address with a term that may be lost is recomputed from parameters and thread indices if
 * the code allows it (eval.c), and otherwise marked as a guess.
 */
#include "explain/explain.h"

#define NULL_BYTES UINT64_C(0x10000) /* addresses that only a null pointer makes */
#define ADDRESS_BITS                                       \
	57 /* [public doc: CUDA programming guide, 5-level \
	      tables at most] */
enum { MAX_BACK = 24 /* instructions looked at before the pc */ };

/* ---- what an instruction does with memory ---- */

/* One address of an instruction. */
struct shape {
	struct ws_insn insn;
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	size_t n_ops;
	unsigned which; /* number of the address in the text, from 0 */
	uint8_t place;  /* operand of the text that holds it */
	enum ws_space space;
	enum ws_direction direction;
	uint32_t width;
	bool generic, async, uniform; /* uniform: one address for the warp, of a bulk operation */
	uint32_t bank;
};

static bool is_address(const struct ws_operand *op)
{
	return op->role == WS_ROLE_ADDRESS_BASE || op->role == WS_ROLE_OFFSET;
}

/* Whether a later address of the text is asked for than the instruction has. */
static bool find_later_place(struct shape *shape)
{
	unsigned seen = 0;
	int last = -1;
	for (size_t i = 0; i < shape->n_ops; i++) {
		if (!is_address(&shape->ops[i]) || shape->ops[i].place == last)
			continue;
		last = shape->ops[i].place;
		if (seen++ == shape->which) {
			shape->place = shape->ops[i].place;
			return true;
		}
	}
	return false;
}

static uint32_t bank_of(const struct shape *shape)
{
	for (size_t i = 0; i < shape->n_ops; i++) {
		if (shape->ops[i].role == WS_ROLE_BANK)
			return shape->ops[i].kind == WS_OPERAND_IMMEDIATE
				       ? (uint32_t)shape->ops[i].value
				       : WS_NONE;
	}
	return WS_NONE;
}

/* The `which`th address of an instruction; false when it has none. */
static bool access_shape_of(const struct ws_insn *insn, uint64_t pc, unsigned which,
			    struct shape *shape)
{
	const uint32_t moves = WS_SASS_LOAD | WS_SASS_STORE | WS_SASS_ATOMIC;
	const uint32_t spaces = WS_SASS_GENERIC | WS_SASS_GLOBAL | WS_SASS_SHARED | WS_SASS_LOCAL |
				WS_SASS_CONSTANT;
	if (!insn->known || !(insn->flags & moves) || insn->flags & WS_SASS_TEXTURE)
		return false; /* coordinates are no address */
	*shape = (struct shape){ .insn = *insn, .which = which, .bank = WS_NONE };
	shape->n_ops = ws_sass_operands(insn, pc, shape->ops, WSI_COUNT(shape->ops));
	if (!find_later_place(shape))
		return false;
	shape->space = insn->flags & spaces ? wsi_space_of(ws_sass_space(insn)) : WS_SPACE_CONST;
	shape->generic = shape->space == WS_SPACE_GENERIC;
	shape->width = ws_sass_access_bytes(insn);
	shape->async = insn->flags & WS_SASS_ASYNC;
	shape->uniform = shape->async && shape->width == 0;
	if (!(insn->flags & spaces))
		shape->uniform = true;
	shape->direction = insn->flags & WS_SASS_ATOMIC  ? WS_DIRECTION_ATOMIC
			   : insn->flags & WS_SASS_STORE ? WS_DIRECTION_STORE
							 : WS_DIRECTION_LOAD;
	if (insn->operation == WS_OP_LDGSTS) {
		shape->space = which == 0 ? WS_SPACE_SHARED : WS_SPACE_GLOBAL;
		shape->direction = which == 0 ? WS_DIRECTION_STORE : WS_DIRECTION_LOAD;
	}
	if (shape->space == WS_SPACE_CONST)
		shape->bank = bank_of(shape);
	return which < WSI_MAX_CANDIDATES && (which == 0 || !shape->uniform);
}

/* ---- trust ---- */

/* What was written since the instruction, for lanes at one pc. */
struct since {
	uint64_t pc;
	enum ws_status status;
	struct ws_flow_written written;
};

/* An access under construction. */
struct access_work {
	struct wsi_scene *scene;
	struct shape shape;
	struct ws_report_access *access;
	struct ws_report_operand *operands; /* of the access */
	struct since since[4];
	size_t n_since;
	uint32_t idle; /* lanes whose guard was false */
};

static const struct since *since_of(struct access_work *work, uint64_t pc)
{
	struct wsi_scene *scene = work->scene;
	for (size_t i = 0; i < work->n_since; i++) {
		if (work->since[i].pc == pc)
			return &work->since[i];
	}
	if (work->n_since == WSI_COUNT(work->since) || !scene->code.flow)
		return NULL;
	struct since *since = &work->since[work->n_since++];
	since->pc = pc;
	since->status =
		ws_flow_written(scene->code.flow, work->access->pc, pc, &since->written, NULL);
	return since;
}

static enum ws_trust trust_of(struct access_work *work, const struct ws_operand *op, uint32_t lane)
{
	const struct wsi_scene *scene = work->scene;
	if (!ws_operand_is_register(op->kind) || scene->lane[lane].pc == work->access->pc)
		return WS_TRUST_AT_FAULT;
	if (scene->build->classic)
		return WS_TRUST_UNKNOWN;
	const struct since *since = since_of(work, scene->lane[lane].pc);
	if (!since || since->status != WS_OK || since->written.unknown_direct)
		return WS_TRUST_UNKNOWN;
	return ws_flow_registers_spare(&since->written.direct, op->kind, op->number,
				       op->count ? op->count : 4)
		       ? WS_TRUST_AT_FAULT
		       : WS_TRUST_OVERWRITTEN;
}

/* ---- operands ---- */

static const char *operand_name(struct wsi_build *build, const struct shape *shape,
				const struct ws_operand *op)
{
	switch (op->kind) {
	case WS_OPERAND_REG:
		if (op->number >= 255)
			return "RZ";
		return wsi_build_text(build,
				      op->count > 2    ? "R%u:R%u"
				      : op->count == 2 ? "R%u.64"
						       : "R%u",
				      op->number, op->number + op->count - 1u);
	case WS_OPERAND_UREG:
		if (op->number >= 255)
			return "URZ";
		return wsi_build_text(build, op->count > 1 ? "UR%u.64" : "UR%u", op->number);
	case WS_OPERAND_PRED:
	case WS_OPERAND_UPRED:
		return wsi_build_text(build, "%s%sP%u", op->negated ? "!" : "",
				      op->kind == WS_OPERAND_UPRED ? "U" : "", op->number);
	case WS_OPERAND_IMMEDIATE:
		if (shape->space == WS_SPACE_CONST && op->place == shape->place)
			return shape->bank == WS_NONE
				       ? "offset"
				       : wsi_build_text(build, "c[0x%x] offset", shape->bank);
		return op->value < 0 ? wsi_build_text(build, "-0x%" PRIx64, -(uint64_t)op->value)
				     : wsi_build_text(build, "0x%" PRIx64, (uint64_t)op->value);
	case WS_OPERAND_BREG:
	case WS_OPERAND_SCOREBOARD:
	case WS_OPERAND_FLOAT:
	case WS_OPERAND_TARGET:
	case WS_OPERAND_SPECIAL:
		break;
	}
	return NULL;
}

static enum ws_operand_use use_of(const struct shape *shape, const struct ws_operand *op)
{
	switch (op->role) {
	case WS_ROLE_ADDRESS_BASE:
	case WS_ROLE_OFFSET:
	case WS_ROLE_BANK:
		return op->place == shape->place || op->role == WS_ROLE_BANK ? WS_USE_ADDRESS
									     : WS_USE_DATA;
	case WS_ROLE_DESCRIPTOR:
		return WS_USE_DESCRIPTOR;
	case WS_ROLE_WRITTEN:
		return WS_USE_RESULT;
	case WS_ROLE_READ:
	case WS_ROLE_UPDATED:
	case WS_ROLE_TARGET:
		break;
	}
	return WS_USE_DATA;
}

static void operand_trust(struct access_work *work, const struct ws_operand *op,
			  struct ws_report_operand *out)
{
	out->trust = WS_TRUST_AT_FAULT;
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++) {
		if (!(work->access->lanes >> lane & 1))
			continue;
		enum ws_trust trust = trust_of(work, op, lane);
		if (trust > out->trust)
			out->trust = trust;
	}
	if (out->trust == WS_TRUST_OVERWRITTEN)
		out->trust_why = "The instruction itself, or one between it and the pc, writes it.";
	else if (out->trust == WS_TRUST_UNKNOWN)
		out->trust_why = "What ran between the instruction and the pc is not known.";
}

/* Name, use, values and trust of one operand. False: memory is out. */
static bool operand_fill(struct access_work *work, const struct ws_operand *op,
			 enum ws_operand_use use, struct ws_report_operand *out)
{
	const struct ws_report_access *access = work->access;
	out->use = use;
	out->name = operand_name(work->scene->build, &work->shape, op);
	if (!out->name)
		return false;
	out->constant = op->kind == WS_OPERAND_IMMEDIATE;
	out->uniform = out->constant || op->kind == WS_OPERAND_UREG || op->kind == WS_OPERAND_UPRED;
	out->status = use == WS_USE_RESULT ? WS_UNSUPPORTED : WS_ABSENT;
	if (use == WS_USE_RESULT)
		return true;
	operand_trust(work, op, out);
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++) {
		uint64_t value = (uint64_t)op->value;
		enum ws_status st = WS_OK;
		if (!(access->lanes >> lane & 1))
			continue;
		if (!out->constant)
			st = wsi_scene_register(work->scene, lane, op->kind, op->number, op->count,
						&value);
		if (st != WS_OK && !out->lanes)
			out->status = st;
		if (st != WS_OK)
			continue;
		out->status = WS_OK;
		out->lanes |= 1u << lane;
		out->value[lane] = value;
	}
	return true;
}

static bool is_operand_shown(const struct ws_operand *op)
{
	if (ws_operand_is_predicate(op->kind))
		return !ws_operand_is_fixed(op->kind, op->number);
	return ws_operand_is_register(op->kind) ||
	       (op->kind == WS_OPERAND_IMMEDIATE && is_address(op));
}

static enum ws_status fill_operands(struct access_work *work)
{
	struct ws_report_access *access = work->access;
	const struct shape *shape = &work->shape;
	struct ws_operand guard = { .kind = shape->insn.flags & WS_SASS_UNIFORM_GUARD
						    ? WS_OPERAND_UPRED
						    : WS_OPERAND_PRED,
				    .number = shape->insn.guard,
				    .count = 1,
				    .negated = shape->insn.guard_negated };
	struct ws_report_operand *operands = wsi_arena_zalloc_array(
		work->scene->build->arena, shape->n_ops + 1, sizeof *operands);
	if (!operands)
		return WS_NO_MEMORY;
	work->operands = operands;
	access->operands = operands;
	if (shape->insn.guard < 7 &&
	    !operand_fill(work, &guard, WS_USE_GUARD, &operands[access->n_operands++]))
		return WS_NO_MEMORY;
	for (size_t i = 0; i < shape->n_ops; i++) {
		if (is_operand_shown(&shape->ops[i]) &&
		    !operand_fill(work, &shape->ops[i], use_of(shape, &shape->ops[i]),
				  &operands[access->n_operands++]))
			return WS_NO_MEMORY;
	}
	return WS_OK;
}

/* Lanes that did not execute it, as far as that is sure. */
static void find_idle(struct access_work *work)
{
	const struct shape *shape = &work->shape;
	const struct ws_report_operand *guard = &work->operands[0];
	if (shape->insn.guard >= 7 || guard->trust != WS_TRUST_AT_FAULT)
		return;
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++) {
		if (guard->lanes >> lane & 1 &&
		    (guard->value[lane] != 0) == shape->insn.guard_negated)
			work->idle |= 1u << lane;
	}
}

/* ---- addresses ---- */

/* The address that the registers of a lane give now, and how far they can be trusted. */
static bool lane_address_now(struct access_work *work, uint32_t lane, uint64_t *ret_address,
			     enum ws_trust *ret_trust)
{
	const struct shape *shape = &work->shape;
	uint64_t sum = 0;
	*ret_trust = WS_TRUST_AT_FAULT;
	for (size_t i = 0; i < shape->n_ops; i++) {
		const struct ws_operand *op = &shape->ops[i];
		uint64_t value = (uint64_t)op->value;
		if (!is_address(op) || op->place != shape->place)
			continue;
		if (op->kind != WS_OPERAND_IMMEDIATE &&
		    wsi_scene_register(work->scene, lane, op->kind, op->number, op->count,
				       &value) != WS_OK)
			return false;
		enum ws_trust trust = trust_of(work, op, lane);
		if (trust > *ret_trust)
			*ret_trust = trust;
		sum += value * op->scale;
	}
	bool is_long = shape->generic || shape->space == WS_SPACE_GLOBAL;
	*ret_address = is_long ? sum : sum & UINT32_MAX;
	return true;
}

/* The address from parameters and thread indices, where a register is lost. */
static bool lane_address_again(struct access_work *work, uint32_t lane, uint64_t *ret_address,
			       unsigned *uses)
{
	const struct shape *shape = &work->shape;
	if (!work->scene->have_slice ||
	    !wsi_eval(work->scene, work->scene->slice, 0, lane, 0, ret_address, uses))
		return false;
	if (!shape->generic && shape->space != WS_SPACE_GLOBAL)
		*ret_address &= UINT32_MAX;
	return true;
}

/* Whether an address is wrong in just the way that the exception is about: chance gives few such.
 */
static bool is_as_reported(const struct access_work *work, uint64_t address)
{
	const struct ws_exception *kind = work->scene->e->kind;
	return kind && kind->family == WS_FAMILY_ALIGNMENT && work->shape.width > 1 &&
	       address & (work->shape.width - 1);
}

/* `again`: computed from what cannot have changed; `of_memory`: from what may have; `agree`: the
 * registers give the same. */
static void claim_addresses(struct access_work *work, uint32_t again, uint32_t of_memory,
			    uint32_t agree)
{
	struct ws_report_access *access = work->access;
	struct ws_report_claim claim = { .confidence = WS_CONFIDENCE_CERTAIN };
	if (access->lanes_guess & ~access->lanes_likely) {
		claim.text = "the addresses are computed from the current registers; at the fault "
			     "they may have been different";
		claim.evidence = "an address register may have been written since";
		claim.confidence = WS_CONFIDENCE_POSSIBLE;
	} else if (access->lanes_guess & ~of_memory) {
		claim.text = "the addresses are computed from the current registers";
		claim.evidence = "an address register may have been written since, but the "
				 "addresses are misaligned, as the exception says";
		claim.confidence = WS_CONFIDENCE_LIKELY;
	} else if (access->lanes_guess) {
		claim.text = "the addresses are recomputed from parameters, thread indices and "
			     "current memory contents";
		claim.evidence =
			access->lanes_guess & ~agree
				? "an address register may have been written since, but the code "
				  "before the instruction shows how the address was computed"
				: "the code before the instruction shows how the address was "
				  "computed, and the current registers give the same one";
		claim.confidence = WS_CONFIDENCE_LIKELY;
	} else if (again) {
		claim.text = "the addresses are recomputed from parameters and thread indices";
		claim.evidence = "an address register may have been written since, but the code "
				 "before the instruction shows how the address was computed";
	} else if (access->lanes_known) {
		claim.text = "the addresses are those at the time of the fault";
		claim.evidence =
			"nothing between the instruction and the pc writes an address register";
	}
	if ((again || access->lanes_guess) && work->scene->have_slice &&
	    work->scene->slice->partly) {
		claim.evidence = "not every bit of an instruction on the way is known: it may "
				 "have written an address register";
		claim.confidence = WS_CONFIDENCE_POSSIBLE;
	}
	access->address_claim = claim;
}

/* Lanes that may not have executed the instruction at all. */
static void doubt_addresses(struct access_work *work)
{
	struct ws_report_access *access = work->access;
	uint32_t lanes = access->lanes_known | access->lanes_likely;
	lanes &= access->pc == work->scene->e->errorpc ? work->scene->around : 0;
	if (!lanes)
		return;
	access->lanes_known &= ~lanes;
	access->lanes_likely &= ~lanes;
	access->lanes_guess |= lanes;
	if (access->address_claim.confidence != WS_CONFIDENCE_POSSIBLE)
		access->address_claim = (struct ws_report_claim){
			"the addresses are those that the lanes used if they executed the "
			"instruction",
			"the code leads to the pc past the instruction, too",
			WS_CONFIDENCE_POSSIBLE,
		};
}

static void fill_addresses(struct access_work *work)
{
	struct ws_report_access *access = work->access;
	uint32_t again = 0, of_memory = 0, agree = 0, todo = access->lanes & ~work->idle;
	if (work->shape.uniform)
		return;
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++) {
		enum ws_trust trust = WS_TRUST_UNKNOWN;
		uint64_t now = 0, before = 0;
		unsigned uses = 0;
		if (!(todo >> lane & 1))
			continue;
		bool have_now = lane_address_now(work, lane, &now, &trust);
		if (have_now && trust == WS_TRUST_AT_FAULT) {
			access->lanes_known |= 1u << lane;
			access->address[lane] = now;
			continue;
		}
		bool have_before = lane_address_again(work, lane, &before, &uses);
		if (have_before && !(uses & WSI_EVAL_MEMORY)) {
			access->lanes_known |= 1u << lane;
			again |= 1u << lane;
			access->address[lane] = before;
		} else if (have_before || have_now) {
			access->lanes_guess |= 1u << lane;
			of_memory |= have_before ? 1u << lane : 0;
			agree |= have_before && have_now && before == now ? 1u << lane : 0;
			access->address[lane] = have_before ? before : now;
			if (have_before || is_as_reported(work, now))
				access->lanes_likely |= 1u << lane;
		}
	}
	claim_addresses(work, again, of_memory, agree);
	doubt_addresses(work);
}

static void drop_guesses(struct ws_report_access *access)
{
	access->rank = WS_NONE;
	access->lanes_guess = access->lanes_likely = 0;
	access->address_claim = (struct ws_report_claim){ .text = NULL };
}

static void take_ranks(struct access_work *work)
{
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++)
		wsi_scene_take_rank(work->scene, &work->access->address[lane]);
}

/* Turns generic addresses into those of the one space that all of them fall in. */
static void resolve_generic(struct access_work *work)
{
	struct ws_report_access *access = work->access;
	uint32_t have = access->lanes_known | access->lanes_guess;
	enum ws_space space = WS_SPACE_GENERIC;
	uint64_t inner[WS_MAX_LANES];
	if (!access->generic || !have)
		return;
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++) {
		uint32_t rank;
		if (!(have >> lane & 1))
			continue;
		enum ws_space found =
			wsi_scene_resolve(work->scene, access->address[lane], &inner[lane], &rank);
		if (space == WS_SPACE_GENERIC) {
			space = found;
			access->rank = rank;
		} else if (space != found || access->rank != rank) {
			space = WS_SPACE_GLOBAL;
			break;
		}
	}
	/* an exception of a cluster is one of shared memory: else these registers are later ones,
	 * and one that was written since can hold any stack address by now */
	const struct ws_exception *kind = work->scene->e->kind;
	bool cluster = kind && kind->family == WS_FAMILY_CLUSTER && !access->lanes_known;
	bool sure = access->lanes_known | access->lanes_likely;
	if (cluster ? !sure || space != WS_SPACE_SHARED : !sure && space != WS_SPACE_GLOBAL) {
		access->space = cluster ? WS_SPACE_SHARED : access->space;
		drop_guesses(access);
		return;
	}
	if (!sure)
		access->rank = WS_NONE;
	access->space = space;
	if (space == WS_SPACE_GLOBAL) {
		access->rank = WS_NONE;
		return;
	}
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++) {
		if (have >> lane & 1)
			access->address[lane] = inner[lane];
	}
}

/* ---- who is to blame ---- */

static void judge_global(struct access_work *work, uint32_t lane, uint64_t address)
{
	struct ws_report_access *access = work->access;
	uint32_t bit = 1u << lane;
	enum wsi_mapped mapped =
		wsi_global_is_mapped(work->scene, address, access->width ? access->width : 1);
	if (address < NULL_BYTES || address >= 0 - NULL_BYTES)
		access->null_like |= bit;
	else if (address >> ADDRESS_BITS)
		access->noncanonical |= bit;
	access->unmapped |= mapped == WSI_MAPPED_NO ? bit : 0;
	access->mapped |= mapped == WSI_MAPPED_YES ? bit : 0;
}

/* Against the window of shared or local memory, or the bank. */
static void judge_window(struct access_work *work, uint32_t lane, uint64_t address)
{
	struct ws_report_access *access = work->access;
	struct wsi_range window;
	uint32_t width = access->width ? access->width : 1;
	if (!wsi_window_of(work->scene, access, lane, &window))
		return;
	access->window_start = window.start;
	access->window_size = window.size;
	if (address < window.start || width > window.size ||
	    address - window.start > window.size - width)
		access->outside |= 1u << lane;
}

/* Lanes with an address of another space in an instruction for global memory. */
static uint32_t in_windows(const struct wsi_scene *scene, const struct ws_report_access *access)
{
	uint32_t lanes = 0, known = access->lanes_known | access->lanes_guess, rank;
	uint64_t inner;
	for (uint32_t lane = 0; lane < WS_MAX_LANES && access->space == WS_SPACE_GLOBAL; lane++) {
		if (known >> lane & 1 && wsi_scene_resolve(scene, access->address[lane], &inner,
							   &rank) != WS_SPACE_GLOBAL)
			lanes |= 1u << lane;
	}
	return lanes;
}

static bool is_wrong_space(const struct ws_exception *kind)
{
	return kind->code == CUDBG_EXCEPTION_WARP_INVALID_ADDRESS_SPACE;
}

static uint32_t blamed_by_kind(const struct wsi_scene *scene, const struct ws_report_access *access)
{
	uint32_t bad = access->unmapped | access->null_like | access->noncanonical;
	const struct ws_exception *kind = scene->e->kind;
	if (!kind)
		return bad | access->outside | access->misaligned;
	switch (kind->family) {
	case WS_FAMILY_ADDRESS:
		return bad;
	case WS_FAMILY_ALIGNMENT:
		return access->misaligned;
	case WS_FAMILY_SPACE:
		return is_wrong_space(kind) ? in_windows(scene, access) : access->outside;
	case WS_FAMILY_CLUSTER:
		return access->outside;
	case WS_FAMILY_UNKNOWN:
	case WS_FAMILY_CONTROL_FLOW:
	case WS_FAMILY_INSTRUCTION:
	case WS_FAMILY_STACK:
	case WS_FAMILY_STOP:
	case WS_FAMILY_BARRIER:
	case WS_FAMILY_TENSOR:
	case WS_FAMILY_ATOMIC:
		break;
	}
	return bad | access->outside | access->misaligned;
}

/* Lowest and highest address of the suspects. */
static void find_range(struct ws_report_access *access)
{
	uint32_t told = access->suspects & (access->lanes_known | access->lanes_likely);
	for (uint32_t lane = 0, n = 0; lane < WS_MAX_LANES; lane++) {
		uint64_t address = access->address[lane];
		if (!(told >> lane & 1))
			continue;
		if (n == 0 || address < access->first_address)
			access->first_address = address;
		if (n == 0 || address > access->last_address)
			access->last_address = address;
		n++;
	}
}

/*
 * Lanes without a sure address stay suspects. When no address is wrong, so do all but those whose
 * memory is there while that of others is not known; when nothing tells them apart, all.
 */
static void find_suspects(struct access_work *work)
{
	struct ws_report_access *access = work->access;
	uint32_t all = access->lanes & ~work->idle;
	uint32_t have = access->lanes_known | access->lanes_guess;
	uint32_t sure = access->lanes_known | access->lanes_likely;
	const struct ws_exception *kind = work->scene->e->kind;
	access->wrong = blamed_by_kind(work->scene, access);
	access->suspects = all;
	if (access->wrong)
		access->suspects = access->wrong | (all & ~access->lanes_known);
	else if (kind && kind->family == WS_FAMILY_ADDRESS)
		access->suspects = all & ~(access->mapped & access->lanes_known);
	if (!access->suspects)
		access->suspects = all;
	access->cleared = access->lanes & ~access->suspects;
	find_range(access);
	bool same = access->suspects && !(access->suspects & ~sure) &&
		    access->first_address == access->last_address;
	uint32_t named = access->wrong & sure   ? access->wrong & sure
			 : access->wrong & have ? access->wrong & have
			 : same                 ? access->suspects
						: 0;
	access->lane = named ? wsi_first_bit(named) : WS_NONE;
}

static void judge_lanes(struct access_work *work)
{
	struct ws_report_access *access = work->access;
	uint32_t have = access->lanes_known | access->lanes_guess;
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++) {
		uint64_t address = access->address[lane];
		if (!(have >> lane & 1))
			continue;
		if (access->width > 1 && address & (access->width - 1))
			access->misaligned |= 1u << lane;
		if (access->space == WS_SPACE_GLOBAL)
			judge_global(work, lane, address);
		else if (access->space != WS_SPACE_GENERIC)
			judge_window(work, lane, address);
	}
	/* a back end without a list of memory, from which nothing can be read, tells nothing */
	if (!access->mapped && wsi_range_count(work->scene->build) == 0)
		access->unmapped = 0;
	find_suspects(work);
}

/* ---- one access ---- */

static enum ws_status access_make(struct wsi_scene *scene, const struct shape *shape, uint64_t pc,
				  struct ws_report_access *access)
{
	struct access_work work = { .scene = scene, .shape = *shape, .access = access };
	uint32_t lanes = scene->e->lanes_blamed ? scene->e->lanes_blamed : scene->e->lanes_active;
	*access = (struct ws_report_access){
		.pc = pc,
		.text = wsi_code_text(scene->build, &shape->insn, pc),
		.kernel = scene->e->kernel,
		.space = shape->space,
		.generic = shape->generic,
		.bank = shape->bank,
		.rank = WS_NONE,
		.direction = shape->direction,
		.width = shape->width,
		.async = shape->async,
		.lanes = lanes & scene->lanes,
		.lane = WS_NONE,
		.below = { .status = WS_ABSENT },
		.above = { .status = WS_ABSENT },
		.owner = { .ordinal = WS_NONE, .root_ordinal = WS_NONE, .range_status = WS_ABSENT },
		.index = { .root_ordinal = WS_NONE },
	};
	if (!access->text)
		return WS_NO_MEMORY;
	enum ws_status st = wsi_scene_trace(scene, pc, shape->which);
	if (st == WS_OK)
		st = fill_operands(&work);
	if (st != WS_OK)
		return st;
	find_idle(&work);
	fill_addresses(&work);
	if (access->space == WS_SPACE_SHARED)
		take_ranks(&work);
	resolve_generic(&work);
	judge_lanes(&work);
	st = wsi_owner_find(scene, access);
	return st == WS_OK ? wsi_overflow_find(scene, access) : st;
}

/* ---- which instruction ---- */

/* Whether such an access can raise such an exception at all; `named`: the exception names it. */
static bool can_raise(const struct ws_exception *kind, const struct shape *shape, bool named)
{
	bool global = shape->space == WS_SPACE_GLOBAL;
	if (!kind)
		return true;
	switch (kind->family) {
	case WS_FAMILY_ADDRESS:
		return global || shape->generic;
	case WS_FAMILY_SPACE:
		return !global || is_wrong_space(kind);
	case WS_FAMILY_STACK:
		return shape->space == WS_SPACE_LOCAL;
	case WS_FAMILY_ATOMIC:
		return shape->direction == WS_DIRECTION_ATOMIC;
	case WS_FAMILY_BARRIER:
		return shape->space == WS_SPACE_SHARED;
	case WS_FAMILY_TENSOR:
		return shape->async;
	case WS_FAMILY_UNKNOWN:
		return shape->space != WS_SPACE_CONST;
	case WS_FAMILY_ALIGNMENT: /* constants are aligned, but where code casts a pointer */
		return shape->space != WS_SPACE_CONST || named;
	case WS_FAMILY_CLUSTER: /* its own shared memory is reached without a cluster */
		return shape->generic || (shape->async && shape->space == WS_SPACE_SHARED);
	case WS_FAMILY_CONTROL_FLOW:
	case WS_FAMILY_STOP:
		return false;
	case WS_FAMILY_INSTRUCTION: /* of a descriptor operand */
		return shape->uniform;
	}
	return true;
}

/* Puts one where it ranks: wrong addresses first, then as they come. */
static void insert_access(struct ws_report_access *list, uint32_t *n,
			  const struct ws_report_access *one)
{
	uint32_t at = *n;
	while (at > 0 && one->wrong && !list[at - 1].wrong)
		at--;
	if (at >= WSI_MAX_CANDIDATES)
		return;
	uint32_t last = *n < WSI_MAX_CANDIDATES ? (*n)++ : WSI_MAX_CANDIDATES - 1;
	memmove(&list[at + 1], &list[at], (last - at) * sizeof *list);
	list[at] = *one;
}

static enum ws_status at_error_pc(struct wsi_scene *scene, struct ws_report_access *list)
{
	struct ws_report_exception *e = scene->e;
	struct ws_insn insn;
	struct shape shape;
	if (!wsi_code_insn(&scene->code, e->errorpc, &insn))
		return WS_OK;
	uint32_t n = 0;
	for (unsigned which = 0; access_shape_of(&insn, e->errorpc, which, &shape); which++) {
		if (!can_raise(e->kind, &shape, true))
			continue;
		struct ws_report_access one;
		enum ws_status st = access_make(scene, &shape, e->errorpc, &one);
		if (st != WS_OK)
			return st;
		one.found = (struct ws_report_claim){ "the hardware names this instruction",
						      "errorpc", WS_CONFIDENCE_CERTAIN };
		insert_access(list, &n, &one);
	}
	e->n_accesses = n;
	return WS_OK;
}

static void claim_candidates(struct ws_report_access *list, uint32_t n)
{
	uint32_t n_wrong = 0;
	for (uint32_t i = 0; i < n; i++)
		n_wrong += list[i].wrong != 0;
	for (uint32_t i = 0; i < n; i++) {
		bool wrong = list[i].wrong;
		list[i].found = (struct ws_report_claim){
			wrong ? "a candidate: the registers give an address that is invalid for it"
			      : "a candidate: an instruction before the pc that can fail this way",
			"there is no error PC",
			wrong && n_wrong == 1 ? WS_CONFIDENCE_LIKELY : WS_CONFIDENCE_POSSIBLE,
		};
	}
}

static enum ws_status before_pc(struct wsi_scene *scene, struct ws_report_access *list)
{
	struct ws_report_exception *e = scene->e;
	uint32_t n = 0;
	for (uint64_t back = 0;
	     back <= MAX_BACK && e->pc - scene->code.base_pc >= back * WS_SASS_BYTES; back++) {
		uint64_t pc = e->pc - back * WS_SASS_BYTES;
		struct ws_flow_written written;
		struct ws_insn insn;
		struct shape shape;
		struct ws_report_access one;
		if (!wsi_code_insn(&scene->code, pc, &insn) ||
		    !access_shape_of(&insn, pc, 0, &shape) || !can_raise(e->kind, &shape, false) ||
		    !scene->code.flow ||
		    ws_flow_written(scene->code.flow, pc, e->pc, &written, NULL) != WS_OK)
			continue;
		enum ws_status st = access_make(scene, &shape, pc, &one);
		if (st != WS_OK)
			return st;
		insert_access(list, &n, &one);
	}
	claim_candidates(list, n);
	e->n_accesses = n;
	return WS_OK;
}

/* What is said when no access is found. */
static const char *why_no_access(const struct wsi_scene *scene)
{
	const struct ws_report_exception *e = scene->e;
	struct ws_insn insn;
	if (e->errorpc_status != WS_OK && e->pc_status != WS_OK)
		return "no address of an instruction is recorded";
	if (!scene->code.place.cubin)
		return scene->build->report->dump_status == WS_OK
			       ? "the dump does not have the code that ran"
			       : "the device does not have the code that ran";
	if (e->errorpc_status != WS_OK)
		return "no instruction shortly before the pc can have failed this way";
	if (!wsi_code_insn(&scene->code, e->errorpc, &insn) || !insn.known)
		return "the instruction at errorpc is not known to this version";
	return insn.flags & (WS_SASS_LOAD | WS_SASS_STORE | WS_SASS_ATOMIC)
		       ? "the access of the instruction at errorpc cannot fail this way"
		       : "the instruction at errorpc touches no memory";
}

enum ws_status wsi_access_find(struct wsi_scene *scene)
{
	struct ws_report_exception *e = scene->e;
	struct ws_report_access list[WSI_MAX_CANDIDATES + 1];
	enum ws_status st = WS_OK;
	e->access_status = WS_ABSENT;
	if (e->blame == WS_BLAME_NOBODY || e->blame == WS_BLAME_TRAP)
		return WS_OK;
	e->access_why = why_no_access(scene);
	if (!scene->code.place.cubin)
		return WS_OK;
	if (e->errorpc_status == WS_OK)
		st = at_error_pc(scene, list);
	else if (e->pc_status == WS_OK)
		st = before_pc(scene, list);
	if (st != WS_OK || e->n_accesses == 0)
		return st;
	e->access_why = NULL;
	struct ws_report_access *kept =
		wsi_arena_zalloc_array(scene->build->arena, e->n_accesses, sizeof *kept);
	if (!kept)
		return WS_NO_MEMORY;
	memcpy(kept, list, e->n_accesses * sizeof *kept);
	e->accesses = kept;
	e->access_status = WS_OK;
	return WS_OK;
}
