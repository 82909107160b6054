/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an address went wrong because 32-bit arithmetic did not fit: it is computed a second time
 * with numbers that have no width. Only sums, products and shifts of what becomes part of a 64-bit
 * address count; what goes through a mask, a remainder or another operation is taken as it was.
 */
#include "explain/explain.h"

enum {
	MAX_STEPS = 200, /* nodes that are looked at */
	MAX_TERMS_TOLD = 4,
	MAX_BELOW_ZERO = 4096,
};

/* A node of a slice, of a function `depth` calls away from the instruction. */
struct overflow_place {
	const struct ws_flow_slice *slice;
	uint16_t node;
	uint32_t depth;
};

/* A result that did not fit. */
struct misfit {
	struct overflow_place at;
	int64_t exact;
	bool is_signed;
};

struct overflow_work {
	const struct wsi_scene *scene;
	uint32_t lane;
	unsigned left;       /* of MAX_STEPS */
	bool have;           /* `first` */
	struct misfit first; /* that became part of the address */
	bool found;          /* `inner` */
	struct misfit inner; /* the innermost one of what is being looked at */
};

static bool exact_narrow(struct overflow_work *work, struct overflow_place at, bool is_signed,
			 int64_t *ret);

static const struct ws_flow_node *node_of(struct overflow_place at)
{
	return &at.slice->node[at.node];
}

static struct overflow_place argument(struct overflow_place at, unsigned i)
{
	return (struct overflow_place){ at.slice, node_of(at)->arg[i], at.depth };
}

/* What the code had there. */
static bool place_value_of(const struct overflow_work *work, struct overflow_place at,
			   uint64_t *ret_value)
{
	unsigned uses = 0;
	return wsi_eval_kept(work->scene, at.slice, at.node, work->lane, at.depth, ret_value,
			     &uses);
}

/* What the caller passed in a register; false: it did not, or nobody knows. */
static bool passed_register(const struct overflow_work *work, struct overflow_place at,
			    struct overflow_place *ret_from)
{
	const struct ws_flow_node *node = node_of(at);
	const struct ws_flow_slice *slice = node->op == WS_FLOW_ENTRY_REG
						    ? wsi_eval_argument(work->scene, node, at.depth)
						    : NULL;
	*ret_from = (struct overflow_place){ slice, 0, at.depth + 1 };
	return slice != NULL;
}

/* ---- 32 bits ---- */

static bool fits(int64_t number, bool is_signed)
{
	return is_signed ? number >= INT32_MIN && number <= INT32_MAX
			 : number >= 0 && number <= UINT32_MAX;
}

/* A number as the code had it. */
static bool as_it_was(const struct overflow_work *work, struct overflow_place at, bool is_signed,
		      int64_t *ret)
{
	uint64_t value;
	if (!place_value_of(work, at, &value))
		return false;
	*ret = is_signed ? (int64_t)(int32_t)(uint32_t)value : (int64_t)(uint32_t)value;
	return true;
}

static bool exact_sum(struct overflow_work *work, struct overflow_place at, bool is_signed,
		      int64_t *ret)
{
	int64_t sum = 0, part;
	for (unsigned i = 0; i < node_of(at)->n_args; i++) {
		if (!exact_narrow(work, argument(at, i), is_signed, &part) ||
		    __builtin_add_overflow(sum, part, &sum))
			return false;
	}
	*ret = sum;
	return true;
}

/* A difference, a product or a shift to the left. */
static bool exact_two(struct overflow_work *work, struct overflow_place at, bool is_signed,
		      int64_t *ret)
{
	enum ws_flow_op op = node_of(at)->op;
	int64_t a, b;
	if (!exact_narrow(work, argument(at, 0), is_signed, &a) ||
	    !exact_narrow(work, argument(at, 1), is_signed, &b))
		return false;
	if (op == WS_FLOW_SUB)
		return !__builtin_sub_overflow(a, b, ret);
	if (op == WS_FLOW_SHL && (b < 0 || b > 31))
		return false;
	return !__builtin_mul_overflow(a, op == WS_FLOW_SHL ? INT64_C(1) << b : b, ret);
}

