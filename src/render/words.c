/* SPDX-License-Identifier: Apache-2.0 */
#include "report/build.h"

#include "render/words.h"

#include <time.h>

#include "base/dim3.h"

struct ws_str wsi_device_name(const struct ws_device *device)
{
	return device->name.len ? device->name : ws_str_of("(name lost)");
}

/* Why a place has no function, in words. */
static const char *function_missing(const struct ws_report *report, enum ws_status status)
{
	bool is_dump = report->dump_status == WS_OK;
	return status == WS_ABSENT
		       ? is_dump ? "not in this dump's code" : "not in this device's code"
	       : status == WS_UNSUPPORTED ? "a host address"
					  : ws_missing_word(status);
}

const char *wsi_resident_word(const struct ws_report *report)
{
	bool dropped = report->dump_status == WS_OK && report->dump.stripped & WS_STRIP_OTHERS;
	return dropped ? "kept in this dump" : "resident";
}

void wsi_say_stripped(struct wsi_page *page, uint32_t stripped)
{
	static const struct {
		uint32_t flag;
		const char *words;
	} lost[] = {
		{ WS_STRIP_OTHERS, "warps without a fault" },
		{ WS_STRIP_VALUES, "values of registers and memory, except pointers" },
		{ WS_STRIP_PTX, "PTX" },
		{ WS_STRIP_PATHS, "folder names" },
	};
	bool first = true;
	for (size_t i = 0; i < WSI_COUNT(lost); i++) {
		if (!(stripped & lost[i].flag))
			continue;
		wsi_say(page, "%s%s", first ? "" : ", ", lost[i].words);
		first = false;
	}
}

bool wsi_has_place(const struct ws_report_frame *frame)
{
	return frame->line_status == WS_OK || frame->owner_short.len;
}

bool wsi_focus_is_cleared(const struct ws_report_exception *e)
{
	return e->at.lane < WS_MAX_LANES && (e->lanes_blamed & ~e->lanes_suspect) >> e->at.lane & 1;
}

bool wsi_has_clusters(const struct ws_report *report, const struct ws_report_exception *e)
{
	if (e->kernel == WS_NONE)
		return false;
	const struct ws_grid *grid = &report->kernels[e->kernel].grid;
	const struct ws_dim3 *dim = &grid->cluster_dim;
	return grid->have & WS_GRID_CLUSTER && (dim->x > 1 || dim->y > 1 || dim->z > 1);
}

const char wsi_foot[] =
	"Shown of registers and memory: kernel parameters, pointers, the addresses, "
	"descriptors and guards of accesses with the values that they are computed "
	"from, and the words and barriers that findings name; nothing else.";

void wsi_say_resident(struct wsi_page *page, const struct ws_report_kernel *kernel)
{
	uint64_t all = wsi_dim3_count(kernel->grid.grid_dim);
	if (all < kernel->resident_blocks) /* a damaged row */
		wsi_say(page, ", %u block%s %s", kernel->resident_blocks,
			wsi_plural(kernel->resident_blocks), wsi_resident_word(page->report));
	else
		wsi_say(page, ", %u of %" PRIu64 " block%s %s", kernel->resident_blocks, all,
			wsi_plural(all), wsi_resident_word(page->report));
}

bool wsi_time_text(uint32_t seconds, char text[WSI_TIME_TEXT])
{
	time_t when = (time_t)seconds;
	struct tm utc;
	return gmtime_r(&when, &utc) &&
	       strftime(text, WSI_TIME_TEXT, "%Y-%m-%d %H:%M:%S UTC", &utc);
}

struct ws_str wsi_tool_version(struct ws_str version)
{
	for (size_t i = version.len; i > 0; i--) {
		if (version.ptr[i - 1] == ' ')
			return (struct ws_str){ version.ptr + i, version.len - i };
	}
	return version;
}

