/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as a page of text. A sentence first, then sections: a title line, an empty line, and
 * the detail indented by four spaces, which Markdown shows unchanged. Prose that is not indented
 * carries no text of the input but the summary.
 */
#include <warpscope/report.h>

#include "base/base.h"

#include <time.h>

enum {
	MAX_ROWS = 20,       /* of a table, unless all are asked for */
	WIDE_NAME = 76,      /* C++ names up to here are shown whole */
	MAX_PERIOD = 8,      /* frames of one round of a recursion that is folded */
	INSTRUCTION_16 = 16, /* bytes, when the device does not say */
};

struct page {
	const struct ws_report *report;
	struct ws_text_options options;
	struct ws_out *out;
	enum ws_status status; /* of the tables */
};

/* ---- words ---- */

static void style(struct page *page, const char *sequence)
{
	if (page->options.color)
		ws_out_text(page->out, sequence);
}

#define BOLD "\033[1m"
#define RED "\033[1;31m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

static void title(struct page *page, const char *text)
{
	ws_out_text(page->out, "\n");
	style(page, BOLD);
	ws_out_text(page->out, text);
	style(page, PLAIN);
	ws_out_text(page->out, "\n\n");
}

/* Starts a line "    label      " of a box. */
static void label(struct page *page, const char *text)
{
	ws_out_text(page->out, "    ");
	style(page, DIM);
	ws_out_printf(page->out, "%-10s ", text);
	style(page, PLAIN);
}

static void end_line(struct page *page)
{
	ws_out_text(page->out, "\n");
}

static struct ws_str file_name(struct ws_str path)
{
	for (size_t i = path.len; i > 0; i--) {
		if (path.ptr[i - 1] == '/')
			return (struct ws_str){ path.ptr + i, path.len - i };
	}
	return path;
}

/* The C++ name to show: whole when it is not too long, or when it was asked for. */
static struct ws_str shown_name(const struct page *page, struct ws_str full, struct ws_str brief)
{
	return page->options.full_names || full.len <= WIDE_NAME ? full : brief;
}

/* Why a place has no function, in words. */
static const char *function_missing(enum ws_status status)
{
	return status == WS_ABSENT        ? "no code of this dump"
	       : status == WS_UNSUPPORTED ? "a host address"
					  : ws_missing_word(status);
}

static void out_frame_name(struct page *page, const struct ws_report_frame *frame)
{
	if (frame->function_status == WS_OK)
		ws_out_escaped(page->out, shown_name(page, frame->function, frame->function_short));
	else
		ws_out_printf(page->out, "?? (%s)", function_missing(frame->function_status));
}

static void out_dim(struct page *page, struct ws_dim3 dim)
{
	ws_out_printf(page->out, "(%u,%u,%u)", dim.x, dim.y, dim.z);
}

/* Whether the launch has clusters of more than one block. */
static bool has_clusters(const struct page *page, const struct ws_report_exception *e)
{
	if (e->kernel == WS_NONE)
		return false;
	const struct ws_grid *grid = &page->report->kernels[e->kernel].grid;
	const struct ws_dim3 *dim = &grid->cluster_dim;
	return grid->have & WS_GRID_CLUSTER && (dim->x > 1 || dim->y > 1 || dim->z > 1);
}

/* cuda-gdb's order of coordinates. */
static void out_thread(struct page *page, const struct ws_report_exception *e)
{
	const struct ws_report_thread *at = &e->at;
	struct ws_out *out = page->out;
	if (e->kernel != WS_NONE)
		ws_out_printf(out, "kernel %u, grid %" PRId64 ", ",
			      page->report->kernels[e->kernel].id,
			      page->report->kernels[e->kernel].grid.id);
	if (at->have_cluster && has_clusters(page, e))
		ws_out_printf(out, "cluster (%u,%u,%u), ", at->cluster.x, at->cluster.y,
			      at->cluster.z);
	if (at->block_status == WS_OK)
		ws_out_printf(out, "block (%u,%u,%u), ", at->block.x, at->block.y, at->block.z);
	if (at->lane != WS_NONE)
		ws_out_printf(out, "thread (%u,%u,%u), ", at->thread.x, at->thread.y, at->thread.z);
	ws_out_printf(out, "device %u, sm %u", at->device, at->sm);
	if (at->warp != WS_NONE)
		ws_out_printf(out, ", warp %u", at->warp);
	if (at->lane != WS_NONE)
		ws_out_printf(out, ", lane %u", at->lane);
}