/* The number that a node of 32 bits would be, had it room. */
static bool exact_narrow(struct overflow_work *work, struct overflow_place at, bool is_signed,
			 int64_t *ret)
{
	const struct ws_flow_node *node = node_of(at);
	bool two = node->op == WS_FLOW_SUB || node->op == WS_FLOW_MUL || node->op == WS_FLOW_SHL;
	struct overflow_place from;
	if (work->left == 0)
		return false;
	work->left--;
	if (node->op == WS_FLOW_IMMEDIATE) {
		*ret = (int32_t)(uint32_t)node->value;
		return true;
	}
	if (passed_register(work, at, &from))
		return exact_narrow(work, from, is_signed, ret);
	if (node->op == WS_FLOW_NOT && node->bits == 32) { /* as sums have it: -1 - x */
		if (!exact_narrow(work, argument(at, 0), is_signed, ret))
			return false;
		*ret = -1 - *ret;
		return true;
	}
	if (node->bits != 32 || (node->op != WS_FLOW_ADD && !two))
		return as_it_was(work, at, is_signed, ret);
	if (!(two ? exact_two : exact_sum)(work, at, is_signed, ret))
		return false;
	if (!fits(*ret, is_signed) && !work->found) {
		work->found = true;
		work->inner = (struct misfit){ at, *ret, is_signed };
	}
	return true;
}

/* ---- 64 bits ---- */

/*
 * 32 bits made 64. An unsigned number may also be one below zero that a later sum brings back: it
 * only did not fit where it is wrong read either way.
 */
static bool exact_extension(struct overflow_work *work, struct overflow_place at, uint64_t *ret)
{
	bool is_signed = node_of(at)->op == WS_FLOW_SEXT;
	uint64_t was;
	int64_t exact, other;
	if (!place_value_of(work, at, &was))
		return false;
	work->found = false;
	*ret = was;
	if (!exact_narrow(work, argument(at, 0), is_signed, &exact))
		return true;
	struct misfit inner = work->inner;
	bool fit = !work->found || (uint64_t)exact == was;
	if (!fit && !is_signed) {
		if (!exact_narrow(work, argument(at, 0), true, &other))
			return true;
		fit = (uint64_t)other == was;
	}
	if (fit)
		return true;
	*ret = (uint64_t)exact;
	if (!work->have)
		work->first = inner;
	work->have = true;
	return true;
}

/* An address, which may wrap. */
static bool exact_wide(struct overflow_work *work, struct overflow_place at, uint64_t *ret)
{
	const struct ws_flow_node *node = node_of(at);
	uint64_t part[2] = { 0, 0 };
	struct overflow_place from;
	if (work->left == 0)
		return false;
	work->left--;
	if (node->op == WS_FLOW_SEXT || node->op == WS_FLOW_ZEXT)
		return exact_extension(work, at, ret);
	if (passed_register(work, at, &from))
		return exact_wide(work, from, ret);
	if (node->op == WS_FLOW_ADD) {
		uint64_t sum = 0;
		for (unsigned i = 0; i < node->n_args; i++) {
			if (!exact_wide(work, argument(at, i), &part[0]))
				return false;
			sum += part[0];
		}
		*ret = sum;
		return true;
	}
	bool two = node->op == WS_FLOW_SUB || node->op == WS_FLOW_MUL || node->op == WS_FLOW_SHL;
	if (!two)
		return place_value_of(work, at, ret);
	if (!exact_wide(work, argument(at, 0), &part[0]) ||
	    !exact_wide(work, argument(at, 1), &part[1]))
		return false;
	*ret = node->op == WS_FLOW_SUB   ? part[0] - part[1]
	       : node->op == WS_FLOW_MUL ? part[0] * part[1]
	       : part[1] < 64            ? part[0] << part[1]
					 : 0;
	return true;
}