const char *wsi_lines_words(const struct ws_report_image *image)
{
	static const char *const words[] = {
		[WS_LINES_PRESENT] = "yes",
		[WS_LINES_NOT_BUILT] = "no: compiled without -lineinfo",
		[WS_LINES_REMOVED] =
			"no: compiled with lines, which were removed from the image later",
		[WS_LINES_UNKNOWN] = "no, and the image does not say why",
	};
	if (image->lines_borrowed_from)
		return "not in the dump; taken from the same code in ";
	if (image->lines == WS_LINES_PRESENT && image->facts.has_debug_info)
		return "yes, with variables (-G)";
	return words[image->lines];
}

/* [public doc: CUDBGCoredumpGenerationFlags] */
void wsi_say_left_out(struct wsi_page *page, uint32_t flags)
{
	static const char *const skipped[] = { "module images as compiled",
					       "global memory",
					       "shared memory",
					       "local memory",
					       NULL,
					       "constant banks" };
	const char *comma = "";
	for (unsigned i = 0; i < WSI_COUNT(skipped); i++) {
		if (skipped[i] && flags >> i & 1) {
			wsi_say(page, "%s%s", comma, skipped[i]);
			comma = ", ";
		}
	}
	if (!*comma)
		wsi_say(page, "nothing");
}

char wsi_render_state_letter(enum ws_thread_state state)
{
	static const char letters[] = { [WS_THREAD_FAULTED] = 'F',
					[WS_THREAD_TRAPPED] = 'T',
					[WS_THREAD_BARRIER] = 'B',
					[WS_THREAD_ACTIVE] = 'A',
					[WS_THREAD_DIVERGENT] = 'D' };
	return (size_t)state < sizeof letters ? letters[state] : 'D';
}

const char *wsi_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

const struct ws_report_frame *wsi_user_frame(const struct ws_report_frame *frames, uint32_t n,
					     uint32_t user)
{
	return user != WS_NONE ? &frames[user] : n ? &frames[0] : NULL;
}

uint32_t wsi_render_rows(const struct wsi_page *page, uint32_t n)
{
	uint32_t most = page->rich ? 300 : 20;
	return page->options.all || n <= most ? n : most;
}

struct ws_str wsi_shown_name(const struct wsi_page *page, struct ws_str full, struct ws_str brief)
{
	return page->options.full_names || full.len <= WSI_WIDE_NAME ? full : brief;
}

void wsi_say_status(struct wsi_page *page, enum ws_status status)
{
	wsi_render_run(page, WSI_NONE, "%s", ws_missing_word(status));
}

void wsi_say_more(struct wsi_page *page, uint32_t n)
{
	if (n == 0)
		return;
	wsi_render_element(page, WSI_MORE);
	wsi_say(page, "%u more (--all)", n);
}

void wsi_say_function(struct wsi_page *page, const struct ws_report_frame *frame, bool brief)
{
	if (frame->function_status != WS_OK) {
		wsi_render_run(page, WSI_NONE, "?? (%s)",
			       function_missing(page->report, frame->function_status));
		return;
	}
	wsi_str(page, WSI_CODE,
		brief ? frame->function_short
		      : wsi_shown_name(page, frame->function, frame->function_short));
}

void wsi_say_offset(struct wsi_page *page, const struct ws_report_frame *frame)
{
	if (frame->owner_short.len == 0)
		return;
	wsi_say(page, "  ");
	wsi_str(page, WSI_SOFT, frame->owner_short);
	wsi_render_run(page, WSI_SOFT, "+0x%" PRIx64, frame->rel_pc);
}

void wsi_say_path(struct wsi_page *page, struct ws_str file, uint32_t line)
{
	wsi_str(page, WSI_PLAIN, file);
	if (line)
		wsi_say(page, ":%u", line);
}

