/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpscope strip DUMP -o FILE: a smaller dump, safe to share, with the same verdict. What --keep
 * fault and --for-issue keep is found in the report here; src/write/memory.c goes by it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <warpscope/report.h>
#include <warpscope/write.h>

#include "cli.h"

enum {
	KEPT_AROUND = 256, /* power of 2 */
	MAX_NUMBERS = 64,  /* that a verdict names */
	SMALL = 0xffff,    /* of the class of small numbers */
	BANK_BYTES = 1 << 16,
	LOCAL_BYTES = 1 << 24, /* of a thread, at most */
	VERDICT = 2048,
};

/* Names, each once. */
struct strip_names {
	char **at; /* owned, each too */
	size_t n, cap;
};

struct strip_request {
	const char *output;
	struct ws_strip_options strip;
	struct ws_write_keep *keeps; /* owned */
	size_t keeps_cap;
	bool keep_fault, for_issue;
	uint32_t numbers[MAX_NUMBERS];
	struct strip_names enumerators;
	char verdict[2][VERDICT]; /* first lines: of the dump, and of what was made of it */
};

static const struct {
	const char *word;
	uint32_t flag;
} skips[] = {
	{ "images", WS_WRITE_SKIP_IMAGES },   { "global", WS_WRITE_SKIP_GLOBAL },
	{ "shared", WS_WRITE_SKIP_SHARED },   { "local", WS_WRITE_SKIP_LOCAL },
	{ "constbank", WS_WRITE_SKIP_BANKS },
};

static int take_skip(void *query, const char *text)
{
	struct strip_request *request = query;
	while (*text) {
		size_t len = strcspn(text, ","), i = 0;
		while (i < sizeof skips / sizeof skips[0] &&
		       (strlen(skips[i].word) != len || strncmp(text, skips[i].word, len) != 0))
			i++;
		if (i == sizeof skips / sizeof skips[0])
			return cli_usage("strip",
					 "--skip knows images, global, shared, local, "
					 "constbank; not \"%.*s\"",
					 (int)len, text);
		request->strip.write.flags |= skips[i].flag;
		text += len + (text[len] == ',');
	}
	return CLI_ANSWERED;
}

static void keep_add(struct strip_request *request, struct ws_write_keep keep)
{
	size_t *n = &request->strip.write.n_keep;
	cli_grow(&request->keeps, &request->keeps_cap, *n, sizeof keep);
	request->keeps[(*n)++] = keep;
}

static int take_keep(void *query, const char *text)
{
	struct strip_request *request = query;
	struct cli_range range;
	if (strcmp(text, "fault") == 0) {
		request->keep_fault = true;
		return CLI_ANSWERED;
	}
	if (!cli_range(text, &range))
		return cli_usage("strip", "--keep takes SPACE:ADDRESS+LENGTH or fault, not \"%s\"",
				 text);
	keep_add(request,
		 (struct ws_write_keep){ range.space, range.bank, range.address, range.len });
	return CLI_ANSWERED;
}

/* What an access touched, with its neighbourhood. Lanes of a warp often share it. */
static void keep_access(struct strip_request *request, const struct ws_report_access *access)
{
	struct ws_write_keep last = { .len = 0 };
	if (access->space == WS_SPACE_CODE || access->space == WS_SPACE_GENERIC ||
	    access->space == WS_SPACE_CONST)
		return;
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++) {
		if (!((access->lanes_known | access->lanes_guess) >> lane & 1))
			continue;
		uint64_t start = access->address[lane] & ~(uint64_t)(KEPT_AROUND - 1);
		if (last.len && last.address == start)
			continue;
		last = (struct ws_write_keep){ access->space, 0, start, 2 * KEPT_AROUND };
		keep_add(request, last);
	}
}

/* A small number that the verdict names. */
static void number_add(struct strip_request *request, uint64_t value, uint64_t most)
{
	struct ws_strip_options *strip = &request->strip;
	if (value <= most && strip->n_numbers < MAX_NUMBERS)
		request->numbers[strip->n_numbers++] = (uint32_t)value;
}

