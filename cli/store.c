/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope store: images kept by the identity of their code, to borrow lines from later. */
#include "images.h"
#include "names.h"

#include <stdlib.h>
#include <string.h>

#include <warpscope/store.h>

/* What one run works on; rows are printed as they come, in one of two forms. */
struct storing {
	struct cli *cli;
	struct ws_store *store; /* owned */
	const char *arch, *folder;
	struct ws_borrow_pool *pool; /* owned; find */
	struct ws_table *table;      /* owned; text */
	struct ws_json json;
	size_t n_rows, n_failed;
};

/* ---- one image ---- */

static const char *debug_word(const struct ws_cubin_facts *facts)
{
	return facts->has_debug_info ? "full" : facts->has_lines ? "lines" : "none";
}

static size_t count_kernels(struct ws_cubin *cubin)
{
	const struct ws_function *functions;
	size_t n, n_kernels = 0;
	if (ws_cubin_functions(cubin, &functions, &n, NULL) != WS_OK)
		return 0;
	for (size_t i = 0; i < n; i++)
		n_kernels += functions[i].is_kernel && functions[i].section != 0;
	return n_kernels;
}

/* A row of add (with an outcome) or list (without). */
static void image_row(struct storing *s, const char *outcome, const struct ws_code_id *id,
		      struct ws_cubin *cubin, const char *path)
{
	struct ws_code_image image = { .cubin = cubin };
	char text[WS_CODE_ID_TEXT], arch[16];
	ws_cubin_facts(cubin, &image.facts);
	ws_code_image_arch(&image, arch);
	ws_code_id_text(id, text);
	s->n_rows++;
	if (!s->cli->json) {
		if (outcome)
			ws_table_cell(s->table, ws_str_of(outcome));
		ws_table_cell(s->table, ws_str_of(text));
		ws_table_cell(s->table, ws_str_of(arch));
		ws_table_printf(s->table, "%zu", count_kernels(cubin));
		ws_table_cell(s->table, ws_str_of(debug_word(&image.facts)));
		ws_table_cell(s->table, ws_str_of(path));
		return;
	}
	ws_json_object(&s->json);
	if (outcome)
		ws_json_key_text(&s->json, "outcome", outcome);
	ws_json_key_text(&s->json, "id", text);
	ws_json_key_text(&s->json, "arch", arch);
	ws_json_key_u64(&s->json, "kernels", count_kernels(cubin));
	ws_json_key_text(&s->json, "debug", debug_word(&image.facts));
	ws_json_key_str(&s->json, "path", ws_str_of(path));
	ws_json_end(&s->json);
}

/* ---- add ---- */

static int store_file(struct storing *s, const char *path)
{
	static const char *const words[] = { [WS_STORE_ADDED] = "added",
					     [WS_STORE_PRESENT] = "present",
					     [WS_STORE_REPLACED] = "replaced" };
	struct images images;
	int status = images_open(s->cli, "store", path, s->arch, &images);
	for (size_t i = 0; i < images.code.n && status == CLI_ANSWERED; i++) {
		struct ws_code_id id;
		enum ws_store_outcome outcome;
		struct ws_error err;
		enum ws_status st = ws_store_add(s->store, images.code.item[i].cubin, path, &id,
						 &outcome, &err);
		if (st == WS_OK)
			image_row(s, words[outcome], &id, images.code.item[i].cubin, path);
		else if (st != WS_ABSENT) /* an image without code is no news */
			status = cli_fail(path, &err);
	}
	images_close(&images);
	return status;
}

/* ---- list ---- */

static bool stored_code_take(void *user, const struct ws_code_id *id, const char *path)
{
	struct storing *s = user;
	struct images images;
	if (images_open(s->cli, "store", path, NULL, &images) == CLI_ANSWERED)
		image_row(s, NULL, id, images.code.item[0].cubin, path);
	else
		s->n_failed++;
	images_close(&images);
	return true;
}

/* ---- find ---- */

static const char *const verdict_words[] = {
	[WS_BORROW_EQUAL] = "equal",
	[WS_BORROW_DIFFERS] = "differs",
	[WS_BORROW_NO_LINES] = "no-lines",
	[WS_BORROW_NO_FUNCTION] = "not-found",
};

