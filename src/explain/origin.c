/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the base of an address came from.
 *
 * It is found in the code (flow.h), also if the code keeps it on the thread's stack (stored.c); the
 * target gives the values, which rule out paths that the thread did not take. If paths disagree, it
 * stays unknown: a wrong name is worse than none. If the code ends at something on the stack, its
 * value may decide.
 */
#include "explain/explain.h"

enum {
	MAX_LEVELS = 24,  /* nodes within nodes that are followed */
	MAX_NODES = 2000, /* nodes that are followed for one access */
};
#define SMALL_VALUE UINT64_C(0x10000) /* values below tell nothing */

/* A node of a slice, of a function `depth` calls away from the instruction. */
struct origin {
	const struct ws_flow_slice *slice;
	uint16_t node;
	uint32_t depth;
};

/* A place of the stack that is being followed; what leads back to it is a round of a loop. */
struct origin_slot {
	uint64_t address, pc; /* read by the instruction at `pc` */
	const struct origin_slot *up;
};

/* What all tracers of one access share. */
struct origin_trace {
	struct wsi_scene *scene;
	uint32_t lane;
	unsigned n_nodes;         /* followed so far */
	bool memory_is_as_it_was; /* the memory of now gives the very address of the fault */
	bool no_memory;           /* out of it */
	bool partly;              /* by an instruction that is not explained in full */
};

static const struct ws_report_owner nobody = { .ordinal = WS_NONE, .root_ordinal = WS_NONE };

struct tracer {
	struct origin_trace *trace;
	struct ws_report_owner *owner;
	unsigned level;
	const struct origin_slot *slots;
	bool have_actual; /* `actual`: what the value was, for the node that comes next */
	uint64_t actual;
	bool any_root; /* of what is found, only the parameter at its root matters */
	/* out: how it was found */
	bool merged;  /* several paths were taken for one */
	bool stacked; /* by way of the stack */
	bool partial; /* some paths are too long to follow */
	bool open; /* a loaded pointer whose root such a path, or a round of a loop, would tell */
	/* out: why it was not */
	bool again;   /* it is what it was in an earlier round of a loop */
	bool limited; /* too long to follow */
};

static bool trace_address(struct tracer *t, struct origin at);
static bool trace_node(struct tracer *t, struct origin at);
static bool trace_stack(struct tracer *t, const struct ws_flow_node *load, uint64_t address,
			uint32_t depth);

/* ---- leaves ---- */

/* The field of a parameter at the owner's offset. */
static struct ws_str field_name(const struct wsi_scene *scene,
				const struct ws_report_kernel *kernel,
				const struct ws_report_owner *owner)
{
	struct wsi_build *build = scene->build;
	struct wsi_where where = wsi_where_of_grid(build, kernel->device_index, kernel->grid_index);
	struct ws_cubin_hint hint = { where.module_index, where.device_index, where.context_index };
	struct ws_place place;
	if (ws_cubin_set_find_address(build->cubins, kernel->grid.function_entry, &hint, &place,
				      NULL) != WS_OK ||
	    !place.function)
		return (struct ws_str){ NULL, 0 };
	return wsi_types_field(build, &place, owner->ordinal, owner->offset);
}

bool wsi_origin_parameter(const struct wsi_scene *scene, uint64_t offset,
			  struct ws_report_owner *owner)
{
	if (scene->e->kernel == WS_NONE)
		return false;
	const struct ws_report_kernel *kernel = &scene->build->kernels[scene->e->kernel];
	for (uint32_t i = 0; i < kernel->n_params; i++) {
		const struct ws_report_param *param = &kernel->params[i];
		uint64_t start = (uint64_t)kernel->params_offset + param->offset;
		if (offset - start >= param->size_bytes)
			continue;
		owner->kind = WS_OWNER_PARAMETER;
		owner->ordinal = param->ordinal;
		owner->offset = (uint32_t)(offset - start);
		owner->name = param->name;
		if (kernel->types_status == WS_OK)
			owner->field = field_name(scene, kernel, owner);
		return true;
	}
	return false;
}

static bool own_symbol(struct tracer *t, uint64_t address)
{
	const struct ws_variable *variable =
		wsi_variable_at(t->trace->scene->code.place.cubin, WS_SPACE_GLOBAL, 0, address);
	if (!variable)
		return false;
	t->owner->kind = WS_OWNER_SYMBOL;
	t->owner->name = variable->name;
	t->owner->offset = (uint32_t)(address - variable->gpu_va);
	t->owner->value_known = true;
	t->owner->value = variable->gpu_va;
	return true;
}

