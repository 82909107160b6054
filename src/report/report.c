/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report is made here, step by step (see build.h), and torn down. What it holds:
 *
 *   owner -> [model | arena: all arrays and texts | module set: what names were read from]
 *   and the target, if it was opened for the report
 */
#include <warpscope/focus.h>

#include "base/file.h"
#include "report/build.h"

/* What ws_report_create() hands out the first member of. */
struct list_owner {
	struct ws_report model;
	struct wsi_arena arena;      /* owned */
	struct ws_borrow_pool *pool; /* owned; NULL without debug images */
	struct wsi_file snapshot;    /* owned; open while the report is made */
	struct ws_target *target;    /* owned; NULL: somebody else's */
};

void ws_report_destroy(const struct ws_report *report)
{
	if (!report)
		return;
	struct list_owner *owner =
		(struct list_owner *)(uintptr_t)report; /* the model is its first member */
	ws_borrow_destroy(owner->pool);
	wsi_file_close(&owner->snapshot);
	wsi_arena_fini(&owner->arena);
	ws_target_close(owner->target);
	wsi_free(owner);
}

void wsi_report_own(const struct ws_report *report, struct ws_target *target)
{
	((struct list_owner *)(uintptr_t)report)->target = target;
}

const char *ws_verdict_kind_text(enum ws_verdict_kind kind)
{
	static const char *const texts[] = { "fault", "hang", "none", "unknown" };
	return (size_t)kind < WSI_COUNT(texts) ? texts[kind] : "unknown";
}

const char *ws_thread_state_text(enum ws_thread_state state)
{
	static const char *const texts[] = { "faulted", "trapped", "barrier", "active",
					     "divergent" };
	return (size_t)state < WSI_COUNT(texts) ? texts[state] : "unknown";
}

const char *ws_confidence_text(enum ws_confidence confidence)
{
	static const char *const texts[] = { "certain", "likely", "possible" };
	return (size_t)confidence < WSI_COUNT(texts) ? texts[confidence] : "possible";
}

const struct wsi_direction wsi_directions[] = {
	[WS_DIRECTION_LOAD] = { "load", "", "load", "from" },
	[WS_DIRECTION_STORE] = { "store", "", "store", "to" },
	[WS_DIRECTION_ATOMIC] = { "atomic", "atomically ", "update", "in" },
};

const char *ws_direction_text(enum ws_direction direction)
{
	return (size_t)direction < WSI_COUNT(wsi_directions) ? wsi_directions[direction].name
							     : "unknown";
}

bool wsi_never_comes(enum ws_absentee_state state)
{
	return state == WS_ABSENTEE_EXITED || state == WS_ABSENTEE_FAULTED;
}

uint64_t wsi_pc_distance(const struct ws_report *report, const struct ws_report_exception *e)
{
	uint32_t bytes = 16; /* of an instruction, when the device does not say */
	for (uint32_t i = 0; i < report->n_devices; i++) {
		const struct ws_device *device = &report->devices[i].state;
		if (device->id == e->at.device && device->instruction_bytes)
			bytes = device->instruction_bytes;
	}
	return (e->pc > e->errorpc ? e->pc - e->errorpc : e->errorpc - e->pc) / bytes;
}

const char *ws_space_text(enum ws_space space)
{
	static const char *const texts[] = { "global", "shared", "local",  "param",
					     "const",  "code",   "generic" };
	return (size_t)space < WSI_COUNT(texts) ? texts[space] : "unknown";
}

const char *ws_trust_text(enum ws_trust trust)
{
	static const char *const texts[] = { "as at the fault", "maybe overwritten", "unknown" };
	return (size_t)trust < WSI_COUNT(texts) ? texts[trust] : "unknown";
}

bool wsi_operand_is_shown(const struct ws_report_operand *operand)
{
	return operand->constant || (operand->use != WS_USE_DATA && operand->use != WS_USE_RESULT &&
				     operand->trust != WS_TRUST_OVERWRITTEN);
}

