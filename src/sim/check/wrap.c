/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signed products of 32 bits that did not fit, followed on a device that checks from the
 * multiplication to an address (check.h).
 *
 * Arithmetic that wraps is no mistake: hashes do it, and compilers do it on the way to a sum that
 * fits again. A product that did not fit is therefore computed on with room for it, through sums,
 * products and shifts, and forgotten where the result fits. It is told where its sign was put above
 * it to make 64 bits, and an access uses these as its address: it is 2^32 elements away from where
 * the numbers lead. An index without a sign gets zeros above it, and is never told.
 *
 * What any other operation makes of such a number (a mask, a remainder, a shift to the right) is
 * bent: it, and what is computed with it, is a number of its own. So is the lower half of 64 bits,
 * which is no number. A number below zero may also be one without a sign, and a large one that is
 * added may be one below zero that does not fit itself: such sums have two results, of which either
 * may fit. Products of numbers below zero are not judged.
 */
#include "sim/check/check.h"

enum {
	PRODUCTS = 32,   /* of a warp that are remembered */
	LARGE = 1 << 30, /* what is added from here on may be a number below zero */
};

/* Numbers that did not fit, of each lane. */
struct wsi_wrapped_product {
	uint64_t pc; /* of the multiplication, */
	uint32_t serial;
	int32_t factor[2][WSI_LANES], addend[WSI_LANES]; /* and its operands */
	bool is_derived;                                 /* computed on: */
	int64_t least[WSI_LANES], most[WSI_LANES];       /* one of these, 2^32 apart */
};

/* What an operation does to such numbers. */
enum wrap_kind {
	OTHER, /* bends them */
	COPY,
	SUM,        /* of 32 bits */
	PRODUCT,    /* a * b + c of 32 bits */
	SCALED,     /* (a << number) + b of 32 bits */
	SIGN,       /* of the last source, 32 times */
	UPPER,      /* the upper half of sums and shifts of 64 bits */
	UPPER_SIGN, /* the same of a number of 32 bits, with its sign above, or of products */
	LOWER,      /* the lower half of a sum of 64 bits */
	WIDE,       /* a * b + c of 64 bits */
	WIDE_UNSIGNED,
	WIDE_SUM,
};

static const struct wsi_wrap fits;

/* ---- by instruction ---- */

static bool is_zero(const struct wsi_alu_value *v)
{
	return (v->place == WSI_ALU_NUMBER && v->value == 0) ||
	       (v->place <= WSI_ALU_UREG && v->number == 255);
}

static bool is_number(const struct wsi_alu_value *v, uint64_t below)
{
	return v->place == WSI_ALU_NUMBER && v->value < below;
}

static bool is_lea(const struct wsi_op *op)
{
	return op->insn.operation == WS_OP_LEA || op->insn.operation == WS_OP_ULEA;
}

static bool drops_carry(const struct wsi_alu *alu)
{
	for (unsigned i = 0; i < alu->n_predicate_results; i++)
		if (alu->predicate_result[i].number != 7)
			return false;
	return true;
}

static enum wrap_kind kind_of_sum(const struct wsi_alu *alu)
{
	if (alu->result[0].words == 2)
		return WIDE_SUM;
	if (alu->carry_in)
		return UPPER;
	return drops_carry(alu) ? SUM : LOWER;
}

static enum wrap_kind kind_of_product(const struct wsi_op *op)
{
	const struct wsi_alu *alu = &op->alu;
	bool is_wide = ws_sass_has(&op->insn, WS_MOD_WIDE);
	if (alu->upper) { /* by the size of an element; a remainder has a large factor */
		bool by_size = is_number(&alu->source[1], 1 << 16) && !alu->carry_in;
		return by_size && !ws_sass_has(&op->insn, WS_MOD_U32) ? UPPER_SIGN : OTHER;
	}
	if (is_wide)
		return ws_sass_has(&op->insn, WS_MOD_U32) ? WIDE_UNSIGNED : WIDE;
	if (alu->carry_in)
		return UPPER;
	bool moves = is_zero(&alu->source[0]) || is_zero(&alu->source[1]);
	if (moves && alu->flip[2] == 0)
		return COPY;
	/* unoptimised code tells products without a sign by their names */
	bool is_unsigned =
		ws_sass_has(&op->insn, WS_MOD_U32) && !ws_sass_has(&op->insn, WS_MOD_SHL);
	return is_unsigned ? OTHER : PRODUCT;
}

