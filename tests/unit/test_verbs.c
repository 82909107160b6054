/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs answer, from the library: the program prints the same, byte for byte. */
#define _XOPEN_SOURCE 700 /* popen */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <warpscope/report.h>
#include <warpscope/symbols.h>
#include <warpscope/verbs.h>

enum { MOST = 1 << 20, MANY = 8192 };

/* ---- what is written, here and by the program ---- */

struct page {
	struct ws_out out;
	size_t len;
	char bytes[MOST];
};

static struct page page, printed;

static bool page_take(void *user, const char *bytes, size_t len)
{
	struct page *to = user;
	assert_true(len < sizeof to->bytes - to->len);
	memcpy(to->bytes + to->len, bytes, len);
	to->len += len;
	to->bytes[to->len] = '\0';
	return true;
}

static struct ws_out *page_begin(void)
{
	page.len = 0;
	page.bytes[0] = '\0';
	ws_out_init(&page.out, page_take, &page);
	return &page.out;
}

static const struct ws_answer_style *page_style(bool json)
{
	static struct ws_answer_style style;
	style = (struct ws_answer_style){ .out = page_begin(), .json = json };
	return &style;
}

/* Runs the program; its exit status. What it prints is in `printed`. */
static int program_run(const char *words, const char *folder)
{
	char command[2000];
	const char *program = getenv("WS_TEST_PROGRAM");
	assert_non_null(program);
	assert_true(
		wsi_format(command, "cd \"%s\" && \"%s\" %s 2>/dev/null", folder, program, words));
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	printed.len = fread(printed.bytes, 1, sizeof printed.bytes - 1, pipe);
	printed.bytes[printed.len] = '\0';
	return WEXITSTATUS(pclose(pipe));
}

static void assert_printed(const char *words, const char *folder, int status)
{
	assert_int_equal(ws_out_flush(&page.out, NULL), WS_OK);
	assert_int_equal(program_run(words, folder), status);
	assert_string_equal(printed.bytes, page.bytes);
}

static const char *folder_of(const char *variable)
{
	const char *folder = getenv(variable);
	assert_non_null(folder);
	return folder;
}

/* ---- dumps ---- */

static struct ws_target *dump_open(const char *name)
{
	char path[1000];
	struct ws_target *target = NULL;
	assert_true(wsi_format(path, "%s/%s", folder_of("WS_TEST_DUMPS"), name));
	assert_int_equal(ws_core_open(path, NULL, &target, NULL), WS_OK);
	return target;
}

static void report_from_a_path(void **state)
{
	(void)state;
	const char *folder = folder_of("WS_TEST_DUMPS");
	const struct ws_report *report;
	struct ws_report_options options = { .size = sizeof options, .path = "other" };
	char path[1000];
	assert_true(wsi_format(path, "%s/hang.nvcudmp", folder));
	assert_int_equal(ws_report_create_from_file(path, NULL, &report, NULL), WS_OK);
	assert_int_equal(ws_report_text(report, NULL, page_begin(), NULL), WS_OK);
	ws_report_destroy(report);
	assert_printed(path, folder, 0);
	assert_int_equal(ws_report_create_from_file(path, &options, &report, NULL), WS_OK);
	assert_int_equal(ws_report_text(report, NULL, page_begin(), NULL), WS_OK);
	ws_report_destroy(report);
	assert_int_equal(ws_out_flush(&page.out, NULL), WS_OK);
	assert_non_null(strstr(page.bytes, "warpscope info other warps")); /* advice */
	options.size--;
	assert_int_equal(ws_report_create_from_file(path, &options, &report, NULL), WS_ARGUMENT);
	assert_int_equal(ws_report_create_from_file(folder, NULL, &report, NULL), WS_IO);
}

static void check_is_as_printed(void **state)
{
	(void)state;
	struct ws_check_summary summary;
	struct ws_target *target = dump_open("hang.nvcudmp");
	const struct ws_core *core = ws_target_core(target);
	assert_int_equal(
		ws_check_answer(core, "hang.nvcudmp", 20, page_style(false), &summary, NULL),
		WS_OK);
	assert_int_equal(summary.findings, 0);
	assert_printed("check hang.nvcudmp", folder_of("WS_TEST_DUMPS"), 0);
	assert_int_equal(
		ws_check_answer(core, "hang.nvcudmp", 1000, page_style(true), &summary, NULL),
		WS_OK);
	assert_printed("check --json hang.nvcudmp", folder_of("WS_TEST_DUMPS"), 0);
	ws_target_close(target);
}

