/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols, relocations, attributes, notes of an image, as far as they are recognised. */
#include "cubin/options.h"
#include "elf/cubin.h"
#include "write/clean.h"

/* ---- symbols ---- */

enum { STT_NOTYPE = 0, STT_NV_DATA = 13, SHN_LORESERVE = 0xff00 };

static bool section_stays(const struct wsi_clean *clean, uint32_t section)
{
	return section < clean->n_sections &&
	       (section == 0 || wsi_clean_rule(clean, section) != WSI_RULE_DROP);
}

/* The name of a section's symbol stays when it is that of the section, which has a rule. */
static bool section_name_stays(struct wsi_clean *clean, struct ws_span names,
			       const struct wsi_sym *sym)
{
	struct ws_span section = clean->elf.shstrtab;
	if (sym->shndx >= clean->n_sections || !wsi_clean_names(clean, sym->shndx))
		return false;
	uint64_t a = sym->name, b = wsi_elf_shdr(&clean->elf, sym->shndx).name;
	for (; a < names.len && b < section.len && clean->budget > 0; a++, b++, clean->budget--) {
		uint8_t c = wsi_at_u8(names, a);
		if (c != wsi_at_u8(section, b))
			return false;
		if (c == 0)
			return true;
	}
	return false;
}

static bool symbol_stays(const struct wsi_clean *clean, const struct wsi_sym *sym)
{
	uint8_t type = sym->info & 15;
	bool known = type == STT_NOTYPE || type == WSI_STT_OBJECT || type == WSI_STT_FUNC ||
		     type == WSI_STT_SECTION || type == STT_NV_DATA;
	bool placed = sym->shndx == WSI_SHN_XINDEX || section_stays(clean, sym->shndx);
	return known && placed && sym->value <= WSI_CLEAN_MAX_ADDRESS &&
	       sym->size <= WSI_CLEAN_MAX_SIZE;
}

void wsi_clean_symbols(struct wsi_clean *clean)
{
	struct ws_span symtab = wsi_clean_bytes(clean, clean->symtab);
	uint32_t link = wsi_elf_shdr(&clean->elf, clean->symtab).link;
	struct ws_span names = { 0 };
	if (link < clean->n_sections && wsi_clean_rule(clean, link) == WSI_RULE_STRINGS)
		names = wsi_clean_bytes(clean, link);
	for (uint64_t i = 0; i < symtab.len / WSI_SYM_BYTES; i++) {
		struct wsi_sym sym = wsi_elf_sym(symtab, i);
		struct ws_span entry;
		if (!symbol_stays(clean, &sym) ||
		    !ws_span_sub(symtab, i * WSI_SYM_BYTES, WSI_SYM_BYTES, &entry))
			continue;
		wsi_clean_keep(clean, entry);
		if ((sym.info & 15) != WSI_STT_SECTION || section_name_stays(clean, names, &sym))
			wsi_clean_string(clean, names, sym.name);
		else
			wsi_store_u32(wsi_clean_at(clean, entry.ptr, entry.len), 0);
	}
}

void wsi_clean_escapes(struct wsi_clean *clean, struct ws_span bytes)
{
	for (size_t i = 0; i < bytes.len / 4; i++) {
		struct ws_span word;
		if (wsi_at_u32(bytes, 4 * i) < clean->n_sections &&
		    ws_span_sub(bytes, 4 * i, 4, &word))
			wsi_clean_keep(clean, word);
	}
}

/* ---- relocations ---- */

void wsi_clean_relocs(struct wsi_clean *clean, uint32_t section)
{
	struct wsi_shdr shdr = wsi_elf_shdr(&clean->elf, section);
	size_t stride = shdr.type == WSI_SHT_RELA ? WSI_RELA_BYTES : WSI_REL_BYTES;
	struct ws_span bytes = wsi_clean_bytes(clean, section);
	uint64_t n_symbols = wsi_clean_bytes(clean, clean->symtab).len / WSI_SYM_BYTES;
	uint64_t size = wsi_elf_shdr(&clean->elf, shdr.info).size;
	uint64_t base = wsi_elf_shdr(&clean->elf, shdr.info).addr;
	for (size_t off = 0; bytes.len - off >= stride; off += stride) {
		uint64_t place = wsi_at_u64(bytes, off);
		int64_t addend =
			stride == WSI_RELA_BYTES ? (int64_t)wsi_at_u64(bytes, off + 16) : 0;
		struct ws_span entry;
		if ((place >= size && place - base >= size) ||
		    wsi_at_u32(bytes, off + 12) >= n_symbols || addend > UINT32_MAX ||
		    addend < -(int64_t)UINT32_MAX)
			continue;
		if (ws_span_sub(bytes, off, stride, &entry))
			wsi_clean_keep(clean, entry);
	}
}

