/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose memory an access was meant for, in words, and which known memory lies around its address.
 */
#include "explain/explain.h"

#define FAR_BYTES (UINT64_C(1) << 30) /* a neighbour as far as this tells nothing */

static struct ws_str variable_name(const struct ws_variable *variable)
{
	return variable ? variable->name : (struct ws_str){ NULL, 0 };
}

/* ---- the base's value, and the sentence ---- */

/* " `cursor`", or nothing. */
static const char *quote_name(struct wsi_build *build, struct ws_str name)
{
	return name.len ? wsi_build_text(build, " %s", wsi_build_name(build, name)) : "";
}

static const char *parameter_text(const struct wsi_scene *scene,
				  const struct ws_report_owner *owner)
{
	const char *name = quote_name(scene->build, owner->name), *part = "";
	if (owner->field.len)
		part = wsi_build_text(scene->build, ", field %s (offset %u)",
				      wsi_build_name(scene->build, owner->field), owner->offset);
	else if (owner->offset)
		part = wsi_build_text(scene->build, ", byte %u of it", owner->offset);
	if (!name || !part)
		return NULL;
	return wsi_build_text(scene->build, "kernel parameter %u%s%s", owner->ordinal, name, part);
}

const char *wsi_owner_parameter_text(const struct wsi_scene *scene, uint64_t offset)
{
	struct ws_report_owner owner = { .ordinal = WS_NONE };
	return wsi_origin_parameter(scene, offset, &owner) ? parameter_text(scene, &owner) : NULL;
}

/* "kernel parameter 1 `name`" */
static const char *numbered_text(const struct wsi_scene *scene, uint32_t ordinal)
{
	const struct ws_report_kernel *kernel =
		scene->e->kernel == WS_NONE ? NULL : &scene->build->kernels[scene->e->kernel];
	const char *name = "";
	for (uint32_t i = 0; kernel && i < kernel->n_params; i++) {
		if (kernel->params[i].ordinal == ordinal)
			name = quote_name(scene->build, kernel->params[i].name);
	}
	if (!name)
		return NULL;
	return wsi_build_text(scene->build, "kernel parameter %u%s", ordinal, name);
}

static const char *symbol_text(struct wsi_build *build, const char *what, struct ws_str mangled)
{
	const struct wsi_name *name = mangled.len ? wsi_report_name_of(build, mangled) : NULL;
	if (!name)
		return what;
	return wsi_build_text(build, "%s %s", what, wsi_build_name(build, name->full));
}

/* Another block of the cluster is named by its rank. */
static const char *shared_text(const struct wsi_scene *scene, const struct ws_report_access *access)
{
	return wsi_scene_is_own(scene, access->rank)
		       ? "shared memory of the block"
		       : wsi_build_text(scene->build, "shared memory of block %u of the cluster",
					access->rank);
}

static const char *access_owner_text(const struct wsi_scene *scene,
				     const struct ws_report_access *access)
{
	struct wsi_build *build = scene->build;
	const struct ws_report_owner *owner = &access->owner;
	switch (owner->kind) {
	case WS_OWNER_PARAMETER:
		return parameter_text(scene, owner);
	case WS_OWNER_CONSTANT:
		if (!owner->name.len && owner->bank == WS_NONE)
			return "a constant bank that a register chooses";
		if (!owner->name.len)
			return wsi_build_text(build, "constant bank %u", owner->bank);
		return symbol_text(build, "the `__constant__` variable", owner->name);
	case WS_OWNER_SYMBOL:
		return symbol_text(build, "the `__device__` variable", owner->name);
	case WS_OWNER_SHARED:
		return owner->name.len ? symbol_text(build, "the shared variable", owner->name)
				       : shared_text(scene, access);
	case WS_OWNER_STACK:
		return "the thread's stack";
	case WS_OWNER_LOADED:
		if (owner->name.len)
			return symbol_text(build, "a pointer read from the variable", owner->name);
		if (owner->root_ordinal != WS_NONE)
			return wsi_build_text(build, "a pointer read from memory that %s points to",
					      numbered_text(scene, owner->root_ordinal));
		return "a pointer read from memory";
	case WS_OWNER_UNKNOWN:
		break;
	}
	return NULL;
}