static void log_is_as_printed(void **state)
{
	(void)state;
	char path[1000];
	const struct ws_log_result *result;
	struct ws_log *log;
	bool is_cut;
	assert_int_equal(ws_log_create(&log, NULL), WS_OK);
	assert_true(wsi_format(path, "%s/kernel.log", folder_of("WS_TEST_LOGS")));
	assert_int_equal(ws_log_read(log, path, 0, &is_cut, NULL), WS_OK);
	assert_int_equal(ws_log_judge(log, &result, NULL), WS_OK);
	assert_int_equal(ws_log_answer(result, page_style(false), NULL), WS_OK);
	char words[1100];
	assert_true(wsi_format(words, "log \"%s\"", path));
	assert_printed(words, ".", 10);
	assert_int_equal(ws_log_answer(result, page_style(true), NULL), WS_OK);
	assert_true(wsi_format(words, "log --json \"%s\"", path));
	assert_printed(words, ".", 10);
	ws_log_destroy(log);
}

/* Words of a constant bank, in every format. */
static void mem_is_as_printed(void **state)
{
	(void)state;
	static const struct {
		char format;
		unsigned unit;
		uint64_t count;
		const char *words;
	} cases[] = {
		{ 'x', 4, 8, "/8xw" }, { 'd', 2, 5, "/5dh" }, { 'a', 8, 4, "/4a" },
		{ 'f', 8, 2, "/2fg" }, { 't', 1, 9, "/9tb" }, { 's', 1, 2, "/2s" },
	};
	const char *folder = folder_of("WS_TEST_DUMPS");
	struct ws_target *target = dump_open("hang.nvcudmp");
	struct ws_threads threads;
	char words[200];
	uint64_t n;
	assert_int_equal(ws_threads_init(&threads, target, NULL, NULL), WS_OK);
	struct ws_mem query = { .at = { .space = WS_SPACE_CONST,
					.device_index = threads.focus.device_index,
					.grid_index = threads.focus.grid_index,
					.warp_index = threads.focus.warp_index,
					.lane = threads.focus.lane,
					.address = 0x210 } };
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		query.format = cases[i].format;
		query.unit = cases[i].unit;
		query.count = cases[i].count;
		assert_int_equal(ws_mem_answer(&threads, &query, page_style(false), &n, NULL),
				 WS_OK);
		assert_true(n >= query.count);
		assert_true(
			wsi_format(words, "mem hang.nvcudmp const[0]:0x210 %s", cases[i].words));
		assert_printed(words, folder, 0);
		assert_int_equal(ws_mem_answer(&threads, &query, page_style(true), &n, NULL),
				 WS_OK);
		assert_true(wsi_format(words, "mem --json hang.nvcudmp const[0]:0x210 %s",
				       cases[i].words));
		assert_printed(words, folder, 0);
	}
	query.format = 'f'; /* of 1 byte */
	assert_int_equal(ws_mem_answer(&threads, &query, page_style(false), &n, NULL), WS_ARGUMENT);
	query.format = 'x';
	query.count = (uint64_t)WS_MEM_MOST_BYTES + 1;
	assert_int_equal(ws_mem_answer(&threads, &query, page_style(true), &n, NULL), WS_ARGUMENT);
	ws_threads_fini(&threads);
	ws_target_close(target);
}

/* Every address of a thread's code is in its kernel; one outside all code is in none. */
static void symbols_are_looked_up_once(void **state)
{
	(void)state;
	struct ws_target *target = dump_open("hang.nvcudmp");
	struct ws_symbols *symbols;
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n;
	assert_int_equal(ws_target_lanes(target, 0, lanes, &n, NULL), WS_OK);
	assert_int_equal(ws_symbols_create(target, &symbols, NULL), WS_OK);
	const struct ws_symbol *first = ws_symbols_find(symbols, 0, NULL, lanes[0].pc);
	assert_int_equal(first->function_status, WS_OK);
	assert_int_equal(first->line_status, WS_OK);
	const char *function = first->function;
	struct ws_place place;
	assert_int_equal(ws_symbols_place(symbols, 0, NULL, lanes[0].pc, &place), WS_OK);
	assert_true(place.function && place.rel_pc == first->rel_pc);
	for (uint64_t off = 1; off < 1000; off++) /* the table grows */
		assert_int_not_equal(ws_symbols_find(symbols, 0, NULL, off)->function_status,
				     WS_OK);
	assert_ptr_equal(ws_symbols_find(symbols, 0, NULL, lanes[0].pc)->function, function);
	ws_symbols_destroy(symbols);
	ws_target_close(target);
}

