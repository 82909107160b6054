/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the copy of an image keeps of single records: a number stays while it can be what its field
 * is for, and goes when it is larger, so that no other data passes as one.
 */
#include "unit.h"

#include <warpscope/line.h>

#include "base/file.h"
#include "elf/cubin.h"
#include "write/clean.h"

#include "line_builder.h"

/* ---- one record ---- */

enum { ROOM = 256 };

typedef void clean_fn(struct wsi_clean *clean, struct ws_span bytes);

/* What is left of the bytes, in `ret`. */
static void cleaned(clean_fn *fn, const uint8_t *bytes, size_t len, uint8_t *ret)
{
	struct wsi_clean clean = { .image = { bytes, len, 0 }, .to = ret };
	assert_true(len <= ROOM);
	memset(ret, 0, ROOM);
	fn(&clean, clean.image);
}

/* Whether all of the bytes stay; else those from `from` on are zeros. */
static bool stays(clean_fn *fn, const uint8_t *bytes, size_t len, size_t from)
{
	static const uint8_t zeros[ROOM];
	uint8_t left[ROOM];
	cleaned(fn, bytes, len, left);
	if (memcmp(left, bytes, len) == 0)
		return true;
	assert_memory_equal(left, bytes, from);
	assert_memory_equal(left + from, zeros, len - from);
	return false;
}

/* ---- attributes ---- */

enum { FORMAT_VALUE = 3, FORMAT_BYTES = 4, ATTRIBUTE_HEADER = 4 };

static size_t attribute(uint8_t *to, uint8_t number, size_t len)
{
	memset(to, 0, ROOM);
	to[0] = FORMAT_BYTES;
	to[1] = number;
	store_le(to + 2, len, 2);
	return ATTRIBUTE_HEADER + len;
}

static void numbers_of_an_attribute_are_small(void **state)
{
	(void)state;
	static const struct {
		uint8_t number, bytes, at, width;
		uint64_t end; /* the first that does not stay */
		bool none;    /* all bits set stays too: "none" */
	} cases[] = {
		{ WSI_NV_KPARAM_INFO, 12, 0, 4, 4096, false },
		{ WSI_NV_KPARAM_INFO, 12, 4, 2, 4096, false },
		{ WSI_NV_KPARAM_INFO, 12, 6, 2, 32768, false },
		{ WSI_NV_KPARAM_INFO_V2, 12, 4, 2, 4096, false },
		{ WSI_NV_KPARAM_INFO_V2, 12, 6, 2, 32768, false },
		{ WSI_NV_PARAM_CBANK, 8, 4, 2, 8192, false },
		{ WSI_NV_PARAM_CBANK, 8, 6, 2, 32768, false },
		{ WSI_NV_FRAME_SIZE, 8, 0, 4, 1 << 28, true },
		{ WSI_NV_FRAME_SIZE, 8, 4, 4, 1 << 28, true },
		{ WSI_NV_REGCOUNT, 8, 4, 4, 1 << 28, true },
		{ WSI_NV_EXIT_OFFSETS, 12, 8, 4, 1 << 28, true },
		{ WSI_NV_CRS_STACK_SIZE, 4, 0, 4, 1 << 28, true },
	};
	uint8_t bytes[ROOM];
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		size_t len = attribute(bytes, cases[i].number, cases[i].bytes);
		uint8_t *field = bytes + ATTRIBUTE_HEADER + cases[i].at;
		store_le(field, cases[i].end - 1, cases[i].width);
		assert_true(stays(wsi_clean_attributes, bytes, len, ATTRIBUTE_HEADER));
		store_le(field, cases[i].end, cases[i].width);
		assert_false(stays(wsi_clean_attributes, bytes, len, ATTRIBUTE_HEADER));
		store_le(field, UINT64_MAX, cases[i].width);
		assert_int_equal(stays(wsi_clean_attributes, bytes, len, ATTRIBUTE_HEADER),
				 cases[i].none);
	}
}

