/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ties line.h to an image: sections, relocations, owners.
 *
 * The owner of a sequence is the index of its code section, addresses are offsets in it. Relocated
 * images: their debug sections may have been relocated in place, with the relocations gone. Then
 * the device addresses that sequences begin with say as much; where there are none, sequences have
 * no owner and are looked up by address (lines_by_address). When the relocations are still there
 * the stored word tells whether they were applied: a device address of the section they name, or
 * not.
 */
#include "module/internal.h"

static bool relocs_target(const struct ws_module *module, uint32_t index, uint32_t section)
{
	struct wsi_shdr shdr = wsi_module_shdr(module, index);
	return (shdr.type == WSI_SHT_REL || shdr.type == WSI_SHT_RELA) && shdr.info == section;
}

/* One relocation of a line section; false for one that is of no use there. */
static bool line_reloc(const struct ws_module *module, struct ws_span line,
		       const struct wsi_reloc *from, struct ws_line_reloc *ret)
{
	struct ws_span symtab = wsi_module_bytes(module, module->symtab);
	if (from->symbol >= symtab.len / WSI_SYM_BYTES)
		return false;
	struct wsi_sym sym = wsi_elf_sym(symtab, from->symbol);
	uint32_t section = wsi_module_symbol_section(module, &sym, from->symbol);
	*ret = (struct ws_line_reloc){
		.sec_off = from->off,
		.value = sym.value + (uint64_t)from->addend,
		.owner = WS_LINE_NO_OWNER,
		.add_stored = !from->has_addend,
	};
	if (from->type == WSI_R_CUDA_32)
		return true;
	const struct wsi_code *code = wsi_module_code_of(module, section);
	if (from->type != WSI_R_CUDA_64 || !code)
		return false;
	ret->owner = section;
	ret->value = wsi_module_symbol_off(module, &sym, section) + (uint64_t)from->addend;
	struct ws_span word;
	if (code->gpu_va != 0 && ws_span_sub(line, from->off, 8, &word)) {
		uint64_t stored = wsi_at_u64(word, 0);
		if (stored >= code->gpu_va && stored - code->gpu_va <= code->size_bytes) {
			ret->value = stored - code->gpu_va;
			ret->add_stored = false;
		}
	}
	return true;
}

/* Relocations of `section`, into an array that the caller frees. */
static bool line_relocs(const struct ws_module *module, uint32_t section,
			struct ws_line_reloc **ret_relocs, size_t *ret_n, bool *ret_owned)
{
	struct ws_span line = wsi_module_bytes(module, section);
	size_t n = 0, n_all = 0;
	for (uint32_t i = 1; i < module->n_sections; i++) {
		if (relocs_target(module, i, section))
			n_all += wsi_module_n_relocs(module, i);
	}
	/* sections may overlap, so the count is only bounded by their number: one word, one entry
	 */
	n_all = (size_t)wsi_min_u64(n_all, line.len);
	struct ws_line_reloc *relocs = wsi_zalloc_array(n_all, sizeof *relocs);
	if (!relocs)
		return false;
	*ret_owned = false;
	/* those that are of no use count as well: an image has no more than fit into it */
	size_t left = module->image.len / WSI_REL_BYTES;
	for (uint32_t i = 1; i < module->n_sections && n < n_all; i++) {
		if (!relocs_target(module, i, section))
			continue;
		size_t n_here = wsi_module_n_relocs(module, i);
		for (size_t j = 0; j < n_here && n < n_all && left > 0; j++, left--) {
			struct wsi_reloc from = wsi_module_reloc(module, i, j);
			if (line_reloc(module, line, &from, &relocs[n])) {
				*ret_owned |= relocs[n].owner != WS_LINE_NO_OWNER;
				n++;
			}
		}
	}
	*ret_relocs = relocs;
	*ret_n = n;
	return true;
}

static int code_order(const void *left, const void *right)
{
	const struct wsi_code *a = *(const struct wsi_code *const *)left;
	const struct wsi_code *b = *(const struct wsi_code *const *)right;
	if (a->gpu_va != b->gpu_va)
		return a->gpu_va < b->gpu_va ? -1 : 1;
	return a->section < b->section ? -1 : a->section > b->section;
}

/* The code that holds a device address, of `n` in their order, or NULL. */
static const struct wsi_code *code_at(const struct wsi_code **code, size_t n, uint64_t gpu_va)
{
	size_t lo = 0, hi = n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (code[mid]->gpu_va <= gpu_va)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 0 && gpu_va - code[lo - 1]->gpu_va < code[lo - 1]->size_bytes ? code[lo - 1]
										  : NULL;
}

/*
 * What the relocations said before they were applied and lost: each DW_LNE_set_address (00 09 02)
 * with a device address of this image's code. Without them the whole map would have to be decoded
 * to find the sequence of a function. A number that only looks like one leads to no harm: the line
 * map takes none of them unless all of a table begin sequences.
 */