const char *ws_operand_use_text(enum ws_operand_use use)
{
	static const char *const texts[] = { "address", "descriptor", "data", "result", "guard" };
	return (size_t)use < WSI_COUNT(texts) ? texts[use] : "unknown";
}

const char *ws_owner_kind_text(enum ws_owner_kind kind)
{
	static const char *const texts[] = { "unknown", "parameter", "constant", "symbol",
					     "shared",  "stack",     "loaded" };
	return (size_t)kind < WSI_COUNT(texts) ? texts[kind] : "unknown";
}

const char *wsi_build_text(struct wsi_build *build, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = wsi_arena_format(build->arena, format, args);
	va_end(args);
	return text;
}

const char *wsi_build_name(struct wsi_build *build, struct ws_str name)
{
	enum { NAME_BYTES = 200 };
	char text[4 * NAME_BYTES + 8];
	size_t n = 0;
	text[n++] = '`';
	for (size_t i = 0; i < name.len && i < NAME_BYTES; i++) {
		if (name.ptr[i] != '`') {
			text[n++] = name.ptr[i];
			continue;
		}
		memcpy(text + n, "\\x60", 4);
		n += 4;
	}
	if (name.len > NAME_BYTES) {
		memcpy(text + n, "...", 3);
		n += 3;
	}
	text[n++] = '`';
	const char *kept = wsi_arena_str(build->arena, text, n);
	return kept ? kept : "``";
}

struct wsi_where wsi_where_of_grid(const struct wsi_build *build, uint32_t device_index,
				   uint32_t grid_index)
{
	struct wsi_where where = { device_index, WS_NONE, WS_NONE, WS_NONE };
	if (grid_index >= build->counts.grids)
		return where;
	const struct ws_grid *grid = &build->kernels[build->kernel_of_grid[grid_index]].grid;
	where.context_index = grid->context_index;
	where.module_index = grid->module_index;
	where.grid_index = grid_index;
	return where;
}

/* ---- diagnostics ---- */

static enum ws_status diagnostic_add(struct wsi_build *build, const struct ws_diagnostic *one)
{
	if (!wsi_grow(&build->diagnostics, &build->cap_diagnostics, build->n_diagnostics,
		      sizeof *build->diagnostics, UINT32_MAX - 1))
		return WS_NO_MEMORY;
	build->diagnostics[build->n_diagnostics++] = *one;
	return WS_OK;
}

enum ws_status wsi_diagnose(struct wsi_build *build, const char *what, enum ws_hides hides,
			    const struct ws_error *err)
{
	if (err->status == WS_NO_MEMORY)
		return WS_NO_MEMORY;
	for (size_t i = 0; i < build->n_diagnostics; i++) {
		if (build->diagnostics[i].what ==
		    what) { /* a literal of ours: one address a kind */
			build->diagnostics[i].repeats++;
			if (hides > build->diagnostics[i].hides)
				build->diagnostics[i].hides = hides;
			return WS_OK;
		}
	}
	const char *message = wsi_arena_str(build->arena, err->message, strlen(err->message));
	if (!message)
		return WS_NO_MEMORY;
	struct ws_diagnostic one = {
		.what = what, .file_off = err->file_off, .message = message, .hides = hides
	};
	return diagnostic_add(build, &one);
}

static enum ws_status take_diagnostics(struct wsi_build *build)
{
	struct ws_diagnostic one;
	for (uint32_t i = 0; ws_target_diagnostic(build->target, i, &one, NULL) == WS_OK; i++) {
		if (diagnostic_add(build, &one) != WS_OK)
			return WS_NO_MEMORY;
	}
	return WS_OK;
}

/* What was lost while the report was made. */
static enum ws_status tell_lost(struct wsi_build *build)
{
	struct ws_dump_facts facts;
	struct ws_error err;
	if (build->report->dump_status != WS_OK || build->report->dump.lost ||
	    ws_target_dump_facts(build->target, &facts, NULL) != WS_OK || !facts.lost)
		return WS_OK; /* a diagnostic of the dump says so, or there is nothing to say */
	(void)wsi_fail(&err, WS_IO, facts.lost_off,
		       "some of the file cannot be read, first at 0x%" PRIx64, facts.lost_off);
	return wsi_diagnose(build, "file", WS_HIDES_HANG, &err);
}

