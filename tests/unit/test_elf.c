/* SPDX-License-Identifier: Apache-2.0 */
/* src/elf: the escapes, cut files, refusals. */
#include "unit.h"

#include "elf/elf.h"
#include "elf/exported.h"

/* An ELF header, `n` section headers behind it, then the name table "\0.a\0.b\0". */
enum { N = 3, NAMES = 7, FILE_BYTES = 64 + N * 64 + NAMES };

static void put(uint8_t *p, uint64_t value, unsigned n_bytes)
{
	for (unsigned i = 0; i < n_bytes; i++)
		p[i] = (uint8_t)(value >> (8 * i));
}

static void sample(uint8_t file[FILE_BYTES], bool escaped)
{
	memset(file, 0, FILE_BYTES);
	memcpy(file,
	       "\x7f"
	       "ELF\x02\x01\x01\x33\x07",
	       9);
	put(file + 16, WSI_ET_CORE, 2);
	put(file + 18, WSI_EM_CUDA, 2);
	put(file + 40, 64, 8);
	put(file + 58, 64, 2);
	put(file + 60, escaped ? 0 : N, 2);
	put(file + 62, escaped ? WSI_SHN_XINDEX : 2, 2);
	if (escaped) {
		put(file + 64 + 32, N, 8);
		put(file + 64 + 40, 2, 4);
	}
	put(file + 128, 1, 4); /* section 1: ".a", no bytes */
	put(file + 192, 4, 4); /* section 2: ".b", the names */
	put(file + 192 + 4, WSI_SHT_STRTAB, 4);
	put(file + 192 + 24, 64 + N * 64, 8);
	put(file + 192 + 32, NAMES, 8);
	memcpy(file + 64 + N * 64, "\0.a\0.b", NAMES);
}

static void counts_and_names_with_and_without_escapes(void **state)
{
	(void)state;
	for (int escaped = 0; escaped < 2; escaped++) {
		uint8_t file[FILE_BYTES];
		sample(file, escaped);
		struct wsi_elf elf;
		assert_int_equal(wsi_elf_open((struct ws_span){ file, FILE_BYTES, 0 }, &elf, NULL),
				 WS_OK);
		assert_int_equal(elf.n_sections, N);
		assert_int_equal(elf.n_present, N);
		assert_int_equal(wsi_elf_find(&elf, ".a"), 1);
		assert_int_equal(wsi_elf_find(&elf, ".b"), 2);
		assert_int_equal(wsi_elf_find(&elf, ".c"), UINT64_MAX);
	}
}

/* Every byte of a header differs from its neighbours', so that no field can be read elsewhere. */
static void every_field_is_read_where_the_format_has_it(void **state)
{
	(void)state;
	uint8_t file[192] = "\x7f"
			    "ELF\x02\x01\x01\x33\x07";
	for (size_t i = 16; i < WSI_COUNT(file); i++)
		file[i] = (uint8_t)i;
	put(file + 40, 128, 8); /* section headers: one, behind the header and a symbol */
	put(file + 58, 64, 2);
	put(file + 60, 1, 2);
	struct wsi_elf elf;
	assert_int_equal(wsi_elf_open((struct ws_span){ file, sizeof file, 0 }, &elf, NULL), WS_OK);
	assert_int_equal(elf.osabi, 0x33);
	assert_int_equal(elf.abi_version, 7);
	assert_int_equal(elf.type, 0x1110);
	assert_int_equal(elf.machine, 0x1312);
	assert_int_equal(elf.version, 0x17161514);
	assert_int_equal(elf.phoff, UINT64_C(0x2726252423222120));
	assert_int_equal(elf.shoff, 128);
	assert_int_equal(elf.flags, 0x33323130);
	assert_int_equal(elf.phnum, 0x3938);
	assert_int_equal(elf.shentsize, 64);
	assert_int_equal(elf.n_sections, 1);
	assert_int_equal(elf.shstrndx, 0x3f3e);

	struct wsi_shdr shdr = wsi_elf_shdr(&elf, 0);
	assert_int_equal(shdr.name, 0x83828180);
	assert_int_equal(shdr.type, 0x87868584);
	assert_int_equal(shdr.flags, UINT64_C(0x8f8e8d8c8b8a8988));
	assert_int_equal(shdr.addr, UINT64_C(0x9796959493929190));
	assert_int_equal(shdr.offset, UINT64_C(0x9f9e9d9c9b9a9998));
	assert_int_equal(shdr.size, UINT64_C(0xa7a6a5a4a3a2a1a0));
	assert_int_equal(shdr.link, 0xabaaa9a8);
	assert_int_equal(shdr.info, 0xafaeadac);
	assert_int_equal(shdr.addralign, UINT64_C(0xb7b6b5b4b3b2b1b0));
	assert_int_equal(shdr.entsize, UINT64_C(0xbfbebdbcbbbab9b8));
	uint8_t again[WSI_SHDR_BYTES];
	wsi_shdr_store(again, &shdr);
	assert_memory_equal(again, file + 128, sizeof again);

	struct wsi_sym sym = wsi_elf_sym((struct ws_span){ file + 64, 48, 64 }, 1);
	assert_int_equal(sym.name, 0x5b5a5958);
	assert_int_equal(sym.info, 0x5c);
	assert_int_equal(sym.other, 0x5d);
	assert_int_equal(sym.shndx, 0x5f5e);
	assert_int_equal(sym.value, UINT64_C(0x6766656463626160));
	assert_int_equal(sym.size, UINT64_C(0x6f6e6d6c6b6a6968));
}

