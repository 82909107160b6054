/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope disas: machine code of GPU functions as text. */
#include <string.h>

#include "images.h"
#include "session.h"

struct disas_request {
	struct ws_disas query;
	const char *arch;
	const char *lane; /* of --regs, or NULL */
	struct cli_given pc;
};

static int take_graph(void *query, const char *text)
{
	((struct disas_request *)query)->query.dot = true;
	return strcmp(text, "dot") == 0 ? CLI_ANSWERED
					: cli_usage("disas", "-T takes dot, not '%s'", text);
}

static int take_lane(void *query, const char *text)
{
	struct disas_request *request = query;
	request->query.values = true;
	request->lane = text;
	return CLI_ANSWERED;
}

#define ASKS(member) CLI_FLAG, .at = offsetof(struct disas_request, query.member)
const struct cli_option verb_disas_options[] = {
	{ "function", 0, CLI_TEXT, .at = offsetof(struct disas_request, query.function) },
	{ "pc", 0, CLI_NUMBER, .at = offsetof(struct disas_request, pc) },
	{ "source", 0, ASKS(source) },
	{ "hex", 0, ASKS(hex) },
	{ "control", 0, ASKS(control) },
	{ "asm", 0, ASKS(assembly) },
	{ "cfg", 0, ASKS(blocks) },
	{ "", 'T', CLI_TAKE, .take = take_graph },
	{ "regs", 0, CLI_MAY_TAKE, .take = take_lane },
	{ "arch", 0, CLI_TEXT, .at = offsetof(struct disas_request, arch) },
	{ "full-names", 0, ASKS(full_names) },
	{ 0 },
};

/* ---- of a thread ---- */

struct lane_choice {
	bool found, have_suspect;
	struct ws_report_thread suspect; /* with have_suspect */
	struct ws_focus focus;           /* with found */
};

/* Takes the suspect where it is among the lanes, else the first lane of all. */
static void suspect_take(void *user, const struct ws_resident *place)
{
	struct lane_choice *choice = user;
	for (uint32_t i = 0; i < place->n_lanes; i++) {
		const bool is_suspect = choice->have_suspect &&
					place->warp_index == choice->suspect.warp_index &&
					place->lanes[i].id == choice->suspect.lane;
		if (!choice->found || is_suspect)
			choice->focus = ws_resident_focus(place, &place->lanes[i]);
		choice->found = true;
	}
}

/* An exit status. `lane_text` may be NULL. */
static int choose_shown_lane(struct cli_session *session, const char *lane_text, int argc,
			     char **argv)
{
	static const enum ws_filter_word of_warp[] = { WS_FILTER_device, WS_FILTER_sm,
						       WS_FILTER_warp };
	const struct ws_coords *focus = &session->threads.at;
	struct lane_choice choice = { .found = false };
	struct ws_filter filter;
	const char *bad = "";
	uint64_t lane;
	if (!ws_filter_parse(&filter, focus, argc, argv, &bad))
		return cli_usage("disas", "incorrect filter '%s'", bad);
	if (lane_text && strcmp(lane_text, "current") == 0) {
		ws_filter_current(&filter, focus, WS_FILTER_lane);
	} else if (lane_text) {
		if (!cli_number(lane_text, &lane) || lane >= WS_MAX_LANES)
			return cli_usage("disas", "--regs takes a lane or 'current', not '%s'",
					 lane_text);
		filter.word[WS_FILTER_lane].limited[0] = true;
		filter.word[WS_FILTER_lane].number[0] = (int64_t)lane;
	} else {
		choice.have_suspect = session_suspect(session, &choice.suspect);
	}
	if (argc == 0 && !choice.have_suspect) {
		for (size_t i = 0; i < sizeof of_warp / sizeof of_warp[0]; i++)
			ws_filter_current(&filter, focus, of_warp[i]);
		if (!lane_text && session->cli->focus)
			ws_filter_current(&filter, focus, WS_FILTER_lane);
	}
	ws_threads_walk(&session->threads, &filter, WS_WALK_LANES, suspect_take, &choice);
	if (!choice.found) {
		cli_warn("%s: no such thread", session->path);
		return CLI_NO_ANSWER;
	}
	ws_threads_focus_on(&session->threads, &choice.focus);
	return CLI_ANSWERED;
}

static int disas_thread(struct cli *cli, const struct disas_request *request, int argc, char **argv)
{
	const struct ws_answer_style style = cli_style_of(cli, argv[0]);
	struct ws_disas_told told;
	struct cli_session session;
	struct ws_error err;
	int status = session_open(&session, cli, argv[0]);
	if (status == CLI_ANSWERED)
		status = choose_shown_lane(&session, request->lane, argc - 1, argv + 1);
	if (status == CLI_ANSWERED) {
		if (ws_disas_thread_answer(&session.threads, argv[0], &request->query, &style,
					   &told, &err) != WS_OK)
			status = cli_fail(argv[0], &err);
		else if (!told.shown)
			status = CLI_NO_ANSWER;
	}
	session_close(&session);
	return status;
}

/* ---- of images ---- */

static int disas_images(struct cli *cli, const struct disas_request *request, char *path)
{
	const struct ws_answer_style style = cli_style_of(cli, path);
	struct ws_disas_told told = { .shown = false };
	struct images images;
	struct ws_error err;
	int status = images_open(cli, "disas", path, request->arch, &images);
	if (status == CLI_ANSWERED &&
	    ws_disas_answer(&images.code, &request->query, &style, &told, &err) != WS_OK)
		status = cli_fail(path, &err);
	images_close(&images);
	if (status != CLI_ANSWERED)
		return status;
	if (told.n_unknown)
		cli_warn("%s: %llu of %llu instructions have unknown bits", path,
			 (unsigned long long)told.n_unknown, (unsigned long long)told.n_total);
	if (!told.shown)
		cli_warn("%s: no such code", path);
	return told.shown ? CLI_ANSWERED : CLI_NO_ANSWER;
}

int verb_disas(struct cli *cli, int argc, char **argv)
{
	struct disas_request request = { .lane = NULL };
	struct ws_disas *query = &request.query;
	int status = cli_options_take(cli, verb_disas_options, &request, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	if (argc < 1)
		return cli_usage("disas", "one FILE is needed");
	query->has_pc = request.pc.given;
	query->pc = request.pc.value;
	bool of_thread = query->values || argc > 1;
	if (query->assembly && (cli->json || query->has_pc || query->source || query->hex ||
				query->control || query->blocks))
		return cli_usage("disas", "--asm goes with --function and --arch only");
	if (query->blocks && (query->has_pc || query->source))
		return cli_usage("disas", "--cfg shows whole functions, without lines");
	if (query->dot && (!query->blocks || cli->json))
		return cli_usage("disas", "-Tdot goes with --cfg, as text");
	if (of_thread &&
	    (query->assembly || query->blocks || query->has_pc || query->function || request.arch))
		return cli_usage("disas", "a thread already determines the code to show");
	return of_thread ? disas_thread(cli, &request, argc, argv)
			 : disas_images(cli, &request, argv[0]);
}