/* ---- the box ---- */

static void box_exception(struct page *page, const struct ws_report_exception *e)
{
	struct ws_out *out = page->out;
	label(page, "exception");
	ws_out_text(out, e->label);
	if (e->name)
		ws_out_printf(out, ", %s (%u)", e->name, e->code);
	if (e->cuda_gdb)
		ws_out_printf(out, ", cuda-gdb: %s", e->cuda_gdb);
	end_line(page);
	if (e->text_status == WS_OK) {
		label(page, "driver");
		ws_out_escaped(out, e->text);
		end_line(page);
	}
}

/* What is known: the instruction, the thread. */
static void box_precision(struct page *page, const struct ws_report_exception *e)
{
	struct ws_out *out = page->out;
	label(page, "precision");
	if (e->blame == WS_BLAME_TRAP)
		ws_out_text(out, "the warp stopped by itself: a trap, or a breakpoint");
	else if (e->errorpc_status == WS_OK && e->kind && !e->kind->knows_instruction)
		ws_out_text(out, "errorpc may be where the code went, not where it came from");
	else if (e->errorpc_status == WS_OK)
		ws_out_text(out, "the instruction is known (errorpc)");
	else
		ws_out_text(out, "the instruction is not known: at or before pc");
	if (e->blame == WS_BLAME_LANE)
		ws_out_printf(out, "; %" PRIu64 " thread%s it", e->n_lanes,
			      e->n_lanes == 1 ? " carries" : "s carry");
	else if (e->blame == WS_BLAME_SUSPECT)
		ws_out_printf(out, "; the thread is one of %" PRIu64 " that were active",
			      e->n_lanes);
	else if (e->blame == WS_BLAME_SM)
		ws_out_text(out, "; the threads had left before the fault was seen");
	end_line(page);
}

/* "kernel+0x120" */
static void out_offset(struct page *page, const struct ws_report_frame *frame)
{
	if (frame->owner_short.len == 0)
		return;
	ws_out_text(page->out, "  ");
	ws_out_escaped(page->out, frame->owner_short);
	ws_out_printf(page->out, "+0x%" PRIx64, frame->rel_pc);
}

static void out_distance(struct page *page, const struct ws_report_exception *e)
{
	uint32_t bytes = INSTRUCTION_16;
	for (uint32_t i = 0; i < page->report->n_devices; i++) {
		const struct ws_device *device = &page->report->devices[i].state;
		if (device->id == e->at.device && device->instruction_bytes)
			bytes = device->instruction_bytes;
	}
	bool after = e->pc >= e->errorpc;
	uint64_t distance = after ? e->pc - e->errorpc : e->errorpc - e->pc;
	if (distance == 0)
		ws_out_text(page->out, ", the same as errorpc");
	else
		ws_out_printf(page->out, ", %" PRIu64 " instruction%s %s errorpc", distance / bytes,
			      distance / bytes == 1 ? "" : "s", after ? "after" : "before");
}

static void box_addresses(struct page *page, const struct ws_report_exception *e)
{
	struct ws_out *out = page->out;
	if (e->errorpc_status == WS_OK) {
		label(page, "errorpc");
		ws_out_printf(out, "0x%016" PRIx64, e->errorpc);
		if (e->n_frames && e->frames[0].pc == e->errorpc)
			out_offset(page, &e->frames[0]);
		else
			ws_out_text(out, "  no code of this dump");
		end_line(page);
	} else if (e->blame != WS_BLAME_NOBODY && e->blame != WS_BLAME_TRAP) {
		label(page, "errorpc");
		ws_out_printf(out, "%s", ws_missing_word(e->errorpc_status));
		end_line(page);
	}
	label(page, "pc");
	if (e->pc_status != WS_OK) {
		ws_out_printf(out, "%s", ws_missing_word(e->pc_status));
		end_line(page);
		return;
	}
	ws_out_printf(out, "0x%016" PRIx64, e->pc);
	if (e->n_frames && e->frames[0].pc == e->pc)
		out_offset(page, &e->frames[0]);
	else if (e->pc_frame)
		out_offset(page, e->pc_frame);
	if (e->errorpc_status == WS_OK)
		out_distance(page, e);
	if (e->pc_frame && e->pc_frame->line_status == WS_OK) {
		ws_out_text(out, ", ");
		ws_out_escaped(out, file_name(e->pc_frame->file));
		ws_out_printf(out, ":%u", e->pc_frame->line);
	}
	end_line(page);
}

