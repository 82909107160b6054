/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images: sections get addresses, relocations are applied, variables and banks become memory.
 *
 * The image is kept as the driver hands it out to debuggers: section headers and symbols have
 * device addresses, relocated sections are patched in place. Code is executed from there.
 *
 * Code may be loaded later than its module (options.lazy), a function when it is first needed, with
 * the functions that its relocations name. All sections have their places from the beginning, so
 * that it makes no difference to anything that is relocated; but until it is loaded, code is at no
 * address for the device and for debuggers: headers and symbols have none. Variables are loaded
 * with their module, and so are the functions whose addresses they hold. What a function costs then
 * is what it has: an index leads from sections to the relocations and symbols of each.
 */
#include <warpscope/image.h>

#include "cubin/relocs.h"
#include "elf/cubin.h"
#include "elf/elf.h"
#include "sim/check/check.h"
#include "sim/exec/exec.h"

enum { CODE_ALIGNMENT = 128, MAX_MODULES = 1 << 16, TOLD_OF_NAME = 80 };

/* What is needed while one image is loaded. */
struct loading {
	struct ws_sim *sim;
	struct wsi_module *module;
	struct wsi_elf elf; /* of module->image */
	struct ws_span symtab, names;
	uint64_t relocs_left; /* bytes of the file that no table of relocations has had yet */
	struct ws_error *err;
};

/* What belongs to each section of a module: lists of numbers, each leads to the next, 0 ends them.
 */
struct wsi_sections {
	struct wsi_elf elf;
	struct ws_span symtab;
	uint32_t *table, *next_table;   /* owned; of relocations: their sections */
	uint32_t *symbol, *next_symbol; /* owned; their numbers, from 1 */
};

/* Counts what a module takes, to be given back if it fails to load. */
static bool module_takes(struct ws_sim *sim, struct wsi_module *module, const char *what,
			 uint64_t bytes)
{
	bool fits = wsi_account_fix(&sim->account, what, bytes);
	module->taken += fits ? bytes : 0;
	return fits;
}

/* ---- sections ---- */

/* wsi_fail() of an image that cannot be loaded. */
#define BAD_IMAGE(err, ...) \
	wsi_cuda_context(err, wsi_fail(err, __VA_ARGS__), WS_CUDA_ERROR_INVALID_IMAGE)

static enum ws_status add_text(struct loading *l, uint32_t index, const struct wsi_shdr *shdr)
{
	struct ws_sim *sim = l->sim;
	struct ws_span bytes;
	if (!wsi_elf_bytes(&l->elf, shdr, &bytes))
		return BAD_IMAGE(l->err, WS_TRUNCATED, shdr->offset, "code is cut");
	if (!wsi_grow(&sim->texts, &sim->cap_texts, sim->n_texts, sizeof *sim->texts, SIZE_MAX))
		return wsi_cuda_no_memory(l->err);
	size_t n_chunks = bytes.len / WS_SASS_BYTES / WSI_OPS_CHUNK + 1;
	if (!module_takes(l->sim, l->module, "the code of an image",
			  sizeof *sim->texts + n_chunks * sizeof(struct wsi_op *)))
		return wsi_account_fail(&sim->account, l->err);
	struct wsi_text text = {
		.start = sim->next_code,
		.size = bytes.len,
		.bytes = bytes.ptr,
		.chunks = wsi_zalloc_array(n_chunks, sizeof *text.chunks),
		.module = (uint32_t)(l->module - sim->modules),
		.section = index,
	};
	if (!text.chunks)
		return wsi_cuda_no_memory(l->err);
	sim->texts[sim->n_texts++] = text;
	l->module->n_texts++;
	sim->next_code =
		(text.start + text.size + CODE_ALIGNMENT) & ~(uint64_t)(CODE_ALIGNMENT - 1);
	l->module->address[index] = text.start;
	return WS_OK;
}

/* Whether a variable of a section is the host's, too. */
static bool has_managed(const struct loading *l, uint32_t index)
{
	const struct wsi_sections *of = l->module->sections;
	for (uint32_t i = of->symbol[index]; i != 0; i = of->next_symbol[i])
		if (wsi_elf_sym(l->symtab, i - 1).other & WSI_STO_CUDA_MANAGED)
			return true;
	return false;
}

