/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ties line.h to an image: sections, relocations, owners.
 *
 * The owner of a sequence is the index of its code section, addresses are offsets in it. Relocated
 * images: their debug sections may have been relocated in place, with the relocations gone. Then
 * the device addresses that sequences begin with say as much; where there are none, sequences have
 * no owner and are looked up by address (lines_by_address). When the relocations are still there
 * the stored word tells whether they were applied: a device address of the section they name, or
 * not. Code that is not loaded yet has no address, but its place may be known already: then the
 * word is larger than the code, and sequences begin where the symbol is.
 */
#include "cubin/internal.h"

static bool relocs_target(const struct ws_cubin *cubin, uint32_t index, uint32_t section)
{
	struct wsi_shdr shdr = wsi_cubin_shdr(cubin, index);
	return (shdr.type == WSI_SHT_REL || shdr.type == WSI_SHT_RELA) && shdr.info == section;
}

/* One relocation of a line section; false for one that is of no use there. */
static bool line_reloc(const struct ws_cubin *cubin, struct ws_span line,
		       const struct wsi_reloc *from, struct ws_line_reloc *ret)
{
	struct ws_span symtab = wsi_cubin_bytes(cubin, cubin->symtab);
	if (from->symbol >= symtab.len / WSI_SYM_BYTES)
		return false;
	struct wsi_sym sym = wsi_elf_sym(symtab, from->symbol);
	uint32_t section = wsi_cubin_symbol_section(cubin, &sym, from->symbol);
	*ret = (struct ws_line_reloc){
		.sec_off = from->off,
		.value = sym.value + (uint64_t)from->addend,
		.owner = WS_LINE_NO_OWNER,
		.add_stored = !from->has_addend,
	};
	if (from->type == WSI_R_CUDA_32)
		return true;
	const struct wsi_cubin_code *code = wsi_cubin_code_of(cubin, section);
	if (from->type != WSI_R_CUDA_64 || !code)
		return false;
	ret->owner = section;
	ret->value = wsi_cubin_symbol_off(cubin, &sym, section) + (uint64_t)from->addend;
	struct ws_span word;
	if (code->gpu_va != 0 && ws_span_sub(line, from->off, 8, &word)) {
		uint64_t stored = wsi_at_u64(word, 0);
		if (stored >= code->gpu_va && stored - code->gpu_va <= code->size_bytes) {
			ret->value = stored - code->gpu_va;
			ret->add_stored = false;
		}
	} else if (ret->add_stored && ws_span_sub(line, from->off, 8, &word)) {
		ret->add_stored = wsi_at_u64(word, 0) <= code->size_bytes;
	}
	return true;
}

/* Relocations of `section`, into an array that the caller frees. `*ret_whole`: all are there and of
 * use. */
static bool line_relocs(const struct ws_cubin *cubin, uint32_t section,
			struct ws_line_reloc **ret_relocs, size_t *ret_n, bool *ret_owned,
			bool *ret_whole)
{
	struct ws_span line = wsi_cubin_bytes(cubin, section);
	size_t n = 0, n_all = 0;
	for (uint32_t i = 1; i < cubin->n_sections; i++) {
		if (relocs_target(cubin, i, section))
			n_all += wsi_cubin_n_relocs(cubin, i);
	}
	/* sections may overlap, so the count is only bounded by their number: one word, one entry
	 */
	n_all = (size_t)wsi_min_u64(n_all, line.len);
	struct ws_line_reloc *relocs = wsi_zalloc_array(n_all, sizeof *relocs);
	if (!relocs)
		return false;
	*ret_owned = false;
	*ret_whole = true;
	/* those that are of no use count as well: an image has no more than fit into it */
	size_t left = cubin->image.len / WSI_REL_BYTES;
	for (uint32_t i = 1; i < cubin->n_sections && n < n_all; i++) {
		if (!relocs_target(cubin, i, section))
			continue;
		size_t n_here = wsi_cubin_n_relocs(cubin, i), j = 0;
		for (; j < n_here && n < n_all && left > 0; j++, left--) {
			struct wsi_reloc from = wsi_cubin_reloc(cubin, i, j);
			if (line_reloc(cubin, line, &from, &relocs[n])) {
				*ret_owned |= relocs[n].owner != WS_LINE_NO_OWNER;
				n++;
			} else {
				*ret_whole = false;
			}
		}
		*ret_whole &= j == n_here &&
			      wsi_cubin_bytes(cubin, i).len == wsi_cubin_shdr(cubin, i).size;
	}
	*ret_relocs = relocs;
	*ret_n = n;
	return true;
}

