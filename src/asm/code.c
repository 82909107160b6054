/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second step: instructions as bytes.
 *
 * ws_sass_encode() takes exactly the text that ws_sass_format() writes. Whatever else a person may
 * write is converted to that form here: blanks, comments anywhere, and names. A name is
 *
 *   `(name+8)        a number that is known now: a place in this function, a parameter's offset in
 *                    bank 0, an offset in shared memory or in bank 3. In CALL.ABS: an address
 *   32@lo(name+8)    half of an address that the loader fills in
 *   32@hi(name+8)
 */
#include "asm/asm.h"

#include <warpscope/sass.h>

#include "elf/cubin.h"

enum {
	PADDING = 128,       /* sections of code are a multiple of this [measured: nvcc 13.0] */
	MAX_COMMENTS = 1000, /* bytes, of one instruction */
};

/* One instruction in the encoder's form. */
struct statement {
	char text[WS_SASS_TEXT_MAX + MAX_COMMENTS];
	uint16_t column[WS_SASS_TEXT_MAX]; /* in the line, of each byte of `text` */
	size_t n;
	char comments[MAX_COMMENTS];
	size_t n_comments;
	struct wsi_asm_reloc reloc; /* with has_reloc */
	bool has_reloc, is_absolute_call;
};

struct encoder {
	struct wsi_asm *a;
	uint32_t number; /* of the function */
	struct wsi_asm_function *function;
	struct wsi_asm_cursor c;
	struct statement s;
};

static bool put_code_text(struct encoder *e, const char *text, size_t n, uint32_t column)
{
	struct statement *s = &e->s;
	if (s->n + n >= WS_SASS_TEXT_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		s->text[s->n] = text[i];
		s->column[s->n++] = (uint16_t)column;
	}
	return true;
}

static bool put_code_number(struct encoder *e, int64_t value, uint32_t column)
{
	char text[24];
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	wsi_format(text, "%s0x%" PRIx64, value < 0 ? "-" : "", size);
	return put_code_text(e, text, strlen(text), column);
}

/* ---- names ---- */

static struct wsi_asm_reloc reloc_to(const struct wsi_asm *a, uint32_t type,
				     const struct wsi_asm_name *name, int64_t addend)
{
	bool is_own = name->kind == WSI_ASM_LABEL || name->kind == WSI_ASM_INNER;
	return (struct wsi_asm_reloc){
		.type = type,
		.name = (uint32_t)(name - a->names),
		.addend = addend + (is_own ? name->value : 0),
		.is_own = is_own,
	};
}

static void set_reloc(struct encoder *e, uint32_t type, const struct wsi_asm_name *name,
		      int64_t addend)
{
	e->s.has_reloc = true;
	e->s.reloc = reloc_to(e->a, type, name, addend);
}

/* The name of a reference; NULL, and reported, when there is none. */
static const struct wsi_asm_name *find_name(struct encoder *e, struct ws_str text,
					    struct wsi_asm_place place)
{
	const struct wsi_asm_name *name = wsi_asm_find(e->a, e->number, text);
	if (!name)
		wsi_asm_error(e->a, place, "nothing is named '%.*s'",
			      (int)(text.len < 60 ? text.len : 60), text.ptr);
	return name;
}

/* `(name). False when that is a mistake, which has been reported. */
static bool put_asm_name(struct encoder *e, const struct wsi_asm_name *name, int64_t addend,
			 struct wsi_asm_place place)
{
	struct wsi_asm *a = e->a;
	int64_t value = name->value;
	bool is_extern = name->kind == WSI_ASM_EXTERN || name->kind == WSI_ASM_EXTERN_DATA;
	bool is_code = name->kind == WSI_ASM_FUNCTION || is_extern || name->kind == WSI_ASM_LABEL ||
		       name->kind == WSI_ASM_INNER;
	if (is_code && e->s.is_absolute_call) {
		set_reloc(e, a->sm >= 90 ? WSI_R_CUDA_ABS55_16_34 : WSI_R_CUDA_ABS47_34, name,
			  addend);
		return put_code_number(e, 0, place.column);
	}
	if (a->is_object && (name->kind == WSI_ASM_DATA || name->kind == WSI_ASM_SHARED)) {
		wsi_asm_error(a, place, "a linker places '%.*s': use .reloc",
			      (int)(name->text.len < 60 ? name->text.len : 60), name->text.ptr);
		return false;
	}
	if (name->kind == WSI_ASM_DATA)
		value = a->objects[name->item].offset;
	bool elsewhere = is_extern || (name->kind == WSI_ASM_FUNCTION && name->item != e->number);
	if (elsewhere || (name->kind == WSI_ASM_DATA && !a->objects[name->item].is_constant)) {
		wsi_asm_error(a, place,
			      "the address of '%.*s' is known when it is loaded: use 32@lo() and "
			      "32@hi()%s",
			      (int)(name->text.len < 60 ? name->text.len : 60), name->text.ptr,
			      elsewhere ? ", or CALL.ABS.NOINC" : "");
		return false;
	}
	return put_code_number(e, value + addend, place.column);
}

