/* SPDX-License-Identifier: Apache-2.0 */
/* info functions, types, variables, sources, address: what the images have names for. */
#include "prompt/prompt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/vars.h>

#include "pattern.h"

/* ---- what a user looks for ---- */

static void print_head(struct debugger *d, const char *what, const struct pattern *pattern)
{
	struct ws_out *out = &d->cli->out;
	if (d->cli->json)
		return;
	ws_out_printf(
		out, !pattern->some ? "All defined %s:\n" : "All %s matching regular expression \"",
		what);
	ws_out_escaped(out, ws_str_of(!pattern->some ? "" : pattern->text));
	ws_out_text(out, !pattern->some ? "" : "\":\n");
}

/* Those of the words that match: lines, or the array of a key. */
static void print_words(struct debugger *d, const char *key, const struct pattern *pattern,
			const struct gdb_lines *words)
{
	if (d->cli->json) {
		debug_answer(d, key);
		ws_json_array(&d->json);
	}
	for (size_t i = 0; i < words->n; i++) {
		if (!pattern_matches(pattern, words->item[i]))
			continue;
		if (d->cli->json) {
			ws_json_text(&d->json, words->item[i]);
			continue;
		}
		ws_out_escaped(&d->cli->out, ws_str_of(words->item[i]));
		ws_out_text(&d->cli->out, "\n");
	}
	if (d->cli->json)
		ws_json_end(&d->json);
}

/* `take`: what collects the words; NULL: those are the functions' names. */
static bool print_all(struct debugger *d, const char *key, const char *what, const char *text,
		      debug_take_fn *take)
{
	struct pattern pattern;
	struct gdb_lines words = { 0 };
	if (!pattern_init(&pattern, text))
		return false;
	if (take)
		debug_words_of_images(d, &words, take);
	print_head(d, what, &pattern);
	print_words(d, key, &pattern, take ? &words : debug_names(d));
	gdb_lines_free(&words);
	pattern_fini(&pattern);
	return true;
}

/* ---- functions, types, files ---- */

bool debug_info_functions(struct debugger *d, const char *text)
{
	return print_all(d, "functions", "functions", text, NULL);
}

static void take_debug_types(struct ws_cubin *cubin, struct gdb_lines *words)
{
	const struct ws_dwarf *dwarf;
	if (ws_cubin_dwarf(cubin, &dwarf, NULL) != WS_OK)
		return;
	for (size_t i = 0; i < ws_dwarf_named_count(dwarf); i++) {
		const struct ws_dwarf_named *named = ws_dwarf_named_at(dwarf, i);
		char text[1024];
		if (named->kind != WS_NAMED_TYPE)
			continue;
		(void)!ws_dwarf_spell(dwarf, named->info_off, text, sizeof text);
		debug_words_add(words, text);
	}
}

bool debug_info_types(struct debugger *d, const char *text)
{
	return print_all(d, "types", "types", text, take_debug_types);
}

static void take_sources(struct ws_cubin *cubin, struct gdb_lines *words)
{
	struct ws_line_map *map;
	if (ws_cubin_line_map(cubin, &map, NULL) != WS_OK)
		return;
	for (size_t i = 0; i < ws_line_table_count(map); i++) {
		const struct ws_line_table *table = ws_line_table_at(map, i);
		for (size_t k = 0; k < table->n_files; k++) {
			size_t size = ws_line_path(&table->files[k], NULL, 0) + 1;
			char *path = cli_alloc(size, 1);
			ws_line_path(&table->files[k], path, size);
			debug_words_add(words, path);
			free(path);
		}
	}
}

bool debug_info_sources(struct debugger *d, const char *text)
{
	return print_all(d, "sources", "source files", text, take_sources);
}

/* ---- variables ---- */

struct found_variable {
	char *line; /* owned: "counter: int, @global, 4 bytes, at 0x7f0500010000" */
	char *name; /* owned */
	char *type; /* owned; "": not told */
	const struct ws_variable *variable;
};

struct all_found {
	struct found_variable *item; /* owned */
	size_t n, cap;
};

static void take_variable(struct all_found *all, const struct ws_dwarf *dwarf,
			  const struct ws_variable *one)
{
	const struct ws_dwarf_named *named;
	struct ws_dwarf_variable described;
	char type[512] = "", place[40] = "", line[2048];
	char *name = name_copy(one->name, NAME_SHORT);
	if (dwarf &&
	    ws_dwarf_find_named(dwarf, WS_NAMED_VARIABLE, one->name, &named, NULL) == WS_OK &&
	    ws_dwarf_variable_at(dwarf, named->info_off, &described, NULL) == WS_OK)
		(void)!ws_dwarf_spell(dwarf, described.type, type, sizeof type);
	if (one->gpu_va)
		snprintf(place, sizeof place, ", at 0x%" PRIx64, one->gpu_va);
	snprintf(line, sizeof line, "%.1000s: %s%s@%s%s, %" PRIu64 " bytes%s", name, type,
		 *type ? ", " : "", ws_space_text(one->space), one->is_managed ? ", managed" : "",
		 one->size_bytes, place);
	cli_grow(&all->item, &all->cap, all->n, sizeof *all->item);
	all->item[all->n++] = (struct found_variable){ .line = cli_copy(line, strlen(line)),
						       .name = name,
						       .type = cli_copy(type, strlen(type)),
						       .variable = one };
}

