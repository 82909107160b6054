/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded view of a 64-bit little-endian ELF file: nothing is copied, nothing is allocated, no
 * field is trusted. Serves dumps with millions of sections and cubins alike.
 *
 * A file that was cut still opens as long as its first 64 bytes are there: `n_sections` is what the
 * file claims, `n_present` is how many section headers are really inside.
 */
#ifndef WSI_ELF_H
#define WSI_ELF_H

#include <assert.h>

#include "base/base.h"
#include "base/input.h"
#include "base/reader.h"
#include "elf/cubin.h"

enum {
	WSI_ELF_HEADER_BYTES = 64,
	WSI_SHDR_BYTES = 64,
	WSI_SYM_BYTES = 24,
	WSI_REL_BYTES = 16,
	WSI_RELA_BYTES = 24,
};

/* Where the fields of a section header are. */
enum {
	WSI_SH_NAME = 0,
	WSI_SH_TYPE = 4,
	WSI_SH_FLAGS = 8,
	WSI_SH_ADDR = 16,
	WSI_SH_OFFSET = 24,
	WSI_SH_SIZE = 32,
	WSI_SH_LINK = 40,
	WSI_SH_INFO = 44,
	WSI_SH_ALIGN = 48,
	WSI_SH_ENTSIZE = 56,
};

enum {
	WSI_ET_REL = 1,
	WSI_ET_EXEC = 2,
	WSI_ET_DYN = 3,
	WSI_ET_CORE = 4,
	WSI_EM_CUDA = 190,
	WSI_ELFOSABI_CUDA = 0x33,    /* dumps, and cubins of ABI version 7 */
	WSI_ELFOSABI_CUDA_V8 = 0x41, /* cubins of ABI version 8 [measured: nvcc 13.0] */
};

enum {
	WSI_SHT_NULL = 0,
	WSI_SHT_PROGBITS = 1,
	WSI_SHT_SYMTAB = 2,
	WSI_SHT_STRTAB = 3,
	WSI_SHT_RELA = 4,
	WSI_SHT_NOTE = 7,
	WSI_SHT_NOBITS = 8,
	WSI_SHT_REL = 9,
	WSI_SHT_DYNAMIC = 6,
	WSI_SHT_DYNSYM = 11,
	WSI_SHT_SYMTAB_SHNDX = 18,
	WSI_SHN_XINDEX = 0xffff,
};

enum {
	WSI_STT_OBJECT = 1,
	WSI_STT_FUNC = 2,
	WSI_STT_SECTION = 3,
};

struct wsi_elf {
	struct wsi_input file;   /* borrowed */
	struct ws_span headers;  /* the section headers that are inside the file, whole ones only */
	struct wsi_slice names;  /* the table of section names; empty when there is none */
	struct ws_span shstrtab; /* its bytes */
	uint8_t osabi, abi_version;
	uint16_t type, machine;
	uint32_t version, flags;
	uint64_t phoff, shoff;
	uint32_t phnum, shentsize;
	uint64_t n_sections; /* as the file claims, escapes followed */
	uint64_t n_present;  /* section headers that are inside the file */
	uint64_t shstrndx;
};

struct wsi_shdr {
	uint32_t name, type;
	uint64_t flags, addr, offset, size;
	uint32_t link, info;
	uint64_t addralign, entsize;
};

struct wsi_sym {
	uint32_t name;
	uint8_t info, other;
	uint16_t shndx;
	uint64_t value, size;
};

/*
 * Opens the view. WS_TRUNCATED: fewer than 64 bytes. WS_UNSUPPORTED: not ELF, or ELF of another
 * class or byte order (the message says which). WS_MALFORMED: section headers of less than 64 bytes
 * each. A section header table that is outside the file is no failure: `n_present` is then 0 and
 * `n_sections` may be unknown (0).
 */
enum ws_status wsi_elf_open(struct ws_span file, struct wsi_elf *ret_elf,
			    struct ws_error *err) WS_MUST_USE;

/*
 * The same over a source. One that is read in windows has no `headers` and `shstrtab` at hand:
 * whoever needs them holds them. WS_IO: its first bytes cannot be read.
 */
enum ws_status wsi_elf_open_input(const struct wsi_input *file, struct wsi_elf *ret_elf,
				  struct ws_error *err) WS_MUST_USE;

/* The section headers that are inside the file. */
static inline struct wsi_slice wsi_elf_headers(const struct wsi_elf *elf)
{
	return (struct wsi_slice){ elf->n_present ? elf->shoff : 0,
				   elf->n_present
					   ? (elf->n_present - 1) * elf->shentsize + WSI_SHDR_BYTES
					   : 0 };
}

/* WSI_SHDR_BYTES. Inlined: what is not used of a header costs nothing, and opening a dump reads a
 * million. */
