/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope run: kernels of an image on the software GPU, to their end or to a fault. */
#include "run/run.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEP = 1000 * 1000 /* instructions between two looks at the clock */ };

struct running {
	struct run_setup setup; /* first: its options fill it */
	struct cli_given max_instructions, max_seconds;
	bool is_late; /* as long as --max-seconds allows */
	struct cli_words print, save, expect;
};

/* ---- options ---- */

const struct cli_option verb_run_options[] = {
	RUN_SETUP_OPTIONS,
	{ "max-instructions", 0, CLI_NUMBER, .at = offsetof(struct running, max_instructions) },
	{ "max-seconds", 0, CLI_NUMBER, .at = offsetof(struct running, max_seconds) },
	{ "check", 0, CLI_FLAG, .at = offsetof(struct running, setup.check) },
	{ "print", 0, CLI_WORDS, .at = offsetof(struct running, print) },
	{ "save", 0, CLI_WORDS, .at = offsetof(struct running, save) },
	{ "expect", 0, CLI_WORDS, .at = offsetof(struct running, expect) },
	{ 0 },
};

/* ---- running ---- */

/* The device that a Ctrl-C stops. */
static struct ws_sim *interruptible;

static void interrupt(int number)
{
	(void)number;
	ws_sim_stop(interruptible);
}

static double seconds_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static enum ws_status run_on(struct running *r, const struct cli *cli,
			     enum ws_sim_outcome *ret_outcome, struct ws_error *err)
{
	uint64_t limit = r->max_instructions.given ? r->max_instructions.value : UINT64_MAX;
	double start = seconds_now(), told = start;
	enum ws_status st;
	interruptible = r->setup.sim;
	signal(SIGINT, interrupt);
	do {
		uint64_t left = limit - ws_sim_instructions(r->setup.sim);
		st = ws_sim_run(r->setup.sim, left < STEP ? left : STEP, ret_outcome, err);
		double now = seconds_now();
		if (st == WS_OK && *ret_outcome == WS_SIM_LIMIT && cli->terminal &&
		    now > told + 1) {
			cli_say("\r%" PRIu64 " million instructions ",
				ws_sim_instructions(r->setup.sim) / 1000000);
			told = now;
		}
		r->is_late = r->max_seconds.given && now - start >= (double)r->max_seconds.value;
	} while (st == WS_OK && *ret_outcome == WS_SIM_LIMIT && !r->is_late &&
		 ws_sim_instructions(r->setup.sim) < limit);
	if (told > start)
		cli_say("\n");
	signal(SIGINT, SIG_DFL);
	return st;
}

/* ---- results ---- */

/* What kernels printed, line by line: it may hold anything. */
void run_print_lines(struct ws_out *out, struct ws_span printed)
{
	const char *at = (const char *)printed.ptr, *end = at + printed.len;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((newline ? newline : end) - at);
		ws_out_whole_line(out);
		ws_out_escaped(out, (struct ws_str){ at, n });
		ws_out_text(out, "\n");
		at += n + 1;
	}
}

/* NAME or NAME:COUNT; told when there is no such buffer. */
static const struct run_buffer *shown_buffer(const struct running *r, const char *text,
					     uint64_t *ret_count)
{
	size_t n = strcspn(text, ":");
	const struct run_buffer *buffer = run_buffer_find(&r->setup.made, text, n);
	*ret_count = buffer ? buffer->count : 0;
	uint64_t count;
	if (!buffer)
		cli_warn("--print %s: there is no such buffer", text);
	else if (text[n] && cli_number(text + n + 1, &count) && count < buffer->count)
		*ret_count = count;
	return buffer;
}