static int code_address_order(const void *left, const void *right)
{
	const struct wsi_cubin_code *a = *(const struct wsi_cubin_code *const *)left;
	const struct wsi_cubin_code *b = *(const struct wsi_cubin_code *const *)right;
	return WSI_ORDER_THEN(a->gpu_va, b->gpu_va, WSI_ORDER(a->section, b->section));
}

/* The code that holds a device address, of `n` in their order, or NULL. */
static const struct wsi_cubin_code *code_at_address(const struct wsi_cubin_code **code, size_t n,
						    uint64_t gpu_va)
{
	size_t lo = WSI_BISECT(i, 0, n, code[i]->gpu_va <= gpu_va);
	return lo > 0 && gpu_va - code[lo - 1]->gpu_va < code[lo - 1]->size_bytes ? code[lo - 1]
										  : NULL;
}

/*
 * What the relocations said before they were applied and lost: each DW_LNE_set_address (00 09 02)
 * with a device address of this image's code. Without them the whole map would have to be decoded
 * to find the sequence of a function. A number that only looks like one leads to no harm: the line
 * map takes none of them unless all of a table begin sequences.
 */
static bool relocs_applied(const struct ws_cubin *cubin, struct ws_span line,
			   struct ws_line_reloc **ret_relocs, size_t *ret_n)
{
	enum {
		OPCODE_BYTES = 3 + 8,
	};
	wsi_scoped_free const struct wsi_cubin_code **code =
		wsi_zalloc_array(cubin->n_code, sizeof(const struct wsi_cubin_code *));
	if (!code)
		return false;
	for (uint32_t i = 0; i < cubin->n_code; i++)
		code[i] = &cubin->code[i];
	qsort(code, cubin->n_code, sizeof *code, code_address_order);
	size_t n = 0, cap = 0;
	for (uint64_t at = 0; line.len >= OPCODE_BYTES && at <= line.len - OPCODE_BYTES; at++) {
		if (wsi_at_u8(line, at + 1) != 9 || wsi_at_u8(line, at) != 0 ||
		    wsi_at_u8(line, at + 2) != 2)
			continue;
		uint64_t gpu_va = wsi_at_u64(line, at + 3);
		const struct wsi_cubin_code *here = code_at_address(code, cubin->n_code, gpu_va);
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

/* For sm_90, objects have no relocation of a table's string base, which linkers leave at 0.
 * [measured: ptxas, nvlink and nvJitLink 13.0 and 13.5; other architectures have it] */
static bool unsets_bases(const struct ws_cubin *cubin)
{
	struct ws_cubin_facts facts;
	ws_cubin_facts(cubin, &facts);
	return facts.sm == 90;
}

/* Makes a line map; *ret_map stays NULL when there is none to make. */
static enum ws_status map_make(const struct ws_cubin *cubin, uint32_t section,
			       struct ws_line_map **ret_map, bool *ret_by_address, bool *ret_whole,
			       struct ws_error *err)
{
	if (section == 0)
		return WS_OK;
	wsi_scoped_free struct ws_line_reloc *relocs = NULL;
	bool owned;
	size_t n;
	if (!line_relocs(cubin, section, &relocs, &n, &owned, ret_whole))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "relocations of the line map");
	if (!owned && n == 0 && cubin->relocated) {
		wsi_free(WSI_TAKE(relocs));
		if (!relocs_applied(cubin, wsi_cubin_bytes(cubin, section), &relocs, &n))
			return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "line map relocations");
		owned = n > 0;
		*ret_whole = false;
	}
	struct ws_line_input input = {
		.line = wsi_cubin_bytes(cubin, section),
		.str = wsi_cubin_bytes(cubin, cubin->debug_str),
		.relocs = relocs,
		.n_relocs = n,
		.bases_unset = unsets_bases(cubin),
	};
	input.str_is_cut = input.str.len != wsi_cubin_shdr(cubin, cubin->debug_str).size;
	uint64_t line_str = wsi_elf_find(&cubin->elf, ".debug_line_str");
	if (line_str < cubin->n_sections)
		input.line_str = wsi_cubin_bytes(cubin, (uint32_t)line_str);
	enum ws_status st = wsi_line_create(&input, cubin->line_account, ret_map, err);
	*ret_by_address = !owned;
	return st == WS_ABSENT ? WS_OK : st;
}