static inline __attribute__((always_inline)) struct wsi_shdr wsi_shdr_load(const uint8_t *at)
{
	return (struct wsi_shdr){
		.name = wsi_load_u32(at + WSI_SH_NAME),
		.type = wsi_load_u32(at + WSI_SH_TYPE),
		.flags = wsi_load_u64(at + WSI_SH_FLAGS),
		.addr = wsi_load_u64(at + WSI_SH_ADDR),
		.offset = wsi_load_u64(at + WSI_SH_OFFSET),
		.size = wsi_load_u64(at + WSI_SH_SIZE),
		.link = wsi_load_u32(at + WSI_SH_LINK),
		.info = wsi_load_u32(at + WSI_SH_INFO),
		.addralign = wsi_load_u64(at + WSI_SH_ALIGN),
		.entsize = wsi_load_u64(at + WSI_SH_ENTSIZE),
	};
}

/* Header of a section; `index` must be below n_present. */
static inline __attribute__((always_inline)) struct wsi_shdr wsi_elf_shdr(const struct wsi_elf *elf,
									  uint64_t index)
{
	return wsi_shdr_load(wsi_at(elf->headers, index * elf->shentsize, WSI_SHDR_BYTES));
}

/* The other way. */
static inline void wsi_shdr_store(uint8_t *to, const struct wsi_shdr *shdr)
{
	wsi_store_u32(to + WSI_SH_NAME, shdr->name);
	wsi_store_u32(to + WSI_SH_TYPE, shdr->type);
	wsi_store_u64(to + WSI_SH_FLAGS, shdr->flags);
	wsi_store_u64(to + WSI_SH_ADDR, shdr->addr);
	wsi_store_u64(to + WSI_SH_OFFSET, shdr->offset);
	wsi_store_u64(to + WSI_SH_SIZE, shdr->size);
	wsi_store_u32(to + WSI_SH_LINK, shdr->link);
	wsi_store_u32(to + WSI_SH_INFO, shdr->info);
	wsi_store_u64(to + WSI_SH_ALIGN, shdr->addralign);
	wsi_store_u64(to + WSI_SH_ENTSIZE, shdr->entsize);
}

/* File offset of a section's header. */
static inline uint64_t wsi_elf_shdr_off(const struct wsi_elf *elf, uint64_t index)
{
	return wsi_add_sat(elf->shoff + wsi_input_origin(&elf->file), index * elf->shentsize);
}

/* Where the section headers and the sections of the file end, by the headers that are there. */
uint64_t wsi_elf_end(const struct wsi_elf *elf);

/* Whether a section only takes room once it is loaded: so do variables of a cubin that a linker
 * still places. */
static inline bool wsi_elf_is_empty(const struct wsi_elf *elf, const struct wsi_shdr *shdr)
{
	bool placed_later =
		shdr->type == WSI_SHT_NV_GLOBAL_REL || shdr->type == WSI_SHT_NV_SHARED_REL;
	return shdr->type == WSI_SHT_NOBITS || shdr->size == 0 ||
	       (placed_later && elf->machine == WSI_EM_CUDA && elf->type == WSI_ET_REL);
}

/* Where the bytes of a section are, as far as they are inside the file (WSI_SHT_NOBITS: none).
 * False when some are missing. Inlined: so is the reading of the header. */
static inline bool wsi_elf_extent(const struct wsi_elf *elf, const struct wsi_shdr *shdr,
				  struct wsi_slice *ret_extent)
{
	const bool none = wsi_elf_is_empty(elf, shdr);
	*ret_extent = wsi_input_clip(&elf->file, shdr->offset, none ? 0 : shdr->size);
	return none || ret_extent->len == shdr->size;
}

/* The same bytes, of a file that is at hand. */
static inline bool wsi_elf_bytes(const struct wsi_elf *elf, const struct wsi_shdr *shdr,
				 struct ws_span *ret_bytes)
{
	if (wsi_elf_is_empty(elf, shdr)) {
		*ret_bytes = (struct ws_span){ NULL, 0, elf->file.mapped.origin + shdr->offset };
		return true;
	}
	struct wsi_slice extent = wsi_input_clip(&elf->file, shdr->offset, shdr->size);
	bool inside = ws_span_sub(elf->file.mapped, extent.off, extent.len, ret_bytes);
	assert(inside);
	(void)inside;
	return extent.len == shdr->size;
}

/* Name of a section; empty when its offset is not a terminated string of the name table. */
struct ws_str wsi_elf_name(const struct wsi_elf *elf, const struct wsi_shdr *shdr);

enum { WSI_NAME_HEAD = 40 };

/*
 * The first bytes of a section's name, terminated: enough to tell the names that formats know, in a
 * time that does not depend on how long a hostile name is.
 */
void wsi_elf_name_head(const struct wsi_elf *elf, const struct wsi_shdr *shdr,
		       char ret_head[WSI_NAME_HEAD]);

/* First section of that name, UINT64_MAX when there is none. O(sections). */
uint64_t wsi_elf_find(const struct wsi_elf *elf, const char *name);

/* Entry of a symbol table; `table` must hold it (24 bytes an entry). */
struct wsi_sym wsi_elf_sym(struct ws_span table, uint64_t index);

#endif
