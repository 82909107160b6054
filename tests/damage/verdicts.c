/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdicts: reads dumps from standard input, each as its length (32 bits, little endian) and its
 * bytes, and writes one line of JSON for each: what the report says of it and what check finds.
 * Public headers only, so that it builds against any version of the library.
 *
 * usage: verdicts [FILE]
 *
 * FILE: each dump is also written again, and stripped, under this name; "again" and "stripped" are
 * what the report says of these.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/core.h>
#include <warpscope/report.h>
#include <warpscope/write.h>

static bool count_finding(void *user, const struct ws_finding *finding)
{
	(void)user;
	(void)finding;
	return true;
}

static bool to_stdout(void *user, const char *bytes, size_t len)
{
	(void)user;
	return fwrite(bytes, 1, len, stdout) == len;
}

static void number(struct ws_json *json, const char *key, uint64_t value)
{
	ws_json_key(json, key);
	ws_json_u64(json, value);
}

static void focus_json(struct ws_json *json, const struct ws_report *report)
{
	const struct ws_report_exception *e = report->focus;
	number(json, "code", e->code);
	number(json, "blame", e->blame);
	number(json, "device", e->at.device);
	number(json, "sm", e->at.sm);
	number(json, "warp", e->at.warp);
	number(json, "lane", e->at.lane);
	if (e->at.block_status == WS_OK)
		number(json, "block",
		       (uint64_t)e->at.block.z << 42 | (uint64_t)e->at.block.y << 21 |
			       e->at.block.x);
	number(json, "thread",
	       (uint64_t)e->at.thread.z << 42 | (uint64_t)e->at.thread.y << 21 | e->at.thread.x);
	if (e->pc_status == WS_OK)
		number(json, "pc", e->pc);
	if (e->errorpc_status == WS_OK)
		number(json, "errorpc", e->errorpc);
	if (e->kernel != WS_NONE) {
		ws_json_key(json, "kernel");
		ws_json_str(json, report->kernels[e->kernel].name_mangled);
	}
}

static void report_json(struct ws_json *json, const struct ws_report *report)
{
	ws_json_key(json, "verdict");
	ws_json_text(json, ws_verdict_kind_text(report->verdict));
	ws_json_key(json, "summary");
	ws_json_text(json, report->summary);
	ws_json_key(json, "doubt");
	ws_json_bool(json, report->doubt != NULL);
	ws_json_key(json, "complete");
	ws_json_bool(json, report->dump.complete);
	number(json, "diagnostics", report->n_diagnostics);
	number(json, "exceptions", report->n_exceptions);
	if (report->verdict == WS_VERDICT_FAULT)
		focus_json(json, report);
}

static void fail(const struct ws_error *err)
{
	fprintf(stderr, "verdicts: %s\n", err->message);
	exit(1);
}

static void tell(struct ws_json *json, const struct ws_target *target)
{
	const struct ws_report *report;
	struct ws_check_summary summary;
	struct ws_report_options options = { .size = sizeof options, .no_source = true };
	struct ws_error err = { .message = "" };
	if (ws_report_create(target, &options, &report, &err) != WS_OK)
		fail(&err);
	if (ws_core_check(ws_target_core(target), count_finding, NULL, &summary, &err) != WS_OK)
		fail(&err);
	number(json, "findings", summary.findings);
	report_json(json, report);
	ws_report_destroy(report);
}

static void tell_written(struct ws_json *json, const char *key, const char *path)
{
	struct ws_target *target;
	struct ws_error err = { .message = "" };
	if (ws_core_open(path, NULL, &target, &err) != WS_OK)
		fail(&err);
	ws_json_key(json, key);
	ws_json_object(json);
	tell(json, target);
	ws_json_end(json);
	ws_target_close(target);
}

/* What is said of the same written again, and of what ws_strip() leaves of the fault. */
static void write_again(struct ws_json *json, const struct ws_target *target, const char *path)
{
	struct ws_strip_options strip = { .size = sizeof strip,
					  .write = { .size = sizeof strip.write },
					  .strip = WS_STRIP_OTHERS | WS_STRIP_VALUES };
	struct ws_stripped stripped;
	struct ws_error err = { .message = "" };
	if (ws_write_target(target, path, NULL, &err) != WS_OK)
		fail(&err);
	tell_written(json, "again", path);
	if (ws_strip(target, path, &strip, &stripped, &err) != WS_OK)
		fail(&err);
	tell_written(json, "stripped", path);
}

static void judge(const uint8_t *bytes, size_t len, const char *path, struct ws_out *out)
{
	struct ws_target *target;
	struct ws_error err = { .message = "" };
	struct ws_json json;
	ws_json_init(&json, out, true);
	ws_json_object(&json);
	if (ws_core_open_memory((struct ws_span){ bytes, len, 0 }, "-", &target, &err) != WS_OK) {
		ws_json_key(&json, "refused");
		ws_json_text(&json, err.message);
	} else {
		tell(&json, target);
		if (path)
			write_again(&json, target, path);
		ws_target_close(target);
	}
	ws_json_end(&json);
}

int main(int argc, char **argv)
{
	uint8_t head[4];
	struct ws_out out;
	ws_out_init(&out, to_stdout, NULL);
	while (fread(head, 1, 4, stdin) == 4) {
		size_t len = (size_t)head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 |
			     (size_t)head[3] << 24;
		uint8_t *bytes =
			malloc(len + 1); /* of its own, so that checkers see reads beyond */
		if (!bytes || fread(bytes, 1, len, stdin) != len)
			return 1;
		judge(bytes, len, argc > 1 ? argv[1] : NULL, &out);
		ws_out_text(&out, "\x1e"); /* ends a record: the JSON goes over several lines */
		free(bytes);
	}
	return ws_out_flush(&out, NULL) == WS_OK ? 0 : 1;
}
