/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `warpscope info DUMP TABLE --json` prints, without the program: 03-answer DUMP TABLE
 */
#include <stdio.h>

#include <warpscope/verbs.h>

/* Where the bytes of the answer go; a page or an editor would keep them. */
static bool answer_write(void *user, const char *bytes, size_t len)
{
	return fwrite(bytes, 1, len, user) == len;
}

static enum ws_status answer(const struct ws_target *target, const char *table,
			     struct ws_error *err)
{
	struct ws_out out;
	struct ws_threads threads;
	struct ws_info_told told;
	const struct ws_info info = { .table = table };
	const struct ws_answer_style style = { .out = &out, .json = true };
	ws_out_init(&out, answer_write, stdout);
	enum ws_status st = ws_threads_init(&threads, target, NULL, err);
	if (st != WS_OK)
		return st;
	st = ws_info_answer(&threads, &info, &style, &told, err);
	ws_threads_fini(&threads);
	return st != WS_OK ? st : ws_out_flush(&out, err);
}

int main(int argc, char **argv)
{
	struct ws_error err;
	struct ws_target *target;
	if (argc != 3) {
		fprintf(stderr, "usage: 03-answer DUMP TABLE\n");
		return 1;
	}
	enum ws_status st = ws_core_open(argv[1], NULL, &target, &err);
	if (st == WS_OK) {
		st = answer(target, argv[2], &err);
		ws_target_close(target);
	}
	if (st != WS_OK)
		fprintf(stderr, "%s\n", err.message);
	return st != WS_OK;
}
