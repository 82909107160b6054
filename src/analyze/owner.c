/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose memory an access was meant for: what the base of its address came from, and which known
 * memory lies around the address.
 *
 * The base is found in the code alone (flow.h); the target only gives the values. What several
 * paths give differently stays unknown: a wrong name costs more than none.
 */
#include "analyze/explain.h"

enum { MAX_LEVELS = 12 /* nodes within nodes that are followed */ };
#define FAR_BYTES (UINT64_C(1) << 30) /* a neighbour as far as this tells nothing */

/* A node of a slice, of a function `depth` calls away from the instruction. */
struct origin {
	const struct ws_flow_slice *slice;
	uint16_t node;
	uint32_t depth;
};

struct tracer {
	struct wsi_scene *scene;
	uint32_t lane;
	struct ws_report_owner *owner;
	unsigned level;
	bool merged; /* several paths were taken for one */
};

static bool trace_address(struct tracer *t, struct origin at);

static struct ws_str variable_name(const struct ws_variable *variable)
{
	return variable ? variable->name : (struct ws_str){ NULL, 0 };
}

/* ---- leaves ---- */

/* The field of a parameter at the owner's offset. */
static struct ws_str field_name(const struct wsi_scene *scene,
				const struct ws_report_kernel *kernel,
				const struct ws_report_owner *owner)
{
	struct wsi_build *build = scene->build;
	struct wsi_where where = wsi_where_of_grid(build, kernel->device_index, kernel->grid_index);
	struct ws_module_hint hint = { where.image_index, where.device_index, where.context_index };
	struct ws_place place;
	if (ws_module_set_find_address(build->modules, kernel->grid.function_entry, &hint, &place,
				       NULL) != WS_OK ||
	    !place.function)
		return (struct ws_str){ NULL, 0 };
	return wsi_types_field(build, &place, owner->ordinal, owner->offset);
}

/* Bank 0: the parameter that holds the byte. */
static bool own_parameter(struct tracer *t, uint64_t offset)
{
	const struct wsi_build *build = t->scene->build;
	if (t->scene->e->kernel == WS_NONE)
		return false;
	const struct ws_report_kernel *kernel = &build->kernels[t->scene->e->kernel];
	for (uint32_t i = 0; i < kernel->n_params; i++) {
		const struct ws_report_param *param = &kernel->params[i];
		uint64_t start = (uint64_t)kernel->params_offset + param->offset;
		if (offset - start >= param->size_bytes)
			continue;
		t->owner->kind = WS_OWNER_PARAMETER;
		t->owner->ordinal = param->ordinal;
		t->owner->offset = (uint32_t)(offset - start);
		t->owner->name = param->name;
		if (kernel->types_status == WS_OK)
			t->owner->field = field_name(t->scene, kernel, t->owner);
		return true;
	}
	return false;
}

static bool own_symbol(struct tracer *t, uint64_t address)
{
	const struct ws_variable *variable =
		wsi_variable_at(t->scene->code.place.module, WS_SPACE_GLOBAL, 0, address);
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
		wsi_variable_at(t->scene->code.place.module, WS_SPACE_CONST, bank, offset);
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
	if (node->n_args &&
	    !wsi_eval(t->scene, at.slice, node->arg[0], t->lane, at.depth, &part, &uses))
		return false;
	offset += part;
	if (node->number == BANK_PARAMETERS)
		return own_parameter(t, offset);
	if (node->number == BANK_USER)
		return own_constant(t, BANK_USER, offset);
	return node->number == BANK_ADDRESSES &&
	       wsi_eval(t->scene, at.slice, at.node, t->lane, at.depth, &value, &uses) &&
	       own_symbol(t, value);
}

/* ---- pointers read from memory ---- */

/* The constant bank whose device address an address lies in: -G code reads it that way. */
static bool own_constant_window(struct tracer *t, uint64_t address)
{
	struct ws_memory_range range;
	struct wsi_build *build = t->scene->build;
	for (uint32_t i = wsi_range_count(build);
	     ws_target_memory_range(build->target, i, &range, NULL) == WS_OK; i++) {
		if (range.space == WS_SPACE_CONST && range.grid_index == t->scene->grid_index &&
		    address - range.start < range.size)
			return own_constant(t, range.bank, address - range.start);
	}
	return false;
}

