/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions and variables of the symbol table, and functions by name.
 *
 * Names. A callee that an optimised build kept inside its kernel's section is a local symbol
 * "$kernel$callee", a helper of the compiler "$__internal_0_$helper" [measured: nvcc 13.0]. The
 * part after the second dollar sign is what the source calls it. When the first part is the name of
 * the section's owner it is taken off as a whole, as a name may have dollar signs of its own.
 */
#include "cubin/internal.h"

static uint8_t symbol_type(const struct wsi_sym *sym)
{
	return sym->info & 15;
}

static bool is_variable(const struct wsi_sym *sym)
{
	return symbol_type(sym) == WSI_STT_OBJECT || symbol_type(sym) == WSI_STT_CUDA_OBJECT;
}

struct ws_span wsi_cubin_symbol_names(const struct ws_cubin *cubin)
{
	uint32_t link = wsi_cubin_shdr(cubin, cubin->symtab).link;
	return wsi_cubin_bytes(cubin, link < cubin->n_sections ? link : 0);
}

static void function_fill(const struct ws_cubin *cubin, const struct wsi_sym *sym, uint32_t index,
			  struct ws_str name, struct ws_function *f)
{
	uint32_t section = wsi_cubin_symbol_section(cubin, sym, index);
	*f = (struct ws_function){
		.symbol_index = index,
		.symbol = name,
		.name = name,
		.is_kernel = (sym->other & WSI_STO_CUDA_ENTRY) != 0,
		.owner = WS_UNKNOWN,
		.size_bytes = sym->size,
		.n_regs = WS_UNKNOWN,
		.frame_bytes = WS_UNKNOWN,
		.min_stack_bytes = WS_UNKNOWN,
		.max_stack_bytes = WS_UNKNOWN,
	};
	const struct wsi_cubin_code *code = wsi_cubin_code_of(cubin, section);
	if (!code)
		return;
	f->section = section;
	f->sec_off = wsi_cubin_symbol_off(cubin, sym, section);
	if (code->gpu_va != 0)
		f->gpu_va = wsi_add_sat(code->gpu_va, f->sec_off);
}

/* ".nv.constant3", ".nv.constant0.kernel": the bank. */
static bool constant_bank(const char *name, uint32_t *ret_bank)
{
	static const char prefix[] = ".nv.constant";
	if (strncmp(name, prefix, sizeof prefix - 1) != 0)
		return false;
	const char *digit = name + sizeof prefix - 1;
	uint32_t bank = 0;
	for (unsigned i = 0; i < 3 && digit[i] >= '0' && digit[i] <= '9'; i++)
		bank = bank * 10 + (uint32_t)(digit[i] - '0');
	*ret_bank = bank;
	return *digit >= '0' && *digit <= '9';
}

static void variable_fill(const struct ws_cubin *cubin, const struct wsi_sym *sym, uint32_t index,
			  struct ws_str name, struct ws_variable *v)
{
	static const char shared[] = ".nv.shared";
	uint32_t section = wsi_cubin_symbol_section(cubin, sym, index);
	*v = (struct ws_variable){ .symbol_index = index,
				   .name = name,
				   .space = WS_SPACE_GLOBAL,
				   .section = section,
				   .is_managed = (sym->other & WSI_STO_CUDA_MANAGED) != 0,
				   .size_bytes = sym->size,
				   .offset = sym->value };
	if (section == 0)
		return;
	struct wsi_shdr shdr = wsi_cubin_shdr(cubin, section);
	char where[WSI_NAME_HEAD];
	wsi_elf_name_head(&cubin->elf, &shdr, where);
	if (constant_bank(where, &v->bank)) {
		v->space = WS_SPACE_CONST;
	} else if (strncmp(where, shared, sizeof shared - 1) == 0) {
		v->space = WS_SPACE_SHARED;
		return;
	}
	v->offset = wsi_cubin_symbol_off(cubin, sym, section);
	if (!cubin->relocated || v->space != WS_SPACE_GLOBAL)
		return;
	if (shdr.addr != 0) {
		v->gpu_va = wsi_add_sat(shdr.addr, v->offset);
	} else if (sym->value > shdr.size) { /* an address, in a section that tells none */
		v->gpu_va = sym->value;
		v->offset = WS_NO_OFFSET;
	}
}

/*
 * The name at an offset of the string table. Real names share few bytes; a hostile table can make
 * every one as long as the whole table, so the sum of all lengths has a budget.
 */