/* The section lies in memory that the host has. */
static enum ws_status add_managed(struct loading *l, uint32_t index, uint64_t size)
{
	const struct ws_sim_options *options = &l->sim->options;
	struct wsi_region region = {
		.size = size,
		.reach = size,
		.kind = WSI_REGION_MAPPED,
		.managed = true,
	};
	void *bytes;
	if (!options->managed(options->managed_user, size, &region.start, &bytes))
		return wsi_cuda_context(l->err,
					wsi_fail(l->err, WS_LIMIT, WS_NO_OFFSET,
						 "managed variables of %" PRIu64 " bytes", size),
					WS_CUDA_ERROR_OUT_OF_MEMORY);
	l->module->address[index] = region.start;
	return wsi_memory_add_mapped(&l->sim->memory, &region, bytes, l->err);
}

static enum ws_status load_data_section(struct loading *l, uint32_t index,
					const struct wsi_shdr *shdr, bool read_only)
{
	struct wsi_region region = {
		.size = shdr->size,
		.reach = shdr->size,
		.kind = WSI_REGION_MODULE,
		.read_only = read_only,
	};
	struct ws_span bytes;
	if (shdr->size == 0)
		return WS_OK;
	if (!wsi_elf_bytes(&l->elf, shdr, &bytes))
		return BAD_IMAGE(l->err, WS_TRUNCATED, shdr->offset, "a section is cut");
	if (!wsi_account_has_room(&l->sim->account, "variables of an image", shdr->size))
		return wsi_account_fail(&l->sim->account, l->err);
	if (l->sim->options.managed && !read_only && has_managed(l, index))
		return add_managed(l, index, shdr->size);
	region.start = wsi_memory_place(&l->sim->memory, shdr->size, 256);
	l->module->address[index] = region.start;
	return wsi_memory_add(&l->sim->memory, &region, l->err);
}

static enum ws_status place_sections(struct loading *l)
{
	enum ws_status st = WS_OK;
	for (uint32_t i = 1; i < l->module->n_sections && st == WS_OK; i++) {
		struct wsi_shdr shdr = wsi_elf_shdr(&l->elf, i);
		char head[WSI_NAME_HEAD];
		wsi_elf_name_head(&l->elf, &shdr, head);
		struct ws_str name = ws_str_of(head);
		if (!(shdr.flags & WSI_SHF_ALLOC) || wsi_str_begins(name, ".nv.merc."))
			continue;
		if (shdr.type == WSI_SHT_PROGBITS && shdr.flags & WSI_SHF_EXECINSTR)
			st = add_text(l, i, &shdr);
		else if (wsi_str_begins(name, ".nv.constant"))
			st = load_data_section(l, i, &shdr, true);
		else if (wsi_str_begins(name, ".nv.global"))
			st = load_data_section(l, i, &shdr, false);
	}
	return st;
}

/* ---- symbols and relocations ---- */

/* The beginning of a symbol's name: names that mean something here are shorter than that. */
static struct ws_str loaded_symbol_name(const struct loading *l, const struct wsi_sym *sym)
{
	struct ws_str name = { "?", 1 };
	struct ws_span names = l->names;
	names.len = (size_t)wsi_min_u64(names.len, (uint64_t)sym->name + TOLD_OF_NAME);
	if (!wsi_span_cstr(names, sym->name, &name) && sym->name < names.len)
		name = (struct ws_str){ (const char *)names.ptr + sym->name,
					names.len - sym->name };
	return name;
}

/* Address of a symbol, or false: nobody has it. */
static bool symbol_address(const struct loading *l, uint32_t index, uint64_t *ret_address,
			   struct ws_str *ret_name)
{
	*ret_name = (struct ws_str){ "?", 1 };
	if (index >= l->symtab.len / WSI_SYM_BYTES)
		return false;
	struct wsi_sym sym = wsi_elf_sym(l->symtab, index);
	*ret_name = loaded_symbol_name(l, &sym);
	*ret_address = wsi_service_address(*ret_name, sym.shndx != 0);
	if (sym.shndx == 0 || *ret_address != 0)
		return *ret_address != 0 || sym.info >> 4 == 2; /* weak: 0 */
	if (sym.shndx >= l->module->n_sections)
		return false;
	*ret_address = l->module->address[sym.shndx] + sym.value;
	return true;
}

/* Puts `len` bits of a value at bit `lo` of an instruction. */
static void put_insn_bits(uint8_t *insn, unsigned lo, unsigned len, uint64_t value)
{
	for (unsigned i = 0; i < len; i++) {
		unsigned bit = lo + i;
		uint8_t mask = (uint8_t)(1u << bit % 8);
		insn[bit / 8] = (uint8_t)((insn[bit / 8] & ~mask) | (value >> i & 1 ? mask : 0));
	}
}