static bool trace_load(struct tracer *t, struct origin at)
{
	const struct ws_flow_node *node = &at.slice->node[at.node];
	struct ws_report_owner root = { .ordinal = WS_NONE, .root_ordinal = WS_NONE };
	struct tracer inner = { t->scene, t->lane, &root, t->level, t->merged };
	struct ws_flow_address parts;
	uint64_t address;
	unsigned uses = 0;
	if (node->space == WS_FLOW_SPACE_LOCAL || !node->n_args)
		return false;
	struct origin where = { at.slice, node->arg[0], at.depth };
	bool known =
		wsi_eval(t->scene, where.slice, where.node, t->lane, where.depth, &address, &uses);
	if (known) {
		uint64_t inner_address;
		uint32_t rank;
		address += (uint64_t)node->value;
		if (node->space == WS_FLOW_SPACE_GENERIC &&
		    wsi_scene_resolve(t->scene, address, &inner_address, &rank) == WS_SPACE_LOCAL)
			return false; /* a variable on the stack: what was put there is not traced
				       */
		if (node->space != WS_FLOW_SPACE_SHARED && own_constant_window(t, address))
			return true;
		ws_flow_address(at.slice, where.node, &parts);
		if (parts.n_terms == 0 && own_symbol(&inner, address))
			root.kind = WS_OWNER_SYMBOL;
	}
	if (root.kind == WS_OWNER_UNKNOWN)
		(void)trace_address(&inner, where);
	/* what a variable on the stack was given is not traced, and a generic load whose address is
	 * not known may be of one */
	if (root.kind == WS_OWNER_STACK ||
	    (!known && root.kind == WS_OWNER_UNKNOWN && node->space == WS_FLOW_SPACE_GENERIC))
		return false;
	t->merged = inner.merged;
	t->owner->kind = WS_OWNER_LOADED;
	t->owner->pc = node->pc;
	t->owner->offset = 0;
	if (root.kind == WS_OWNER_PARAMETER)
		t->owner->root_ordinal = root.ordinal;
	else if (root.kind == WS_OWNER_LOADED)
		t->owner->root_ordinal = root.root_ordinal;
	if (root.kind == WS_OWNER_SYMBOL)
		t->owner->name = root.name;
	return true;
}

/* ---- nodes ---- */

static bool trace_node(struct tracer *t, struct origin at);

/* Paths that agree, or rounds of one loop. */
static bool trace_merge(struct tracer *t, struct origin at)
{
	const struct ws_flow_node *node = &at.slice->node[at.node];
	struct ws_report_owner first = *t->owner, one;
	bool found = false;
	for (unsigned i = 0; i < node->n_args; i++) {
		struct origin next = { at.slice, node->arg[i], at.depth };
		struct tracer inner = { t->scene, t->lane, &one, t->level, true };
		struct ws_flow_address parts;
		bool again = false;
		one = *t->owner;
		ws_flow_address(at.slice, node->arg[i], &parts);
		for (size_t k = 0; k < parts.n_terms; k++)
			again |= at.slice->node[parts.term[k].node].op == WS_FLOW_AGAIN;
		again |= parts.base != UINT16_MAX && at.slice->node[parts.base].op == WS_FLOW_AGAIN;
		if (again)
			continue;
		if (!trace_address(&inner, next))
			return false;
		if (found && (one.kind != first.kind || one.ordinal != first.ordinal ||
			      one.pc != first.pc || one.offset != first.offset))
			return false;
		first = one;
		found = true;
	}
	if (found)
		*t->owner = first;
	t->merged = true;
	return found;
}

static bool trace_entry(struct tracer *t, struct origin at)
{
	const struct ws_flow_node *node = &at.slice->node[at.node];
	if (node->kind == WS_OPERAND_REG && node->number == 1) {
		t->owner->kind = WS_OWNER_STACK;
		return true;
	}
	const struct ws_flow_slice *slice = wsi_eval_argument(t->scene, node, at.depth);
	return slice && trace_address(t, (struct origin){ slice, 0, at.depth + 1 });
}

/* A pointer that lies in a constant bank or in memory: its value is that of the node. */
static bool trace_pointer(struct tracer *t, struct origin at)
{
	unsigned uses = 0;
	bool is_constant = at.slice->node[at.node].op == WS_FLOW_CONSTANT;
	if (!(is_constant ? trace_constant(t, at) : trace_load(t, at)))
		return false;
	if (!t->owner->value_known)
		t->owner->value_known = wsi_eval(t->scene, at.slice, at.node, t->lane, at.depth,
						 &t->owner->value, &uses);
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
	return (node->op == WS_FLOW_IMMEDIATE || node->op == WS_FLOW_PAIR) &&
	       wsi_eval(t->scene, at.slice, at.node, t->lane, at.depth, &value, &uses) &&
	       own_symbol(t, value);
}