static bool own_constant(struct tracer *t, uint32_t bank, uint64_t offset)
{
	const struct ws_variable *variable =
		wsi_variable_at(t->trace->scene->code.place.cubin, WS_SPACE_CONST, bank, offset);
	if (!variable)
		return false;
	t->owner->kind = WS_OWNER_CONSTANT;
	t->owner->bank = bank;
	t->owner->offset = (uint32_t)offset;
	t->owner->name = variable->name;
	return true;
}

enum { BANK_PARAMETERS = 0, BANK_USER = 3, BANK_ADDRESSES = 4 };

static bool trace_constant(struct tracer *t, struct origin at)
{
	const struct ws_flow_node *node = &at.slice->node[at.node];
	uint64_t offset = (uint64_t)node->value, part = 0, value;
	unsigned uses = 0;
	if (node->n_args && !wsi_eval(t->trace->scene, at.slice, node->arg[0], t->trace->lane,
				      at.depth, &part, &uses))
		return false;
	offset += part;
	if (node->number == BANK_PARAMETERS)
		return wsi_origin_parameter(t->trace->scene, offset, t->owner);
	if (node->number == BANK_USER)
		return own_constant(t, BANK_USER, offset);
	return node->number == BANK_ADDRESSES &&
	       wsi_eval(t->trace->scene, at.slice, at.node, t->trace->lane, at.depth, &value,
			&uses) &&
	       own_symbol(t, value);
}

/* ---- pointers read from memory ---- */

/* The constant bank whose device address an address lies in: -G code reads it that way. */
static bool own_constant_window(struct tracer *t, uint64_t address)
{
	struct ws_memory_range range;
	struct wsi_build *build = t->trace->scene->build;
	for (uint32_t i = wsi_range_count(build);
	     ws_target_memory_range(build->target, i, &range, NULL) == WS_OK; i++) {
		if (range.space == WS_SPACE_CONST &&
		    range.grid_index == t->trace->scene->grid_index &&
		    address - range.start < range.size)
			return own_constant(t, range.bank, address - range.start);
	}
	return false;
}

static struct tracer tracer_inner(const struct tracer *t, struct ws_report_owner *owner)
{
	return (struct tracer){ .trace = t->trace,
				.owner = owner,
				.level = t->level,
				.slots = t->slots,
				.any_root = t->any_root };
}

/* Takes over how something was found that is a part of what `t` looks for. */
static void tracer_take(struct tracer *t, const struct tracer *inner)
{
	t->merged |= inner->merged;
	t->stacked |= inner->stacked;
	t->partial |= inner->partial;
}

/* Whether a generic or local load is of the thread's stack, and where. */
static bool on_stack(const struct tracer *t, const struct ws_flow_node *node, uint64_t address,
		     uint64_t *ret_local)
{
	uint32_t rank;
	*ret_local = address;
	return node->space == WS_SASS_SPACE_LOCAL ||
	       (node->space == WS_SASS_SPACE_GENERIC &&
		wsi_scene_resolve(t->trace->scene, address, ret_local, &rank) == WS_SPACE_LOCAL);
}

/* The parameter that an address to read from comes from. */
static uint32_t owner_root_of(const struct ws_report_owner *owner)
{
	return owner->kind == WS_OWNER_PARAMETER ? owner->ordinal
	       : owner->kind == WS_OWNER_LOADED  ? owner->root_ordinal
						 : WS_NONE;
}

/* A pointer read at an address. */
static bool own_loaded(struct tracer *t, struct origin at, bool known, uint64_t address)
{
	const struct ws_flow_node *node = &at.slice->node[at.node];
	struct ws_report_owner root = nobody;
	struct tracer inner = tracer_inner(t, &root);
	struct ws_flow_address parts;
	struct origin where = { at.slice, node->arg[0], at.depth };
	if (!t->any_root) /* only the way to the pointer is one of this thread's now */
		inner.slots = NULL;
	inner.any_root = true;
	ws_flow_address(at.slice, where.node, &parts);
	if (known && parts.n_terms == 0 && own_symbol(&inner, address))
		root.kind = WS_OWNER_SYMBOL;
	bool found = root.kind != WS_OWNER_UNKNOWN || trace_address(&inner, where);
	t->open = !found && (inner.again || inner.limited);
	if (t->open && t->any_root) {
		t->again |= inner.again;
		t->limited |= inner.limited;
		return false;
	}
	/* a generic load whose address is not known may be of the stack */
	if (root.kind == WS_OWNER_STACK ||
	    (!known && !found && !inner.again && node->space == WS_SASS_SPACE_GENERIC))
		return false;
	tracer_take(t, &inner);
	t->owner->kind = WS_OWNER_LOADED;
	t->owner->pc = node->pc;
	t->owner->offset = 0;
	t->owner->root_ordinal = found ? owner_root_of(&root) : WS_NONE;
	if (root.kind == WS_OWNER_SYMBOL)
		t->owner->name = root.name;
	return true;
}