/* ---- in words ---- */

/* "2 (blockIdx.x)", "1024 (kernel parameter 3)". */
static const char *term_text(const struct overflow_work *work, struct overflow_place at,
			     bool is_signed)
{
	static const char *const places[] = { "threadIdx.x", "threadIdx.y", "threadIdx.z",
					      "blockIdx.x",  "blockIdx.y",  "blockIdx.z" };
	struct wsi_build *build = work->scene->build;
	const struct ws_flow_node *node;
	struct overflow_place from;
	int64_t number;
	const char *name = NULL;
	while (passed_register(work, at, &from))
		at = from;
	node = node_of(at);
	if (node->op == WS_FLOW_IMMEDIATE)
		number = (int32_t)(uint32_t)node->value;
	else if (!as_it_was(work, at, is_signed, &number))
		return NULL;
	if (node->op == WS_FLOW_CONSTANT && node->number == 0 && node->n_args == 0)
		name = wsi_owner_parameter_text(work->scene, (uint64_t)node->value);
	else if (node->op == WS_FLOW_SPECIAL && node->number >= WS_SR_TID_X &&
		 node->number <= WS_SR_TID_Z)
		name = places[node->number - WS_SR_TID_X];
	else if (node->op == WS_FLOW_SPECIAL && node->number >= WS_SR_CTAID_X &&
		 node->number <= WS_SR_CTAID_Z)
		name = places[3 + node->number - WS_SR_CTAID_X];
	else if (node->op == WS_FLOW_LOAD)
		name = "read from memory";
	return name ? wsi_build_text(build, "%" PRId64 " (%s)", number, name)
		    : wsi_build_text(build, "%" PRId64, number);
}

/* "2 (blockIdx.x) * 1100000000 (kernel parameter 2) = 2200000000" */
static const char *misfit_text(const struct overflow_work *work, const struct misfit *misfit)
{
	static const char *const signs[] = { [WS_FLOW_ADD] = " + ",
					     [WS_FLOW_SUB] = " - ",
					     [WS_FLOW_MUL] = " * ",
					     [WS_FLOW_SHL] = " << " };
	struct wsi_build *build = work->scene->build;
	const struct ws_flow_node *node = node_of(misfit->at);
	const char *text = NULL;
	for (unsigned i = 0; i < node->n_args && node->n_args <= MAX_TERMS_TOLD; i++) {
		const char *term = term_text(work, argument(misfit->at, i), misfit->is_signed);
		if (!term)
			return NULL;
		text = text ? wsi_build_text(build, "%s%s%s", text, signs[node->op], term) : term;
		if (!text)
			return NULL;
	}
	return wsi_build_text(build, "%s%s%" PRId64, text ? text : "", text ? " = " : "",
			      misfit->exact);
}

/* Whether an address lies in the memory that the base points into. */
static bool is_inside(const struct ws_report_owner *owner, uint64_t address)
{
	return owner->range_status == WS_OK && address >= owner->range_start &&
	       address - owner->range_start < owner->range_size;
}

/* What comes of the address when nothing is cut off. */
static const char *evidence_text(const struct overflow_work *work,
				 const struct ws_report_access *access)
{
	const struct ws_report_owner *owner = &access->owner;
	const char *where =
		owner->range_status != WS_OK ? "which memory is there is not known"
		: access->overflow.inside
			? "it lies in the memory that the base points into"
			: "it is outside of the memory that the base points into as well";
	return wsi_build_text(work->scene->build,
			      "without that, lane %u's address is 0x%" PRIx64 ": %s", work->lane,
			      access->overflow.address, where);
}