/* A number in data: `half` as long as an address. */
static void relocate_data(uint8_t *at, bool half, uint64_t value, bool has_addend)
{
	if (half)
		wsi_store_u32(at, (uint32_t)(value + (has_addend ? 0 : wsi_load_u32(at))));
	else
		wsi_store_u64(at, value + (has_addend ? 0 : wsi_load_u64(at)));
}

/* False: a field that is not known here. */
static bool relocate_code(uint8_t *at, uint32_t type, uint64_t value, bool has_addend)
{
	struct wsi_code_reloc field = wsi_cubin_code_reloc(type);
	switch (field.kind) {
	case WS_RELOC_LOW:
	case WS_RELOC_KERNEL_LOW: /* launches name a kernel by its descriptor: its address, here */
		value += has_addend ? 0 : wsi_load_u32(at + field.lo / 8);
		break;
	case WS_RELOC_HIGH:
	case WS_RELOC_KERNEL_HIGH:
		value >>= 32;
		break;
	case WS_RELOC_CALL:
		value >>= 2;
		break;
	case WS_RELOC_NUMBER:
	case WS_RELOC_CONSTANT:
	case WS_RELOC_UNIFIED_LOW:
	case WS_RELOC_UNIFIED_HIGH:
	case WS_RELOC_UNIFIED_CALL:
	case WS_RELOC_OTHER:
		return false;
	}
	if (field.low_byte_at) {
		put_insn_bits(at, field.low_byte_at, 8, value);
		value >>= 8;
	}
	put_insn_bits(at, field.lo, field.len, value);
	return true;
}

/* One relocation at `off` of a section's bytes. False: out of bounds or unknown. */
static bool relocate_word(uint8_t *bytes, uint64_t size, uint64_t off, uint32_t type,
			  uint64_t value, bool has_addend)
{
	bool half = type == WSI_R_CUDA_32 || type == WSI_R_CUDA_G32;
	bool is_data = half || type == WSI_R_CUDA_64 || type == WSI_R_CUDA_G64;
	uint64_t width = !is_data ? WS_SASS_BYTES : half ? 4 : 8;
	if (!is_data)
		off &= ~(uint64_t)(WS_SASS_BYTES - 1);
	if (off > size || width > size - off)
		return false;
	if (!is_data)
		return relocate_code(bytes + off, type, value, has_addend);
	relocate_data(bytes + off, half, value, has_addend);
	return true;
}

/* The code of a section; NULL: it has none. */
static struct wsi_text *section_text_of(const struct ws_sim *sim, const struct wsi_module *module,
					uint32_t section)
{
	if (module->n_texts == 0)
		return NULL;
	struct wsi_text *own = sim->texts + module->first_text;
	uint32_t at = WSI_BISECT(i, 0u, module->n_texts, own[i].section < section);
	return at < module->n_texts && own[at].section == section ? &own[at] : NULL;
}

/* A device that checks knows which instruction has which address. False: no memory. */
static bool note_address(const struct loading *l, uint32_t section, uint64_t off, uint64_t address)
{
	const struct wsi_text *text =
		l->sim->check ? section_text_of(l->sim, l->module, section) : NULL;
	return !text || wsi_check_name(l->sim->check,
				       text->start + off / WS_SASS_BYTES * WS_SASS_BYTES, address);
}

/* `partly`: what cannot be relocated stays as it is. */
static enum ws_status relocate_section(struct loading *l, const struct wsi_shdr *table, bool partly)
{
	bool rela = table->type == WSI_SHT_RELA;
	size_t entry = rela ? WSI_RELA_BYTES : WSI_REL_BYTES;
	struct wsi_shdr target = wsi_elf_shdr(&l->elf, table->info);
	struct ws_span relocs, bytes;
	if (!wsi_elf_bytes(&l->elf, table, &relocs) || !wsi_elf_bytes(&l->elf, &target, &bytes))
		return partly ? WS_OK
			      : BAD_IMAGE(l->err, WS_TRUNCATED, table->offset,
					  "relocations are cut");
	if (relocs.len > l->relocs_left)
		return BAD_IMAGE(l->err, WS_MALFORMED, table->offset,
				 "tables of relocations overlap");
	l->relocs_left -= relocs.len;
	for (size_t i = 0; i + entry <= relocs.len; i += entry) {
		uint64_t off = wsi_at_u64(relocs, i), info = wsi_at_u64(relocs, i + 8), value;
		uint32_t type = (uint32_t)info;
		struct ws_str name;
		bool known = symbol_address(l, (uint32_t)(info >> 32), &value, &name);
		if (!known && partly)
			continue;
		if (!known)
			return BAD_IMAGE(l->err, WS_UNSUPPORTED, table->offset + i,
					 "undefined symbol '%.*s'", (int)name.len, name.ptr);
		if (!note_address(l, table->info, off, value))
			return wsi_cuda_no_memory(l->err);
		if (rela)
			value += wsi_at_u64(relocs, i + 16);
		size_t at = bytes.len ? (size_t)(bytes.ptr - l->elf.file.mapped.ptr) : 0;
		uint8_t *to = l->module->image + at;
		if (!relocate_word(to, bytes.len, off, type, value, rela) && !partly)
			return BAD_IMAGE(l->err, WS_UNSUPPORTED, table->offset + i,
					 "relocation of type %u at "
					 "0x%" PRIx64 " of section %u",
					 type, off, table->info);
	}
	return WS_OK;
}