static void found_text(struct storing *s, struct ws_str name, const struct ws_borrowed *found)
{
	const struct ws_code_diff *diff = &found->diff;
	uint64_t larger = diff->size_a > diff->size_b ? diff->size_a : diff->size_b;
	ws_table_cell(s->table, name);
	ws_table_cell(s->table, ws_str_of(verdict_words[found->verdict]));
	if (found->verdict == WS_BORROW_DIFFERS)
		ws_table_printf(
			s->table, "%llu of %llu instructions (%llu bytes), first at +0x%llx",
			(unsigned long long)diff->n_instructions, (unsigned long long)larger / 16,
			(unsigned long long)diff->n_bytes, (unsigned long long)diff->first_off);
	else if (found->verdict == WS_BORROW_EQUAL)
		ws_table_printf(s->table, "%llu instructions",
				(unsigned long long)diff->size_a / 16);
	else
		ws_table_cell(s->table, ws_str_of("-"));
	ws_table_cell(s->table, ws_str_of(found->path ? found->path : "-"));
}

static void found_json(struct storing *s, const struct ws_function *f,
		       const struct ws_borrowed *found)
{
	ws_json_object(&s->json);
	ws_name_json(&s->json, f->name);
	ws_json_key_text(&s->json, "verdict", verdict_words[found->verdict]);
	if (found->verdict == WS_BORROW_EQUAL || found->verdict == WS_BORROW_DIFFERS) {
		ws_json_key_u64(&s->json, "instructions", found->diff.size_a / 16);
		ws_json_key_u64(&s->json, "instructions_different", found->diff.n_instructions);
		ws_json_key_u64(&s->json, "bytes_different", found->diff.n_bytes);
	}
	if (ws_json_key_given(&s->json, "path", found->path ? WS_OK : WS_ABSENT))
		ws_json_str(&s->json, ws_str_of(found->path));
	ws_json_end(&s->json);
}

static int find_stored_kernel(struct storing *s, struct ws_cubin *cubin,
			      const struct ws_function *f)
{
	struct ws_borrowed found;
	struct ws_error err;
	enum ws_status st = ws_borrow_find(s->pool, cubin, f, &found, &err);
	if (st != WS_OK)
		return cli_fail(NULL, &err);
	s->n_rows++;
	s->n_failed += found.verdict != WS_BORROW_EQUAL;
	if (s->cli->json) {
		found_json(s, f, &found);
		return CLI_ANSWERED;
	}
	char *name = name_copy(f->name, NAME_SHORT);
	found_text(s, ws_str_of(name), &found);
	free(name);
	return CLI_ANSWERED;
}

static int find_in_file(struct storing *s, const char *path)
{
	struct images images;
	int status = images_open(s->cli, "store", path, s->arch, &images);
	for (size_t i = 0; i < images.code.n && status == CLI_ANSWERED; i++) {
		const struct ws_function *functions;
		size_t n;
		struct ws_error err;
		if (ws_cubin_functions(images.code.item[i].cubin, &functions, &n, &err) != WS_OK) {
			status = cli_fail(path, &err);
			break;
		}
		for (size_t j = 0; j < n && status == CLI_ANSWERED; j++) {
			if (functions[j].is_kernel && functions[j].section != 0)
				status = find_stored_kernel(s, images.code.item[i].cubin,
							    &functions[j]);
		}
	}
	/* the pool remembers modules: nothing is asked of it after this */
	images_close(&images);
	return status;
}

static bool stop_at_first(void *user, const struct ws_code_id *id, const char *path)
{
	(void)id;
	(void)path;
	*(bool *)user = true;
	return false;
}

/* A store that has nothing in it yet is no file to complain of. */
static int pool_add_store(struct storing *s)
{
	struct ws_error err;
	bool any = false;
	if (ws_store_list(s->store, stop_at_first, &any, &err) != WS_OK)
		return cli_fail(NULL, &err);
	if (any && ws_borrow_add_path(s->pool, ws_store_folder(s->store), &err) != WS_OK)
		return cli_fail(NULL, &err);
	return CLI_ANSWERED;
}

/* ---- the verb ---- */

static const struct ws_column add_columns[] = {
	{ "Outcome", WS_ALIGN_LEFT },  { "Identity", WS_ALIGN_LEFT }, { "Arch", WS_ALIGN_LEFT },
	{ "Kernels", WS_ALIGN_RIGHT }, { "Debug", WS_ALIGN_LEFT },    { "File", WS_ALIGN_LEFT },
};
static const struct ws_column find_columns[] = {
	{ "Kernel", WS_ALIGN_LEFT },
	{ "Code", WS_ALIGN_LEFT },
	{ "Compared", WS_ALIGN_LEFT },
	{ "Lines from", WS_ALIGN_LEFT },
};