static enum wrap_kind kind_of_shift(const struct wsi_alu *alu, bool left)
{
	if (left && !alu->upper)
		return is_number(&alu->source[1], 32) ? SCALED : OTHER;
	if (left)
		return UPPER;
	bool is_sign = alu->is_signed && is_zero(&alu->source[0]) && alu->source[1].value == 31 &&
		       is_number(&alu->source[1], 32);
	return is_sign ? SIGN : OTHER;
}

uint8_t wsi_wrap_kind(const struct wsi_op *op)
{
	const struct wsi_alu *alu = &op->alu;
	if (op->run != wsi_run_values || alu->n_results != 1)
		return OTHER;
	switch (op->insn.operation) {
	case WS_OP_MOV:
	case WS_OP_UMOV:
		return alu->n_sources == 1 && alu->result[0].words <= 2 ? COPY : OTHER;
	case WS_OP_IADD:
	case WS_OP_IADD3:
	case WS_OP_UIADD3:
		return kind_of_sum(alu);
	case WS_OP_VIADD:
		return alu->kind == 32 && !alu->sat ? SUM : OTHER;
	case WS_OP_IMAD:
	case WS_OP_UIMAD:
		return kind_of_product(op);
	case WS_OP_LEA:
	case WS_OP_ULEA:
		if (alu->upper)
			return !alu->carry_in ? OTHER : alu->is_signed ? UPPER_SIGN : UPPER;
		return !drops_carry(alu) ? LOWER : alu->flip[0] ? OTHER : SCALED;
	case WS_OP_SHF:
	case WS_OP_USHF:
		return kind_of_shift(alu, ws_sass_has(&op->insn, WS_MOD_L));
	default:
		return OTHER;
	}
}

/* ---- what is known of sources and results ---- */

static const struct wsi_wrap *wrap_of(const struct wsi_trail *trail, const struct wsi_alu_value *v,
				      unsigned word)
{
	unsigned number = v->number + word;
	if (v->number == 255 || word >= v->words)
		return &fits;
	if (v->place == WSI_ALU_UREG)
		return &trail->uniform_wrap[number];
	return v->place == WSI_ALU_REG && number < trail->n_regs ? &trail->reg[number].wrap : &fits;
}

static uint32_t marks(const struct wsi_wrap *wrap)
{
	return wrap->wrapped | wrap->above;
}

void wsi_wrap_put(struct wsi_wrap *to, const struct wsi_wrap *from, uint32_t mask)
{
	uint32_t kept = marks(to) & ~mask;
	if (marks(from) & mask) {
		if (kept && to->product != from->product) { /* only one is remembered */
			to->bent |= kept;
			to->wrapped = to->above = 0;
		}
		to->product = from->product;
	}
	to->wrapped = (to->wrapped & ~mask) | (from->wrapped & mask);
	to->above = (to->above & ~mask) | (from->above & mask);
	to->bent = (to->bent & ~mask) | (from->bent & mask);
}

static struct wsi_wrapped_product *product_find(const struct wsi_trail *trail, uint32_t serial)
{
	struct wsi_wrapped_product *product =
		trail->products ? &trail->products[serial % PRODUCTS] : NULL;
	return product && product->serial == serial ? product : NULL;
}

/* A new one, in place of the oldest; NULL: no memory. */
static struct wsi_wrapped_product *product_make(const struct wsi_run *run)
{
	struct wsi_trail *trail = run->warp->trace->trail;
	if (!trail->products &&
	    wsi_block_take(run->sim, run->warp->block, "what is checked of products",
			   PRODUCTS * sizeof *trail->products))
		trail->products = wsi_zalloc_array(PRODUCTS, sizeof *trail->products);
	if (!trail->products) {
		run->sim->check->no_memory = true;
		return NULL;
	}
	trail->n_products++;
	struct wsi_wrapped_product *product = &trail->products[trail->n_products % PRODUCTS];
	product->serial = trail->n_products;
	return product;
}

/* ---- 32 bits ---- */

/* A source of the operation that is computed. */
struct wrap_term {
	const uint32_t *value;
	bool negated;
	uint32_t wrapped; /* lanes that `product` is about */
	const struct wsi_wrapped_product *product;
};

/* A sum of `term`; or [0] * [1] + [2]. */
struct wrap_work {
	struct wsi_run *run;
	const struct wsi_op *op;
	uint32_t wrapped, bent; /* of the sources */
	unsigned n;
	struct wrap_term term[3];
};

/* What a number may be, had it room. */
struct wrap_range {
	int64_t least, most;
};

/* Of a number that is added: it may stand for one without a sign, or for one below zero that does
 * not fit itself. */
