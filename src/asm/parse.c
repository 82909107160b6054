/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first step: lines become functions, instructions (kept as text), data and names.
 *
 * A line is: labels, then a directive or an instruction, then a comment. Directives are rows of one
 * table, with the blocks in which each may stand.
 */
#include "asm/asm.h"

#include <warpscope/sass.h>

#include "elf/cubin.h"
#include "elf/elf.h"
#include "sass/bank.h"

enum {
	MAX_PARAMS_END = 0x7fff,
	MAX_REGS = 255,
	MAX_BARRIERS = 16,
	MAX_SHARED = 1 << 20, /* as far as the 20 bits of LDGSTS reach */
	MAX_FRAME = 512 << 10,
	MAX_BANK = 64 << 10,
	MAX_CONSTANT = 64 << 10,
	MAX_GLOBAL = 1 << 30,
	MAX_INIT = 16 << 20,
	MAX_ALIGNMENT = 4096,
	MAX_INSNS = 1 << 22,  /* of a function */
	MAX_FUNCTIONS = 8000, /* each has up to five sections, ELF 65,280 */
};

enum block { IN_FILE = 1, IN_FUNCTION = 2, IN_DATA = 4 };

struct parser {
	struct wsi_asm *a;
	struct wsi_asm_cursor c;
	enum block block;
	struct wsi_asm_place opened; /* where the block starts */
	uint32_t inner;              /* name of the innermost function, or WSI_ASM_FILE */
	struct wsi_bytes data;       /* of the open object */
	bool initialised;            /* it has other data than zeros */
	unsigned argument;           /* of the directive: what its row says */
};

static struct wsi_asm_function *function_of(const struct parser *p)
{
	return &p->a->functions[p->a->n_functions - 1];
}

static struct wsi_asm_object *object_of(const struct parser *p)
{
	return &p->a->objects[p->a->n_objects - 1];
}

/* ---- what directives take ---- */

/* Where the next word of the line begins. */
static struct wsi_asm_place place_of_next(struct parser *p)
{
	wsi_asm_blank(&p->c);
	return wsi_asm_here(&p->c);
}

static bool take_asm_name(struct parser *p, struct ws_str *ret_name)
{
	wsi_asm_blank(&p->c);
	if (wsi_asm_take_name(&p->c, ret_name))
		return true;
	bool is_quoted = p->c.at < p->c.end && *p->c.at == '"';
	wsi_asm_error(p->a, wsi_asm_here(&p->c),
		      is_quoted ? "a name in quotes ends on its line and has no zero byte and no "
				  "backslash but in \\xNN"
				: "a name is needed here");
	return false;
}

static bool take_limited(struct parser *p, uint64_t max, uint32_t *ret_value)
{
	uint64_t value;
	struct wsi_asm_place place = place_of_next(p);
	if (!wsi_asm_take_number(&p->c, &value)) {
		wsi_asm_error(p->a, place, "a number is needed here");
		return false;
	}
	if (value > max) {
		wsi_asm_error(p->a, place, "the number is above %" PRIu64, max);
		return false;
	}
	*ret_value = (uint32_t)value;
	return true;
}

/* The word `what`, when it is next. */
static bool take_keyword(struct parser *p, const char *what)
{
	struct wsi_asm_cursor trial = p->c;
	struct ws_str word;
	if (!wsi_asm_blank(&trial) || !wsi_asm_take_word(&trial, &word) ||
	    !ws_str_equal(word, ws_str_of(what)))
		return false;
	p->c = trial;
	return true;
}

/* "named NAME", when it is next: the name in the image, where several symbols have it. */
static void take_named(struct parser *p, struct wsi_asm_name *name)
{
	struct ws_str text;
	if (take_keyword(p, "named") && take_asm_name(p, &text) && name)
		name->symbol_name = text;
}

