/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope symbolize: code places on standard input, chains of calls on standard output. */
#include "images.h"

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

/* ---- answers ---- */

static void symbol_answer(struct symbolizer *s, const char *place)
{
	struct ws_symbolized answer;
	uint64_t number;
	const bool is_address = cli_number(place, &number);
	char *name = cli_copy(place, strlen(place));
	const bool is_valid = is_address || split_place(name, &number);
	ws_symbolize(s->images.code.item, is_valid ? s->images.code.n : 0, is_address ? NULL : name,
		     number, &answer);
	s->n_answers += answer.status == WS_OK;
	if (s->cli->json)
		ws_symbolized_json(&answer, place, &s->json);
	else
		ws_symbolized_text(&answer, place, s->full_names, &s->cli->out);
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
			symbol_answer(s, line);
		/* someone may be waiting at the other end of a pipe; a failure is told at the end
		 */
		if (ws_out_flush(&s->cli->out, NULL) != WS_OK)
			break;
	}
	free(line);
}

static void symbolize_all(struct symbolizer *s, int n, char **places)
{
	if (s->cli->json) {
		ws_json_begin(&s->json, &s->cli->out, "warpscope-symbolize-1");
		ws_json_key_text(&s->json, "path", s->path);
		ws_json_key_array(&s->json, "answers");
	}
	for (int i = 0; i < n; i++)
		symbol_answer(s, places[i]);
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
		symbolize_all(&s, argc - 1, argv + 1);
		status = s.n_answers ? CLI_ANSWERED : CLI_NO_ANSWER;
	}
	images_close(&s.images);
	return status;
}