/* A place with lines, and two that are nowhere. */
static void symbolize_is_as_printed(void **state)
{
	(void)state;
	static const struct {
		const char *place, *function;
		uint64_t offset;
	} cases[] = { { "gather_rows+0x40", "gather_rows", 0x40 },
		      { "0x10000000000", NULL, UINT64_C(0x10000000000) },
		      { "nobody", "nobody", 0 } };
	const char *folder = folder_of("WS_TEST_DUMPS");
	struct ws_target *target = dump_open("illegal-address.nvcudmp");
	struct ws_module module;
	struct ws_code_image image = { .index = 0 };
	struct ws_symbolized answer;
	struct ws_json json;
	char words[300];
	assert_int_equal(ws_target_module(target, 0, &module, NULL), WS_OK);
	assert_int_equal(ws_cubin_open(module.relocated, &image.cubin, NULL), WS_OK);
	ws_cubin_facts(image.cubin, &image.facts);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		ws_symbolize(&image, 1, cases[i].function, cases[i].offset, &answer);
		const int status = answer.status == WS_OK ? 0 : 1;
		assert_int_equal(status, i > 0);
		ws_symbolized_text(&answer, cases[i].place, false, page_begin());
		assert_true(
			wsi_format(words, "symbolize illegal-address.nvcudmp %s", cases[i].place));
		assert_printed(words, folder, status);
		ws_json_begin(&json, page_begin(), "warpscope-symbolize-1");
		ws_json_key_text(&json, "path", "illegal-address.nvcudmp");
		ws_json_key_array(&json, "answers");
		ws_symbolized_json(&answer, cases[i].place, &json);
		ws_json_end(&json);
		ws_json_end(&json);
		assert_true(wsi_format(words, "symbolize --json illegal-address.nvcudmp %s",
				       cases[i].place));
		assert_printed(words, folder, status);
	}
	ws_symbolize(&image, 1, cases[0].function, cases[0].offset, &answer);
	assert_true(answer.n > 0 && answer.chain[answer.n - 1].line > 0);
	assert_ptr_equal(answer.image, &image);
	ws_chain_text(page_begin(), answer.chain, answer.n, false);
	assert_int_equal(ws_out_flush(&page.out, NULL), WS_OK);
	assert_non_null(strstr(page.bytes, "  #0 gather_rows at "));
	ws_cubin_close(image.cubin);
	ws_target_close(target);
}

/* An image of a dump of the examples; close `*ret_target` and the cubin. */
static struct ws_code_images image_open(const char *name, struct ws_code_image *image,
					struct ws_target **ret_target)
{
	struct ws_module module;
	*image = (struct ws_code_image){ .index = 0 };
	*ret_target = dump_open(name);
	assert_int_equal(ws_target_module(*ret_target, 0, &module, NULL), WS_OK);
	assert_int_equal(ws_cubin_open(module.relocated, &image->cubin, NULL), WS_OK);
	ws_cubin_facts(image->cubin, &image->facts);
	return (struct ws_code_images){ name, image, 1 };
}

static void lines_are_as_printed(void **state)
{
	(void)state;
	static const struct {
		struct ws_lines query;
		const char *words;
	} cases[] = {
		{ { .function = NULL }, "" },
		{ { .function = "gather_rows", .full_names = true },
		  "--function gather_rows --full-names" },
		{ { .has_pc = true, .pc = 0x40 }, "--pc 0x40" },
		{ { .source = "deep.cu", .source_line = 58 }, "--source deep.cu:58" },
		{ { .raw = true }, "--raw" },
	};
	struct ws_code_image image;
	struct ws_target *target;
	struct ws_code_images images = image_open("illegal-address.nvcudmp", &image, &target);
	struct ws_line_map *map;
	struct ws_line_seq seq;
	struct ws_place place;
	char words[300];
	bool shown;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		for (int json = 0; json < 2; json++) {
			assert_int_equal(ws_lines_answer(&images, &cases[i].query, page_style(json),
							 &shown, NULL),
					 WS_OK);
			assert_true(wsi_format(words, "lines %s illegal-address.nvcudmp %s",
					       json ? "--json" : "", cases[i].words));
			assert_printed(words, folder_of("WS_TEST_DUMPS"), !shown);
		}
	}
	assert_true(shown);
	assert_int_equal(ws_cubin_line_map(image.cubin, &map, NULL), WS_OK);
	assert_int_equal(ws_line_seq_at(map, 0, &seq, NULL), WS_OK);
	assert_int_equal(ws_cubin_seq_place(image.cubin, &seq, &place, NULL), WS_OK);
	assert_true(place.owner && place.sec_off == 0);
	assert_false(ws_cubin_seq_is_dropped(image.cubin, &seq));
	ws_cubin_close(image.cubin);
	ws_target_close(target);
}