static struct wrap_range range_of_addend(int64_t value)
{
	struct wrap_range range = { value, value };
	if (value < 0)
		range.most += INT64_C(1) << 32;
	else if (value >= LARGE)
		range.least -= INT64_C(1) << 32;
	return range;
}

static struct wrap_range term_range_of(const struct wrap_term *term, unsigned lane, bool is_added)
{
	const struct wsi_wrapped_product *product = term->product;
	int64_t value = (int32_t)term->value[lane];
	if (!(term->wrapped >> lane & 1))
		return is_added ? range_of_addend(value) : (struct wrap_range){ value, value };
	if (product->is_derived)
		return (struct wrap_range){ product->least[lane], product->most[lane] };
	struct wrap_range range = range_of_addend(product->addend[lane]);
	int64_t alone = (int64_t)product->factor[0][lane] * product->factor[1][lane];
	return (struct wrap_range){ alone + range.least, alone + range.most };
}

/* False: that does not even fit in 64 bits. */
static bool wrap_range_add(struct wrap_range *sum, struct wrap_range term, bool negated)
{
	if (negated)
		return !__builtin_sub_overflow(sum->least, term.most, &sum->least) &&
		       !__builtin_sub_overflow(sum->most, term.least, &sum->most);
	return !__builtin_add_overflow(sum->least, term.least, &sum->least) &&
	       !__builtin_add_overflow(sum->most, term.most, &sum->most);
}

/* The same; or a number below zero, which is not judged. */
static bool range_multiply(struct wrap_range *product, struct wrap_range by)
{
	return product->least >= 0 && by.least >= 0 &&
	       !__builtin_mul_overflow(product->least, by.least, &product->least) &&
	       !__builtin_mul_overflow(product->most, by.most, &product->most);
}

static bool range_fits(struct wrap_range range)
{
	int32_t had = (int32_t)(uint32_t)range.least;
	return had >= range.least && had <= range.most;
}

/* The result in a lane. False: it is not judged. */
static bool compute_range(const struct wrap_work *work, unsigned lane, struct wrap_range *ret)
{
	unsigned first = work->op->wrap == SUM ? 0 : 2;
	*ret = (struct wrap_range){ 0, 0 };
	if (first > 0) {
		*ret = term_range_of(&work->term[0], lane, false);
		if (!range_multiply(ret, term_range_of(&work->term[1], lane, false)))
			return false;
	}
	for (unsigned i = first; i < work->n; i++) {
		const struct wrap_term *term = &work->term[i];
		if (!wrap_range_add(ret, term_range_of(term, lane, true), term->negated))
			return false;
	}
	return true;
}

/* What becomes of numbers that did not fit. */
static void compute_on(struct wrap_work *work, struct wsi_wrap *made)
{
	struct wsi_wrapped_product *to = NULL;
	for (uint32_t left = work->wrapped & ~work->bent; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left), i = 0;
		struct wrap_range range;
		while (!(work->term[i].wrapped >> lane & 1))
			i++;
		const struct wsi_wrapped_product *from = work->term[i].product;
		bool judged = compute_range(work, lane, &range);
		if (judged && range_fits(range))
			continue;
		if (!judged || (to && to->pc != from->pc)) { /* only one is remembered */
			work->bent |= 1u << lane;
			continue;
		}
		if (!to)
			to = product_make(work->run);
		if (!to)
			return;
		to->pc = from->pc;
		to->is_derived = true;
		to->factor[0][lane] = from->factor[0][lane];
		to->factor[1][lane] = from->factor[1][lane];
		to->addend[lane] = from->addend[lane];
		to->least[lane] = range.least;
		to->most[lane] = range.most;
		made->wrapped |= 1u << lane;
		made->product = to->serial;
	}
}

/* A product of numbers that did fit. */
static void multiply_ranges(const struct wrap_work *work, uint32_t lanes, struct wsi_wrap *made)
{
	const struct wrap_term *term = work->term;
	uint32_t addend[WSI_LANES];
	memcpy(addend, term[2].value, sizeof addend);
	for (unsigned i = 0; i < WSI_LANES && term[2].negated; i++)
		addend[i] = 0 - addend[i];
	lanes &= wsi_alu_misfits(term[0].value, term[1].value, addend, LARGE);
	struct wsi_wrapped_product *to = lanes ? product_make(work->run) : NULL;
	if (!to)
		return;
	to->pc = work->run->pc;
	to->is_derived = false;
	memcpy(to->factor[0], term[0].value, sizeof to->factor[0]);
	memcpy(to->factor[1], term[1].value, sizeof to->factor[1]);
	memcpy(to->addend, addend, sizeof to->addend);
	made->wrapped = lanes;
	made->product = to->serial;
}