static int print_buffers(struct running *r, struct cli *cli, struct ws_json *json)
{
	for (size_t i = 0; i < r->print.n; i++) {
		uint64_t count;
		const struct run_buffer *buffer = shown_buffer(r, r->print.item[i], &count);
		uint8_t *bytes = buffer ? run_buffer_read(buffer, r->setup.sim) : NULL;
		if (!bytes)
			return CLI_NO_ANSWER;
		if (cli->json) {
			ws_json_object(json);
			ws_json_key_text(json, "name", buffer->name);
			ws_json_key_text(json, "type", buffer->type->name);
			ws_json_key_array(json, "values");
		} else {
			ws_out_printf(&cli->out, "%s:", buffer->name);
		}
		for (uint64_t k = 0; k < count; k++) {
			const uint8_t *at = bytes + k * buffer->type->bytes;
			if (!cli->json)
				ws_out_text(&cli->out, " ");
			if (cli->json)
				run_value_json(buffer->type, at, json);
			else
				run_value_print(buffer->type, at, &cli->out);
		}
		if (cli->json) {
			ws_json_end(json);
			ws_json_end(json);
		} else {
			ws_out_text(&cli->out, "\n");
		}
		free(bytes);
	}
	return CLI_ANSWERED;
}

static const struct run_buffer *named_buffer(const struct running *r, const char *option,
					     const char *text, const char **ret_file)
{
	const char *equals = strchr(text, '=');
	const struct run_buffer *buffer =
		equals ? run_buffer_find(&r->setup.made, text, (size_t)(equals - text)) : NULL;
	*ret_file = equals ? equals + 1 : NULL;
	if (!buffer)
		cli_warn("--%s takes BUFFER=FILE, not '%s'", option, text);
	return buffer;
}

static int save_buffers(struct running *r)
{
	for (size_t i = 0; i < r->save.n; i++) {
		const char *path;
		const struct run_buffer *buffer = named_buffer(r, "save", r->save.item[i], &path);
		uint8_t *bytes = buffer ? run_buffer_read(buffer, r->setup.sim) : NULL;
		struct ws_error err;
		if (!bytes)
			return CLI_NO_ANSWER;
		enum ws_status st = ws_file_replace(
			path,
			(struct ws_span){ bytes, (size_t)buffer->count * buffer->type->bytes, 0 },
			r->setup.image, &err);
		free(bytes);
		if (st != WS_OK)
			return cli_fail(path, &err);
	}
	return CLI_ANSWERED;
}

/* The first element that differs from a file, said. */
static int compare_with_file(struct running *r, struct cli *cli, const struct run_buffer *buffer,
			     const char *path)
{
	size_t len, size = buffer->type->bytes, bytes_of = (size_t)buffer->count * size;
	uint8_t *want = run_file_read(path, &len);
	uint8_t *got = want ? run_buffer_read(buffer, r->setup.sim) : NULL;
	int status = got ? CLI_ANSWERED : CLI_NO_ANSWER;
	size_t i = 0;
	while (got && i < len && i < bytes_of && memcmp(want + i, got + i, size) == 0)
		i += size;
	if (got && (len != bytes_of || i < bytes_of)) {
		status = CLI_FOUND;
		if (len != bytes_of) {
			cli_warn("%s: %zu bytes, the buffer %s has %zu", path, len, buffer->name,
				 bytes_of);
		} else if (!cli->json) {
			ws_out_printf(&cli->out, "%s[%zu] is ", buffer->name, i / size);
			run_value_print(buffer->type, got + i, &cli->out);
			ws_out_text(&cli->out, ", not ");
			run_value_print(buffer->type, want + i, &cli->out);
			ws_out_text(&cli->out, "\n");
		}
	}
	free(want);
	free(got);
	return status;
}

static int compare_buffers(struct running *r, struct cli *cli)
{
	int status = CLI_ANSWERED;
	for (size_t i = 0; i < r->expect.n && status != CLI_NO_ANSWER; i++) {
		const char *path;
		const struct run_buffer *buffer =
			named_buffer(r, "expect", r->expect.item[i], &path);
		int one = buffer ? compare_with_file(r, cli, buffer, path) : CLI_NO_ANSWER;
		status = one != CLI_ANSWERED ? one : status;
	}
	return status;
}

/* Why a device stopped; NULL: every launch came to its end. */
static const char *why_stopped(enum ws_sim_outcome outcome, const struct ws_sim_fault *fault,
			       bool is_late)
{
	switch (outcome) {
	case WS_SIM_DONE:
		return NULL;
	case WS_SIM_FAULTED:
		return fault->text;
	case WS_SIM_STUCK:
		return "all threads that are left wait for each other";
	case WS_SIM_LIMIT:
		return is_late ? "as long as --max-seconds allows"
			       : "as many as --max-instructions allows";
	case WS_SIM_STOPPED:
		break;
	}
	return "interrupted";
}

