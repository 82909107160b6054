/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpscope disas --asm: an image as text that `warpscope as` makes the same code of. Labels stand
 * where something branches to; every bit that the text does not show is in a comment that is read
 * back (docs/formats/assembly.md).
 */
#include "disas/disas.h"
#include "lines/lines.h"

#include <warpscope/assemble.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMS = 4096 };

struct section_text {
	struct disas *d;
	const struct ws_code_image *image;
	struct ws_span code;
	const struct asm_names *symbols;
	const struct constants *constants;
	struct code_names names;
	uint8_t *is_target; /* owned; per instruction */
};

static void print_name(struct disas *d, const struct asm_names *symbols, uint32_t index,
		       struct ws_str name)
{
	size_t size = asm_names_write(symbols, index, name, NULL, 0) + 1;
	char *text = cli_alloc(size, 1);
	asm_names_write(symbols, index, name, text, size);
	ws_out_printf(&d->cli->out, "%s", text);
	free(text);
}

/* What stands behind a definition whose name is not the symbol's; such symbols are local. */
static void print_named(struct disas *d, const struct asm_names *symbols, uint32_t index,
			struct ws_str name, const char *local)
{
	if (!asm_names_is_shared(symbols, index))
		return;
	size_t size = ws_assemble_name(name, NULL, 0) + 1;
	char *text = cli_alloc(size, 1);
	ws_assemble_name(name, text, size);
	ws_out_printf(&d->cli->out, "%s named %s", local, text);
	free(text);
}

/* Underscores of names of our own. */
static void print_underscores(struct disas *d, const struct asm_names *symbols)
{
	for (unsigned i = 0; i < symbols->n_underscores; i++)
		ws_out_text(&d->cli->out, "_");
}

/* ---- labels ---- */

static void mark_target(struct section_text *t, uint64_t target)
{
	if (target % WS_SASS_BYTES == 0 && target / WS_SASS_BYTES < t->code.len / WS_SASS_BYTES)
		t->is_target[target / WS_SASS_BYTES] = 1;
}

static void mark_targets(struct section_text *t)
{
	size_t n = t->code.len / WS_SASS_BYTES;
	t->is_target = cli_alloc(n, 1);
	for (size_t i = 0; i < t->names.n_targets; i++)
		mark_target(t, t->names.targets[i].target);
	for (size_t i = 0; i < n; i++) {
		struct ws_insn insn;
		struct ws_operand ops[WS_SASS_MAX_OPERANDS];
		ws_sass_decode(t->image->facts.sm, t->code.ptr + i * WS_SASS_BYTES, &insn);
		size_t n_ops =
			ws_sass_operands(&insn, i * WS_SASS_BYTES, ops, WS_SASS_MAX_OPERANDS);
		for (size_t k = 0; k < n_ops && k < WS_SASS_MAX_OPERANDS; k++)
			if (ops[k].kind == WS_OPERAND_TARGET)
				mark_target(t, (uint64_t)ops[k].value);
	}
}

/* Whether what branches to a function names it; a longer name has no room in a line. */
static bool is_named(const struct section_text *t, const struct ws_function *function)
{
	return function && function->symbol.len > 0 &&
	       asm_names_write(t->symbols, function->symbol_index, function->symbol, NULL, 0) <
		       CODE_NAMES_QUOTED_MAX;
}

/* The name of a target: the function that starts there, else its label. */
static bool name_label_target(void *user, uint64_t pc, char *buffer, size_t size)
{
	const struct section_text *t = user;
	if (pc % WS_SASS_BYTES || pc / WS_SASS_BYTES >= t->code.len / WS_SASS_BYTES)
		return false;
	const struct ws_function *function = code_names_function(&t->names, pc);
	if (is_named(t, function))
		return asm_names_write(t->symbols, function->symbol_index, function->symbol, buffer,
				       size) < size;
	if (size < t->symbols->n_underscores + 20)
		return false;
	memset(buffer, '_', t->symbols->n_underscores + 2);
	memcpy(buffer, ".L", 2);
	snprintf(buffer + t->symbols->n_underscores + 2, 17, "%" PRIx64, pc);
	return true;
}

/* ---- one section ---- */

/* In lines that are not too long to be read again. */
static void print_listed_targets(struct section_text *t, uint64_t at)
{
	enum { MAX_LINE = 120 };
	struct ws_out *out = &t->d->cli->out;
	char name[CODE_NAMES_QUOTED_MAX];
	size_t n, length = 0;
	const struct ws_branch_target *targets = code_names_targets(&t->names, at, &n);
	for (size_t i = 0; i < n; i++) {
		if (!name_label_target(t, targets[i].target, name, sizeof name))
			continue; /* outside the code: the image is damaged */
		if (length > 0 && length + strlen(name) > MAX_LINE) {
			ws_out_text(out, "\n");
			length = 0;
		}
		ws_out_text(out, length > 0 ? ", " : "\t.targets ");
		ws_out_printf(out, "%s", name);
		length += strlen(name) + 2;
	}
	ws_out_text(out, length > 0 ? "\n" : "");
}