/* 32@lo(name), 32@hi(name). */
static bool put_half(struct encoder *e, uint32_t type, const struct wsi_asm_name *name,
		     int64_t addend, struct wsi_asm_place place)
{
	if (name->kind == WSI_ASM_PARAM || name->kind == WSI_ASM_SHARED) {
		wsi_asm_error(e->a, place, "'%.*s' has no address: use `(%.*s)",
			      (int)(name->text.len < 60 ? name->text.len : 60), name->text.ptr,
			      (int)(name->text.len < 60 ? name->text.len : 60), name->text.ptr);
		return false;
	}
	set_reloc(e, type, name, addend);
	return put_code_number(e, 0, place.column);
}

static bool take_text(struct wsi_asm_cursor *c, const char *text)
{
	size_t n = strlen(text);
	if ((size_t)(c->end - c->at) < n || memcmp(c->at, text, n) != 0)
		return false;
	c->at += n;
	return true;
}

/* A reference, when one is next. `*ret_taken` tells; false for a mistake. */
static bool read_reference(struct encoder *e, bool *ret_taken)
{
	struct wsi_asm_place place = wsi_asm_here(&e->c);
	struct ws_str text;
	int64_t addend;
	uint32_t half = 0;
	if (take_text(&e->c, "32@lo("))
		half = WSI_R_CUDA_ABS32_LO_32;
	else if (take_text(&e->c, "32@hi("))
		half = WSI_R_CUDA_ABS32_HI_32;
	else if (!take_text(&e->c, "`("))
		return true;
	*ret_taken = true;
	if (!wsi_asm_take_reference(&e->c, &text, &addend)) {
		wsi_asm_error(e->a, place, "a name, maybe with + or - a number, and ) must follow");
		return false;
	}
	const struct wsi_asm_name *name = find_name(e, text, place);
	if (!name)
		return false;
	if (e->s.has_reloc && half) {
		wsi_asm_error(e->a, place, "a second address in one instruction");
		return false;
	}
	return half ? put_half(e, half, name, addend, place) : put_asm_name(e, name, addend, place);
}

/* ---- the encoder's form ---- */

/* Keeps a comment for the end of the text: some are read back. */
static bool keep_comments(struct encoder *e, const char *from)
{
	struct statement *s = &e->s;
	for (const char *at = from; at < e->c.at; at++) {
		if (at[0] == '/' && e->c.at - at >= 2 && at[1] == '/')
			return true;
		if (s->n_comments == sizeof s->comments)
			return false;
		s->comments[s->n_comments++] = *at;
	}
	return true;
}

/* One blank for several, none before a comma, one after it unless it is in braces, and none on the
 * inner side of brackets. */
static bool put_blank(struct encoder *e)
{
	struct statement *s = &e->s;
	bool wanted = s->n > 0 && !strchr(" [{(", s->text[s->n - 1]) && e->c.at < e->c.end &&
		      *e->c.at != '\0' && !strchr(",;]})", *e->c.at);
	return !wanted || put_code_text(e, " ", 1, wsi_asm_here(&e->c).column);
}

static bool put_code_char(struct encoder *e, char c, bool in_braces)
{
	uint32_t column = wsi_asm_here(&e->c).column;
	e->c.at++;
	if (c == '\0')
		return false;
	return put_code_text(e, &c, 1, column) &&
	       (c != ',' || in_braces || put_code_text(e, " ", 1, column));
}

/* Fills the statement; false for a mistake, which has been reported. */
static bool read_statement(struct encoder *e)
{
	struct statement *s = &e->s;
	bool in_braces = false, fits = true, ended = false;
	while (e->c.at < e->c.end && fits) {
		const char *from = e->c.at;
		bool is_reference = false;
		if (!wsi_asm_blank(&e->c)) {
			wsi_asm_error(e->a, wsi_asm_here(&e->c),
				      "the comment does not end on its line");
			return false;
		}
		if (e->c.at > from) {
			fits = keep_comments(e, from) && put_blank(e);
		} else if (ended) {
			wsi_asm_error(e->a, wsi_asm_here(&e->c), "nothing is expected after ;");
			return false;
		} else if (*from == ';') {
			ended = true;
			e->c.at++;
		} else {
			s->text[s->n] = '\0';
			const char *name = s->text[0] == '@' ? strchr(s->text, ' ') : s->text;
			s->is_absolute_call =
				name && strncmp(name + (*name == ' '), "CALL.ABS", 8) == 0;
			if (!read_reference(e, &is_reference))
				return false;
			in_braces = *from == '{' || (in_braces && *from != '}');
			if (!is_reference)
				fits = put_code_char(e, *from, in_braces);
		}
	}
	if (!fits) {
		wsi_asm_error(e->a, wsi_asm_here(&e->c), "the instruction is too long");
		return false;
	}
	while (s->n > 0 && s->text[s->n - 1] == ' ')
		s->n--;
	memcpy(s->text + s->n, s->comments, s->n_comments);
	s->text[s->n + s->n_comments] = '\0';
	return true;
}

