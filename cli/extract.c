/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope extract DUMP WHAT -o FILE: images, PTX, sections and memory of a dump as files. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/core.h>
#include <warpscope/cubin.h>

#include "session.h"

struct extract {
	struct cli_session session;
	const char *output, *path;
	bool original;
	struct ws_cubin *cubin; /* owned */
	uint64_t written;       /* bytes */
	bool truncated;         /* there were more in what was dumped */
};

static int image_take(struct extract *extract, struct ws_span bytes)
{
	struct ws_error err;
	extract->written = bytes.len;
	if (strcmp(extract->output, "-") == 0) {
		ws_out_bytes(&extract->session.cli->out, (const char *)bytes.ptr, bytes.len);
		return CLI_ANSWERED;
	}
	if (ws_file_replace(extract->output, bytes, extract->path, &err) != WS_OK)
		return cli_fail(extract->output, &err);
	return CLI_ANSWERED;
}

/* ---- images ---- */

static struct ws_span form_of(const struct extract *extract, const struct ws_module *module)
{
	return extract->original ? module->original : module->relocated;
}

/* Whether an image's code identity begins with `digits`. */
static bool has_identity(struct ws_span bytes, const char *digits)
{
	struct ws_cubin *cubin;
	struct ws_code_id id;
	char text[WS_CODE_ID_TEXT];
	if (bytes.len == 0 || ws_cubin_open(bytes, &cubin, NULL) != WS_OK)
		return false;
	bool found = ws_cubin_image_id(cubin, &id, NULL) == WS_OK;
	if (found)
		ws_code_id_text(&id, text);
	ws_cubin_close(cubin);
	return found && strncmp(text, digits, strlen(digits)) == 0;
}

/* The bytes of the image that `name` means. An exit status. */
static int find_image_named(struct extract *extract, const char *name, struct ws_span *ret_bytes)
{
	uint64_t number;
	struct ws_module module;
	bool is_number =
		cli_number(name, &number) && number < extract->session.threads.counts.modules;
	uint32_t found = WS_NONE;
	for (uint32_t i = 0; i < extract->session.threads.counts.modules && found == WS_NONE; i++) {
		if (ws_target_module(extract->session.target, i, &module, NULL) != WS_OK)
			continue;
		if (is_number ? i == number : has_identity(form_of(extract, &module), name))
			found = i;
	}
	if (found == WS_NONE) {
		cli_warn("%s: no module %s; there are %u, see: warpscope info", extract->path, name,
			 extract->session.threads.counts.modules);
		return CLI_NO_ANSWER;
	}
	enum ws_status status =
		extract->original ? module.original_status : module.relocated_status;
	*ret_bytes = form_of(extract, &module);
	if (ret_bytes->len == 0) {
		cli_warn("%s: the %s image of module %u: %s", extract->path,
			 extract->original ? "original" : "relocated", found,
			 ws_status_text(status));
		return CLI_NO_ANSWER;
	}
	extract->truncated = status != WS_OK;
	if (extract->truncated)
		cli_warn("%s: the image of module %u is truncated: %zu bytes are left",
			 extract->path, found, ret_bytes->len);
	return CLI_ANSWERED;
}

static int extract_image(struct extract *extract, const char *name)
{
	struct ws_span bytes;
	int status = find_image_named(extract, name, &bytes);
	return status == CLI_ANSWERED ? image_take(extract, bytes) : status;
}

/* PTX is kept as lines that end in NUL [measured: nvcc 13.0 cubins]: as text they end in newlines.
 */
static int take_ptx(struct extract *extract, struct ws_span text)
{
	char *lines = cli_alloc(text.len + 1, 1);
	for (size_t i = 0; i < text.len; i++)
		lines[i] = text.ptr[i] ? (char)text.ptr[i] : '\n';
	int status = image_take(extract, (struct ws_span){ (const uint8_t *)lines, text.len, 0 });
	free(lines);
	return status;
}

static int extract_ptx(struct extract *extract, const char *name)
{
	struct ws_span bytes;
	struct ws_error err;
	struct ws_section section;
	uint32_t index;
	int status = find_image_named(extract, name, &bytes);
	if (status != CLI_ANSWERED)
		return status;
	enum ws_status st = ws_cubin_open(bytes, &extract->cubin, &err);
	if (st == WS_OK)
		st = ws_cubin_find_section(extract->cubin, ".nv_debug_ptx_txt", &index, &err);
	if (st == WS_OK)
		st = ws_cubin_section(extract->cubin, index, &section, &err);
	if (st == WS_OK)
		return take_ptx(extract, section.bytes);
	if (st != WS_ABSENT)
		return cli_fail(extract->path, &err);
	cli_warn("%s: module %s carries no PTX", extract->path, name);
	return CLI_NO_ANSWER;
}

/* ---- sections ---- */

static int extract_section(struct extract *extract, const char *name)
{
	const struct ws_core *core = ws_target_core(extract->session.target);
	if (!core) {
		cli_warn("%s: is not a file with sections", extract->path);
		return CLI_NO_ANSWER;
	}
	uint64_t number;
	bool is_number = cli_number(name, &number);
	for (uint32_t i = 0; i < ws_core_n_sections(core); i++) {
		struct ws_core_section section;
		if (ws_core_section(core, i, &section, NULL) != WS_OK)
			continue;
		if (is_number ? i != number : !ws_str_equal(section.name, ws_str_of(name)))
			continue;
		struct ws_span bytes;
		struct ws_error err;
		extract->truncated = section.present < section.size;
		if (extract->truncated)
			cli_warn("%s: section %u is truncated: %" PRIu64 " of %" PRIu64
				 " bytes are left",
				 extract->path, i, section.present, section.size);
		if (ws_core_section_bytes(core, i, &bytes, &err) != WS_OK)
			return cli_fail(extract->path, &err);
		return image_take(extract, bytes);
	}
	cli_warn("%s: no section %s", extract->path, name);
	return CLI_NO_ANSWER;
}

