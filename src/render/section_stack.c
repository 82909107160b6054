/* SPDX-License-Identifier: Apache-2.0 */
/* The call stack of the focus with its sources, and the machine code. */
#include "render/sections.h"
#include "render/words.h"

enum {
	MAX_PERIOD = 8,   /* frames of one round of a recursion that is folded */
	MAX_FRAMES = 100, /* of a rich form, unless all are asked for */
};

/* Threads whose place, or whose user frame, is this line; each once. */
static uint64_t threads_at(const struct ws_report *report, struct ws_str file, uint32_t line)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < report->n_groups; i++) {
		const struct ws_report_frame *at[] = { &report->groups[i].frame,
						       &report->groups[i].user };
		bool here = false;
		for (int k = 0; k < 2; k++)
			here |= at[k]->line_status == WS_OK && at[k]->line == line &&
				ws_str_equal(at[k]->file, file);
		n += here ? report->groups[i].n_lanes : 0;
	}
	return n;
}

/* Tabs stay where the form has them; everything else is escaped. */
static void source_line(struct wsi_page *page, struct ws_str line)
{
	while (line.len > 0) {
		const char *tab = memchr(line.ptr, '\t', line.len);
		size_t len = tab ? (size_t)(tab - line.ptr) : line.len;
		wsi_str(page, WSI_PLAIN, (struct ws_str){ line.ptr, len });
		if (tab)
			wsi_say(page, page->rich ? "\t" : "    ");
		line = wsi_str_skip(line, len + (tab != NULL));
	}
}

static void source(struct wsi_page *page, const struct ws_report_frame *frame, bool with_context)
{
	const struct ws_report_source *source = &frame->source;
	if (source->status != WS_OK)
		return;
	wsi_render_element(page, WSI_SOURCE);
	for (uint32_t i = 0; i < source->n_lines; i++) {
		uint32_t number = source->first_line + i;
		if (number != frame->line && !with_context)
			continue;
		uint64_t threads = page->rich ? threads_at(page->report, frame->file, number) : 0;
		wsi_render_code_line(page, number == frame->line, NULL, number, threads);
		source_line(page, source->lines[i]);
	}
}

