/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a memory snapshot of PyTorch tells about the addresses of the report: of the access of the
 * focus, its base and its index, of words that are waited for, of pointers among the kernel's
 * parameters.
 *
 * It is a file that somebody gave along with the dump. Nothing is said by one whose segments are
 * not memory of the dump.
 */
#include "explain/explain.h"
#include "report/library.h"
#include "torch/memory.h"

enum {
	MAX_PLACES = 64,
	MAX_WAITS = 8,
	MAX_TEXT = 1000, /* of a path or name */
	NEAR = 1 << 24,  /* bytes: a block so far away is no neighbour */
};

struct allocation_step {
	struct wsi_build *build;
	struct ws_report_allocation *at; /* arena: MAX_PLACES */
	struct wsi_torch_place places[MAX_PLACES];
	uint32_t n;
	struct wsi_torch_memory memory;
	bool no_memory;
};

/* A sentence that grows; what does not fit is left out. */
struct allocation_words {
	char text[1100];
	size_t len;
};

static void say_allocation(struct allocation_words *words, const char *format, ...) WS_PRINTF(2, 3);
static void say_allocation(struct allocation_words *words, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int len =
		vsnprintf(words->text + words->len, sizeof words->text - words->len, format, args);
	va_end(args);
	if (len > 0)
		words->len = wsi_min_u64(words->len + (size_t)len, sizeof words->text - 1);
}

const char *ws_allocation_use_text(enum ws_allocation_use use)
{
	static const char *const texts[] = { "access", "base", "index", "wait", "parameter" };
	return (size_t)use < WSI_COUNT(texts) ? texts[use] : "unknown";
}

const char *ws_allocation_state_text(enum ws_allocation_state state)
{
	static const char *const texts[] = { "outside", "allocated", "pending", "free", "unknown" };
	return (size_t)state < WSI_COUNT(texts) ? texts[state] : "unknown";
}

/* ---- which addresses ---- */

static bool is_asked(const struct allocation_step *step, uint64_t address)
{
	for (uint32_t i = 0; i < step->n; i++)
		if (step->at[i].address == address)
			return true;
	return false;
}

static void step_ask(struct allocation_step *step, enum ws_allocation_use use, uint32_t index,
		     struct ws_str field, uint64_t address)
{
	if (step->n == MAX_PLACES || (use == WS_ALLOCATION_PARAMETER && is_asked(step, address)))
		return;
	step->places[step->n].address = address;
	step->at[step->n++] = (struct ws_report_allocation){
		.use = use, .index = index, .field = field, .address = address
	};
}

/* The access that is told of, if it is one of global memory; or NULL. */
static const struct ws_report_access *access_of(const struct ws_report_exception *e)
{
	return e && e->n_accesses && e->accesses[0].space == WS_SPACE_GLOBAL ? &e->accesses[0]
									     : NULL;
}

static bool has_address(const struct ws_report_access *access)
{
	return access->lane != WS_NONE &&
	       (access->lanes_known | access->lanes_guess) >> access->lane & 1;
}

static void ask_access(struct allocation_step *step, const struct ws_report_access *access)
{
	if (has_address(access))
		step_ask(step, WS_ALLOCATION_ACCESS, WS_NONE, ws_str_of(""),
			 access->address[access->lane]);
	else if (access->first_address)
		step_ask(step, WS_ALLOCATION_ACCESS, WS_NONE, ws_str_of(""), access->first_address);
	if (access->owner.value_known)
		step_ask(step, WS_ALLOCATION_BASE, WS_NONE, ws_str_of(""), access->owner.value);
}

/* The index of an access, in the buffer that a parameter points to. */
static void ask_index(struct allocation_step *step, const struct ws_report_index *index,
		      const struct ws_report_kernel *kernel)
{
	for (uint32_t i = 0; i < kernel->n_params && index->claim.text; i++) {
		const struct ws_report_param *param = &kernel->params[i];
		if (param->ordinal == index->root_ordinal && param->size_bytes == 8 &&
		    param->value_status == WS_OK && param->value.len == 8)
			step_ask(
				step, WS_ALLOCATION_INDEX, WS_NONE, ws_str_of(""),
				wsi_at_u64(param->value, 0) +
					(index->element_known ? index->element * index->bytes : 0));
	}
}

