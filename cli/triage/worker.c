/* SPDX-License-Identifier: Apache-2.0 */
/* A worker: one dump after the other, in a sandbox. It ends with the process that started it. */
#include "triage/triage.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <warpscope/core.h>

#include "base/sandbox.h"
#include "guard.h"

void triage_guard(const struct triage_args *args, const struct triage_list *list)
{
	struct cli_words inputs = { 0 };
	for (size_t i = 0; i < list->folders.n; i++)
		cli_words_add(&inputs, list->folders.item[i]);
	for (int i = 0; i < args->n_paths; i++)
		cli_words_add(&inputs, args->paths[i]);
	for (size_t i = 0; i < list->ranks.n; i++)
		cli_words_add(&inputs, list->ranks.item[i]);
	for (size_t i = 0; i < args->dumps.n; i++)
		cli_words_add(&inputs, args->dumps.item[i]);
	if (args->baseline)
		cli_words_add(&inputs, args->baseline);
	struct wsi_sandbox_terms terms = {
		.inputs = inputs.item,
		.n_inputs = inputs.n,
		.outputs = &args->output,
		.n_outputs = args->output ? 1 : 0,
		.output_folder = args->html,
	};
	guard_enter_late(&terms);
	free(inputs.item);
}

/* What came and is not used yet; more than one request can come at once. */
struct inbox {
	int fd;
	size_t from, to;
	char bytes[16384];
};

/* False: the other side is gone. */
static bool inbox_receive(struct inbox *in, void *bytes, size_t len)
{
	char *at = bytes;
	while (len) {
		if (in->from == in->to) {
			ssize_t n = read(in->fd, in->bytes, sizeof in->bytes);
			if (n <= 0)
				return false;
			in->from = 0;
			in->to = (size_t)n;
		}
		size_t n = in->to - in->from < len ? in->to - in->from : len;
		memcpy(at, in->bytes + in->from, n);
		in->from += n;
		at += n;
		len -= n;
	}
	return true;
}

/* A file that a walk found, and that nothing calls a dump, is none of ours if it is no dump. */
static bool is_ours(const struct ws_triage_file *file, bool is_named)
{
	return is_named || strstr(file->path, ".nvcudmp") ||
	       ws_triage_pattern_fits(file->pattern, file->path);
}

static bool look_at_one_file(const struct cli *cli, const struct triage_args *args,
			     const struct ws_triage_file *file, bool is_named, struct ws_out *out)
{
	struct ws_core_options open = { .size = sizeof open,
					.max_unpacked_bytes = cli->size_limit };
	struct ws_report_options options = { .size = sizeof options, .no_source = true };
	struct ws_target *target = NULL;
	const struct ws_report *report = NULL;
	struct ws_error err;
	if (ws_core_open(file->path, &open, &target, &err) != WS_OK) {
		if (!is_ours(file, is_named))
			return false;
		ws_triage_record_failed(file, err.message, args->whole, out);
	} else if (ws_report_create(target, &options, &report, &err) != WS_OK) {
		ws_triage_record_failed(file, err.message, args->whole, out);
	} else {
		ws_triage_record(report, file, args->whole, out);
	}
	ws_report_destroy(report);
	ws_target_close(target);
	return true;
}

_Noreturn void triage_worker(const struct cli *cli, const struct triage_args *args,
			     const struct triage_list *list, int fd, pid_t parent)
{
	struct inbox in = { .fd = fd };
	struct triage_request request;
	struct rlimit none = { 0, 0 };
	const struct triage_answer none_yet = { 0 };
	struct cli_bytes record = { 0 };
	guard_end_with(parent);
	signal(SIGPIPE, SIG_DFL);
	setrlimit(RLIMIT_CORE, &none); /* a crash is a row, and not one more file */
	triage_guard(args, list);
	while (inbox_receive(&in, &request, sizeof request)) {
		struct ws_out out;
		char *path = cli_alloc((size_t)request.path_len + 1, 1);
		if (!inbox_receive(&in, path, request.path_len))
			break;
		struct ws_triage_file file = { path, request.bytes, request.written_ns,
					       args->pattern, triage_ranks(list, path) };
		record.len = 0;
		cli_bytes_write(&record, (const char *)&none_yet, sizeof none_yet);
		ws_out_init(&out, cli_bytes_write, &record);
		bool is_dump = look_at_one_file(cli, args, &file, request.is_named, &out);
		free(path);
		if (ws_out_flush(&out, NULL) != WS_OK)
			break;
		struct triage_answer answer = { is_dump, (uint32_t)(record.len - sizeof answer) };
		memcpy(record.ptr, &answer, sizeof answer);
		if (!ws_write_fd(&fd, record.ptr, record.len))
			break;
	}
	_exit(0);
}
