/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope symbolize: code places on standard input, chains of calls on standard output. */
#include "lines/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbolizer {
	struct cli *cli;
	struct images images;
	const char *path, *arch;
	bool full_names;
	struct ws_json json;
	size_t n_answers;
};

/* ---- places ---- */

/* NAME or NAME+OFFSET; the name is cut out of `text`, which must be writable. */
static bool split_place(char *text, uint64_t *ret_offset)
{
	char *plus = strrchr(text, '+');
	*ret_offset = 0;
	if (!plus)
		return true;
	uint64_t offset;
	if (!cli_number(plus + 1, &offset)) /* "operator+" */
		return true;
	*plus = '\0';
	*ret_offset = offset;
	return plus != text;
}

static const struct ws_function *find_function(struct ws_cubin *cubin, const char *name)
{
	const struct ws_function *functions;
	size_t n;
	if (ws_cubin_find_function(cubin, ws_str_of(name), &functions, NULL) == WS_OK)
		return functions;
	if (ws_cubin_functions(cubin, &functions, &n, NULL) != WS_OK)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (functions[i].section && name_is(&functions[i], name))
			return &functions[i];
	}
	return NULL;
}

/* Where in a module a place is. */
static enum ws_status find_place(struct ws_cubin *cubin, const char *name, bool is_address,
				 uint64_t number, struct ws_place *ret_place, struct ws_error *err)
{
	if (is_address)
		return ws_cubin_find_address(cubin, number, ret_place, err);
	const struct ws_function *function = find_function(cubin, name);
	if (!function || !function->section)
		return WS_ABSENT;
	return ws_cubin_find_offset(cubin, function->section, function->sec_off + number, ret_place,
				    err);
}

/* ---- answers ---- */

static void json_place(struct symbolizer *s, const char *place)
{
	ws_json_object(&s->json);
	ws_json_key_text(&s->json, "place", place);
}

static void answer_lines(struct symbolizer *s, const char *place, const struct image *image,
			 const struct ws_place *at)
{
	struct ws_line_pos pos[POSITIONS_MAX];
	size_t n = 0;
	struct ws_error err;
	enum ws_status st = ws_cubin_line_find(image->cubin, at->section, at->sec_off, pos,
					       POSITIONS_MAX, &n, &err);
	s->n_answers += st == WS_OK;
	if (s->cli->json) {
		char arch[16];
		image_arch(image, arch, sizeof arch);
		json_place(s, place);
		ws_json_key_u64(&s->json, "image", image->index);
		ws_json_key_text(&s->json, "arch", arch);
		if (st == WS_OK) {
			ws_json_key(&s->json, "positions");
			json_chain(&s->json, pos, n);
		} else {
			ws_json_missing(&s->json, "positions", st);
		}
		ws_json_end(&s->json);
		return;
	}
	ws_out_escaped(&s->cli->out, ws_str_of(place));
	ws_out_text(&s->cli->out, "\n");
	if (st == WS_OK)
		print_chain(&s->cli->out, pos, n, s->full_names);
	else
		ws_out_printf(&s->cli->out, "  ? %s\n", err.message);
	ws_out_text(&s->cli->out, "\n");
}

static void answer_unknown(struct symbolizer *s, const char *place)
{
	if (s->cli->json) {
		json_place(s, place);
		ws_json_missing(&s->json, "positions", WS_ABSENT);
		ws_json_end(&s->json);
		return;
	}
	ws_out_escaped(&s->cli->out, ws_str_of(place));
	ws_out_text(&s->cli->out, "\n  ? no such code\n\n");
}

/* The first image that has the place answers. */
static void answer(struct symbolizer *s, const char *place)
{
	uint64_t number;
	bool is_address = cli_number(place, &number);
	char *name = cli_copy(place, strlen(place));
	bool valid = is_address || split_place(name, &number);
	bool found = false;
	for (size_t i = 0; i < s->images.n && valid && !found; i++) {
		struct ws_place at;
		found = find_place(s->images.item[i].cubin, name, is_address, number, &at, NULL) ==
			WS_OK;
		if (found)
			answer_lines(s, place, &s->images.item[i], &at);
	}
	if (!found)
		answer_unknown(s, place);
	free(name);
}

static void answer_input(struct symbolizer *s)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	while ((len = getline(&line, &cap, stdin)) >= 0) {
		while (len > 0 && strchr("\r\n\t ", line[len - 1]))
			line[--len] = '\0';
		if (len > 0)
			answer(s, line);
		/* someone may be waiting at the other end of a pipe; a failure is told at the end
		 */
		if (ws_out_flush(&s->cli->out, NULL) != WS_OK)
			break;
	}
	free(line);
}

static void answer_all(struct symbolizer *s, int n, char **places)
{
	if (s->cli->json) {
		ws_json_begin(&s->json, &s->cli->out, "warpscope-symbolize-1");
		ws_json_key_text(&s->json, "path", s->path);
		ws_json_key_array(&s->json, "answers");
	}
	for (int i = 0; i < n; i++)
		answer(s, places[i]);
	if (n == 0)
		answer_input(s);
	if (s->cli->json) {
		ws_json_end(&s->json);
		ws_json_end(&s->json);
	}
}

const struct cli_option verb_symbolize_options[] = {
	{ "arch", 0, CLI_TEXT, .at = offsetof(struct symbolizer, arch) },
	{ "full-names", 0, CLI_FLAG, .at = offsetof(struct symbolizer, full_names) },
	{ 0 },
};

int verb_symbolize(struct cli *cli, int argc, char **argv)
{
	struct symbolizer s = { .cli = cli };
	int status = cli_options_take(cli, verb_symbolize_options, &s, &argc, &argv);
	if (status == CLI_ANSWERED && argc == 0)
		status = cli_usage("symbolize", "a FILE is needed");
	if (status != CLI_ANSWERED)
		return status;
	s.path = argv[0];
	status = images_open(cli, "symbolize", s.path, s.arch, &s.images);
	if (status == CLI_ANSWERED) {
		answer_all(&s, argc - 1, argv + 1);
		status = s.n_answers ? CLI_ANSWERED : CLI_NO_ANSWER;
	}
	images_close(&s.images);
	return status;
}
