/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An image as text that `warpscope as` makes the same code of. Labels stand where something
 * branches to; every bit that the text does not show is in a comment that is read back
 * (docs/formats/assembly.md).
 */
#include <warpscope/assemble.h>

#include "sass/bank.h"
#include "verbs/disas/disas.h"

enum { MAX_PARAMS = 4096 };

struct asm_text {
	struct wsi_disas *d;
	struct ws_out *out;
	const struct ws_code_image *image;
	struct wsi_disas_symbols symbols;
	struct wsi_disas_constants constants;
	struct ws_param *params; /* room for MAX_PARAMS */
	/* of the function at hand: */
	struct ws_span code;
	struct wsi_disas_names names;
	uint8_t *is_target; /* owned; per instruction */
};

/* `symbols` NULL: without the number of the symbol. */
static void print_name(struct asm_text *t, const struct wsi_disas_symbols *symbols, uint32_t index,
		       struct ws_str name)
{
	size_t size = wsi_disas_symbol_write(symbols, index, name, NULL, 0) + 1;
	char *text = wsi_disas_alloc(t->d, size, 1);
	if (text) {
		wsi_disas_symbol_write(symbols, index, name, text, size);
		ws_out_printf(t->out, "%s", text);
	}
	wsi_free(text);
}

static void print_symbol(struct asm_text *t, uint32_t index, struct ws_str name)
{
	print_name(t, &t->symbols, index, name);
}

/* What stands behind a definition whose name is not the symbol's; such symbols are local. */
static void print_named(struct asm_text *t, uint32_t index, struct ws_str name, const char *local)
{
	if (!wsi_disas_symbol_is_shared(&t->symbols, index))
		return;
	ws_out_printf(t->out, "%s named ", local);
	print_name(t, NULL, index, name);
}

/* Underscores of names of our own. */
static void print_underscores(const struct asm_text *t)
{
	for (unsigned i = 0; i < t->symbols.n_underscores; i++)
		ws_out_text(t->out, "_");
}

/* ---- labels ---- */

static void mark_target(struct asm_text *t, uint64_t target)
{
	if (target % WS_SASS_BYTES == 0 && target / WS_SASS_BYTES < t->code.len / WS_SASS_BYTES)
		t->is_target[target / WS_SASS_BYTES] = 1;
}