static const struct {
	struct ws_disas query;
	const char *words;
} disas_cases[] = {
	{ { .control = true, .hex = true }, "--control --hex" },
	{ { .has_pc = true, .pc = 0x80, .source = true }, "--pc 0x80 --source" },
	{ { .blocks = true }, "--cfg" },
	{ { .assembly = true }, "--asm" },
};

static void disas_is_as_printed(void **state)
{
	(void)state;
	struct ws_code_image image;
	struct ws_target *target;
	struct ws_code_images images = image_open("illegal-address.nvcudmp", &image, &target);
	const struct ws_disas values = { .values = true };
	struct ws_disas_told told;
	struct ws_threads threads;
	char words[300];
	for (size_t i = 0; i < sizeof disas_cases / sizeof disas_cases[0]; i++) {
		for (int json = 0; json < (disas_cases[i].query.assembly ? 1 : 2); json++) {
			assert_int_equal(ws_disas_answer(&images, &disas_cases[i].query,
							 page_style(json), &told, NULL),
					 WS_OK);
			assert_true(told.shown && told.n_total > 0 && told.n_unknown == 0);
			assert_true(wsi_format(words, "disas %s illegal-address.nvcudmp %s",
					       json ? "--json" : "", disas_cases[i].words));
			assert_printed(words, folder_of("WS_TEST_DUMPS"), 0);
		}
	}
	assert_int_equal(ws_threads_init(&threads, target, NULL, NULL), WS_OK);
	for (int json = 0; json < 2; json++) {
		assert_int_equal(ws_disas_thread_answer(&threads, "illegal-address.nvcudmp",
							&values, page_style(json), &told, NULL),
				 WS_OK);
		assert_true(wsi_format(words,
				       "disas %s illegal-address.nvcudmp --regs=current "
				       "warp current",
				       json ? "--json" : ""));
		assert_printed(words, folder_of("WS_TEST_DUMPS"), 0);
	}
	threads.focus.lane = 99;
	assert_int_equal(
		ws_disas_thread_answer(&threads, "", &values, page_style(false), &told, NULL),
		WS_ABSENT);
	ws_threads_fini(&threads);
	ws_cubin_close(image.cubin);
	ws_target_close(target);
}

static void regs_are_as_printed(void **state)
{
	(void)state;
	static const struct {
		const char *word; /* NULL: all registers */
		const char *filter[2];
	} cases[] = { { NULL, { "lane", "current" } },
		      { "R0-R3,UR2,P", { "warp", "current" } },
		      { "$R5", { "device", "0" } },
		      { "pc", { "lane", "3" } },
		      { NULL, { "block", "100000,0,0" } } };
	const char *folder = folder_of("WS_TEST_DUMPS");
	struct ws_target *target = dump_open("misaligned-G.nvcudmp");
	struct ws_threads threads;
	struct ws_regs_told told;
	assert_int_equal(ws_threads_init(&threads, target, NULL, NULL), WS_OK);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ws_regs_chosen chosen = { .some = false };
		struct ws_filter filter;
		const char *bad, *word = cases[i].word ? cases[i].word : "";
		char first[16], second[16], *argv[2] = { first, second }, words[300];
		assert_true(!*word || ws_regs_choose(&chosen, word));
		assert_true(wsi_format(first, "%s", cases[i].filter[0]) &&
			    wsi_format(second, "%s", cases[i].filter[1]));
		assert_true(ws_filter_parse(&filter, &threads.at, 2, argv, &bad));
		assert_int_equal(
			ws_regs_answer(&threads, &filter, &chosen, page_style(false), &told, NULL),
			WS_OK);
		assert_int_equal(told.n_lanes > 0, i != 4);
		const char *quote = *word ? "'" : "";
		assert_true(wsi_format(words, "regs misaligned-G.nvcudmp %s%s%s %s %s", quote, word,
				       quote, first, second));
		assert_printed(words, folder, 0);
		assert_int_equal(
			ws_regs_answer(&threads, &filter, &chosen, page_style(true), &told, NULL),
			WS_OK);
		assert_true(wsi_format(words, "regs --json misaligned-G.nvcudmp %s%s%s %s %s",
				       quote, word, quote, first, second));
		assert_printed(words, folder, 0);
	}
	ws_threads_fini(&threads);
	ws_target_close(target);
}

