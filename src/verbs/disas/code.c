/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions of one function: text with names, marks, source lines, words. */
#include "verbs/disas/disas.h"

enum { AROUND = 8 * WS_SASS_BYTES }; /* shown before and after a mark */

bool wsi_disas_code_init(struct wsi_disas_code *code, struct wsi_disas *d, struct ws_cubin *cubin,
			 const struct ws_function *function)
{
	struct ws_cubin_facts facts;
	struct ws_error err;
	ws_cubin_facts(cubin, &facts);
	*code = (struct wsi_disas_code){
		.d = d, .cubin = cubin, .function = function, .sm = facts.sm
	};
	enum ws_status st = ws_cubin_code(cubin, function, &code->code, &err);
	if (st != WS_OK) {
		if (st != WS_ABSENT)
			wsi_disas_tell(d, &err);
		return false;
	}
	wsi_disas_names_init(d, &code->names, cubin, function->section);
	return true;
}

void wsi_disas_code_fini(struct wsi_disas_code *code)
{
	wsi_disas_names_fini(&code->names);
}

/* The function that a function lies in; NULL: it lies in none, or nobody knows. */
static const struct ws_function *enclosing_function_of(const struct wsi_disas_code *code)
{
	const struct ws_function *functions;
	size_t n;
	if (!code->function->is_inner || code->function->owner == WS_UNKNOWN ||
	    ws_cubin_functions(code->cubin, &functions, &n, NULL) != WS_OK)
		return NULL;
	return &functions[code->function->owner];
}

static void json_code_start(struct wsi_disas_code *code, const struct ws_function *owner)
{
	struct ws_json *json = code->d->json;
	ws_json_object(json);
	ws_name_json(json, code->function->name);
	if (!owner)
		return;
	ws_json_key_object(json, "inside");
	ws_name_json(json, owner->name);
	ws_json_key_bool(json, "kernel", owner->is_kernel);
	ws_json_key_u64(json, "offset", code->function->sec_off - owner->sec_off);
	ws_json_end(json);
}

void wsi_disas_code_start(struct wsi_disas_code *code)
{
	struct wsi_disas *d = code->d;
	const struct ws_function *owner = enclosing_function_of(code);
	if (d->json) {
		json_code_start(code, owner);
	} else {
		ws_out_text(d->out, d->told.shown ? "\n" : "");
		ws_name_text(d->out, code->function->name, d->query->full_names);
		if (owner) {
			ws_out_text(d->out, " (inside ");
			ws_name_text(d->out, owner->name, d->query->full_names);
			ws_out_printf(d->out, ", at 0x%" PRIx64 ")",
				      code->function->sec_off - owner->sec_off);
		}
		ws_out_text(d->out, ":\n");
	}
	d->told.shown = true;
}

/* ---- source lines ---- */

static bool same_chain(const struct ws_line_pos *a, size_t n_a, const struct ws_line_pos *b,
		       size_t n_b)
{
	if (n_a != n_b)
		return false;
	for (size_t i = 0; i < n_a; i++)
		if (a[i].line != b[i].line || a[i].file != b[i].file)
			return false;
	return true;
}

struct inline_chain {
	struct ws_line_pos pos[WS_CHAIN_MOST];
	size_t n;
};

/* The source position, when it is another than that of the instruction before. */
static void show_source(struct wsi_disas_code *code, uint64_t off, struct inline_chain *last)
{
	struct inline_chain now; /* 16 KiB: only what counts is set */
	const struct ws_function *function = code->function;
	if (ws_cubin_line_find(code->cubin, function->section, function->sec_off + off, now.pos,
			       WS_CHAIN_MOST, &now.n, NULL) != WS_OK)
		now.n = 0;
	if (now.n > WS_CHAIN_MOST)
		now.n = WS_CHAIN_MOST;
	if (now.n && !same_chain(now.pos, now.n, last->pos, last->n))
		ws_chain_text(code->d->out, now.pos, now.n, code->d->query->full_names);
	last->n = now.n;
	memcpy(last->pos, now.pos, now.n * sizeof *now.pos);
}

/* ---- one instruction ---- */

/* Functions by name; places in the function that is shown stay offsets. */
static bool name_function_target(void *user, uint64_t off, char *buffer, size_t size)
{
	const struct wsi_disas_code *code = user;
	const struct ws_function *function =
		wsi_disas_names_function(&code->names, code->function->sec_off + off);
	if (!function || function == code->function || function->name.len >= size)
		return false;
	snprintf(buffer, size, "%.*s", (int)function->name.len, function->name.ptr);
	return true;
}