static void mark_targets(struct asm_text *t)
{
	size_t n = t->code.len / WS_SASS_BYTES;
	t->is_target = wsi_disas_alloc(t->d, n, 1);
	if (!t->is_target)
		return;
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
static bool is_named(const struct asm_text *t, const struct ws_function *function)
{
	return function && function->symbol.len > 0 &&
	       wsi_disas_symbol_write(&t->symbols, function->symbol_index, function->symbol, NULL,
				      0) < DISAS_NAME_QUOTED_MAX;
}

/* The name of a target: the function that starts there, else its label. */
static bool name_label_target(void *user, uint64_t pc, char *buffer, size_t size)
{
	const struct asm_text *t = user;
	if (pc % WS_SASS_BYTES || pc / WS_SASS_BYTES >= t->code.len / WS_SASS_BYTES)
		return false;
	const struct ws_function *function = wsi_disas_names_function(&t->names, pc);
	if (is_named(t, function))
		return wsi_disas_symbol_write(&t->symbols, function->symbol_index, function->symbol,
					      buffer, size) < size;
	if (size < t->symbols.n_underscores + 20)
		return false;
	memset(buffer, '_', t->symbols.n_underscores + 2);
	memcpy(buffer, ".L", 2);
	snprintf(buffer + t->symbols.n_underscores + 2, 17, "%" PRIx64, pc);
	return true;
}

/* ---- one section ---- */

/* In lines that are not too long to be read again. */
static void print_listed_targets(struct asm_text *t, uint64_t at)
{
	enum { MAX_LINE = 120 };
	struct ws_out *out = t->out;
	char name[DISAS_NAME_QUOTED_MAX];
	size_t n, length = 0;
	const struct ws_branch_target *targets = wsi_disas_names_targets(&t->names, at, &n);
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
static void print_prefix(struct asm_text *t, uint64_t at, const struct ws_reloc *in_text)
{
	size_t n;
	const struct ws_reloc *relocs = wsi_disas_names_relocs(&t->names, at, &n);
	for (size_t i = 0; i < n; i++) {
		const struct ws_reloc *r = &relocs[i];
		if (r == in_text)
			continue;
		ws_out_printf(t->out, "\t.reloc %" PRIu32 " ", r->type);
		if (r->symbol.len)
			print_symbol(t, r->symbol_index, r->symbol);
		if (r->addend)
			ws_out_printf(t->out, "%c0x%" PRIx64, r->addend < 0 ? '-' : '+',
				      r->addend < 0 ? 0 - (uint64_t)r->addend
						    : (uint64_t)r->addend);
		ws_out_text(t->out, "\n");
	}
	print_listed_targets(t, at);
}

static void print_insn(struct asm_text *t, uint64_t at)
{
	struct ws_insn insn;
	char text[WS_SASS_TEXT_MAX + DISAS_NAME_QUOTED_MAX];
	ws_sass_decode(t->image->facts.sm, t->code.ptr + at, &insn);
	struct ws_sass_style style = { .control = true, .name = name_label_target, .user = t };
	const struct ws_reloc *reloc = wsi_disas_names_style(&t->names, at, &insn, &style);
	ws_sass_format(&insn, at, &style, text, sizeof text);
	print_prefix(t, at, reloc && strstr(text, style.relocated) ? reloc : NULL);
	t->d->told.n_total++;
	t->d->told.n_unknown += !ws_insn_explained(&insn);
	ws_out_printf(t->out, "\t%s\n", text);
}

static void print_asm_code(struct asm_text *t)
{
	uint64_t inner_end = WS_UNKNOWN;
	for (uint64_t at = 0; at + WS_SASS_BYTES <= t->code.len; at += WS_SASS_BYTES) {
		const struct ws_function *function = wsi_disas_names_function(&t->names, at);
		if (function && function->is_inner)
			inner_end = function->sec_off + function->size_bytes;
		else if (at == inner_end)
			ws_out_text(t->out, ".outer\n");
		if (function && function->is_inner) {
			ws_out_text(t->out, ".inner ");
			print_symbol(t, function->symbol_index, function->symbol);
			print_named(t, function->symbol_index, function->symbol, "");
			ws_out_text(t->out, "\n");
			if (function->frame_bytes && function->frame_bytes != WS_UNKNOWN)
				ws_out_printf(t->out, "\t.frame %" PRIu32 "\n",
					      function->frame_bytes);
		}
		if (t->is_target[at / WS_SASS_BYTES] && !is_named(t, function)) {
			ws_out_text(t->out, ".L");
			print_underscores(t);
			ws_out_printf(t->out, "%" PRIx64 ":\n", at);
		}
		print_insn(t, at);
	}
}

static void print_number(const struct asm_text *t, const char *directive, uint32_t value)
{
	if (value != 0 && value != WS_UNKNOWN)
		ws_out_printf(t->out, "\t%s %" PRIu32 "\n", directive, value);
}

static void print_shape(const struct asm_text *t, const char *directive, struct ws_dim3 shape)
{
	if (shape.x != 0)
		ws_out_printf(t->out, "\t%s %" PRIu32 ", %" PRIu32 ", %" PRIu32 "\n", directive,
			      shape.x, shape.y, shape.z);
}

static void print_param(const struct asm_text *t, const char *prefix, uint32_t number,
			uint32_t size, uint32_t offset)
{
	ws_out_printf(t->out, "\t.param %s", prefix);
	print_underscores(t);
	ws_out_printf(t->out, "%" PRIu32 " %" PRIu32 " at %" PRIu32, number, size, offset);
}

/* In the order of their places, the hidden ones between the others. */
static void print_asm_params(const struct asm_text *t, const struct ws_function_info *info,
			     const struct ws_param *params, size_t n)
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
			print_param(t, "hidden", n_hidden++, bytes, hidden);
			ws_out_text(t->out, " hidden\n");
			hidden += bytes;
			more = ws_params_hidden(info, params, n, &hidden, &bytes);
			continue;
		}
		print_param(t, "param", params[i].ordinal, params[i].size_bytes, params[i].offset);
		if (params[i].is_pointer)
			ws_out_printf(t->out, " to %s align %" PRIu32, spaces[params[i].to],
				      params[i].alignment);
		ws_out_text(t->out, "\n");
		i++;
	}
}

