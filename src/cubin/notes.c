/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an image says about its build: e_flags and NVIDIA's two notes.
 *
 * `.note.nv.tkinfo` (owner "NVIDIA Corp", type 2000): u32 version 2, five u32 offsets from the end
 * of these 24 bytes: object name, tool, version, build, options; then the strings.
 * `.note.nv.cuinfo` (type 1000): u16 2, u16 virtual architecture, u32 toolkit (130 for 13.0).
 * [measured: nvcc 13.0; CUDA 11 and 12 write none]
 */
#include "cubin/internal.h"

enum { TKINFO_HEADER = 24 };

/* Description of the first note of a section, when it is one of NVIDIA's of this type. */
static bool note_find(const struct ws_cubin *cubin, uint32_t section, uint32_t type,
		      struct ws_span *ret_description)
{
	static const char owner[] = "NVIDIA Corp";
	struct wsi_reader r = wsi_reader_of(wsi_cubin_bytes(cubin, section));
	uint32_t name_len = wsi_read_u32(&r), len = wsi_read_u32(&r), found = wsi_read_u32(&r);
	if (r.failed || found != type || name_len != sizeof owner)
		return false;
	struct ws_span name = wsi_read_span(&r, sizeof owner); /* 12 bytes, no padding */
	*ret_description = wsi_read_span(&r, len);
	return !r.failed && memcmp(name.ptr, owner, sizeof owner) == 0;
}

static struct ws_str note_string(struct ws_span note, unsigned number)
{
	struct ws_str text = { "", 0 };
	uint64_t off = TKINFO_HEADER + (uint64_t)wsi_at_u32(note, 4 + 4 * (uint64_t)number);
	if (!wsi_span_cstr(note, off, &text))
		return (struct ws_str){ "", 0 };
	while (text.len > 0 && text.ptr[text.len - 1] == ' ') /* the options end in a space */
		text.len--;
	return text;
}

/* ABI 7 has the SM in byte 0 of e_flags, ABI 8 in byte 1 [measured]. */
static uint32_t architecture(const struct ws_cubin *cubin)
{
	if (cubin->elf.abi_version >= 8)
		return cubin->elf.flags >> 8 & 0xff;
	return cubin->elf.flags & 0xff;
}

/* The letter of "sm_90a" in the options; the header does not tell it. */
static char variant(struct ws_str options, uint32_t sm)
{
	char wanted[16];
	if (!wsi_format(wanted, "sm_%" PRIu32, sm))
		return 0;
	size_t len = strlen(wanted);
	for (size_t i = 0; i + len < options.len; i++) {
		if (memcmp(options.ptr + i, wanted, len) == 0) {
			char next = options.ptr[i + len];
			return next == 'a' || next == 'f' ? next : 0;
		}
	}
	return 0;
}

void ws_cubin_facts(const struct ws_cubin *cubin, struct ws_cubin_facts *ret_facts)
{
	struct ws_str none = { "", 0 };
	struct ws_cubin_facts facts = {
		.sm = architecture(cubin),
		.virtual_sm = WS_UNKNOWN,
		.abi_version = cubin->elf.abi_version,
		.toolkit = WS_UNKNOWN,
		.relocatable = cubin->elf.type == WSI_ET_REL,
		.relocated = cubin->relocated,
		.tool = none,
		.tool_version = none,
		.tool_build = none,
		.options = none,
		.has_lines = cubin->debug_line != 0,
		.has_debug_info = cubin->debug_info != 0,
		.has_ptx = cubin->line_sass != 0 && cubin->n_ptx > 0,
	};
	struct ws_span note;
	if (cubin->cuinfo && note_find(cubin, cubin->cuinfo, WSI_NOTE_CUINFO, &note) &&
	    note.len >= 8) {
		facts.virtual_sm = wsi_at_u16(note, 2);
		facts.toolkit = wsi_at_u32(note, 4);
	}
	if (cubin->tkinfo && note_find(cubin, cubin->tkinfo, WSI_NOTE_TKINFO, &note) &&
	    note.len >= TKINFO_HEADER) {
		facts.tool = note_string(note, 1);
		facts.tool_version = note_string(note, 2);
		facts.tool_build = note_string(note, 3);
		facts.options = note_string(note, 4);
		facts.variant = variant(facts.options, facts.sm);
	}
	*ret_facts = facts;
}

/* Whether one of the options, which spaces separate, is `wanted`. */
static bool has_option(struct ws_str options, const char *wanted)
{
	size_t len = strlen(wanted);
	for (size_t i = 0; i + len <= options.len; i++) {
		bool starts = i == 0 || options.ptr[i - 1] == ' ';
		bool ends = i + len == options.len || options.ptr[i + len] == ' ';
		if (starts && ends && memcmp(options.ptr + i, wanted, len) == 0)
			return true;
	}
	return false;
}

static enum ws_lines_why why_no_lines(const struct ws_cubin_facts *facts)
{
	static const char *const asking[] = { "-lineinfo", "--generate-line-info", "-g",
					      "--device-debug", "-G" };
	if (facts->has_lines)
		return WS_LINES_PRESENT;
	if (facts->tool.len == 0)
		return WS_LINES_UNKNOWN;
	for (size_t i = 0; i < WSI_COUNT(asking); i++) {
		if (has_option(facts->options, asking[i]))
			return WS_LINES_REMOVED;
	}
	/* a linker is not told what its objects were compiled with */
	return ws_str_equal(facts->tool, ws_str_of("nvlink")) ? WS_LINES_UNKNOWN
							      : WS_LINES_NOT_BUILT;
}

enum ws_lines_why ws_cubin_explain_lines(const struct ws_cubin *cubin, char *ret_text, size_t size)
{
	static const char *const text[] = {
		[WS_LINES_PRESENT] = "the image has line information",
		[WS_LINES_NOT_BUILT] =
			"the code was compiled without line information; rebuild with nvcc "
			"-lineinfo (NVRTC: --generate-line-info), which does not change the "
			"machine code",
		[WS_LINES_REMOVED] = "the code was compiled with line information, which was "
				     "removed from the image later; keep the unstripped build",
		[WS_LINES_UNKNOWN] = "the image has no line information and does not say how it "
				     "was compiled; rebuild with nvcc -lineinfo (NVRTC: "
				     "--generate-line-info)",
	};
	struct ws_cubin_facts facts;
	ws_cubin_facts(cubin, &facts);
	enum ws_lines_why why = why_no_lines(&facts);
	if (size > 0)
		(void)wsi_format_(ret_text, size, "%s", text[why]);
	return why;
}

const char *ws_cubin_lines_word(const struct ws_cubin *cubin)
{
	struct ws_cubin_facts facts;
	ws_cubin_facts(cubin, &facts);
	if (facts.has_debug_info)
		return "-G";
	if (facts.has_lines)
		return "-lineinfo";
	switch (ws_cubin_explain_lines(cubin, NULL, 0)) {
	case WS_LINES_PRESENT:
		return "yes";
	case WS_LINES_NOT_BUILT:
		return "not built";
	case WS_LINES_REMOVED:
		return "removed";
	case WS_LINES_UNKNOWN:
		break;
	}
	return "none";
}