static void box_launch(struct page *page, const struct ws_report_exception *e)
{
	if (e->kernel == WS_NONE)
		return;
	const struct ws_report_kernel *kernel = &page->report->kernels[e->kernel];
	struct ws_out *out = page->out;
	label(page, "kernel");
	if (kernel->name_status == WS_OK)
		ws_out_escaped(out, shown_name(page, kernel->name, kernel->name_short));
	else
		ws_out_printf(out, "? (%s)", ws_missing_word(kernel->name_status));
	if (kernel->name_status == WS_OK && !page->options.full_names &&
	    kernel->name.len > WIDE_NAME)
		ws_out_printf(out, " (%zu characters in full: --full-names)", kernel->name.len);
	end_line(page);
	if (kernel->grid_status != WS_OK)
		return;
	label(page, "launch");
	ws_out_text(out, "grid ");
	out_dim(page, kernel->grid.grid_dim);
	ws_out_text(out, ", block ");
	out_dim(page, kernel->grid.block_dim);
	if (has_clusters(page, e)) {
		ws_out_text(out, ", cluster ");
		out_dim(page, kernel->grid.cluster_dim);
	}
	ws_out_printf(out, ", %u registers", kernel->grid.n_regs);
	end_line(page);
}

static void box(struct page *page, const struct ws_report_exception *e)
{
	end_line(page);
	if (e->blame != WS_BLAME_NOBODY) {
		box_exception(page, e);
		box_precision(page, e);
	}
	label(page, "focus");
	out_thread(page, e);
	end_line(page);
	if (e->have_target_block) {
		label(page, "target");
		ws_out_text(page->out, "block ");
		out_dim(page, e->target_block);
		ws_out_text(page->out, " was accessed");
		end_line(page);
	}
	if (e->at.warp != WS_NONE) {
		label(page, "lanes");
		if (e->lanes_blamed)
			ws_out_printf(page->out, "faulted 0x%08x, ", e->lanes_blamed);
		ws_out_printf(page->out, "active 0x%08x of 0x%08x", e->lanes_active,
			      e->lanes_valid);
		end_line(page);
	}
	box_addresses(page, e);
	box_launch(page, e);
}

/* ---- frames ---- */

/* Tabs become four spaces. */
static void out_source_line(struct page *page, struct ws_str line)
{
	while (line.len > 0) {
		const char *tab = memchr(line.ptr, '\t', line.len);
		size_t len = tab ? (size_t)(tab - line.ptr) : line.len;
		ws_out_escaped(page->out, (struct ws_str){ line.ptr, len });
		if (tab)
			ws_out_text(page->out, "    ");
		len += tab ? 1 : 0;
		line = (struct ws_str){ line.ptr + len, line.len - len };
	}
}

static void out_source(struct page *page, const struct ws_report_frame *frame, bool with_context)
{
	const struct ws_report_source *source = &frame->source;
	if (source->status != WS_OK)
		return;
	for (uint32_t i = 0; i < source->n_lines; i++) {
		uint32_t number = source->first_line + i;
		if (number != frame->line && !with_context)
			continue;
		ws_out_printf(page->out, "      %s%6u  ", number == frame->line ? ">" : " ",
			      number);
		out_source_line(page, source->lines[i]);
		end_line(page);
	}
	if (source->changed)
		ws_out_text(page->out, "              (this file is not the one that was compiled: "
				       "its size or time differs)\n");
}