/* What the code does to make the address. */
static const char *evidence_in_code(const struct wsi_scene *scene,
				    const struct ws_report_owner *owner)
{
	struct wsi_build *build = scene->build;
	const struct ws_report_kernel *kernel =
		scene->e->kernel == WS_NONE ? NULL : &build->kernels[scene->e->kernel];
	if (owner->kind == WS_OWNER_LOADED)
		return wsi_build_text(build, "the instruction at 0x%" PRIx64 " reads it",
				      owner->pc);
	if (owner->kind == WS_OWNER_PARAMETER && kernel) {
		for (uint32_t i = 0; i < kernel->n_params; i++) {
			if (kernel->params[i].ordinal == owner->ordinal)
				return wsi_build_text(build,
						      "the code adds an offset to c[0x0][0x%x] to "
						      "form the address",
						      kernel->params_offset +
							      kernel->params[i].offset +
							      owner->offset);
		}
	}
	return "the code adds an offset to its address or value to form the address";
}

static const char *owner_evidence(const struct wsi_scene *scene,
				  const struct ws_report_owner *owner,
				  const struct wsi_origin_how *how)
{
	if (owner->kind == WS_OWNER_SHARED || owner->kind == WS_OWNER_STACK)
		return "the address lies in that memory";
	if (how->by_value)
		return "a value on the thread's stack is the same; what stored it there is not "
		       "known";
	const char *text = evidence_in_code(scene, owner);
	if (!text || (!how->stacked && !how->partial && !how->partly))
		return text;
	return wsi_build_text(scene->build, "%s%s%s%s", text,
			      how->stacked ? ", and keeps it on the thread's stack on the way" : "",
			      how->partial ? ", as far as its loops were followed" : "",
			      how->partly ? ", by an instruction of which not every bit is known"
					  : "");
}

static enum ws_confidence owner_confidence(const struct ws_report_owner *owner,
					   const struct wsi_origin_how *how)
{
	if (how->partial || how->partly)
		return WS_CONFIDENCE_POSSIBLE;
	return how->merged || how->stacked || how->by_value || owner->kind == WS_OWNER_LOADED
		       ? WS_CONFIDENCE_LIKELY
		       : WS_CONFIDENCE_CERTAIN;
}

static void claim_index(const struct wsi_scene *scene, struct ws_report_index *index)
{
	struct wsi_build *build = scene->build;
	char element[40] = "", value[40] = "";
	if (!index->pc)
		return;
	if (index->element_known)
		wsi_format(element, ", element %" PRIu64, index->element);
	if (index->value_known)
		wsi_format(value, ": it is %" PRId64, index->value);
	index->claim = (struct ws_report_claim){
		index->root_ordinal == WS_NONE
			? wsi_build_text(build, "an index in the address is read from memory%s",
					 value)
			: wsi_build_text(
				  build,
				  "an index in the address is read from the buffer of %s%s%s",
				  numbered_text(scene, index->root_ordinal), element, value),
		wsi_build_text(build, "the instruction at 0x%" PRIx64 " reads it", index->pc),
		WS_CONFIDENCE_LIKELY,
	};
}