static const uint32_t *repeated_lane(uint32_t scratch[WSI_LANES], uint32_t value)
{
	for (unsigned lane = 0; lane < WSI_LANES; lane++)
		scratch[lane] = value;
	return scratch;
}

/* Finds a source. False: it is not there. */
static bool wrap_source_take(struct wrap_work *work, unsigned source, unsigned to,
			     uint32_t scratch[4 * WSI_LANES])
{
	const struct wsi_alu_value *v = &work->op->alu.source[source];
	const struct wsi_trail *trail = work->run->warp->trace->trail;
	const struct wsi_wrap *wrap = wrap_of(trail, v, 0);
	const struct wsi_wrapped_product *product =
		wrap->wrapped ? product_find(trail, wrap->product) : NULL;
	work->term[to] = (struct wrap_term){
		.value = wsi_sim_source(work->run, v, scratch),
		.negated = work->op->alu.flip[source] != 0,
		.wrapped = product ? wrap->wrapped : 0,
		.product = product,
	};
	work->wrapped |= work->term[to].wrapped;
	work->bent |= wrap->bent | (product ? 0 : wrap->wrapped);
	return work->term[to].value != NULL;
}

/* Sums, products and shifts of 32 bits. */
static void follow_number(struct wsi_run *run, const struct wsi_op *op, uint32_t lanes,
			  struct wsi_wrap *made)
{
	struct wrap_work work = { .run = run, .op = op };
	uint32_t scratch[3][4 * WSI_LANES];
	bool is_scaled = op->wrap == SCALED, adds = is_lea(op), ok = true;
	work.n = is_scaled ? 3 : op->alu.n_sources;
	if (is_scaled) {
		unsigned by = adds ? op->alu.kind : op->alu.source[1].value & 31;
		work.term[1].value = repeated_lane(scratch[1], UINT32_C(1) << by);
		work.term[2].value = adds ? NULL : repeated_lane(scratch[2], 0);
		ok = wrap_source_take(&work, 0, 0, scratch[0]) &&
		     (!adds || wrap_source_take(&work, 1, 2, scratch[2]));
	}
	for (unsigned i = 0; !is_scaled && ok && i < work.n; i++)
		ok = wrap_source_take(&work, i, i, scratch[i]);
	if (!ok)
		return;
	work.wrapped &= lanes;
	if (work.wrapped)
		compute_on(&work, made);
	else if (op->wrap != SUM)
		multiply_ranges(&work, lanes & ~work.bent, made);
	made->bent = work.bent;
}

/* ---- 64 bits ---- */

/* The upper half of the result becomes one of numbers that did not fit, or may be. */
static void add_above(struct wsi_wrap *made, const struct wsi_wrap *from, uint32_t lanes)
{
	if (made->above == 0)
		made->product = from->product;
	if (made->product == from->product)
		made->above |= lanes;
	else
		made->bent |= lanes; /* only one is remembered */
}

/* A source that is itself an upper half. */
static void add_upper(struct wsi_wrap *made, const struct wsi_wrap *from)
{
	add_above(made, from, from->above);
	made->bent |= from->bent | from->wrapped;
}

/* A source of 32 bits that gets its sign above it. */
static void add_sign(struct wsi_wrap *made, const struct wsi_wrap *from)
{
	add_above(made, from, from->wrapped);
	made->bent |= from->bent | from->above;
}

/* What the upper half of the result, or a result that may be one, is. */
static void follow_upper(const struct wsi_trail *trail, const struct wsi_op *op,
			 struct wsi_wrap *made)
{
	const struct wsi_alu *alu = &op->alu;
	bool is_shift = op->insn.operation == WS_OP_SHF || op->insn.operation == WS_OP_USHF;
	unsigned first = op->wrap != UPPER ? 0 : is_shift ? 2 : is_lea(op);
	if (op->wrap == SIGN) {
		add_sign(made, wrap_of(trail, &alu->source[2], 0));
	} else if (op->wrap == UPPER_SIGN) {
		add_sign(made, wrap_of(trail, &alu->source[0], 0));
		add_upper(made, is_lea(op) ? wrap_of(trail, &alu->source[1], 0)
					   : wrap_of(trail, &alu->source[2], 1));
	} else if (op->wrap == WIDE) {
		add_sign(made, wrap_of(trail, &alu->source[0], 0));
		add_sign(made, wrap_of(trail, &alu->source[1], 0));
		add_upper(made, wrap_of(trail, &alu->source[2], 1));
	} else if (op->wrap == WIDE_UNSIGNED) {
		for (unsigned i = 0; i < 2; i++) {
			const struct wsi_wrap *wrap = wrap_of(trail, &alu->source[i], 0);
			made->bent |= wrap->wrapped | wrap->above | wrap->bent;
		}
		add_upper(made, wrap_of(trail, &alu->source[2], 1));
	} else { /* what is shifted begins with its lower half */
		for (unsigned i = first; i < alu->n_sources; i++)
			add_upper(made, wrap_of(trail, &alu->source[i], op->wrap == WIDE_SUM));
	}
	made->above &= ~made->bent;
}

