/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Output: a buffered sink, escaped text, text tables and a streaming JSON writer.
 *
 * Everything the library or the program prints goes through a `struct ws_out`, which separates the
 * program's own text (printed as it is) from text of an input (escaped). Failures are sticky:
 * further writing does nothing, and ws_out_flush() reports the failure. A `ws_out` belongs to one
 * thread at a time.
 */
#ifndef WARPSCOPE_OUT_H
#define WARPSCOPE_OUT_H

#include <stdarg.h>

#include <warpscope/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A buffered output. Fill it with ws_out_init(); treat the fields as private. */
struct ws_out {
	ws_write_fn *write;
	void *user;
	bool failed;
	int os_errno;
	size_t len;
	char buffer[8192];
};

/** Starts an output on `write`, which is called with `user`. Both must outlive `out`. Nothing to
 * free. */
WS_API void ws_out_init(struct ws_out *out, ws_write_fn *write, void *user);

/** Hands everything to the sink. @retval WS_IO  some write failed since the start. */
WS_API enum ws_status ws_out_flush(struct ws_out *out, struct ws_error *err) WS_MUST_USE;

/**
 * Writes bytes as they are: only for what is not text. Text of an input goes through
 * ws_out_printf() or ws_out_escaped().
 */
WS_API void ws_out_bytes(struct ws_out *out, const char *bytes, size_t len);
/** Writes text of the program itself, as it is. */
WS_API void ws_out_text(struct ws_out *out, const char *text);
/**
 * Writes text of an input so that it is harmless to a terminal and all of it is visible: each byte
 * of control characters, line separators, characters that reverse the direction of text, invisible
 * characters and noncharacters, and of invalid UTF-8, becomes \xNN.
 */
WS_API void ws_out_escaped(struct ws_out *out, struct ws_str text);
/** Writes text between double quotes, as in DOT: escaped as by ws_out_escaped(), with a backslash
 * before each quote and backslash. */
WS_API void ws_out_in_quotes(struct ws_out *out, struct ws_str text);
/** Columns of a terminal that ws_out_escaped() fills. */
WS_API size_t ws_escaped_width(struct ws_str text);
/**
 * printf to the output. The format is text of the program, as it is; what %s and %c print is
 * escaped as by ws_out_escaped(). A precision counts bytes before, a width characters after. There
 * is no %a, %n and no long double.
 */
WS_API void ws_out_printf(struct ws_out *out, const char *format, ...) WS_PRINTF(2, 3);
WS_API void ws_out_vprintf(struct ws_out *out, const char *format, va_list list) WS_PRINTF(2, 0);
WS_API void ws_out_spaces(struct ws_out *out, size_t n);

/* ---- lines that fit a terminal
 * -------------------------------------------------------------------------------------- */

/**
 * Folds lines that are longer than a terminal, at spaces; words and what is between backticks stay
 * whole. What is folded continues below the first text behind a bullet or a gap, otherwise as far
 * to the right as the line began. Treat the fields as private.
 */
struct ws_wrap {
	unsigned columns; /* of the terminal; 0: nothing is folded */
	struct ws_out out;
	size_t column, indent, spaces, n_words, len;
	bool in_word, is_bullet, is_shaped, in_code, no_code, whole;
	char word[4096];
};

/** Starts folding on the way to `write`, as ws_out_init(). */
WS_API void ws_wrap_init(struct ws_wrap *wrap, unsigned columns, ws_write_fn *write, void *user);
/** A `ws_write_fn`; `wrap` is a struct ws_wrap. The last word waits for what follows it. */
WS_API bool ws_wrap_write(void *wrap, const char *bytes, size_t len);
/** Writes what waits. @retval WS_IO  some write failed since the start. */
WS_API enum ws_status ws_wrap_flush(struct ws_wrap *wrap, struct ws_error *err) WS_MUST_USE;
/** Of the line that is being written, what is folded continues at this column. */
WS_API void ws_out_fold_here(struct ws_out *out);
/** The rest of the line is not folded: it is code. */
WS_API void ws_out_whole_line(struct ws_out *out);

/** How a terminal shows what follows. */
enum ws_style {
	WS_STYLE_PLAIN,
	WS_STYLE_BOLD,
	WS_STYLE_DIM,
	WS_STYLE_RED,
};
WS_API void ws_out_style(struct ws_out *out, enum ws_style style);

/* ---- JSON
 * ------------------------------------------------------------------------------------------- */

enum { WS_JSON_MAX_DEPTH = 32 };

/**
 * Streaming JSON: constant memory, keys in call order, exact integers, 64-bit ids and addresses as
 * strings. Misuse (a value without a key inside an object, wrong nesting) is a programming error
 * and asserts.
 */
struct ws_json {
	struct ws_out *out;
	unsigned depth;
	bool compact; /**< one line, no spaces; else indented by two */
	bool after_key;
	struct {
		bool is_array, has_items, one_line;
	} level[WS_JSON_MAX_DEPTH];
};