static struct wsi_elf opened(const uint8_t file[FILE_BYTES], size_t len)
{
	struct wsi_elf elf;
	assert_int_equal(wsi_elf_open((struct ws_span){ file, len, 0 }, &elf, NULL), WS_OK);
	return elf;
}

/* Then the counts stand for nothing, and the size of a header is 0 in many files. */
static void a_file_without_section_headers_has_none(void **state)
{
	(void)state;
	for (int escaped = 0; escaped < 2; escaped++) {
		uint8_t file[FILE_BYTES];
		sample(file, escaped);
		put(file + 32, N,
		    8); /* where the count would be if the file's start were a header */
		put(file + 40, 0, 8);
		put(file + 58, 0, 2);
		struct wsi_elf elf = opened(file, FILE_BYTES);
		assert_int_equal(elf.n_present, 0);
		assert_int_equal(elf.n_sections, escaped ? 0 : N);
		assert_int_equal(elf.headers.len, 0);
		assert_int_equal(elf.shstrtab.len, 0);
		assert_int_equal(wsi_elf_find(&elf, ".a"), UINT64_MAX);
	}
}

/* Headers may be farther apart than their 64 bytes; the last one ends with those. */
static void headers_with_space_between_them(void **state)
{
	(void)state;
	enum { STRIDE = 80 };
	for (size_t len = 64; len <= 64 + 2 * STRIDE; len++) {
		uint8_t file[FILE_BYTES];
		sample(file, false);
		put(file + 58, STRIDE, 2);
		put(file + 60, 2, 2);
		put(file + 62, 0, 2);
		put(file + 64 + STRIDE + 16, 0x7700, 8);
		struct wsi_elf elf = opened(file, len);
		assert_int_equal(elf.n_present, (len >= 64 + 64) + (len >= 64 + STRIDE + 64));
		if (elf.n_present == 2)
			assert_int_equal(wsi_elf_shdr(&elf, 1).addr, 0x7700);
	}
}

/* Section 0 is none, even where it has a size; nor is one behind the last. */
static void names_are_in_a_section_that_is_there(void **state)
{
	(void)state;
	static const struct {
		uint16_t index;
		size_t len;
	} cases[] = { { 0, 0 }, { 1, 5 }, { 2, NAMES }, { N, 0 }, { N + 1, 0 } };
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		uint8_t file[FILE_BYTES + 64] = { 0 };
		sample(file, false);
		put(file + 62, cases[i].index, 2);
		put(file + 64 + 32, 3, 8);
		put(file + 128 + 32, 5, 8);
		struct wsi_elf elf = opened(file, sizeof file);
		assert_int_equal(elf.shstrtab.len, cases[i].len);
	}
}