void wsi_say_line(struct wsi_page *page, const struct ws_report_frame *frame)
{
	struct ws_str name = wsi_report_file_name(frame->file), owner = frame->owner_short;
	if (frame->line_status != WS_OK && owner.len)
		wsi_render_run(page, WSI_CODE, "%.*s+0x%" PRIx64, (int)wsi_min_u64(owner.len, 60),
			       owner.ptr, frame->rel_pc);
	else if (frame->line_status != WS_OK)
		wsi_render_run(page, WSI_CODE, "0x%" PRIx64, frame->pc);
	else if (frame->line)
		wsi_render_run(page, WSI_CODE, "%.*s:%u", (int)wsi_min_u64(name.len, 60), name.ptr,
			       frame->line);
	else
		wsi_render_run(page, WSI_CODE, "%.*s", (int)wsi_min_u64(name.len, 60), name.ptr);
}

static void say_hardware(struct wsi_page *page, const struct ws_report_thread *at,
			 const char *comma)
{
	const struct {
		const char *name;
		uint32_t id;
	} parts[] = { { "device", at->device },
		      { "sm", at->sm },
		      { "warp", at->warp },
		      { "lane", at->lane } };
	for (size_t i = 0; i < WSI_COUNT(parts); i++) {
		if (parts[i].id == WS_NONE)
			continue;
		wsi_say(page, "%s%s %u", comma, parts[i].name, parts[i].id);
		comma = ", ";
	}
}

void wsi_say_hardware(struct wsi_page *page, const struct ws_report_thread *at)
{
	say_hardware(page, at, "");
}

void wsi_say_thread(struct wsi_page *page, const struct ws_report_thread *at)
{
	const char *comma = "";
	if (at->block_status == WS_OK) {
		wsi_say(page, "block ");
		wsi_dim(page, at->block);
		comma = ", ";
	}
	if (at->lane != WS_NONE) {
		wsi_say(page, "%sthread ", comma);
		wsi_dim(page, at->thread);
		comma = ", ";
	}
	say_hardware(page, at, comma);
}

void wsi_cell_thread(struct wsi_page *page, const struct ws_report_thread *at)
{
	wsi_cell(page, "");
	if (at->block_status != WS_OK || at->lane == WS_NONE) {
		if (at->device != WS_NONE)
			wsi_say(page, "device %u ", at->device);
		wsi_say(page, "sm %u", at->sm);
		if (at->device != WS_NONE && at->warp != WS_NONE)
			wsi_say(page, " warp %u", at->warp);
		return;
	}
	wsi_dim(page, at->block);
	wsi_say(page, " ");
	wsi_dim(page, at->thread);
	if (!page->rich)
		return;
	wsi_say(page, ", ");
	wsi_say_hardware(page, at);
}

void wsi_say_claim(struct wsi_page *page, const struct ws_report_claim *claim)
{
	const char *sure = ws_confidence_text(claim->confidence);
	bool evidence = claim->evidence && (!page->rich || *claim->evidence);
	if (page->rich) {
		wsi_render_run(page, (enum wsi_look)claim->confidence, "%s", sure);
		wsi_say(page, " ");
	} else if (page->shape == WSI_PROSE) {
		wsi_say(page, "%s: ", sure);
	}
	wsi_sentence(page, WSI_PLAIN, claim->text);
	if (page->rich && evidence) {
		wsi_sentence(page, WSI_EVIDENCE, claim->evidence);
	} else if (page->shape != WSI_PROSE && !page->rich) {
		wsi_say(page, evidence ? " (%s: " : " (%s", sure);
		if (evidence)
			wsi_sentence(page, WSI_PLAIN, claim->evidence);
		wsi_say(page, ")");
	} else if (evidence) {
		wsi_say(page, " (");
		wsi_sentence(page, WSI_PLAIN, claim->evidence);
		wsi_say(page, ")");
	}
}

void wsi_render_fact_claim(struct wsi_page *page, const char *label,
			   const struct ws_report_claim *claim)
{
	if (!claim->text)
		return;
	wsi_label(page, label);
	wsi_say_claim(page, claim);
}