/* Whether a section is debug information: debuggers need it relocated, nothing else does. */
static bool is_debug(const struct loading *l, uint32_t index)
{
	struct wsi_shdr shdr = wsi_elf_shdr(&l->elf, index);
	char head[WSI_NAME_HEAD];
	wsi_elf_name_head(&l->elf, &shdr, head);
	struct ws_str name = ws_str_of(head);
	return wsi_str_begins(name, ".debug_") || wsi_str_begins(name, ".nv_debug_line_sass");
}

/* Relocations of what was loaded, and of debug information as far as they are understood. */
static enum ws_status relocate_all(struct loading *l)
{
	enum ws_status st = WS_OK;
	l->relocs_left = l->elf.file.size;
	for (uint32_t i = 1; i < l->module->n_sections && st == WS_OK; i++) {
		struct wsi_shdr shdr = wsi_elf_shdr(&l->elf, i);
		if ((shdr.type != WSI_SHT_REL && shdr.type != WSI_SHT_RELA) || shdr.info == 0 ||
		    shdr.info >= l->module->n_sections)
			continue;
		if (l->module->address[shdr.info] != 0)
			st = relocate_section(l, &shdr, false);
		else if (is_debug(l, shdr.info))
			st = relocate_section(l, &shdr, true);
	}
	return st;
}

static void store_address(struct wsi_module *module, const struct wsi_elf *elf, uint32_t section)
{
	uint64_t at = elf->shoff + (uint64_t)section * elf->shentsize;
	wsi_store_u64(module->image + at + WSI_SH_ADDR, module->address[section]);
}

static void store_symbol(struct wsi_module *module, const struct wsi_elf *elf,
			 struct ws_span symtab, uint64_t i)
{
	struct wsi_sym sym = wsi_elf_sym(symtab, i);
	uint64_t at = (uint64_t)(symtab.ptr - elf->file.mapped.ptr) + i * WSI_SYM_BYTES;
	wsi_store_u64(module->image + at + 8, sym.value + module->address[sym.shndx]);
}

/* Whether a section has an address: code of a module that is being loaded may not have it yet. */
static bool is_section_there(const struct loading *l, uint32_t section)
{
	if (section == 0 || section >= l->module->n_sections || l->module->address[section] == 0)
		return false;
	const struct wsi_text *text = section_text_of(l->sim, l->module, section);
	return !text || text->is_loaded;
}

/* Addresses into section headers and symbols of the image, of all that is loaded with it. */
static void write_addresses(struct loading *l)
{
	for (uint32_t i = 1; i < l->module->n_sections; i++)
		if (is_section_there(l, i))
			store_address(l->module, &l->elf, i);
	for (uint64_t i = 0; i < l->symtab.len / WSI_SYM_BYTES; i++)
		if (is_section_there(l, wsi_elf_sym(l->symtab, i).shndx))
			store_symbol(l->module, &l->elf, l->symtab, i);
	l->module->n_shown = l->module->n_loaded;
}

static enum ws_status fill_memory(struct loading *l)
{
	enum ws_status st = WS_OK;
	for (uint32_t i = 1; i < l->module->n_sections && st == WS_OK; i++) {
		struct wsi_shdr shdr = wsi_elf_shdr(&l->elf, i);
		struct ws_span bytes;
		if (l->module->address[i] == 0 || shdr.flags & WSI_SHF_EXECINSTR ||
		    !wsi_elf_bytes(&l->elf, &shdr, &bytes) || bytes.len == 0)
			continue;
		st = wsi_memory_copy_in(&l->sim->memory, l->module->address[i], bytes.ptr,
					bytes.len, l->err);
	}
	return st;
}

/* ---- code that is loaded ---- */