static enum ws_status tell_misfit(const struct overflow_work *work, struct ws_report_access *access,
				  uint64_t exact)
{
	const struct wsi_scene *scene = work->scene;
	const struct misfit *misfit = &work->first;
	const struct ws_flow_node *node = node_of(misfit->at);
	struct ws_report_overflow *overflow = &access->overflow;
	overflow->pc = node->pc;
	overflow->address = exact;
	overflow->inside = is_inside(&access->owner, exact);
	overflow->below_zero = !misfit->is_signed && misfit->exact < 0;
	const char *sum = misfit_text(work, misfit), *evidence = evidence_text(work, access);
	uint32_t depth = misfit->at.depth;
	const char *line = wsi_code_line_text(
		scene->build, depth ? &scene->callers[depth - 1].code : &scene->code, node->pc);
	int64_t was = misfit->is_signed ? (int64_t)(int32_t)(uint32_t)misfit->exact
					: (int64_t)(uint32_t)misfit->exact;
	if (!sum || !evidence || !line)
		return WS_NO_MEMORY;
	overflow->claim = (struct ws_report_claim){
		wsi_build_text(scene->build,
			       "%s does not fit in 32 bits%s%s: the code went on with %" PRId64,
			       sum, misfit->is_signed ? "" : " without a sign", line, was),
		evidence,
		access->lanes_known >> work->lane & 1 ? WS_CONFIDENCE_CERTAIN
						      : WS_CONFIDENCE_LIKELY,
	};
	return overflow->claim.text ? WS_OK : WS_NO_MEMORY;
}

/* ---- by the distance alone ---- */

/* The one 32-bit index of the address, computed and not just read; NULL: none, or several. */
static const struct ws_flow_term *address_index_of(const struct ws_flow_slice *slice,
						   const struct ws_flow_address *parts,
						   enum ws_flow_op extension)
{
	const struct ws_flow_term *index = NULL;
	for (size_t i = 0; i < parts->n_terms; i++) {
		const struct ws_flow_node *node = &slice->node[parts->term[i].node];
		if (node->op != extension)
			continue;
		if (index || slice->node[node->arg[0]].op == WS_FLOW_LOAD)
			return NULL;
		index = &parts->term[i];
	}
	return index && index->scale > 0 && index->scale <= UINT16_MAX ? index : NULL;
}

/* How much a loop adds to an index in every round; 0: it is none of a loop, or nobody knows. */
static uint64_t loop_step_of(const struct overflow_work *work, const struct ws_flow_node *index)
{
	const struct ws_flow_slice *slice = work->scene->slice;
	const struct ws_flow_node *merge = &slice->node[index->arg[0]];
	for (unsigned i = 0; i < merge->n_args && merge->op == WS_FLOW_MERGE; i++) {
		const struct ws_flow_node *way = &slice->node[merge->arg[i]];
		if (way->op != WS_FLOW_ADD || way->n_args != 2)
			continue;
		unsigned again = slice->node[way->arg[0]].op == WS_FLOW_AGAIN ? 0 : 1;
		struct overflow_place other = { slice, way->arg[1 - again], 0 };
		uint64_t step;
		if (slice->node[way->arg[again]].op == WS_FLOW_AGAIN &&
		    place_value_of(work, other, &step) && step <= INT32_MAX)
			return step;
	}
	return 0;
}

static enum ws_status tell_distance(const struct overflow_work *work,
				    struct ws_report_access *access, int64_t index, const char *how,
				    enum ws_confidence confidence)
{
	const char *text = wsi_build_text(work->scene->build,
					  "lane %u's address is as far from its base as the index "
					  "%" PRId64 " leads, which is what %s",
					  work->lane, index, how);
	const char *evidence = evidence_text(work, access);
	access->overflow.claim = (struct ws_report_claim){ text, evidence, confidence };
	return text && evidence ? WS_OK : WS_NO_MEMORY;
}

/*
 * An index of which the parts are not known, so far below zero that it may be one of more than
 * 2^31. It is likely where with 2^32 more the address is in the memory that the base points into,
 * or was in the round before.
 */