/* The stack of the thread that the program shows, its variables, and an expression in all lanes of
 * its warp: of code with debug information, and of code without. */
static void stack_is_as_printed(const char *name, const char *expression)
{
	const char *folder = folder_of("WS_TEST_DUMPS");
	struct ws_target *target = dump_open(name);
	struct ws_threads threads;
	struct ws_stack stack;
	struct ws_filter warp = { .nothing = false };
	struct ws_resident place;
	const struct ws_bt all = { UINT64_MAX, UINT64_MAX, .full = true };
	const struct ws_locals locals = { .no_args = false };
	struct ws_print print = { .expression = expression };
	struct ws_json json;
	char words[300];
	assert_int_equal(ws_threads_init(&threads, target, NULL, NULL), WS_OK);
	assert_int_equal(ws_stack_open(&stack, &threads, NULL), WS_OK);
	assert_true(stack.n_frames > 0 && stack.at == 0);
	assert_int_equal(ws_vars_frames_left_out(stack.vars), 0);
	assert_int_equal(ws_vars_frames_in_system(stack.vars), 0);
	assert_int_equal(ws_vars_select_inlined(stack.vars, 99, 0, NULL), WS_ABSENT);
	assert_true(ws_threads_resident(&threads, &warp, WS_WALK_LANES, threads.focus.warp_index,
					&place));
	assert_int_equal(ws_resident_focus(&place, &place.lanes[0]).warp_index,
			 threads.focus.warp_index);
	ws_json_begin(&json, page_begin(), "warpscope-test-1");
	ws_resident_json(&place, &place.lanes[0], &json);
	ws_function_json(&json, "_Z3foov");
	ws_json_end(&json);
	assert_int_equal(ws_out_flush(&page.out, NULL), WS_OK);
	assert_non_null(strstr(page.bytes, "\"warp\": "));
	assert_non_null(strstr(page.bytes, "\"function_mangled\": \"_Z3foov\""));
	assert_int_equal(ws_bt_answer(&stack, &all, page_style(false), NULL), WS_OK);
	assert_true(wsi_format(words, "bt --full %s lane current", name));
	assert_printed(words, folder, 0);
	assert_int_equal(ws_bt_answer(&stack, &all, page_style(true), NULL), WS_OK);
	assert_true(wsi_format(words, "bt --json --full %s lane current", name));
	assert_printed(words, folder, 0);
	assert_int_equal(ws_locals_answer(&stack, &locals, page_style(false), NULL), WS_OK);
	assert_true(wsi_format(words, "locals %s lane current", name));
	assert_printed(words, folder, 0);
	assert_int_equal(ws_locals_answer(&stack, &locals, page_style(true), NULL), WS_OK);
	assert_true(wsi_format(words, "locals --json %s lane current", name));
	assert_printed(words, folder, 0);
	assert_int_equal(ws_print_answer(&stack, &print, page_style(false), NULL), WS_OK);
	assert_true(wsi_format(words, "print %s '%s' lane current", name, expression));
	assert_printed(words, folder, 0);
	for (unsigned word = WS_FILTER_device; word <= WS_FILTER_warp; word++)
		ws_filter_current(&warp, &threads.at, (enum ws_filter_word)word);
	print.lanes = &warp;
	assert_int_equal(ws_print_answer(&stack, &print, page_style(true), NULL), WS_OK);
	assert_true(
		wsi_format(words, "print --json --lanes %s '%s' warp current", name, expression));
	assert_printed(words, folder, 0);
	print.expression = "nobody + 1";
	assert_int_equal(ws_print_answer(&stack, &print, page_style(false), NULL), WS_ARGUMENT);
	ws_stack_close(&stack);
	ws_threads_fini(&threads);
	ws_target_close(target);
}

static void stacks_are_as_printed(void **state)
{
	(void)state;
	stack_is_as_printed("misaligned-G.nvcudmp", "threadIdx.x * 3");
	stack_is_as_printed("illegal-address.nvcudmp", "$R4");
	assert_string_equal(ws_confidence_text(WS_CONFIDENCE_LIKELY), "likely");
}