static void ask_waits(struct allocation_step *step)
{
	const struct ws_report *report = step->build->report;
	for (uint32_t i = 0; i < report->n_waits && i < MAX_WAITS; i++) {
		const struct ws_report_wait *wait = &report->waits[i];
		if (wait->address_status == WS_OK && wait->space == WS_SPACE_GLOBAL)
			step_ask(step, WS_ALLOCATION_WAIT, i, ws_str_of(""), wait->address);
	}
}

/* Eight bytes may be a pointer. */
static void ask_word(struct allocation_step *step, const struct ws_report_param *param,
		     struct ws_str field, uint64_t off)
{
	uint64_t address = off + 8 <= param->value.len ? wsi_at_u64(param->value, off) : 0;
	if (address)
		step_ask(step, WS_ALLOCATION_PARAMETER, param->ordinal, field, address);
}

static void ask_params(struct allocation_step *step, const struct ws_report_kernel *kernel)
{
	for (uint32_t i = 0; i < kernel->n_params; i++) {
		const struct ws_report_param *param = &kernel->params[i];
		if (param->value_status != WS_OK)
			continue;
		if (param->size_bytes == 8)
			ask_word(step, param, ws_str_of(""), 0);
		for (uint32_t f = 0; f < param->n_fields; f++)
			if (param->fields[f].size_bytes == 8 && !param->fields[f].bit_size)
				ask_word(step, param, param->fields[f].path,
					 param->fields[f].offset);
	}
}

static void ask_all(struct allocation_step *step)
{
	const struct ws_report_exception *focus = step->build->report->focus;
	const struct ws_report_access *access = access_of(focus);
	const struct ws_report_kernel *kernel =
		focus && focus->kernel != WS_NONE ? &step->build->kernels[focus->kernel] : NULL;
	if (access)
		ask_access(step, access);
	if (access && kernel)
		ask_index(step, &access->index, kernel);
	ask_waits(step);
	if (kernel)
		ask_params(step, kernel);
}

/* ---- whose snapshot it is ---- */

static bool is_segment_inside(struct wsi_build *build, const struct wsi_torch_segment *segment)
{
	struct wsi_range range;
	uint64_t last = wsi_add_sat(segment->start, segment->size ? segment->size - 1 : 0);
	return wsi_range_at(build, segment->start, &range) && wsi_range_at(build, last, &range);
}

static bool any_in_segment(const struct allocation_step *step)
{
	for (uint32_t i = 0; i < step->n; i++)
		if (wsi_torch_segment_at(&step->memory, step->at[i].address))
			return true;
	return false;
}

/* Why nothing can be told by the snapshot, or NULL. */
static const char *mismatch(struct allocation_step *step, struct ws_report_snapshot *snapshot)
{
	struct wsi_build *build = step->build;
	const char *noun = wsi_noun(build->report);
	if (!snapshot->n_segments)
		return "the allocator had no memory yet, or no more";
	if (wsi_global_is_partial(build) || !wsi_range_count(build)) {
		snapshot->inside_status = WS_ABSENT;
		if (any_in_segment(step))
			return NULL;
		return wsi_build_text(build,
				      "its segments hold no address of this report, and the %s has "
				      "no memory to compare them with",
				      noun);
	}
	for (size_t i = 0; i < step->memory.n_segments; i++)
		snapshot->n_inside += is_segment_inside(build, &step->memory.segments[i]);
	if (!snapshot->n_inside)
		return wsi_build_text(build, "the snapshot's segments are not those of the %s",
				      noun);
	if (snapshot->n_inside < snapshot->n_segments - snapshot->n_inside)
		return wsi_build_text(build,
				      "only %" PRIu64 " of the snapshot's %" PRIu64
				      " segments are memory of the %s: it is of another process, "
				      "or of another time",
				      snapshot->n_inside, snapshot->n_segments, noun);
	return NULL;
}

static const char *assumption(const struct allocation_step *step)
{
	const struct ws_report *report = step->build->report;
	const struct wsi_torch_memory *memory = &step->memory;
	struct allocation_words words = { .len = 0 };
	say_allocation(
		&words,
		"the snapshot is taken to be of this process%s, and to show its memory as it "
		"was at the %s",
		report->snapshot.inside_status == WS_OK ? "" : ", which nothing here shows",
		report->verdict == WS_VERDICT_HANG || !report->n_exceptions ? "stop" : "fault");
	if (memory->has_time && report->dump_status == WS_OK && report->dump.have_time) {
		uint64_t last = memory->last_time_us / 1000000, then = report->dump.timestamp;
		uint64_t s = last > then ? last - then : then - last;
		say_allocation(&words, "; its last event is %" PRIu64 " s %s the time in the dump",
			       s, last > then ? "after" : "before");
	}
	return wsi_build_text(step->build, "%s", words.text);
}