static void out_frame(struct page *page, const struct ws_report_frame *frame, bool is_user)
{
	struct ws_out *out = page->out;
	style(page, is_user ? BOLD : frame->library ? DIM : "");
	ws_out_printf(out, "  %s #%-3u ", is_user ? "*" : " ", frame->level);
	out_frame_name(page, frame);
	style(page, PLAIN);
	end_line(page);
	if (frame->line_status == WS_OK) {
		ws_out_text(out, "         at ");
		ws_out_escaped(out, frame->file);
		if (frame->line)
			ws_out_printf(out, ":%u", frame->line);
		if (frame->inlined)
			ws_out_text(out, ", inlined");
		if (frame->library)
			ws_out_text(out, ", library");
		end_line(page);
	} else {
		ws_out_printf(out, "         at 0x%016" PRIx64, frame->pc);
		if (frame->function_status == WS_OK)
			ws_out_printf(out, ", line information: %s",
				      frame->line_status == WS_ABSENT
					      ? "none"
					      : ws_missing_word(frame->line_status));
		end_line(page);
	}
	out_source(page, frame, is_user);
}

/* How many frames from `start` on repeat the `period` frames before them. */
static uint32_t repeats_from(const struct ws_report_exception *e, uint32_t start, uint32_t period)
{
	uint32_t n = 0;
	while (start + n < e->n_frames && start + n != e->pc_frames_from) {
		const struct ws_report_frame *a = &e->frames[start + n], *b = a - period;
		if (a->pc != b->pc || a->function.ptr != b->function.ptr || a->line != b->line)
			break;
		n++;
	}
	return n - n % period;
}

/* Frames to leave out at `start` because they repeat what was just shown; `*ret_period` tells the
 * length of the round. */
static uint32_t recursion_at(const struct page *page, const struct ws_report_exception *e,
			     uint32_t start, uint32_t *ret_period)
{
	for (uint32_t period = 1; period <= MAX_PERIOD && period <= start; period++) {
		uint32_t n = repeats_from(e, start, period);
		*ret_period = period;
		if (!page->options.all && n > 2 * period)
			return n;
	}
	return 0;
}

/* Names the debug image that gave lines. */
static void out_borrowed(struct page *page, const struct ws_report_exception *e)
{
	for (uint32_t i = 0; i < e->n_frames; i++) {
		if (!e->frames[i].borrowed_from)
			continue;
		ws_out_text(page->out, "         (lines from ");
		ws_out_escaped(page->out, ws_str_of(e->frames[i].borrowed_from));
		ws_out_text(page->out, ", whose machine code is proven equal)\n");
		return;
	}
}

static void frames(struct page *page, const struct ws_report_exception *e)
{
	if (e->n_frames == 0)
		return;
	title(page,
	      e->user_frame != WS_NONE && e->user_frame > 0
		      ? "Call stack, innermost first (* is the first frame outside libraries):"
		      : "Call stack, innermost first:");
	for (uint32_t i = 0; i < e->n_frames; i++) {
		uint32_t period, n = recursion_at(page, e, i, &period);
		if (n) {
			ws_out_printf(page->out,
				      "         (%u more frames repeat the last %s; --all)\n", n,
				      period == 1 ? "one" : "ones");
			i += n - 1;
			continue;
		}
		if (i == e->pc_frames_from)
			ws_out_text(page->out,
				    "         (the warp had left these functions when it "
				    "stopped; its stack then was:)\n");
		out_frame(page, &e->frames[i], i == e->user_frame && i > 0);
	}
	out_borrowed(page, e);
	if (e->n_callers_left_out)
		ws_out_printf(page->out, "         (%u more callers)\n", e->n_callers_left_out);
	if (e->stack_status != WS_OK && e->stack_status != WS_ABSENT)
		ws_out_printf(page->out, "         (return addresses: %s)\n",
			      ws_missing_word(e->stack_status));
}

/* ---- tables ---- */

static void table_done(struct page *page, struct ws_table *table)
{
	enum ws_status st = ws_table_print(table, page->out, 4, NULL);
	if (page->status == WS_OK)
		page->status = st;
	ws_table_destroy(table);
}

static struct ws_table *table_start(struct page *page, const struct ws_column *columns, size_t n)
{
	struct ws_table *table = NULL;
	enum ws_status st = ws_table_create(columns, n, &table, NULL);
	if (page->status == WS_OK)
		page->status = st;
	return table;
}

