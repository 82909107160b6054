/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-report DUMP...: how fast a dump becomes a page, as a multiple of the floor of opening
 * (floor/). From open() to the last byte of the text; the output is thrown away.
 *
 * bench-report --times N DUMP: makes N pages of text, for who measures it from outside.
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

/* The pages: name, and how many times the floor each may take. */
enum page { TEXT, JSON, HTML, N_PAGES };
static const struct {
	const char *name;
	double limit;
} pages[N_PAGES] = { { "report", 4 }, { "json", 4 }, { "html", 30 } };

struct about {
	long dirty; /* memory that open and report take, in kB */
	struct ws_counts n;
};

/* Opens, reports, prints. */
static void report_dump(const char *path, enum page page, struct about *ret_about)
{
	struct ws_report_options options = { .size = sizeof options, .no_source = true };
	struct ws_target *target;
	const struct ws_report *report;
	struct ws_error err;
	struct ws_out out;
	long before = ret_about ? private_dirty() : 0;
	must(ws_core_open(path, NULL, &target, &err), &err);
	must(ws_report_create(target, &options, &report, &err), &err);
	if (ret_about) {
		ret_about->dirty = private_dirty() - before;
		ws_target_counts(target, &ret_about->n);
	}
	ws_out_init(&out, count_bytes, &sink);
	if (page == JSON)
		ws_report_json(report, &out);
	else if (page == HTML)
		must(ws_report_html(report, NULL, &out, &err), &err);
	else
		must(ws_report_text(report, NULL, &out, &err), &err);
	must(ws_out_flush(&out, &err), &err);
	ws_report_destroy(report);
	ws_target_close(target);
}

static void bench(const char *path, enum page page, uint32_t n_warps)
{
	struct times times;
	for (int run = 0; run < RUNS; run++) {
		times.floor[run] = floor_open_time(path);
		double start = now();
		report_dump(path, page, NULL);
		times.ours[run] = now() - start;
	}
	print_ratio(pages[page].name, &times, full_size_limit(pages[page].limit, n_warps), 1e3,
		    "ms");
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "--times") == 0) {
		for (long n = atol(argv[2]); n > 0; n--)
			report_dump(argv[3], TEXT, NULL);
		return sink == 42;
	}
	for (int i = 1; i < argc; i++) {
		struct about about;
		report_dump(argv[i], TEXT, &about);
		printf("%s: open and report take %ld kB\n", argv[i], about.dirty);
		for (int page = 0; page < N_PAGES; page++)
			bench(argv[i], (enum page)page, about.n.warps);
	}
	return sink == 42;
}