/* ---- one operation ---- */

/* Whether an operation may be a product that does not fit, see wsi_alu_misfits(). */
static bool may_misfit(const struct wsi_op *op)
{
	const struct wsi_alu_value *by = &op->alu.source[1];
	return op->wrap == SCALED ||
	       (op->wrap == PRODUCT &&
		(by->place != WSI_ALU_NUMBER || (by->value > 1 && by->value <= INT32_MAX)));
}

void wsi_wrap_follow(struct wsi_run *run, const struct wsi_op *op, struct wsi_wrap made[2])
{
	const struct wsi_trail *trail = run->warp->trace->trail;
	const struct wsi_alu *alu = &op->alu;
	bool to_uniform = alu->n_results == 1 && alu->result[0].place == WSI_ALU_UREG;
	uint32_t lanes = to_uniform ? UINT32_MAX : run->mask, above = 0, any = 0;
	for (unsigned i = 0; i < alu->n_sources; i++)
		for (unsigned k = 0; k < alu->source[i].words; k++) {
			const struct wsi_wrap *wrap = wrap_of(trail, &alu->source[i], k);
			above |= wrap->above;
			any |= wrap->wrapped | wrap->above | wrap->bent;
		}
	any &= run->mask;
	made[0] = made[1] = fits;
	switch ((enum wrap_kind)op->wrap) {
	case OTHER:
		made[0].bent = made[1].bent = to_uniform && any ? UINT32_MAX : any;
		break;
	case COPY:
		for (unsigned k = 0; any && k < 2; k++)
			made[k] = *wrap_of(trail, &alu->source[alu->n_sources - 1], k);
		break;
	case PRODUCT:
	case SCALED:
	case SUM:
		if (above & lanes)
			follow_upper(trail, op, &made[0]);
		else if (any || may_misfit(op))
			follow_number(run, op, lanes, &made[0]);
		break;
	case SIGN:
	case UPPER:
	case UPPER_SIGN:
		if (any)
			follow_upper(trail, op, &made[0]);
		break;
	case WIDE:
	case WIDE_UNSIGNED:
	case WIDE_SUM:
		if (any)
			follow_upper(trail, op, &made[1]);
		made[0].bent = UINT32_MAX;
		break;
	case LOWER:
		made[0].bent = UINT32_MAX;
		break;
	}
}

void wsi_wrap_access(const struct wsi_run *run, const struct wsi_op_address *at,
		     const uint64_t address[WSI_LANES])
{
	const struct wsi_trail *trail = run->warp->trace->trail;
	const struct wsi_wrap *wrap = &fits;
	if (at->reg_words == 2 && at->reg + 1u < trail->n_regs)
		wrap = &trail->reg[at->reg + 1u].wrap;
	else if (at->ureg_words == 2)
		wrap = &trail->uniform_wrap[at->ureg + 1u];
	uint32_t lanes = wrap->above & run->mask;
	const struct wsi_wrapped_product *product =
		lanes ? product_find(trail, wrap->product) : NULL;
	if (!product)
		return;
	unsigned lane = wsi_first_bit(lanes);
	uint64_t window = address[lane] & ~(WSI_WINDOW_BYTES - 1);
	if (window == WSI_SHARED_WINDOW || window == WSI_LOCAL_WINDOW)
		return;
	struct wsi_shadow_access who = wsi_trail_party(run, run->pc, 1u << lane);
	struct wsi_shadow_access other = wsi_trail_party(run, product->pc, 1u << lane);
	struct ws_sim_finding *finding = wsi_check_tell(
		run->sim->check, WS_SIM_OVERFLOW, WS_SIM_SPACE_GLOBAL, address[lane], &who, &other);
	if (!finding)
		return;
	finding->factor[0] = product->factor[0][lane];
	finding->factor[1] = product->factor[1][lane];
	if (finding->factor[0] * finding->factor[1] <= INT32_MAX)
		finding->addend = product->addend[lane];
}