static bool trace_load(struct tracer *t, struct origin at)
{
	const struct ws_flow_node *node = &at.slice->node[at.node];
	uint64_t address = 0, local;
	unsigned uses = 0;
	if (!node->n_args)
		return false;
	bool known = wsi_eval(t->trace->scene, at.slice, node->arg[0], t->trace->lane, at.depth,
			      &address, &uses);
	address += (uint64_t)node->value;
	if (known && on_stack(t, node, address, &local))
		return !(uses & WSI_EVAL_MEMORY) && trace_stack(t, node, local, at.depth);
	if (node->space == WS_SASS_SPACE_LOCAL)
		return false;
	if (known && node->space != WS_SASS_SPACE_SHARED && own_constant_window(t, address))
		return true;
	return own_loaded(t, at, known, address);
}

/* ---- several ways ---- */

/* What several ways lead to: the same. */
struct ways {
	struct tracer *t;
	struct ws_report_owner first;
	bool found, partial;
	bool open; /* `first` is, so another may tell more */
};

static bool same_owner(const struct ways *ways, const struct ws_report_owner *one)
{
	const struct ws_report_owner *first = &ways->first;
	if (ways->t->any_root)
		return owner_root_of(one) == owner_root_of(first);
	if (one->kind == WS_OWNER_LOADED && first->kind == WS_OWNER_LOADED)
		return one->root_ordinal == first->root_ordinal;
	return one->kind == first->kind && one->ordinal == first->ordinal && one->pc == first->pc &&
	       one->offset == first->offset;
}

/* Follows one of them; false: they do not agree. */
static bool take_way(struct ways *ways, struct tracer *inner, struct origin at)
{
	struct tracer *t = ways->t;
	uint64_t value;
	unsigned uses = 0;
	if (t->have_actual &&
	    wsi_eval(t->trace->scene, at.slice, at.node, t->trace->lane, at.depth, &value, &uses) &&
	    !(uses & WSI_EVAL_MEMORY) && value != t->actual)
		return true; /* the thread did not come by it */
	if (!trace_address(inner, at)) {
		ways->partial |= inner->limited;
		return inner->again || inner->limited;
	}
	bool either = ways->found && (ways->open || inner->open) &&
		      ways->first.kind == inner->owner->kind;
	if (ways->found && !either && !same_owner(ways, inner->owner))
		return false;
	tracer_take(t, inner);
	if (!ways->found || ways->open) {
		ways->first = *inner->owner;
		ways->open = inner->open;
	}
	ways->found = true;
	return true;
}

static bool ways_end(struct ways *ways, size_t n)
{
	struct tracer *t = ways->t;
	if (!ways->found) {
		t->limited |= ways->partial;
		t->again |= !ways->partial;
		return false;
	}
	*t->owner = ways->first;
	t->open = ways->open;
	t->merged |= n > 1;
	t->partial |= ways->partial;
	return true;
}

/* For the root of a loaded pointer that only an earlier round of a loop tells. */
static struct tracer root_tracer(const struct tracer *t, struct ws_report_owner *root)
{
	struct tracer inner = tracer_inner(t, root);
	inner.slots = NULL;
	inner.any_root = true;
	return inner;
}

static void take_traced_root(struct tracer *t, const struct tracer *inner)
{
	tracer_take(t, inner);
	t->owner->root_ordinal = owner_root_of(inner->owner);
	t->open = false;
}

/* Paths that agree, or rounds of one loop. */
static bool trace_merge(struct tracer *t, struct origin at)
{
	const struct ws_flow_node *node = &at.slice->node[at.node];
	struct ways ways = { .t = t };
	for (unsigned i = 0; i < node->n_args; i++) {
		struct ws_report_owner one = *t->owner;
		struct tracer inner = tracer_inner(t, &one);
		if (!take_way(&ways, &inner, (struct origin){ at.slice, node->arg[i], at.depth }))
			return false;
	}
	if (!ways_end(&ways, node->n_args))
		return false;
	struct ws_report_owner root = nobody;
	struct tracer inner = root_tracer(t, &root);
	if (t->open && !t->any_root && trace_merge(&inner, at))
		take_traced_root(t, &inner);
	return true;
}