static bool relocs_applied(const struct ws_module *module, struct ws_span line,
			   struct ws_line_reloc **ret_relocs, size_t *ret_n)
{
	enum {
		OPCODE_BYTES = 3 + 8,
	};
	wsi_scoped_free const struct wsi_code **code =
		wsi_zalloc_array(module->n_code, sizeof(const struct wsi_code *));
	if (!code)
		return false;
	for (uint32_t i = 0; i < module->n_code; i++)
		code[i] = &module->code[i];
	qsort(code, module->n_code, sizeof *code, code_order);
	size_t n = 0, cap = 0;
	for (uint64_t at = 0; line.len >= OPCODE_BYTES && at <= line.len - OPCODE_BYTES; at++) {
		if (wsi_at_u8(line, at + 1) != 9 || wsi_at_u8(line, at) != 0 ||
		    wsi_at_u8(line, at + 2) != 2)
			continue;
		uint64_t gpu_va = wsi_at_u64(line, at + 3);
		const struct wsi_code *here = code_at(code, module->n_code, gpu_va);
		if (!here)
			continue;
		if (!wsi_grow(ret_relocs, &cap, n, sizeof **ret_relocs, line.len))
			return false;
		(*ret_relocs)[n++] = (struct ws_line_reloc){ .sec_off = at + 3,
							     .value = gpu_va - here->gpu_va,
							     .owner = here->section };
	}
	*ret_n = n;
	return true;
}

/* Makes a line map; *ret_map stays NULL when there is none to make. */
static enum ws_status map_make(const struct ws_module *module, uint32_t section,
			       struct ws_line_map **ret_map, bool *ret_by_address,
			       struct ws_error *err)
{
	if (section == 0)
		return WS_OK;
	wsi_scoped_free struct ws_line_reloc *relocs = NULL;
	bool owned;
	size_t n;
	if (!line_relocs(module, section, &relocs, &n, &owned))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "relocations of the line map");
	if (!owned && n == 0 && module->relocated) {
		wsi_free(WSI_TAKE(relocs));
		if (!relocs_applied(module, wsi_module_bytes(module, section), &relocs, &n))
			return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "line map relocations");
		owned = n > 0;
	}
	struct ws_line_input input = {
		.line = wsi_module_bytes(module, section),
		.str = wsi_module_bytes(module, module->debug_str),
		.relocs = relocs,
		.n_relocs = n,
	};
	uint64_t line_str = wsi_elf_find(&module->elf, ".debug_line_str");
	if (line_str < module->n_sections)
		input.line_str = wsi_module_bytes(module, (uint32_t)line_str);
	enum ws_status st = wsi_line_create(&input, module->line_account, ret_map, err);
	*ret_by_address = !owned;
	return st == WS_ABSENT ? WS_OK : st;
}

static enum ws_status lines_need(struct ws_module *module, struct ws_error *err)
{
	if (atomic_load_explicit(&module->have_lines, memory_order_acquire))
		return WS_OK;
	enum ws_status st = WS_OK;
	pthread_mutex_lock(&module->lock);
	if (!atomic_load_explicit(&module->have_lines, memory_order_relaxed)) {
		st = map_make(module, module->debug_line, &module->lines, &module->lines_by_address,
			      err);
		atomic_store_explicit(&module->have_lines, st == WS_OK, memory_order_release);
	}
	pthread_mutex_unlock(&module->lock);
	return st;
}

static void ptx_free(struct ws_module *module)
{
	for (uint32_t i = 0; module->ptx && i < module->n_ptx; i++)
		ws_line_ptx_destroy(module->ptx[i].text);
	wsi_free(module->ptx);
	module->ptx = NULL;
	ws_line_destroy(module->ptx_lines);
	module->ptx_lines = NULL;
}

void wsi_module_lines_fini(struct ws_module *module)
{
	ptx_free(module);
	ws_line_destroy(module->lines);
	module->lines = NULL;
}

/* Offset in a section -> positions, by owner or by device address. */
static enum ws_status map_find(const struct ws_module *module, const struct ws_line_map *map,
			       bool by_address, uint32_t section, uint64_t sec_off,
			       struct ws_line_pos *ret_pos, size_t cap, size_t *ret_n,
			       struct ws_error *err)
{
	const struct wsi_code *code = wsi_module_code_of(module, section);
	if (!map || !code)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the image has no lines");
	if (!by_address)
		return ws_line_find(map, section, sec_off, ret_pos, cap, ret_n, err);
	/* without relocations and addresses only a single code section is not ambiguous */
	if (code->gpu_va == 0 && module->n_code > 1)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"the line map does not say which function it is for");
	return ws_line_find(map, WS_LINE_NO_OWNER, wsi_add_sat(code->gpu_va, sec_off), ret_pos, cap,
			    ret_n, err);
}