static bool no_memory;
static unsigned long allocations, fails_at;

static bool fails(void)
{
	return no_memory && ++allocations >= fails_at;
}

/* Wherever memory runs out, the answer says so, and is else the same. */
static void stack_without_memory(void **state)
{
	(void)state;
	struct ws_target *target = dump_open("misaligned-G.nvcudmp");
	struct ws_threads threads;
	struct ws_stack stack;
	struct ws_filter everything = { .nothing = false };
	const struct ws_print print = { .expression = "threadIdx.x % 7 * 2", .lanes = &everything };
	static char expected[MOST];
	enum ws_status st = WS_NO_MEMORY;
	unsigned long lost = 0;
	assert_int_equal(ws_threads_init(&threads, target, NULL, NULL), WS_OK);
	assert_int_equal(ws_stack_open(&stack, &threads, NULL), WS_OK);
	assert_int_equal(ws_print_answer(&stack, &print, page_style(false), NULL), WS_OK);
	ws_stack_close(&stack);
	assert_int_equal(ws_out_flush(&page.out, NULL), WS_OK);
	memcpy(expected, page.bytes, page.len + 1);
	wsi_alloc_should_fail = fails;
	for (fails_at = 1; st != WS_OK; fails_at++) {
		no_memory = true;
		allocations = 0;
		st = ws_stack_open(&stack, &threads, NULL);
		if (st == WS_OK)
			st = ws_print_answer(&stack, &print, page_style(false), NULL);
		no_memory = false;
		ws_stack_close(&stack);
		lost += st == WS_NO_MEMORY;
		assert_true(fails_at < 5000);
	}
	wsi_alloc_should_fail = NULL;
	assert_true(lost > 3);
	assert_int_equal(ws_out_flush(&page.out, NULL), WS_OK);
	assert_string_equal(page.bytes, expected);
	ws_threads_fini(&threads);
	ws_target_close(target);
}

static void disas_without_memory(void **state)
{
	(void)state;
	struct ws_code_image image;
	struct ws_target *target;
	struct ws_code_images images = image_open("illegal-address.nvcudmp", &image, &target);
	const struct ws_disas query = { .assembly = true };
	struct ws_disas_told told;
	static char expected[MOST];
	enum ws_status st = ws_disas_answer(&images, &query, page_style(false), &told, NULL);
	unsigned long lost = 0;
	assert_int_equal(st, WS_OK);
	assert_int_equal(ws_out_flush(&page.out, NULL), WS_OK);
	memcpy(expected, page.bytes, page.len + 1);
	wsi_alloc_should_fail = fails;
	for (st = WS_NO_MEMORY, fails_at = 1; st != WS_OK; fails_at++) {
		no_memory = true;
		allocations = 0;
		st = ws_disas_answer(&images, &query, page_style(false), &told, NULL);
		no_memory = false;
		lost += st == WS_NO_MEMORY;
		assert_true(fails_at < 5000);
	}
	wsi_alloc_should_fail = NULL;
	assert_true(lost > 5);
	assert_int_equal(ws_out_flush(&page.out, NULL), WS_OK);
	assert_string_equal(page.bytes, expected);
	ws_cubin_close(image.cubin);
	ws_target_close(target);
}

/* ---- info ---- */

/* Every table, and the list of them. */
static void info_is_as_printed(void **state)
{
	(void)state;
	const char *folder = folder_of("WS_TEST_DUMPS");
	struct ws_target *target = dump_open("misaligned-G.nvcudmp");
	struct ws_threads threads;
	struct ws_info_told told;
	char words[100];
	assert_int_equal(ws_threads_init(&threads, target, NULL, NULL), WS_OK);
	for (size_t i = 0; ws_info_table_name(i); i++) {
		const struct ws_info info = { .table = ws_info_table_name(i),
					      .address = 0x7f2b4c0000a0,
					      .coalesce = true };
		const char *address = strcmp(info.table, "where") == 0 ? "0x7f2b4c0000a0" : "";
		for (int json = 0; json < 2; json++) {
			assert_int_equal(
				ws_info_answer(&threads, &info, page_style(json), &told, NULL),
				WS_OK);
			assert_true(wsi_format(words, "info %s misaligned-G.nvcudmp %s %s",
					       json ? "--json" : "", info.table, address));
			if (strcmp(info.table, "metadata") != 0) /* it has the path */
				assert_printed(words, folder, 0);
		}
	}
	const struct ws_info none = { .table = "sm" }, list = { .table = NULL };
	struct ws_error err;
	assert_int_equal(ws_info_answer(&threads, &none, page_style(false), &told, &err),
			 WS_ARGUMENT);
	assert_string_equal(err.message, "no table 'sm'");
	assert_int_equal(ws_info_answer(&threads, &list, page_style(true), &told, NULL), WS_OK);
	assert_printed("info --json misaligned-G.nvcudmp", folder, 0);
	ws_threads_fini(&threads);
	ws_target_close(target);
}

