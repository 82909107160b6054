/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a cubin: what is in which section, and whether the image has device addresses.
 *
 * Relocated images. A dump keeps the image that the driver made of a cubin: sections and symbols
 * have device addresses [public doc: cuda-gdb's handling of coredumps takes st_value as one].
 * Whether sh_addr is set as well, and whether st_value stays relative then, is not documented; all
 * three forms are read by evidence:
 *
 *   sh_addr   value of the owner's symbol    the code section is at
 *   0         0                              nowhere: not relocated
 *   0         A                              A (the owner starts its section)
 *   A         A + x, or x                    A
 *
 * sh_info of a code section names its owner's symbol in the low 24 bits; without one the lowest
 * function symbol of the section stands in. The choice is made for each section by itself.
 */
#include "cubin/internal.h"

/* Remembers the first damage. */
static void cubin_note(struct ws_cubin *cubin, const struct ws_error *err)
{
	if (!cubin->damaged)
		cubin->damage = *err;
	cubin->damaged = true;
}

struct ws_span wsi_cubin_bytes(const struct ws_cubin *cubin, uint32_t index)
{
	struct ws_span bytes = { 0 };
	if (index != 0) {
		struct wsi_shdr shdr = wsi_cubin_shdr(cubin, index);
		(void)wsi_elf_bytes(&cubin->elf, &shdr, &bytes);
	}
	return bytes;
}

struct wsi_cubin_code *wsi_cubin_code_of(const struct ws_cubin *cubin, uint32_t section)
{
	uint32_t low = WSI_BISECT(i, (uint32_t)0, cubin->n_code, cubin->code[i].section < section);
	if (low == cubin->n_code || cubin->code[low].section != section)
		return NULL;
	return &cubin->code[low];
}

uint32_t wsi_cubin_symbol_section(const struct ws_cubin *cubin, const struct wsi_sym *sym,
				  uint32_t index)
{
	uint64_t section = sym->shndx;
	if (section == WSI_SHN_XINDEX) {
		struct ws_span escapes = wsi_cubin_bytes(cubin, cubin->symtab_shndx);
		section = index < escapes.len / 4 ? wsi_at_u32(escapes, 4 * (uint64_t)index) : 0;
	} else if (section >= 0xff00) { /* SHN_ABS, SHN_COMMON and the like */
		section = 0;
	}
	return section < cubin->n_sections ? (uint32_t)section : 0;
}

uint64_t wsi_cubin_symbol_off(const struct ws_cubin *cubin, const struct wsi_sym *sym,
			      uint32_t section)
{
	const struct wsi_cubin_code *code = wsi_cubin_code_of(cubin, section);
	struct wsi_shdr shdr = wsi_cubin_shdr(cubin, section);
	uint64_t base = code ? code->gpu_va : shdr.addr;
	if (base != 0 && sym->value >= base && sym->value - base <= shdr.size)
		return sym->value - base;
	return sym->value;
}

size_t wsi_cubin_n_relocs(const struct ws_cubin *cubin, uint32_t reloc_section)
{
	if (reloc_section == 0)
		return 0;
	struct wsi_shdr shdr = wsi_cubin_shdr(cubin, reloc_section);
	size_t stride = shdr.type == WSI_SHT_RELA ? WSI_RELA_BYTES : WSI_REL_BYTES;
	return wsi_cubin_bytes(cubin, reloc_section).len / stride;
}

struct wsi_reloc wsi_cubin_reloc(const struct ws_cubin *cubin, uint32_t reloc_section, size_t index)
{
	bool has_addend = wsi_cubin_shdr(cubin, reloc_section).type == WSI_SHT_RELA;
	struct ws_span bytes = wsi_cubin_bytes(cubin, reloc_section);
	uint64_t off = (uint64_t)index * (has_addend ? WSI_RELA_BYTES : WSI_REL_BYTES);
	return (struct wsi_reloc){
		.off = wsi_at_u64(bytes, off),
		.type = wsi_at_u32(bytes, off + 8),
		.symbol = wsi_at_u32(bytes, off + 12),
		.addend = has_addend ? (int64_t)wsi_at_u64(bytes, off + 16) : 0,
		.has_addend = has_addend,
	};
}

/* ---- opening ---- */

static bool is_code(const struct wsi_shdr *shdr)
{
	return shdr->type == WSI_SHT_PROGBITS && (shdr->flags & WSI_SHF_EXECINSTR);
}

/* Sections that are found by name. The first of a name counts. */
static void section_name_note(struct ws_cubin *cubin, const char *name, uint32_t index)
{
	const struct {
		const char *name;
		uint32_t *section;
	} wanted[] = {
		{ ".debug_line", &cubin->debug_line },
		{ ".debug_str", &cubin->debug_str },
		{ ".debug_info", &cubin->debug_info },
		{ ".debug_abbrev", &cubin->debug_abbrev },
		{ ".debug_loc", &cubin->debug_loc },
		{ ".debug_frame", &cubin->debug_frame },
		{ ".nv_debug_info_reg_sass", &cubin->reg_sass },
		{ ".nv_debug_info_reg_type", &cubin->reg_type },
		{ ".nv_debug_line_sass", &cubin->line_sass },
		{ ".note.nv.tkinfo", &cubin->tkinfo },
		{ ".note.nv.cuinfo", &cubin->cuinfo },
		{ ".nv.info", &cubin->nv_info },
	};
	if (name[0] != '.' || (name[1] != 'd' && name[1] != 'n'))
		return;
	for (size_t i = 0; i < WSI_COUNT(wanted); i++) {
		if (*wanted[i].section == 0 && strcmp(name, wanted[i].name) == 0)
			*wanted[i].section = index;
	}
	if (strncmp(name, WSI_PTX_SECTION, sizeof WSI_PTX_SECTION - 1) == 0)
		cubin->n_ptx++;
}

/* First pass: how much code there is, and where the rest is. */
static void cubin_sections_scan(struct ws_cubin *cubin)
{
	char name[WSI_NAME_HEAD];
	for (uint32_t i = 1; i < cubin->n_sections; i++) {
		struct wsi_shdr shdr = wsi_cubin_shdr(cubin, i);
		wsi_elf_name_head(&cubin->elf, &shdr, name);
		if (is_code(&shdr))
			cubin->n_code++;
		else if (shdr.type == WSI_SHT_SYMTAB && cubin->symtab == 0)
			cubin->symtab = i;
		else if (shdr.type == WSI_SHT_SYMTAB_SHNDX && cubin->symtab_shndx == 0)
			cubin->symtab_shndx = i;
		else
			section_name_note(cubin, name, i);
		struct ws_span bytes;
		if (!wsi_elf_bytes(&cubin->elf, &shdr, &bytes) && !cubin->damaged) {
			struct ws_error err;
			wsi_fail(&err, WS_TRUNCATED, bytes.origin + bytes.len,
				 "section %" PRIu32 " of the image needs %" PRIu64
				 " bytes, has %zu",
				 i, shdr.size, bytes.len);
			cubin_note(cubin, &err);
		}
	}
}

/* Second pass: the code sections and what belongs to them. */
static void code_scan(struct ws_cubin *cubin)
{
	uint32_t n = 0;
	for (uint32_t i = 1; i < cubin->n_sections; i++) {
		struct wsi_shdr shdr = wsi_cubin_shdr(cubin, i);
		if (is_code(&shdr))
			cubin->code[n++] = (struct wsi_cubin_code){
				.section = i,
				.owner_symbol = shdr.info & 0xffffff,
				.owner = WS_UNKNOWN,
				.gpu_va = shdr.addr,
				.size_bytes = shdr.size,
			};
	}
	assert(n == cubin->n_code);
	uint64_t total = 0;
	for (uint32_t i = 0; i < n; i++)
		total = wsi_add_sat(total, cubin->code[i].size_bytes);
	cubin->code_overlaps = total > cubin->image.len;
	for (uint32_t i = 1; i < cubin->n_sections; i++) {
		struct wsi_shdr shdr = wsi_cubin_shdr(cubin, i);
		struct wsi_cubin_code *code = wsi_cubin_code_of(cubin, shdr.info);
		if (!code)
			continue;
		if (shdr.type == WSI_SHT_NV_INFO)
			code->info_section = i;
		else if (shdr.type == WSI_SHT_REL)
			code->rel_section = i;
		else if (shdr.type == WSI_SHT_RELA)
			code->rela_section = i;
		else if (shdr.type == WSI_SHT_NOBITS || shdr.type == WSI_SHT_NV_SHARED_REL)
			code->shared_section = i; /* .nv.shared.F */
	}
}

/* Symbols that decide where code sections without sh_addr are. */
static void code_addresses(struct ws_cubin *cubin)
{
	struct ws_span symtab = wsi_cubin_bytes(cubin, cubin->symtab);
	uint64_t n_symbols = symtab.len / WSI_SYM_BYTES;
	bool orphans = false;
	for (uint32_t i = 0; i < cubin->n_code; i++) {
		struct wsi_cubin_code *code = &cubin->code[i];
		if (code->owner_symbol < n_symbols) {
			struct wsi_sym sym = wsi_elf_sym(symtab, code->owner_symbol);
			if ((sym.info & 15) == WSI_STT_FUNC &&
			    wsi_cubin_symbol_section(cubin, &sym, code->owner_symbol) ==
				    code->section) {
				if (code->gpu_va == 0)
					code->gpu_va = sym.value;
				continue;
			}
		}
		code->owner_symbol = WS_UNKNOWN;
		orphans |= code->gpu_va == 0;
	}
	if (!orphans)
		return;
	for (uint64_t i = 1; i < n_symbols; i++) {
		struct wsi_sym sym = wsi_elf_sym(symtab, i);
		if ((sym.info & 15) != WSI_STT_FUNC)
			continue;
		struct wsi_cubin_code *code = wsi_cubin_code_of(
			cubin, wsi_cubin_symbol_section(cubin, &sym, (uint32_t)i));
		/* a value inside the section's size may as well be an offset */
		if (code && code->owner_symbol == WS_UNKNOWN && sym.value > code->size_bytes &&
		    (code->gpu_va == 0 || sym.value < code->gpu_va) &&
		    wsi_cubin_shdr(cubin, code->section).addr == 0)
			code->gpu_va = sym.value;
	}
}

static enum ws_status elf_check(struct ws_span image, struct wsi_elf *ret_elf, struct ws_error *err)
{
	enum ws_status st = wsi_elf_open(image, ret_elf, err);
	if (st != WS_OK)
		return st;
	if (ret_elf->machine != WSI_EM_CUDA)
		return wsi_fail(err, WS_UNSUPPORTED, image.origin + 18,
				"an ELF file for machine %u, not GPU code", ret_elf->machine);
	if (ret_elf->type == WSI_ET_CORE)
		return wsi_fail(err, WS_UNSUPPORTED, image.origin + 16,
				"a GPU core dump, not a cubin");
	return WS_OK;
}

WSI_DEFINE_SCOPED(struct ws_cubin, ws_cubin_close);

enum ws_status ws_cubin_open(struct ws_span image, struct ws_cubin **ret_cubin,
			     struct ws_error *err)
{
	struct wsi_elf elf;
	enum ws_status st = elf_check(image, &elf, err);
	if (st != WS_OK)
		return st;
	wsi_scoped(ws_cubin_close) struct ws_cubin *cubin = NULL;
	struct ws_cubin *opened = wsi_zalloc(sizeof *opened);
	if (!opened || pthread_mutex_init(&opened->lock, NULL) != 0) {
		wsi_free(opened);
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a module");
	}
	cubin = opened;
	cubin->image = image;
	cubin->elf = elf;
	cubin->n_sections = (uint32_t)wsi_min_u64(elf.n_present, UINT32_MAX);
	if (elf.n_present < elf.n_sections || (elf.shoff != 0 && elf.n_present == 0)) {
		struct ws_error damage;
		wsi_fail(&damage, WS_TRUNCATED, image.origin + image.len,
			 "the image is cut: %" PRIu64 " of %" PRIu64 " section headers are there",
			 elf.n_present, elf.n_sections);
		cubin_note(cubin, &damage);
	}
	cubin_sections_scan(cubin);
	cubin->code = wsi_zalloc_array(cubin->n_code, sizeof *cubin->code);
	if (!cubin->code)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "%" PRIu32 " code sections",
				cubin->n_code);
	code_scan(cubin);
	code_addresses(cubin);
	for (uint32_t i = 0; i < cubin->n_code; i++)
		cubin->relocated |= cubin->code[i].gpu_va != 0;
	*ret_cubin = WSI_TAKE(cubin);
	return WS_OK;
}