/* The word that threads wait for, and the number that ends the wait. */
static void keep_wait(struct strip_request *request, const struct ws_report_wait *wait)
{
	const uint64_t pair = 2 * sizeof(uint32_t);
	if (wait->barrier_status == WS_OK) {
		number_add(request, wait->barrier, SMALL);
		number_add(request, wait->expected, SMALL);
	}
	if ((wait->space != WS_SPACE_GLOBAL && wait->space != WS_SPACE_SHARED) ||
	    wait->value_status != WS_OK || wait->value > SMALL)
		return;
	uint64_t start = wait->address - (uint64_t)wait->until_word * wait->value_bytes;
	uint64_t n_words = 1;
	while (n_words < 32 && wait->until_words >> n_words)
		n_words++;
	uint64_t end = (start + n_words * wait->value_bytes + pair - 1) & ~(pair - 1);
	start &= ~(pair - 1);
	keep_add(request, (struct ws_write_keep){ wait->space, 0, start, end - start });
	number_add(request, wait->value, SMALL);
	if (wait->until_status == WS_OK)
		number_add(request, wait->until_value + wait->until_plus, SMALL);
}

/* Addresses in shared or local memory: offsets from where that begins. */
static void keep_offsets(struct strip_request *request, const struct ws_report_access *access)
{
	if (access->space != WS_SPACE_SHARED && access->space != WS_SPACE_LOCAL)
		return;
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++)
		if ((access->lanes_known | access->lanes_guess) >> lane & 1)
			number_add(request, access->address[lane], SMALL);
}

/* Where the stack of a kernel's threads begins, as the code reads it: an offset in local memory,
 * like R1 [measured: nvcc 13.0; c[0x0][0x28], from sm_100 on c[0x0][0x37c]]. */
static void keep_stack(struct strip_request *request, const struct ws_target *target,
		       const struct ws_report_kernel *kernel)
{
	static const uint16_t at[] = { 0x28, 0x37c };
	for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
		const struct ws_address address = { .space = WS_SPACE_CONST,
						    .device_index = kernel->device_index,
						    .grid_index = kernel->grid_index,
						    .warp_index = WS_NONE,
						    .address = at[i] };
		uint8_t bytes[4];
		size_t n;
		if (ws_target_read_memory(target, &address, bytes, sizeof bytes, &n, NULL) == WS_OK)
			number_add(request,
				   (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
					   (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24,
				   LOCAL_BYTES - 1);
	}
}

/* --for-issue: what decides the verdict, of what is otherwise left out. Of constant banks and of
 * the stacks of threads that faulted, the pointers stay. */
static void keep_verdict(struct strip_request *request, const struct ws_target *target,
			 const struct ws_report *report)
{
	for (uint32_t bank = 0; bank <= 3; bank += 3) /* parameters; __constant__ variables */
		keep_add(request, (struct ws_write_keep){ WS_SPACE_CONST, bank, 0, BANK_BYTES });
	if (report->n_exceptions) /* else all threads are kept */
		keep_add(request, (struct ws_write_keep){ WS_SPACE_LOCAL, 0, 0, LOCAL_BYTES });
	for (uint32_t i = 0; i < report->n_waits; i++)
		keep_wait(request, &report->waits[i]);
	for (uint32_t i = 0; i < report->n_exceptions; i++) {
		const struct ws_report_exception *e = &report->exceptions[i];
		if (e->kernel != WS_NONE)
			keep_stack(request, target, &report->kernels[e->kernel]);
		for (uint32_t k = 0; k < e->n_accesses; k++)
			keep_offsets(request, &e->accesses[k]);
	}
	request->strip.numbers = request->numbers;
}

static const struct ws_report *report_of(const struct ws_target *target, struct ws_error *err)
{
	struct ws_report_options how = { .size = sizeof how, .no_source = true };
	const struct ws_report *report;
	return ws_report_create(target, &how, &report, err) == WS_OK ? report : NULL;
}

/* What the report of the dump shows to be worth keeping. */
static int keep_by_report(struct strip_request *request, const struct ws_target *target,
			  const char *path)
{
	struct ws_error err;
	const struct ws_report *report = report_of(target, &err);
	if (!report)
		return cli_fail(path, &err);
	snprintf(request->verdict[0], sizeof request->verdict[0], "%s", report->summary);
	if (request->for_issue)
		keep_verdict(request, target, report);
	for (uint32_t i = 0; request->keep_fault && i < report->n_exceptions; i++) {
		for (uint32_t k = 0; k < report->exceptions[i].n_accesses; k++)
			keep_access(request, &report->exceptions[i].accesses[k]);
	}
	ws_report_destroy(report);
	return CLI_ANSWERED;
}

static int take_layout(void *query, const char *text)
{
	struct strip_request *request = query;
	uint64_t driver;
	if (*text != 'r' || !cli_number(text + 1, &driver) || driver < WS_WRITE_OLDEST ||
	    driver > WS_WRITE_NEWEST)
		return cli_usage("strip", "--layout takes r%d to r%d", WS_WRITE_OLDEST,
				 WS_WRITE_NEWEST);
	request->strip.write.driver = (uint32_t)driver;
	return CLI_ANSWERED;
}

#define STRIPS(mask) CLI_BITS, .at = offsetof(struct strip_request, strip.strip), .bits = mask
#define WRITES(mask) CLI_BITS, .at = offsetof(struct strip_request, strip.write.flags), .bits = mask
const struct cli_option verb_strip_options[] = {
	{ "output", 'o', CLI_TEXT, .at = offsetof(struct strip_request, output) },
	{ "for-issue", 0, CLI_FLAG, .at = offsetof(struct strip_request, for_issue) },
	{ "lightweight", 0, WRITES(WS_WRITE_LIGHTWEIGHT) },
	{ "skip", 0, CLI_TAKE, .take = take_skip },
	{ "keep", 0, CLI_TAKE, .take = take_keep },
	{ "others", 0, STRIPS(WS_STRIP_OTHERS) },
	{ "faulted-contexts", 0, WRITES(WS_WRITE_FAULTED_CONTEXTS) },
	{ "redact", 0, STRIPS(WS_STRIP_VALUES) },
	{ "drop-ptx", 0, STRIPS(WS_STRIP_PTX) },
	{ "drop-paths", 0, STRIPS(WS_STRIP_PATHS) },
	{ "layout", 0, CLI_TAKE, .take = take_layout },
	{ "gzip", 0, WRITES(WS_WRITE_GZIP) },
	{ 0 },
};

/* ---- what was taken away ---- */

static void enumerator_add(void *user, struct ws_str name)
{
	struct strip_names *names = user;
	size_t at = 0;
	while (at < names->n && !(strlen(names->at[at]) == name.len &&
				  memcmp(names->at[at], name.ptr, name.len) == 0))
		at++;
	if (at < names->n || name.len == 0)
		return;
	cli_grow(&names->at, &names->cap, names->n, sizeof *names->at);
	names->at[names->n] = cli_alloc(name.len + 1, 1);
	memcpy(names->at[names->n++], name.ptr, name.len);
}

static void names_free(struct strip_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->at[i]);
	free(names->at);
}