/* The base among the terms of a sum; a base that is not told apart is looked for among them. */
static bool trace_address(struct tracer *t, struct origin at)
{
	struct ws_flow_address parts;
	if (t->level++ >= MAX_LEVELS)
		return false;
	const struct ws_flow_node *node = &at.slice->node[at.node];
	ws_flow_address(at.slice, at.node, &parts);
	if (parts.base != UINT16_MAX)
		return trace_node(t, (struct origin){ at.slice, parts.base, at.depth });
	if (parts.n_terms == 0)
		return own_symbol(t, (uint64_t)parts.offset);
	if (node->op == WS_FLOW_MERGE || node->op == WS_FLOW_SELECT)
		return trace_merge(t, at);
	uint16_t only = UINT16_MAX;
	for (size_t i = 0; i < parts.n_terms; i++) {
		const struct ws_flow_node *term = &at.slice->node[parts.term[i].node];
		if (parts.term[i].scale != 1 || term->bits != 64)
			continue;
		if (only != UINT16_MAX)
			return false;
		only = parts.term[i].node;
	}
	/* an address of a variable is a number in the code: the offset of the sum */
	if (only == UINT16_MAX)
		return own_symbol(t, (uint64_t)parts.offset);
	return only != at.node && trace_node(t, (struct origin){ at.slice, only, at.depth });
}

/* ---- the base's value, and the sentence ---- */

/* " `cursor`", or nothing. */
static void quote_name(char *ret_text, size_t size, struct ws_str name)
{
	ret_text[0] = '\0';
	if (name.len)
		(void)snprintf(ret_text, size, " `%.*s`", (int)wsi_min_u64(name.len, 100),
			       name.ptr);
}

static const char *parameter_text(const struct wsi_scene *scene,
				  const struct ws_report_owner *owner)
{
	char name[120], field[120], part[200] = "";
	quote_name(name, sizeof name, owner->name);
	quote_name(field, sizeof field, owner->field);
	if (owner->field.len)
		wsi_format(part, ", field%s (offset %u)", field, owner->offset);
	else if (owner->offset)
		wsi_format(part, ", byte %u of it", owner->offset);
	return wsi_build_text(scene->build, "kernel parameter %u%s%s", owner->ordinal, name, part);
}

/* Where the reading of a pointer began. */
static const char *root_text(const struct wsi_scene *scene, uint32_t ordinal)
{
	struct wsi_build *build = scene->build;
	const struct ws_report_kernel *kernel =
		scene->e->kernel == WS_NONE ? NULL : &build->kernels[scene->e->kernel];
	char name[120] = "";
	for (uint32_t i = 0; kernel && i < kernel->n_params; i++) {
		if (kernel->params[i].ordinal == ordinal)
			quote_name(name, sizeof name, kernel->params[i].name);
	}
	return wsi_build_text(build,
			      "a pointer read from memory that kernel parameter %u%s leads to",
			      ordinal, name);
}

static const char *symbol_text(struct wsi_build *build, const char *what, struct ws_str mangled)
{
	const struct wsi_name *name = mangled.len ? wsi_name_of(build, mangled) : NULL;
	if (!name)
		return what;
	return wsi_build_text(build, "%s %.*s", what, (int)name->full.len, name->full.ptr);
}

static const char *owner_text(const struct wsi_scene *scene, const struct ws_report_owner *owner)
{
	struct wsi_build *build = scene->build;
	switch (owner->kind) {
	case WS_OWNER_PARAMETER:
		return parameter_text(scene, owner);
	case WS_OWNER_CONSTANT:
		if (!owner->name.len)
			return wsi_build_text(build, "constant bank %u", owner->bank);
		return symbol_text(build, "the `__constant__` variable", owner->name);
	case WS_OWNER_SYMBOL:
		return symbol_text(build, "the `__device__` variable", owner->name);
	case WS_OWNER_SHARED:
		return owner->name.len ? symbol_text(build, "the shared variable", owner->name)
				       : "shared memory of the block";
	case WS_OWNER_STACK:
		return "the thread's stack";
	case WS_OWNER_LOADED:
		if (owner->name.len)
			return symbol_text(build, "a pointer read from the variable", owner->name);
		if (owner->root_ordinal != WS_NONE)
			return root_text(scene, owner->root_ordinal);
		return "a pointer read from memory";
	case WS_OWNER_UNKNOWN:
		break;
	}
	return NULL;
}