static void cell_line(struct ws_table *table, const struct ws_report_frame *frame)
{
	struct ws_str name = file_name(frame->file);
	if (frame->line_status != WS_OK)
		ws_table_printf(table, "0x%" PRIx64, frame->pc);
	else if (frame->line)
		ws_table_printf(table, "%.*s:%u", (int)wsi_min_u64(name.len, 60), name.ptr,
				frame->line);
	else
		ws_table_printf(table, "%.*s", (int)wsi_min_u64(name.len, 60), name.ptr);
}

static void cell_function(struct ws_table *table, const struct ws_report_frame *frame)
{
	if (frame->function_status == WS_OK)
		ws_table_cell(table, frame->function_short);
	else
		ws_table_printf(table, "?? (%s)", function_missing(frame->function_status));
}

static void cell_thread(struct ws_table *table, const struct ws_report_thread *at)
{
	if (at->block_status == WS_OK && at->lane != WS_NONE)
		ws_table_printf(table, "(%u,%u,%u) (%u,%u,%u)", at->block.x, at->block.y,
				at->block.z, at->thread.x, at->thread.y, at->thread.z);
	else if (at->warp != WS_NONE)
		ws_table_printf(table, "device %u sm %u warp %u", at->device, at->sm, at->warp);
	else
		ws_table_printf(table, "device %u sm %u", at->device, at->sm);
}

static uint32_t rows_shown(const struct page *page, uint32_t n)
{
	return page->options.all || n <= MAX_ROWS ? n : MAX_ROWS;
}

static void groups(struct page *page)
{
	static const struct ws_column columns[] = {
		{ "Threads", WS_ALIGN_RIGHT }, { "Warps", WS_ALIGN_RIGHT },
		{ "State", WS_ALIGN_LEFT },    { "PC", WS_ALIGN_LEFT },
		{ "At", WS_ALIGN_LEFT },       { "Called from", WS_ALIGN_LEFT },
		{ "Function", WS_ALIGN_LEFT }, { "First block, thread", WS_ALIGN_LEFT },
	};
	const struct ws_report *report = page->report;
	if (report->n_groups == 0)
		return;
	title(page, "Where the threads are:");
	struct ws_table *table = table_start(page, columns, WSI_COUNT(columns));
	if (!table)
		return;
	uint32_t shown = rows_shown(page, report->n_groups);
	for (uint32_t i = 0; i < shown; i++) {
		const struct ws_report_group *group = &report->groups[i];
		ws_table_printf(table, "%" PRIu64, group->n_lanes);
		ws_table_printf(table, "%" PRIu64, group->n_warps);
		ws_table_printf(table, "%s", ws_thread_state_text(group->state));
		ws_table_printf(table, "0x%" PRIx64, group->pc);
		cell_line(table, &group->frame);
		if (group->user.level != group->frame.level)
			cell_line(table, &group->user);
		else
			ws_table_printf(table, "-");
		cell_function(table, &group->user);
		cell_thread(table, &group->example);
	}
	table_done(page, table);
	uint64_t rest = 0;
	for (uint32_t i = shown; i < report->n_groups; i++)
		rest += report->groups[i].n_lanes;
	if (shown < report->n_groups)
		ws_out_printf(page->out,
			      "    ... and %" PRIu64 " threads in %u more groups (--all)\n", rest,
			      report->n_groups - shown);
}

static void further(struct page *page)
{
	static const struct ws_column columns[] = {
		{ "Exception", WS_ALIGN_LEFT }, { "At", WS_ALIGN_LEFT },
		{ "Function", WS_ALIGN_LEFT },  { "First block, thread", WS_ALIGN_LEFT },
		{ "Dev", WS_ALIGN_RIGHT },      { "SM", WS_ALIGN_RIGHT },
		{ "SMs", WS_ALIGN_RIGHT },      { "Warps", WS_ALIGN_RIGHT },
		{ "Threads", WS_ALIGN_RIGHT },
	};
	const struct ws_report *report = page->report;
	if (report->n_exceptions < 2)
		return;
	title(page, "Further exceptions in this dump:");
	struct ws_table *table = table_start(page, columns, WSI_COUNT(columns));
	if (!table)
		return;
	uint32_t shown = rows_shown(page, report->n_exceptions - 1) + 1;
	for (uint32_t i = 1; i < shown; i++) {
		const struct ws_report_exception *e = &report->exceptions[i];
		static const struct ws_report_frame nothing = { .function_status = WS_ABSENT,
								.line_status = WS_ABSENT };
		const struct ws_report_frame *inner = e->n_frames ? &e->frames[0] : &nothing;
		const struct ws_report_frame *user =
			e->user_frame != WS_NONE ? &e->frames[e->user_frame] : inner;
		ws_table_printf(table, "%s", e->label);
		if (e->n_frames)
			cell_line(table, user);
		else
			ws_table_printf(table, "?");
		cell_function(table, user);
		cell_thread(table, &e->at);
		ws_table_printf(table, "%u", e->at.device);
		ws_table_printf(table, "%u", e->at.sm);
		ws_table_printf(table, "%" PRIu64, e->n_sms);
		ws_table_printf(table, "%" PRIu64, e->n_warps);
		ws_table_printf(table, "%" PRIu64, e->n_lanes);
	}
	table_done(page, table);
	if (shown < report->n_exceptions)
		ws_out_printf(page->out, "    ... and %u more (--all)\n",
			      report->n_exceptions - shown);
}