/* Wherever memory runs out, the answer says so; as JSON it is whole. */
static void info_without_memory(void **state)
{
	(void)state;
	static const char *const tables[] = { "modules", "kernels", "threads", "managed", "where" };
	static char expected[MOST];
	struct ws_target *target = dump_open("misaligned-G.nvcudmp");
	struct ws_threads threads;
	struct ws_info_told told;
	assert_int_equal(ws_threads_init(&threads, target, NULL, NULL), WS_OK);
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
		const struct ws_info info = { .table = tables[i], .address = 0x7f2b4c0000a0 };
		enum ws_status st = WS_NO_MEMORY;
		assert_int_equal(ws_info_answer(&threads, &info, page_style(true), &told, NULL),
				 WS_OK);
		assert_int_equal(ws_out_flush(&page.out, NULL), WS_OK);
		memcpy(expected, page.bytes, page.len + 1);
		wsi_alloc_should_fail = fails;
		bool is_same = false;
		for (fails_at = 1; !is_same; fails_at++) {
			no_memory = true;
			allocations = 0;
			st = ws_info_answer(&threads, &info, page_style(true), &told, NULL);
			no_memory = false;
			assert_true(st == WS_OK || st == WS_NO_MEMORY);
			assert_int_equal(ws_out_flush(&page.out, NULL), WS_OK);
			assert_string_equal(page.bytes + page.len - 3, "\n}\n");
			is_same = strcmp(page.bytes, expected) == 0;
			assert_true(is_same || st == WS_NO_MEMORY);
			assert_true(fails_at < 5000);
		}
		wsi_alloc_should_fail = NULL;
	}
	ws_threads_fini(&threads);
	ws_target_close(target);
}

/* Names of registers; a word that is none changes nothing. */
static void registers_are_chosen_by_name(void **state)
{
	(void)state;
	static const char *const bad[] = { "R256", "X1", "R4-P5", "R5-R4", "R1,", "", "r1" };
	struct ws_regs_chosen chosen = { .some = false };
	const struct ws_regs_chosen none = chosen;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_false(ws_regs_choose(&chosen, bad[i]));
		assert_memory_equal(&chosen, &none, sizeof chosen);
	}
	assert_true(ws_regs_choose(&chosen, "R4-R6,$UP"));
	uint32_t n = 0;
	for (uint32_t i = 0; i < WS_MOST_REGISTERS; i++)
		n += chosen.is_chosen[0][i] + chosen.is_chosen[3][i];
	assert_true(chosen.some && chosen.is_chosen[0][4] && chosen.is_chosen[0][6]);
	assert_int_equal(n, 3 + WS_MOST_REGISTERS);
}

/* ---- diff ---- */

struct told {
	struct {
		enum ws_diff_kind kind;
		char text[1400];
	} at[MANY];
	uint32_t n;
};

static struct told whole, part;

static void told_add(void *user, const struct ws_difference *one)
{
	struct told *told = user;
	assert_true(told->n < MANY);
	told->at[told->n].kind = one->kind;
	assert_true(wsi_format(told->at[told->n++].text, "%s|%s|%s", one->key, one->a ? one->a : "",
			       one->b ? one->b : ""));
}

static uint32_t told_of_kind(const struct told *told, enum ws_diff_kind kind)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < told->n; i++)
		n += told->at[i].kind == kind;
	return n;
}