/* ---- lines of Python ---- */

static bool is_python(struct ws_str file)
{
	return file.len > 3 && wsi_str_ends(file, ".py");
}

/* Not PyTorch's own, nor of Python's library. */
static bool is_users(struct ws_str file)
{
	return is_python(file) &&
	       (wsi_str_holds(file, "-packages/") ? !wsi_str_holds(file, "-packages/torch/")
						  : !wsi_str_holds(file, "/lib/python"));
}

static struct ws_str keep_step_text(struct allocation_step *step, struct ws_str text)
{
	size_t len = wsi_min_u64(text.len, MAX_TEXT);
	const char *copy = wsi_arena_str(step->build->arena, text.ptr, len);
	step->no_memory |= !copy;
	return copy ? (struct ws_str){ copy, len } : ws_str_of("");
}

static struct ws_report_python python_of(struct allocation_step *step, struct wsi_torch_stack stack)
{
	uint32_t at = WS_NONE, python = WS_NONE;
	for (uint32_t i = 0; i < stack.n; i++) {
		struct ws_str file = wsi_torch_frame(&step->memory, stack, i)->file;
		if (python == WS_NONE && is_python(file))
			python = i;
		if (at == WS_NONE && is_users(file))
			at = i;
	}
	if (!stack.n)
		return (struct ws_report_python){ .status = WS_ABSENT };
	const struct wsi_torch_frame *frame = wsi_torch_frame(&step->memory, stack,
							      at != WS_NONE       ? at
							      : python != WS_NONE ? python
										  : 0);
	return (struct ws_report_python){ .status = WS_OK,
					  .file = keep_step_text(step, frame->file),
					  .function = keep_step_text(step, frame->function),
					  .line = frame->line };
}

/* " at `model.py:31` in `forward`" */
static void say_python(const struct allocation_step *step, struct allocation_words *words,
		       const struct ws_report_python *python)
{
	if (python->status != WS_OK)
		return;
	const char *name = wsi_build_name(step->build, wsi_report_file_name(python->file));
	say_allocation(words, " at %.*s:%" PRIu64 "`", (int)strlen(name) - 1, name, python->line);
	if (python->function.len)
		say_allocation(words, " in %s", wsi_build_name(step->build, python->function));
}

/* ---- what became of an address ---- */

static void take_torch_block(struct allocation_step *step, struct ws_report_allocation *a,
			     const struct wsi_torch_block *block)
{
	a->block_status = a->size_status = WS_OK;
	a->block_start = block->start;
	a->block_size = block->size;
	a->requested_status = block->has_requested ? WS_OK : WS_ABSENT;
	a->requested = block->requested;
	if (block->state == WSI_BLOCK_ALLOCATED)
		a->allocated = python_of(step, block->stack);
}

/* The free that ended the last block at a place, if nothing was allocated there since; or NULL. */
static const struct wsi_torch_event *last_free(const struct wsi_torch_place *place)
{
	const struct wsi_torch_event *requested = &place->last[WSI_EVENT_FREE_REQUESTED];
	const struct wsi_torch_event *completed = &place->last[WSI_EVENT_FREE_COMPLETED];
	const struct wsi_torch_event *event =
		requested->number && requested->start == completed->start ? requested
		: completed->number > requested->number                   ? completed
									  : requested;
	return event->number > place->last[WSI_EVENT_ALLOC].number ? event : NULL;
}

/* Whether something happened after the dump was begun: what a program frees as it fails. */
static bool is_after_dump(const struct allocation_step *step, const struct wsi_torch_event *event)
{
	const struct ws_report *report = step->build->report;
	return event->has_time && report->dump_status == WS_OK && report->dump.have_time &&
	       event->time_us / 1000000 > report->dump.timestamp;
}

static void take_free(struct allocation_step *step, struct ws_report_allocation *a,
		      const struct wsi_torch_place *place, const struct wsi_torch_event *event)
{
	const struct wsi_torch_event *alloc = &place->last[WSI_EVENT_ALLOC];
	bool is_its = alloc->number && alloc->start == event->start;
	a->was_freed = true;
	a->freed_after = is_after_dump(step, event);
	if (a->block_status != WS_OK) {
		a->block_status = a->requested_status = WS_OK;
		a->block_start = event->start;
		a->requested = event->size;
	}
	a->before_status = event->has_time ? WS_OK : WS_ABSENT;
	if (event->has_time)
		a->freed_before_us = step->memory.last_time_us - event->time_us;
	if (is_its)
		a->allocated = python_of(step, alloc->stack);
	/* Where no stack was taken at a free, PyTorch writes down that of the allocation. Without
	 * the allocation, whose it is cannot be told. */
	bool is_own = is_its && alloc->stack.first != event->stack.first;
	if (is_own)
		a->freed = python_of(step, event->stack);
}

