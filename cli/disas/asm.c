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

enum {
	MAX_PARAMS = 4096,
	MAX_TARGET = 256, /* what ws_sass_style.name has room for, with its end */
};

struct section_text {
	struct disas *d;
	const struct image *image;
	struct ws_span code;
	struct code_names names;
	uint8_t *is_target; /* owned; per instruction */
	struct ws_str owner;
};

static void print_name(struct disas *d, struct ws_str name)
{
	size_t size = ws_assemble_name(name, NULL, 0) + 1;
	char *text = cli_alloc(size, 1);
	ws_assemble_name(name, text, size);
	ws_out_printf(&d->cli->out, "%s", text);
	free(text);
}

/* ---- labels ---- */

static void mark_targets(struct section_text *t)
{
	size_t n = t->code.len / WS_SASS_BYTES;
	t->is_target = cli_alloc(n, 1);
	for (size_t i = 0; i < n; i++) {
		struct ws_insn insn;
		struct ws_operand ops[WS_SASS_MAX_OPERANDS];
		ws_sass_decode(t->image->facts.sm, t->code.ptr + i * WS_SASS_BYTES, &insn);
		size_t n_ops =
			ws_sass_operands(&insn, i * WS_SASS_BYTES, ops, WS_SASS_MAX_OPERANDS);
		for (size_t k = 0; k < n_ops && k < WS_SASS_MAX_OPERANDS; k++) {
			uint64_t target = (uint64_t)ops[k].value;
			if (ops[k].kind == WS_OPERAND_TARGET && target % WS_SASS_BYTES == 0 &&
			    target / WS_SASS_BYTES < n)
				t->is_target[target / WS_SASS_BYTES] = 1;
		}
	}
}

/* Whether what branches to a function names it; a longer name has no room in an instruction. */
static bool is_named(const struct ws_function *function)
{
	return function && ws_assemble_name(function->symbol, NULL, 0) < MAX_TARGET;
}

/* The name of a target: the function that starts there, else its label. */
static bool name_target(void *user, uint64_t pc, char *buffer, size_t size)
{
	const struct section_text *t = user;
	if (pc % WS_SASS_BYTES || pc / WS_SASS_BYTES >= t->code.len / WS_SASS_BYTES)
		return false;
	const struct ws_function *function = code_names_function(&t->names, pc);
	if (is_named(function))
		ws_assemble_name(function->symbol, buffer, size);
	else
		snprintf(buffer, size, ".L_%" PRIx64, pc);
	return true;
}

/* ---- one section ---- */

static void print_insn(struct section_text *t, uint64_t at)
{
	struct disas *d = t->d;
	struct ws_insn insn;
	char text[WS_SASS_TEXT_MAX + CODE_NAMES_TEXT_MAX];
	ws_sass_decode(t->image->facts.sm, t->code.ptr + at, &insn);
	struct ws_sass_style style = { .control = true,
				       .name = name_target,
				       .user = t,
				       .relocated = code_names_relocated(&t->names, at, &insn) };
	ws_sass_format(&insn, at, &style, text, sizeof text);
	d->n_total++;
	d->n_unknown += !insn.known || insn.unknown[0] || insn.unknown[1];
	ws_out_printf(&d->cli->out, "\t%s", text);
	if (!style.relocated && code_names_reloc(&t->names, at)) {
		const struct ws_reloc *reloc = code_names_reloc(&t->names, at);
		ws_out_printf(&d->cli->out, " // relocation type %" PRIu32 ", ", reloc->type);
		ws_out_escaped(&d->cli->out, reloc->symbol);
		ws_out_text(&d->cli->out, ": not assembled again");
	}
	ws_out_text(&d->cli->out, "\n");
}

static void print_code(struct section_text *t)
{
	struct disas *d = t->d;
	for (uint64_t at = 0; at + WS_SASS_BYTES <= t->code.len; at += WS_SASS_BYTES) {
		const struct ws_function *function = code_names_function(&t->names, at);
		if (function && function->is_inner) {
			ws_out_text(&d->cli->out, ".inner ");
			print_name(d, function->symbol);
			ws_out_text(&d->cli->out, "\n");
			if (function->frame_bytes && function->frame_bytes != WS_UNKNOWN)
				ws_out_printf(&d->cli->out, "\t.frame %" PRIu32 "\n",
					      function->frame_bytes);
		}
		if (t->is_target[at / WS_SASS_BYTES] && !is_named(function))
			ws_out_printf(&d->cli->out, ".L_%" PRIx64 ":\n", at);
		print_insn(t, at);
	}
}