static void diff_tells_each_difference_up_to_the_limit(void **state)
{
	(void)state;
	struct ws_diff_counts all, few;
	struct ws_target *a = dump_open("illegal-address.nvcudmp"),
			 *b = dump_open("misaligned-G.nvcudmp");
	const struct ws_report_options options = { .size = sizeof options, .no_source = true };
	const struct ws_report *report;
	whole.n = part.n = 0;
	assert_int_equal(ws_diff(a, b, 0, told_add, &whole, &all, NULL), WS_OK);
	assert_int_equal(ws_diff(a, b, 1, told_add, &part, &few, NULL), WS_OK);
	assert_memory_equal(&all, &few, sizeof all);
	assert_int_equal(all.total, whole.n);
	for (int kind = 0; kind < WS_N_DIFF_KINDS; kind++) {
		assert_int_equal(all.found[kind], told_of_kind(&whole, (enum ws_diff_kind)kind));
		assert_int_equal(all.found[kind] > 0, told_of_kind(&part, (enum ws_diff_kind)kind));
	}
	assert_int_equal(ws_report_create(a, &options, &report, NULL), WS_OK);
	assert_int_equal(all.found[WS_DIFF_verdict], 1);
	assert_non_null(strstr(whole.at[0].text, report->summary));
	ws_report_destroy(report);
	ws_target_close(a);
	ws_target_close(b);
}

static void diff_is_as_printed(void **state)
{
	(void)state;
	static const char *const names[2] = { "illegal-address.nvcudmp", "misaligned-G.nvcudmp" };
	const char *folder = folder_of("WS_TEST_DUMPS");
	struct ws_diff_counts counts;
	struct ws_target *a = dump_open(names[0]), *b = dump_open(names[1]);
	assert_int_equal(ws_diff_answer(a, b, names, 20, page_style(false), &counts, NULL), WS_OK);
	assert_printed("diff illegal-address.nvcudmp misaligned-G.nvcudmp", folder, 10);
	assert_int_equal(ws_diff_answer(a, b, names, 20, page_style(true), &counts, NULL), WS_OK);
	assert_printed("diff --json illegal-address.nvcudmp misaligned-G.nvcudmp", folder, 10);
	assert_int_equal(ws_diff_answer(a, a, names, 20, page_style(false), &counts, NULL), WS_OK);
	assert_int_equal(counts.total, 0);
	assert_printed("diff hang.nvcudmp hang.nvcudmp", folder, 0);
	ws_target_close(a);
	ws_target_close(b);
}

static uint64_t allocations, failing;

static bool is_turn(void)
{
	return ++allocations == failing;
}

/* What is told before memory runs out is true; the end says that not all was. */
static void diff_without_memory_tells_nothing_false(void **state)
{
	(void)state;
	struct ws_diff_counts counts;
	struct ws_target *a = dump_open("illegal-address.nvcudmp"),
			 *b = dump_open("misaligned-G.nvcudmp");
	whole.n = 0;
	allocations = failing = 0;
	wsi_alloc_should_fail = is_turn;
	assert_int_equal(ws_diff(a, b, 0, told_add, &whole, &counts, NULL), WS_OK);
	const uint64_t n = allocations;
	bool failed = false;
	for (uint64_t back = 0; back < n; back += 1 + back / 4) { /* ws_diff's own are the last */
		part.n = 0;
		allocations = 0;
		failing = n - back;
		enum ws_status st = ws_diff(a, b, 0, told_add, &part, &counts, NULL);
		assert_true(st == WS_OK || st == WS_NO_MEMORY);
		failed |= st == WS_NO_MEMORY;
		assert_true(st == WS_NO_MEMORY || part.n == whole.n);
		for (uint32_t i = 0; i < part.n; i++)
			assert_string_equal(part.at[i].text, whole.at[i].text);
	}
	wsi_alloc_should_fail = NULL;
	assert_true(failed);
	ws_target_close(a);
	ws_target_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(report_from_a_path),
		cmocka_unit_test(check_is_as_printed),
		cmocka_unit_test(log_is_as_printed),
		cmocka_unit_test(mem_is_as_printed),
		cmocka_unit_test(symbols_are_looked_up_once),
		cmocka_unit_test(symbolize_is_as_printed),
		cmocka_unit_test(lines_are_as_printed),
		cmocka_unit_test(disas_is_as_printed),
		cmocka_unit_test(disas_without_memory),
		cmocka_unit_test(regs_are_as_printed),
		cmocka_unit_test(stacks_are_as_printed),
		cmocka_unit_test(stack_without_memory),
		cmocka_unit_test(info_is_as_printed),
		cmocka_unit_test(info_without_memory),
		cmocka_unit_test(registers_are_chosen_by_name),
		cmocka_unit_test(diff_tells_each_difference_up_to_the_limit),
		cmocka_unit_test(diff_is_as_printed),
		cmocka_unit_test(diff_without_memory_tells_nothing_false),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