/* "align N", when it is next; `*ret_alignment` stays as it is when there is none. */
static bool take_alignment(struct parser *p, uint32_t *ret_alignment)
{
	uint32_t value;
	if (!take_keyword(p, "align"))
		return true;
	struct wsi_asm_place place = place_of_next(p);
	if (!take_limited(p, MAX_ALIGNMENT, &value))
		return false;
	if (value == 0 || value & (value - 1)) {
		wsi_asm_error(p->a, place, "an alignment is a power of two");
		return false;
	}
	*ret_alignment = value;
	return true;
}

/* The largest power of two that divides a size, at most 16. */
static uint32_t natural_alignment(uint32_t size)
{
	uint32_t alignment = 1;
	while (alignment < 16 && size % (alignment * 2) == 0)
		alignment *= 2;
	return alignment;
}

static struct wsi_asm_name *define(struct parser *p, struct ws_str text, struct wsi_asm_place place,
				   enum wsi_asm_kind kind, uint32_t scope)
{
	struct wsi_asm *a = p->a;
	if (!wsi_asm_grow(a, &a->names, &a->cap_names, a->n_names, sizeof *a->names))
		return NULL;
	struct wsi_asm_name *name = &a->names[a->n_names++];
	*name = (struct wsi_asm_name){
		.text = text, .symbol_name = text, .place = place, .scope = scope, .kind = kind
	};
	return name;
}

static uint32_t function_scope(const struct parser *p)
{
	return (uint32_t)p->a->n_functions - 1;
}

/* ---- directives ---- */

static void read_arch(struct parser *p)
{
	struct ws_str word;
	struct wsi_asm *a = p->a;
	uint32_t sm;
	char variant;
	struct wsi_asm_place place = place_of_next(p);
	if (!take_asm_name(p, &word))
		return;
	if (!wsi_asm_arch(word, &sm, &variant)) {
		wsi_asm_error(a, place, "'%.*s' is not an architecture (sm_70 to sm_121)",
			      (int)(word.len < 40 ? word.len : 40), word.ptr);
	} else if (!ws_sass_supports(sm)) {
		wsi_asm_error(a, place, "no instruction table for sm_%" PRIu32, sm);
	} else if (!a->arch_is_told && a->sm != 0) {
		wsi_asm_error(a, place, "a second .arch");
	} else if (!a->arch_is_told) {
		a->sm = sm;
		a->variant = variant;
	}
}

static void read_object(struct parser *p)
{
	if (p->a->n_functions || p->a->n_objects)
		wsi_asm_error(p->a, wsi_asm_here(&p->c),
			      ".object must come before functions and data");
	p->a->is_object = true;
}

static void open_function(struct parser *p)
{
	struct wsi_asm *a = p->a;
	struct ws_str text;
	struct wsi_asm_place place = place_of_next(p);
	if (a->sm == 0) {
		wsi_asm_error(a, place, ".arch must come before the first function");
		a->sm = 80; /* so that this is said once */
	}
	if (a->n_functions == MAX_FUNCTIONS)
		wsi_asm_error(a, place, "more than %d functions", MAX_FUNCTIONS);
	if (!take_asm_name(p, &text))
		text = ws_str_of("?");
	if (!wsi_asm_grow(a, &a->functions, &a->cap_functions, a->n_functions,
			  sizeof *a->functions))
		return;
	struct wsi_asm_function *function = &a->functions[a->n_functions++];
	*function = (struct wsi_asm_function){
		.name = text,
		.symbol_name = text,
		.is_kernel = p->argument,
		.binding = WSI_ASM_GLOBAL,
		.first_insn = a->n_insns,
		.first_param = a->n_params,
	};
	if (take_keyword(p, "weak"))
		function->binding = WSI_ASM_WEAK;
	else if (take_keyword(p, "local"))
		function->binding = WSI_ASM_LOCAL;
	struct wsi_asm_name *name = define(p, text, place, WSI_ASM_FUNCTION, WSI_ASM_FILE);
	take_named(p, name);
	if (name) {
		name->item = function_scope(p);
		function->symbol_name = name->symbol_name;
	}
	p->block = IN_FUNCTION;
	p->opened = place;
	p->inner = WSI_ASM_FILE;
}