/* ---- devices, images, kernels ---- */

static enum ws_status read_devices(struct wsi_build *build)
{
	uint32_t n = build->counts.devices;
	build->devices = wsi_arena_zalloc_array(build->arena, n, sizeof *build->devices);
	if (!build->devices)
		return WS_NO_MEMORY;
	build->report->devices = build->devices;
	build->report->n_devices = n;
	for (uint32_t i = 0; i < n; i++) {
		struct ws_error err;
		build->devices[i].status =
			ws_target_device(build->target, i, &build->devices[i].state, &err);
		if (build->devices[i].status == WS_OK)
			continue;
		build->devices[i].state.id = WS_NONE;
		if (wsi_diagnose(build, "device", WS_HIDES_FAULT, &err) != WS_OK)
			return WS_NO_MEMORY;
	}
	return WS_OK;
}

/* The images, with a diagnostic for each that cannot be read. */
static enum ws_status add_images(struct wsi_build *build)
{
	build->code_lost = !build->counts.modules;
	for (uint32_t i = 0; i < build->counts.modules; i++) {
		struct ws_module module;
		struct ws_error err;
		bool known = ws_target_module(build->target, i, &module, &err) == WS_OK;
		if (!known && wsi_diagnose(build, "module", WS_HIDES_HANG, &err) != WS_OK)
			return WS_NO_MEMORY;
		build->code_lost |= !known || !module.relocated.len;
	}
	return ws_target_cubins(build->target, &build->cubins, NULL);
}

static enum ws_status read_report_kernels(struct wsi_build *build)
{
	uint32_t n = build->counts.grids;
	build->kernels = wsi_arena_zalloc_array(build->arena, n, sizeof *build->kernels);
	build->kernel_of_grid = wsi_arena_zalloc_array(build->arena, n, sizeof(uint32_t));
	if (!build->kernels || !build->kernel_of_grid)
		return WS_NO_MEMORY;
	struct ws_focus focus;
	bool have_focus = ws_focus_find(build->target, &focus, NULL) == WS_OK;
	ws_focus_kernel_ids(build->target, have_focus ? &focus : NULL, build->kernel_of_grid);
	build->report->kernels = build->kernels;
	build->report->n_kernels = n;
	for (uint32_t i = 0; i < n; i++) {
		/* ids are 0 ... n - 1, each once: they serve as indices */
		struct ws_report_kernel *kernel = &build->kernels[build->kernel_of_grid[i]];
		struct ws_error err;
		kernel->id = build->kernel_of_grid[i];
		kernel->params_status = kernel->types_status = WS_ABSENT;
		kernel->grid_index = i;
		kernel->grid.device_index = kernel->grid.context_index = kernel->grid.module_index =
			WS_NONE;
		kernel->grid_status = ws_target_grid(build->target, i, &kernel->grid, &err);
		if (kernel->grid_status != WS_OK &&
		    wsi_diagnose(build, "grid", WS_HIDES_HANG, &err) != WS_OK)
			return WS_NO_MEMORY;
		if (kernel->grid_status == WS_OK &&
		    wsi_report_grid_doubts(build, &kernel->grid) != WS_OK)
			return WS_NO_MEMORY;
		kernel->device_index = kernel->grid.device_index;
		kernel->device = kernel->device_index < build->counts.devices
					 ? build->devices[kernel->device_index].state.id
					 : WS_NONE;
	}
	for (uint32_t i = 0; i < build->counts.blocks; i++) {
		struct ws_block block;
		if (ws_target_block(build->target, i, &block, NULL) == WS_OK &&
		    block.grid_index < n)
			build->kernels[build->kernel_of_grid[block.grid_index]].resident_blocks++;
	}
	return WS_OK;
}