static struct ws_str name_at(struct ws_span names, uint64_t off, uint64_t *budget)
{
	struct ws_str name = { "", 0 };
	struct ws_span rest;
	if (off >= names.len ||
	    !ws_span_sub(names, off, wsi_min_u64(names.len - off, *budget), &rest))
		return name;
	*budget -= wsi_span_cstr(rest, 0, &name) ? name.len : rest.len;
	return name;
}

static bool symbols_read(struct ws_cubin *cubin)
{
	struct ws_span symtab = wsi_cubin_bytes(cubin, cubin->symtab);
	struct ws_span names =
		cubin->symtab ? wsi_cubin_symbol_names(cubin) : (struct ws_span){ 0 };
	uint64_t n = wsi_min_u64(symtab.len / WSI_SYM_BYTES, UINT32_MAX / 2);
	uint64_t budget = 4 * (uint64_t)names.len;
	size_t n_functions = 0, n_variables = 0;
	for (uint64_t i = 1; i < n; i++) {
		struct wsi_sym sym = wsi_elf_sym(symtab, i);
		n_functions += symbol_type(&sym) == WSI_STT_FUNC;
		n_variables += is_variable(&sym);
	}
	cubin->functions = wsi_zalloc_array(n_functions, sizeof *cubin->functions);
	cubin->variables = wsi_zalloc_array(n_variables, sizeof *cubin->variables);
	if (!cubin->functions || !cubin->variables)
		return false;
	for (uint32_t i = 1; i < n; i++) {
		struct wsi_sym sym = wsi_elf_sym(symtab, i);
		if (symbol_type(&sym) == WSI_STT_FUNC) {
			struct ws_function *f = &cubin->functions[cubin->n_functions];
			function_fill(cubin, &sym, i, name_at(names, sym.name, &budget), f);
			f->index = (uint32_t)cubin->n_functions++;
		} else if (is_variable(&sym)) {
			variable_fill(cubin, &sym, i, name_at(names, sym.name, &budget),
				      &cubin->variables[cubin->n_variables++]);
		}
	}
	return true;
}

const struct ws_function *wsi_cubin_owner(const struct ws_cubin *cubin,
					  const struct ws_function *function)
{
	return function->owner == WS_UNKNOWN ? NULL : &cubin->functions[function->owner];
}

/*
 * A function whose symbol's name is lost has that of its section, ".text.NAME". `budget` is of
 * bytes of names, as in name_at().
 */
static void name_by_section(const struct ws_cubin *cubin, struct ws_function *f, uint64_t *budget)
{
	static const char prefix[] = ".text.";
	if (f->symbol.len != 0 || *budget == 0)
		return;
	const struct wsi_cubin_code *code = wsi_cubin_code_of(cubin, f->section);
	if (!code || code->owner_symbol != f->symbol_index)
		return;
	struct wsi_shdr shdr = wsi_cubin_shdr(cubin, f->section);
	struct ws_str name = wsi_elf_name(&cubin->elf, &shdr);
	*budget -= wsi_min_u64(name.len, *budget);
	if (wsi_str_begins(name, prefix))
		f->symbol = f->name = wsi_str_skip(name, sizeof prefix - 1);
}

static void name_strip(const struct ws_cubin *cubin, struct ws_function *f)
{
	struct ws_str s = f->symbol;
	if (!f->is_inner || s.len < 3 || s.ptr[0] != '$')
		return;
	const struct ws_function *owner = wsi_cubin_owner(cubin, f);
	size_t skip = owner ? owner->symbol.len + 1 : 0;
	if (!owner || skip + 1 >= s.len || s.ptr[skip] != '$' ||
	    memcmp(s.ptr + 1, owner->symbol.ptr, owner->symbol.len) != 0) {
		const char *second = memchr(s.ptr + 1, '$', s.len - 1);
		if (!second)
			return;
		skip = (size_t)(second - s.ptr);
	}
	if (skip + 1 < s.len)
		f->name = (struct ws_str){ s.ptr + skip + 1, s.len - skip - 1 };
}

/* ---- by name ---- */

/* Undefined functions carry the top bit in name_ref.function while sorting. */
#define UNDEFINED 0x80000000u

static int symbol_name_order(const void *left, const void *right)
{
	const struct wsi_name_ref *a = left, *b = right;
	int order = wsi_str_order(a->name, b->name);
	return order != 0 ? order : WSI_ORDER(a->function, b->function);
}