static void read_extern(struct parser *p)
{
	static const struct {
		const char *word;
		uint8_t type, other;
	} data[] = {
		{ "data", WSI_STT_OBJECT, 0 },
		{ "global", WSI_STT_CUDA_OBJECT, WSI_STO_CUDA_GLOBAL },
		{ "shared", WSI_STT_CUDA_OBJECT, WSI_STO_CUDA_SHARED },
		{ "const", WSI_STT_CUDA_OBJECT, WSI_STO_CUDA_CONSTANT },
		{ "texture", WSI_STT_CUDA_TEXTURE, 0 },
		{ "surface", WSI_STT_CUDA_SURFACE, 0 },
	};
	struct ws_str text;
	struct wsi_asm_place place = place_of_next(p);
	if (!take_asm_name(p, &text))
		return;
	struct wsi_asm_name *name = define(p, text, place, WSI_ASM_EXTERN, WSI_ASM_FILE);
	for (size_t i = 0; i < WSI_COUNT(data); i++) {
		if (!take_keyword(p, data[i].word) || !name)
			continue;
		name->kind = WSI_ASM_EXTERN_DATA;
		name->type = data[i].type;
		name->other = data[i].other;
		break;
	}
	take_named(p, name);
}

/* Bytes of code so far. */
static uint32_t code_size(const struct parser *p)
{
	return (uint32_t)(p->a->n_insns - function_of(p)->first_insn) * WS_SASS_BYTES;
}

/* A label or a function inside: the next instruction's place. */
static struct wsi_asm_name *define_here(struct parser *p, struct ws_str text,
					struct wsi_asm_place place, enum wsi_asm_kind kind)
{
	struct wsi_asm_name *name = define(p, text, place, kind, function_scope(p));
	if (name)
		name->value = code_size(p);
	return name;
}

/* .reloc TYPE [NAME][+N], of the next instruction. */
static void read_reloc(struct parser *p)
{
	struct wsi_asm *a = p->a;
	struct wsi_asm_note note = { .function = function_scope(p), .off = code_size(p) };
	if (!take_limited(p, UINT32_MAX, &note.type))
		return;
	note.place = place_of_next(p);
	if (!wsi_asm_take_place(&p->c, true, &note.name, &note.addend)) {
		wsi_asm_error(a, note.place, "a name, maybe with + or - a number, is needed here");
		return;
	}
	if (wsi_asm_grow(a, &a->told, &a->cap_told, a->n_told, sizeof *a->told))
		a->told[a->n_told++] = note;
}

/* For kernels only. */
static bool is_kernel(struct parser *p, const char *what)
{
	if (!function_of(p)->is_kernel)
		wsi_asm_error(p->a, wsi_asm_here(&p->c), "only a kernel has %s", what);
	return function_of(p)->is_kernel;
}

/* .bank0 OFFSET TYPE NAME: a number in constant bank 0 that the loader fills in. */
static void read_bank0(struct parser *p)
{
	struct wsi_asm *a = p->a;
	struct wsi_asm_note note = { .function = function_scope(p) };
	if (!is_kernel(p, "a constant bank 0") || !take_limited(p, MAX_BANK - 4, &note.off) ||
	    !take_limited(p, UINT32_MAX, &note.type))
		return;
	note.place = place_of_next(p);
	if (take_asm_name(p, &note.name) &&
	    wsi_asm_grow(a, &a->bank0, &a->cap_bank0, a->n_bank0, sizeof *a->bank0))
		a->bank0[a->n_bank0++] = note;
}