/* What holds for the next instruction and is no part of its text. */
static void print_prefix(struct section_text *t, uint64_t at, const struct ws_reloc *in_text)
{
	struct disas *d = t->d;
	size_t n;
	const struct ws_reloc *relocs = code_names_relocs(&t->names, at, &n);
	for (size_t i = 0; i < n; i++) {
		const struct ws_reloc *r = &relocs[i];
		if (r == in_text)
			continue;
		ws_out_printf(&d->cli->out, "\t.reloc %" PRIu32 " ", r->type);
		if (r->symbol.len)
			print_name(d, t->symbols, r->symbol_index, r->symbol);
		if (r->addend)
			ws_out_printf(&d->cli->out, "%c0x%" PRIx64, r->addend < 0 ? '-' : '+',
				      r->addend < 0 ? 0 - (uint64_t)r->addend
						    : (uint64_t)r->addend);
		ws_out_text(&d->cli->out, "\n");
	}
	print_listed_targets(t, at);
}

static void print_insn(struct section_text *t, uint64_t at)
{
	struct disas *d = t->d;
	struct ws_insn insn;
	char text[WS_SASS_TEXT_MAX + CODE_NAMES_QUOTED_MAX];
	ws_sass_decode(t->image->facts.sm, t->code.ptr + at, &insn);
	struct ws_sass_style style = { .control = true, .name = name_label_target, .user = t };
	const struct ws_reloc *reloc = code_names_style(&t->names, at, &insn, &style);
	ws_sass_format(&insn, at, &style, text, sizeof text);
	print_prefix(t, at, reloc && strstr(text, style.relocated) ? reloc : NULL);
	d->n_total++;
	d->n_unknown += !ws_insn_explained(&insn);
	ws_out_printf(&d->cli->out, "\t%s\n", text);
}

static void print_asm_code(struct section_text *t)
{
	struct disas *d = t->d;
	uint64_t inner_end = WS_UNKNOWN;
	for (uint64_t at = 0; at + WS_SASS_BYTES <= t->code.len; at += WS_SASS_BYTES) {
		const struct ws_function *function = code_names_function(&t->names, at);
		if (function && function->is_inner)
			inner_end = function->sec_off + function->size_bytes;
		else if (at == inner_end)
			ws_out_text(&d->cli->out, ".outer\n");
		if (function && function->is_inner) {
			ws_out_text(&d->cli->out, ".inner ");
			print_name(d, t->symbols, function->symbol_index, function->symbol);
			print_named(d, t->symbols, function->symbol_index, function->symbol, "");
			ws_out_text(&d->cli->out, "\n");
			if (function->frame_bytes && function->frame_bytes != WS_UNKNOWN)
				ws_out_printf(&d->cli->out, "\t.frame %" PRIu32 "\n",
					      function->frame_bytes);
		}
		if (t->is_target[at / WS_SASS_BYTES] && !is_named(t, function)) {
			ws_out_text(&d->cli->out, ".L");
			print_underscores(d, t->symbols);
			ws_out_printf(&d->cli->out, "%" PRIx64 ":\n", at);
		}
		print_insn(t, at);
	}
}

static void print_number(struct disas *d, const char *directive, uint32_t value)
{
	if (value != 0 && value != WS_UNKNOWN)
		ws_out_printf(&d->cli->out, "\t%s %" PRIu32 "\n", directive, value);
}

static void print_shape(struct disas *d, const char *directive, struct ws_dim3 shape)
{
	if (shape.x != 0)
		ws_out_printf(&d->cli->out, "\t%s %" PRIu32 ", %" PRIu32 ", %" PRIu32 "\n",
			      directive, shape.x, shape.y, shape.z);
}

static void print_param(struct disas *d, const struct asm_names *symbols, const char *prefix,
			uint32_t number, uint32_t size, uint32_t offset)
{
	ws_out_printf(&d->cli->out, "\t.param %s", prefix);
	print_underscores(d, symbols);
	ws_out_printf(&d->cli->out, "%" PRIu32 " %" PRIu32 " at %" PRIu32, number, size, offset);
}