static bool names_index(struct ws_cubin *cubin)
{
	cubin->names = wsi_zalloc_array(2 * cubin->n_functions, sizeof *cubin->names);
	if (!cubin->names)
		return false;
	size_t n = 0;
	for (size_t i = 0; i < cubin->n_functions; i++) {
		const struct ws_function *f = &cubin->functions[i];
		uint32_t key = f->index | (f->section == 0 ? UNDEFINED : 0);
		cubin->names[n++] = (struct wsi_name_ref){ f->symbol, key };
		if (f->name.len != f->symbol.len)
			cubin->names[n++] = (struct wsi_name_ref){ f->name, key };
	}
	qsort(cubin->names, n, sizeof *cubin->names, symbol_name_order);
	for (size_t i = 0; i < n; i++)
		cubin->names[i].function &= ~UNDEFINED;
	cubin->n_names = n;
	return true;
}

static bool symbols_fill(struct ws_cubin *cubin)
{
	if (!symbols_read(cubin) || !wsi_cubin_index_places(cubin))
		return false;
	uint64_t budget = 4 * (uint64_t)cubin->elf.file.size;
	for (size_t i = 0; i < cubin->n_functions; i++)
		name_by_section(cubin, &cubin->functions[i], &budget);
	for (size_t i = 0; i < cubin->n_functions; i++)
		name_strip(cubin, &cubin->functions[i]);
	wsi_cubin_read_counts(cubin, cubin->functions, cubin->n_functions);
	return names_index(cubin);
}

static enum ws_status symbols_make(struct ws_cubin *cubin, struct ws_error *err)
{
	if (symbols_fill(cubin))
		return WS_OK;
	wsi_cubin_symbols_fini(cubin);
	return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "symbols of an image");
}

enum ws_status wsi_cubin_need_symbols(struct ws_cubin *cubin, struct ws_error *err)
{
	return wsi_cubin_need(cubin, &cubin->have_symbols, symbols_make, err);
}

void wsi_cubin_symbols_fini(struct ws_cubin *cubin)
{
	wsi_free(cubin->functions);
	wsi_free(cubin->variables);
	wsi_free(cubin->names);
	cubin->functions = NULL;
	cubin->variables = NULL;
	cubin->names = NULL;
	cubin->n_functions = cubin->n_variables = cubin->n_names = 0;
	wsi_segments_fini(&cubin->by_offset);
	wsi_segments_fini(&cubin->by_address);
	wsi_free(cubin->spots);
	cubin->spots = NULL;
	cubin->n_spots = 0;
}

enum ws_status ws_cubin_functions(struct ws_cubin *cubin, const struct ws_function **ret_functions,
				  size_t *ret_n, struct ws_error *err)
{
	enum ws_status st = wsi_cubin_need_symbols(cubin, err);
	if (st != WS_OK)
		return st;
	*ret_functions = cubin->functions;
	*ret_n = cubin->n_functions;
	return WS_OK;
}

enum ws_status ws_cubin_variables(struct ws_cubin *cubin, const struct ws_variable **ret_variables,
				  size_t *ret_n, struct ws_error *err)
{
	enum ws_status st = wsi_cubin_need_symbols(cubin, err);
	if (st != WS_OK)
		return st;
	*ret_variables = cubin->variables;
	*ret_n = cubin->n_variables;
	return WS_OK;
}

/* First entry of the index that is not before `name`. */
static size_t name_low(const struct ws_cubin *cubin, struct ws_str name)
{
	return WSI_BISECT(i, (size_t)0, cubin->n_names,
			  wsi_str_order(cubin->names[i].name, name) < 0);
}

const struct wsi_name_ref *wsi_cubin_names(const struct ws_cubin *cubin, struct ws_str name,
					   size_t *ret_n)
{
	size_t low = name_low(cubin, name), end = low;
	while (end < cubin->n_names && ws_str_equal(cubin->names[end].name, name))
		end++;
	*ret_n = end - low;
	return cubin->names + low;
}

enum ws_status ws_cubin_find_function(struct ws_cubin *cubin, struct ws_str name,
				      const struct ws_function **ret_function, struct ws_error *err)
{
	enum ws_status st = wsi_cubin_need_symbols(cubin, err);
	if (st != WS_OK)
		return st;
	size_t at = name_low(cubin, name);
	if (at == cubin->n_names || !ws_str_equal(cubin->names[at].name, name))
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the image has no such function");
	*ret_function = &cubin->functions[cubin->names[at].function];
	return WS_OK;
}