/* .targets NAME, NAME ..., of the next instruction. */
static void read_targets(struct parser *p)
{
	struct wsi_asm *a = p->a;
	struct wsi_asm_note note = { .function = function_scope(p), .off = code_size(p) };
	do {
		note.place = place_of_next(p);
		if (!take_asm_name(p, &note.name) ||
		    !wsi_asm_grow(a, &a->branches, &a->cap_branches, a->n_branches,
				  sizeof *a->branches))
			return;
		a->branches[a->n_branches++] = note;
		wsi_asm_blank(&p->c);
	} while (wsi_asm_take_char(&p->c, ','));
}

static void close_inner(struct parser *p)
{
	if (p->inner != WSI_ASM_FILE)
		p->a->names[p->inner].size = code_size(p) - p->a->names[p->inner].value;
	p->inner = WSI_ASM_FILE;
}

static void read_inner(struct parser *p)
{
	struct ws_str text;
	close_inner(p);
	struct wsi_asm_place place = place_of_next(p);
	if (!take_asm_name(p, &text))
		return;
	struct wsi_asm_name *name = define_here(p, text, place, WSI_ASM_INNER);
	take_named(p, name);
	if (name)
		p->inner = (uint32_t)p->a->n_names - 1;
}

static void read_regs(struct parser *p)
{
	function_of(p)->has_regs = take_limited(p, MAX_REGS, &function_of(p)->regs);
}

static void read_barriers(struct parser *p)
{
	(void)take_limited(p, MAX_BARRIERS, &function_of(p)->barriers);
}

/* .maxntid X[, Y[, Z]], and the like. */
static void read_shape(struct parser *p)
{
	struct ws_dim3 shape = { 1, 1, 1 };
	uint32_t *const to[] = { &shape.x, &shape.y, &shape.z };
	size_t n = 0;
	if (!is_kernel(p, "a shape of its own"))
		return;
	do {
		if (!take_limited(p, INT32_MAX, to[n++]))
			return;
		wsi_asm_blank(&p->c);
	} while (n < WSI_COUNT(to) && wsi_asm_take_char(&p->c, ','));
	function_of(p)->shapes[p->argument] = shape;
}

static void read_frame_directive(struct parser *p)
{
	uint32_t *frame =
		p->inner == WSI_ASM_FILE ? &function_of(p)->frame : &p->a->names[p->inner].frame;
	(void)take_limited(p, MAX_FRAME, frame);
}

static void read_stack_directive(struct parser *p)
{
	if (take_keyword(p, "unknown")) /* recursion */
		function_of(p)->stack = UINT32_MAX;
	else
		(void)take_limited(p, MAX_FRAME, &function_of(p)->stack);
}

/* "to SPACE [align N]" of a pointer, when it is next. */
static bool take_pointer(struct parser *p, struct wsi_asm_param *param)
{
	static const struct {
		const char *word;
		uint8_t space;
	} spaces[] = {
		{ "local", WSI_NV_POINTER_LOCAL },     { "shared", WSI_NV_POINTER_SHARED },
		{ "const", WSI_NV_POINTER_CONST },     { "global", WSI_NV_POINTER_GLOBAL },
		{ "generic", WSI_NV_POINTER_GENERIC },
	};
	uint32_t alignment = 1;
	if (!take_keyword(p, "to"))
		return true;
	for (size_t i = 0; i < WSI_COUNT(spaces) && param->space == 0; i++)
		param->space = take_keyword(p, spaces[i].word) ? spaces[i].space : 0;
	if (param->space == 0) {
		wsi_asm_error(p->a, place_of_next(p),
			      "expected local, shared, const, global or generic");
		return false;
	}
	if (!take_alignment(p, &alignment))
		return false;
	param->alignment_shift = (uint8_t)wsi_first_bit(alignment);
	return true;
}

