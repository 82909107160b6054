/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/elf.h"

/* Offsets in the ELF header [public doc: System V ABI, chapter 4]. */
enum {
	E_CLASS = 4,
	E_DATA = 5,
	E_OSABI = 7,
	E_ABIVERSION = 8,
	E_TYPE = 16,
	E_MACHINE = 18,
	E_VERSION = 20,
	E_PHOFF = 32,
	E_SHOFF = 40,
	E_FLAGS = 48,
	E_PHNUM = 56,
	E_SHENTSIZE = 58,
	E_SHNUM = 60,
	E_SHSTRNDX = 62,
};

/* `file`: its first bytes. */
static enum ws_status ident_check(struct ws_span file, struct ws_error *err)
{
	static const uint8_t magic[4] = { 0x7f, 'E', 'L', 'F' };
	size_t n_magic = (size_t)wsi_min_u64(file.len, sizeof magic);
	if (n_magic && memcmp(file.ptr, magic, n_magic) != 0)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "not an ELF file");
	if (file.len < WSI_ELF_HEADER_BYTES)
		return wsi_fail(err, WS_TRUNCATED, file.origin + file.len,
				"ELF header needs %d bytes, has %zu", WSI_ELF_HEADER_BYTES,
				file.len);
	uint8_t class = wsi_at_u8(file, E_CLASS), data = wsi_at_u8(file, E_DATA);
	if (class == 1)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"a 32-bit ELF file; only 64-bit ones are read");
	if (class != 2)
		return wsi_fail(err, WS_UNSUPPORTED, file.origin + E_CLASS,
				"ELF class %u is neither 32 nor 64 bit", class);
	if (data == 2)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"a big-endian ELF file; only little-endian ones are read");
	if (data != 1)
		return wsi_fail(err, WS_UNSUPPORTED, file.origin + E_DATA,
				"ELF byte order %u is unknown", data);
	return WS_OK;
}

/* How many whole section headers are inside the file from e_shoff on, at most `limit`. */
static uint64_t headers_present(const struct wsi_elf *elf, uint64_t limit)
{
	if (elf->shoff == 0)
		return 0;
	uint64_t room = elf->file.size - wsi_min_u64(elf->shoff, elf->file.size);
	uint64_t n = room / elf->shentsize;
	/* the last header may lack the padding that makes the stride wider than 64 */
	if (room % elf->shentsize >= WSI_SHDR_BYTES)
		n++;
	return wsi_min_u64(n, limit);
}

/* Section count and name table, with ELF's escapes: the real values are then in section 0. */
static void counts_read(struct wsi_elf *elf, struct ws_span header)
{
	uint16_t shnum = wsi_at_u16(header, E_SHNUM);
	uint16_t shstrndx = wsi_at_u16(header, E_SHSTRNDX);
	elf->n_sections = shnum;
	elf->shstrndx = shstrndx;
	uint8_t scratch[WSI_SHDR_BYTES];
	if (elf->shoff == 0 ||
	    wsi_input_clip(&elf->file, elf->shoff, WSI_SHDR_BYTES).len < WSI_SHDR_BYTES)
		return;
	const uint8_t *at = wsi_input_view(&elf->file, elf->shoff, WSI_SHDR_BYTES, scratch);
	if (!at)
		return;
	struct wsi_shdr zero = wsi_shdr_load(at);
	if (shnum == 0)
		elf->n_sections = zero.size;
	if (shstrndx == WSI_SHN_XINDEX)
		elf->shstrndx = zero.link;
}

/* Where the table of section names is, by its header. */
static void names_find(struct wsi_elf *elf)
{
	uint8_t scratch[WSI_SHDR_BYTES];
	if (elf->shstrndx == 0 || elf->shstrndx >= elf->n_present)
		return;
	const uint8_t *at = wsi_input_view(&elf->file, elf->shoff + elf->shstrndx * elf->shentsize,
					   WSI_SHDR_BYTES, scratch);
	if (!at)
		return;
	struct wsi_shdr names = wsi_shdr_load(at);
	(void)wsi_elf_extent(elf, &names, &elf->names);
}