/* What the code put on the stack, at an address that the instruction of `load` reads. */
static bool trace_stack(struct tracer *t, const struct ws_flow_node *load, uint64_t address,
			uint32_t depth)
{
	struct origin_trace *trace = t->trace;
	struct wsi_scene *scene = trace->scene;
	struct origin_slot slot = { address, load->pc, t->slots };
	struct ways ways = { .t = t };
	struct wsi_puts puts;
	for (const struct origin_slot *up = t->slots; up; up = up->up) {
		if (up->address == address && up->pc == load->pc) {
			t->again = true;
			return false;
		}
	}
	enum ws_status st =
		wsi_stored_find(scene, trace->lane, depth, load->pc, address, load->bytes, &puts);
	struct ws_flow_slice *slice = st == WS_OK ? wsi_zalloc(sizeof *slice) : NULL;
	trace->no_memory |= st == WS_NO_MEMORY || (st == WS_OK && !slice);
	if (!slice)
		return false;
	t->have_actual = !t->any_root && trace->memory_is_as_it_was &&
			 wsi_scene_memory(scene, trace->lane, WS_SPACE_LOCAL, 0, address,
					  load->bytes, &t->actual) == WS_OK;
	const struct wsi_function_code *code =
		puts.depth ? &scene->callers[puts.depth - 1].code : &scene->code;
	bool agree = true;
	for (size_t i = 0; i < puts.n && agree; i++) {
		struct ws_report_owner one = *t->owner;
		struct tracer inner = tracer_inner(t, &one);
		inner.slots = &slot;
		st = ws_flow_slice(code->flow, puts.put[i].pc, puts.put[i].kind, puts.put[i].number,
				   load->bits, slice, NULL);
		trace->no_memory |= st == WS_NO_MEMORY;
		agree = st == WS_OK &&
			take_way(&ways, &inner, (struct origin){ slice, 0, puts.depth });
	}
	wsi_free(slice);
	if (!agree || !ways_end(&ways, puts.n))
		return false;
	t->stacked = true;
	struct ws_report_owner root = nobody;
	struct tracer inner = root_tracer(t, &root);
	if (t->open && !t->any_root && trace_stack(&inner, load, address, depth))
		take_traced_root(t, &inner);
	return true;
}

/* ---- nodes ---- */

static bool trace_entry(struct tracer *t, struct origin at)
{
	const struct ws_flow_node *node = &at.slice->node[at.node];
	if (node->kind == WS_OPERAND_REG && node->number == 1) {
		t->owner->kind = WS_OWNER_STACK;
		return true;
	}
	const struct ws_flow_slice *slice = wsi_eval_argument(t->trace->scene, node, at.depth);
	return slice && trace_address(t, (struct origin){ slice, 0, at.depth + 1 });
}

/* Whether two nodes of a slice are the same expression. `left` bounds the work. */
static bool same_nodes(const struct ws_flow_slice *slice, uint16_t a, uint16_t b, unsigned *left)
{
	const struct ws_flow_node *x = &slice->node[a], *y = &slice->node[b];
	if (a == b)
		return true;
	if (*left == 0 || x->op != y->op || x->bits != y->bits || x->n_args != y->n_args ||
	    x->value != y->value || x->number != y->number || x->kind != y->kind ||
	    x->op == WS_FLOW_NOTHING || x->op == WS_FLOW_AGAIN ||
	    ((x->op == WS_FLOW_LOAD || x->op == WS_FLOW_ATOMIC || x->op == WS_FLOW_OTHER) &&
	     x->pc != y->pc))
		return false;
	--*left;
	for (unsigned i = 0; i < x->n_args; i++) {
		if (!same_nodes(slice, x->arg[i], y->arg[i], left))
			return false;
	}
	return true;
}

/* Whether a half is one that was already there in an earlier round of a loop, moved on. */
static bool is_round(const struct ws_flow_slice *slice, uint16_t at, uint16_t merge)
{
	const struct ws_flow_node *node = &slice->node[at];
	for (unsigned i = 0; i < node->n_args; i++) {
		const struct ws_flow_node *arg = &slice->node[node->arg[i]];
		if (arg->op == WS_FLOW_AGAIN && arg->value == merge)
			return true;
	}
	return false;
}

/* The half of a merge that comes from before the loop, `op` of a whole; UINT16_MAX: none, or
 * several. */
static uint16_t whole_before_loop(const struct ws_flow_slice *slice, uint16_t merge,
				  enum ws_flow_op op)
{
	const struct ws_flow_node *node = &slice->node[merge];
	uint16_t whole = UINT16_MAX;
	if (node->op != WS_FLOW_MERGE)
		return UINT16_MAX;
	for (unsigned i = 0; i < node->n_args; i++) {
		const struct ws_flow_node *way = &slice->node[node->arg[i]];
		if (is_round(slice, node->arg[i], merge))
			continue;
		if (way->op != op || whole != UINT16_MAX)
			return UINT16_MAX;
		whole = way->arg[0];
	}
	return whole;
}