static void sections_destroy(struct wsi_sections *sections)
{
	if (!sections)
		return;
	wsi_free(sections->table);
	wsi_free(sections->next_table);
	wsi_free(sections->symbol);
	wsi_free(sections->next_symbol);
	wsi_free(sections);
}

static struct wsi_sections *sections_create(size_t n, size_t n_symbols)
{
	struct wsi_sections *made = wsi_zalloc(sizeof *made);
	if (!made)
		return NULL;
	made->table = wsi_zalloc_array(n + 1, sizeof *made->table);
	made->next_table = wsi_zalloc_array(n + 1, sizeof *made->next_table);
	made->symbol = wsi_zalloc_array(n + 1, sizeof *made->symbol);
	made->next_symbol = wsi_zalloc_array(n_symbols + 1, sizeof *made->next_symbol);
	if (made->table && made->next_table && made->symbol && made->next_symbol)
		return made;
	sections_destroy(made);
	return NULL;
}

/* Finds what belongs to each section of a module, where that will be asked. */
static enum ws_status sections_find(struct loading *l)
{
	const struct ws_sim_options *options = &l->sim->options;
	size_t n = l->module->n_sections, n_symbols = l->symtab.len / WSI_SYM_BYTES;
	if (!options->lazy && !options->managed)
		return WS_OK;
	if (!module_takes(l->sim, l->module, "the functions of an image",
			  sizeof *l->module->sections +
				  (3 * (n + 1) + n_symbols + 1) * sizeof(uint32_t)))
		return wsi_account_fail(&l->sim->account, l->err);
	struct wsi_sections *of = l->module->sections = sections_create(n, n_symbols);
	if (!of)
		return wsi_cuda_fail(l->err, WS_CUDA_ERROR_OUT_OF_MEMORY, "functions");
	of->elf = l->elf;
	of->symtab = l->symtab;
	for (uint32_t i = 1; i < n; i++) {
		struct wsi_shdr shdr = wsi_elf_shdr(&l->elf, i);
		if ((shdr.type != WSI_SHT_REL && shdr.type != WSI_SHT_RELA) || shdr.info >= n)
			continue;
		of->next_table[i] = of->table[shdr.info];
		of->table[shdr.info] = i;
	}
	for (uint32_t i = 0; i < n_symbols; i++) {
		uint32_t section = wsi_elf_sym(l->symtab, i).shndx;
		if (section >= n)
			continue;
		of->next_symbol[i + 1] = of->symbol[section];
		of->symbol[section] = i + 1;
	}
	return WS_OK;
}

static void add_code(struct ws_sim *sim, struct wsi_module *module, uint32_t section)
{
	struct wsi_text *text = section_text_of(sim, module, section);
	if (!text || text->is_loaded)
		return;
	text->is_loaded = true;
	module->loaded[module->n_loaded++] = section;
}

/* Adds the functions that a section names. */
static void add_named(struct ws_sim *sim, struct wsi_module *module, uint32_t section)
{
	const struct wsi_sections *of = module->sections;
	for (uint32_t i = of->table[section]; i != 0; i = of->next_table[i]) {
		struct wsi_shdr table = wsi_elf_shdr(&of->elf, i);
		size_t entry = table.type == WSI_SHT_RELA ? WSI_RELA_BYTES : WSI_REL_BYTES;
		struct ws_span relocs;
		if (!wsi_elf_bytes(&of->elf, &table, &relocs))
			continue;
		for (size_t at = 0; at + entry <= relocs.len; at += entry) {
			uint64_t symbol = wsi_at_u64(relocs, at + 8) >> 32;
			if (symbol < of->symtab.len / WSI_SYM_BYTES)
				add_code(sim, module, wsi_elf_sym(of->symtab, symbol).shndx);
		}
	}
}

/* Adds what the functions from the `first` loaded one on name, and what these do. */
static void add_all_named(struct ws_sim *sim, struct wsi_module *module, uint32_t first)
{
	for (uint32_t i = first; i < module->n_loaded; i++)
		add_named(sim, module, module->loaded[i]);
}

/* What is loaded with the module: variables, the functions that they name, or all functions. */
static void load_first(struct loading *l)
{
	struct wsi_module *module = l->module;
	for (uint32_t i = 1; i < module->n_sections; i++) {
		bool is_code = section_text_of(l->sim, module, i) != NULL;
		if (is_code && !l->sim->options.lazy)
			add_code(l->sim, module, i);
		else if (!is_code && l->sim->options.lazy && module->address[i] != 0)
			add_named(l->sim, module, i);
	}
	if (l->sim->options.lazy)
		add_all_named(l->sim, module, 0);
	write_addresses(l);
}