/* The results. After a failure (`why`) buffers are shown, but nothing is saved or compared. */
static int results_tell(struct running *r, struct cli *cli, const char *why)
{
	struct ws_span printed = ws_sim_printed(r->setup.sim);
	struct ws_json json;
	int compared = CLI_FOUND, saved = CLI_ANSWERED, found = CLI_ANSWERED;
	if (cli->json) {
		ws_json_init(&json, &cli->out, false);
		ws_json_object(&json);
		ws_json_key_text(&json, "schema", "warpscope-run-1");
		ws_json_key_text(&json, "path", r->setup.image);
		if (r->setup.check)
			ws_json_key_text(&json, "stopped", why);
		ws_json_key_u64(&json, "instructions", ws_sim_instructions(r->setup.sim));
		ws_json_key_str(&json, "printed",
				(struct ws_str){ (const char *)printed.ptr, printed.len });
		ws_json_key_array(&json, "buffers");
	} else {
		run_print_lines(&cli->out, printed);
	}
	int status = print_buffers(r, cli, &json);
	if (!why) {
		saved = save_buffers(r);
		compared = compare_buffers(r, cli);
	}
	if (cli->json)
		ws_json_end(&json);
	if (r->setup.check)
		found = run_findings(cli, r->setup.sim, cli->json ? &json : NULL);
	if (cli->json) {
		ws_json_key_bool(&json, "as_expected", compared == CLI_ANSWERED);
		ws_json_end(&json);
	}
	return status != CLI_ANSWERED  ? status
	       : saved != CLI_ANSWERED ? saved
	       : found != CLI_ANSWERED ? found
				       : compared;
}

static int outcome_tell(struct running *r, struct cli *cli, enum ws_sim_outcome outcome)
{
	struct ws_sim_fault fault = { 0 };
	bool faulted = outcome == WS_SIM_FAULTED && ws_sim_fault(r->setup.sim, &fault);
	bool in_data =
		cli->json && r->setup.check; /* the document has findings; the report is not it */
	const char *why = why_stopped(outcome, &fault, r->is_late);
	if (!why)
		return results_tell(r, cli, NULL);
	if (fault.exception == WS_SIM_UNIMPLEMENTED) {
		if (!cli->json)
			run_print_lines(&cli->out, ws_sim_printed(r->setup.sim));
		cli_warn("%s: %s at 0x%" PRIx64 " (the kernel is not to blame)", r->setup.image,
			 fault.text, fault.pc);
		return CLI_NO_ANSWER;
	}
	uint64_t n = ws_sim_instructions(r->setup.sim);
	cli_warn("stopped after %" PRIu64 " instruction%s: %s", n, n == 1 ? "" : "s", why);
	if (in_data)
		results_tell(r, cli, why);
	else if (!cli->json)
		run_print_lines(&cli->out, ws_sim_printed(r->setup.sim));
	int status = run_fault(cli, r->setup.sim, !in_data, faulted ? cli_run_dump_path() : NULL);
	if (r->setup.check && !cli->json)
		run_findings(cli, r->setup.sim, NULL);
	return status;
}

static int run_image_file(struct running *r, struct cli *cli)
{
	enum ws_sim_outcome outcome = WS_SIM_DONE;
	struct ws_error err;
	int status = run_setup_make(&r->setup, cli);
	if (status != CLI_ANSWERED)
		return status;
	if (run_on(r, cli, &outcome, &err) != WS_OK)
		return run_fail(r->setup.image, &err);
	return outcome_tell(r, cli, outcome);
}

int verb_run(struct cli *cli, int argc, char **argv)
{
	struct running r = { .setup = RUN_SETUP_INIT(cli) };
	int status = cli_options_take(cli, verb_run_options, &r, &argc, &argv);
	if (status == CLI_ANSWERED)
		status = run_setup_check(&r.setup, argc, argv);
	if (status == CLI_ANSWERED)
		status = run_image_file(&r, cli);
	run_setup_fini(&r.setup);
	free(r.print.item);
	free(r.save.item);
	free(r.expect.item);
	return status;
}