/* The nearest block that is in use, on either side. */
static void take_neighbour(struct allocation_step *step, struct ws_report_allocation *a,
			   const struct wsi_torch_place *place)
{
	const struct wsi_torch_block *below = &place->below, *above = &place->above;
	uint64_t past = below->there ? a->address - (below->start + below->size) : NEAR;
	uint64_t before = above->there ? above->start - a->address : NEAR;
	if (past < NEAR && past <= before)
		take_torch_block(step, a, below);
	else if (before < NEAR)
		take_torch_block(step, a, above);
}

static void judge(struct allocation_step *step, struct ws_report_allocation *a,
		  const struct wsi_torch_place *place)
{
	static const enum ws_allocation_state states[] = {
		[WSI_BLOCK_ALLOCATED] = WS_ALLOCATION_ALLOCATED,
		[WSI_BLOCK_PENDING] = WS_ALLOCATION_PENDING,
		[WSI_BLOCK_INACTIVE] = WS_ALLOCATION_FREE,
		[WSI_BLOCK_OTHER] = WS_ALLOCATION_UNKNOWN,
	};
	const struct wsi_torch_segment *segment = wsi_torch_segment_at(&step->memory, a->address);
	const struct wsi_torch_event *freed = last_free(place);
	a->segment_status = segment ? WS_OK : WS_ABSENT;
	if (segment) {
		a->segment_start = segment->start;
		a->segment_size = segment->size;
	}
	a->state = place->in.there ? states[place->in.state]
		   : segment       ? WS_ALLOCATION_UNKNOWN
				   : WS_ALLOCATION_OUTSIDE;
	a->block_status = a->size_status = a->requested_status = WS_ABSENT;
	a->allocated.status = a->freed.status = a->before_status = WS_ABSENT;
	if (place->in.there && a->state != WS_ALLOCATION_FREE)
		take_torch_block(step, a, &place->in);
	if (freed && a->state != WS_ALLOCATION_ALLOCATED && a->state != WS_ALLOCATION_UNKNOWN)
		take_free(step, a, place, freed);
	if (a->block_status != WS_OK)
		take_neighbour(step, a, place);
}

/* ---- in words ---- */

/* "a block of 4096 bytes (4000 requested)" */
static void say_block(struct allocation_words *words, const struct ws_report_allocation *a)
{
	uint64_t size = a->size_status == WS_OK ? a->block_size : a->requested;
	say_allocation(words, "a block of %" PRIu64 " byte%s", size, size == 1 ? "" : "s");
	if (a->size_status == WS_OK && a->requested_status == WS_OK && a->requested != size)
		say_allocation(words, " (%" PRIu64 " requested)", a->requested);
}

static void say_event_time(struct allocation_words *words, uint64_t us)
{
	if (us < 1000)
		say_allocation(words, " %" PRIu64 " us", us);
	else if (us < 1000000)
		say_allocation(words, " %" PRIu64 ".%" PRIu64 " ms", us / 1000, us % 1000 / 100);
	else
		say_allocation(words, " %" PRIu64 ".%" PRIu64 " s", us / 1000000,
			       us % 1000000 / 100000);
}

/* " 3.0 ms before the last event of the snapshot at `x.py:12` in `step`, allocated at ..." */
static void say_free(const struct allocation_step *step, struct allocation_words *words,
		     const struct ws_report_allocation *a)
{
	if (a->before_status == WS_OK) {
		say_event_time(words, a->freed_before_us);
		say_allocation(words, " before the last event of the snapshot");
	}
	if (a->freed.status == WS_OK)
		say_python(step, words, &a->freed);
	else
		say_allocation(words, " (where was not recorded)");
	if (a->freed_after)
		say_allocation(words, ", after the time in the dump");
	if (a->allocated.status == WS_OK) {
		say_allocation(words, ", allocated");
		say_python(step, words, &a->allocated);
	}
}