/* ---- images ---- */

static void module_fini(struct wsi_module *module)
{
	ws_cubin_close(module->cubin);
	sections_destroy(module->sections);
	wsi_free(module->original);
	wsi_free(module->image);
	wsi_free(module->address);
	wsi_free(module->loaded);
	*module = (struct wsi_module){ .n_sections = 0 };
}

void wsi_loader_fini(struct ws_sim *sim)
{
	for (size_t i = 0; i < sim->n_texts; i++) {
		struct wsi_text *text = &sim->texts[i];
		for (uint64_t k = 0; k <= text->size / WS_SASS_BYTES / WSI_OPS_CHUNK; k++)
			wsi_free(text->chunks[k]);
		wsi_free(text->chunks);
	}
	wsi_free(sim->texts);
	for (size_t i = 0; i < sim->n_modules; i++)
		module_fini(&sim->modules[i]);
	wsi_free(sim->modules);
}

static enum ws_status module_open(struct ws_sim *sim, struct ws_span image,
				  struct wsi_module *module, struct ws_error *err)
{
	if (!module_takes(sim, module, "an image and its relocated copy", 2 * (uint64_t)image.len))
		return wsi_account_fail(&sim->account, err);
	module->original = wsi_zalloc(image.len);
	module->image = wsi_zalloc(image.len);
	if (!module->original || !module->image)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_OUT_OF_MEMORY, "image");
	memcpy(module->original, image.ptr, image.len);
	memcpy(module->image, image.ptr, image.len);
	module->image_bytes = image.len;
	enum ws_status st = ws_cubin_open((struct ws_span){ module->original, image.len, 0 },
					  &module->cubin, err);
	if (st != WS_OK)
		return wsi_cuda_context(err, st, WS_CUDA_ERROR_INVALID_IMAGE);
	struct ws_cubin_facts facts;
	ws_cubin_facts(module->cubin, &facts);
	if (facts.sm / 10 != sim->device->sm / 10 || facts.sm > sim->device->sm)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_NO_BINARY_FOR_GPU,
				     "an image for sm_%u on %s", facts.sm, sim->device->name);
	if (facts.relocatable)
		return BAD_IMAGE(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				 "an object that is not linked yet");
	module->n_sections = ws_cubin_n_sections(module->cubin);
	module->first_text = sim->n_texts;
	if (!module_takes(sim, module, "the sections of an image",
			  (module->n_sections + UINT64_C(1)) *
				  (sizeof *module->address + sizeof *module->loaded)))
		return wsi_account_fail(&sim->account, err);
	module->address = wsi_zalloc_array(module->n_sections + 1u, sizeof *module->address);
	module->loaded = wsi_zalloc_array(module->n_sections + 1u, sizeof *module->loaded);
	if (!module->address || !module->loaded)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_OUT_OF_MEMORY, "image");
	return WS_OK;
}

/* The image's tables. */
static enum ws_status module_read(struct loading *l)
{
	enum ws_status st = wsi_elf_open(
		(struct ws_span){ l->module->image, l->module->image_bytes, 0 }, &l->elf, l->err);
	if (st != WS_OK)
		return st;
	for (uint32_t i = 1; i < l->module->n_sections; i++) {
		struct wsi_shdr shdr = wsi_elf_shdr(&l->elf, i);
		if (shdr.type != WSI_SHT_SYMTAB || l->symtab.len != 0)
			continue;
		wsi_elf_bytes(&l->elf, &shdr, &l->symtab);
		if (shdr.link < l->module->n_sections) {
			struct wsi_shdr names = wsi_elf_shdr(&l->elf, shdr.link);
			wsi_elf_bytes(&l->elf, &names, &l->names);
		}
	}
	return WS_OK;
}

static enum ws_status module_place(struct loading *l)
{
	enum ws_status st = module_read(l);
	if (st == WS_OK)
		st = sections_find(l);
	if (st == WS_OK)
		st = place_sections(l);
	if (st == WS_OK)
		st = relocate_all(l);
	if (st == WS_OK)
		st = fill_memory(l);
	if (st == WS_OK)
		load_first(l);
	return st;
}

/* Takes back what a module that failed to load has placed. */
static void module_undo(struct ws_sim *sim, struct wsi_module *module, size_t n_texts)
{
	while (sim->n_texts > n_texts)
		wsi_free(sim->texts[--sim->n_texts].chunks);
	for (uint32_t i = 1; module->address && i < module->n_sections; i++) {
		struct wsi_region *region = wsi_memory_find(&sim->memory, module->address[i]);
		if (module->address[i] != 0 && region)
			wsi_memory_remove(&sim->memory, region);
	}
	sim->account.fixed -= module->taken;
	module_fini(module);
}