static void an_attribute_has_its_length(void **state)
{
	(void)state;
	static const struct {
		uint8_t number, bytes;
		bool list;
	} cases[] = {
		{ WSI_NV_PARAM_CBANK, 8, false },    { WSI_NV_EXTERNS, 4, true },
		{ WSI_NV_FRAME_SIZE, 8, false },     { WSI_NV_MIN_STACK_SIZE, 8, false },
		{ WSI_NV_KPARAM_INFO, 12, false },   { WSI_NV_EXIT_OFFSETS, 4, true },
		{ WSI_NV_CRS_STACK_SIZE, 4, false }, { WSI_NV_MAX_STACK_SIZE, 8, false },
		{ WSI_NV_REGCOUNT, 8, false },       { WSI_NV_BRANCH_TARGETS, 4, true },
		{ WSI_NV_API_VERSION, 4, false },    { WSI_NV_KPARAM_INFO_V2, 12, false },
	};
	uint8_t bytes[ROOM];
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		for (size_t len = 1; len <= 24; len++) {
			size_t all = attribute(bytes, cases[i].number, len);
			bool good =
				cases[i].list ? len % cases[i].bytes == 0 : len == cases[i].bytes;
			bytes[ATTRIBUTE_HEADER] = 1;
			assert_int_equal(stays(wsi_clean_attributes, bytes, all, ATTRIBUTE_HEADER),
					 good);
		}
	}
}

/* Of an unknown one the kind stays, so that the next is found; its value does not. */
static void an_unknown_attribute_is_emptied_and_the_next_one_stays(void **state)
{
	(void)state;
	uint8_t bytes[ROOM], left[ROOM];
	size_t len = attribute(bytes, 0xee, 8);
	memset(bytes + ATTRIBUTE_HEADER, 0x11, 8);
	bytes[len] = FORMAT_VALUE;
	bytes[len + 1] = 0xee;
	store_le(bytes + len + 2, 0x4241, 2);
	bytes[len + 4] = FORMAT_VALUE;
	bytes[len + 5] = WSI_NV_MAXREG_COUNT;
	store_le(bytes + len + 6, 0x4241, 2);
	cleaned(wsi_clean_attributes, bytes, len + 8, left);
	memset(bytes + ATTRIBUTE_HEADER, 0, 8);
	store_le(bytes + len + 2, 0, 2);
	assert_memory_equal(left, bytes, len + 8);
	/* what follows one that is none stays nowhere */
	bytes[len] = 0;
	cleaned(wsi_clean_attributes, bytes, len + 8, left);
	memset(bytes + len, 0, 8);
	assert_memory_equal(left, bytes, len + 8);
}

/* ---- notes ---- */

static void a_target_note_names_an_architecture_and_a_toolkit(void **state)
{
	(void)state;
	static const struct {
		unsigned sm, toolkit;
		bool stays;
	} cases[] = {
		{ 90, 130, true },    { 999, 9999, true },    { 1000, 130, false },
		{ 90, 10000, false }, { 0xffff, 130, false },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		uint8_t bytes[ROOM] = { 0 };
		store_le(bytes, 12, 4);
		store_le(bytes + 4, 8, 4);
		store_le(bytes + 8, WSI_NOTE_CUINFO, 4);
		memcpy(bytes + 12, "NVIDIA Corp", 12);
		store_le(bytes + 24, 2, 2);
		store_le(bytes + 26, cases[i].sm, 2);
		store_le(bytes + 28, cases[i].toolkit, 4);
		assert_int_equal(stays(wsi_clean_target, bytes, 32, 24), cases[i].stays);
		bytes[12] ^= 1; /* of another owner */
		assert_false(stays(wsi_clean_target, bytes, 32, 0));
	}
}

/* What tools are, and which options they had, stays where it is; a file's name, and what a user
 * wrote, goes. Options are words, so what goes between them leaves spaces. */
