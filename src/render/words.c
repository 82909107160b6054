/* SPDX-License-Identifier: Apache-2.0 */
#include "render/words.h"

#include <time.h>

struct ws_str wsi_file_name(struct ws_str path)
{
	for (size_t i = path.len; i > 0; i--) {
		if (path.ptr[i - 1] == '/')
			return (struct ws_str){ path.ptr + i, path.len - i };
	}
	return path;
}

struct ws_str wsi_device_name(const struct ws_device *device)
{
	return device->name.len ? device->name : ws_str_of("(name lost)");
}

const char *wsi_function_missing(enum ws_status status)
{
	return status == WS_ABSENT        ? "not in this dump's code"
	       : status == WS_UNSUPPORTED ? "a host address"
					  : ws_missing_word(status);
}

uint32_t wsi_library_frames(const struct ws_report_exception *e, uint32_t start)
{
	uint32_t n = 0;
	if (e->user_frame == WS_NONE || start == 0)
		return 0;
	while (start + n < e->n_frames && start + n != e->pc_frames_from &&
	       e->frames[start + n].library)
		n++;
	return n > 1 ? n : 0;
}

static struct ws_str library_name(const struct ws_report_frame *frame)
{
	struct ws_str name = frame->function_short;
	for (size_t i = 0; i + 1 < name.len && name.ptr[i] != '<' && name.ptr[i] != '('; i++) {
		if (i > 0 && name.ptr[i] == ':' && name.ptr[i + 1] == ':')
			return (struct ws_str){ name.ptr, i };
	}
	return wsi_file_name(frame->file);
}

size_t wsi_library_names(const struct ws_report_exception *e, uint32_t from, uint32_t to,
			 struct ws_str names[WSI_LIBRARY_NAMES])
{
	size_t n = 0;
	for (uint32_t i = from; i < to && n < WSI_LIBRARY_NAMES; i++) {
		struct ws_str name = library_name(&e->frames[i]);
		bool again = false;
		for (size_t k = 0; k < n; k++)
			again |= ws_str_equal(names[k], name);
		if (!again)
			names[n++] = name;
	}
	return n;
}

const char *wsi_resident_word(const struct ws_report *report)
{
	bool dropped = report->dump_status == WS_OK && report->dump.stripped & WS_STRIP_OTHERS;
	return dropped ? "kept in this dump" : "resident";
}

void wsi_out_stripped(struct ws_out *out, uint32_t stripped)
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
		ws_out_printf(out, "%s%s", first ? "" : ", ", lost[i].words);
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

void wsi_out_resident(struct ws_out *out, const struct ws_report *report,
		      const struct ws_report_kernel *kernel)
{
	const struct ws_dim3 *dim = &kernel->grid.grid_dim;
	uint64_t all = (uint64_t)dim->x * dim->y;
	all = dim->z && all > UINT64_MAX / dim->z ? UINT64_MAX : all * dim->z;
	ws_out_printf(out, ", %u of %" PRIu64 " block%s %s", kernel->resident_blocks, all,
		      all == 1 ? "" : "s", wsi_resident_word(report));
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
void wsi_out_left_out(struct ws_out *out, uint32_t flags)
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
			ws_out_printf(out, "%s%s", comma, skipped[i]);
			comma = ", ";
		}
	}
	if (!*comma)
		ws_out_text(out, "nothing");
}

char wsi_state_letter(enum ws_thread_state state)
{
	static const char letters[] = { [WS_THREAD_FAULTED] = 'F',
					[WS_THREAD_TRAPPED] = 'T',
					[WS_THREAD_BARRIER] = 'B',
					[WS_THREAD_ACTIVE] = 'A',
					[WS_THREAD_DIVERGENT] = 'D' };
	return (size_t)state < sizeof letters ? letters[state] : 'D';
}

const char *wsi_lane_verdict(const struct ws_report_access *access, uint32_t lane)
{
	uint32_t bit = 1u << lane;
	if (access->null_like & bit)
		return "near null";
	if (access->noncanonical & bit)
		return "not a valid address";
	if (access->misaligned & bit)
		return "misaligned";
	if (access->outside & bit)
		return "outside the window";
	if (access->unmapped & bit)
		return "outside the dump's memory";
	if (access->cleared & bit)
		return "cannot be the cause";
	if (!((access->lanes_known | access->lanes_guess) & bit))
		return "address not known";
	return access->suspects & bit ? "can be the cause" : "";
}

const char *wsi_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}