static void read_param(struct parser *p)
{
	struct wsi_asm *a = p->a;
	struct wsi_asm_function *function = function_of(p);
	struct ws_str text;
	uint32_t size, offset;
	struct wsi_asm_place place = place_of_next(p);
	if (!is_kernel(p, "parameters") || !take_asm_name(p, &text) ||
	    !take_limited(p, MAX_PARAMS_END, &size))
		return;
	uint32_t alignment = natural_alignment(size);
	offset = (function->param_bytes + alignment - 1) & ~(alignment - 1);
	if (take_keyword(p, "at") && !take_limited(p, MAX_PARAMS_END, &offset))
		return;
	if (size == 0 || offset < function->param_bytes || offset + size > MAX_PARAMS_END) {
		wsi_asm_error(a, place, "the parameter does not fit after the others");
		return;
	}
	struct wsi_asm_param param = { .offset = offset, .size = size, .name = a->n_names };
	if (!take_pointer(p, &param))
		return;
	param.is_hidden = take_keyword(p, "hidden");
	if (!define(p, text, place, WSI_ASM_PARAM, function_scope(p)) ||
	    !wsi_asm_grow(a, &a->params, &a->cap_params, a->n_params, sizeof *a->params))
		return;
	a->params[a->n_params++] = param;
	function->n_params++;
	function->has_second_records |= param.is_hidden;
	function->param_bytes = offset + size;
}

static void read_shared_directive(struct parser *p)
{
	struct wsi_asm_function *function = function_of(p);
	struct ws_str text;
	uint32_t size;
	struct wsi_asm_place place = place_of_next(p);
	if (!is_kernel(p, "shared memory") || !take_asm_name(p, &text) ||
	    !take_limited(p, MAX_SHARED, &size))
		return;
	uint32_t alignment = natural_alignment(size);
	if (!take_alignment(p, &alignment))
		return;
	uint32_t base = p->a->is_object ? 0 : wsi_asm_shared_base(p->a->sm);
	uint32_t used = function->shared_bytes ? function->shared_bytes : base;
	uint32_t offset = (used + alignment - 1) & ~(alignment - 1);
	struct wsi_asm_name *name = define(p, text, place, WSI_ASM_SHARED, function_scope(p));
	if (!name)
		return;
	if (offset + size > MAX_SHARED)
		wsi_asm_error(p->a, place, "more than %d bytes of shared memory", MAX_SHARED);
	name->value = offset;
	take_named(p, name);
	name->item = alignment;
	name->size = size;
	function->shared_bytes = offset + size;
}

/* ---- data ---- */

static void open_object(struct parser *p)
{
	struct wsi_asm *a = p->a;
	struct ws_str text;
	struct wsi_asm_place place = place_of_next(p);
	if (!take_asm_name(p, &text))
		text = ws_str_of("?");
	if (!wsi_asm_grow(a, &a->objects, &a->cap_objects, a->n_objects, sizeof *a->objects))
		return;
	struct wsi_asm_object *object = &a->objects[a->n_objects++];
	*object = (struct wsi_asm_object){ .is_constant = p->argument, .alignment = 1 };
	(void)take_alignment(p, &object->alignment);
	object->is_local = take_keyword(p, "local");
	struct wsi_asm_name *name = define(p, text, place, WSI_ASM_DATA, WSI_ASM_FILE);
	take_named(p, name);
	if (name)
		name->item = (uint32_t)a->n_objects - 1;
	p->block = IN_DATA;
	p->opened = place;
	p->initialised = false;
}

/* Writes the zeros that are only counted so far; an object that is too large is refused in the end.
 */
static void write_counted_zeros(struct parser *p)
{
	uint32_t size = object_of(p)->size;
	if (size <= MAX_INIT && p->data.len < size)
		wsi_bytes_zero(&p->data, size - p->data.len);
}