/* A pointer that a loop moves on, its halves each for itself. */
static bool trace_halves(struct tracer *t, struct origin at)
{
	const struct ws_flow_node *pair = &at.slice->node[at.node];
	uint16_t low = whole_before_loop(at.slice, pair->arg[0], WS_FLOW_LOW);
	uint16_t high = whole_before_loop(at.slice, pair->arg[1], WS_FLOW_HIGH);
	unsigned left = WS_FLOW_MAX_NODES;
	if (low == UINT16_MAX || high == UINT16_MAX || !same_nodes(at.slice, low, high, &left))
		return false;
	t->merged = true;
	return trace_address(t, (struct origin){ at.slice, low, at.depth });
}

/* The base of a sum. With the value of the sum, that of the base is known as well. */
static bool trace_base(struct tracer *t, struct origin at, const struct ws_flow_address *parts)
{
	uint64_t rest = (uint64_t)parts->offset;
	for (size_t i = 0; i < parts->n_terms && t->have_actual; i++) {
		uint64_t value;
		unsigned uses = 0;
		t->have_actual = wsi_eval(t->trace->scene, at.slice, parts->term[i].node,
					  t->trace->lane, at.depth, &value, &uses) &&
				 !(uses & WSI_EVAL_MEMORY);
		rest += t->have_actual ? value * (uint64_t)parts->term[i].scale : 0;
	}
	t->actual -= rest;
	t->have_actual &= parts->complete;
	return trace_node(t, (struct origin){ at.slice, parts->base, at.depth });
}

/* A pointer that lies in a constant bank or in memory: its value is that of the node. */
static bool trace_pointer(struct tracer *t, struct origin at)
{
	unsigned uses = 0;
	bool is_constant = at.slice->node[at.node].op == WS_FLOW_CONSTANT;
	if (!(is_constant ? trace_constant(t, at) : trace_load(t, at)))
		return false;
	if (!t->owner->value_known)
		t->owner->value_known = wsi_eval(t->trace->scene, at.slice, at.node, t->trace->lane,
						 at.depth, &t->owner->value, &uses);
	return true;
}

static bool trace_node(struct tracer *t, struct origin at)
{
	const struct ws_flow_node *node = &at.slice->node[at.node];
	uint64_t value;
	unsigned uses = 0;
	if (node->op == WS_FLOW_CONSTANT || node->op == WS_FLOW_LOAD)
		return trace_pointer(t, at);
	if (node->op == WS_FLOW_MERGE || node->op == WS_FLOW_SELECT)
		return trace_merge(t, at);
	if (node->op == WS_FLOW_ENTRY_REG)
		return trace_entry(t, at);
	t->again |= node->op == WS_FLOW_AGAIN;
	t->limited |= node->op == WS_FLOW_NOTHING && at.slice->cut;
	if (node->op != WS_FLOW_IMMEDIATE && node->op != WS_FLOW_PAIR)
		return false;
	return (wsi_eval(t->trace->scene, at.slice, at.node, t->trace->lane, at.depth, &value,
			 &uses) &&
		own_symbol(t, value)) ||
	       (node->op == WS_FLOW_PAIR && trace_halves(t, at));
}

/* The base among the terms of a sum; a base that is not told apart is looked for among them. */
static bool trace_address(struct tracer *t, struct origin at)
{
	struct ws_flow_address parts;
	t->trace->partly |= at.slice->partly;
	if (t->level++ >= MAX_LEVELS || t->trace->n_nodes++ >= MAX_NODES) {
		t->limited = true;
		return false;
	}
	const struct ws_flow_node *node = &at.slice->node[at.node];
	ws_flow_address(at.slice, at.node, &parts);
	if (parts.base != UINT16_MAX)
		return trace_base(t, at, &parts);
	if (parts.n_terms == 0)
		return own_symbol(t, (uint64_t)parts.offset);
	if (node->op == WS_FLOW_MERGE || node->op == WS_FLOW_SELECT)
		return trace_merge(t, at);
	uint16_t only = UINT16_MAX;
	for (size_t i = 0; i < parts.n_terms; i++) {
		const struct ws_flow_node *term = &at.slice->node[parts.term[i].node];
		t->limited |= term->op == WS_FLOW_NOTHING && at.slice->cut;
		if (parts.term[i].scale != 1 || term->bits != 64)
			continue;
		if (only != UINT16_MAX)
			return false;
		only = parts.term[i].node;
	}
	if (t->limited)
		return false;
	/* an address of a variable is a number in the code: the offset of the sum */
	if (only == UINT16_MAX)
		return own_symbol(t, (uint64_t)parts.offset);
	return only != at.node && trace_node(t, (struct origin){ at.slice, only, at.depth });
}

/* ---- by value ---- */