/* In the order of their places, the hidden ones between the others. */
static void print_asm_params(struct disas *d, const struct asm_names *symbols,
			     const struct ws_function_info *info, const struct ws_param *params,
			     size_t n)
{
	static const char *const spaces[] = {
		[WS_SPACE_LOCAL] = "local",     [WS_SPACE_SHARED] = "shared",
		[WS_SPACE_CONST] = "const",     [WS_SPACE_GLOBAL] = "global",
		[WS_SPACE_GENERIC] = "generic",
	};
	uint32_t hidden = 0, bytes = 0, n_hidden = 0;
	bool more = ws_params_hidden(info, params, n, &hidden, &bytes);
	for (size_t i = 0; i < n || more;) {
		if (more && (i == n || hidden < params[i].offset)) {
			print_param(d, symbols, "hidden", n_hidden++, bytes, hidden);
			ws_out_text(&d->cli->out, " hidden\n");
			hidden += bytes;
			more = ws_params_hidden(info, params, n, &hidden, &bytes);
			continue;
		}
		print_param(d, symbols, "param", params[i].ordinal, params[i].size_bytes,
			    params[i].offset);
		if (params[i].is_pointer)
			ws_out_printf(&d->cli->out, " to %s align %" PRIu32, spaces[params[i].to],
				      params[i].alignment);
		ws_out_text(&d->cli->out, "\n");
		i++;
	}
}

/* Textures and surfaces, whose numbers the loader puts behind the parameters. */
static void print_bank0(const struct section_text *t, uint32_t section)
{
	size_t n;
	const struct constant *slots = constants_of_kernel(t->constants, section, &n);
	for (size_t i = 0; i < n; i++) {
		ws_out_printf(&t->d->cli->out, "\t.bank0 0x%" PRIx64 " %" PRIu32 " ",
			      slots[i].offset, slots[i].type);
		print_name(t->d, t->symbols, slots[i].symbol_index, slots[i].symbol);
		ws_out_text(&t->d->cli->out, "\n");
	}
}

/* Shared memory of a kernel of an object, whose variables have names: the linker places them. */
static void print_shared(const struct section_text *t, uint32_t section)
{
	struct ws_cubin *cubin = t->image->cubin;
	const struct ws_variable *variables;
	struct ws_section holder;
	size_t n = 0;
	if (ws_cubin_variables(cubin, &variables, &n, NULL) != WS_OK)
		cli_out_of_memory();
	for (const struct ws_variable *v = variables; v < variables + n; v++) {
		if (v->space != WS_SPACE_SHARED || v->section == 0 || v->name.len == 0 ||
		    ws_cubin_section(cubin, v->section, &holder, NULL) != WS_OK ||
		    holder.info != section)
			continue;
		ws_out_text(&t->d->cli->out, "\t.shared ");
		print_name(t->d, t->symbols, v->symbol_index, v->name);
		ws_out_printf(&t->d->cli->out, " %" PRIu64 " align %" PRIu64, v->size_bytes,
			      v->offset);
		print_named(t->d, t->symbols, v->symbol_index, v->name, "");
		ws_out_text(&t->d->cli->out, "\n");
	}
}

static void print_attributes(const struct section_text *t, const struct ws_function *function)
{
	struct disas *d = t->d;
	const struct ws_code_image *image = t->image;
	const struct asm_names *symbols = t->symbols;
	struct ws_param *params = cli_alloc(MAX_PARAMS, sizeof *params);
	struct ws_function_info info;
	/* docs/formats/cubin.md; the linker reserves it */
	uint32_t shared_base = image->facts.sm >= 90 ? 0x400 : 0;
	print_number(d, ".regs", function->n_regs);
	print_number(d, ".frame", function->frame_bytes);
	bool has_stack =
		function->is_kernel && !image->facts.relocatable; /* else a linker counts */
	if (has_stack && function->min_stack_bytes == WS_UNKNOWN)
		ws_out_text(&d->cli->out, "\t.stack unknown\n");
	else if (has_stack)
		print_number(d, ".stack", function->min_stack_bytes);
	if (ws_cubin_function_info(image->cubin, function, &info, params, MAX_PARAMS, NULL, 0,
				   NULL) == WS_OK) {
		print_number(d, ".barriers", info.n_barriers);
		print_shape(d, ".maxntid", info.max_block);
		print_shape(d, ".reqntid", info.required_block);
		print_shape(d, ".reqnctapercluster", info.cluster_dim);
		print_asm_params(d, symbols, &info, params,
				 info.n_params < MAX_PARAMS ? info.n_params : MAX_PARAMS);
		if (image->facts.relocatable) {
			print_shared(t, function->section);
		} else if (info.shared_bytes && info.shared_bytes >= shared_base &&
			   info.shared_bytes != WS_UNKNOWN) {
			ws_out_text(&d->cli->out, "\t.shared shared");
			print_underscores(d, symbols);
			ws_out_printf(&d->cli->out, "memory %" PRIu32 "\n",
				      info.shared_bytes - shared_base);
		}
	}
	free(params);
}