static void one_frame(struct wsi_page *page, const struct ws_report_exception *e, uint32_t i)
{
	const struct ws_report_frame *frame = &e->frames[i];
	bool user = i == e->user_frame && i > 0;
	bool chosen = frame == wsi_user_frame(e->frames, e->n_frames, e->user_frame);
	wsi_frame(page, &(struct wsi_stack_frame){ .level = frame->level,
						   .chosen = chosen,
						   .star = user,
						   .soft = frame->library,
						   .has_code = frame->source.status == WS_OK });
	wsi_say_function(page, frame, false);
	wsi_render_element(page, WSI_PLACE);
	if (frame->line_status == WS_OK) {
		wsi_say_path(page, frame->file, frame->line);
		wsi_say(page, "%s%s", frame->inlined ? ", inlined" : "",
			frame->library ? ", library" : "");
	} else {
		wsi_render_run(page, WSI_CODE, "0x%016" PRIx64, frame->pc);
		if (frame->function_status == WS_OK)
			wsi_say(page, ", line information: %s",
				frame->line_status == WS_ABSENT
					? "none"
					: ws_missing_word(frame->line_status));
	}
	source(page, frame, user || page->rich);
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

/* Says of frames at `start` that repeat what was just shown; returns how many. */
static uint32_t recursion(struct wsi_page *page, const struct ws_report_exception *e,
			  uint32_t start)
{
	for (uint32_t period = 1; period <= MAX_PERIOD && period <= start; period++) {
		uint32_t n = repeats_from(e, start, period);
		if (page->options.all || n <= 2 * period)
			continue;
		wsi_render_element(page, WSI_NOTE);
		wsi_say(page, "%u more frames repeat the last %s; --all", n,
			period == 1 ? "one" : "ones");
		return n;
	}
	return 0;
}

/* One line for frames of libraries; returns how many. */
static uint32_t libraries(struct wsi_page *page, const struct ws_report_exception *e,
			  uint32_t start)
{
	struct ws_str names[WSI_LIBRARY_NAMES];
	uint32_t n = page->options.all ? 0 : wsi_library_frames(e, start);
	if (n == 0)
		return 0;
	size_t n_names = wsi_library_names(e, start, start + n, names);
	wsi_render_element(page, WSI_FOLD);
	wsi_say(page, "#%u to #%u: %u library frames (", start, start + n - 1, n);
	for (size_t i = 0; i < n_names; i++) {
		wsi_say(page, i ? ", " : "");
		wsi_str(page, WSI_PLAIN, names[i]);
	}
	wsi_say(page, page->rich ? ")" : "); --all");
	for (uint32_t i = start; page->rich && i < start + n; i++)
		one_frame(page, e, i);
	if (page->rich)
		wsi_render_element(page, WSI_FOLD_END);
	return n;
}

/* Names the debug image that gave lines. */
static void borrowed(struct wsi_page *page, const struct ws_report_exception *e)
{
	for (uint32_t i = 0; i < e->n_frames; i++) {
		if (!e->frames[i].borrowed_from)
			continue;
		wsi_render_element(page, WSI_NOTE);
		wsi_say(page, "lines from %s, whose machine code is proven identical",
			e->frames[i].borrowed_from);
		return;
	}
}

/* Files that are not what was compiled, each once. */
static void changed_files(struct wsi_page *page, const struct ws_report_exception *e)
{
	bool other_time = false;
	for (uint32_t i = 0; i < e->n_frames; i++) {
		const struct ws_report_source *source = &e->frames[i].source;
		bool again = !source->changed;
		for (uint32_t k = 0; k < i && !again; k++)
			again = e->frames[k].source.path == source->path;
		other_time |= source->other_time;
		if (again)
			continue;
		wsi_render_element(page, WSI_NOTE);
		wsi_say(page, "%s is not the file that was compiled: %s", source->path,
			source->why);
	}
	if (!other_time)
		return;
	wsi_render_element(page, WSI_NOTE);
	wsi_say(page,
		"the sources have the same sizes as when they were compiled, but different times");
}

/* Lines that a compiler's mistake made others in the image. */
static void added_lines(struct wsi_page *page, const struct ws_report_exception *e)
{
	for (uint32_t i = 0; i < e->n_frames; i++) {
		const struct ws_report_frame *frame = &e->frames[i];
		if (frame->line_added == 0)
			continue;
		wsi_render_element(page, WSI_NOTE);
		wsi_say(page,
			"the image has line %u for #%u: Triton 3.9 adds the lines of its own "
			"assembly to the Python line, and the PTX shows that these are %u",
			frame->line + frame->line_added, frame->level, frame->line_added);
	}
}

/* Functions that Triton inlined and gave the kernel's name. */
static void helpers(struct wsi_page *page, const struct ws_report_exception *e)
{
	const struct ws_report_frame *kernel = &e->frames[e->n_frames - 1];
	for (uint32_t i = 0; i + 1 < e->n_frames && e->is_program; i++) {
		const struct ws_report_frame *frame = &e->frames[i];
		if (!frame->inlined || frame->function_status != WS_OK ||
		    !ws_str_equal(frame->function, kernel->function))
			continue;
		wsi_render_element(page, WSI_NOTE);
		wsi_say(page,
			"#%u is a function that was inlined into the kernel: Triton gives it the "
			"kernel's name",
			frame->level);
	}
}

/* Whether the source, where it is there, has another statement in the line than a `def`. */
static bool is_statement(const struct ws_report_frame *frame)
{
	const struct ws_report_source *source = &frame->source;
	const uint32_t index = frame->line - source->first_line;
	if (source->status != WS_OK || index >= source->n_lines)
		return false;
	struct ws_str text = source->lines[index];
	while (text.len && (*text.ptr == ' ' || *text.ptr == '\t'))
		text = wsi_str_skip(text, 1);
	return !wsi_str_begins(text, "def ") && !wsi_str_begins(text, "@");
}

/* A line of the `def`, that cuTile gives accesses. */
static void def_line(struct wsi_page *page, const struct ws_report_exception *e)
{
	const struct ws_report_frame *frame = &e->frames[0];
	if (!frame->maybe_def || e->n_accesses == 0 || is_statement(frame))
		return;
	wsi_render_element(page, WSI_NOTE);
	wsi_say(page,
		"if line %u is that of the function's `def`: cuTile 1.7 gives it to `ct.gather` "
		"with check_bounds=False, so one of these is meant",
		frame->line);
}

static void stack_notes(struct wsi_page *page, const struct ws_report_exception *e, uint32_t cut)
{
	borrowed(page, e);
	added_lines(page, e);
	helpers(page, e);
	def_line(page, e);
	changed_files(page, e);
	if (e->n_callers_left_out || cut) {
		wsi_render_element(page, WSI_NOTE);
		wsi_say(page, "%u more caller%s", e->n_callers_left_out + cut,
			wsi_plural(e->n_callers_left_out + cut));
	}
	if (e->stack_status != WS_OK && e->stack_status != WS_ABSENT) {
		wsi_render_element(page, WSI_NOTE);
		wsi_say(page, "return addresses: %s", ws_missing_word(e->stack_status));
	}
}

void wsi_section_stack(struct wsi_page *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e || e->n_frames == 0)
		return;
	bool star = !page->rich && e->user_frame != WS_NONE && e->user_frame > 0;
	uint32_t n = e->n_frames;
	if (page->rich && !page->options.all && n > MAX_FRAMES)
		n = MAX_FRAMES;
	wsi_section(page, "stack",
		    star ? "Call stack, innermost first (a star: the first frame outside libraries)"
			 : "Call stack, innermost first",
		    WSI_DETAIL);
	for (uint32_t i = 0, folded; i < n; i += folded ? folded : 1) {
		folded = recursion(page, e, i);
		folded = folded ? folded : libraries(page, e, i);
		if (folded)
			continue;
		if (i == e->pc_frames_from) {
			wsi_render_element(page, WSI_NOTE);
			wsi_say(page, "the warp had left these functions when it stopped; its "
				      "stack was then:");
		}
		one_frame(page, e, i);
	}
	stack_notes(page, e, e->n_frames - n);
}