/* Finds the first line of the new dump's report. */
static int verdict_find(struct cli *cli, struct strip_request *request)
{
	struct ws_target *target, *live = cli->live;
	struct ws_error err;
	cli->live = NULL; /* it takes the place of every file, but not of the new one */
	int status = cli_target_open(cli, request->output, &target);
	cli->live = live;
	if (status != CLI_ANSWERED)
		return status;
	const struct ws_report *report = report_of(target, &err);
	if (report)
		snprintf(request->verdict[1], sizeof request->verdict[1], "%s", report->summary);
	else
		status = cli_fail(request->output, &err);
	ws_report_destroy(report);
	cli_target_close(cli, target);
	return status;
}

static void print_verdict(struct ws_out *out, const struct strip_request *request)
{
	if (strcmp(request->verdict[0], request->verdict[1]) == 0) {
		ws_out_text(out, "first line of the report: the same\n");
		return;
	}
	ws_out_text(out,
		    "first line of the report: says less, because what it rests on was replaced or "
		    "left out\n  before  ");
	ws_out_escaped(out, ws_str_of(request->verdict[0]));
	ws_out_text(out, "\n  now     ");
	ws_out_escaped(out, ws_str_of(request->verdict[1]));
	ws_out_text(out, "\n");
}

static void print_enum_names(struct ws_out *out, const struct strip_names *names)
{
	if (names->n)
		ws_out_printf(out, "names of enumerators that stay: ");
	for (size_t i = 0; i < names->n; i++) {
		ws_out_text(out, i ? ", " : "");
		ws_out_escaped(out, ws_str_of(names->at[i]));
	}
	if (names->n)
		ws_out_text(out, "\n");
}