/* ---- attributes ---- */

/* Bytes of a known attribute: of one, or of each of a list. */
static const struct {
	uint8_t number, format;
	uint8_t bytes;
	bool list;
} attributes[] = {
	{ WSI_NV_PARAM_CBANK, 4, 8, false },     { WSI_NV_EXTERNS, 4, 4, true },
	{ WSI_NV_FRAME_SIZE, 4, 8, false },      { WSI_NV_MIN_STACK_SIZE, 4, 8, false },
	{ WSI_NV_KPARAM_INFO, 4, 12, false },    { WSI_NV_CBANK_PARAM_SIZE, 3, 0, false },
	{ WSI_NV_MAXREG_COUNT, 3, 0, false },    { WSI_NV_EXIT_OFFSETS, 4, 4, true },
	{ WSI_NV_CRS_STACK_SIZE, 4, 4, false },  { WSI_NV_MAX_STACK_SIZE, 4, 8, false },
	{ WSI_NV_REGCOUNT, 4, 8, false },        { WSI_NV_BRANCH_TARGETS, 4, 4, true },
	{ WSI_NV_API_VERSION, 4, 4, false },     { WSI_NV_NUM_BARRIERS, 2, 0, false },
	{ WSI_NV_KPARAM_INFO_V2, 4, 12, false },
};

static bool attribute_is_known(uint8_t number, uint8_t format, size_t len)
{
	for (size_t i = 0; i < WSI_COUNT(attributes); i++) {
		if (attributes[i].number != number || attributes[i].format != format)
			continue;
		return attributes[i].list ? len % attributes[i].bytes == 0
					  : len == attributes[i].bytes;
	}
	return false;
}

/* Symbols, sizes, offsets in a function: small numbers, or none. */
static bool words_are_small(struct ws_span bytes)
{
	enum { MAX = 1 << 28 };
	for (size_t off = 0; off < bytes.len; off += 4) {
		uint32_t word = wsi_at_u32(bytes, off);
		if (word >= MAX && word != UINT32_MAX)
			return false;
	}
	return true;
}

/* Places in constant bank 0 and numbers of parameters, two to a word. */
static bool values_are_small(struct ws_span bytes, uint8_t number)
{
	enum { MAX_PARAMS = 4096, MAX_OFFSET = 32768, MAX_PLACE = 8192 };
	if (number == WSI_NV_KPARAM_INFO || number == WSI_NV_KPARAM_INFO_V2)
		return wsi_at_u32(bytes, 0) < MAX_PARAMS && wsi_at_u16(bytes, 4) < MAX_PARAMS &&
		       wsi_at_u16(bytes, 6) < MAX_OFFSET;
	if (number == WSI_NV_PARAM_CBANK)
		return wsi_at_u16(bytes, 4) < MAX_PLACE && wsi_at_u16(bytes, 6) < MAX_OFFSET;
	return words_are_small(bytes);
}

void wsi_clean_attributes(struct wsi_clean *clean, struct ws_span bytes)
{
	enum { HEADER = 4, FORMAT_NONE = 1, FORMAT_BYTES = 4 };
	struct wsi_reader r = wsi_reader_of(bytes);
	while (wsi_reader_left(&r) >= HEADER) {
		size_t start = r.pos;
		struct ws_span header, payload = { 0 };
		uint8_t format = wsi_read_u8(&r), number = wsi_read_u8(&r);
		uint16_t value = wsi_read_u16(&r);
		if (format < FORMAT_NONE || format > FORMAT_BYTES)
			return; /* where the next one begins is not known */
		if (format == FORMAT_BYTES)
			payload = wsi_read_span(&r, value);
		if (r.failed || !ws_span_sub(bytes, start, HEADER, &header))
			return;
		bool known = attribute_is_known(number, format, payload.len) &&
			     values_are_small(payload, number);
		wsi_clean_keep(clean, header);
		if (known)
			wsi_clean_keep(clean, payload);
		else if (format != FORMAT_BYTES) /* else the value is the length */
			wsi_store_u16(wsi_clean_at(clean, header.ptr, HEADER) + 2, 0);
	}
}