static const char *owner_evidence(const struct wsi_scene *scene,
				  const struct ws_report_owner *owner)
{
	struct wsi_build *build = scene->build;
	const struct ws_report_kernel *kernel =
		scene->e->kernel == WS_NONE ? NULL : &build->kernels[scene->e->kernel];
	if (owner->kind == WS_OWNER_SHARED || owner->kind == WS_OWNER_STACK)
		return "the address lies in that memory";
	if (owner->kind == WS_OWNER_LOADED)
		return wsi_build_text(build, "the instruction at 0x%" PRIx64 " reads it",
				      owner->pc);
	if (owner->kind == WS_OWNER_PARAMETER && kernel) {
		for (uint32_t i = 0; i < kernel->n_params; i++) {
			if (kernel->params[i].ordinal == owner->ordinal)
				return wsi_build_text(build,
						      "the code adds to c[0x0][0x%x] to make the "
						      "address",
						      kernel->params_offset +
							      kernel->params[i].offset +
							      owner->offset);
		}
	}
	return "the code adds to its address or value to make the address";
}

/* The only variable that the kernel has in shared memory. */
static struct ws_str shared_variable(const struct wsi_scene *scene)
{
	const struct ws_variable *variables, *only = NULL;
	size_t n;
	struct ws_module *module = scene->code.place.module;
	const struct ws_function *owner = scene->code.place.owner;
	if (!owner || ws_module_variables(module, &variables, &n, NULL) != WS_OK)
		return variable_name(NULL);
	for (size_t i = 0; i < n; i++) {
		struct ws_section section;
		if (variables[i].space != WS_SPACE_SHARED || variables[i].section == 0 ||
		    ws_module_section(module, variables[i].section, &section, NULL) != WS_OK ||
		    section.info != owner->section)
			continue;
		if (only)
			return variable_name(NULL);
		only = &variables[i];
	}
	return variable_name(only);
}

/* ---- neighbours ---- */

static void neighbour_fill(const struct wsi_scene *scene, struct ws_report_neighbour *out,
			   const struct wsi_range *range, uint64_t distance, uint32_t width,
			   uint64_t near_end)
{
	if (range->size == 0)
		return;
	*out = (struct ws_report_neighbour){
		.status = WS_OK,
		.start = range->start,
		.size = range->size,
		.distance = distance,
		.elements = width ? distance / width : 0,
		.symbol = variable_name(
			wsi_variable_at(scene->code.place.module, WS_SPACE_GLOBAL, 0, near_end)),
	};
}

static void find_neighbours(struct wsi_scene *scene, struct ws_report_access *access)
{
	uint64_t address = access->address[access->lane];
	struct wsi_range below, above;
	if (wsi_range_at(scene->build, address, &below)) {
		access->inside = true;
		neighbour_fill(scene, &access->below, &below, 0, access->width, address);
		return;
	}
	wsi_range_beside(scene->build, address, &below, &above);
	if (below.size)
		neighbour_fill(scene, &access->below, &below, address - below.start - below.size,
			       access->width, below.start + below.size - 1);
	if (above.size) {
		uint64_t gap = above.start - address;
		neighbour_fill(scene, &access->above, &above,
			       gap > access->width ? gap - access->width : 0, access->width,
			       above.start);
	}
}

/* ---- where ---- */

/* "20 bytes past the end of", for a range; NULL when the access lies in it. */
static const char *offset_text(struct wsi_build *build, uint64_t address, uint32_t width,
			       const struct wsi_range *range)
{
	uint64_t end = range->start + range->size;
	if (address < range->start)
		return wsi_build_text(build, "%" PRIu64 " bytes before the start of",
				      range->start - address);
	if (address == end)
		return "right behind the end of";
	if (address > end)
		return wsi_build_text(build, "%" PRIu64 " bytes past the end of", address - end);
	return width > end - address ? "across the end of" : "inside";
}

static const char *where_window(struct wsi_scene *scene, const struct ws_report_access *access)
{
	struct wsi_range window = { access->window_start, access->window_size };
	static const char *const names[] = {
		[WS_SPACE_SHARED] = "shared memory of the block",
		[WS_SPACE_LOCAL] = "local memory of the thread",
		[WS_SPACE_CONST] = "constant bank",
	};
	if ((size_t)access->space >= WSI_COUNT(names) || !names[access->space] || !window.size)
		return NULL;
	return wsi_build_text(
		scene->build, "%s the %" PRIu64 " bytes of %s",
		offset_text(scene->build, access->address[access->lane], access->width, &window),
		window.size, names[access->space]);
}