/* `(name) in data: the address, filled in by the loader. */
static bool read_fixup(struct parser *p, unsigned width)
{
	struct wsi_asm *a = p->a;
	struct wsi_asm_fixup fixup = { .object = (uint32_t)a->n_objects - 1,
				       .off = object_of(p)->size,
				       .place = wsi_asm_here(&p->c) };
	if (!wsi_asm_take_char(&p->c, '`') || !wsi_asm_take_char(&p->c, '(') ||
	    !wsi_asm_take_reference(&p->c, &fixup.name, &fixup.addend)) {
		wsi_asm_error(a, fixup.place, "a number or `(name) is needed here");
		return false;
	}
	if (width != 8) {
		wsi_asm_error(a, fixup.place, "an address needs .u64");
		return false;
	}
	if (!wsi_asm_grow(a, &a->fixups, &a->cap_fixups, a->n_fixups, sizeof *a->fixups))
		return false;
	a->fixups[a->n_fixups++] = fixup;
	wsi_bytes_zero(&p->data, 8);
	return true;
}

static void read_numbers(struct parser *p)
{
	unsigned width = p->argument;
	struct wsi_asm_object *object = object_of(p);
	if (object->alignment < width)
		object->alignment = width;
	p->initialised = true;
	write_counted_zeros(p);
	do {
		uint64_t value;
		struct wsi_asm_place place = place_of_next(p);
		if (wsi_asm_take_number(&p->c, &value)) {
			uint64_t above = width < 8 ? value >> 8 * width : 0;
			uint64_t sign = width < 8 ? value >> (8 * width - 1) : 0;
			if (above != 0 && sign != UINT64_MAX >> (8 * width - 1))
				wsi_asm_error(p->a, place, "the number needs more than %u bits",
					      8 * width);
			wsi_bytes_number(&p->data, value, width);
		} else if (!read_fixup(p, width)) {
			return;
		}
		object->size += width;
		wsi_asm_blank(&p->c);
	} while (wsi_asm_take_char(&p->c, ','));
}

static void read_zero(struct parser *p)
{
	uint32_t size;
	if (take_limited(p, MAX_GLOBAL, &size))
		object_of(p)->size = (uint32_t)wsi_min_u64((uint64_t)object_of(p)->size + size,
							   (uint64_t)MAX_GLOBAL + 1);
}

/* Gives the object its place in its area. */
static void close_object(struct parser *p)
{
	struct wsi_asm *a = p->a;
	struct wsi_asm_object *object = object_of(p);
	object->area = object->is_constant ? WSI_ASM_CONSTANT
		       : p->initialised    ? WSI_ASM_INIT
					   : WSI_ASM_ZERO;
	struct wsi_asm_area_data *area = &a->areas[object->area];
	uint64_t limit = object->area == WSI_ASM_CONSTANT ? MAX_CONSTANT
			 : object->area == WSI_ASM_INIT   ? MAX_INIT
							  : MAX_GLOBAL;
	uint64_t offset =
		((uint64_t)area->size + object->alignment - 1) & ~((uint64_t)object->alignment - 1);
	if (offset + object->size > limit) {
		wsi_asm_error(a, p->opened, "more than %" PRIu64 " bytes of such data", limit);
	} else {
		object->offset = (uint32_t)offset;
		area->size = (uint32_t)(offset + object->size);
		area->alignment = (uint32_t)wsi_max_u64(area->alignment, object->alignment);
		if (object->area != WSI_ASM_ZERO) {
			write_counted_zeros(p);
			wsi_bytes_align(&area->bytes, object->alignment);
			wsi_bytes_put(&area->bytes, p->data.ptr, p->data.len);
		}
	}
	a->no_memory |= p->data.failed || area->bytes.failed;
	wsi_bytes_fini(&p->data);
}

/* Where parameters lie goes by the size of all. [measured: ptxas 13.0, sm_75 to sm_120] */
static void place_params(struct wsi_asm *a, struct wsi_asm_function *function)
{
	const bool is_long = function->param_bytes > WSI_NV_PARAMS_SHORT;
	function->has_second_records |= is_long;
	function->param_base =
		is_long && a->sm < 90 ? WSI_NV_PARAMS_LONG_BASE : wsi_bank0(a->sm)->param;
	for (size_t i = 0; i < function->n_params; i++) {
		const struct wsi_asm_param *param = &a->params[function->first_param + i];
		a->names[param->name].value = function->param_base + param->offset;
	}
}