/* Every count of the account, by its names; `of`: only shown where it differs. */
#define KEPT_LIST(X)            \
	X(contexts, "contexts") \
	X(modules, "modules") X(grids, "grids") X(blocks, "blocks") X(warps, "warps")

static void print_strip_text(struct ws_out *out, const struct ws_stripped *s, uint64_t before,
			     uint64_t after)
{
	ws_out_printf(out, "%" PRIu64 " bytes", after);
	if (before) /* else it was no file */
		ws_out_printf(out, ", was %" PRIu64, before);
	ws_out_text(out, "\n");
#define X(field, words)                        \
	if (s->after.field != s->before.field) \
		ws_out_printf(out, "%s: kept %u of %u\n", words, s->after.field, s->before.field);
	KEPT_LIST(X)
#undef X
	if (s->memory_bytes_kept != s->memory_bytes)
		ws_out_printf(out, "memory: kept %" PRIu64 " of %" PRIu64 " bytes\n",
			      s->memory_bytes_kept, s->memory_bytes);
	if (s->original_images)
		ws_out_printf(out, "images as compiled: removed %" PRIu64 ", %" PRIu64 " bytes\n",
			      s->original_images, s->original_bytes);
	uint64_t replaced =
		s->values[WS_VALUE_SMALL] + s->values[WS_VALUE_FLOAT] + s->values[WS_VALUE_OTHER];
	if (replaced)
		ws_out_printf(out,
			      "values: replaced %" PRIu64 " (small %" PRIu64 ", float %" PRIu64
			      ", other %" PRIu64 "), kept %" PRIu64 " zeros and %" PRIu64
			      " pointer halves\n",
			      replaced, s->values[WS_VALUE_SMALL], s->values[WS_VALUE_FLOAT],
			      s->values[WS_VALUE_OTHER], s->values[WS_VALUE_ZERO],
			      s->values[WS_VALUE_POINTER]);
	if (s->numbers)
		ws_out_printf(out,
			      "numbers that the verdict names: kept %" PRIu64 " word%s with one of "
			      "them\n",
			      s->numbers, s->numbers == 1 ? "" : "s");
	if (s->memory_ranges)
		ws_out_printf(out,
			      "addresses and sizes of global memory: kept of %" PRIu64 " range%s\n",
			      s->memory_ranges, s->memory_ranges == 1 ? "" : "s");
	if (s->constant_bytes)
		ws_out_printf(out, "constants in images: zeroed %" PRIu64 " bytes\n",
			      s->constant_bytes);
	if (s->ptx_bytes)
		ws_out_printf(out, "PTX: blanked %" PRIu64 " bytes\n", s->ptx_bytes);
	if (s->paths)
		ws_out_printf(out, "paths: folders replaced in %" PRIu64 "\n", s->paths);
	if (s->sections)
		ws_out_printf(out,
			      "sections of images that a report does not need: removed %" PRIu64
			      ", %" PRIu64 " bytes\n",
			      s->sections, s->section_bytes);
	if (s->unreadable_images)
		ws_out_printf(out, "images that cannot be read: removed %" PRIu64 "\n",
			      s->unreadable_images);
}