static void variable_row(struct wsi_page *page, const struct ws_report_variable *variable)
{
	wsi_cell(page, "");
	wsi_str(page, WSI_CODE, variable->type);
	wsi_cell(page, " ");
	wsi_str(page, WSI_CODE, variable->name);
	wsi_cell(page, " = ");
	wsi_render_run(page, WSI_CODE, "%s", variable->text);
	wsi_cell(page, variable->in_address ? ", " : "");
	if (variable->in_address)
		wsi_say(page, "part of the address");
	if (!variable->function.len)
		return;
	wsi_say(page, ", in ");
	wsi_str(page, WSI_CODE, variable->function);
}

/* Of the function that faulted: addresses, and numbers that the address was computed from. */
void wsi_section_variables(struct wsi_page *page)
{
	static const struct ws_column columns[] = {
		{ "Type", WS_ALIGN_LEFT },
		{ "Name", WS_ALIGN_LEFT },
		{ "Value", WS_ALIGN_LEFT },
		{ "Use", WS_ALIGN_LEFT },
	};
	const struct ws_report_exception *e = page->report->focus;
	uint32_t n_shown = 0, n_values = 0, most = page->rich || page->options.all ? 300 : 16;
	for (uint32_t i = 0; e && i < e->n_variables; i++)
		n_values += e->variables[i].text != NULL;
	if (!n_values)
		return;
	wsi_section(page, "variables", "Arguments and variables of the function", WSI_DETAIL);
	wsi_render_table(page, &(struct wsi_page_table){ .id = "variables",
							 .label = "Variables",
							 .fact = "Variables",
							 .column = columns,
							 .n_columns = WSI_COUNT(columns) });
	for (uint32_t i = 0; i < e->n_variables && n_shown < most; i++) {
		if (!e->variables[i].text)
			continue;
		variable_row(page, &e->variables[i]);
		n_shown++;
	}
	wsi_cell_wide(page);
	wsi_say(page, "(as lane %u has them", e->variables_lane);
	if (n_shown < e->n_variables)
		wsi_say(page, "; %u more not shown here: warpscope locals",
			e->n_variables - n_shown);
	wsi_say(page, ")");
}

void wsi_section_listing(struct wsi_page *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e || e->n_insns == 0)
		return;
	wsi_section(page, "code", "Machine code", WSI_FOLDED);
	wsi_render_element(page, WSI_MACHINE);
	for (uint32_t i = 0; i < e->n_insns; i++) {
		const struct ws_report_insn *insn = &e->insns[i];
		wsi_render_code_line(page, insn->mark != NULL, insn->mark, insn->pc, 0);
		wsi_render_run(page, insn->known ? WSI_CODE : WSI_NONE, "%s", insn->text);
		if (page->rich && insn->values)
			wsi_render_run(page, WSI_EVIDENCE, "%s", insn->values);
	}
}