static enum ws_status load_cubin(struct ws_sim *sim, struct ws_span image, uint32_t *ret_module,
				 struct ws_error *err)
{
	size_t n_texts = sim->n_texts, n_named = sim->check ? sim->check->n_named : 0;
	if (!wsi_grow(&sim->modules, &sim->cap_modules, sim->n_modules, sizeof *sim->modules,
		      MAX_MODULES))
		return wsi_cuda_no_memory(err);
	struct loading l = { .sim = sim, .module = &sim->modules[sim->n_modules], .err = err };
	*l.module = (struct wsi_module){ .n_sections = 0 };
	enum ws_status st = module_open(sim, image, l.module, err);
	if (st == WS_OK)
		st = module_place(&l);
	if (st == WS_OK && sim->check)
		st = wsi_check_module(sim->check, l.module, err);
	if (st != WS_OK) {
		module_undo(sim, l.module, n_texts);
		if (sim->check)
			sim->check->n_named = n_named;
		return st;
	}
	if (ret_module)
		*ret_module = (uint32_t)sim->n_modules;
	sim->n_modules++;
	return WS_OK;
}

/* How well an image suits a device; 0: not at all. */
static uint32_t suits(const struct ws_image_entry *entry, const struct wsi_device *device)
{
	bool same = entry->sm / 10 == device->sm / 10 && entry->sm <= device->sm;
	return entry->kind == WS_IMAGE_CUBIN && !entry->relocatable && same ? entry->sm : 0;
}

/* Names the architectures that there is code for. */
static enum ws_status no_image(const struct ws_image_file *file, const struct wsi_device *device,
			       struct ws_error *err)
{
	char names[120] = "";
	size_t len = 0, n = ws_image_file_count(file);
	for (size_t i = 0; i < n && len + 20 < sizeof names; i++) {
		const struct ws_image_entry *entry = ws_image_file_at(file, i);
		const char *what = entry->kind == WS_IMAGE_PTX ? "compute" : "sm";
		char name[20];
		int n_name = snprintf(name, sizeof name, "%s_%u", what, entry->sm);
		const char *before = strstr(names, name);
		bool is_named = before && (before[n_name] == ',' || before[n_name] == '\0');
		if (entry->sm != 0 && !is_named)
			len += (size_t)snprintf(names + len, sizeof names - len, "%s%s",
						len ? ", " : "", name);
	}
	return wsi_cuda_fail(err, WS_CUDA_ERROR_NO_BINARY_FOR_GPU,
			     "no image for %s; there is code for %s", device->name,
			     len ? names : "none");
}

static bool is_cubin(struct ws_span image)
{
	struct wsi_elf elf;
	return wsi_elf_open(image, &elf, NULL) == WS_OK && elf.machine == WSI_EM_CUDA;
}

enum ws_status ws_sim_load(struct ws_sim *sim, struct ws_span image, uint32_t *ret_module,
			   struct ws_error *err)
{
	sim->host_changes++;
	if (is_cubin(image))
		return load_cubin(sim, image, ret_module, err);
	struct ws_image_file *file;
	enum ws_status st = ws_image_file_open_memory(image, &file, err);
	if (st != WS_OK)
		return wsi_cuda_context(err, st, WS_CUDA_ERROR_INVALID_IMAGE);
	uint32_t score = 0, module;
	size_t n = ws_image_file_count(file);
	for (size_t i = 0; i < n; i++)
		score = (uint32_t)wsi_max_u64(score, suits(ws_image_file_at(file, i), sim->device));
	if (score == 0)
		st = no_image(file, sim->device, err);
	for (size_t i = 0, loaded = 0; i < n && st == WS_OK; i++) {
		struct ws_span bytes;
		if (suits(ws_image_file_at(file, i), sim->device) != score)
			continue;
		st = wsi_cuda_context(err, ws_image_file_bytes(file, i, &bytes, err),
				      WS_CUDA_ERROR_INVALID_IMAGE);
		if (st == WS_OK)
			st = load_cubin(sim, bytes, &module, err);
		if (st == WS_OK && loaded++ == 0 && ret_module)
			*ret_module = module;
	}
	ws_image_file_close(file);
	return st;
}

/* ---- functions that are loaded later ---- */

