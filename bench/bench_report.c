/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-report DUMP...: how fast a dump becomes a page, as a multiple of the floor of opening
 * (floor/). From open() to the last byte of the text; the output is thrown away.
 */
#include <warpscope/core.h>
#include <warpscope/report.h>

#include "bench.h"
#include "floor/floor.h"

static uint64_t sink; /* keeps the compiler from dropping what is measured */

static bool count_bytes(void *user, const char *bytes, size_t len)
{
	(void)bytes;
	*(uint64_t *)user += len;
	return true;
}

/* Opens, reports, prints; `*ret_dirty` gets the memory that it took, in kB. */
static void report_dump(const char *path, bool json, long *ret_dirty)
{
	struct ws_report_options options = { .size = sizeof options, .no_source = true };
	struct ws_core *core;
	struct ws_target *target;
	const struct ws_report *report;
	struct ws_error err;
	struct ws_out out;
	long before = ret_dirty ? private_dirty() : 0;
	must(ws_core_open(path, NULL, &core, &err), &err);
	must(ws_target_from_core(core, true, &target, &err), &err);
	must(ws_report_create(target, &options, &report, &err), &err);
	if (ret_dirty)
		*ret_dirty = private_dirty() - before;
	ws_out_init(&out, count_bytes, &sink);
	if (json)
		ws_report_json(report, &out);
	else
		must(ws_report_text(report, NULL, &out, &err), &err);
	must(ws_out_flush(&out, &err), &err);
	ws_report_destroy(report);
	ws_target_close(target);
}

static void bench(const char *path, bool json)
{
	struct times times;
	for (int run = 0; run < RUNS; run++) {
		struct floor_file file;
		double start = now();
		if (!floor_map(path, &file))
			exit(1);
		sink += floor_open(&file);
		times.floor[run] = now() - start;
		floor_unmap(&file);
		start = now();
		report_dump(path, json, NULL);
		times.ours[run] = now() - start;
	}
	print_ratio(json ? "json" : "report", &times, 4, 1e3, "ms");
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		long dirty;
		report_dump(argv[i], false, &dirty);
		printf("%s: open and report take %ld kB\n", argv[i], dirty);
		bench(argv[i], false);
		bench(argv[i], true);
	}
	return sink == 42;
}