/* Whether a kernel parameter holds `value` at a place where a pointer can be. */
static bool holds(const struct ws_report_param *param, uint64_t value, uint32_t *ret_offset)
{
	for (size_t off = 0; param->value_status == WS_OK && off + 8 <= param->value.len;
	     off += 8) {
		uint64_t field = 0;
		for (size_t i = 8; i > 0; i--)
			field = field << 8 | param->value.ptr[off + i - 1];
		if (field != value)
			continue;
		*ret_offset = (uint32_t)off;
		return true;
	}
	return false;
}

/* The one kernel parameter that holds the value of the base. */
static bool own_by_value(const struct origin_trace *trace, uint64_t value,
			 struct ws_report_owner *owner)
{
	const struct wsi_scene *scene = trace->scene;
	uint32_t n = 0, offset;
	if (value < SMALL_VALUE || scene->e->kernel == WS_NONE)
		return false;
	const struct ws_report_kernel *kernel = &scene->build->kernels[scene->e->kernel];
	for (uint32_t i = 0; i < kernel->n_params; i++) {
		const struct ws_report_param *param = &kernel->params[i];
		if (!holds(param, value, &offset))
			continue;
		n++;
		owner->kind = WS_OWNER_PARAMETER;
		owner->ordinal = param->ordinal;
		owner->offset = offset;
		owner->name = param->name;
		if (kernel->types_status == WS_OK)
			owner->field = field_name(scene, kernel, owner);
	}
	owner->value_known = true;
	owner->value = value;
	return n == 1;
}

/* The value of the base, where it was kept on the stack. */
static bool stacked_value(const struct origin_trace *trace, uint64_t *ret_value)
{
	const struct wsi_scene *scene = trace->scene;
	struct ws_flow_address parts;
	uint64_t address, local;
	uint32_t rank;
	unsigned uses = 0;
	ws_flow_address(scene->slice, 0, &parts);
	if (!trace->memory_is_as_it_was || parts.base == UINT16_MAX)
		return false;
	const struct ws_flow_node *base = &scene->slice->node[parts.base];
	return base->op == WS_FLOW_LOAD && base->n_args && base->bits == 64 &&
	       wsi_eval(scene, scene->slice, base->arg[0], trace->lane, 0, &address, &uses) &&
	       (base->space == WS_SASS_SPACE_LOCAL ||
		wsi_scene_resolve(scene, address + (uint64_t)base->value, &local, &rank) ==
			WS_SPACE_LOCAL) &&
	       wsi_eval(scene, scene->slice, parts.base, trace->lane, 0, ret_value, &uses);
}

/* ---- the whole ---- */

/* The lane to trace by: the one that is told of, else the first suspect whose address is known. */
static uint32_t lane_of(const struct ws_report_access *access)
{
	uint32_t have = access->suspects & (access->lanes_known | access->lanes_guess);
	uint32_t lane = 0;
	if (access->lane != WS_NONE || !have)
		return access->lane == WS_NONE ? 0 : access->lane;
	while (!(have >> lane & 1))
		lane++;
	return lane;
}

enum ws_status wsi_origin_find(struct wsi_scene *scene, const struct ws_report_access *access,
			       struct ws_report_owner *owner, struct wsi_origin_how *ret_how)
{
	uint32_t lane = lane_of(access);
	struct origin_trace trace = { .scene = scene, .lane = lane };
	struct tracer t = { .trace = &trace, .owner = owner };
	uint64_t address = 0;
	unsigned uses = 0;
	bool have = (access->lanes_known | access->lanes_guess) >> lane & 1;
	trace.memory_is_as_it_was = have &&
				    wsi_eval(scene, scene->slice, 0, lane, 0, &address, &uses) &&
				    address == access->address[lane];
	t.have_actual = have && access->lanes_known >> lane & 1;
	t.actual = access->address[lane];
	bool found = trace_address(&t, (struct origin){ scene->slice, 0, 0 });
	*ret_how = (struct wsi_origin_how){ t.merged, t.stacked, t.partial, trace.partly, false };
	if (!found)
		*owner = nobody;
	if (!found && stacked_value(&trace, &address)) {
		ret_how->by_value = own_by_value(&trace, address, owner);
		if (!ret_how->by_value)
			*owner = nobody;
	}
	return trace.no_memory ? WS_NO_MEMORY : WS_OK;
}

/* ---- indices ---- */

/* A load among what a term of an address is made of. */
struct found_origin {
	const struct ws_flow_slice *slice;
	uint16_t load; /* UINT16_MAX: none */
	bool several;
	unsigned left; /* nodes that may still be looked at */
};

static bool is_arithmetic(enum ws_flow_op op)
{
	return op == WS_FLOW_ADD || op == WS_FLOW_SUB || op == WS_FLOW_MUL || op == WS_FLOW_SHL;
}