static void read_end(struct parser *p)
{
	if (p->block == IN_DATA) {
		close_object(p);
	} else {
		close_inner(p);
		function_of(p)->n_insns = p->a->n_insns - function_of(p)->first_insn;
		place_params(p->a, function_of(p));
	}
	p->block = IN_FILE;
}

static const struct directive {
	const char *name;
	unsigned blocks;
	void (*read)(struct parser *p);
	unsigned argument; /* for read() */
} directives[] = {
	{ ".arch", IN_FILE, read_arch, 0 },
	{ ".object", IN_FILE, read_object, 0 },
	{ ".kernel", IN_FILE, open_function, true },
	{ ".func", IN_FILE, open_function, false },
	{ ".const", IN_FILE, open_object, true },
	{ ".global", IN_FILE, open_object, false },
	{ ".extern", IN_FILE, read_extern, 0 },
	{ ".inner", IN_FUNCTION, read_inner, 0 },
	{ ".outer", IN_FUNCTION, close_inner, 0 },
	{ ".regs", IN_FUNCTION, read_regs, 0 },
	{ ".barriers", IN_FUNCTION, read_barriers, 0 },
	{ ".maxntid", IN_FUNCTION, read_shape, WSI_ASM_MAXNTID },
	{ ".reqntid", IN_FUNCTION, read_shape, WSI_ASM_REQNTID },
	{ ".reqnctapercluster", IN_FUNCTION, read_shape, WSI_ASM_REQNCTAPERCLUSTER },
	{ ".frame", IN_FUNCTION, read_frame_directive, 0 },
	{ ".stack", IN_FUNCTION, read_stack_directive, 0 },
	{ ".reloc", IN_FUNCTION, read_reloc, 0 },
	{ ".targets", IN_FUNCTION, read_targets, 0 },
	{ ".bank0", IN_FUNCTION, read_bank0, 0 },
	{ ".param", IN_FUNCTION, read_param, 0 },
	{ ".shared", IN_FUNCTION, read_shared_directive, 0 },
	{ ".u8", IN_DATA, read_numbers, 1 },
	{ ".u16", IN_DATA, read_numbers, 2 },
	{ ".u32", IN_DATA, read_numbers, 4 },
	{ ".u64", IN_DATA, read_numbers, 8 },
	{ ".zero", IN_DATA, read_zero, 0 },
	{ ".end", IN_FUNCTION | IN_DATA, read_end, 0 },
};

static const char *block_text(enum block block)
{
	return block == IN_FILE       ? "outside functions and data"
	       : block == IN_FUNCTION ? "in a function"
				      : "in data";
}

static void read_directive(struct parser *p, struct ws_str word, struct wsi_asm_place place)
{
	size_t i = 0;
	while (i < WSI_COUNT(directives) && !ws_str_equal(word, ws_str_of(directives[i].name)))
		i++;
	if (i == WSI_COUNT(directives)) {
		wsi_asm_error(p->a, place, "no directive '%.*s'",
			      (int)(word.len < 40 ? word.len : 40), word.ptr);
		return;
	}
	if (!(directives[i].blocks & p->block)) {
		wsi_asm_error(p->a, place, "%s is not allowed %s", directives[i].name,
			      block_text(p->block));
		return;
	}
	uint32_t errors = p->a->n_errors;
	p->argument = directives[i].argument;
	directives[i].read(p);
	if (p->a->n_errors == errors && wsi_asm_blank(&p->c) && p->c.at < p->c.end)
		wsi_asm_error(p->a, wsi_asm_here(&p->c), "nothing more is expected here");
}

/* ---- lines ---- */

