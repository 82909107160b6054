/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpscope mem DUMP SPACE:ADDRESS [/FORMAT] [COUNT] [FILTER...]: gdb's x over the memory of a
 * dump, with the reason where there is none. The focus, or the first lane that the filter lets
 * through, says whose shared, local, parameter or constant memory is meant.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"

struct mem {
	struct cli_session session;
	struct ws_mem query;
};

/* ---- the command line ---- */

/* "const[3]:0x10" and the like; the bank is 0 when it is not given. A bare number is generic. */
static bool parse_mem_address(struct mem *mem, const char *text)
{
	const char *colon = strchr(text, ':');
	mem->query.at.space = WS_SPACE_GENERIC;
	if (!colon)
		return cli_number(text, &mem->query.at.address);
	size_t len = strcspn(text, ":[");
	if (!cli_space(text, len, &mem->query.at.space))
		return false;
	const char *after = text + len;
	if (*after == '[' && mem->query.at.space == WS_SPACE_CONST) {
		char *end;
		unsigned long bank = strtoul(after + 1, &end, 0);
		if (end == after + 1 || *end != ']' || bank > UINT32_MAX)
			return false;
		mem->query.at.bank = (uint32_t)bank;
		after = end + 1;
	}
	return after == colon && cli_number(colon + 1, &mem->query.at.address);
}

/* "/16xw": count, letter of the format, letter of the size, each optional, as gdb. */
static bool parse_format(struct mem *mem, const char *text)
{
	if (isdigit((unsigned char)*text)) {
		char *end;
		mem->query.count = strtoull(text, &end, 10);
		text = end;
	}
	for (; *text; text++) {
		if (strchr("xduotafcs", *text))
			mem->query.format = *text;
		else if (*text == 'b')
			mem->query.unit = 1;
		else if (*text == 'h')
			mem->query.unit = 2;
		else if (*text == 'w')
			mem->query.unit = 4;
		else if (*text == 'g')
			mem->query.unit = 8;
		else
			return false;
	}
	return true;
}

/* /FORMAT and COUNT, in this order, each optional. Returns how many arguments they were, -1: wrong.
 */
static int parse_what(struct mem *mem, int argc, char **argv)
{
	int used = 0;
	if (used < argc && argv[used][0] == '/') {
		if (!parse_format(mem, argv[used] + 1))
			return -1;
		used++;
	}
	if (used < argc && isdigit((unsigned char)argv[used][0])) {
		if (!cli_number(argv[used], &mem->query.count))
			return -1;
		used++;
	}
	return used;
}

/* ---- whose memory ---- */

static int pick_thread(struct mem *mem, int argc, char **argv)
{
	const struct ws_threads *threads = &mem->session.threads;
	struct ws_address *at = &mem->query.at;
	struct ws_focus focus = threads->focus;
	struct ws_filter filter;
	const char *bad = "";
	at->device_index = at->grid_index = at->warp_index = at->lane = WS_NONE;
	if (!ws_filter_parse(&filter, &threads->at, argc, argv, &bad))
		return cli_usage("mem", "incorrect filter '%s'", bad);
	if (argc > 0 && !ws_threads_first(threads, &filter, &focus)) {
		cli_warn("%s: no thread matches", mem->session.path);
		return CLI_NO_ANSWER;
	}
	if (argc > 0 || threads->have_focus) {
		at->device_index = focus.device_index;
		at->grid_index = focus.grid_index;
		at->warp_index = focus.warp_index;
		at->lane = focus.lane;
	}
	return CLI_ANSWERED;
}

/* ---- the verb ---- */

static int mem_run(struct mem *mem, int argc, char **argv)
{
	if (argc < 1 || !parse_mem_address(mem, argv[0]))
		return cli_usage("mem", "SPACE:ADDRESS is expected, such as global:0x7f0000000000, "
					"shared:0x20, const[3]:0x10");
	int used = parse_what(mem, argc - 1, argv + 1);
	if (used < 0)
		return cli_usage("mem", "a format is /, a count, one of xduotafcs, one of bhwg");
	int status = pick_thread(mem, argc - 1 - used, argv + 1 + used);
	if (status != CLI_ANSWERED)
		return status;
	const struct ws_answer_style style = cli_style(mem->session.cli);
	struct ws_error err;
	uint64_t n = 0;
	enum ws_status st = ws_mem_answer(&mem->session.threads, &mem->query, &style, &n, &err);
	if (st == WS_ARGUMENT)
		return cli_usage("mem", "%s", err.message);
	if (st != WS_OK)
		return cli_fail(mem->session.path, &err);
	return n > 0 ? CLI_ANSWERED : CLI_NO_ANSWER;
}

const struct cli_option verb_mem_options[] = { { 0 } };

int verb_mem(struct cli *cli, int argc, char **argv)
{
	struct mem mem = { .query = { .format = 'x', .count = 1 } };
	int status = cli_options_take(cli, verb_mem_options, &mem, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	if (argc < 1)
		return cli_usage("mem", "which dump?");
	status = session_open(&mem.session, cli, argv[0]);
	if (status == CLI_ANSWERED)
		status = mem_run(&mem, argc - 1, argv + 1);
	session_close(&mem.session);
	return status;
}