static void look_for_load(struct found_origin *found, uint16_t at)
{
	const struct ws_flow_node *node = &found->slice->node[at];
	if (found->left == 0)
		return;
	found->left--;
	if (node->op == WS_FLOW_LOAD) {
		const struct ws_flow_node *other =
			found->load == UINT16_MAX ? node : &found->slice->node[found->load];
		found->several |= other->pc != node->pc || other->value != node->value;
		found->load = at;
	} else if (node->op != WS_FLOW_CONSTANT &&
		   (node->n_args == 1 || is_arithmetic(node->op) || node->op == WS_FLOW_PAIR ||
		    node->op == WS_FLOW_SAR)) {
		for (unsigned i = 0; i < node->n_args; i++)
			look_for_load(found, node->arg[i]);
	}
}

/* The load that a term of an address is a number of; NULL when there is none, or more than one. */
static const struct ws_flow_node *find_load(const struct ws_flow_slice *slice, uint16_t at)
{
	struct found_origin found = { .slice = slice,
				      .load = UINT16_MAX,
				      .left = WS_FLOW_MAX_NODES };
	look_for_load(&found, at);
	const struct ws_flow_node *load =
		found.load == UINT16_MAX || found.several ? NULL : &slice->node[found.load];
	return load && load->n_args ? load : NULL;
}

/* How much of a term comes of 1 more of what was loaded; false: that is no fixed amount. */
static bool term_step_of(struct origin_trace *trace, const struct ws_flow_slice *slice, uint16_t at,
			 uint16_t load, int64_t *ret_step)
{
	const struct ws_flow_node *node = &slice->node[at];
	int64_t part[2] = { 0, 0 }, step = 0;
	uint64_t value;
	unsigned uses = 0;
	*ret_step = at == load;
	if (trace->n_nodes++ >= MAX_NODES)
		return false;
	if (at == load || !find_load(slice, at))
		return true;
	if (node->op == WS_FLOW_SEXT || node->op == WS_FLOW_ZEXT)
		return term_step_of(trace, slice, node->arg[0], load, ret_step);
	for (unsigned i = 0; i < node->n_args && is_arithmetic(node->op); i++) {
		if (!term_step_of(trace, slice, node->arg[i], load, &part[i > 0]))
			return false;
		step += part[i > 0];
	}
	if (node->op == WS_FLOW_ADD || node->op == WS_FLOW_SUB) {
		*ret_step = node->op == WS_FLOW_SUB ? part[0] - part[1] : step;
		return true;
	}
	bool times = node->op == WS_FLOW_MUL || node->op == WS_FLOW_SHL;
	unsigned other = part[0] ? 1 : 0;
	if (!times || (part[0] && part[1]) || (node->op == WS_FLOW_SHL && part[1]) ||
	    !wsi_eval_kept(trace->scene, slice, node->arg[other], trace->lane, 0, &value, &uses))
		return false;
	int64_t by = slice->node[node->arg[other]].bits == 32 ? (int32_t)(uint32_t)value
							      : (int64_t)value;
	if (node->op == WS_FLOW_SHL)
		by = by >= 0 && by < 32 ? INT64_C(1) << by : 0;
	return !__builtin_mul_overflow(part[1 - other], by, ret_step);
}

/* Whether the step is one that the code alone says: no parameter is in it. */
static bool is_fixed(struct origin_trace *trace, const struct ws_flow_slice *slice, uint16_t at,
		     uint16_t load)
{
	const struct ws_flow_node *node = &slice->node[at];
	if (trace->n_nodes++ >= MAX_NODES)
		return false;
	if (at == load || !find_load(slice, at))
		return true;
	for (unsigned i = 0; i < node->n_args; i++) {
		bool number = slice->node[node->arg[i]].op == WS_FLOW_IMMEDIATE;
		bool times = node->op == WS_FLOW_MUL || node->op == WS_FLOW_SHL;
		if (!is_fixed(trace, slice, node->arg[i], load) ||
		    (times && !number && !find_load(slice, node->arg[i])))
			return false;
	}
	return true;
}

/*
 * What the index was, and whether it alone is what is wrong: with the index 0 the address is in the
 * memory that the base points into.
 */
