/* SPDX-License-Identifier: Apache-2.0 */
/* info sections, metadata: what only a file has. */
#include "verbs/info/info.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <warpscope/core.h>

enum { VERSION_TEXT = 24 };

/* ---- sections ---- */

static const struct ws_rows_column section_columns[] = {
	{ "Idx", "index", 0 },
	{ "Name", "name", WS_ROWS_LEFT },
	{ "Kind", "kind", WS_ROWS_LEFT },
	{ "Type", "type", 0 },
	{ "Link", "link", 0 },
	{ "Row", "info", 0 },
	{ "Rows", "rows", 0 },
	{ "Stride", "stride", 0 },
	{ "Size", "size", 0 },
	{ "Present", "bytes_present", 0 },
	{ "Address", "address", 0 },
	{ "Offset", "file_off", 0 },
	{ "Header", "header_off", WS_ROWS_WIDE },
};

static void produce_sections(struct ws_rows *rows, void *user)
{
	const struct wsi_info *info = user;
	const struct ws_core *core = ws_target_core(info->threads->target);
	uint32_t n = ws_core_n_sections(core);
	for (uint32_t i = 0; i < n; i++) {
		struct ws_core_section section;
		if (ws_core_section(core, i, &section, NULL) != WS_OK)
			continue;
		ws_rows_begin(rows, false);
		ws_rows_number(rows, i);
		ws_rows_if(rows, 1, section.name.len);
		ws_rows_str(rows, section.name);
		ws_rows_if(rows, 1, section.words);
		ws_rows_text(rows, section.words);
		ws_rows_hex(rows, section.type, 8);
		ws_rows_number(rows, section.link);
		ws_rows_number(rows, section.info);
		ws_rows_number(rows, section.rows);
		ws_rows_number(rows, section.stride);
		ws_rows_number(rows, section.size);
		ws_rows_number(rows, section.present);
		ws_rows_hex(rows, section.address, 1);
		ws_rows_hex(rows, section.file_off, 1);
		ws_rows_hex(rows, section.header_off, 1);
		ws_rows_end(rows);
	}
}

static void not_a_file(struct wsi_info *info)
{
	info->status = wsi_fail(info->err, WS_ABSENT, WS_NO_OFFSET, "only a dump file has this");
	wsi_info_nothing(info);
}

void wsi_info_sections(struct wsi_info *info)
{
	if (ws_target_core(info->threads->target))
		INFO_ROWS(info, section_columns, produce_sections);
	else
		not_a_file(info);
}

/* ---- metadata ---- */

/* Flags by their words; bits without a name in hexadecimal. */
static void flags_text(uint32_t flags, char *text, size_t size)
{
	size_t at = 0;
	snprintf(text, size, "none");
	for (uint32_t flag = 1; flag && at < size; flag <<= 1) {
		const char *word = ws_dump_flag_text(flag);
		if (!word)
			continue;
		if (flags & flag)
			at += (size_t)snprintf(text + at, size - at, "%s%s", at ? "," : "", word);
		flags &= ~flag;
	}
	if (flags && at < size)
		snprintf(text + at, size - at, "%s0x%x", at ? "," : "", flags);
}

static void time_text(uint32_t timestamp, char *text, size_t size)
{
	time_t seconds = (time_t)timestamp;
	struct tm parts;
	if (!gmtime_r(&seconds, &parts) || !strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &parts))
		snprintf(text, size, "%u", timestamp);
}

static void file_line(struct ws_out *out, const char *name, const char *text)
{
	ws_out_printf(out, "%-10s ", name);
	ws_out_escaped(out, ws_str_of(text));
	ws_out_text(out, "\n");
}

/* Only the metadata has versions, and not always: dumps of the software GPU have neither, those of
 * Tegra no driver's. */
static void version_json(struct ws_json *json, const char *key, uint32_t major, uint32_t minor)
{
	char text[VERSION_TEXT];
	snprintf(text, sizeof text, "%u.%u", major, minor);
	if (ws_json_key_given(json, key, major ? WS_OK : WS_ABSENT))
		ws_json_text(json, text);
}

static void version_line(struct ws_out *out, const char *name, uint32_t major, uint32_t minor)
{
	char text[VERSION_TEXT];
	snprintf(text, sizeof text, "%u.%u", major, minor);
	file_line(out, name, major ? text : "-");
}

static void metadata_json(struct ws_json *json, const struct ws_dump_facts *facts)
{
	char text[256];
	enum ws_status why = WS_ABSENT;
	ws_json_object(json);
	ws_json_key_str(json, "path", ws_str_of(facts->path));
	ws_json_key_u64(json, "bytes", facts->bytes);
	ws_json_key_bool(json, "complete", facts->complete);
	ws_json_key_text(json, "layout", facts->layout);
	ws_json_key_bool(json, "classic", facts->classic);
	if (ws_json_key_given(json, "generator", facts->have_metadata ? WS_OK : why))
		ws_json_str(json, facts->generator);
	version_json(json, "driver", facts->driver_major, facts->driver_minor);
	version_json(json, "cuda", facts->cuda_major, facts->cuda_minor);
	if (facts->have_flags) {
		ws_json_key_u64(json, "flags", facts->flags);
		flags_text(facts->flags, text, sizeof text);
		ws_json_key_text(json, "flags_text", text);
	} else {
		ws_json_missing(json, "flags", why);
	}
	if (facts->have_time) {
		ws_json_key_u64(json, "timestamp", facts->timestamp);
		time_text(facts->timestamp, text, sizeof text);
		ws_json_key_text(json, "time", text);
	} else {
		ws_json_missing(json, "timestamp", why);
	}
	ws_json_end(json);
}

static void metadata_text(struct ws_out *out, const struct ws_dump_facts *facts)
{
	char text[256];
	file_line(out, "Path", facts->path);
	snprintf(text, sizeof text, "%llu", (unsigned long long)facts->bytes);
	file_line(out, "Bytes", text);
	file_line(out, "Complete", facts->complete ? "yes" : "no; see: warpscope check");
	file_line(out, "Layout", facts->layout);
	file_line(out, "Back end", facts->classic ? "classic: pcs are host addresses" : "unified");
	if (facts->have_metadata) {
		ws_out_printf(out, "%-10s ", "Generator");
		ws_out_escaped(out, facts->generator);
		ws_out_text(out, "\n");
		version_line(out, "Driver", facts->driver_major, facts->driver_minor);
		version_line(out, "CUDA", facts->cuda_major, facts->cuda_minor);
	} else {
		file_line(out, "Generator", "- (drivers before r565 do not say)");
	}
	flags_text(facts->flags, text, sizeof text);
	file_line(out, "Flags", facts->have_flags ? text : "-");
	time_text(facts->timestamp, text, sizeof text);
	file_line(out, "Time", facts->have_time ? text : "-");
}

void wsi_info_metadata(struct wsi_info *info)
{
	struct ws_dump_facts facts;
	if (ws_target_dump_facts(info->threads->target, &facts, NULL) != WS_OK)
		not_a_file(info);
	else if (info->json)
		metadata_json(info->json, &facts);
	else
		metadata_text(info->out, &facts);
}