static void print_function(struct disas *d, const struct ws_code_image *image,
			   const struct asm_names *symbols, const struct constants *constants,
			   const struct ws_function *function)
{
	struct section_text t = {
		.d = d, .image = image, .symbols = symbols, .constants = constants
	};
	if (ws_cubin_code(image->cubin, function, &t.code, NULL) != WS_OK)
		return;
	code_names_init(&t.names, image->cubin, function->section);
	t.names.for_assembler = symbols;
	mark_targets(&t);
	ws_out_printf(&d->cli->out, "\n%s ", function->is_kernel ? ".kernel" : ".func");
	print_name(d, symbols, function->symbol_index, function->symbol);
	print_named(d, symbols, function->symbol_index, function->symbol, " local");
	ws_out_text(&d->cli->out, "\n");
	print_attributes(&t, function);
	if (function->is_kernel)
		print_bank0(&t, function->section);
	print_asm_code(&t);
	ws_out_text(&d->cli->out, ".end\n");
	free(t.is_target);
	code_names_fini(&t.names);
	d->shown = true;
}

/* ---- the image ---- */

/* Whether a variable is declared with its size; what else code names is `.extern`. Contents are
 * not shown: an image without its host program is code to look at. */
static bool is_declared(const struct ws_variable *v)
{
	bool is_other_constant = v->space == WS_SPACE_CONST && v->bank != 3;
	return v->section != 0 && v->name.len != 0 && !is_other_constant;
}

static void print_variable(struct disas *d, const struct asm_names *symbols,
			   const struct ws_variable *v)
{
	ws_out_text(&d->cli->out, v->space == WS_SPACE_CONST ? "\n.const " : "\n.global ");
	print_name(d, symbols, v->symbol_index, v->name);
	print_named(d, symbols, v->symbol_index, v->name, " local");
	ws_out_printf(&d->cli->out, "\n\t.zero %" PRIu64 " // its contents are not shown\n",
		      v->size_bytes);
	ws_out_text(&d->cli->out, ".end\n");
}

/* What code names and nothing here defines. */
static void print_externs(struct disas *d, const struct asm_names *symbols)
{
	static const char *const words[] = {
		[WS_SYMBOL_OTHER] = " data",      [WS_SYMBOL_FUNCTION] = "",
		[WS_SYMBOL_DATA] = " data",       [WS_SYMBOL_GLOBAL] = " global",
		[WS_SYMBOL_SHARED] = " shared",   [WS_SYMBOL_CONST] = " const",
		[WS_SYMBOL_TEXTURE] = " texture", [WS_SYMBOL_SURFACE] = " surface",
	};
	for (size_t i = 0; i < symbols->n; i++) {
		const struct asm_symbol *s = &symbols->symbols[i];
		if (s->kind == ASM_DEFINED)
			continue;
		ws_out_text(&d->cli->out, ".extern ");
		print_name(d, symbols, s->index, s->name);
		ws_out_printf(&d->cli->out, "%s", words[s->of]);
		print_named(d, symbols, s->index, s->name, "");
		ws_out_text(&d->cli->out, "\n");
	}
}

void disas_asm(struct disas *d, const struct ws_code_image *image)
{
	const struct ws_function *functions;
	const struct ws_variable *variables;
	struct constants constants;
	struct asm_names symbols;
	size_t n = 0, n_variables = 0;
	ws_out_text(&d->cli->out, d->shown ? "\n" : "");
	ws_out_printf(&d->cli->out, ".arch sm_%" PRIu32 "%.1s\n", image->facts.sm,
		      &image->facts.variant);
	ws_out_text(&d->cli->out, image->facts.relocatable ? ".object\n" : "");
	constants_init(&constants, image->cubin);
	asm_names_init(&symbols, image->cubin, &constants, is_declared);
	if (ws_cubin_functions(image->cubin, &functions, &n, NULL) != WS_OK ||
	    ws_cubin_variables(image->cubin, &variables, &n_variables, NULL) != WS_OK)
		cli_out_of_memory();
	print_externs(d, &symbols);
	for (size_t i = 0; i < n_variables; i++)
		if (is_declared(&variables[i]) && variables[i].space != WS_SPACE_SHARED)
			print_variable(d, &symbols, &variables[i]);
	for (size_t i = 0; i < n; i++)
		if (functions[i].section && !functions[i].is_inner &&
		    (!d->function || ws_name_is(&functions[i], d->function)))
			print_function(d, image, &symbols, &constants, &functions[i]);
	asm_names_fini(&symbols);
	constants_fini(&constants);
}