/* Tells of the image of a kernel that cannot be read. */
static enum ws_status unreadable_image(struct wsi_build *build, uint32_t module_index)
{
	struct ws_cubin *cubin;
	struct ws_error err;
	if (module_index >= ws_cubin_set_count(build->cubins) ||
	    ws_cubin_set_cubin(build->cubins, module_index, &cubin, &err) == WS_OK)
		return WS_OK;
	return wsi_diagnose(build, "module", WS_HIDES_HANG, &err);
}

static enum ws_status name_kernels(struct wsi_build *build)
{
	for (uint32_t i = 0; i < build->report->n_kernels; i++) {
		struct ws_report_kernel *kernel = &build->kernels[i];
		struct wsi_where where =
			wsi_where_of_grid(build, kernel->device_index, kernel->grid_index);
		struct ws_cubin_hint hint = { where.module_index, where.device_index,
					      where.context_index };
		struct ws_place place;
		kernel->name_status = ws_cubin_set_find_address(
			build->cubins, kernel->grid.function_entry, &hint, &place, NULL);
		if (kernel->name_status == WS_NO_MEMORY)
			return WS_NO_MEMORY;
		if (kernel->name_status == WS_OK && !place.function)
			kernel->name_status = WS_ABSENT;
		if (kernel->name_status != WS_OK) {
			if (unreadable_image(build, where.module_index) != WS_OK)
				return WS_NO_MEMORY;
			continue;
		}
		const struct wsi_name *name = wsi_report_name_of(build, place.function->name);
		if (!name)
			return WS_NO_MEMORY;
		kernel->name = name->full;
		kernel->name_short = name->brief;
		kernel->name_mangled = name->mangled;
	}
	return WS_OK;
}

/* ---- exceptions and groups: from the walk's lists into the model ---- */

/* What the table of exceptions knows of a code. */
static bool explain_fault(struct wsi_build *build, struct ws_report_exception *e)
{
	if (e->blame == WS_BLAME_TRAP || e->blame == WS_BLAME_NOBODY) {
		e->label = e->blame == WS_BLAME_TRAP ? "Trap or breakpoint" : "No exception";
		e->headline = e->blame == WS_BLAME_TRAP ? "stopped at a trap or breakpoint"
							: "no exception";
		return true;
	}
	e->kind = ws_exception_find(e->code);
	if (e->kind) {
		e->name = e->kind->name;
		e->label = e->kind->label;
		e->cuda_gdb = e->kind->cuda_gdb;
		e->headline = e->kind->headline;
		return true;
	}
	e->label = wsi_build_text(build, "exception %u (not known to this version)", e->code);
	e->headline = e->label;
	return e->label != NULL;
}

static int compare_blame(const void *left, const void *right)
{
	const struct wsi_fault *a = left, *b = right;
	if (a->e.blame != b->e.blame && (a->e.blame == WS_BLAME_SM || b->e.blame == WS_BLAME_SM))
		return a->e.blame == WS_BLAME_SM ? 1 : -1;
	const struct ws_report_thread *x = &a->e.at, *y = &b->e.at;
	if (a->device_index != b->device_index)
		return WSI_ORDER(a->device_index, b->device_index);
	if (a->sm_index != b->sm_index)
		return WSI_ORDER(a->sm_index, b->sm_index);
	if (x->warp_index != y->warp_index)
		return WSI_ORDER(x->warp_index, y->warp_index);
	if (x->lane != y->lane)
		return WSI_ORDER(x->lane, y->lane);
	return WSI_ORDER(a->e.code, b->e.code);
}

/* Traps are told only of a target without any exception. */
static void drop_traps(struct wsi_build *build)
{
	size_t n = 0;
	for (size_t i = 0; i < build->n_faults; i++)
		n += build->faults[i].e.blame != WS_BLAME_TRAP;
	if (n == 0)
		return;
	n = 0;
	for (size_t i = 0; i < build->n_faults; i++) {
		if (build->faults[i].e.blame != WS_BLAME_TRAP)
			build->faults[n++] = build->faults[i];
	}
	build->n_faults = n;
}