/* Where in its block an address is. */
static void say_in_block(const struct allocation_step *step, struct allocation_words *words,
			 const struct ws_report_allocation *a)
{
	uint64_t off = a->address - a->block_start;
	if (a->requested_status == WS_OK && off >= a->requested && a->requested)
		say_allocation(words, "%" PRIu64 " byte%s past what was requested in ",
			       off - a->requested, off - a->requested == 1 ? "" : "s");
	else if (off)
		say_allocation(words, "byte %" PRIu64 " of ", off);
	else
		say_allocation(words, "the start of ");
	say_block(words, a);
	if (a->state == WS_ALLOCATION_PENDING) {
		say_allocation(words, ", which was freed");
		say_free(step, words, a);
		say_allocation(words, ", and which another stream may still use");
	} else if (a->state == WS_ALLOCATION_ALLOCATED) {
		say_allocation(words, ", allocated");
		say_python(step, words, &a->allocated);
	} else {
		say_allocation(words, ", in a state that is not known");
	}
}

/* Of a place that no block has: what was there, or the nearest. */
static void say_near(const struct allocation_step *step, struct allocation_words *words,
		     const struct ws_report_allocation *a, const struct wsi_torch_place *place)
{
	if (a->was_freed) {
		say_allocation(words,
			       "; the last block there, of %" PRIu64 " bytes at 0x%" PRIx64
			       ", was freed",
			       a->requested, a->block_start);
		say_free(step, words, a);
		if (place->last[WSI_EVENT_SEGMENT_OUT].number >
		    place->last[WSI_EVENT_FREE_REQUESTED].number)
			say_allocation(words, "; later its segment was given back to the driver");
	} else if (a->block_status == WS_OK) {
		uint64_t end = a->block_start + a->block_size;
		uint64_t away = a->address >= end ? a->address - end : a->block_start - a->address;
		say_allocation(words, "; %" PRIu64 " byte%s %s ", away, away == 1 ? "" : "s",
			       a->address >= end ? "past the end of" : "before");
		say_block(words, a);
		if (a->allocated.status == WS_OK) {
			say_allocation(words, ", allocated");
			say_python(step, words, &a->allocated);
		}
	}
}

static void tell_torch_place(struct allocation_step *step, struct ws_report_allocation *a,
			     const struct wsi_torch_place *place)
{
	struct allocation_words words = { .len = 0 };
	judge(step, a, place);
	if (place->in.there && a->state != WS_ALLOCATION_FREE) {
		say_in_block(step, &words, a);
	} else {
		say_allocation(&words, "%s",
			       a->state == WS_ALLOCATION_FREE
				       ? "in memory that the allocator holds, and that "
					 "is free"
			       : a->state == WS_ALLOCATION_OUTSIDE
				       ? "in no segment of the snapshot"
				       : "in a segment of the snapshot, in none "
					 "of its blocks");
		say_near(step, &words, a, place);
	}
	a->text = wsi_build_text(step->build, "%s", words.text);
	step->no_memory |= !a->text;
}

/* Parameters that point to no memory of the allocator may be no pointers. */
static void tell_all(struct allocation_step *step)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < step->n; i++) {
		struct ws_report_allocation a = step->at[i];
		tell_torch_place(step, &a, &step->places[i]);
		if (a.use != WS_ALLOCATION_PARAMETER || a.segment_status == WS_OK || a.was_freed)
			step->at[n++] = a;
	}
	step->n = n;
}

/* ---- the cause ---- */

/* The freed block that an access went to: that of its base, or, without one, of its address. */
static const struct ws_report_allocation *freed_block(const struct allocation_step *step,
						      uint64_t address)
{
	const struct ws_report_allocation *of = NULL;
	for (uint32_t i = 0; i < step->n; i++)
		if (step->at[i].use == WS_ALLOCATION_BASE ||
		    (step->at[i].use == WS_ALLOCATION_ACCESS && !of))
			of = &step->at[i];
	if (!of || !of->was_freed || of->freed_after || address < of->block_start)
		return NULL;
	uint64_t size = of->size_status == WS_OK ? of->block_size : of->requested;
	return address - of->block_start < size ? of : NULL;
}

/* Whether the report knows of a cause that this cannot stand beside. */
static bool is_proved(const struct ws_report_exception *e)
{
	for (uint32_t i = 0; i < e->n_causes; i++)
		if (e->causes[i].confidence == WS_CONFIDENCE_CERTAIN)
			return true;
	return false;
}