static enum ws_status lines_make(struct ws_cubin *cubin, struct ws_error *err)
{
	return map_make(cubin, cubin->debug_line, &cubin->lines, &cubin->lines_by_address,
			&cubin->lines_whole, err);
}

static enum ws_status lines_need(struct ws_cubin *cubin, struct ws_error *err)
{
	return wsi_cubin_need(cubin, &cubin->have_lines, lines_make, err);
}

static void ptx_free(struct ws_cubin *cubin)
{
	for (uint32_t i = 0; cubin->ptx && i < cubin->n_ptx; i++)
		ws_line_ptx_destroy(cubin->ptx[i].text);
	wsi_free(cubin->ptx);
	cubin->ptx = NULL;
	ws_line_destroy(cubin->ptx_lines);
	cubin->ptx_lines = NULL;
}

void wsi_cubin_lines_fini(struct ws_cubin *cubin)
{
	ptx_free(cubin);
	ws_line_destroy(cubin->lines);
	cubin->lines = NULL;
}

/* Code of a section as a map has it: by owner, or by device address. */
struct line_key {
	uint32_t owner;
	uint64_t rel_pc;
};

static enum ws_status line_key_of(const struct ws_cubin *cubin, const struct ws_line_map *map,
				  bool by_address, uint32_t section, uint64_t sec_off,
				  struct line_key *ret_key, struct ws_error *err)
{
	const struct wsi_cubin_code *code = wsi_cubin_code_of(cubin, section);
	if (!map || !code)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the image has no lines");
	/* without relocations and addresses only a single code section is not ambiguous */
	if (by_address && code->gpu_va == 0 && cubin->n_code > 1)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"the line map does not say which function it is for");
	*ret_key = by_address ? (struct line_key){ WS_LINE_NO_OWNER,
						   wsi_add_sat(code->gpu_va, sec_off) }
			      : (struct line_key){ section, sec_off };
	return WS_OK;
}

/* ---- calls that only the debug information tells ---- */

/* The file that debug information has a number for; NULL: none. */
static const struct ws_line_file *file_of(const struct ws_cubin *cubin,
					  const struct ws_dwarf_unit *unit, uint32_t number)
{
	size_t n = ws_line_table_count(cubin->lines);
	for (size_t i = 0; i < n && unit->has_lines; i++) {
		const struct ws_line_table *table = ws_line_table_at(cubin->lines, i);
		if (table->sec_off != unit->lines_off)
			continue;
		bool known = number < table->n_files && (number || table->version >= 5);
		return known ? &table->files[number] : NULL;
	}
	return NULL;
}

/* The functions inlined at a place, outermost first; 0: none are told. */
static size_t inlined_find(struct ws_cubin *cubin, const struct ws_place *place,
			   struct ws_dwarf_inlined *ret_inlined, size_t cap,
			   struct ws_dwarf_unit *ret_unit)
{
	const struct ws_dwarf_function *function;
	const struct ws_dwarf *dwarf;
	size_t n = 0;
	if (cubin->debug_info == 0 || !place->function ||
	    ws_cubin_dwarf(cubin, &dwarf, NULL) != WS_OK ||
	    ws_dwarf_find_function(dwarf, place->function->name, &function, NULL) != WS_OK ||
	    ws_dwarf_inlined(dwarf, function, place->rel_pc, ret_inlined, cap, &n, NULL) != WS_OK ||
	    n > cap)
		return 0;
	if (n && ws_dwarf_unit(dwarf, function->info_off, ret_unit, NULL) != WS_OK)
		ret_unit->has_lines = false;
	return n;
}

/*
 * Compilers write inlined calls into the line map or, with -G, into the debug information. A map
 * that tells calls of a function is believed at each of its rows: it follows code that was moved.
 */