WS_API void ws_json_init(struct ws_json *json, struct ws_out *out, bool compact);
/** Begins a document: an object, indented, that says first by which schema it is. */
WS_API void ws_json_begin(struct ws_json *json, struct ws_out *out, const char *schema);
WS_API void ws_json_object(struct ws_json *json); /**< { */
WS_API void ws_json_array(struct ws_json *json);  /**< [ */
WS_API void ws_json_end(struct ws_json *json);    /**< closes the innermost object or array */
WS_API void ws_json_key(struct ws_json *json, const char *key);
WS_API void ws_json_null(struct ws_json *json);
WS_API void ws_json_bool(struct ws_json *json, bool value);
WS_API void ws_json_u64(struct ws_json *json, uint64_t value); /**< as a number */
WS_API void ws_json_i64(struct ws_json *json, int64_t value);
WS_API void ws_json_hex(struct ws_json *json, uint64_t value); /**< "0x..." */
/** A string; bytes that are not UTF-8 become U+FFFD, what ws_out_escaped() escapes becomes \uNNNN.
 * NULL `ptr` with 0 `len` is the empty string. */
WS_API void ws_json_str(struct ws_json *json, struct ws_str text);
WS_API void ws_json_text(struct ws_json *json, const char *text); /**< C string; NULL gives null */
WS_API void ws_json_dim3(struct ws_json *json, struct ws_dim3 dim); /**< [x, y, z] on one line */
/* A key and what follows on it in one. */
WS_API void ws_json_key_object(struct ws_json *json, const char *key);
WS_API void ws_json_key_array(struct ws_json *json, const char *key);
WS_API void ws_json_key_array_line(struct ws_json *json, const char *key);
WS_API void ws_json_key_u64(struct ws_json *json, const char *key, uint64_t value);
WS_API void ws_json_key_i64(struct ws_json *json, const char *key, int64_t value);
WS_API void ws_json_key_hex(struct ws_json *json, const char *key, uint64_t value);
WS_API void ws_json_key_bool(struct ws_json *json, const char *key, bool value);
WS_API void ws_json_key_str(struct ws_json *json, const char *key, struct ws_str text);
WS_API void ws_json_key_text(struct ws_json *json, const char *key, const char *text);
WS_API void ws_json_key_dim3(struct ws_json *json, const char *key, struct ws_dim3 dim);
/**
 * Key with a value that is missing: `"key": null, "key_why": "absent"` (excluded, unsupported,
 * damaged). `why` must not be WS_OK.
 */
WS_API void ws_json_missing(struct ws_json *json, const char *key, enum ws_status why);
/** A key whose value may be missing: true with WS_OK, and the value is due; else it is written as
 * ws_json_missing() does. */
WS_API bool ws_json_key_given(struct ws_json *json, const char *key, enum ws_status status);
/** The same where there may be none: null without `have`. */
WS_API bool ws_json_key_or_null(struct ws_json *json, const char *key, bool have);
/** "absent", "excluded", "unsupported" or "damaged" for a status other than WS_OK. Static storage.
 */
WS_API const char *ws_missing_word(enum ws_status why);

/* ---- text tables
 * -------------------------------------------------------------------------------------- */

/**
 * A text table whose columns are as wide as their widest cell, two spaces apart. Cells are copied;
 * memory is proportional to the text. At most 64 columns.
 */
struct ws_table;

enum ws_align {
	WS_ALIGN_LEFT,
	WS_ALIGN_RIGHT,
};

struct ws_column {
	const char *title; /**< static storage or outliving the table */
	enum ws_align align;
};

WS_API enum ws_status ws_table_create(const struct ws_column *columns, size_t n_columns,
				      struct ws_table **ret_table,
				      struct ws_error *err) WS_MUST_USE;
WS_API void ws_table_destroy(struct ws_table *table);
/** Adds the next cell (row by row, left to right), escaped as ws_out_escaped() does. */
WS_API void ws_table_cell(struct ws_table *table, struct ws_str text);
/** Adds the next cell by printf; at most 300 bytes, escaped too. */
WS_API void ws_table_printf(struct ws_table *table, const char *format, ...) WS_PRINTF(2, 3);
/** Number of whole rows added. */
WS_API size_t ws_table_rows(const struct ws_table *table);
/** Folds rows that are wider than `width` columns of a terminal: see ws_columns_fold(). 0: none. */
WS_API void ws_table_fit(struct ws_table *table, unsigned width);
/**
 * Which columns of a table begin another line of their row, so that lines have at most `room`
 * columns of a terminal: `indent` of them before the first cell, `gap` between two, and
 * WS_FOLD_INDENT more before what is folded. A column that is wider than that gets a line of its
 * own, and the width that there is.
 */
WS_API void ws_columns_fold(size_t *width, size_t n_columns, size_t indent, size_t gap, size_t room,
			    bool *ret_begins);
enum { WS_FOLD_INDENT = 4 };
/**
 * Prints titles and rows, with `indent` spaces before each line; trailing spaces are not printed.
 * @retval WS_NO_MEMORY  a cell could not be stored earlier; nothing was printed.
 */
WS_API enum ws_status ws_table_print(const struct ws_table *table, struct ws_out *out,
				     unsigned indent, struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