static void read_insn(struct parser *p, const char *start)
{
	struct wsi_asm *a = p->a;
	struct wsi_asm_cursor at = p->c;
	at.at = start;
	if (p->block != IN_FUNCTION) {
		wsi_asm_error(a, wsi_asm_here(&p->c), "an instruction is not allowed %s",
			      block_text(p->block));
		return;
	}
	if (a->n_insns - function_of(p)->first_insn >= MAX_INSNS) {
		wsi_asm_error(a, wsi_asm_here(&p->c), "more than %d instructions in a function",
			      MAX_INSNS);
		return;
	}
	if (!wsi_asm_grow(a, &a->insns, &a->cap_insns, a->n_insns, sizeof *a->insns))
		return;
	a->insns[a->n_insns++] =
		(struct wsi_asm_insn){ .text = { start, (size_t)(p->c.end - start) },
				       .place = wsi_asm_here(&at) };
}

static void read_asm_line(struct parser *p)
{
	if (p->c.end - p->c.at > WSI_ASM_MAX_LINE) {
		wsi_asm_error(p->a, wsi_asm_here(&p->c), "the line has more than %d bytes",
			      WSI_ASM_MAX_LINE);
		return;
	}
	for (;;) {
		const char *start = p->c.at; /* comments before an instruction belong to it */
		if (!wsi_asm_blank(&p->c)) {
			wsi_asm_error(p->a, wsi_asm_here(&p->c),
				      "the comment does not end on its line");
			return;
		}
		if (p->c.at == p->c.end)
			return;
		struct wsi_asm_cursor trial = p->c;
		struct wsi_asm_place place = wsi_asm_here(&p->c);
		struct ws_str word;
		bool is_name = wsi_asm_take_name(&trial, &word);
		if (is_name && wsi_asm_take_char(&trial, ':')) {
			p->c = trial;
			if (p->block == IN_FUNCTION)
				define_here(p, word, place, WSI_ASM_LABEL);
			else
				wsi_asm_error(p->a, place, "a label is not allowed %s",
					      block_text(p->block));
		} else if (is_name && *p->c.at == '.' && !ws_str_equal(word, ws_str_of(".word"))) {
			p->c = trial;
			read_directive(p, word, place);
			return;
		} else {
			read_insn(p, start);
			return;
		}
	}
}

static int compare_names(const void *left, const void *right)
{
	const struct wsi_asm_name *a = left, *b = right;
	int order = WSI_ORDER(a->scope, b->scope);
	order = order ? order : wsi_str_order(a->text, b->text);
	return order ? order : WSI_ORDER(a->place.line, b->place.line);
}

static void sort_names(struct wsi_asm *a)
{
	if (a->n_names > 1)
		qsort(a->names, a->n_names, sizeof *a->names, compare_names);
	for (size_t i = 1; i < a->n_names; i++) {
		const struct wsi_asm_name *name = &a->names[i], *before = name - 1;
		if (name->scope == before->scope && ws_str_equal(name->text, before->text))
			wsi_asm_error(a, name->place, "'%.*s' is also defined in line %" PRIu32 "",
				      (int)(name->text.len < 60 ? name->text.len : 60),
				      name->text.ptr, before->place.line);
	}
}

void wsi_asm_parse(struct wsi_asm *a, struct ws_str source)
{
	struct parser p = { .a = a, .block = IN_FILE, .inner = WSI_ASM_FILE };
	const char *at = source.ptr, *end = at ? at + source.len : at;
	while (at < end && !wsi_asm_stopped(a)) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *line_end = newline ? newline : end;
		p.c = (struct wsi_asm_cursor){ a, at, at, line_end, p.c.line + 1 };
		read_asm_line(&p);
		at = newline ? newline + 1 : end;
	}
	if (p.block != IN_FILE) {
		wsi_asm_error(a, p.opened, "what starts here has no .end");
		read_end(&p);
	}
	wsi_bytes_fini(&p.data);
	if (!a->no_memory)
		sort_names(a);
}