static int run_action(struct storing *s, const char *action, int n_paths, char **paths)
{
	int status = CLI_ANSWERED;
	if (strcmp(action, "list") == 0) {
		struct ws_error err;
		if (ws_store_list(s->store, stored_code_take, s, &err) != WS_OK)
			return cli_fail(NULL, &err);
		return s->n_failed ? CLI_NO_ANSWER : CLI_ANSWERED;
	}
	bool is_add = strcmp(action, "add") == 0;
	for (int i = 0; i < n_paths; i++) {
		int one = is_add ? store_file(s, paths[i]) : find_in_file(s, paths[i]);
		status = one != CLI_ANSWERED ? one : status;
	}
	return status == CLI_ANSWERED && !is_add && s->n_failed ? CLI_NO_ANSWER : status;
}

static int run_store(struct storing *s, const char *action, int n_paths, char **paths)
{
	struct ws_error err;
	if (s->cli->json) {
		ws_json_begin(&s->json, &s->cli->out, "warpscope-store-1");
		ws_json_key_str(&s->json, "store", ws_str_of(ws_store_folder(s->store)));
		ws_json_key(&s->json, strcmp(action, "find") == 0 ? "kernels" : "images");
		ws_json_array(&s->json);
	} else {
		bool is_find = strcmp(action, "find") == 0, is_list = strcmp(action, "list") == 0;
		const struct ws_column *columns = is_find ? find_columns : add_columns + is_list;
		size_t n = is_find ? sizeof find_columns / sizeof *find_columns
				   : sizeof add_columns / sizeof *add_columns - is_list;
		if (ws_table_create(columns, n, &s->table, &err) != WS_OK)
			return cli_fail(NULL, &err);
		ws_table_fit(s->table, s->cli->columns);
	}
	int status = run_action(s, action, n_paths, paths);
	if (s->cli->json) {
		ws_json_end(&s->json);
		ws_json_end(&s->json);
	} else if (s->n_rows > 0 && ws_table_print(s->table, &s->cli->out, 0, &err) != WS_OK) {
		status = cli_fail(NULL, &err);
	}
	return status;
}

static int take_with(void *query, const char *path)
{
	struct storing *s = query;
	struct ws_error err;
	return ws_borrow_add_path(s->pool, path, &err) == WS_OK ? CLI_ANSWERED
								: cli_fail(path, &err);
}

const struct cli_option verb_store_options[] = {
	{ "store", 0, CLI_TEXT, .at = offsetof(struct storing, folder) },
	{ "arch", 0, CLI_TEXT, .at = offsetof(struct storing, arch) },
	{ "with", 0, CLI_TAKE, .take = take_with },
	{ 0 },
};

static int store_run(struct storing *s, int argc, char **argv)
{
	struct ws_error err;
	int status = cli_options_take(s->cli, verb_store_options, s, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	const char *action = argc > 0 ? argv[0] : "";
	bool is_add = strcmp(action, "add") == 0, is_find = strcmp(action, "find") == 0;
	if (!is_add && !is_find && strcmp(action, "list") != 0)
		return cli_usage("store", "add, list or find is missing");
	argc--;
	argv++;
	if (is_add ? argc == 0 : argc != is_find)
		return cli_usage("store", "%s takes %s", action,
				 is_add    ? "files"
				 : is_find ? "one file"
					   : "no files");
	if (ws_store_open(s->folder, &s->store, &err) != WS_OK)
		return cli_fail(NULL, &err);
	if (is_find)
		status = pool_add_store(s);
	return status == CLI_ANSWERED ? run_store(s, action, argc, argv) : status;
}

int verb_store(struct cli *cli, int argc, char **argv)
{
	struct storing s = { .cli = cli };
	struct ws_error err;
	if (ws_borrow_create(&s.pool, &err) != WS_OK)
		return cli_fail(NULL, &err);
	int status = store_run(&s, argc, argv);
	ws_table_destroy(s.table);
	ws_borrow_destroy(s.pool);
	ws_store_close(s.store);
	return status;
}
