/* SPDX-License-Identifier: Apache-2.0 */
/* What logs tell of a failure that left no dump. */
#include <inttypes.h>
#include <string.h>

#include <warpscope/verbs.h>

#include "base/base.h"

enum { MOST_MEANT = 5 /* rows that text explains */ };

/* ---- text ---- */

static void print_heading(struct ws_out *out, const char *heading)
{
	ws_out_text(out, "\n");
	ws_out_printf(out, "%s\n\n", heading);
}

static enum ws_status print_rows(struct ws_out *out, unsigned terminal,
				 const struct ws_log_result *result, struct ws_error *err)
{
	static const struct ws_column columns[] = {
		{ "Lines", WS_ALIGN_RIGHT }, { "First", WS_ALIGN_LEFT }, { "It is", WS_ALIGN_LEFT },
		{ "What", WS_ALIGN_LEFT },   { "Time", WS_ALIGN_LEFT },  { "Who", WS_ALIGN_LEFT },
	};
	struct ws_table *table;
	enum ws_status st =
		ws_table_create(columns, sizeof columns / sizeof columns[0], &table, err);
	if (st != WS_OK)
		return st;
	for (uint32_t i = 0; i < result->n_rows; i++) {
		const struct ws_log_row *row = &result->rows[i];
		ws_table_printf(table, "%" PRIu64, row->count);
		ws_table_printf(table, "%.200s:%" PRIu64, row->file, row->line);
		ws_table_cell(table, ws_str_of(ws_log_role_word(row->role)));
		ws_table_cell(table, ws_str_of(row->what));
		ws_table_cell(table, ws_str_of(row->time ? row->time : "-"));
		ws_table_cell(table, ws_str_of(*row->who ? row->who : "-"));
	}
	ws_table_fit(table, terminal);
	st = ws_table_print(table, out, 4, err);
	ws_table_destroy(table);
	return st;
}

/* A heading, and what `text_of` gives of what came first and of what is no consequence; each text
 * once. */
static void print_list(struct ws_out *out, const char *heading, const struct ws_log_result *result,
		       const char *(*text_of)(const struct ws_log_row *row))
{
	unsigned n = 0;
	for (uint32_t i = 0; i < result->n_rows && n < MOST_MEANT; i++) {
		const struct ws_log_row *row = &result->rows[i];
		const char *text = text_of(row);
		bool again = i > 0 && row->role == WS_LOG_ROLE_AFTER;
		for (uint32_t j = 0; j < i && text && !again; j++) {
			const char *other = text_of(&result->rows[j]);
			again = other && strcmp(other, text) == 0;
		}
		if (!text || again)
			continue;
		if (n++ == 0)
			print_heading(out, heading);
		/* "Xid 31": the table has the rest */
		const size_t name = row->code && row->kind != WS_LOG_EXCEPTION
					    ? strcspn(row->what, ":")
					    : strlen(row->what);
		ws_out_printf(out, "- %.*s: %s.\n", (int)name, row->what, text);
	}
}

static const char *means_of(const struct ws_log_row *row)
{
	return row->means;
}

static const char *cannot_of(const struct ws_log_row *row)
{
	return row->cannot;
}

static enum ws_status log_text(const struct ws_log_result *result, unsigned columns,
			       struct ws_out *out, struct ws_error *err)
{
	const bool is_told = result->verdict != WS_LOG_NOTHING;
	ws_out_printf(out, "%s%s.\n",
		      result->verdict == WS_LOG_CANNOT_TELL ? "Only a consequence is here: "
		      : is_told                             ? "First: "
							    : "",
		      result->sentence);
	if (!is_told)
		ws_out_text(
			out,
			"\nLooked for: lines of the driver (Xid, SXid); errors of CUDA by name, "
			"message or number, as PyTorch, Triton, JAX, TensorFlow, CuPy, llama.cpp, "
			"vLLM and CUDA samples print them; assertions in kernels; exceptions as "
			"cuda-gdb and the driver name them; compute-sanitizer; NCCL and PyTorch's "
			"watchdog; dumps that were written.\n");
	if (result->n_rows) {
		ws_out_text(out, "\nWhat was seen:\n\n");
		enum ws_status st = print_rows(out, columns, result, err);
		if (st != WS_OK)
			return st;
	}
	if (result->n_more)
		ws_out_printf(out, "    ... and %" PRIu64 " lines of other kinds\n",
			      result->n_more);
	print_list(out, "What it means:", result, means_of);
	print_list(out, "What it cannot mean, or does not tell:", result, cannot_of);
	if (result->n_doubts)
		print_heading(out, "What else is not known:");
	for (uint32_t i = 0; i < result->n_doubts; i++)
		ws_out_printf(out, "- %s.\n", result->doubts[i]);
	if (result->n_steps)
		print_heading(out, "What to do next:");
	for (uint32_t i = 0; i < result->n_steps; i++) {
		const struct ws_log_step *step = &result->steps[i];
		ws_out_printf(out, "%2u. ", (unsigned)i + 1);
		ws_out_fold_here(out);
		ws_out_printf(out, "%s%s\n", step->why, step->command ? ":" : ".");
		if (!step->command)
			continue;
		ws_out_whole_line(out);
		ws_out_printf(out, "        %s\n", step->command);
	}
	return WS_OK;
}

/* ---- JSON ---- */

static void row_json(struct ws_json *json, const struct ws_log_row *row)
{
	ws_json_object(json);
	ws_json_key_text(json, "kind", ws_log_kind_word(row->kind));
	ws_json_key_u64(json, "code", row->code);
	ws_json_key_text(json, "role", ws_log_role_word(row->role));
	ws_json_key_text(json, "what", row->what);
	ws_json_key_text(json, "detail", row->detail);
	ws_json_key_u64(json, "lines", row->count);
	ws_json_key_text(json, "file", row->file);
	ws_json_key_u64(json, "line", row->line);
	ws_json_key_text(json, "time", row->time);
	ws_json_key_text(json, "who", row->who);
	ws_json_key_text(json, "means", row->means);
	ws_json_key_text(json, "cannot", row->cannot);
	ws_json_end(json);
}

static void log_json(const struct ws_log_result *result, struct ws_out *out)
{
	struct ws_json json;
	ws_json_begin(&json, out, "warpscope-log-1");
	ws_json_key_text(&json, "verdict", ws_log_verdict_word(result->verdict));
	ws_json_key_text(&json, "sentence", result->sentence);
	ws_json_key_array(&json, "rows");
	for (uint32_t i = 0; i < result->n_rows; i++)
		row_json(&json, &result->rows[i]);
	ws_json_end(&json);
	ws_json_key_array(&json, "doubts");
	for (uint32_t i = 0; i < result->n_doubts; i++)
		ws_json_text(&json, result->doubts[i]);
	ws_json_end(&json);
	ws_json_key_array(&json, "next");
	for (uint32_t i = 0; i < result->n_steps; i++) {
		ws_json_object(&json);
		ws_json_key_text(&json, "why", result->steps[i].why);
		ws_json_key_text(&json, "command", result->steps[i].command);
		ws_json_end(&json);
	}
	ws_json_end(&json);
	ws_json_key_u64(&json, "files", result->n_files);
	ws_json_key_u64(&json, "lines", result->n_lines);
	ws_json_key_u64(&json, "more", result->n_more);
	ws_json_end(&json);
}

enum ws_status ws_log_answer(const struct ws_log_result *result,
			     const struct ws_answer_style *style, struct ws_error *err)
{
	if (!style->json)
		return log_text(result, style->columns, style->out, err);
	log_json(result, style->out);
	return WS_OK;
}