static enum ws_status find_far_below(const struct overflow_work *work,
				     const struct ws_flow_term *term,
				     struct ws_report_access *access)
{
	const struct ws_report_owner *owner = &access->owner;
	const struct ws_flow_node *index = &work->scene->slice->node[term->node];
	uint64_t scale = (uint64_t)term->scale;
	uint64_t below = owner->value - access->address[work->lane];
	uint64_t exact = access->address[work->lane] + (scale << 32);
	if (below > scale << 31 || below < scale << 29)
		return WS_OK;
	access->overflow.address = exact;
	access->overflow.inside = is_inside(owner, exact);
	bool likely = access->overflow.inside ||
		      is_inside(owner, exact - loop_step_of(work, index) * scale);
	return tell_distance(work, access, -(int64_t)(below / scale), "32 bits hold of 2^32 more",
			     likely ? WS_CONFIDENCE_LIKELY : WS_CONFIDENCE_POSSIBLE);
}

/* An index without a sign that is just below 2^32: less than zero. */
static enum ws_status find_below_zero(const struct overflow_work *work,
				      const struct ws_flow_term *term,
				      struct ws_report_access *access)
{
	const struct ws_report_owner *owner = &access->owner;
	uint64_t scale = (uint64_t)term->scale;
	uint64_t above = access->address[work->lane] - owner->value;
	if (above / scale > UINT32_MAX || above / scale < UINT32_MAX - MAX_BELOW_ZERO)
		return WS_OK;
	access->overflow.address = access->address[work->lane] - (scale << 32);
	access->overflow.below_zero = true;
	return tell_distance(work, access, (int64_t)(above / scale),
			     "32 bits without a sign hold of 2^32 less", WS_CONFIDENCE_LIKELY);
}

static enum ws_status find_distance(const struct overflow_work *work,
				    struct ws_report_access *access)
{
	const struct wsi_scene *scene = work->scene;
	const struct ws_report_owner *owner = &access->owner;
	struct ws_flow_address parts;
	ws_flow_address(scene->slice, 0, &parts);
	bool known = owner->range_status == WS_OK || wsi_global_is_partial(scene->build);
	bool below = owner->value > access->address[work->lane];
	const struct ws_flow_term *term =
		address_index_of(scene->slice, &parts, below ? WS_FLOW_SEXT : WS_FLOW_ZEXT);
	uint64_t value;
	unsigned uses = 0;
	if (!term || !owner->value_known || !known)
		return WS_OK;
	if (wsi_eval(scene, scene->slice, term->node, work->lane, 0, &value, &uses))
		return WS_OK; /* its parts are known, and fit */
	return below ? find_far_below(work, term, access) : find_below_zero(work, term, access);
}

/* The address of one lane. */
static enum ws_status find_of_lane(struct wsi_scene *scene, uint32_t lane,
				   struct ws_report_access *access)
{
	struct overflow_work work = { .scene = scene, .lane = lane, .left = MAX_STEPS };
	struct overflow_place root = { scene->slice, 0, 0 };
	uint64_t exact, was;
	uint32_t sure = access->lanes_known | access->lanes_likely;
	if (!(sure & access->suspects & ~access->mapped & 1u << lane))
		return WS_OK;
	bool known = place_value_of(&work, root, &was) && exact_wide(&work, root, &exact);
	if (!known || !work.have)
		return find_distance(&work, access);
	return was == access->address[lane] ? tell_misfit(&work, access, exact) : WS_OK;
}

enum ws_status wsi_overflow_find(struct wsi_scene *scene, struct ws_report_access *access)
{
	enum ws_status st = WS_OK;
	if (access->space != WS_SPACE_GLOBAL || !scene->have_slice || scene->slice->partly)
		return WS_OK;
	if (access->lane != WS_NONE)
		return find_of_lane(scene, access->lane, access);
	for (uint32_t lane = 0; lane < WS_MAX_LANES && st == WS_OK && !access->overflow.claim.text;
	     lane++)
		st = find_of_lane(scene, lane, access);
	return st;
}