/* ---- what the code tells of itself ---- */

static void note_registers(struct wsi_asm_function *function, const struct ws_insn *insn,
			   uint32_t pc)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	size_t n = ws_sass_operands(insn, pc, ops, WS_SASS_MAX_OPERANDS);
	for (size_t i = 0; i < n; i++) {
		uint32_t end = ops[i].number + (ops[i].count ? ops[i].count : 1u);
		if (ops[i].kind == WS_OPERAND_REG && ops[i].number < 255 &&
		    end > function->used_regs)
			function->used_regs = end < 255 ? end : 255;
	}
}

static void note_insn(struct encoder *e, const uint8_t bytes[WS_SASS_BYTES], uint32_t pc)
{
	struct wsi_asm *a = e->a;
	struct ws_insn insn;
	ws_sass_decode(a->sm, bytes, &insn);
	if (!insn.known)
		return;
	note_registers(e->function, &insn, pc);
	e->function->calls |= (insn.flags & WS_SASS_CALL) != 0;
	if ((insn.flags & WS_SASS_EXIT) &&
	    wsi_asm_grow(a, &a->exits, &a->cap_exits, a->n_exits, sizeof *a->exits)) {
		a->exits[a->n_exits++] = pc;
		e->function->n_exits++;
	}
}

/* ---- functions ---- */

static void add_reloc(struct encoder *e, struct wsi_asm_reloc reloc, uint32_t pc)
{
	struct wsi_asm *a = e->a;
	if (!wsi_asm_grow(a, &a->relocs, &a->cap_relocs, a->n_relocs, sizeof *a->relocs))
		return;
	reloc.off = pc;
	a->relocs[a->n_relocs++] = reloc;
	e->function->n_relocs++;
}

/* Those that .reloc tells of the instruction at `pc`. */
static void add_told(struct encoder *e, size_t *next, uint32_t pc)
{
	struct wsi_asm *a = e->a;
	for (;
	     *next < a->n_told && a->told[*next].function == e->number && a->told[*next].off == pc;
	     ++*next) {
		const struct wsi_asm_note *note = &a->told[*next];
		struct wsi_asm_reloc reloc = { .type = note->type,
					       .name = WSI_ASM_NO_NAME,
					       .addend = note->addend };
		const struct wsi_asm_name *name = NULL;
		if (note->name.len && !(name = find_name(e, note->name, note->place)))
			continue;
		if (name)
			reloc = reloc_to(a, note->type, name, note->addend);
		add_reloc(e, reloc, pc);
	}
}

/* What .bank0 tells of the function's constant bank. */
static void add_bank_relocs(struct encoder *e, size_t *next)
{
	struct wsi_asm *a = e->a;
	e->function->first_bank_reloc = a->n_relocs;
	for (; *next < a->n_bank0 && a->bank0[*next].function == e->number; ++*next) {
		const struct wsi_asm_note *note = &a->bank0[*next];
		const struct wsi_asm_name *name = find_name(e, note->name, note->place);
		if (!name ||
		    !wsi_asm_grow(a, &a->relocs, &a->cap_relocs, a->n_relocs, sizeof *a->relocs))
			continue;
		a->relocs[a->n_relocs] = reloc_to(a, note->type, name, 0);
		a->relocs[a->n_relocs++].off = note->off;
		e->function->n_bank_relocs++;
	}
}

/* What .targets tells of the function's branches. */
static void add_targets(struct encoder *e, size_t *next)
{
	struct wsi_asm *a = e->a;
	e->function->first_target = a->n_targets;
	for (; *next < a->n_branches && a->branches[*next].function == e->number; ++*next) {
		const struct wsi_asm_note *note = &a->branches[*next];
		const struct wsi_asm_name *name = find_name(e, note->name, note->place);
		if (!name)
			continue;
		if (name->kind != WSI_ASM_LABEL && name->kind != WSI_ASM_INNER &&
		    !(name->kind == WSI_ASM_FUNCTION && name->item == e->number)) {
			wsi_asm_error(a, note->place, "a target is a place in the same function");
			continue;
		}
		if (!wsi_asm_grow(a, &a->targets, &a->cap_targets, a->n_targets,
				  sizeof *a->targets))
			return;
		a->targets[a->n_targets++] = (struct wsi_asm_target){ note->off, name->value };
		e->function->n_targets++;
	}
}