static void names_and_their_heads_end_with_the_table(void **state)
{
	(void)state;
	enum { TABLE = 64 + N * 64, LONG = 60 };
	static const struct {
		uint32_t name;
		size_t len, head_len;
	} cases[] = {
		{ 0, 0, 0 },
		{ 1, LONG, WSI_NAME_HEAD - 1 },
		{ 1 + LONG - WSI_NAME_HEAD, WSI_NAME_HEAD, WSI_NAME_HEAD - 1 },
		{ 2 + LONG - WSI_NAME_HEAD, WSI_NAME_HEAD - 1, WSI_NAME_HEAD - 1 },
		{ 3 + LONG - WSI_NAME_HEAD, WSI_NAME_HEAD - 2, WSI_NAME_HEAD - 2 },
		{ LONG, 1, 1 },
		{ LONG + 1, 0, 0 },
		{ LONG + 2, 0, 4 }, /* without an end: no name, but a head */
		{ LONG + 5, 0, 1 },
		{ LONG + 6, 0, 0 }, /* outside */
		{ UINT32_MAX, 0, 0 },
	};
	uint8_t file[TABLE + LONG + 7 + WSI_NAME_HEAD];
	memset(file, 'x', sizeof file); /* behind the table, too */
	sample(file, false);
	put(file + 192 + 32, LONG + 6, 8);
	file[TABLE] = 0;
	for (unsigned i = 1; i <= LONG; i++)
		file[TABLE + i] = (uint8_t)('0' + i % 10);
	memcpy(file + TABLE + LONG + 1, "\0rest", 6); /* what ends "rest" is not in the table */
	struct wsi_elf elf = opened(file, sizeof file);
	for (size_t n = 0; n < 2 * WSI_COUNT(cases); n++) {
		const size_t i = n % WSI_COUNT(cases);
		const struct wsi_shdr shdr = { .name = cases[i].name };
		char head[WSI_NAME_HEAD];
		if (n == WSI_COUNT(cases))
			file[TABLE + LONG + 6] = 'x'; /* now nothing does */
		memset(head, '?', sizeof head);
		assert_int_equal(wsi_elf_name(&elf, &shdr).len, cases[i].len);
		wsi_elf_name_head(&elf, &shdr, head);
		assert_int_equal(strlen(head), cases[i].head_len);
		assert_memory_equal(head, file + TABLE + (cases[i].head_len ? cases[i].name : 0),
				    cases[i].head_len);
	}
}

static void cut_anywhere_keeps_whole_headers_only(void **state)
{
	(void)state;
	for (size_t len = 0; len < FILE_BYTES; len++) {
		uint8_t file[FILE_BYTES], *cut = wsi_zalloc(len);
		assert_non_null(cut);
		sample(file, len % 2);
		memcpy(cut, file, len); /* its own block, so that reading on is seen */
		struct wsi_elf elf;
		struct ws_error err;
		enum ws_status st = wsi_elf_open((struct ws_span){ cut, len, 1000 }, &elf, &err);
		if (len < 64) {
			assert_int_equal(st, WS_TRUNCATED);
			assert_int_equal(err.file_off, 1000 + len);
		} else {
			assert_int_equal(st, WS_OK);
			size_t whole = (len - 64) / 64;
			assert_int_equal(elf.n_present, whole > N ? N : whole);
			for (uint64_t i = 0; i < elf.n_present; i++) {
				struct wsi_shdr shdr = wsi_elf_shdr(&elf, i);
				struct ws_span bytes;
				(void)wsi_elf_bytes(&elf, &shdr, &bytes);
				(void)wsi_elf_name(&elf, &shdr);
			}
		}
		wsi_free(cut);
	}
}