static const char *where_owner(struct wsi_scene *scene, const struct ws_report_access *access)
{
	struct wsi_range range = { access->owner.range_start, access->owner.range_size };
	return wsi_build_text(
		scene->build, "%s the %" PRIu64 " bytes at 0x%" PRIx64 " that the base points into",
		offset_text(scene->build, access->address[access->lane], access->width, &range),
		range.size, range.start);
}

static const char *where_neighbour(struct wsi_scene *scene, const struct ws_report_access *access)
{
	uint64_t address = access->address[access->lane];
	const struct ws_report_neighbour *below = &access->below, *above = &access->above, *near;
	if (below->status != WS_OK && above->status != WS_OK)
		return NULL;
	near = above->status != WS_OK ||
			       (below->status == WS_OK && below->distance <= above->distance)
		       ? below
		       : above;
	struct wsi_range range = { near->start, near->size };
	if (access->inside && access->width <= near->start + near->size - address)
		return wsi_build_text(scene->build,
				      "inside known memory, %" PRIu64 " bytes at 0x%" PRIx64,
				      near->size, near->start);
	if (near->distance > FAR_BYTES)
		return "far from every known range";
	if (near->symbol.len) {
		const struct wsi_name *name = wsi_name_of(scene->build, near->symbol);
		return name ? wsi_build_text(
				      scene->build, "%s the range of %.*s, %" PRIu64 " bytes",
				      offset_text(scene->build, address, access->width, &range),
				      (int)name->full.len, name->full.ptr, near->size)
			    : NULL;
	}
	return wsi_build_text(
		scene->build, "%s the nearest known range, %" PRIu64 " bytes at 0x%" PRIx64,
		offset_text(scene->build, address, access->width, &range), near->size, near->start);
}

static void find_range_of_base(struct wsi_scene *scene, struct ws_report_owner *owner)
{
	struct wsi_range range;
	if (!owner->value_known || !wsi_range_at(scene->build, owner->value, &range))
		return;
	owner->range_status = WS_OK;
	owner->range_start = range.start;
	owner->range_size = range.size;
}

static void find_where(struct wsi_scene *scene, struct ws_report_access *access)
{
	if (access->lane == WS_NONE ||
	    !((access->lanes_known | access->lanes_guess) >> access->lane & 1))
		return;
	if (access->space != WS_SPACE_GLOBAL) {
		access->where = where_window(scene, access);
		return;
	}
	find_neighbours(scene, access);
	if ((access->null_like | access->noncanonical) >> access->lane & 1)
		return; /* no neighbour says anything about it */
	access->where = access->owner.range_status == WS_OK ? where_owner(scene, access)
							    : where_neighbour(scene, access);
}

enum ws_status wsi_owner_find(struct wsi_scene *scene, struct ws_report_access *access)
{
	struct ws_report_owner *owner = &access->owner;
	uint32_t lane = access->lane == WS_NONE ? 0 : access->lane;
	struct tracer tracer = { scene, lane, owner, 0, false };
	bool found = false;
	if (access->space == WS_SPACE_SHARED) {
		owner->kind = WS_OWNER_SHARED;
		owner->name = shared_variable(scene);
	} else if (access->space == WS_SPACE_LOCAL) {
		owner->kind = WS_OWNER_STACK;
	} else if (access->space == WS_SPACE_CONST) {
		owner->kind = WS_OWNER_CONSTANT;
		owner->bank = access->bank;
	} else if (scene->have_slice) {
		found = trace_address(&tracer, (struct origin){ scene->slice, 0, 0 });
		if (!found)
			*owner = (struct ws_report_owner){ .ordinal = WS_NONE,
							   .root_ordinal = WS_NONE };
		owner->range_status = WS_ABSENT;
		owner->value_known = owner->value_known && access->lane != WS_NONE;
		find_range_of_base(scene, owner);
	}
	if (owner->kind != WS_OWNER_UNKNOWN)
		owner->claim = (struct ws_report_claim){
			owner_text(scene, owner),
			owner_evidence(scene, owner),
			tracer.merged || owner->kind == WS_OWNER_LOADED ? WS_CONFIDENCE_LIKELY
									: WS_CONFIDENCE_CERTAIN,
		};
	find_where(scene, access);
	return WS_OK;
}