/* The only variable that the kernel has in shared memory. */
static struct ws_str shared_variable(const struct wsi_scene *scene)
{
	const struct ws_variable *variables, *only = NULL;
	size_t n;
	struct ws_cubin *cubin = scene->code.place.cubin;
	const struct ws_function *owner = scene->code.place.owner;
	if (!owner || ws_cubin_variables(cubin, &variables, &n, NULL) != WS_OK)
		return variable_name(NULL);
	for (size_t i = 0; i < n; i++) {
		struct ws_section section;
		if (variables[i].space != WS_SPACE_SHARED || variables[i].section == 0 ||
		    ws_cubin_section(cubin, variables[i].section, &section, NULL) != WS_OK ||
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
			wsi_variable_at(scene->code.place.cubin, WS_SPACE_GLOBAL, 0, near_end)),
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
		return wsi_build_text(build, "%" PRIu64 " byte%s before the start of",
				      range->start - address,
				      range->start - address == 1 ? "" : "s");
	if (address == end)
		return "just past the end of";
	if (address > end)
		return wsi_build_text(build, "%" PRIu64 " byte%s past the end of", address - end,
				      address - end == 1 ? "" : "s");
	return width > end - address ? "across the end of" : "inside";
}

static const char *where_window(struct wsi_scene *scene, const struct ws_report_access *access)
{
	struct wsi_range window = { access->window_start, access->window_size };
	const char *const names[] = {
		[WS_SPACE_SHARED] = shared_text(scene, access),
		[WS_SPACE_LOCAL] = "local memory of the thread",
		[WS_SPACE_CONST] = "constant bank",
	};
	if ((size_t)access->space >= WSI_COUNT(names) || !names[access->space])
		return NULL;
	if (!window.size) /* not known, or none */
		return access->outside >> access->lane & 1
			       ? wsi_build_text(scene->build, "outside the 0 bytes of %s",
						names[access->space])
			       : NULL;
	uint64_t address = access->address[access->lane], below;
	if (access->space == WS_SPACE_LOCAL && wsi_below_local(address, &window, &below))
		return wsi_build_text(
			scene->build,
			"%" PRIu64 " byte%s below the start of the %" PRIu64 " bytes of %s", below,
			below == 1 ? "" : "s", window.size, names[access->space]);
	return wsi_build_text(scene->build, "%s the %" PRIu64 " bytes of %s",
			      offset_text(scene->build, address, access->width, &window),
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
		return "far from any known range";
	if (near->symbol.len) {
		const struct wsi_name *name = wsi_report_name_of(scene->build, near->symbol);
		return name ? wsi_build_text(
				      scene->build, "%s the range of %s, %" PRIu64 " bytes",
				      offset_text(scene->build, address, access->width, &range),
				      wsi_build_name(scene->build, name->full), near->size)
			    : NULL;
	}
	return wsi_build_text(
		scene->build, "%s the nearest known range, %" PRIu64 " bytes at 0x%" PRIx64,
		offset_text(scene->build, address, access->width, &range), near->size, near->start);
}

static void find_range_of_base(struct wsi_scene *scene, struct ws_report_owner *owner)
{
	struct wsi_range range;
	if (!owner->value_known || wsi_global_is_partial(scene->build) ||
	    !wsi_range_at(scene->build, owner->value, &range))
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
	if (!wsi_global_is_partial(scene->build))
		find_neighbours(scene, access);
	if ((access->null_like | access->noncanonical) >> access->lane & 1)
		return; /* no neighbour says anything about it */
	access->where = access->owner.range_status == WS_OK ? where_owner(scene, access)
							    : where_neighbour(scene, access);
}

/* Whether the base has one value in all lanes. */
static bool is_same_for_all(const struct ws_report_owner *owner)
{
	return owner->kind == WS_OWNER_PARAMETER || owner->kind == WS_OWNER_CONSTANT ||
	       owner->kind == WS_OWNER_SYMBOL;
}

enum ws_status wsi_owner_find(struct wsi_scene *scene, struct ws_report_access *access)
{
	struct ws_report_owner *owner = &access->owner;
	struct wsi_origin_how how = { .merged = false };
	bool known = !access->generic || access->lanes_known || access->lanes_guess;
	if (access->space == WS_SPACE_SHARED && known) {
		owner->kind = WS_OWNER_SHARED;
		owner->name = shared_variable(scene);
	} else if (access->space == WS_SPACE_LOCAL) {
		owner->kind = WS_OWNER_STACK;
	} else if (access->space == WS_SPACE_CONST) {
		owner->kind = WS_OWNER_CONSTANT;
		owner->bank = access->bank;
	} else if (scene->have_slice) {
		if (wsi_origin_find(scene, access, owner, &how) != WS_OK)
			return WS_NO_MEMORY;
		owner->range_status = WS_ABSENT;
		if (access->lane == WS_NONE) /* what holds for one lane only is not told */
			owner->value_known = owner->value_known && is_same_for_all(owner);
		find_range_of_base(scene, owner);
		access->index.root_ordinal = WS_NONE;
		wsi_explain_index_find(scene, access, &access->index);
		access->index.element_known &= access->lane != WS_NONE;
		claim_index(scene, &access->index);
	}
	if (owner->kind != WS_OWNER_UNKNOWN)
		owner->claim = (struct ws_report_claim){
			access_owner_text(scene, access),
			owner_evidence(scene, owner, &how),
			owner_confidence(owner, &how),
		};
	find_where(scene, access);
	return WS_OK;
}