/* ---- facts ---- */

static void out_time(struct page *page, uint32_t seconds)
{
	time_t when = (time_t)seconds;
	struct tm utc;
	char text[40];
	if (gmtime_r(&when, &utc) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc))
		ws_out_text(page->out, text);
}

/* [public doc: CUDBGCoredumpGenerationFlags] */
static void out_flags(struct page *page, uint32_t flags)
{
	static const char *const skipped[] = { "module images as in the file",
					       "global memory",
					       "shared memory",
					       "local memory",
					       NULL,
					       "constant banks" };
	const char *comma = "";
	for (unsigned i = 0; i < WSI_COUNT(skipped); i++) {
		if (skipped[i] && flags >> i & 1) {
			ws_out_printf(page->out, "%s%s", comma, skipped[i]);
			comma = ", ";
		}
	}
	if (!*comma)
		ws_out_text(page->out, "nothing");
}

static void facts_of_dump(struct page *page, const struct ws_dump_facts *dump)
{
	struct ws_out *out = page->out;
	label(page, "dump");
	ws_out_escaped(out, ws_str_of(dump->path));
	ws_out_printf(out, ", %" PRIu64 " bytes, %s", dump->bytes,
		      dump->complete ? "complete" : "INCOMPLETE");
	if (dump->layout)
		ws_out_printf(out, ", layout %s", dump->layout);
	end_line(page);
	if (dump->have_metadata) {
		label(page, "driver");
		ws_out_printf(out, "%u.%u, CUDA %u.%u", dump->driver_major, dump->driver_minor,
			      dump->cuda_major, dump->cuda_minor);
		end_line(page);
	}
	if (dump->have_time) {
		label(page, "written");
		out_time(page, dump->timestamp);
		end_line(page);
	}
	if (dump->have_flags) {
		label(page, "left out");
		out_flags(page, dump->flags);
		end_line(page);
	}
}

static void facts(struct page *page)
{
	const struct ws_report *report = page->report;
	struct ws_out *out = page->out;
	title(page, "Facts:");
	if (report->dump_status == WS_OK)
		facts_of_dump(page, &report->dump);
	for (uint32_t i = 0; i < report->n_devices; i++) {
		const struct ws_report_device *device = &report->devices[i];
		label(page, i ? "" : "devices");
		if (device->status != WS_OK) {
			ws_out_printf(out, "? (%s)\n", ws_missing_word(device->status));
			continue;
		}
		ws_out_printf(out, "%u: ", device->state.id);
		ws_out_escaped(out, device->state.name.len ? device->state.name
							   : ws_str_of("(name lost)"));
		ws_out_printf(out, ", sm_%u%u", device->state.sm_major, device->state.sm_minor);
		ws_out_printf(out, ", %u SMs, %u warp%s resident", device->state.n_sms,
			      device->resident_warps, device->resident_warps == 1 ? "" : "s");
		if (device->faulted_sms)
			ws_out_printf(out, ", %u SM%s with an exception", device->faulted_sms,
				      device->faulted_sms == 1 ? "" : "s");
		end_line(page);
	}
	for (uint32_t i = 0; i < report->n_missing; i++) {
		const struct ws_report_missing *missing = &report->missing[i];
		label(page, i ? "" : "missing");
		ws_out_escaped(out, ws_str_of(missing->what));
		ws_out_printf(out, ": %s.", ws_missing_word(missing->why));
		if (missing->advice) {
			ws_out_text(out, " ");
			ws_out_escaped(out, ws_str_of(missing->advice));
		}
		end_line(page);
	}
}