size_t wsi_disas_code_text(struct wsi_disas_code *code, const struct ws_insn *insn, uint64_t off,
			   bool control, char *text, size_t size)
{
	struct ws_sass_style style = { .control = control };
	if (!control) {
		style.name = name_function_target;
		style.user = code;
		wsi_disas_names_style(&code->names, code->function->sec_off + off, insn, &style);
	}
	return ws_sass_format(insn, off, &style, text, size);
}

static unsigned mark_flags(const struct wsi_disas_code *code, uint64_t off)
{
	unsigned flags = 0;
	for (unsigned i = 0; i < code->n_marks; i++)
		if (code->marks[i].off == off)
			flags |= code->marks[i].flags;
	return flags;
}

/* What a linker or loader fills in, and where a branch through a register may lead. */
static void json_names(struct wsi_disas_code *code, uint64_t off)
{
	struct ws_json *json = code->d->json;
	uint64_t start = code->function->sec_off;
	size_t n;
	const struct ws_reloc *relocs = wsi_disas_names_relocs(&code->names, start + off, &n);
	if (n > 0)
		ws_json_key_array(json, "relocations");
	for (size_t i = 0; i < n; i++) {
		ws_json_object(json);
		ws_json_key_u64(json, "type", relocs[i].type);
		if (relocs[i].symbol.len)
			ws_json_key_str(json, "symbol", relocs[i].symbol);
		ws_json_key_i64(json, "addend", relocs[i].addend);
		ws_json_end(json);
	}
	if (n > 0)
		ws_json_end(json);
	const struct ws_branch_target *targets =
		wsi_disas_names_targets(&code->names, start + off, &n);
	if (n > 0)
		ws_json_key_array_line(json, "targets");
	for (size_t i = 0; i < n; i++)
		ws_json_i64(json, (int64_t)(targets[i].target - start));
	if (n > 0)
		ws_json_end(json);
}

/* What an instruction reads from a constant bank; `text` is its own. Most have nothing like it. */
static const struct wsi_disas_constant *insn_constant_of(const struct wsi_disas_code *code,
							 const struct ws_insn *insn,
							 const char *text, uint64_t *ret_offset)
{
	if (!code->constants || !insn->known)
		return NULL;
	bool may = strstr(text, "c[0x") != NULL ||
		   ws_sass_category(insn->operation) == WS_CATEGORY_TEXTURE ||
		   ws_sass_category(insn->operation) == WS_CATEGORY_SURFACE;
	return may ? wsi_disas_constants_find(code->constants, code->function->section, insn,
					      ret_offset)
		   : NULL;
}

static void json_constant(struct wsi_disas_code *code, const struct ws_insn *insn, const char *text)
{
	struct ws_json *json = code->d->json;
	uint64_t offset;
	const struct wsi_disas_constant *constant = insn_constant_of(code, insn, text, &offset);
	if (!constant)
		return;
	ws_json_key_object(json, "constant");
	ws_json_key_str(json, "symbol", constant->symbol);
	ws_json_key_u64(json, "offset", offset);
	ws_json_key_bool(json, "address", constant->is_address);
	ws_json_end(json);
}

/* "// limits+0xc", "// address of table": behind the line. */
static void print_constant(struct wsi_disas_code *code, const struct ws_insn *insn,
			   const char *text)
{
	struct ws_out *out = code->d->out;
	uint64_t offset;
	const struct wsi_disas_constant *constant = insn_constant_of(code, insn, text, &offset);
	if (!constant)
		return;
	ws_out_text(out, constant->is_address ? "  // address of " : "  // ");
	ws_out_escaped(out, constant->symbol);
	if (offset)
		ws_out_printf(out, constant->is_address ? ", byte %" PRIu64 : "+0x%" PRIx64,
			      offset);
}

/* "// to 0x40, 0x80": the same targets, behind the line. */
static void print_jump_targets(struct wsi_disas_code *code, uint64_t off)
{
	struct ws_out *out = code->d->out;
	uint64_t start = code->function->sec_off;
	size_t n;
	const struct ws_branch_target *targets =
		wsi_disas_names_targets(&code->names, start + off, &n);
	for (size_t i = 0; i < n; i++)
		ws_out_printf(out, "%s0x%" PRIx64, i == 0 ? "  // to " : ", ",
			      targets[i].target - start);
}