/* ---- memory ---- */

struct first_lane {
	bool found;
	struct ws_address at;
};

static void take_first_lane(void *user, const struct ws_resident *place)
{
	struct first_lane *first = user;
	if (first->found)
		return;
	first->found = true;
	first->at.warp_index = place->warp_index;
	first->at.lane = place->n_lanes ? place->lanes[0].id : WS_NONE;
	first->at.device_index = place->warp.device_index;
}

/* Whose memory: the focus, or the first thread that the filter lets through. */
static int find_owner(struct extract *extract, int argc, char **argv, struct ws_address *at)
{
	struct ws_filter filter;
	const char *bad;
	struct first_lane first = { .found = extract->session.threads.have_focus && argc == 0 };
	if (!ws_filter_parse(&filter, &extract->session.threads.at, argc, argv, &bad))
		return cli_usage("extract", "cannot read the filter at \"%s\"", bad);
	if (first.found) {
		first.at.warp_index = extract->session.threads.focus.warp_index;
		first.at.lane = extract->session.threads.focus.lane;
	} else {
		ws_threads_walk(&extract->session.threads, &filter, WS_WALK_LANES, take_first_lane,
				&first);
	}
	if (!first.found && argc > 0) {
		cli_warn("%s: no thread matches", extract->path);
		return CLI_NO_ANSWER;
	}
	at->warp_index = first.found ? first.at.warp_index : WS_NONE;
	at->lane = first.found ? first.at.lane : WS_NONE;
	return CLI_ANSWERED;
}

static int extract_memory(struct extract *extract, const char *text, int argc, char **argv)
{
	struct cli_range range;
	struct ws_error err;
	if (!cli_range(text, &range))
		return cli_usage("extract", "memory takes SPACE:ADDRESS+LENGTH, not \"%s\"", text);
	struct ws_address at = { .space = range.space,
				 .bank = range.bank,
				 .device_index = WS_NONE,
				 .grid_index = WS_NONE,
				 .address = range.address };
	int status = find_owner(extract, argc, argv, &at);
	if (status != CLI_ANSWERED)
		return status;
	if (range.len > (UINT64_C(1) << 32))
		return cli_usage("extract", "more than a file can hold");
	uint8_t *bytes = cli_alloc((size_t)range.len, 1);
	size_t n = 0;
	enum ws_status st = ws_target_read_memory(extract->session.target, &at, bytes,
						  (size_t)range.len, &n, &err);
	if (st != WS_OK)
		status = cli_fail(extract->path, &err);
	else
		status = image_take(extract, (struct ws_span){ bytes, n, 0 });
	extract->truncated = n < range.len;
	free(bytes);
	return status;
}

/* ---- the verb ---- */

static int extract_run(struct extract *extract, int argc, char **argv)
{
	const char *what = argv[0], *name = argv[1];
	if (strcmp(what, "memory") == 0)
		return extract_memory(extract, name, argc - 2, argv + 2);
	if (argc > 2)
		return cli_usage("extract", "one %s at a time", what);
	if (strcmp(what, "image") == 0)
		return extract_image(extract, name);
	if (strcmp(what, "ptx") == 0)
		return extract_ptx(extract, name);
	if (strcmp(what, "section") == 0)
		return extract_section(extract, name);
	return cli_usage("extract", "image, ptx, section or memory; not \"%s\"", what);
}

static void print_extract_json(struct extract *extract, const char *what, const char *name)
{
	struct ws_json json;
	ws_json_begin(&json, &extract->session.cli->out, "warpscope-extract-1");
	ws_json_key_text(&json, "dump", extract->path);
	ws_json_key_text(&json, "part", what);
	ws_json_key_text(&json, "which", name);
	ws_json_key_text(&json, "output", extract->output);
	ws_json_key_u64(&json, "bytes", extract->written);
	ws_json_key_bool(&json, "truncated", extract->truncated);
	ws_json_end(&json);
}

const struct cli_option verb_extract_options[] = {
	{ "output", 'o', CLI_TEXT, .at = offsetof(struct extract, output) },
	{ "original", 0, CLI_FLAG, .at = offsetof(struct extract, original) },
	{ 0 },
};

int verb_extract(struct cli *cli, int argc, char **argv)
{
	struct extract extract = { 0 };
	int status = cli_options_take(cli, verb_extract_options, &extract, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	if (argc < 3)
		return cli_usage("extract",
				 "a dump, image, ptx, section or memory, and which one are needed");
	if (!extract.output)
		return cli_usage("extract", "-o FILE is needed");
	if (strcmp(extract.output, "-") == 0 && cli->json)
		return cli_usage("extract", "standard output takes the bytes or, with --json, what "
					    "was written: name a file");
	if (strcmp(extract.output, "-") == 0 && cli->terminal)
		return cli_usage("extract", "standard output is a terminal, and the bytes are "
					    "written as they are: name a file, or append | xxd");
	extract.path = argv[0];
	status = session_open(&extract.session, cli, extract.path);
	if (status != CLI_ANSWERED)
		return status;
	status = extract_run(&extract, argc - 1, argv + 1);
	if (status == CLI_ANSWERED && cli->json)
		print_extract_json(&extract, argv[1], argv[2]);
	ws_cubin_close(extract.cubin);
	session_close(&extract.session);
	return status;
}