static void a_tool_note_names_tools_and_options(void **state)
{
	(void)state;
	static const struct {
		const char *text, *left;
	} cases[][5] = {
		{ { "a.cubin", "" },
		  { "ptxas", "ptxas" },
		  { "Cuda compilation tools, release 13.0, V13.0.88",
		    "Cuda compilation tools, release 13.0, V13.0.88" },
		  { "Build cuda_13.0.r13.0/compiler.1_0", "Build cuda_13.0.r13.0/compiler.1_0" },
		  { "-DKEY=1 -arch sm_90 -I /home/me -lineinfo",
		    "        -arch sm_90             -lineinfo" } },
		{ { "", "" },
		  { "mytool", "" },
		  { "Cuda compilation tools, release x", "" },
		  { "Build of mine", "" },
		  { "me", "  " } },
	};
	enum { NAMES = 24, FIELDS = 4 + 4 * 5 };
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		uint8_t bytes[ROOM] = { 0 }, wanted[ROOM], left[ROOM];
		size_t at = NAMES + FIELDS;
		store_le(bytes, 12, 4);
		store_le(bytes + 8, WSI_NOTE_TKINFO, 4);
		memcpy(bytes + 12, "NVIDIA Corp", 12);
		store_le(bytes + NAMES, 2, 4);
		for (size_t k = 0; k < 5; k++)
			at += strlen(cases[i][k].text) + 1;
		store_le(bytes + 4, at - NAMES, 4);
		memcpy(wanted, bytes, ROOM);
		at = 0;
		for (size_t k = 0; k < 5; k++) {
			store_le(bytes + NAMES + 4 + 4 * k, at, 4);
			store_le(wanted + NAMES + 4 + 4 * k, at, 4);
			memcpy(bytes + NAMES + FIELDS + at, cases[i][k].text,
			       strlen(cases[i][k].text));
			memcpy(wanted + NAMES + FIELDS + at, cases[i][k].left,
			       strlen(cases[i][k].left));
			at += strlen(cases[i][k].text) + 1;
		}
		cleaned(wsi_clean_tools, bytes, NAMES + FIELDS + at, left);
		assert_memory_equal(left, wanted, ROOM);
		bytes[NAMES] = 3; /* another version */
		memset(wanted + NAMES, 0, ROOM - NAMES);
		cleaned(wsi_clean_tools, bytes, NAMES + FIELDS + at, left);
		assert_memory_equal(left, wanted, ROOM);
	}
}

/* ---- frames ---- */

static size_t uleb(uint8_t *to, uint64_t value)
{
	size_t n = 0;
	for (; value > 0x7f; value >>= 7)
		to[n++] = (uint8_t)(0x80 | (value & 0x7f));
	to[n++] = (uint8_t)value;
	return n;
}

static size_t sleb(uint8_t *to, int64_t value)
{
	size_t n = 0;
	for (; value > 0x3f || value < -0x40; value >>= 7)
		to[n++] = (uint8_t)(0x80 | ((unsigned)value & 0x7f));
	to[n++] = (uint8_t)(value & 0x7f);
	return n;
}

/* The lengths stay, so that the next entry is found. */
static void heads_of_frames_hold_small_numbers(void **state)
{
	(void)state;
	static const struct {
		bool wide;
		unsigned version, augmentation;
		uint64_t code;
		int64_t data;
		uint64_t return_register;
		bool stays;
	} cases[] = {
		{ false, 3, 0, 1, -4, 0, true },
		{ true, 3, 0, 255, 127, UINT32_MAX, true },
		{ true, 3, 0, 255, -128, UINT32_MAX, true },
		{ true, 3, 0, 256, 127, 1, false },
		{ true, 3, 0, 1, 128, 1, false },
		{ true, 3, 0, 1, -129, 1, false },
		{ true, 3, 0, 1, 1, UINT64_C(1) << 32, false },
		{ true, 2, 0, 1, 1, 1, false },
		{ false, 4, 0, 1, 1, 1, false },
		{ false, 3, 'z', 1, 1, 1, false },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		uint8_t bytes[ROOM];
		size_t head = cases[i].wide ? 12 : 4, at = head;
		memset(bytes, 0xff, head);
		store_le(bytes + at, UINT64_MAX, cases[i].wide ? 8 : 4);
		at += cases[i].wide ? 8 : 4;
		bytes[at++] = (uint8_t)cases[i].version;
		bytes[at++] = (uint8_t)cases[i].augmentation;
		at += uleb(bytes + at, cases[i].code);
		at += sleb(bytes + at, cases[i].data);
		at += uleb(bytes + at, cases[i].return_register);
		store_le(bytes + head - (cases[i].wide ? 8 : 4), at - head, cases[i].wide ? 8 : 4);
		assert_int_equal(stays(wsi_clean_frames, bytes, at, head), cases[i].stays);
	}
}

static void places_of_frames_are_addresses(void **state)
{
	(void)state;
	static const struct {
		uint64_t cie, address, size;
		bool stays;
	} cases[] = {
		{ 0, 0, 0x100, true },
		{ WSI_CLEAN_MAX_SIZE, WSI_CLEAN_MAX_ADDRESS, WSI_CLEAN_MAX_SIZE, true },
		{ WSI_CLEAN_MAX_SIZE + 1, 0, 0, false },
		{ 0, WSI_CLEAN_MAX_ADDRESS + 1, 0, false },
		{ 0, 0, WSI_CLEAN_MAX_SIZE + 1, false },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		uint8_t bytes[ROOM];
		memset(bytes, 0xff, 4);
		store_le(bytes + 4, 24, 8);
		store_le(bytes + 12, cases[i].cie, 8);
		store_le(bytes + 20, cases[i].address, 8);
		store_le(bytes + 28, cases[i].size, 8);
		assert_int_equal(stays(wsi_clean_frames, bytes, 36, 12), cases[i].stays);
	}
}

