/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windows DUMP...: opens each dump mapped and through windows of several sizes, and compares all
 * that it answers: what core_walk() asks, what `check` finds, the report as text and JSON. Prints
 * TAP.
 */
#include <warpscope/report.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "walk.h"

/* What reads a dump for a source, and how much of it at most. */
struct reader {
	FILE *file;
	size_t most;      /* bytes handed out at a time */
	uint64_t n_bytes; /* of the file */
};

static size_t read_some(void *user, uint64_t off, void *buffer, size_t n)
{
	struct reader *reader = user;
	if (off + n > reader->n_bytes || fseeko(reader->file, (off_t)off, SEEK_SET) != 0)
		return 0;
	return fread(buffer, 1, n < reader->most ? n : reader->most, reader->file);
}

struct answers {
	enum ws_status status;
	char message[200];
	uint64_t walked, checked, text, json;
};

static bool mix(void *user, const char *bytes, size_t len)
{
	uint64_t *hash = user;
	for (size_t i = 0; i < len; i++)
		*hash = (*hash ^ (uint8_t)bytes[i]) * UINT64_C(0x100000001b3);
	return true;
}

static bool mix_finding(void *user, const struct ws_finding *finding)
{
	return mix(user, finding->message, strlen(finding->message)) &&
	       mix(user, (const char *)&finding->file_off, sizeof finding->file_off);
}

static void ask(const struct ws_target *target, struct answers *answers)
{
	struct ws_report_options options = { .size = sizeof options, .no_source = true };
	const struct ws_report *report;
	struct ws_check_summary summary;
	struct ws_out out;
	answers->walked = core_walk(target);
	if (ws_core_check(ws_target_core(target), mix_finding, &answers->checked, &summary, NULL) !=
	    WS_OK)
		answers->checked = 1;
	if (ws_report_create(target, &options, &report, NULL) != WS_OK)
		return;
	ws_out_init(&out, mix, &answers->text);
	if (ws_report_text(report, NULL, &out, NULL) != WS_OK || ws_out_flush(&out, NULL) != WS_OK)
		answers->text = 1;
	ws_out_init(&out, mix, &answers->json);
	ws_report_json(report, &out);
	if (ws_out_flush(&out, NULL) != WS_OK)
		answers->json = 1;
	ws_report_destroy(report);
}

/* `window_bytes` 0: mapped. */
static struct answers answers_of(const char *path, uint32_t window_bytes, size_t most,
				 uint64_t max_stored_bytes)
{
	struct ws_core_options options = { .size = sizeof options,
					   .max_stored_bytes = max_stored_bytes };
	struct answers answers = { 0 };
	struct ws_target *target = NULL;
	struct ws_error err = { .message = "" };
	struct reader reader = { .file = fopen(path, "rb"), .most = most };
	if (!reader.file || fseeko(reader.file, 0, SEEK_END) != 0) {
		perror(path);
		exit(2);
	}
	reader.n_bytes = (uint64_t)ftello(reader.file);
	struct ws_core_source source = { .size = sizeof source,
					 .n_bytes = reader.n_bytes,
					 .read = read_some,
					 .user = &reader,
					 .window_bytes = window_bytes };
	answers.status = window_bytes ? ws_core_open_source(&source, path, &options, &target, &err)
				      : ws_core_open(path, NULL, &target, &err);
	memcpy(answers.message, err.message, sizeof answers.message);
	if (answers.status == WS_OK) {
		ask(target, &answers);
		ws_target_close(target);
	}
	fclose(reader.file);
	return answers;
}

int main(int argc, char **argv)
{
	static const struct {
		uint32_t window_bytes;
		size_t most;
		uint64_t max_stored_bytes;
	} ways[] = { { 64, 7, 0 }, { 4096, SIZE_MAX, 1 }, { 1 << 18, 5000, 1 } };
	int failed = 0;
	printf("1..%d\n", argc - 1);
	for (int i = 1; i < argc; i++) {
		struct answers mapped = answers_of(argv[i], 0, 0, 0);
		bool good = true;
		for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
			struct answers got = answers_of(argv[i], ways[w].window_bytes, ways[w].most,
							ways[w].max_stored_bytes);
			bool same = got.status == mapped.status && got.walked == mapped.walked &&
				    got.checked == mapped.checked && got.text == mapped.text &&
				    got.json == mapped.json &&
				    strcmp(got.message, mapped.message) == 0;
			if (!same)
				printf("# windows of %u: status %d for %d (%s; %s), walked %d, "
				       "checked %d, text %d, json %d\n",
				       ways[w].window_bytes, got.status, mapped.status, got.message,
				       mapped.message, got.walked == mapped.walked,
				       got.checked == mapped.checked, got.text == mapped.text,
				       got.json == mapped.json);
			good = good && same;
		}
		const char *name = strrchr(argv[i], '/');
		printf("%s %d - %s\n", good ? "ok" : "not ok", i, name ? name + 1 : argv[i]);
		failed += !good;
	}
	return failed != 0;
}