static enum ws_status finish_fault(struct wsi_build *build, struct wsi_fault *fault)
{
	enum ws_status st = wsi_frames_of_fault(build, fault);
	if (st == WS_OK && !explain_fault(build, &fault->e))
		st = WS_NO_MEMORY;
	if (st != WS_OK)
		return st;
	fault->e.access_status = WS_LIMIT;
	fault->e.suspect = fault->e.first_suspect = fault->e.last_suspect = fault->e.at;
	fault->e.lanes_suspect = fault->e.lanes_blamed;
	fault->e.n_suspects = fault->e.n_lanes;
	bool closely = fault == &build->calm || fault - build->faults < WSI_MAX_EXPLAINED;
	return closely ? wsi_explain(build, fault) : WS_OK;
}

static enum ws_status finish_faults(struct wsi_build *build)
{
	drop_traps(build);
	if (build->n_faults)
		qsort(build->faults, build->n_faults, sizeof *build->faults, compare_blame);
	size_t n = build->n_faults;
	struct ws_report_exception *exceptions =
		wsi_arena_zalloc_array(build->arena, n + 1, sizeof *exceptions);
	if (!exceptions)
		return WS_NO_MEMORY;
	for (size_t i = 0; i < n; i++) {
		enum ws_status st = finish_fault(build, &build->faults[i]);
		if (st != WS_OK)
			return st;
		exceptions[i] = build->faults[i].e;
	}
	build->report->exceptions = exceptions;
	build->report->n_exceptions = (uint32_t)n;
	if (n > 0) {
		build->report->focus = &exceptions[0];
	} else if (build->have_calm) {
		enum ws_status st = finish_fault(build, &build->calm);
		if (st != WS_OK)
			return st;
		exceptions[0] = build->calm.e;
		build->report->focus = &exceptions[0];
	}
	return WS_OK;
}

static int compare_groups(const void *left, const void *right)
{
	const struct wsi_group *a = left, *b = right;
	bool a_first = a->g.state <= WS_THREAD_TRAPPED, b_first = b->g.state <= WS_THREAD_TRAPPED;
	if (a_first != b_first)
		return a_first ? -1 : 1;
	if (a->g.n_lanes != b->g.n_lanes)
		return WSI_ORDER(b->g.n_lanes, a->g.n_lanes);
	if (a->g.pc != b->g.pc)
		return WSI_ORDER(a->g.pc, b->g.pc);
	if (a->g.state != b->g.state)
		return WSI_ORDER(a->g.state, b->g.state);
	return WSI_ORDER(a->where.device_index, b->where.device_index);
}

static enum ws_status finish_groups(struct wsi_build *build)
{
	size_t n = build->n_groups;
	if (n)
		qsort(build->groups, n, sizeof *build->groups, compare_groups);
	struct ws_report_group *groups = wsi_arena_zalloc_array(build->arena, n, sizeof *groups);
	if (!groups)
		return WS_NO_MEMORY;
	struct wsi_frames scratch = { 0 };
	enum ws_status st = WS_OK;
	for (size_t i = 0; i < n && st == WS_OK; i++) {
		st = wsi_frames_of_group(build, &build->groups[i], &scratch);
		groups[i] = build->groups[i].g;
	}
	wsi_free(scratch.at);
	build->report->groups = groups;
	build->report->n_groups = (uint32_t)n;
	return st;
}

/* ---- all steps ---- */

/* Copies a list from the heap into the arena. */
static bool keep_list(struct wsi_build *build, const void *list, size_t n, size_t size,
		      const void **ret_list)
{
	void *copy = wsi_arena_zalloc_array(build->arena, n, size);
	if (copy && n)
		memcpy(copy, list, n * size);
	*ret_list = copy;
	return copy != NULL;
}