static void print_number(struct disas *d, const char *directive, uint32_t value)
{
	if (value != 0 && value != WS_UNKNOWN)
		ws_out_printf(&d->cli->out, "\t%s %" PRIu32 "\n", directive, value);
}

static void print_attributes(struct disas *d, const struct image *image,
			     const struct ws_function *function)
{
	struct ws_param *params = cli_alloc(MAX_PARAMS, sizeof *params);
	struct ws_function_info info;
	uint32_t shared_base = image->facts.sm >= 90 ? 0x400 : 0; /* docs/formats/cubin.md */
	print_number(d, ".regs", function->n_regs);
	print_number(d, ".frame", function->frame_bytes);
	if (function->is_kernel && function->min_stack_bytes == WS_UNKNOWN)
		ws_out_text(&d->cli->out, "\t.stack unknown\n");
	else if (function->is_kernel)
		print_number(d, ".stack", function->min_stack_bytes);
	if (ws_cubin_function_info(image->cubin, function, &info, params, MAX_PARAMS, NULL, 0,
				   NULL) == WS_OK) {
		print_number(d, ".barriers", info.n_barriers);
		for (size_t i = 0; i < info.n_params && i < MAX_PARAMS; i++)
			ws_out_printf(&d->cli->out,
				      "\t.param param_%" PRIu32 " %" PRIu32 " at %" PRIu32 "\n",
				      params[i].ordinal, params[i].size_bytes, params[i].offset);
		if (info.shared_bytes && info.shared_bytes >= shared_base &&
		    info.shared_bytes != WS_UNKNOWN)
			ws_out_printf(&d->cli->out, "\t.shared shared_memory %" PRIu32 "\n",
				      info.shared_bytes - shared_base);
	}
	free(params);
}

static void print_function(struct disas *d, const struct image *image,
			   const struct ws_function *function)
{
	struct section_text t = { .d = d, .image = image };
	if (ws_cubin_code(image->cubin, function, &t.code, NULL) != WS_OK)
		return;
	code_names_init(&t.names, image->cubin, function->section);
	t.names.for_assembler = true;
	mark_targets(&t);
	ws_out_printf(&d->cli->out, "\n%s ", function->is_kernel ? ".kernel" : ".func");
	print_name(d, function->symbol);
	ws_out_text(&d->cli->out, "\n");
	print_attributes(d, image, function);
	print_code(&t);
	ws_out_text(&d->cli->out, ".end\n");
	free(t.is_target);
	code_names_fini(&t.names);
	d->shown = true;
}

/* ---- the image ---- */

/* What code may name besides functions. Contents of variables are not shown: an image without its
 * host program is code to look at. */
static void print_data(struct disas *d, const struct image *image)
{
	const struct ws_variable *variables;
	size_t n = 0;
	if (ws_cubin_variables(image->cubin, &variables, &n, NULL) != WS_OK)
		return;
	for (size_t i = 0; i < n; i++) {
		const struct ws_variable *v = &variables[i];
		bool is_constant = v->space == WS_SPACE_CONST && v->bank == 3;
		if (v->section == 0 || v->name.len == 0 ||
		    (!is_constant && v->space != WS_SPACE_GLOBAL))
			continue;
		ws_out_printf(&d->cli->out, "\n%s ", is_constant ? ".const" : ".global");
		print_name(d, v->name);
		ws_out_printf(&d->cli->out, "\n\t.zero %" PRIu64 " // its contents are not shown\n",
			      v->size_bytes);
		ws_out_text(&d->cli->out, ".end\n");
	}
}

void disas_asm(struct disas *d, const struct image *image)
{
	const struct ws_function *functions;
	size_t n = 0;
	struct ws_error err;
	ws_out_text(&d->cli->out, d->shown ? "\n" : "");
	ws_out_printf(&d->cli->out, ".arch sm_%" PRIu32 "%.1s\n", image->facts.sm,
		      &image->facts.variant);
	if (ws_cubin_functions(image->cubin, &functions, &n, &err) != WS_OK)
		cli_fail(d->path, &err);
	for (size_t i = 0; i < n; i++)
		if (functions[i].section == 0 && functions[i].symbol.len) {
			ws_out_text(&d->cli->out, ".extern ");
			print_name(d, functions[i].symbol);
			ws_out_text(&d->cli->out, "\n");
		}
	print_data(d, image);
	for (size_t i = 0; i < n; i++)
		if (functions[i].section && !functions[i].is_inner &&
		    (!d->function || name_is(&functions[i], d->function)))
			print_function(d, image, &functions[i]);
}