enum ws_status ws_module_line_find(struct ws_module *module, uint32_t section, uint64_t sec_off,
				   struct ws_line_pos *ret_pos, size_t cap, size_t *ret_n,
				   struct ws_error *err)
{
	enum ws_status st = lines_need(module, err);
	if (st != WS_OK)
		return st;
	size_t n;
	st = map_find(module, module->lines, module->lines_by_address, section, sec_off, ret_pos,
		      cap, &n, err);
	if (st != WS_OK)
		return st;
	struct ws_place place;
	if (n <= cap && !ret_pos[n - 1].call_site_lost &&
	    ws_module_find_offset(module, section, sec_off, &place, NULL) == WS_OK &&
	    place.function)
		ret_pos[n - 1].function = place.function->name.ptr;
	*ret_n = n;
	return WS_OK;
}

enum ws_status ws_module_line_map(struct ws_module *module, struct ws_line_map **ret_map,
				  struct ws_error *err)
{
	enum ws_status st = lines_need(module, err);
	if (st != WS_OK)
		return st;
	if (!module->lines)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the image has no .debug_line");
	*ret_map = module->lines;
	return WS_OK;
}

enum ws_status ws_module_seq_place(struct ws_module *module, const struct ws_line_seq *seq,
				   struct ws_place *ret_place, struct ws_error *err)
{
	if (seq->owner != WS_LINE_NO_OWNER)
		return ws_module_find_offset(module, seq->owner, seq->low, ret_place, err);
	if (module->relocated)
		return ws_module_find_address(module, seq->low, ret_place, err);
	if (module->n_code == 1)
		return ws_module_find_offset(module, module->code[0].section, seq->low, ret_place,
					     err);
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
			"the line map does not say which function it is for");
}

/* ---- PTX ---- */

static enum ws_status ptx_make(struct ws_module *module, struct ws_error *err)
{
	module->ptx = wsi_zalloc_array(module->n_ptx, sizeof *module->ptx);
	if (!module->ptx)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "PTX text");
	uint32_t n = 0;
	char name[WSI_NAME_HEAD];
	for (uint32_t i = 1; i < module->n_sections && n < module->n_ptx; i++) {
		struct wsi_shdr shdr = wsi_module_shdr(module, i);
		wsi_elf_name_head(&module->elf, &shdr, name);
		if (strncmp(name, WSI_PTX_SECTION, sizeof WSI_PTX_SECTION - 1) == 0)
			module->ptx[n++].section = i;
	}
	return map_make(module, module->line_sass, &module->ptx_lines,
			&module->ptx_lines_by_address, err);
}

static enum ws_status ptx_need(struct ws_module *module, struct ws_error *err)
{
	if (atomic_load_explicit(&module->have_ptx_lines, memory_order_acquire))
		return WS_OK;
	enum ws_status st = WS_OK;
	pthread_mutex_lock(&module->lock);
	if (!atomic_load_explicit(&module->have_ptx_lines, memory_order_relaxed)) {
		st = ptx_make(module, err);
		if (st != WS_OK)
			ptx_free(module);
		atomic_store_explicit(&module->have_ptx_lines, st == WS_OK, memory_order_release);
	}
	pthread_mutex_unlock(&module->lock);
	return st;
}

/* The text that a file of the PTX line map names; the only one when it names none. */
static struct wsi_ptx *ptx_of(struct ws_module *module, const struct ws_line_file *file)
{
	for (uint32_t i = 0; file && file->name[0] && i < module->n_ptx; i++) {
		struct wsi_shdr shdr = wsi_module_shdr(module, module->ptx[i].section);
		char name[WSI_NAME_HEAD];
		wsi_elf_name_head(&module->elf, &shdr, name);
		if (strcmp(name, file->name) == 0)
			return &module->ptx[i];
	}
	return module->n_ptx == 1 ? &module->ptx[0] : NULL;
}

static enum ws_status ptx_text(struct ws_module *module, struct wsi_ptx *ptx, uint32_t line,
			       struct ws_str *ret_text, struct ws_error *err)
{
	enum ws_status st = WS_OK;
	pthread_mutex_lock(&module->lock);
	if (!ptx->text)
		st = ws_line_ptx_create(wsi_module_bytes(module, ptx->section), &ptx->text, err);
	pthread_mutex_unlock(&module->lock);
	return st == WS_OK ? ws_line_ptx_at(ptx->text, line, ret_text, err) : st;
}

enum ws_status ws_module_ptx_find(struct ws_module *module, uint32_t section, uint64_t sec_off,
				  struct ws_ptx_line *ret_line, struct ws_error *err)
{
	if (module->n_ptx == 0)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the image has no PTX text");
	enum ws_status st = ptx_need(module, err);
	if (st != WS_OK)
		return st;
	struct ws_line_pos pos;
	size_t n;
	st = map_find(module, module->ptx_lines, module->ptx_lines_by_address, section, sec_off,
		      &pos, 1, &n, err);
	if (st != WS_OK)
		return st;
	struct wsi_ptx *ptx = ptx_of(module, pos.file);
	if (!ptx)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the image lacks this PTX text");
	struct ws_ptx_line line = { .section = ptx->section, .line = pos.line };
	st = ptx_text(module, ptx, pos.line, &line.text, err);
	if (st == WS_OK)
		*ret_line = line;
	return st;
}