/* DWARF 4, section 7.23. Rules stay up to the first that is not known, or whose numbers are larger
 * than those of a frame. */
static void rules_of_frames_stay_to_the_first_unknown(void **state)
{
	(void)state;
	enum { HEAD = 36, UNKNOWN = 0x3f };
#define RULE(bytes)                           \
	{                                     \
		bytes, sizeof bytes - 1, true \
	}
#define TOO_LARGE(bytes)                       \
	{                                      \
		bytes, sizeof bytes - 1, false \
	}
	static const struct {
		const char *bytes;
		size_t n;
		bool stays;
	} cases[] = {
		RULE("\x00"),
		RULE("\x01\x3f\x3f\x3f\x3f\x3f\x3f\0\0"), /* set_loc */
		TOO_LARGE("\x01\xff\xff\xff\xff\xff\xff\xff\xff"),
		RULE("\x41"), /* advance_loc */
		RULE("\x02\x3f"),
		RULE("\x03\x3f\x3f"),
		RULE("\x04\x3f\x3f\x3f\x3f"),
		RULE("\x81\x3f"), /* offset */
		RULE("\x81\xff\xff\xff\xff\x0f"),
		TOO_LARGE("\x81\x80\x80\x80\x80\x10"),
		RULE("\x05\x3f\x3f"),
		TOO_LARGE("\x05\x3f\x80\x80\x80\x80\x10"),
		RULE("\x06\x3f"),
		RULE("\x07\x3f"),
		RULE("\x08\x3f"),
		RULE("\x09\x3f\x3f"),
		RULE("\x0a"),
		RULE("\x0b"),
		RULE("\x0c\x3f\x3f"), /* def_cfa */
		RULE("\x0d\x3f"),
		RULE("\x0e\x3f"),
		RULE("\x0f\x01\x96"),      /* an expression: nop */
		TOO_LARGE("\x0f\x01\x30"), /* lit0, which nvcc does not write */
		RULE("\x0f\x0a\x03\x3f\x3f\x3f\x3f\x3f\x3f\0\0\x22"), /* addr, plus */
		TOO_LARGE("\x0f\x09\x03\xff\xff\xff\xff\xff\xff\xff\xff"),
		TOO_LARGE("\x0f\x03\x03\x3f\x3f"),            /* ends inside */
		RULE("\x0f\x07\x92\xff\xff\xff\xff\x0f\x40"), /* bregx */
		TOO_LARGE("\x0f\x07\x92\x80\x80\x80\x80\x10\x40"),
		RULE("\x0f\x06\x90\xff\xff\xff\xff\x0f"), /* regx */
		TOO_LARGE("\x0f\x06\x90\x80\x80\x80\x80\x10"),
		RULE("\x0f\x06\x23\xff\xff\xff\xff\x0f"), /* plus_uconst */
		TOO_LARGE("\x0f\x06\x23\x80\x80\x80\x80\x10"),
		RULE("\x10\x3f\x01\x96"),
		RULE("\x11\x3f\x40"),
		RULE("\x12\x3f\x40"),
		RULE("\x13\xff\xff\xff\xff\x07"), /* the largest of 32 bits */
		TOO_LARGE("\x13\x80\x80\x80\x80\x08"),
		RULE("\x13\x80\x80\x80\x80\x78"), /* the smallest */
		TOO_LARGE("\x13\xff\xff\xff\xff\x77"),
		RULE("\x14\x3f\x3f"),
		RULE("\x15\x3f\x40"),
		RULE("\x16\x3f\x01\x96"),
		TOO_LARGE("\x17"),
		RULE("\xc1"), /* restore */
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		uint8_t bytes[ROOM] = { 0 }, wanted[ROOM] = { 0 }, left[ROOM];
		size_t at = HEAD, kept;
		memset(bytes, 0xff, 4); /* 64-bit DWARF, a place of zeros */
		bytes[at++] = 0x0a;
		memcpy(bytes + at, cases[i].bytes, cases[i].n);
		kept = at + (cases[i].stays ? cases[i].n + 1 : 0);
		at += cases[i].n;
		bytes[at++] = 0x0b;
		bytes[at++] = UNKNOWN;
		bytes[at++] = 0x0b;
		store_le(bytes + 4, at - 12, 8);
		bytes[12] = 0x3f;
		cleaned(wsi_clean_frames, bytes, at, left);
		memcpy(wanted, bytes, kept);
		assert_memory_equal(left, wanted, ROOM);
	}
#undef RULE
#undef TOO_LARGE
}