static void encode_insn(struct encoder *e, const struct wsi_asm_insn *insn, uint32_t pc)
{
	struct wsi_asm *a = e->a;
	uint8_t bytes[WS_SASS_BYTES];
	struct ws_error err;
	uint32_t column = insn->place.column - 1;
	const char *start = insn->text.ptr - column;
	e->c = (struct wsi_asm_cursor){ a, start, insn->text.ptr, insn->text.ptr + insn->text.len,
					insn->place.line };
	e->s.n = e->s.n_comments = 0;
	e->s.has_reloc = false;
	if (!read_statement(e))
		return;
	enum ws_status st = ws_sass_encode(a->sm, e->s.text, pc, bytes, &err);
	if (st != WS_OK) {
		struct wsi_asm_place place = insn->place;
		size_t at = err.file_off < e->s.n ? (size_t)err.file_off : e->s.n;
		if (e->s.n > 0)
			place.column = at < e->s.n ? e->s.column[at] : e->s.column[e->s.n - 1] + 1u;
		wsi_asm_error(a, place, "%s", err.message);
		return;
	}
	wsi_bytes_put(&e->function->code, bytes, sizeof bytes);
	note_insn(e, bytes, pc);
	if (e->s.has_reloc)
		add_reloc(e, e->s.reloc, pc);
}

static void pad(struct wsi_asm *a, struct wsi_bytes *code)
{
	uint8_t nop[WS_SASS_BYTES];
	if (ws_sass_encode(a->sm, "NOP /* stall 0 */", 0, nop, NULL) != WS_OK)
		return;
	while (code->len % PADDING && !code->failed)
		wsi_bytes_put(code, nop, sizeof nop);
}

/* The first elements of these arrays that are not used yet. */
struct next {
	size_t told, branches, bank0;
};

static void encode_function(struct wsi_asm *a, uint32_t number, struct next *next)
{
	struct encoder e = { .a = a, .number = number, .function = &a->functions[number] };
	struct wsi_asm_function *function = e.function;
	function->first_reloc = a->n_relocs;
	function->first_exit = a->n_exits;
	for (size_t i = 0; i < function->n_insns && !wsi_asm_stopped(a); i++) {
		uint32_t pc = (uint32_t)i * WS_SASS_BYTES;
		add_told(&e, &next->told, pc);
		encode_insn(&e, &a->insns[function->first_insn + i], pc);
	}
	add_targets(&e, &next->branches);
	add_bank_relocs(&e, &next->bank0);
	for (; next->told < a->n_told && a->told[next->told].function == number; next->told++)
		wsi_asm_error(a, a->told[next->told].place, "no instruction follows");
	pad(a, &function->code);
	a->no_memory |= function->code.failed;
}

/* A function that does not say how many registers it needs: as many as its code names, and with
 * calls as many as any code of the file names. */
static void count_registers(struct wsi_asm *a)
{
	uint32_t any = 0;
	for (size_t i = 0; i < a->n_functions; i++)
		any = a->functions[i].used_regs > any ? a->functions[i].used_regs : any;
	for (size_t i = 0; i < a->n_functions; i++) {
		struct wsi_asm_function *function = &a->functions[i];
		if (!function->has_regs)
			function->regs = function->calls ? any : function->used_regs;
	}
}

static void resolve_fixup(struct wsi_asm *a, const struct wsi_asm_fixup *fixup)
{
	const struct wsi_asm_object *object = &a->objects[fixup->object];
	struct wsi_asm_area_data *area = &a->areas[object->area];
	const struct wsi_asm_name *name = wsi_asm_find(a, WSI_ASM_FILE, fixup->name);
	if (!name) {
		wsi_asm_error(a, fixup->place, "no function or data is named '%.*s'",
			      (int)(fixup->name.len < 60 ? fixup->name.len : 60), fixup->name.ptr);
		return;
	}
	if (!wsi_asm_grow(a, &area->relocs, &area->cap_relocs, area->n_relocs,
			  sizeof *area->relocs))
		return;
	area->relocs[area->n_relocs++] = (struct wsi_asm_reloc){
		.off = object->offset + fixup->off,
		.type = WSI_R_CUDA_64,
		.name = (uint32_t)(name - a->names),
		.addend = fixup->addend,
	};
}

void wsi_asm_encode(struct wsi_asm *a)
{
	struct next next = { 0 };
	for (uint32_t i = 0; i < a->n_functions && !wsi_asm_stopped(a); i++)
		encode_function(a, i, &next);
	count_registers(a);
	for (size_t i = 0; i < a->n_fixups && !wsi_asm_stopped(a); i++)
		resolve_fixup(a, &a->fixups[i]);
}