/* A block that is known to have been freed is the cause, where its memory is not there any more. */
static void tell_cause(struct allocation_step *step)
{
	struct wsi_build *build = step->build;
	struct ws_report_exception *e =
		(struct ws_report_exception *)(uintptr_t)build->report->focus;
	const struct ws_report_access *access = access_of(e);
	if (!access || !has_address(access) || is_proved(e))
		return;
	const struct ws_report_allocation *of = freed_block(step, access->address[access->lane]);
	if (!of || !(access->unmapped >> access->lane & 1 || wsi_global_is_partial(build)))
		return;
	struct allocation_words words = { .len = 0 };
	say_allocation(&words, "the block of %" PRIu64 " bytes at 0x%" PRIx64 " was freed",
		       of->requested, of->block_start);
	say_free(step, &words, of);
	struct ws_report_claim *cause = wsi_arena_zalloc(build->arena, sizeof *cause);
	const char *evidence = wsi_build_text(build, "%s", words.text);
	if (!cause || !evidence) {
		step->no_memory = true;
		return;
	}
	*cause = (struct ws_report_claim){ "use after free: the kernel ran, or ran on, after its "
					   "memory was freed",
					   evidence, WS_CONFIDENCE_LIKELY };
	e->causes = cause;
	e->n_causes = 1;
}

/* An index that is the cause, and was read from a block that had been freed: its evidence. */
static void tell_index(struct allocation_step *step)
{
	struct ws_report_exception *e =
		(struct ws_report_exception *)(uintptr_t)step->build->report->focus;
	const struct ws_report_allocation *of = NULL;
	for (uint32_t i = 0; i < step->n; i++)
		if (step->at[i].use == WS_ALLOCATION_INDEX && step->at[i].was_freed &&
		    !step->at[i].freed_after)
			of = &step->at[i];
	if (!of || !e->n_causes ||
	    !wsi_str_begins(ws_str_of(e->causes[0].text), "an index read from memory"))
		return;
	struct allocation_words words = { .len = 0 };
	say_allocation(&words, "%s; the memory that it was read from was freed",
		       e->causes[0].evidence);
	say_free(step, &words, of);
	struct ws_report_claim *causes =
		wsi_arena_zalloc_array(step->build->arena, e->n_causes, sizeof *causes);
	const char *evidence = wsi_build_text(step->build, "%s", words.text);
	if (!causes || !evidence) {
		step->no_memory = true;
		return;
	}
	memcpy(causes, e->causes, e->n_causes * sizeof *causes);
	causes[0].evidence = evidence;
	e->causes = causes;
}

/* ---- the step ---- */

static void take_report_snapshot(struct allocation_step *step, struct ws_report_snapshot *snapshot)
{
	struct ws_error err;
	snapshot->status = wsi_torch_memory_read(&step->memory, step->build->snapshot, step->places,
						 step->n, &err);
	if (snapshot->status != WS_OK) {
		step->no_memory |= snapshot->status == WS_NO_MEMORY;
		if (snapshot->status == WS_ABSENT)
			snapshot->status = WS_MALFORMED; /* absent: none was asked for */
		snapshot->why = err.file_off == WS_NO_OFFSET
					? wsi_build_text(step->build, "%s", err.message)
					: wsi_build_text(step->build, "%s (byte %" PRIu64 ")",
							 err.message, err.file_off);
		return;
	}
	snapshot->n_segments = step->memory.n_segments;
	snapshot->n_blocks = step->memory.n_blocks;
	snapshot->n_events = step->memory.n_events;
	snapshot->why = mismatch(step, snapshot);
	if (snapshot->why)
		return;
	snapshot->assumed = assumption(step);
	tell_all(step);
	tell_cause(step);
	tell_index(step);
	snapshot->allocations = step->at;
	snapshot->n_allocations = step->n;
}

enum ws_status wsi_allocations(struct wsi_build *build)
{
	struct ws_report_snapshot *snapshot = &build->report->snapshot;
	const char *path = build->options.memory_snapshot;
	snapshot->status = WS_ABSENT;
	if (!path)
		return WS_OK;
	struct allocation_step *step = wsi_zalloc(sizeof *step);
	if (!step)
		return WS_NO_MEMORY;
	step->build = build;
	step->at = wsi_arena_zalloc_array(build->arena, MAX_PLACES, sizeof *step->at);
	snapshot->path = wsi_arena_str(build->arena, path, strlen(path));
	step->no_memory = !step->at || !snapshot->path;
	if (!step->no_memory) {
		ask_all(step);
		take_report_snapshot(step, snapshot);
	}
	bool no_memory = step->no_memory;
	wsi_torch_memory_fini(&step->memory);
	wsi_free(step);
	return no_memory ? WS_NO_MEMORY : WS_OK;
}