/* What was added from the `first` loaded one on has come. */
static void load_later(struct ws_sim *sim, struct wsi_module *module, uint32_t first)
{
	add_all_named(sim, module, first);
	sim->n_loads++;
	sim->host_changes++;
	if (!sim->debug)
		wsi_show_code(sim); /* else readers may have the image: they show it */
}

void wsi_show_code(struct ws_sim *sim)
{
	for (size_t i = 0; i < sim->n_modules; i++) {
		struct wsi_module *module = &sim->modules[i];
		const struct wsi_sections *of = module->sections;
		while (module->n_shown < module->n_loaded) {
			uint32_t section = module->loaded[module->n_shown++];
			store_address(module, &of->elf, section);
			for (uint32_t k = of->symbol[section]; k != 0; k = of->next_symbol[k])
				store_symbol(module, &of->elf, of->symtab, k - 1);
		}
	}
}

void wsi_load_code(struct ws_sim *sim, uint32_t module, uint32_t section)
{
	struct wsi_module *of = &sim->modules[module];
	uint32_t first = of->n_loaded;
	add_code(sim, of, section);
	if (of->n_loaded > first)
		load_later(sim, of, first);
}

void wsi_load_all_code(struct ws_sim *sim)
{
	for (size_t i = 0; i < sim->n_modules; i++) {
		struct wsi_module *module = &sim->modules[i];
		uint32_t first = module->n_loaded;
		for (uint32_t k = 0; k < module->n_texts; k++)
			add_code(sim, module, sim->texts[module->first_text + k].section);
		if (module->n_loaded > first)
			load_later(sim, module, first);
	}
}

/* The section of a function of a module, by its name. */
static enum ws_status section_of(const struct ws_sim *sim, uint32_t module, const char *name,
				 uint32_t *ret_section, struct ws_error *err)
{
	const struct ws_function *function;
	if (module >= sim->n_modules)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_HANDLE, "no module %u", module);
	const struct wsi_module *of = &sim->modules[module];
	if (ws_cubin_find_function(of->cubin, ws_str_of(name), &function, NULL) != WS_OK ||
	    !section_text_of(sim, of, function->section))
		return wsi_cuda_fail(err, WS_CUDA_ERROR_NOT_FOUND, "no function '%.80s'", name);
	*ret_section = function->section;
	return WS_OK;
}

enum ws_status ws_sim_load_function(struct ws_sim *sim, uint32_t module, const char *name,
				    struct ws_error *err)
{
	uint32_t section;
	enum ws_status st = section_of(sim, module, name, &section, err);
	if (st == WS_OK)
		wsi_load_code(sim, module, section);
	return st;
}

enum ws_status ws_sim_function_is_loaded(const struct ws_sim *sim, uint32_t module,
					 const char *name, bool *ret_is_loaded,
					 struct ws_error *err)
{
	uint32_t section;
	enum ws_status st = section_of(sim, module, name, &section, err);
	if (st == WS_OK)
		*ret_is_loaded = section_text_of(sim, &sim->modules[module], section)->is_loaded;
	return st;
}

enum ws_status ws_sim_module_image(const struct ws_sim *sim, uint32_t module,
				   struct ws_span *ret_image, struct ws_error *err)
{
	if (module >= sim->n_modules)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_HANDLE, "no module %u", module);
	const struct wsi_module *m = &sim->modules[module];
	*ret_image = (struct ws_span){ m->image, m->image_bytes, 0 };
	return WS_OK;
}

enum ws_status ws_sim_symbol(struct ws_sim *sim, uint32_t module, const char *name,
			     uint64_t *ret_address, uint64_t *ret_bytes, struct ws_error *err)
{
	const struct ws_variable *variables;
	size_t n;
	if (module >= sim->n_modules)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_HANDLE, "no module %u", module);
	const struct wsi_module *m = &sim->modules[module];
	enum ws_status st = ws_cubin_variables(m->cubin, &variables, &n, err);
	if (st != WS_OK)
		return wsi_cuda_context(err, st, WS_CUDA_ERROR_INVALID_IMAGE);
	for (size_t i = 0; i < n; i++) {
		const struct ws_variable *v = &variables[i];
		if (v->section >= m->n_sections || m->address[v->section] == 0 ||
		    !ws_str_equal(v->name, ws_str_of(name)))
			continue;
		*ret_address = m->address[v->section] + v->offset;
		*ret_bytes = v->size_bytes;
		return WS_OK;
	}
	return wsi_cuda_fail(err, WS_CUDA_ERROR_NOT_FOUND, "no variable '%.80s'", name);
}