/* ---- headers and symbols of an image ---- */

struct patched {
	struct wsi_file file;
	uint8_t *from, *to;
};

static void patched_open(struct patched *p)
{
	char path[4096];
	assert_true(wsi_format(path, "%s/calls.G.sm_90.cubin", getenv("WS_TEST_CUBINS")));
	assert_int_equal(wsi_file_open(path, &p->file, NULL), WS_OK);
	p->from = test_malloc(p->file.bytes.len);
	p->to = test_malloc(p->file.bytes.len);
}

static void patched_close(struct patched *p)
{
	test_free(p->from);
	test_free(p->to);
	wsi_file_close(&p->file);
}

/* What the copy holds at an offset where the image holds the value. */
static uint64_t left_of(struct patched *p, size_t off, uint64_t value, unsigned n_bytes)
{
	struct ws_stripped stripped = { 0 };
	uint64_t left = 0;
	memcpy(p->from, p->file.bytes.ptr, p->file.bytes.len);
	store_le(p->from + off, value, n_bytes);
	struct ws_span image = { p->from, p->file.bytes.len, 0 };
	const uint32_t all = WS_STRIP_VALUES | WS_STRIP_PTX | WS_STRIP_PATHS;
	assert_int_equal(wsi_write_image_clean(image, &(struct ws_strip_options){ .strip = all },
					       p->to, &stripped, NULL),
			 WS_OK);
	for (unsigned i = 0; i < n_bytes; i++)
		left |= (uint64_t)p->to[off + i] << 8 * i;
	return left;
}

/* Index of the first section of the type. */
static uint64_t section_of(const struct wsi_elf *elf, uint32_t type)
{
	uint64_t i = 1;
	while (i < elf->n_present && wsi_elf_shdr(elf, i).type != type)
		i++;
	assert_true(i < elf->n_present);
	return i;
}

static void numbers_of_headers_and_symbols_are_places_or_sizes(void **state)
{
	(void)state;
	struct patched p;
	struct wsi_elf elf;
	patched_open(&p);
	assert_int_equal(wsi_elf_open(p.file.bytes, &elf, NULL), WS_OK);
	assert_true(elf.phnum > 0);
	size_t symtab = (size_t)section_of(&elf, WSI_SHT_SYMTAB);
	size_t header = (size_t)elf.shoff + symtab * elf.shentsize;
	size_t symbol = (size_t)wsi_elf_shdr(&elf, symtab).offset + WSI_SYM_BYTES;
	size_t program = (size_t)elf.phoff; /* of the headers, or of what is loaded */
	const struct {
		size_t off, n_bytes;
		uint64_t max;
	} cases[] = {
		{ program + 8, 8, WSI_CLEAN_MAX_SIZE },
		{ program + 16, 8, WSI_CLEAN_MAX_ADDRESS },
		{ program + 24, 8, WSI_CLEAN_MAX_ADDRESS },
		{ program + 32, 8, WSI_CLEAN_MAX_SIZE },
		{ program + 40, 8, WSI_CLEAN_MAX_SIZE },
		{ program + 48, 8, 65536 },
		{ header + WSI_SH_ADDR, 8, WSI_CLEAN_MAX_ADDRESS },
		{ header + WSI_SH_LINK, 4, elf.n_sections - 1 },
		{ header + WSI_SH_INFO, 4, wsi_elf_shdr(&elf, symtab).size / WSI_SYM_BYTES },
		{ header + WSI_SH_ALIGN, 8, 65536 },
		{ header + WSI_SH_ENTSIZE, 8, WSI_RELA_BYTES },
		{ symbol + 8, 8, WSI_CLEAN_MAX_ADDRESS },
		{ symbol + 16, 8, WSI_CLEAN_MAX_SIZE },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		unsigned n = (unsigned)cases[i].n_bytes;
		assert_true(left_of(&p, cases[i].off, cases[i].max, n) == cases[i].max);
		assert_true(left_of(&p, cases[i].off, cases[i].max + 1, n) == 0);
	}
	assert_true(left_of(&p, header + WSI_SH_ALIGN, 24, 8) == 0); /* no power of two */
	assert_true(left_of(&p, header + WSI_SH_FLAGS, UINT64_C(0x4142434445464748), 8) <
		    UINT64_C(1) << 32);
	assert_true(left_of(&p, program + 4, 0x41424347, 4) == 7);
	patched_close(&p);
}

