/* SPDX-License-Identifier: Apache-2.0 */
/* A report that is filled by hand, and what its pages say. */
#ifndef WS_TEST_REPORT_PAGE_H
#define WS_TEST_REPORT_PAGE_H

#include "unit.h"

#include <warpscope/report.h>

enum form { TEXT, MARKDOWN, HTML };

static struct {
	char bytes[1 << 18];
	size_t len;
} written;

static bool take(void *user, const char *bytes, size_t len)
{
	(void)user;
	assert_true(len < sizeof written.bytes - written.len);
	memcpy(written.bytes + written.len, bytes, len);
	written.len += len;
	written.bytes[written.len] = 0;
	return true;
}

/* The page of the report; valid until the next. */
static inline const char *page_of(const struct ws_report *report, enum form form, bool all)
{
	static enum ws_status (*const forms[])(
		const struct ws_report *, const struct ws_text_options *, struct ws_out *,
		struct ws_error *) = { ws_report_text, ws_report_markdown, ws_report_html };
	struct ws_text_options options = { .size = sizeof options, .all = all };
	struct ws_out out;
	written.len = 0;
	ws_out_init(&out, take, NULL);
	assert_int_equal(forms[form](report, &options, &out, NULL), WS_OK);
	assert_int_equal(ws_out_flush(&out, NULL), WS_OK);
	return written.bytes;
}

static inline void says(const struct ws_report *report, enum form form, const char *words)
{
	if (!strstr(page_of(report, form, false), words))
		fail_msg("the page does not say \"%s\"", words);
}

static inline void says_not(const struct ws_report *report, enum form form, const char *words)
{
	if (strstr(page_of(report, form, false), words))
		fail_msg("the page says \"%s\"", words);
}

/* A fault of one lane, of which nothing more is known. */
struct planted {
	struct ws_report report;
	struct ws_report_exception e;
	struct ws_report_access access;
	struct ws_report_kernel kernel;
	struct ws_report_frame frames[120];
};

static const struct ws_report_thread thread = {
	.device = 0, .sm = 4, .warp = 5, .lane = 6, .block = { 1, 2, 3 }, .thread = { 6, 0, 0 }
};
static const struct ws_report_thread nobody = { .device = WS_NONE,
						.sm = WS_NONE,
						.warp = WS_NONE,
						.lane = WS_NONE,
						.block_status = WS_ABSENT };

static inline void plant(struct planted *p)
{
	*p = (struct planted){
		.report = { .verdict = WS_VERDICT_FAULT,
			    .summary = "A fault",
			    .summary_head = 7,
			    .dump = { .path = "a.nvcudmp", .bytes = 9 },
			    .exceptions = &p->e,
			    .n_exceptions = 1,
			    .focus = &p->e,
			    .kernels = &p->kernel,
			    .n_kernels = 1,
			    .image_status = WS_ABSENT },
		.e = { .code = 14,
		       .label = "Warp Illegal Address",
		       .headline = "a fault",
		       .blame = WS_BLAME_LANE,
		       .at = thread,
		       .suspect = thread,
		       .first_suspect = thread,
		       .last_suspect = thread,
		       .kernel = WS_NONE,
		       .n_lanes = 1,
		       .n_warps = 1,
		       .n_sms = 1,
		       .pc = 0x1000,
		       .errorpc = 0x1000,
		       .text_status = WS_ABSENT,
		       .user_frame = WS_NONE,
		       .pc_frames_from = WS_NONE,
		       .stack_status = WS_ABSENT,
		       .assertion = { .status = WS_ABSENT },
		       .frames = p->frames },
		.access = { .pc = 0x1000,
			    .text = "LDG.E R4, [R2.64]",
			    .kernel = WS_NONE,
			    .space = WS_SPACE_GLOBAL,
			    .bank = WS_NONE,
			    .rank = WS_NONE,
			    .width = 4,
			    .lanes = 0xff,
			    .suspects = 0xff,
			    .lane = WS_NONE,
			    .below = { .status = WS_ABSENT },
			    .above = { .status = WS_ABSENT },
			    .owner = { .range_status = WS_ABSENT } },
		.kernel = { .name = ws_str_of("void k<float>(int)"),
			    .name_short = ws_str_of("k"),
			    .params_status = WS_ABSENT,
			    .params_offset = 0x160,
			    .grid = { .grid_dim = { 3, 1, 1 }, .block_dim = { 32, 1, 1 } } },
	};
	for (uint32_t i = 0; i < WSI_COUNT(p->frames); i++)
		p->frames[i] = (struct ws_report_frame){ .level = i,
							 .pc = 0x2000 + 16 * i,
							 .function = ws_str_of("f(int)"),
							 .function_short = ws_str_of("f"),
							 .line_status = WS_ABSENT };
}

#endif