/* Textures and surfaces, whose numbers the loader puts behind the parameters. */
static void print_bank0(struct asm_text *t, uint32_t section)
{
	size_t n;
	const struct wsi_disas_constant *slots =
		wsi_disas_constants_of_kernel(&t->constants, section, &n);
	for (size_t i = 0; i < n; i++) {
		ws_out_printf(t->out, "\t.bank0 0x%" PRIx64 " %" PRIu32 " ", slots[i].offset,
			      slots[i].type);
		print_symbol(t, slots[i].symbol_index, slots[i].symbol);
		ws_out_text(t->out, "\n");
	}
}

/* Shared memory of a kernel of an object, whose variables have names: the linker places them. */
static void print_shared(struct asm_text *t, uint32_t section)
{
	struct ws_cubin *cubin = t->image->cubin;
	const struct ws_variable *variables;
	struct ws_section holder;
	size_t n = 0;
	if (ws_cubin_variables(cubin, &variables, &n, NULL) != WS_OK)
		t->d->no_memory = true;
	for (const struct ws_variable *v = variables; v < variables + n; v++) {
		if (v->space != WS_SPACE_SHARED || v->section == 0 || v->name.len == 0 ||
		    ws_cubin_section(cubin, v->section, &holder, NULL) != WS_OK ||
		    holder.info != section)
			continue;
		ws_out_text(t->out, "\t.shared ");
		print_symbol(t, v->symbol_index, v->name);
		ws_out_printf(t->out, " %" PRIu64 " align %" PRIu64, v->size_bytes, v->offset);
		print_named(t, v->symbol_index, v->name, "");
		ws_out_text(t->out, "\n");
	}
}

static void print_attributes(struct asm_text *t, const struct ws_function *function)
{
	const struct ws_code_image *image = t->image;
	struct ws_function_info info;
	const uint32_t shared_base = wsi_bank0(image->facts.sm)->kept;
	print_number(t, ".regs", function->n_regs);
	print_number(t, ".frame", function->frame_bytes);
	bool has_stack =
		function->is_kernel && !image->facts.relocatable; /* else a linker counts */
	if (has_stack && function->min_stack_bytes == WS_UNKNOWN)
		ws_out_text(t->out, "\t.stack unknown\n");
	else if (has_stack)
		print_number(t, ".stack", function->min_stack_bytes);
	if (ws_cubin_function_info(image->cubin, function, &info, t->params, MAX_PARAMS, NULL, 0,
				   NULL) == WS_OK) {
		print_number(t, ".barriers", info.n_barriers);
		print_shape(t, ".maxntid", info.max_block);
		print_shape(t, ".reqntid", info.required_block);
		print_shape(t, ".reqnctapercluster", info.cluster_dim);
		print_asm_params(t, &info, t->params,
				 info.n_params < MAX_PARAMS ? info.n_params : MAX_PARAMS);
		if (image->facts.relocatable) {
			print_shared(t, function->section);
		} else if (info.shared_bytes && info.shared_bytes >= shared_base &&
			   info.shared_bytes != WS_UNKNOWN) {
			ws_out_text(t->out, "\t.shared shared");
			print_underscores(t);
			ws_out_printf(t->out, "memory %" PRIu32 "\n",
				      info.shared_bytes - shared_base);
		}
	}
}