static void refusals_say_what_the_file_is(void **state)
{
	(void)state;
	static const struct {
		size_t at;
		uint8_t value;
		enum ws_status st;
		uint64_t file_off; /* none where the file is of another kind: it is not damaged */
		const char *message;
	} cases[] = {
		{ 0, 'M', WS_UNSUPPORTED, WS_NO_OFFSET, "not an ELF file" },
		{ 4, 1, WS_UNSUPPORTED, WS_NO_OFFSET,
		  "a 32-bit ELF file; only 64-bit ones are read" },
		{ 4, 9, WS_UNSUPPORTED, 4, "ELF class 9 is neither 32 nor 64 bit" },
		{ 5, 2, WS_UNSUPPORTED, WS_NO_OFFSET,
		  "a big-endian ELF file; only little-endian ones are read" },
		{ 5, 9, WS_UNSUPPORTED, 5, "ELF byte order 9 is unknown" },
		{ 58, 40, WS_MALFORMED, 58, "section headers of 40 bytes; they need 64" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		uint8_t file[FILE_BYTES];
		sample(file, false);
		file[cases[i].at] = cases[i].value;
		struct wsi_elf elf;
		struct ws_error err;
		bool is_damaged = cases[i].file_off != WS_NO_OFFSET;
		/* at an offset of another file, say of an archive */
		assert_int_equal(
			wsi_elf_open((struct ws_span){ file, FILE_BYTES, 1000 }, &elf, &err),
			cases[i].st);
		assert_string_equal(err.message, cases[i].message);
		assert_int_equal(err.file_off, cases[i].file_off + (is_damaged ? 1000 : 0));
	}
}

static void offsets_near_the_end_of_the_number_space_are_outside(void **state)
{
	(void)state;
	uint8_t file[FILE_BYTES];
	sample(file, false);
	put(file + 40, UINT64_MAX - 10, 8);
	struct wsi_elf elf;
	assert_int_equal(wsi_elf_open((struct ws_span){ file, FILE_BYTES, 0 }, &elf, NULL), WS_OK);
	assert_int_equal(elf.n_present, 0);
	assert_int_equal(elf.n_sections, N);

	sample(file, false);
	put(file + 192 + 24, UINT64_MAX - 2, 8);
	put(file + 192 + 32, UINT64_MAX, 8);
	assert_int_equal(wsi_elf_open((struct ws_span){ file, FILE_BYTES, 0 }, &elf, NULL), WS_OK);
	assert_int_equal(elf.shstrtab.len, 0);
}

/* The headers, or the bytes of a section that has bytes. */
static void a_file_ends_after_its_last_byte(void **state)
{
	(void)state;
	static const struct {
		uint32_t type;
		uint64_t offset, size, end;
	} cases[] = {
		{ WSI_SHT_STRTAB, FILE_BYTES - NAMES, NAMES, FILE_BYTES },
		{ WSI_SHT_STRTAB, 5000, 77, 5077 },
		{ WSI_SHT_STRTAB, 0, 64 + N * 64 - 1, 64 + N * 64 },
		{ WSI_SHT_STRTAB, UINT64_MAX - 1, 7, UINT64_MAX },
		{ WSI_SHT_NOBITS, 5000, 77, 64 + N * 64 },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		for (uint32_t section = 0; section < N; section++) {
			uint8_t file[FILE_BYTES];
			sample(file, false);
			put(file + 192 + 32, 0, 8);
			put(file + 64 + 64 * section + 4, cases[i].type, 4);
			put(file + 64 + 64 * section + 24, cases[i].offset, 8);
			put(file + 64 + 64 * section + 32, cases[i].size, 8);
			struct wsi_elf elf;
			assert_int_equal(
				wsi_elf_open((struct ws_span){ file, FILE_BYTES, 0 }, &elf, NULL),
				WS_OK);
			/* the first header is of no section */
			assert_int_equal(wsi_elf_end(&elf), section ? cases[i].end : 64 + N * 64);
		}
	}
}

/* A library: three section headers, of which one is of symbols and one has their names. */
enum {
	NAMES_HEADER = 64 + 64,
	SYMBOLS_HEADER = 64 + 2 * 64,
	SYMBOLS = 64 + 3 * 64,
	N_SYMBOLS = 5,
	LIBRARY_NAMES = SYMBOLS + N_SYMBOLS * WSI_SYM_BYTES
};
static const char library_names[] = "\0puts\0put\0cut";
enum { LIBRARY = LIBRARY_NAMES + sizeof library_names - 1 };

static void symbol(uint8_t *p, uint32_t name, uint16_t section, uint64_t value)
{
	put(p, name, 4);
	put(p + 6, section, 2);
	put(p + 8, value, 8);
}

static void library(uint8_t file[LIBRARY])
{
	memset(file, 0, LIBRARY);
	memcpy(file,
	       "\x7f"
	       "ELF\x02\x01\x01",
	       7);
	put(file + 16, WSI_ET_CORE, 2);
	put(file + 40, 64, 8);
	put(file + 58, 64, 2);
	put(file + 60, 3, 2);
	uint8_t *header = file + SYMBOLS_HEADER;
	put(header + 4, WSI_SHT_DYNSYM, 4);
	put(header + 24, SYMBOLS, 8);
	put(header + 32, N_SYMBOLS * WSI_SYM_BYTES, 8);
	put(header + 40, 1, 4);
	header = file + NAMES_HEADER;
	put(header + 4, WSI_SHT_STRTAB, 4);
	put(header + 24, LIBRARY_NAMES, 8);
	put(header + 32, sizeof library_names - 1, 8);
	uint8_t *row = file + SYMBOLS + WSI_SYM_BYTES;  /* the first is no symbol */
	symbol(row - WSI_SYM_BYTES, 1, 7, 0x5000);      /* whatever it says */
	symbol(row, 1, 7, 0x2000);                      /* "puts" */
	symbol(row + WSI_SYM_BYTES, 6, 0, 0x1000);      /* "put", of another library */
	symbol(row + 2 * WSI_SYM_BYTES, 6, 7, 0x3000);  /* "put" */
	symbol(row + 3 * WSI_SYM_BYTES, 10, 7, 0x4000); /* "cut", which has no end */
	memcpy(file + LIBRARY_NAMES, library_names, sizeof library_names - 1);
}

static void an_exported_symbol_is_found_by_its_whole_name(void **state)
{
	(void)state;
	uint8_t file[LIBRARY + 1] = { 0 }; /* behind it, what would end "cut" */
	const struct ws_span whole = { file, LIBRARY, 0 };
	library(file);
	assert_int_equal(wsi_elf_exported(whole, "puts"), 0x2000);
	assert_int_equal(wsi_elf_exported(whole, "put"), 0x3000);
	assert_int_equal(wsi_elf_exported(whole, "pu"), 0);
	assert_int_equal(wsi_elf_exported(whole, "cut"), 0);
	put(file + NAMES_HEADER + 32, sizeof library_names, 8);
	assert_int_equal(wsi_elf_exported((struct ws_span){ file, LIBRARY + 1, 0 }, "cut"), 0x4000);
	put(file + SYMBOLS + WSI_SYM_BYTES, LIBRARY, 4);
	assert_int_equal(wsi_elf_exported(whole, "puts"), 0);
}

static void symbols_may_come_before_their_names(void **state)
{
	(void)state;
	uint8_t file[LIBRARY], header[64];
	library(file);
	memcpy(header, file + SYMBOLS_HEADER, sizeof header);
	memcpy(file + SYMBOLS_HEADER, file + NAMES_HEADER, sizeof header);
	memcpy(file + NAMES_HEADER, header, sizeof header);
	put(file + NAMES_HEADER + 40, 2, 4);
	assert_int_equal(wsi_elf_exported((struct ws_span){ file, LIBRARY, 0 }, "puts"), 0x2000);
}

static void a_file_without_exported_symbols_has_none(void **state)
{
	(void)state;
	uint8_t file[LIBRARY];
	library(file);
	file[0] = 0;
	assert_int_equal(wsi_elf_exported((struct ws_span){ file, LIBRARY, 0 }, "put"), 0);
	library(file);
	put(file + SYMBOLS_HEADER + 4, WSI_SHT_SYMTAB, 4);
	assert_int_equal(wsi_elf_exported((struct ws_span){ file, LIBRARY, 0 }, "put"), 0);
	for (size_t len = 1; len < LIBRARY; len++) { /* on the heap: a sanitizer sees its end */
		uint8_t *cut = wsi_zalloc(len);
		assert_non_null(cut);
		library(file);
		memcpy(cut, file, len);
		/* its names end with the file: they are not all there */
		assert_int_equal(wsi_elf_exported((struct ws_span){ cut, len, 0 }, "put"), 0);
		wsi_free(cut);
	}
	library(file);
	put(file + SYMBOLS_HEADER + 24, LIBRARY - N_SYMBOLS * WSI_SYM_BYTES + 1,
	    8); /* symbols cut, not names */
	assert_int_equal(wsi_elf_exported((struct ws_span){ file, LIBRARY, 0 }, "put"), 0);
	library(file);
	put(file + SYMBOLS_HEADER + 40, 3, 4); /* names in a section that is not there */
	assert_int_equal(wsi_elf_exported((struct ws_span){ file, LIBRARY, 0 }, "put"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_and_names_with_and_without_escapes),
		cmocka_unit_test(every_field_is_read_where_the_format_has_it),
		cmocka_unit_test(a_file_without_section_headers_has_none),
		cmocka_unit_test(headers_with_space_between_them),
		cmocka_unit_test(names_are_in_a_section_that_is_there),
		cmocka_unit_test(names_and_their_heads_end_with_the_table),
		cmocka_unit_test(cut_anywhere_keeps_whole_headers_only),
		cmocka_unit_test(refusals_say_what_the_file_is),
		cmocka_unit_test(offsets_near_the_end_of_the_number_space_are_outside),
		cmocka_unit_test(a_file_ends_after_its_last_byte),
		cmocka_unit_test(an_exported_symbol_is_found_by_its_whole_name),
		cmocka_unit_test(symbols_may_come_before_their_names),
		cmocka_unit_test(a_file_without_exported_symbols_has_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