/* ---- notes ---- */

/* The description of the first note, when it is NVIDIA's; its header is kept. */
static bool note_keep(struct wsi_clean *clean, struct ws_span bytes, uint32_t type,
		      struct ws_span *ret_description)
{
	static const char owner[] = "NVIDIA Corp";
	enum { HEADER = 12 };
	struct ws_span header;
	if (!ws_span_sub(bytes, 0, HEADER + sizeof owner, &header) ||
	    wsi_at_u32(header, 0) != sizeof owner || wsi_at_u32(header, 8) != type ||
	    memcmp(wsi_at(header, HEADER, sizeof owner), owner, sizeof owner) != 0 ||
	    !ws_span_sub(bytes, header.len, wsi_at_u32(header, 4), ret_description))
		return false;
	wsi_clean_keep(clean, header);
	return true;
}

/* Keeps the options that may be shown, where they are; all others become spaces. */
static void options_keep(struct wsi_clean *clean, struct ws_str options)
{
	uint8_t *to = wsi_clean_at(clean, options.ptr, options.len);
	struct wsi_options words = wsi_options_of(options);
	struct ws_str word;
	bool shown;
	memset(to, ' ', options.len);
	while (wsi_option_next(&words, &word, &shown)) {
		if (shown)
			memcpy(to + (word.ptr - options.ptr), word.ptr, word.len);
	}
}

static bool is_pattern_one_of(const char *const *patterns, struct ws_str text)
{
	for (; *patterns; patterns++) {
		if (wsi_clean_fits(*patterns, text))
			return true;
	}
	return false;
}

/* Strings: object, tool, version, build, options. [measured: nvcc 13.0; docs/formats/cubin.md] */
void wsi_clean_tools(struct wsi_clean *clean, struct ws_span bytes)
{
	enum { HEADER = 24, VERSION = 2, N_STRINGS = 5, OPTIONS = 4 };
	static const char *const known[OPTIONS][5] = {
		{ NULL }, /* a file's name */
		{ "ptxas", "nvlink", "nvrtc", "cicc", NULL },
		{ "Cuda compilation tools, release #.#, V#.#.#", NULL },
		{ "Build cuda_#.#.r#.#/compiler.#_#", NULL },
	};
	struct ws_span note, word;
	if (!note_keep(clean, bytes, WSI_NOTE_TKINFO, &note) || note.len < HEADER ||
	    wsi_at_u32(note, 0) != VERSION)
		return;
	(void)ws_span_sub(note, 0, 4, &word);
	wsi_clean_keep(clean, word);
	for (uint32_t i = 0; i < N_STRINGS; i++) {
		struct ws_str text;
		uint64_t off = HEADER + (uint64_t)wsi_at_u32(note, 4 + 4 * i);
		if (!wsi_span_cstr(note, off, &text))
			continue;
		(void)ws_span_sub(note, 4 + 4 * i, 4, &word);
		wsi_clean_keep(clean, word);
		if (i == OPTIONS)
			options_keep(clean, text);
		else if (is_pattern_one_of(known[i], text))
			wsi_clean_string(clean, note, off);
	}
}

void wsi_clean_target(struct wsi_clean *clean, struct ws_span bytes)
{
	enum { BYTES = 8, MAX_SM = 1000, MAX_TOOLKIT = 10000 };
	struct ws_span note, fields;
	if (note_keep(clean, bytes, WSI_NOTE_CUINFO, &note) &&
	    ws_span_sub(note, 0, BYTES, &fields) && wsi_at_u16(fields, 2) < MAX_SM &&
	    wsi_at_u32(fields, 4) < MAX_TOOLKIT)
		wsi_clean_keep(clean, fields);
}