static void print_function(struct asm_text *t, const struct ws_function *function)
{
	if (ws_cubin_code(t->image->cubin, function, &t->code, NULL) != WS_OK)
		return;
	wsi_disas_names_init(t->d, &t->names, t->image->cubin, function->section);
	t->names.for_assembler = &t->symbols;
	mark_targets(t);
	ws_out_printf(t->out, "\n%s ", function->is_kernel ? ".kernel" : ".func");
	print_symbol(t, function->symbol_index, function->symbol);
	print_named(t, function->symbol_index, function->symbol, " local");
	ws_out_text(t->out, "\n");
	print_attributes(t, function);
	if (function->is_kernel)
		print_bank0(t, function->section);
	if (t->is_target)
		print_asm_code(t);
	ws_out_text(t->out, ".end\n");
	wsi_free(t->is_target);
	wsi_disas_names_fini(&t->names);
	t->d->told.shown = true;
}

/* ---- the image ---- */

/* Whether a variable is declared with its size; what else code names is `.extern`. Contents are
 * not shown: an image without its host program is code to look at. */
static bool is_declared(const struct ws_variable *v)
{
	bool is_other_constant = v->space == WS_SPACE_CONST && v->bank != 3;
	return v->section != 0 && v->name.len != 0 && !is_other_constant;
}

static void print_variable(struct asm_text *t, const struct ws_variable *v)
{
	ws_out_text(t->out, v->space == WS_SPACE_CONST ? "\n.const " : "\n.global ");
	print_symbol(t, v->symbol_index, v->name);
	print_named(t, v->symbol_index, v->name, " local");
	ws_out_printf(t->out, "\n\t.zero %" PRIu64 " // its contents are not shown\n",
		      v->size_bytes);
	ws_out_text(t->out, ".end\n");
}

/* What code names and nothing here defines. */
static void print_externs(struct asm_text *t)
{
	static const char *const words[] = {
		[WS_SYMBOL_OTHER] = " data",      [WS_SYMBOL_FUNCTION] = "",
		[WS_SYMBOL_DATA] = " data",       [WS_SYMBOL_GLOBAL] = " global",
		[WS_SYMBOL_SHARED] = " shared",   [WS_SYMBOL_CONST] = " const",
		[WS_SYMBOL_TEXTURE] = " texture", [WS_SYMBOL_SURFACE] = " surface",
	};
	for (size_t i = 0; i < t->symbols.n; i++) {
		const struct wsi_disas_symbol *s = &t->symbols.symbols[i];
		if (s->kind == ASM_DEFINED)
			continue;
		ws_out_text(t->out, ".extern ");
		print_symbol(t, s->index, s->name);
		ws_out_printf(t->out, "%s", words[s->of]);
		print_named(t, s->index, s->name, "");
		ws_out_text(t->out, "\n");
	}
}

void wsi_disas_asm(struct wsi_disas *d, const struct ws_code_image *image)
{
	struct asm_text t = { .d = d, .out = d->out, .image = image };
	struct ws_cubin *cubin = image->cubin;
	const struct ws_function *functions;
	const struct ws_variable *variables;
	size_t n = 0, n_variables = 0;
	ws_out_text(d->out, d->told.shown ? "\n" : "");
	ws_out_printf(d->out, ".arch sm_%" PRIu32 "%.1s\n", image->facts.sm, &image->facts.variant);
	ws_out_text(d->out, image->facts.relocatable ? ".object\n" : "");
	wsi_disas_constants_init(d, &t.constants, cubin);
	wsi_disas_symbols_init(d, &t.symbols, cubin, &t.constants, is_declared);
	t.params = wsi_disas_alloc(d, MAX_PARAMS, sizeof *t.params);
	if (ws_cubin_functions(cubin, &functions, &n, NULL) != WS_OK ||
	    ws_cubin_variables(cubin, &variables, &n_variables, NULL) != WS_OK)
		d->no_memory = true;
	print_externs(&t);
	for (size_t i = 0; i < n_variables; i++)
		if (is_declared(&variables[i]) && variables[i].space != WS_SPACE_SHARED)
			print_variable(&t, &variables[i]);
	for (size_t i = 0; t.params && i < n; i++)
		if (functions[i].section && !functions[i].is_inner &&
		    (!d->query->function || ws_name_is(&functions[i], d->query->function)))
			print_function(&t, &functions[i]);
	wsi_free(t.params);
	wsi_disas_symbols_fini(&t.symbols);
	wsi_free(t.constants.at);
}