static void judge_index(struct origin_trace *trace, const struct ws_report_access *access,
			const struct ws_flow_term *term, const struct ws_flow_node *load,
			struct ws_report_index *index)
{
	const struct wsi_scene *scene = trace->scene;
	const struct ws_flow_slice *slice = scene->slice;
	const struct ws_report_owner *owner = &access->owner;
	uint16_t at = (uint16_t)(load - slice->node);
	uint64_t address, value;
	unsigned uses = 0;
	int64_t step;
	/* without the base, registers that are kept may give the address without the index */
	if (access->lane == WS_NONE || slice->partly || !owner->value_known ||
	    !wsi_eval_kept(scene, slice, 0, trace->lane, 0, &address, &uses) ||
	    address != access->address[trace->lane] ||
	    !wsi_eval_kept(scene, slice, at, trace->lane, 0, &value, &uses))
		return;
	index->value_known = true;
	index->value = load->bits == 32 ? (int32_t)(uint32_t)value : (int64_t)value;
	if (owner->range_status != WS_OK || !term_step_of(trace, slice, term->node, at, &step) ||
	    __builtin_mul_overflow(step, term->scale, &step))
		return;
	uint64_t without = address - (uint64_t)index->value * (uint64_t)step;
	uint64_t size = (uint64_t)(step < 0 ? -step : step);
	index->steps_out = size >= owner->range_size;
	index->alone = access->unmapped >> trace->lane & 1 &&
		       access->lanes_known >> trace->lane & 1 && !index->steps_out &&
		       without - owner->range_start < owner->range_size &&
		       is_fixed(trace, slice, term->node, at);
}

/* Tells where an index lies that `load` of `slice` reads; on the stack, what was put there. */
static bool load_index_of(const struct origin_trace *trace, const struct ws_flow_slice *slice,
			  const struct ws_flow_node *load, uint32_t depth,
			  struct ws_report_index *index)
{
	struct origin_trace own = *trace;
	struct ws_report_owner owner = nobody;
	struct tracer t = { .trace = &own, .owner = &owner };
	uint64_t address, local;
	unsigned uses = 0;
	bool known =
		wsi_eval(trace->scene, slice, load->arg[0], trace->lane, depth, &address, &uses);
	address += known ? (uint64_t)load->value : 0;
	if (load->space == WS_SASS_SPACE_LOCAL || (load->space == WS_SASS_SPACE_GENERIC &&
						   (!known || on_stack(&t, load, address, &local))))
		return false;
	bool found = trace_address(&t, (struct origin){ slice, load->arg[0], depth });
	*index = (struct ws_report_index){ .pc = load->pc,
					   .root_ordinal = WS_NONE,
					   .bytes = load->bytes };
	if (!found || owner.kind != WS_OWNER_PARAMETER || t.partial)
		return true;
	index->root_ordinal = owner.ordinal;
	index->element_known = known && owner.value_known && load->bytes &&
			       address >= owner.value && (address - owner.value) % load->bytes == 0;
	index->element = index->element_known ? (address - owner.value) / load->bytes : 0;
	return true;
}

/* An index that is kept on the stack: the load that gave it its value there. */
static bool index_on_stack(const struct origin_trace *trace, const struct ws_flow_slice *slice,
			   const struct ws_flow_node *load, struct ws_report_index *index)
{
	struct wsi_scene *scene = trace->scene;
	struct tracer t = { .trace = (struct origin_trace *)(uintptr_t)trace };
	struct wsi_puts puts;
	uint64_t address, local;
	unsigned uses = 0;
	if (!wsi_eval(scene, slice, load->arg[0], trace->lane, 0, &address, &uses) ||
	    !on_stack(&t, load, address + (uint64_t)load->value, &local) ||
	    wsi_stored_find(scene, trace->lane, 0, load->pc, local, load->bytes, &puts) != WS_OK ||
	    puts.n != 1)
		return false;
	struct ws_flow_slice *put = wsi_zalloc(sizeof *put);
	const struct wsi_function_code *code =
		puts.depth ? &scene->callers[puts.depth - 1].code : &scene->code;
	bool found = false;
	if (put && ws_flow_slice(code->flow, puts.put[0].pc, puts.put[0].kind, puts.put[0].number,
				 32, put, NULL) == WS_OK) {
		const struct ws_flow_node *from = find_load(put, 0);
		found = from && load_index_of(trace, put, from, puts.depth, index);
	}
	wsi_free(put);
	return found;
}

void wsi_explain_index_find(struct wsi_scene *scene, const struct ws_report_access *access,
			    struct ws_report_index *index)
{
	struct origin_trace trace = { .scene = scene, .lane = lane_of(access) };
	struct ws_flow_address parts;
	ws_flow_address(scene->slice, 0, &parts);
	for (size_t i = 0; i < parts.n_terms; i++) {
		const struct ws_flow_node *load = find_load(scene->slice, parts.term[i].node);
		if (!load)
			continue;
		if (load_index_of(&trace, scene->slice, load, 0, index)) {
			judge_index(&trace, access, &parts.term[i], load, index);
			return;
		}
		if (index_on_stack(&trace, scene->slice, load, index))
			return;
	}
}