void ws_cubin_close(struct ws_cubin *cubin)
{
	if (!cubin)
		return;
	wsi_cubin_debug_fini(cubin);
	wsi_cubin_lines_fini(cubin);
	wsi_cubin_symbols_fini(cubin);
	wsi_free(cubin->code);
	pthread_mutex_destroy(&cubin->lock);
	wsi_free(cubin);
}

/* ---- what is there ---- */

struct ws_span ws_cubin_image(const struct ws_cubin *cubin)
{
	return cubin->image;
}

uint32_t ws_cubin_n_sections(const struct ws_cubin *cubin)
{
	return cubin->n_sections;
}

enum ws_status ws_cubin_section(const struct ws_cubin *cubin, uint32_t index,
				struct ws_section *ret_section, struct ws_error *err)
{
	if (index >= cubin->n_sections)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "the image has no section %" PRIu32,
				index);
	struct wsi_shdr shdr = wsi_cubin_shdr(cubin, index);
	const struct wsi_cubin_code *code = wsi_cubin_code_of(cubin, index);
	struct ws_section section = {
		.name = wsi_elf_name(&cubin->elf, &shdr),
		.type = shdr.type,
		.link = shdr.link,
		.info = shdr.info,
		.flags = shdr.flags,
		.size = shdr.size,
		.gpu_va = code ? code->gpu_va : shdr.addr,
	};
	section.complete = wsi_elf_bytes(&cubin->elf, &shdr, &section.bytes);
	*ret_section = section;
	return WS_OK;
}

enum ws_status ws_cubin_bytes_at(const struct ws_place *place, struct ws_span *ret_bytes,
				 struct ws_error *err)
{
	struct wsi_shdr shdr = wsi_cubin_shdr(place->cubin, place->section);
	struct ws_span section;
	(void)wsi_elf_bytes(&place->cubin->elf, &shdr, &section);
	if (place->sec_off >= section.len)
		return wsi_fail(err, WS_TRUNCATED, section.origin, "the section is cut off");
	(void)ws_span_sub(section, place->sec_off, section.len - place->sec_off, ret_bytes);
	return WS_OK;
}

enum ws_status ws_cubin_find_section(const struct ws_cubin *cubin, const char *name,
				     uint32_t *ret_index, struct ws_error *err)
{
	uint64_t index = wsi_elf_find(&cubin->elf, name);
	if (index >= cubin->n_sections)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the image has no section %s", name);
	*ret_index = (uint32_t)index;
	return WS_OK;
}

bool ws_cubin_damage(const struct ws_cubin *cubin, struct ws_error *ret_err)
{
	if (cubin->damaged && ret_err)
		*ret_err = cubin->damage;
	return cubin->damaged;
}