/* Else any text may pass as the name of a section. */
static void the_symbol_of_a_section_is_called_like_it(void **state)
{
	(void)state;
	struct patched p;
	struct wsi_elf elf;
	patched_open(&p);
	assert_int_equal(wsi_elf_open(p.file.bytes, &elf, NULL), WS_OK);
	struct wsi_shdr symtab = wsi_elf_shdr(&elf, section_of(&elf, WSI_SHT_SYMTAB));
	struct ws_span symbols;
	struct wsi_sym sym = { 0 };
	size_t n = 0;
	assert_true(wsi_elf_bytes(&elf, &symtab, &symbols));
	while ((sym.info & 15) != WSI_STT_SECTION || sym.name == 0)
		sym = wsi_elf_sym(symbols, n++);
	size_t symbol = (size_t)symtab.offset + (n - 1) * WSI_SYM_BYTES;
	const uint32_t others[] = { 0, sym.shndx == 1 ? 2 : 1 };
	assert_true(left_of(&p, symbol + 6, sym.shndx, 2) == sym.shndx);
	assert_true(memcmp(p.to + symbol, p.from + symbol, 4) == 0);
	for (size_t i = 0; i < WSI_COUNT(others); i++) {
		assert_true(left_of(&p, symbol + 6, others[i], 2) == others[i]);
		assert_true(p.to[symbol] == 0 && p.to[symbol + 1] == 0);
	}
	patched_close(&p);
}

/* ---- lines ---- */

/* The operand of an opcode that nobody knows may be anything: of each byte only the bit stays that
 * says where the operand ends. */
static void operands_of_unknown_opcodes_go_and_keep_their_length(void **state)
{
	(void)state;
	struct patched p;
	struct wsi_elf elf;
	struct ws_stripped stripped = { 0 };
	static struct lb b;
	b = lb_new();
	b.opcode_base = 14;
	lb_table(&b);
	(void)lb_set_address(&b, 0x10);
	size_t known = b.len;
	lb_u8(&b, 13);
	lb_uleb(&b, UINT64_C(0x123456789));
	size_t operand = b.len - known - 1;
	lb_row(&b, 1, 2);
	lb_end_after(&b, 1);
	lb_table_end(&b);
	assert_int_equal(operand, 5);

	patched_open(&p);
	assert_int_equal(wsi_elf_open(p.file.bytes, &elf, NULL), WS_OK);
	uint64_t section = wsi_elf_find(&elf, ".debug_line");
	struct wsi_shdr lines = wsi_elf_shdr(&elf, section);
	assert_in_range(b.len, 1, lines.size);
	memcpy(p.from, p.file.bytes.ptr, p.file.bytes.len);
	memcpy(p.from + lines.offset, b.byte, b.len);
	store_le(p.from + wsi_elf_shdr_off(&elf, section) + WSI_SH_SIZE, b.len, 8);
	struct ws_span image = { p.from, p.file.bytes.len, 0 };
	assert_int_equal(
		wsi_write_image_clean(image, &(struct ws_strip_options){ .strip = WS_STRIP_VALUES },
				      p.to, &stripped, NULL),
		WS_OK);
	const uint8_t *left = p.to + lines.offset;
	static const uint8_t opcode[] = { 13, 0x80, 0x80, 0x80, 0x80, 0 };
	assert_memory_equal(left, b.byte, known);
	assert_memory_equal(left + known, opcode, sizeof opcode);
	known += sizeof opcode;
	assert_memory_equal(left + known, b.byte + known, b.len - known);
	patched_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_an_attribute_are_small),
		cmocka_unit_test(an_attribute_has_its_length),
		cmocka_unit_test(an_unknown_attribute_is_emptied_and_the_next_one_stays),
		cmocka_unit_test(a_target_note_names_an_architecture_and_a_toolkit),
		cmocka_unit_test(a_tool_note_names_tools_and_options),
		cmocka_unit_test(heads_of_frames_hold_small_numbers),
		cmocka_unit_test(places_of_frames_are_addresses),
		cmocka_unit_test(rules_of_frames_stay_to_the_first_unknown),
		cmocka_unit_test(the_symbol_of_a_section_is_called_like_it),
		cmocka_unit_test(numbers_of_headers_and_symbols_are_places_or_sizes),
		cmocka_unit_test(operands_of_unknown_opcodes_go_and_keep_their_length),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
