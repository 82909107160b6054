/* SPDX-License-Identifier: Apache-2.0 */
/* What `warpscope run` does when a kernel failed: the report, and the dump as CUDA would make it.
 */
#include "run/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <warpscope/core.h>
#include <warpscope/report.h>
#include <warpscope/sim_target.h>
#include <warpscope/write.h>

/* ---- CUDA's variables ---- */

enum { SKIP_ABORT = 1 << 4 }; /* nothing to do: a run never aborts */

static uint32_t flag_of(const char *word, size_t len)
{
	for (uint32_t flag = 1; flag; flag <<= 1) {
		const char *known = ws_dump_flag_text(flag);
		if (known && strlen(known) == len && memcmp(known, word, len) == 0)
			return flag & (WS_WRITE_KNOWN_FLAGS | SKIP_ABORT);
	}
	return 0;
}

static uint32_t flags_wanted(void)
{
	const char *at = getenv("CUDA_COREDUMP_GENERATION_FLAGS");
	uint32_t flags = 0;
	while (at && *at) {
		size_t n = strcspn(at, ",");
		uint32_t flag = flag_of(at, n);
		if (n > 0 && !flag)
			cli_warn("CUDA_COREDUMP_GENERATION_FLAGS: '%.*s' is not known", (int)n, at);
		flags |= flag & WS_WRITE_KNOWN_FLAGS;
		at += n + (at[n] == ',');
	}
	return flags;
}

/* What a letter behind a % stands for: h the host, p the process, t the time. False: nothing. */
static bool pattern_word(char letter, char *ret_word, size_t size)
{
	ret_word[0] = '\0';
	if (letter == 'h' && gethostname(ret_word, size - 1) != 0)
		snprintf(ret_word, size, "localhost");
	else if (letter == 'p')
		snprintf(ret_word, size, "%d", (int)getpid());
	else if (letter == 't')
		snprintf(ret_word, size, "%lld", (long long)time(NULL));
	ret_word[size - 1] = '\0';
	return ret_word[0] != '\0';
}

/* False: it does not fit. */
static bool expand(const char *pattern, char *ret_path, size_t size)
{
	size_t len = 0;
	for (const char *at = pattern; *at; at++) {
		char word[256] = { *at, '\0' };
		if (*at == '%' && at[1] && pattern_word(at[1], word, sizeof word))
			at++;
		else
			word[0] = *at;
		size_t n = strlen(word);
		if (n >= size - len)
			return false;
		memcpy(ret_path + len, word, n + 1);
		len += n;
	}
	return true;
}

const char *cli_run_dump_path(void)
{
	static char path[4096]; /* the time in it is that of the first call */
	const char *on = getenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION");
	const char *pattern = getenv("CUDA_COREDUMP_FILE");
	if (path[0] || !on || strcmp(on, "1") != 0)
		return path[0] ? path : NULL;
	if (!expand(pattern && *pattern ? pattern : "core_%t_%h_%p.nvcudmp", path, sizeof path)) {
		path[0] = '\0';
		cli_warn("CUDA_COREDUMP_FILE is too long");
	}
	return path[0] ? path : NULL;
}

/* ---- the report ---- */

static enum ws_status print_report(struct cli *cli, const struct ws_report *report,
				   struct ws_error *err)
{
	struct ws_text_options text = { .size = sizeof text,
					.color = cli->color,
					.columns = cli->columns };
	if (!cli->json)
		return ws_report_text(report, &text, &cli->out, err);
	ws_report_json(report, &cli->out);
	return WS_OK;
}

static int write_dump(const struct ws_target *target, const char *path)
{
	struct ws_error err;
	struct ws_write_options options = {
		.size = sizeof options, .flags = flags_wanted()
	}; /* without a time: the same run gives the same bytes */
	if (ws_write_target(target, path, &options, &err) != WS_OK)
		return cli_fail(path, &err);
	cli_say("warpscope run: the dump is %s\n", path);
	return CLI_ANSWERED;
}

int run_fault(struct cli *cli, struct ws_sim *sim, bool tells, const char *dump)
{
	struct ws_report_options options = { .size = sizeof options };
	struct ws_target *target;
	const struct ws_report *report;
	struct ws_error err;
	int status = CLI_FOUND;
	if (ws_sim_target(sim, &target, &err) != WS_OK)
		return cli_fail(NULL, &err);
	if (!tells) {
		status = CLI_FOUND;
	} else if (ws_report_create(target, &options, &report, &err) == WS_OK) {
		if (print_report(cli, report, &err) != WS_OK)
			status = cli_fail(NULL, &err);
		ws_report_destroy(report);
	} else {
		status = cli_fail(NULL, &err);
	}
	if (dump && write_dump(target, dump) != CLI_ANSWERED)
		status = CLI_NO_ANSWER;
	ws_target_close(target);
	return status;
}