static enum ws_status keep_report_lists(struct wsi_build *build)
{
	const void *diagnostics, *missing, *next;
	if (!keep_list(build, build->diagnostics, build->n_diagnostics, sizeof *build->diagnostics,
		       &diagnostics) ||
	    !keep_list(build, build->missing, build->n_missing, sizeof *build->missing, &missing) ||
	    !keep_list(build, build->next, build->n_next, sizeof *build->next, &next))
		return WS_NO_MEMORY;
	build->report->diagnostics = diagnostics;
	build->report->n_diagnostics = (uint32_t)build->n_diagnostics;
	build->report->missing = missing;
	build->report->n_missing = (uint32_t)build->n_missing;
	build->report->next = next;
	build->report->n_next = (uint32_t)build->n_next;
	return WS_OK;
}

static enum ws_status build_all(struct wsi_build *build)
{
	static enum ws_status (*const steps[])(struct wsi_build *) = {
		take_diagnostics,
		read_devices,
		add_images,
		read_report_kernels,
		wsi_report_map_start,
		wsi_scan,
		name_kernels,
		wsi_explain_params,
		finish_faults,
		finish_groups,
		wsi_report_map_finish,
		wsi_waits,
		wsi_allocations,
		wsi_image,
		tell_lost,
		wsi_verdict,
		wsi_signature,
		keep_report_lists,
	};
	struct ws_report *report = build->report;
	report->dump_status = ws_target_dump_facts(build->target, &report->dump, NULL);
	build->classic = report->dump_status == WS_OK && report->dump.classic;
	ws_target_counts(build->target, &build->counts);
	for (size_t i = 0; i < WSI_COUNT(steps); i++) {
		enum ws_status st = steps[i](build);
		if (st != WS_OK)
			return st;
	}
	return WS_OK;
}

static void build_fini(struct wsi_build *build)
{
	wsi_free(build->faults);
	wsi_free(build->groups);
	wsi_free(build->diagnostics);
	wsi_free(build->missing);
	wsi_free(build->next);
	wsi_free(build->names);
	wsi_free(build->files);
	wsi_free(build->formals);
	wsi_free(build->name_buffer);
	wsi_map_fini(&build->cache);
}

/* Opens the debug images and the memory snapshot that the options name. */
static enum ws_status owner_open(struct list_owner *owner, const struct ws_report_options *options,
				 struct ws_error *err)
{
	enum ws_status st = WS_OK;
	if (options->n_debug_images)
		st = ws_borrow_create(&owner->pool, err);
	for (size_t i = 0; i < options->n_debug_images && st == WS_OK; i++)
		st = ws_borrow_add_path(owner->pool, options->debug_images[i], err);
	if (st == WS_OK && options->memory_snapshot)
		st = wsi_file_open_any(options->memory_snapshot, NULL, &owner->snapshot, err);
	return st;
}

enum ws_status ws_report_create(const struct ws_target *target,
				const struct ws_report_options *options,
				const struct ws_report **ret_report, struct ws_error *err)
{
	struct ws_report_options chosen = { .size = sizeof chosen };
	if (options && options->size != sizeof chosen)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"report options of %zu bytes, expected %zu", options->size,
				sizeof chosen);
	if (options)
		chosen = *options;
	struct list_owner *owner = wsi_zalloc(sizeof *owner);
	if (!owner)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "report");
	enum ws_status st = owner_open(owner, &chosen, err);
	if (st != WS_OK) {
		ws_report_destroy(&owner->model);
		return st;
	}
	struct wsi_build build = {
		.target = target,
		.options = chosen,
		.report = &owner->model,
		.arena = &owner->arena,
		.pool = owner->pool,
		.snapshot = owner->snapshot.bytes,
		.name_buffer = wsi_zalloc(WSI_NAME_BUFFER),
		.n_ranges = WS_NONE,
	};
	st = build.name_buffer ? build_all(&build) : WS_NO_MEMORY;
	build_fini(&build);
	wsi_file_close(&owner->snapshot);
	if (st != WS_OK) {
		ws_report_destroy(&owner->model);
		return wsi_fail(err, st, WS_NO_OFFSET, "report: %s", ws_status_text(st));
	}
	*ret_report = &owner->model;
	return WS_OK;
}