static size_t chain_extend(struct ws_cubin *cubin, const struct line_key *key,
			   const struct ws_place *place, struct ws_line_pos *pos, size_t cap)
{
	struct ws_dwarf_inlined inlined[WS_LINE_MAX_DEPTH];
	struct ws_dwarf_unit unit = { .has_lines = false };
	size_t n = inlined_find(cubin, place, inlined, WSI_COUNT(inlined), &unit);
	if (n == 0 || wsi_line_has_calls(cubin->lines, key->owner, key->rel_pc))
		return 1;
	for (size_t i = 0; i < n && i < cap; i++) {
		const struct ws_dwarf_inlined *call = &inlined[n - 1 - i];
		pos[i].function = call->name.len ? call->name.ptr : NULL;
		if (i + 1 < cap)
			pos[i + 1] = (struct ws_line_pos){
				.file = file_of(cubin, &unit, call->call_file),
				.line = call->call_line,
				.column = call->call_column,
			};
	}
	return n + 1;
}

enum ws_status ws_cubin_line_map(struct ws_cubin *cubin, struct ws_line_map **ret_map,
				 struct ws_error *err)
{
	enum ws_status st = lines_need(cubin, err);
	if (st != WS_OK)
		return st;
	if (!cubin->lines)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the image has no .debug_line");
	*ret_map = cubin->lines;
	return WS_OK;
}

enum ws_status ws_cubin_seq_place(struct ws_cubin *cubin, const struct ws_line_seq *seq,
				  struct ws_place *ret_place, struct ws_error *err)
{
	if (seq->owner != WS_LINE_NO_OWNER)
		return ws_cubin_find_offset(cubin, seq->owner, seq->low, ret_place, err);
	if (cubin->relocated)
		return ws_cubin_find_address(cubin, seq->low, ret_place, err);
	if (cubin->n_code == 1)
		return ws_cubin_find_offset(cubin, cubin->code[0].section, seq->low, ret_place,
					    err);
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
			"the line map does not say which function it is for");
}

bool ws_cubin_seq_is_dropped(const struct ws_cubin *cubin, const struct ws_line_seq *seq)
{
	return cubin->lines_whole && !cubin->lines_by_address && !cubin->relocated &&
	       cubin->elf.type == WSI_ET_EXEC && seq->owner == WS_LINE_NO_OWNER && seq->low == 0 &&
	       seq->status == WS_OK;
}

/* ---- PTX ---- */

static enum ws_status ptx_make(struct ws_cubin *cubin, struct ws_error *err)
{
	cubin->ptx = wsi_zalloc_array(cubin->n_ptx, sizeof *cubin->ptx);
	if (!cubin->ptx)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "PTX text");
	uint32_t n = 0;
	char name[WSI_NAME_HEAD];
	for (uint32_t i = 1; i < cubin->n_sections && n < cubin->n_ptx; i++) {
		struct wsi_shdr shdr = wsi_cubin_shdr(cubin, i);
		wsi_elf_name_head(&cubin->elf, &shdr, name);
		if (strncmp(name, WSI_PTX_SECTION, sizeof WSI_PTX_SECTION - 1) == 0)
			cubin->ptx[n++].section = i;
	}
	bool whole;
	enum ws_status st = map_make(cubin, cubin->line_sass, &cubin->ptx_lines,
				     &cubin->ptx_lines_by_address, &whole, err);
	if (st != WS_OK)
		ptx_free(cubin);
	return st;
}

static enum ws_status ptx_need(struct ws_cubin *cubin, struct ws_error *err)
{
	return wsi_cubin_need(cubin, &cubin->have_ptx_lines, ptx_make, err);
}

/* The text that a file of the PTX line map names; the only one when it names none. */
static struct wsi_ptx *ptx_of(struct ws_cubin *cubin, const struct ws_line_file *file)
{
	for (uint32_t i = 0; file && file->name[0] && i < cubin->n_ptx; i++) {
		struct wsi_shdr shdr = wsi_cubin_shdr(cubin, cubin->ptx[i].section);
		char name[WSI_NAME_HEAD];
		wsi_elf_name_head(&cubin->elf, &shdr, name);
		if (strcmp(name, file->name) == 0)
			return &cubin->ptx[i];
	}
	return cubin->n_ptx == 1 ? &cubin->ptx[0] : NULL;
}

static enum ws_status ptx_need_text(struct ws_cubin *cubin, struct wsi_ptx *ptx,
				    struct ws_error *err)
{
	enum ws_status st = WS_OK;
	pthread_mutex_lock(&cubin->lock);
	if (!ptx->text)
		st = ws_line_ptx_create(wsi_cubin_bytes(cubin, ptx->section), &ptx->text, err);
	pthread_mutex_unlock(&cubin->lock);
	return st;
}

