/* SPDX-License-Identifier: Apache-2.0 */
/* See clean.h and rules.h: headers, which rule a section has, and the walk over all of them. */
#include "write/clean.h"

#include "elf/cubin.h"

enum {
	SHF_COMPRESSED = 0x800,
	/* what sh_flags may say of a section that stays */
	KNOWN_FLAGS = WSI_SHF_WRITE | WSI_SHF_ALLOC | WSI_SHF_EXECINSTR | WSI_SHF_INFO_LINK |
		      WSI_SHF_NV_CUINFO | WSI_SHF_NV_TKINFO,
	NV_CONSTANT_BANKS = 24, /* types of constant banks: WSI_SHT_NV_CONSTANT0_REL + bank */
	PHDR_BYTES = 56,
	PT_LOAD = 1,
	PT_PHDR = 6,
	MAX_ALIGN = 65536,
	COPIES = 4, /* of the image: bytes that are looked at, for sections may overlap */
};

struct row {
	const char *name;
	enum wsi_section_shape shape;
	uint32_t holds;
	enum wsi_rule rule;
};

static const struct row rows[] = {
#define X(name, shape, holds, rule, stays, why) \
	{ name, WSI_SHAPE_##shape, WSI_HOLDS_##holds, WSI_RULE_##rule },
	WSI_RULE_LIST(X)
#undef X
};

static_assert(sizeof rows / sizeof rows[0] < WSI_CLEAN_NO_RULE, "a row is a byte");

/* ---- into the copy ---- */

uint8_t *wsi_clean_at(const struct wsi_clean *clean, const void *bytes, size_t len)
{
	uintptr_t first = (uintptr_t)clean->image.ptr, at = (uintptr_t)bytes;
	if (at < first || at - first > clean->image.len || len > clean->image.len - (at - first))
		return NULL;
	return clean->to + (at - first);
}

void wsi_clean_keep(struct wsi_clean *clean, struct ws_span bytes)
{
	uint8_t *to = bytes.len ? wsi_clean_at(clean, bytes.ptr, bytes.len) : NULL;
	if (to)
		memcpy(to, bytes.ptr, bytes.len);
}

void wsi_clean_string(struct wsi_clean *clean, struct ws_span table, uint64_t off)
{
	uint8_t *to = table.len ? wsi_clean_at(clean, table.ptr, table.len) : NULL;
	if (!to || wsi_at_u8(table, table.len - 1) != 0)
		return; /* the last string has no end */
	/* what is there already goes on to the end of its string */
	for (; off < table.len && wsi_at_u8(table, off) != 0 && to[off] == 0; off++)
		to[off] = wsi_at_u8(table, off);
}

struct ws_span wsi_clean_bytes(const struct wsi_clean *clean, uint32_t section)
{
	struct ws_span bytes = { 0 };
	if (section != 0 && section < clean->n_sections) {
		struct wsi_shdr shdr = wsi_elf_shdr(&clean->elf, section);
		(void)wsi_elf_bytes(&clean->elf, &shdr, &bytes);
	}
	return bytes;
}

/* Goes on in both as far as they fit; what is left of the text. */
static struct ws_str fit(const char **pattern, struct ws_str text)
{
	enum { MAX_DIGITS = 20 };
	const char *p = *pattern;
	for (; *p && *p != 'F' && *p != '@' && text.len > 0; p++) {
		size_t n = 0;
		while (*p == '#' && n < text.len && n < MAX_DIGITS && wsi_is_digit(text.ptr[n]))
			n++;
		if (*p != '#')
			n = *p == text.ptr[0];
		if (n == 0)
			break;
		text = (struct ws_str){ text.ptr + n, text.len - n };
	}
	*pattern = p;
	return text;
}

bool wsi_clean_fits(const char *pattern, struct ws_str text)
{
	text = fit(&pattern, text);
	return !*pattern && text.len == 0;
}

/* ---- which rule ---- */

static bool is_data(const struct wsi_shdr *shdr)
{
	return (shdr->type == WSI_SHT_PROGBITS && shdr->flags & WSI_SHF_ALLOC) ||
	       shdr->type == WSI_SHT_NV_GLOBAL_REL ||
	       shdr->type - WSI_SHT_NV_CONSTANT0_REL < NV_CONSTANT_BANKS;
}

static enum wsi_section_shape section_shape_of(const struct wsi_shdr *shdr)
{
	if (shdr->flags & SHF_COMPRESSED || shdr->offset > WSI_CLEAN_MAX_SIZE ||
	    shdr->size > WSI_CLEAN_MAX_SIZE)
		return WSI_SHAPE_OTHER;
	if (shdr->type == WSI_SHT_PROGBITS && shdr->flags & WSI_SHF_EXECINSTR)
		return WSI_SHAPE_CODE;
	if (is_data(shdr))
		return WSI_SHAPE_DATA;
	switch (shdr->type) {
	case WSI_SHT_PROGBITS:
		return WSI_SHAPE_PLAIN;
	case WSI_SHT_NOBITS:
		return WSI_SHAPE_NOBITS;
	case WSI_SHT_SYMTAB:
		return WSI_SHAPE_SYMTAB;
	case WSI_SHT_SYMTAB_SHNDX:
		return WSI_SHAPE_ESCAPES;
	case WSI_SHT_STRTAB:
		return WSI_SHAPE_STRTAB;
	case WSI_SHT_REL:
	case WSI_SHT_RELA:
		return WSI_SHAPE_REL;
	case WSI_SHT_NV_INFO:
		return WSI_SHAPE_INFO;
	case WSI_SHT_NOTE:
		return WSI_SHAPE_NOTE;
	default:
		return WSI_SHAPE_OTHER;
	}
}

static bool is_function(struct wsi_clean *clean, struct ws_str name)
{
	const struct ws_function *function;
	return name.len > 0 && ws_cubin_find_function(clean->cubin, name, &function, NULL) == WS_OK;
}

static bool name_fits(struct wsi_clean *clean, const char *pattern, struct ws_str name,
		      struct ws_str about)
{
	if (strcmp(pattern, "*") == 0)
		return true;
	name = fit(&pattern, name);
	if (*pattern == 'F')
		return is_function(clean, name);
	if (*pattern == '@')
		return about.len > 0 && ws_str_equal(name, about);
	return !*pattern && name.len == 0;
}

static bool counts_once(const char *pattern)
{
	return !strpbrk(pattern, "*#F@");
}

/* Name of a section, paid for from the budget; empty when that is used up. */
static struct ws_str section_name_of(struct wsi_clean *clean, const struct wsi_shdr *shdr)
{
	if (clean->budget == 0)
		return (struct ws_str){ "", 0 };
	struct ws_str name = wsi_elf_name(&clean->elf, shdr);
	clean->budget -= wsi_min_u64(clean->budget, name.len + 1);
	return name;
}

static uint8_t cleaned_row_of(struct wsi_clean *clean, const struct wsi_shdr *shdr, uint64_t *seen)
{
	enum wsi_section_shape shape = section_shape_of(shdr);
	struct ws_str name = section_name_of(clean, shdr), about = { "", 0 };
	if (shape == WSI_SHAPE_REL && shdr->info != 0 && shdr->info < clean->n_sections) {
		struct wsi_shdr target = wsi_elf_shdr(&clean->elf, shdr->info);
		about = section_name_of(clean, &target);
	}
	for (uint8_t i = 0; i < WSI_COUNT(rows); i++) {
		if (rows[i].shape != shape || !name_fits(clean, rows[i].name, name, about))
			continue;
		bool again = *seen >> i & 1;
		*seen |= UINT64_C(1) << i;
		if (!again || !counts_once(rows[i].name))
			return i;
	}
	return WSI_COUNT(rows) - 1;
}

static_assert(WSI_COUNT(rows) <= 64, "a bit for each row");

enum wsi_rule wsi_clean_rule(const struct wsi_clean *clean, uint32_t section)
{
	const struct row *row = &rows[clean->row[section]];
	bool asked = row->holds & clean->flags;
	return row->holds == WSI_HOLDS_NONE || asked ? row->rule : WSI_RULE_KEEP;
}

/* A relocation section goes with what it relocates. */
static void relocs_follow(struct wsi_clean *clean)
{
	for (uint32_t i = 1; i < clean->n_sections; i++) {
		if (wsi_clean_rule(clean, i) != WSI_RULE_RELOCS)
			continue;
		uint32_t target = wsi_elf_shdr(&clean->elf, i).info;
		enum wsi_rule rule = wsi_clean_rule(clean, target);
		if (rule == WSI_RULE_DROP || rule == WSI_RULE_ZERO)
			clean->row[i] = WSI_COUNT(rows) - 1;
	}
}

static bool rows_find(struct wsi_clean *clean)
{
	uint64_t seen = 0;
	clean->row = wsi_zalloc(clean->n_sections + 1);
	if (!clean->row)
		return false;
	clean->row[0] = WSI_COUNT(rows) - 1;
	for (uint32_t i = 1; i < clean->n_sections; i++) {
		struct wsi_shdr shdr = wsi_elf_shdr(&clean->elf, i);
		clean->row[i] = cleaned_row_of(clean, &shdr, &seen);
		const struct row *row = &rows[clean->row[i]];
		if (row->rule == WSI_RULE_SYMBOLS)
			clean->symtab = i;
		else if (row->rule == WSI_RULE_DEBUG)
			clean->debug_info = i;
		else if (strcmp(row->name, ".debug_str") == 0)
			clean->debug_str = i;
		else if (strcmp(row->name, ".debug_line") == 0)
			clean->debug_line = i;
	}
	relocs_follow(clean);
	return true;
}

/* ---- headers ---- */

static void elf_header(struct wsi_clean *clean)
{
	enum { IDENT_BYTES = 9, AT_ENTRY = 24, AT_PHOFF = 32, AT_SHOFF = 40 };
	struct ws_span head;
	(void)ws_span_sub(clean->image, 0, WSI_ELF_HEADER_BYTES, &head);
	wsi_clean_keep(clean, head);
	memset(clean->to + IDENT_BYTES, 0, 16 - IDENT_BYTES);
	wsi_store_u64(clean->to + AT_ENTRY, 0);
	if (wsi_at_u64(head, AT_PHOFF) > WSI_CLEAN_MAX_SIZE)
		wsi_store_u64(clean->to + AT_PHOFF, 0);
	if (wsi_at_u64(head, AT_SHOFF) > WSI_CLEAN_MAX_SIZE)
		wsi_store_u64(clean->to + AT_SHOFF, 0);
}

static uint64_t below(uint64_t value, uint64_t max)
{
	return value <= max ? value : 0;
}

static uint64_t alignment(uint64_t value)
{
	return value <= MAX_ALIGN && (value & (value - 1)) == 0 ? value : 0;
}

/* Segments that are loaded: flags, place, sizes. */
static void program_headers(struct wsi_clean *clean)
{
	uint32_t stride = wsi_at_u16(clean->image, 54);
	for (uint32_t i = 0; i < clean->elf.phnum && stride >= PHDR_BYTES; i++) {
		struct ws_span from;
		if (!ws_span_sub(clean->image, wsi_add_sat(clean->elf.phoff, (uint64_t)i * stride),
				 PHDR_BYTES, &from))
			return;
		uint32_t type = wsi_at_u32(from, 0);
		uint8_t *to = wsi_clean_at(clean, from.ptr, from.len);
		if (type != PT_LOAD && type != PT_PHDR)
			continue;
		wsi_store_u32(to, type);
		wsi_store_u32(to + 4, wsi_at_u32(from, 4) & 7);
		wsi_store_u64(to + 8, below(wsi_at_u64(from, 8), WSI_CLEAN_MAX_SIZE));
		wsi_store_u64(to + 16, below(wsi_at_u64(from, 16), WSI_CLEAN_MAX_ADDRESS));
		wsi_store_u64(to + 24, below(wsi_at_u64(from, 24), WSI_CLEAN_MAX_ADDRESS));
		wsi_store_u64(to + 32, below(wsi_at_u64(from, 32), WSI_CLEAN_MAX_SIZE));
		wsi_store_u64(to + 40, below(wsi_at_u64(from, 40), WSI_CLEAN_MAX_SIZE));
		wsi_store_u64(to + 48, alignment(wsi_at_u64(from, 48)));
	}
}

bool wsi_clean_names(const struct wsi_clean *clean, uint32_t section)
{
	return strcmp(rows[clean->row[section]].name, "*") != 0;
}

/* sh_info: a section, or of code and symbols a symbol. */
static uint32_t info_of(const struct wsi_clean *clean, const struct wsi_shdr *shdr)
{
	enum { SYMBOL = 0xffffff };
	uint64_t n_symbols = wsi_clean_bytes(clean, clean->symtab).len / WSI_SYM_BYTES;
	if (section_shape_of(shdr) == WSI_SHAPE_CODE)
		return (shdr->info & SYMBOL) < n_symbols ? shdr->info : 0;
	return (uint32_t)below(shdr->info,
			       shdr->type == WSI_SHT_SYMTAB ? n_symbols : clean->n_sections - 1);
}

static void section_header(struct wsi_clean *clean, uint32_t index)
{
	struct wsi_shdr shdr = wsi_elf_shdr(&clean->elf, index);
	const uint8_t *from =
		wsi_at(clean->elf.headers, (uint64_t)index * clean->elf.shentsize, WSI_SHDR_BYTES);
	uint8_t *to = wsi_clean_at(clean, from, WSI_SHDR_BYTES);
	if (!to || wsi_clean_rule(clean, index) == WSI_RULE_DROP)
		return;
	if (wsi_clean_names(clean, index)) {
		wsi_store_u32(to, shdr.name);
		wsi_clean_string(clean, clean->elf.shstrtab, shdr.name);
	}
	wsi_store_u32(to + 4, shdr.type);
	wsi_store_u64(to + 8, shdr.flags & KNOWN_FLAGS);
	wsi_store_u64(to + 16, below(shdr.addr, WSI_CLEAN_MAX_ADDRESS));
	wsi_store_u64(to + 24, shdr.offset);
	wsi_store_u64(to + 32, shdr.size);
	wsi_store_u32(to + 40, (uint32_t)below(shdr.link, clean->n_sections - 1));
	wsi_store_u32(to + 44, info_of(clean, &shdr));
	wsi_store_u64(to + 48, alignment(shdr.addralign));
	wsi_store_u64(to + 56, below(shdr.entsize, WSI_RELA_BYTES));
}

/* The counts that do not fit into the ELF header are in the header of section 0. */
static void escapes_keep(struct wsi_clean *clean)
{
	enum { AT_SHNUM = 60, AT_SHSTRNDX = 62 };
	uint8_t *to = wsi_clean_at(clean, clean->elf.headers.ptr, WSI_SHDR_BYTES);
	struct wsi_shdr first = wsi_elf_shdr(&clean->elf, 0);
	if (to && wsi_at_u16(clean->image, AT_SHNUM) == 0)
		wsi_store_u64(to + 32, below(first.size, WSI_CLEAN_MAX_SIZE));
	if (to && wsi_at_u16(clean->image, AT_SHSTRNDX) == WSI_SHN_XINDEX)
		wsi_store_u32(to + 40, first.link);
}

/* ---- the whole ---- */

/* What the rule leaves of a section; what it needs has been found. */
static enum ws_status section_clean(struct wsi_clean *clean, uint32_t index, struct ws_error *err)
{
	struct ws_span bytes = wsi_clean_bytes(clean, index);
	enum wsi_rule rule = wsi_clean_rule(clean, index);
	if (bytes.len > clean->budget)
		return WS_OK;
	clean->budget -= bytes.len;
	switch (rule) {
	case WSI_RULE_KEEP:
		wsi_clean_keep(clean, bytes);
		break;
	case WSI_RULE_DROP:
		clean->stripped->sections += wsi_elf_shdr(&clean->elf, index).type != 0;
		clean->stripped->section_bytes += bytes.len;
		break;
	case WSI_RULE_ZERO:
		if (rows[clean->row[index]].shape == WSI_SHAPE_DATA)
			clean->stripped->constant_bytes += bytes.len;
		else
			clean->stripped->ptx_bytes += bytes.len;
		break;
	case WSI_RULE_ESCAPES:
		wsi_clean_escapes(clean, bytes);
		break;
	case WSI_RULE_RELOCS:
		wsi_clean_relocs(clean, index);
		break;
	case WSI_RULE_ATTRIBUTES:
		wsi_clean_attributes(clean, bytes);
		break;
	case WSI_RULE_TOOLS:
		wsi_clean_tools(clean, bytes);
		break;
	case WSI_RULE_TARGET:
		wsi_clean_target(clean, bytes);
		break;
	case WSI_RULE_LINES:
		return wsi_clean_lines(clean, index, err);
	case WSI_RULE_FRAMES:
		wsi_clean_frames(clean, bytes);
		break;
	case WSI_RULE_SYMBOLS:
		wsi_clean_symbols(clean);
		break;
	case WSI_RULE_DEBUG:
		return wsi_clean_debug(clean, err);
	case WSI_RULE_ABBREVS: /* with .debug_info */
	case WSI_RULE_STRINGS: /* with those that use them */
	case WSI_RULE_HEADER:
		break;
	}
	return WS_OK;
}

static enum ws_status image_clean(struct wsi_clean *clean, struct ws_error *err)
{
	if (!rows_find(clean))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "sections of an image");
	clean->budget = COPIES * (uint64_t)clean->image.len;
	elf_header(clean);
	program_headers(clean);
	if (clean->n_sections > 0)
		escapes_keep(clean);
	enum ws_status st = WS_OK;
	for (uint32_t i = 1; i < clean->n_sections && st == WS_OK; i++)
		st = section_clean(clean, i, err);
	/* headers last: nothing that a section names as its bytes may change them */
	for (uint32_t i = 1; i < clean->n_sections && st == WS_OK; i++)
		section_header(clean, i);
	return st;
}

enum ws_status wsi_write_image_clean(struct ws_span image, const struct ws_strip_options *options,
				     uint8_t *to, struct ws_stripped *stripped,
				     struct ws_error *err)
{
	struct wsi_clean clean = { .image = image,
				   .to = to,
				   .flags = options->strip,
				   .options = options,
				   .budget = COPIES * (uint64_t)image.len,
				   .stripped = stripped };
	enum ws_status st = ws_cubin_open(image, &clean.cubin, err);
	if (st != WS_OK)
		return st;
	memset(to, 0, image.len);
	clean.n_sections = ws_cubin_n_sections(clean.cubin);
	st = wsi_elf_open(image, &clean.elf, err);
	if (st == WS_OK)
		st = image_clean(&clean, err);
	wsi_free(clean.row);
	ws_cubin_close(clean.cubin);
	return st;
}