static void print_strip_json(struct cli *cli, const struct strip_request *request,
			     const char *input, const struct ws_stripped *s, uint64_t before,
			     uint64_t after)
{
	static const char *const classes[WS_N_VALUE_CLASSES] = { "zero", "small", "float",
								 "pointer", "other" };
	struct ws_json json;
	ws_json_begin(&json, &cli->out, "warpscope-strip-1");
	ws_json_key_text(&json, "input", input);
	ws_json_key_text(&json, "output", request->output);
	ws_json_key_u64(&json, "bytes_before", before);
	ws_json_key_u64(&json, "bytes_after", after);
	ws_json_key_object(&json, "kept");
#define X(field, words)                                    \
	ws_json_key(&json, words);                         \
	ws_json_object(&json);                             \
	ws_json_key_u64(&json, "before", s->before.field); \
	ws_json_key_u64(&json, "after", s->after.field);   \
	ws_json_end(&json);
	KEPT_LIST(X)
#undef X
	ws_json_end(&json);
	ws_json_key_u64(&json, "memory_bytes", s->memory_bytes);
	ws_json_key_u64(&json, "memory_bytes_kept", s->memory_bytes_kept);
	ws_json_key_u64(&json, "original_images_removed", s->original_images);
	ws_json_key_u64(&json, "original_bytes_removed", s->original_bytes);
	ws_json_key_object(&json, "values");
	for (size_t i = 0; i < WS_N_VALUE_CLASSES; i++)
		ws_json_key_u64(&json, classes[i], s->values[i]);
	ws_json_end(&json);
	ws_json_key_u64(&json, "constant_bytes_zeroed", s->constant_bytes);
	ws_json_key_u64(&json, "ptx_bytes_blanked", s->ptx_bytes);
	ws_json_key_u64(&json, "paths_replaced", s->paths);
	ws_json_key_u64(&json, "sections_removed", s->sections);
	ws_json_key_u64(&json, "section_bytes_removed", s->section_bytes);
	ws_json_key_u64(&json, "unreadable_images_removed", s->unreadable_images);
	ws_json_key_u64(&json, "numbers_kept", s->numbers);
	ws_json_key_u64(&json, "memory_ranges_kept", s->memory_ranges);
	ws_json_key_array(&json, "enumerators_kept");
	for (size_t i = 0; i < request->enumerators.n; i++)
		ws_json_text(&json, request->enumerators.at[i]);
	ws_json_end(&json);
	if (request->for_issue) {
		ws_json_key_text(&json, "verdict_before", request->verdict[0]);
		ws_json_key_text(&json, "verdict_after", request->verdict[1]);
	}
	ws_json_end(&json);
}

/* Size of a file, 0 when it cannot be told. */
static uint64_t file_size(const char *path)
{
	struct stat at;
	return stat(path, &at) == 0 && S_ISREG(at.st_mode) ? (uint64_t)at.st_size : 0;
}

static int strip_dump(struct cli *cli, struct strip_request *request, const char *path)
{
	struct ws_target *target;
	struct ws_stripped stripped;
	struct ws_error err;
	struct ws_dump_facts facts = { 0 };
	int status = cli_target_open(cli, path, &target);
	if (status != CLI_ANSWERED)
		return status;
	if (ws_target_dump_facts(target, &facts, NULL) == WS_OK && facts.cut)
		cli_warn("%s: is not complete, so the new dump is not complete either", path);
	if (request->keep_fault || request->for_issue)
		status = keep_by_report(request, target, path);
	request->strip.enumerator = enumerator_add;
	request->strip.user = &request->enumerators;
	request->strip.write.keep = request->keeps;
	if (status != CLI_ANSWERED) {
		cli_target_close(cli, target);
		return status;
	}
	enum ws_status st = ws_strip(target, request->output, &request->strip, &stripped, &err);
	if (st != WS_OK)
		status = cli_fail(request->output, &err);
	else if (request->for_issue)
		status = verdict_find(cli, request);
	if (status != CLI_ANSWERED) {
		cli_target_close(cli, target);
		return status;
	}
	if (cli->json) {
		print_strip_json(cli, request, path, &stripped, facts.bytes,
				 file_size(request->output));
	} else {
		print_strip_text(&cli->out, &stripped, facts.bytes, file_size(request->output));
		print_enum_names(&cli->out, &request->enumerators);
		if (request->for_issue)
			print_verdict(&cli->out, request);
	}
	cli_target_close(cli, target);
	return status;
}

int verb_strip(struct cli *cli, int argc, char **argv)
{
	struct strip_request request = {
		.strip = { .size = sizeof request.strip,
			   .write = { .size = sizeof request.strip.write } }
	};
	int status = cli_options_take(cli, verb_strip_options, &request, &argc, &argv);
	if (request.for_issue) {
		request.strip.strip |=
			WS_STRIP_OTHERS | WS_STRIP_VALUES | WS_STRIP_PTX | WS_STRIP_PATHS;
		request.strip.write.flags |= WS_WRITE_LIGHTWEIGHT;
	}
	if (status == CLI_ANSWERED && argc != 1)
		status = cli_usage("strip", "one dump is needed");
	if (status == CLI_ANSWERED && !request.output)
		status = cli_usage("strip", "-o FILE is needed");
	if (status == CLI_ANSWERED)
		status = strip_dump(cli, &request, argv[0]);
	free(request.keeps);
	names_free(&request.enumerators);
	return status;
}