/* The PTX text that code was made from, and the number of its line there. */
static enum ws_status ptx_find(struct ws_cubin *cubin, uint32_t section, uint64_t sec_off,
			       struct wsi_ptx **ret_ptx, uint32_t *ret_line, struct ws_error *err)
{
	if (cubin->n_ptx == 0)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the image has no PTX text");
	enum ws_status st = ptx_need(cubin, err);
	if (st != WS_OK)
		return st;
	struct ws_line_pos pos;
	struct line_key key;
	size_t n;
	st = line_key_of(cubin, cubin->ptx_lines, cubin->ptx_lines_by_address, section, sec_off,
			 &key, err);
	if (st == WS_OK)
		st = ws_line_find(cubin->ptx_lines, key.owner, key.rel_pc, &pos, 1, &n, err);
	if (st != WS_OK)
		return st;
	*ret_ptx = ptx_of(cubin, pos.file);
	if (!*ret_ptx)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the image lacks this PTX text");
	*ret_line = pos.line;
	return ptx_need_text(cubin, *ret_ptx, err);
}

enum ws_status ws_cubin_ptx_find(struct ws_cubin *cubin, uint32_t section, uint64_t sec_off,
				 struct ws_ptx_line *ret_line, struct ws_error *err)
{
	struct wsi_ptx *ptx;
	struct ws_ptx_line line = { 0 };
	enum ws_status st = ptx_find(cubin, section, sec_off, &ptx, &line.line, err);
	if (st == WS_OK)
		st = ws_line_ptx_at(ptx->text, line.line, &line.text, err);
	if (st != WS_OK)
		return st;
	line.section = ptx->section;
	*ret_line = line;
	return WS_OK;
}

bool wsi_cubin_is_triton(struct ws_cubin *cubin)
{
	unsigned char is = atomic_load(&cubin->is_triton);
	if (is == WSI_TRITON_UNKNOWN) {
		is = WSI_TRITON_NO;
		for (uint32_t i = 0; ptx_need(cubin, NULL) == WS_OK && i < cubin->n_ptx; i++) {
			if (wsi_ptx_is_triton(wsi_cubin_bytes(cubin, cubin->ptx[i].section)))
				is = WSI_TRITON_YES;
		}
		atomic_store(&cubin->is_triton, is);
	}
	return is == WSI_TRITON_YES;
}

/* ---- the lines of an address ---- */

/* Takes off what Triton's mistake added to the line of code. */
static void added_take_off(struct ws_cubin *cubin, uint32_t section, uint64_t sec_off,
			   struct ws_line_pos *pos)
{
	struct wsi_ptx *ptx;
	uint32_t line;
	if (!pos->file || !wsi_str_ends(ws_str_of(pos->file->name), ".py") ||
	    ptx_find(cubin, section, sec_off, &ptx, &line, NULL) != WS_OK)
		return;
	uint32_t added = wsi_cubin_added_lines(ptx->text, line);
	if (added >= pos->line)
		return;
	pos->added = added;
	pos->line -= added;
}

enum ws_status ws_cubin_line_find(struct ws_cubin *cubin, uint32_t section, uint64_t sec_off,
				  struct ws_line_pos *ret_pos, size_t cap, size_t *ret_n,
				  struct ws_error *err)
{
	enum ws_status st = lines_need(cubin, err);
	if (st != WS_OK)
		return st;
	struct line_key key;
	size_t n;
	st = line_key_of(cubin, cubin->lines, cubin->lines_by_address, section, sec_off, &key, err);
	if (st == WS_OK)
		st = ws_line_find(cubin->lines, key.owner, key.rel_pc, ret_pos, cap, &n, err);
	if (st != WS_OK)
		return st;
	if (cap > 0)
		added_take_off(cubin, section, sec_off, &ret_pos[0]);
	struct ws_place place;
	bool has_place = ws_cubin_find_offset(cubin, section, sec_off, &place, NULL) == WS_OK;
	if (n == 1 && cubin->debug_info && has_place)
		n = chain_extend(cubin, &key, &place, ret_pos, cap);
	if (n <= cap && !ret_pos[n - 1].call_site_lost && has_place && place.function)
		ret_pos[n - 1].function = place.function->name.ptr;
	*ret_n = n;
	return WS_OK;
}