static void take_variables(struct debugger *d, struct all_found *all)
{
	struct ws_cubin_set *set;
	struct ws_cubin *cubin;
	const struct ws_variable *variables;
	size_t n = 0;
	if (ws_target_cubins(d->target, &set, NULL) != WS_OK)
		return;
	for (uint32_t i = 0; i < ws_cubin_set_count(set); i++) {
		const struct ws_dwarf *dwarf = NULL;
		if (ws_cubin_set_cubin(set, i, &cubin, NULL) != WS_OK ||
		    ws_cubin_variables(cubin, &variables, &n, NULL) != WS_OK)
			continue;
		(void)!ws_cubin_dwarf(cubin, &dwarf, NULL);
		for (size_t k = 0; k < n; k++)
			take_variable(all, dwarf, &variables[k]);
	}
}

static int by_line(const void *left, const void *right)
{
	const struct found_variable *a = left, *b = right;
	return strcmp(a->line, b->line);
}

static void json_found_variable(struct ws_json *json, const struct found_variable *one)
{
	ws_json_object(json);
	ws_json_key_text(json, "name", one->name);
	ws_json_key_str(json, "name_mangled", one->variable->name);
	if (ws_json_key_given(json, "type", *one->type ? WS_OK : WS_ABSENT))
		ws_json_text(json, one->type);
	ws_json_key_text(json, "space", ws_space_text(one->variable->space));
	ws_json_key_bool(json, "managed", one->variable->is_managed);
	ws_json_key_u64(json, "size", one->variable->size_bytes);
	if (ws_json_key_given(json, "address", one->variable->gpu_va ? WS_OK : WS_ABSENT))
		ws_json_hex(json, one->variable->gpu_va);
	ws_json_end(json);
}

bool debug_info_variables(struct debugger *d, const char *text)
{
	struct pattern pattern;
	struct all_found all = { 0 };
	if (!pattern_init(&pattern, text))
		return false;
	take_variables(d, &all);
	if (all.n)
		qsort(all.item, all.n, sizeof *all.item, by_line);
	print_head(d, "variables", &pattern);
	if (d->cli->json) {
		debug_answer(d, "variables");
		ws_json_array(&d->json);
	}
	for (size_t i = 0; i < all.n; i++) {
		const struct found_variable *one = &all.item[i];
		const bool again = i > 0 && by_line(one - 1, one) == 0;
		if (again || !pattern_matches(&pattern, one->line))
			continue;
		if (d->cli->json) {
			json_found_variable(&d->json, one);
			continue;
		}
		ws_out_escaped(&d->cli->out, ws_str_of(one->line));
		ws_out_text(&d->cli->out, "\n");
	}
	if (d->cli->json)
		ws_json_end(&d->json);
	for (size_t i = 0; i < all.n; i++) {
		free(all.item[i].line);
		free(all.item[i].name);
		free(all.item[i].type);
	}
	free(all.item);
	pattern_fini(&pattern);
	return true;
}

/* ---- where a variable is ---- */

/* A variable of the frame, of several with one name the innermost; false: none, or no frame. */
static bool frame_variable_find(struct ws_vars *vars, const char *name,
				struct ws_variable_value *ret_variable)
{
	struct ws_variable_value *list = cli_alloc(WS_VARS_MAX_LIST, sizeof *list);
	size_t n = 0;
	bool found = false;
	if (ws_vars_list(vars, list, WS_VARS_MAX_LIST, &n, NULL) != WS_OK)
		n = 0;
	for (size_t i = 0; i < n; i++) {
		if (!ws_str_equal(list[i].variable.name, ws_str_of(name)))
			continue;
		*ret_variable = list[i];
		found = true;
	}
	free(list);
	return found;
}

/* free() it; "": it has none */
static char *place_text(struct ws_vars *vars, const struct ws_variable_value *variable)
{
	struct cli_bytes text = { 0 };
	struct ws_out out;
	ws_out_init(&out, cli_bytes_write, &text);
	(void)!ws_vars_print_place(vars, variable, &out);
	(void)!ws_out_flush(&out, NULL);
	cli_bytes_write(&text, "", 1);
	return text.ptr;
}

static void json_variable_address(struct debugger *d, const char *text,
				  const struct ws_variable_value *variable)
{
	struct ws_json *json = &d->json;
	char *place = place_text(d->vars, variable);
	const char *why = ws_value_missing_text(&variable->value);
	debug_answer(d, "address");
	ws_json_object(json);
	ws_json_key_text(json, "name", text);
	ws_json_key_text(json, "place", *place ? place : NULL);
	if (!*place)
		ws_json_key_text(json, "place_why", *why ? why : "a value without a place");
	ws_json_end(json);
	free(place);
}

bool debug_info_address(struct debugger *d, const char *text)
{
	struct ws_out *out = &d->cli->out;
	struct ws_variable_value variable = { 0 };
	struct ws_error err;
	if (!*text) {
		cli_say("Argument required.\n");
		return false;
	}
	/* of no function: a variable of the image */
	const bool good = debug_vars(d, &err) &&
			  ws_vars_evaluate(d->vars, text, &variable.value, &err) == WS_OK;
	if (!frame_variable_find(d->vars, text, &variable) && !good) {
		cli_say("%s.\n", err.message);
		return false;
	}
	if (d->cli->json) {
		json_variable_address(d, text, &variable);
		return true;
	}
	ws_out_text(out, "Symbol \"");
	ws_out_escaped(out, ws_str_of(text));
	const struct ws_value *value = &variable.value;
	if (value->kind == WS_VALUE_MEMORY && value->at.space == WS_SPACE_CODE) {
		ws_out_printf(out, "\" is a function at address 0x%" PRIx64 ".\n",
			      value->at.address);
		return true;
	}
	char *place = place_text(d->vars, &variable);
	const char *why = ws_value_missing_text(value);
	ws_out_printf(out,
		      *place ? "\" is a variable in %s.\n"
		      : *why ? "\" has no place: %s.\n"
			     : "\" has a value, and no place.%s\n",
		      *place ? place : why);
	free(place);
	return true;
}