static void code(struct page *page)
{
	const struct ws_report *report = page->report;
	if (report->n_code == 0)
		return;
	title(page, "Kernels whose code is in the dump (which of them ran is lost):");
	uint32_t shown = rows_shown(page, report->n_code);
	for (uint32_t i = 0; i < shown; i++) {
		struct ws_str name = report->code[i];
		ws_out_text(page->out, "    ");
		if (!page->options.full_names && name.len > 2 * WIDE_NAME) {
			ws_out_escaped(page->out, (struct ws_str){ name.ptr, 2 * WIDE_NAME });
			ws_out_text(page->out, "...");
		} else {
			ws_out_escaped(page->out, name);
		}
		end_line(page);
	}
	if (shown < report->n_code)
		ws_out_printf(page->out, "    ... and %u more (--all)\n", report->n_code - shown);
}

static void diagnostics(struct page *page)
{
	const struct ws_report *report = page->report;
	struct ws_out *out = page->out;
	if (report->n_diagnostics == 0)
		return;
	title(page, "Diagnostics of the dump:");
	uint32_t shown = rows_shown(page, report->n_diagnostics);
	for (uint32_t i = 0; i < shown; i++) {
		const struct ws_diagnostic *one = &report->diagnostics[i];
		ws_out_text(out, "    ");
		ws_out_escaped(out, ws_str_of(one->message));
		if (one->file_off != WS_NO_OFFSET)
			ws_out_printf(out, " (file offset 0x%" PRIx64 ")", one->file_off);
		if (one->repeats)
			ws_out_printf(out, ", and %" PRIu64 " more", one->repeats);
		end_line(page);
	}
	if (shown < report->n_diagnostics)
		ws_out_printf(out, "    ... and %u more (--all)\n", report->n_diagnostics - shown);
}

static void advice(struct page *page)
{
	const struct ws_report *report = page->report;
	const struct ws_report_exception *e = report->focus;
	if (e && e->kind) {
		title(page, "What it means:");
		ws_out_printf(page->out, "%s Usual causes: %s.\n", e->kind->meaning,
			      e->kind->causes);
	}
	if (report->n_next == 0)
		return;
	title(page, "What to try next:");
	for (uint32_t i = 0; i < report->n_next; i++) {
		ws_out_text(page->out, "- ");
		ws_out_escaped(page->out, ws_str_of(report->next[i]));
		end_line(page);
	}
}

/* The summary is prose: what Markdown would read as markup in it is escaped. */
static void out_prose(struct page *page, const char *text)
{
	size_t plain = strcspn(text, "<`*\\");
	while (text[plain]) {
		ws_out_escaped(page->out, (struct ws_str){ text, plain });
		ws_out_printf(page->out, "\\%c", text[plain]);
		text += plain + 1;
		plain = strcspn(text, "<`*\\");
	}
	ws_out_escaped(page->out, ws_str_of(text));
}

enum ws_status ws_report_text(const struct ws_report *report, const struct ws_text_options *options,
			      struct ws_out *out, struct ws_error *err)
{
	struct page page = { .report = report, .out = out };
	if (options && options->size != sizeof *options)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"text options of %zu bytes, "
				"expected %zu",
				options->size, sizeof *options);
	if (options)
		page.options = *options;
	style(&page, report->verdict == WS_VERDICT_FAULT ? RED : BOLD);
	out_prose(&page, report->summary);
	ws_out_text(out, ".");
	style(&page, PLAIN);
	end_line(&page);
	if (report->focus) {
		box(&page, report->focus);
		frames(&page, report->focus);
	}
	further(&page);
	groups(&page);
	facts(&page);
	code(&page);
	diagnostics(&page);
	advice(&page);
	if (page.status != WS_OK)
		return wsi_fail(err, page.status, WS_NO_OFFSET, "report text: %s",
				ws_status_text(page.status));
	return WS_OK;
}