static void json_code_insn(struct wsi_disas_code *code, uint64_t off, const struct ws_insn *insn,
			   const char *text)
{
	struct ws_json *json = code->d->json;
	unsigned flags = mark_flags(code, off);
	char word[40];
	snprintf(word, sizeof word, "0x%016llx%016llx", (unsigned long long)insn->word[1],
		 (unsigned long long)insn->word[0]);
	ws_json_object(json);
	ws_json_key_u64(json, "offset", off);
	ws_json_key_text(json, "text", text);
	ws_json_key_text(json, "word", word);
	ws_json_key_bool(json, "known", ws_insn_explained(insn));
	json_names(code, off);
	json_constant(code, insn, text);
	if (code->n_marks) {
		ws_json_key_bool(json, "pc", flags & DISAS_PC);
		ws_json_key_bool(json, "errorpc", flags & DISAS_ERRORPC);
	}
	if (code->thread)
		wsi_disas_thread_values(code, insn, off);
	ws_json_end(json);
}

// "=> / *0040* /  " (without the inner spaces) not by printf: a big file has a million of these.
// The marks are cuda-gdb's.
enum { LINE_START_MAX = 25 };

static size_t line_start(char *to, unsigned flags, uint64_t off)
{
	static const char marks[][4] = { "   ", "=> ", "*> ", "*=>" };
	unsigned digits = 4;
	while (digits < 16 && off >> 4 * digits)
		digits++;
	size_t n = 0;
	memcpy(to, marks[flags], 3);
	memcpy(to + 3, "/*", 2);
	for (n = 5; digits-- > 0; n++)
		to[n] = "0123456789abcdef"[off >> 4 * digits & 15];
	memcpy(to + n, "*/  ", 4);
	return n + 4;
}

void wsi_disas_code_show_insn(struct wsi_disas_code *code, uint64_t off)
{
	struct wsi_disas *d = code->d;
	struct ws_insn insn;
	char line[LINE_START_MAX + WS_SASS_TEXT_MAX + DISAS_NAME_TEXT_MAX];
	size_t n = d->json ? 0 : line_start(line, mark_flags(code, off), off);
	ws_sass_decode(code->sm, code->code.ptr + off, &insn);
	n += wsi_disas_code_text(code, &insn, off, d->query->control, line + n, sizeof line - n);
	d->told.n_total++;
	d->told.n_unknown += !ws_insn_explained(&insn);
	if (d->json) {
		json_code_insn(code, off, &insn, line);
		return;
	}
	ws_out_escaped(d->out, (struct ws_str){ line, n });
	if (d->query->hex)
		ws_out_printf(d->out, "  /* 0x%016llx %016llx */", (unsigned long long)insn.word[1],
			      (unsigned long long)insn.word[0]);
	print_jump_targets(code, off);
	print_constant(code, &insn, line);
	if (code->thread)
		wsi_disas_thread_values(code, &insn, off);
	ws_out_text(d->out, "\n");
}

/* ---- the function ---- */

/* Whether the code is the function's own, not that of a function inside it. */
static bool is_own_code(const struct wsi_disas_code *code, uint64_t off)
{
	struct ws_place place;
	return ws_cubin_find_offset(code->cubin, code->function->section,
				    code->function->sec_off + off, &place, NULL) != WS_OK ||
	       place.function == code->function;
}

static bool is_code_wanted(const struct wsi_disas_code *code, uint64_t off)
{
	bool wanted = code->n_marks == 0 && (!code->without_inner || is_own_code(code, off));
	for (unsigned i = 0; i < code->n_marks; i++) {
		uint64_t mark = code->marks[i].off - code->marks[i].off % WS_SASS_BYTES;
		wanted |= off <= mark ? mark - off <= AROUND : off - mark <= AROUND;
	}
	return wanted;
}

static void show_insns(struct wsi_disas_code *code)
{
	struct wsi_disas *d = code->d;
	struct inline_chain last;
	last.n = 0;
	bool shown = false, gap = false;
	for (uint64_t off = 0; off + WS_SASS_BYTES <= code->code.len; off += WS_SASS_BYTES) {
		if (!is_code_wanted(code, off)) {
			gap = shown;
			continue;
		}
		if (gap && !d->json)
			ws_out_text(d->out, "   ...\n");
		gap = false;
		shown = true;
		if (d->query->source && !d->json)
			show_source(code, off, &last);
		wsi_disas_code_show_insn(code, off);
	}
}

void wsi_disas_code_show(struct wsi_disas_code *code)
{
	struct wsi_disas *d = code->d;
	wsi_disas_code_start(code);
	if (d->json)
		ws_json_key_array(d->json, "instructions");
	show_insns(code);
	if (d->json)
		ws_json_end(d->json);
}
