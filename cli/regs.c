/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope regs DUMP [REGISTER...] [FILTER...]: registers of the focus, or of every lane that a
 * filter lets through. */
#include "session.h"

/* Takes the registers out of the words; the others stay, in their order. Returns how many. */
static int choose_registers(struct ws_regs_chosen *chosen, int argc, char **argv)
{
	int n = 0;
	for (int i = 0; i < argc; i++) {
		if (!ws_regs_choose(chosen, argv[i]))
			argv[n++] = argv[i];
	}
	return n;
}

/* A `ws_threads_visit`. */
static void warn_unreadable(void *user, const struct ws_resident *place)
{
	const struct cli_session *session = user;
	if (place->lanes_status != WS_OK)
		cli_warn("%s: device %u SM %u warp %u: the lanes could not be read (%s)",
			 session->path, place->device->id, place->sm.id, place->warp.id,
			 ws_missing_word(place->lanes_status));
}

static int run_regs(struct cli_session *session, int argc, char **argv)
{
	const struct ws_answer_style style = cli_style(session->cli);
	const struct ws_threads *threads = &session->threads;
	struct ws_regs_chosen chosen = { .some = false };
	struct ws_regs_told told;
	struct ws_filter filter;
	struct ws_error err;
	const char *bad = "";
	argc = choose_registers(&chosen, argc, argv);
	if (!ws_filter_parse(&filter, &threads->at, argc, argv, &bad))
		return cli_usage("regs", "'%s' is neither a register nor a filter", bad);
	if (argc == 0)
		session_limit_to_suspect(session, &filter);
	if (ws_regs_answer(threads, &filter, &chosen, &style, &told, &err) != WS_OK)
		return cli_fail(session->path, &err);
	ws_threads_walk(threads, &filter, WS_WALK_LANES, warn_unreadable, session);
	session_warn_doubt(session, told.n_doubted);
	return CLI_ANSWERED;
}

const struct cli_option verb_regs_options[] = { { 0 } };

int verb_regs(struct cli *cli, int argc, char **argv)
{
	struct cli_session session = { .cli = NULL };
	int status = cli_options_take(cli, verb_regs_options, NULL, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	if (argc < 1)
		return cli_usage("regs", "which dump?");
	status = session_open(&session, cli, argv[0]);
	if (status == CLI_ANSWERED)
		status = run_regs(&session, argc - 1, argv + 1);
	session_close(&session);
	return status;
}