enum ws_status wsi_elf_open_input(const struct wsi_input *source, struct wsi_elf *ret_elf,
				  struct ws_error *err)
{
	uint8_t scratch[WSI_ELF_HEADER_BYTES];
	size_t n = (size_t)wsi_min_u64(source->size, sizeof scratch);
	struct ws_span file = { n ? wsi_input_view(source, 0, n, scratch) : NULL, n,
				wsi_input_origin(source) };
	if (n && !file.ptr)
		return wsi_fail(err, WS_IO, file.origin, "the ELF header cannot be read");
	enum ws_status st = ident_check(file, err);
	if (st != WS_OK)
		return st;
	struct wsi_elf elf = {
		.file = *source,
		.osabi = wsi_at_u8(file, E_OSABI),
		.abi_version = wsi_at_u8(file, E_ABIVERSION),
		.type = wsi_at_u16(file, E_TYPE),
		.machine = wsi_at_u16(file, E_MACHINE),
		.version = wsi_at_u32(file, E_VERSION),
		.flags = wsi_at_u32(file, E_FLAGS),
		.phoff = wsi_at_u64(file, E_PHOFF),
		.shoff = wsi_at_u64(file, E_SHOFF),
		.phnum = wsi_at_u16(file, E_PHNUM),
		.shentsize = wsi_at_u16(file, E_SHENTSIZE),
	};
	if (elf.shoff != 0 && elf.shentsize < WSI_SHDR_BYTES)
		return wsi_fail(err, WS_MALFORMED, file.origin + E_SHENTSIZE,
				"section headers of %u bytes; they need %d", elf.shentsize,
				WSI_SHDR_BYTES);
	counts_read(&elf, file);
	elf.n_present = headers_present(&elf, elf.n_sections);
	names_find(&elf);
	if (!source->windows) {
		struct wsi_slice headers = wsi_elf_headers(&elf);
		(void)ws_span_sub(source->mapped, headers.off, headers.len, &elf.headers);
		if (elf.names.len > 0)
			(void)ws_span_sub(source->mapped, elf.names.off, elf.names.len,
					  &elf.shstrtab);
	}
	*ret_elf = elf;
	return WS_OK;
}

enum ws_status wsi_elf_open(struct ws_span file, struct wsi_elf *ret_elf, struct ws_error *err)
{
	struct wsi_input source = wsi_input_of(file);
	return wsi_elf_open_input(&source, ret_elf, err);
}

uint64_t wsi_elf_end(const struct wsi_elf *elf)
{
	uint64_t end = wsi_add_sat(elf->shoff, elf->n_sections * elf->shentsize);
	for (uint64_t i = 1; i < elf->n_present; i++) {
		uint8_t scratch[WSI_SHDR_BYTES];
		const uint8_t *at = wsi_input_view(&elf->file, elf->shoff + i * elf->shentsize,
						   WSI_SHDR_BYTES, scratch);
		struct wsi_shdr shdr = at ? wsi_shdr_load(at) : (struct wsi_shdr){ 0 };
		if (shdr.type != WSI_SHT_NOBITS)
			end = wsi_max_u64(end, wsi_add_sat(shdr.offset, shdr.size));
	}
	return end;
}

struct ws_str wsi_elf_name(const struct wsi_elf *elf, const struct wsi_shdr *shdr)
{
	struct ws_str name = { 0 };
	(void)wsi_span_cstr(elf->shstrtab, shdr->name, &name);
	return name;
}

void wsi_elf_name_head(const struct wsi_elf *elf, const struct wsi_shdr *shdr,
		       char ret_head[WSI_NAME_HEAD])
{
	uint64_t off = wsi_min_u64(shdr->name, elf->shstrtab.len);
	size_t room = (size_t)wsi_min_u64(elf->shstrtab.len - off, WSI_NAME_HEAD - 1);
	if (room > 0)
		memcpy(ret_head, elf->shstrtab.ptr + off, room); /* and what follows a short name */
	ret_head[room] = 0;
}

uint64_t wsi_elf_find(const struct wsi_elf *elf, const char *name)
{
	size_t size = strlen(name) + 1; /* with the NUL: compares no more than that of any name */
	for (uint64_t i = 1; i < elf->n_present; i++) {
		struct wsi_shdr shdr = wsi_elf_shdr(elf, i);
		struct ws_span head;
		if (ws_span_sub(elf->shstrtab, shdr.name, size, &head) &&
		    memcmp(head.ptr, name, size) == 0)
			return i;
	}
	return UINT64_MAX;
}

struct wsi_sym wsi_elf_sym(struct ws_span table, uint64_t index)
{
	uint64_t off = index * WSI_SYM_BYTES;
	return (struct wsi_sym){
		.name = wsi_at_u32(table, off),
		.info = wsi_at_u8(table, off + 4),
		.other = wsi_at_u8(table, off + 5),
		.shndx = wsi_at_u16(table, off + 6),
		.value = wsi_at_u64(table, off + 8),
		.size = wsi_at_u64(table, off + 16),
	};
}
