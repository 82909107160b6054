/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler: what mistakes are told, and that the module reader finds what the text says. */
#include "unit.h"

#include <warpscope/assemble.h>
#include <warpscope/cubin.h>
#include <warpscope/sass.h>

struct message {
	uint32_t line, column;
	char text[200];
};

struct messages {
	struct message item[WS_ASSEMBLE_MAX_ERRORS + 1];
	size_t n;
};

static void collect(void *user, uint32_t line, uint32_t column, const char *text)
{
	struct messages *messages = user;
	assert_true(messages->n < WSI_COUNT(messages->item));
	struct message *message = &messages->item[messages->n++];
	message->line = line;
	message->column = column;
	wsi_format(message->text, "%s", text);
}

static enum ws_status assemble(const char *text, const char *arch, struct messages *messages,
			       struct ws_assembly **ret_assembly)
{
	struct ws_assemble_options options = { .arch = arch, .report = collect, .user = messages };
	struct ws_error err = { .status = WS_OK };
	messages->n = 0;
	enum ws_status st = ws_assemble(ws_str_of(text), &options, ret_assembly, &err);
	assert_int_equal(err.status, st);
	return st;
}

static struct ws_assembly *assembled(const char *text, const char *arch)
{
	struct messages messages;
	struct ws_assembly *assembly = NULL;
	enum ws_status st = assemble(text, arch, &messages, &assembly);
	if (messages.n)
		print_message("# %u:%u: %s\n", messages.item[0].line, messages.item[0].column,
			      messages.item[0].text);
	assert_int_equal(st, WS_OK);
	return assembly;
}

#define TEN "abcdefghij"
#define IN_KERNEL(statement) ".arch sm_80\n.kernel k\n\t" statement "\n.end\n"

static void each_mistake_has_its_place(void **state)
{
	(void)state;
	static const struct {
		const char *source;
		uint32_t line, column;
		const char *text; /* part of the message */
	} cases[] = {
		{ ".kernel k\n.end", 1, 9, ".arch must come before" },
		{ ".arch sm_60", 1, 7, "no instruction table for sm_60" },
		{ ".arch sm_80 ,", 1, 13, "nothing more" },
		{ ".arch sm_80\n.arch sm_80", 2, 7, "a second .arch" },
		{ "\n EXIT", 2, 2, "an instruction is not allowed outside" },
		{ "x: // a label", 1, 1, "a label is not allowed outside" },
		{ ".arch sm_80\n.kernel\n.end", 2, 8, "a name is needed" },
		{ ".arch sm_80\n.kernel k\n", 2, 9, "no .end" },
		{ ".global g\n.u8 256\n.end", 2, 5, "more than 8 bits" },
		{ ".global g\n.u8 1, -129\n.end", 2, 8, "more than 8 bits" },
		{ ".global g\n.u16 0x10000\n.end", 2, 6, "more than 16 bits" },
		{ ".global g\n.u16 -32769\n.end", 2, 6, "more than 16 bits" },
		{ ".global g\n.u32 0x100000000\n.end", 2, 6, "more than 32 bits" },
		{ ".global g\n.u32 -0x80000001\n.end", 2, 6, "more than 32 bits" },
		{ ".global g\n.u64 0x10000000000000000\n.end", 2, 6, "a number or" },
		{ ".global g\n.u64 -0x8000000000000001\n.end", 2, 6, "a number or" },
		{ ".global g\n.u32 `(g)\n.end", 2, 6, "an address needs .u64" },
		{ ".global g\n.u64 `(h)\n.end", 2, 6, "no function or data is named 'h'" },
		{ ".const c\n.zero 0x10001\n.end", 1, 8, "more than 65536 bytes" },
		{ ".global g\n.u8 1\n.zero 0x40000000\n.end", 1, 9, "more than 16777216 bytes" },
		{ IN_KERNEL("FOO R1"), 3, 2, "sm_80 has no operation 'FOO'" },
		{ IN_KERNEL("MOV R1, R2, R3"), 3, 14, "cannot encode" },
		{ IN_KERNEL("MOV  R1 , [R2]"), 3, 12, "cannot encode" },
		{ IN_KERNEL("MOV R1,"), 3, 9, "cannot encode" },
		{ IN_KERNEL("MOV R1 ,"), 3, 10, "cannot encode" },
		{ IN_KERNEL("MOV R1, `(x)"), 3, 10, "nothing is named 'x'" },
		{ "." TEN TEN TEN "a234567890", 1, 1, "'." TEN TEN TEN "a23456789'" },
		{ IN_KERNEL("MOV R1, `(" TEN TEN TEN TEN TEN TEN "n)"), 3, 10,
		  "'" TEN TEN TEN TEN TEN TEN "'" },
		{ ".global g\n.u64 `(" TEN TEN TEN TEN TEN TEN "n)\n.end", 2, 6,
		  "'" TEN TEN TEN TEN TEN TEN "'" },
		{ IN_KERNEL("MOV R1, `(x"), 3, 10, "must follow" },
		{ IN_KERNEL("BRA `(k+0x8000000000)"), 3, 6, "must follow" },
		{ IN_KERNEL("MOV R1, R2 /* stall"), 3, 13, "does not end" },
		{ IN_KERNEL("EXIT ; EXIT"), 3, 9, "after ;" },
		{ IN_KERNEL("IADD3 R0, 32@lo(k), 32@hi(k), R1"), 3, 22, "a second address" },
		{ IN_KERNEL("l: l: EXIT"), 3, 5, "also defined in line 3" },
		{ IN_KERNEL(".regs 256"), 3, 8, "above 255" },
		{ IN_KERNEL(".regs -1"), 3, 8, "above 255" },
		{ IN_KERNEL(".param p 0"), 3, 9, "does not fit" },
		{ IN_KERNEL(".param p 8\n.param q 4 at 4"), 4, 8, "does not fit" },
		{ IN_KERNEL(".shared s 8 align 6"), 3, 20, "power of two" },
		{ IN_KERNEL(".param p 8 to texture"), 3, 16, "expected local, shared" },
		{ IN_KERNEL(".param p 8 to global align 3"), 3, 29, "power of two" },
		{ IN_KERNEL(".param p 8 hidden to"), 3, 20, "nothing more" },
		{ IN_KERNEL(".shared s 1048576\n.shared t 1"), 4, 9, "more than 1048576" },
		{ IN_KERNEL(".shared s 8\nMOV R1, 32@lo(s)"), 4, 9, "has no address" },
		{ IN_KERNEL("CALL.REL.NOINC `(f)\n.end\n.func f"), 3, 17, "CALL.ABS" },
		{ ".arch sm_80\n.func f\n.param p 4\n.end", 3, 8, "only a kernel" },
		{ ".arch sm_80\n.func f\n.end\n.object", 4, 8, "before functions and data" },
		{ ".object\n" IN_KERNEL(".shared s 8\nMOV R1, `(s)"), 5, 9, "a linker places 's'" },
		{ ".object\n.const c\n.u8 1\n.end\n" IN_KERNEL("MOV R1, `(c)"), 7, 10,
		  "a linker places 'c'" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct messages messages;
		struct ws_assembly *assembly = NULL;
		assert_int_equal(assemble(cases[i].source, NULL, &messages, &assembly),
				 WS_MALFORMED);
		assert_null(assembly);
		const struct message *first = &messages.item[0];
		if (messages.n != 1 || first->line != cases[i].line ||
		    first->column != cases[i].column || !strstr(first->text, cases[i].text))
			fail_msg("'%s': %zu messages, the first %u:%u: %s", cases[i].source,
				 messages.n, first->line, first->column, first->text);
	}
}

static void all_mistakes_are_told_up_to_a_limit(void **state)
{
	(void)state;
	struct messages messages;
	struct ws_assembly *assembly = NULL;
	static const char start[] = ".arch sm_80\n.kernel k\n";
	char source[sizeof start + 3 * 1000];
	memcpy(source, start, sizeof start - 1);
	for (size_t i = sizeof start - 1; i < sizeof source - 1; i += 3)
		memcpy(source + i, "NO\n", 3);
	source[sizeof start - 1 + 3 * 3] = '\0';
	assert_int_equal(assemble(source, NULL, &messages, &assembly), WS_MALFORMED);
	assert_int_equal(messages.n, 3 + 1); /* and no .end */
	source[sizeof start - 1 + 3 * 3] = 'N';
	source[sizeof source - 1] = '\0';
	assert_int_equal(assemble(source, NULL, &messages, &assembly), WS_MALFORMED);
	assert_int_equal(messages.n, WS_ASSEMBLE_MAX_ERRORS);
}

/* As many functions as an image has sections for, and one more. */
static void functions_are_as_many_as_an_image_has_room_for(void **state)
{
	(void)state;
	enum { MOST = 8000, LINE = 32 };
	struct messages messages;
	struct ws_assembly *assembly = NULL;
	char *text = wsi_zalloc((MOST + 2) * LINE), *at = text;
	at += snprintf(at, LINE, ".arch sm_80\n");
	for (unsigned i = 0; i < MOST; i++)
		at += snprintf(at, LINE, ".func f%u\nEXIT\n.end\n", i);
	ws_assembly_destroy(assembled(text, NULL));
	snprintf(at, LINE, ".func last\nEXIT\n.end\n");
	assert_int_equal(assemble(text, NULL, &messages, &assembly), WS_MALFORMED);
	assert_int_equal(messages.n, 1);
	assert_int_equal(messages.item[0].line, 3 * MOST + 2);
	assert_string_equal(messages.item[0].text, "more than 8000 functions");
	wsi_free(text);
}

static void a_text_beyond_the_limit_is_not_read(void **state)
{
	(void)state;
	struct ws_assembly *assembly = NULL;
	const struct ws_str claimed = { "", WS_ASSEMBLE_MAX_SOURCE + 1 };
	assert_int_equal(ws_assemble(claimed, NULL, &assembly, NULL), WS_LIMIT);
	assert_null(assembly);
}

static void a_bad_architecture_is_told(void **state)
{
	(void)state;
	struct messages messages;
	struct ws_assembly *assembly = NULL;
	assert_int_equal(assemble("", "80", &messages, &assembly), WS_ARGUMENT);
	assert_int_equal(assemble("", "sm_60", &messages, &assembly), WS_UNSUPPORTED);
}

static const char program[] = ".arch sm_80\n"
			      ".const c\n.u32 1, 2\n.end\n"
			      ".global g\n.zero 12\n.end\n"
			      ".kernel k\n"
			      "	.barriers 3\n"
			      "	.frame 24\n"
			      "	.stack 40\n"
			      "	.param a 1\n"
			      "	.param b 8\n"
			      "	.shared s 20\n"
			      "	.shared t 4 align 64\n"
			      "	IMAD.WIDE R40, R2, R3, R4\n"
			      "	MOV R1, c[0x0][`(b)]\n"
			      "	MOV R1, `(t+1)\n"
			      "	@P0 EXIT\n"
			      "	CALL.ABS.NOINC `(f)\n"
			      "	MOV R1, 32@lo(last)\n"
			      "last:	EXIT\n"
			      ".inner $k$i\n"
			      "	RET.REL.NODEC R20 `(k)\n"
			      ".end\n"
			      ".func f\n"
			      "	MOV R100, R1\n"
			      "	RET.ABS.NODEC R20 0x0\n"
			      ".end\n";

/* Text of the instruction at an offset. */
static const char *text_at(struct ws_cubin *cubin, const struct ws_function *function, uint64_t off)
{
	static char text[WS_SASS_TEXT_MAX];
	struct ws_cubin_facts facts;
	struct ws_span code, word = { .ptr = NULL };
	struct ws_insn insn;
	ws_cubin_facts(cubin, &facts);
	assert_int_equal(ws_cubin_code(cubin, function, &code, NULL), WS_OK);
	assert_true(ws_span_sub(code, off, WS_SASS_BYTES, &word));
	ws_sass_decode(facts.sm, word.ptr, &insn);
	ws_sass_format(&insn, off, NULL, text, sizeof text);
	return text;
}

static const struct ws_function *function_named(struct ws_cubin *cubin, const char *name)
{
	const struct ws_function *function = NULL;
	assert_int_equal(ws_cubin_find_function(cubin, ws_str_of(name), &function, NULL), WS_OK);
	return function;
}

static void the_module_reader_finds_what_the_text_says(void **state)
{
	(void)state;
	static const struct {
		const char *arch;
		uint32_t sm, base, shared_base;
		const char *param, *shared;
		uint32_t call_type;
	} cases[] = {
		{ NULL, 80, 0x160, 0, "MOV R1, c[0x0][0x168]", "MOV R1, 0x41", 58 },
		{ "sm_75", 75, 0x160, 0, "MOV R1, c[0x0][0x168]", "MOV R1, 0x41", 58 },
		{ "sm_90a", 90, 0x210, 0x400, "MOV R1, c[0x0][0x218]", "MOV R1, 0x441", 75 },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct ws_assembly *assembly = assembled(program, cases[i].arch);
		struct ws_cubin *m;
		struct ws_cubin_facts facts;
		struct ws_function_info info;
		struct ws_param params[4];
		uint32_t exits[4];
		struct ws_reloc relocs[4];
		size_t n;
		assert_int_equal(ws_cubin_open(ws_assembly_image(assembly), &m, NULL), WS_OK);
		assert_false(ws_cubin_damage(m, NULL));
		ws_cubin_facts(m, &facts);
		assert_int_equal(facts.sm, cases[i].sm);
		assert_int_equal(facts.virtual_sm, cases[i].sm);
		assert_int_equal(facts.variant, cases[i].sm == 90 ? 'a' : 0);
		const struct ws_function *k = function_named(m, "k"), *f = function_named(m, "f"),
					 *inner = function_named(m, "i");
		assert_true(k->is_kernel && !f->is_kernel && inner->is_inner);
		assert_int_equal(k->n_regs, 101); /* it calls: the highest of the file */
		assert_int_equal(f->n_regs, 101);
		assert_int_equal(k->frame_bytes, 24);
		assert_int_equal(k->min_stack_bytes, 40);
		assert_int_equal(inner->sec_off, 0x70);
		assert_int_equal(inner->size_bytes, 0x10);
		assert_int_equal(ws_cubin_function_info(m, k, &info, params, 4, exits, 4, NULL),
				 WS_OK);
		assert_int_equal(info.param_bank_offset, cases[i].base);
		assert_int_equal(info.param_bytes, 16);
		assert_int_equal(info.shared_bytes, cases[i].shared_base + 68);
		assert_int_equal(info.n_barriers, 3);
		assert_int_equal(info.n_params, 2);
		assert_int_equal(params[1].offset, 8);
		assert_int_equal(params[1].size_bytes, 8);
		assert_int_equal(info.n_exits, 2);
		assert_int_equal(exits[1], 0x60);
		assert_string_equal(text_at(m, k, 0x10), cases[i].param);
		assert_string_equal(text_at(m, k, 0x20), cases[i].shared);
		assert_int_equal(ws_cubin_relocs(m, k->section, relocs, 4, &n, NULL), WS_OK);
		assert_int_equal(n, 2);
		assert_int_equal(relocs[0].kind, WS_RELOC_CALL);
		assert_int_equal(relocs[0].type, cases[i].call_type);
		assert_true(ws_str_equal(relocs[0].symbol, ws_str_of("f")));
		assert_int_equal(relocs[1].kind, WS_RELOC_LOW);
		assert_int_equal(relocs[1].addend, 0x60);
		assert_true(ws_str_equal(relocs[1].symbol, ws_str_of("k")));
		ws_cubin_close(m);
		ws_assembly_destroy(assembly);
	}
}

/* As ptxas lays them out: what is long lies elsewhere up to sm_89, and names follow. */
static void parameters_lie_where_their_size_says(void **state)
{
	(void)state;
	static const struct {
		const char *arch, *first; /* of the names */
		uint32_t size, base;
	} cases[] = {
		{ "sm_80", "MOV R1, c[0x0][0x160]", 4348, 0x160 },
		{ "sm_80", "MOV R1, c[0x0][0x1a80]", 4349, 0x1a80 },
		{ "sm_90", "MOV R1, c[0x0][0x210]", 4349, 0x210 },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		char text[200];
		wsi_format(text,
			   ".kernel k\n.param a 4\n.param b %u at 4\nMOV R1, c[0x0][`(a)]\n"
			   "EXIT\n.shared s 296156\n.end\n",
			   cases[i].size);
		struct ws_assembly *assembly = assembled(text, cases[i].arch);
		struct ws_function_info info;
		struct ws_param params[2];
		struct ws_cubin *m;
		assert_int_equal(ws_cubin_open(ws_assembly_image(assembly), &m, NULL), WS_OK);
		const struct ws_function *k = function_named(m, "k");
		assert_int_equal(ws_cubin_function_info(m, k, &info, params, 2, NULL, 0, NULL),
				 WS_OK);
		assert_int_equal(info.param_bank_offset, cases[i].base);
		assert_int_equal(info.param_bytes, 4 + cases[i].size);
		assert_int_equal(info.shared_bytes - info.reserved_shared_bytes, 296156);
		assert_int_equal(params[1].size_bytes, cases[i].size);
		assert_string_equal(text_at(m, k, 0), cases[i].first);
		ws_cubin_close(m);
		ws_assembly_destroy(assembly);
	}
}

/* Number of a section; 0: there is none. */
static uint32_t section_number(struct ws_cubin *m, const char *name)
{
	struct ws_section section;
	for (uint32_t i = 1; i < ws_cubin_n_sections(m); i++) {
		assert_int_equal(ws_cubin_section(m, i, &section, NULL), WS_OK);
		if (ws_str_equal(section.name, ws_str_of(name)))
			return i;
	}
	return 0;
}

static struct ws_section section_named(struct ws_cubin *m, const char *name)
{
	struct ws_section section;
	uint32_t number = section_number(m, name);
	if (number == 0)
		fail_msg("no section %s", name);
	assert_int_equal(ws_cubin_section(m, number, &section, NULL), WS_OK);
	return section;
}

static void data_has_sections_of_its_size(void **state)
{
	(void)state;
	struct ws_assembly *assembly = assembled(
		".arch sm_80\n.const c\n.u32 1, 2\n.end\n.global z\n.zero 12\n.end\n"
		".global y align 32\n.zero 8\n.end\n.global i\n.u8 1, 2, 3\n.end\n"
		".global p align 8\n.u64 `(z+4)\n.end\n.kernel k\n.shared s 20\nEXIT\n.end\n",
		NULL);
	struct ws_cubin *m;
	const struct ws_variable *variables;
	size_t n = 0, seen = 0;
	assert_int_equal(ws_cubin_open(ws_assembly_image(assembly), &m, NULL), WS_OK);
	assert_int_equal(section_named(m, ".nv.constant3").size, 8);
	assert_int_equal(section_named(m, ".nv.global").size, 40);
	assert_int_equal(section_named(m, ".nv.global").bytes.len, 0);
	assert_int_equal(section_named(m, ".nv.global.init").size, 16);
	assert_int_equal(section_named(m, ".nv.global.init").bytes.len, 16);
	assert_int_equal(section_named(m, ".nv.shared.k").size, 20);
	assert_int_equal(section_named(m, ".text.k").size, 128);
	assert_int_equal(ws_cubin_variables(m, &variables, &n, NULL), WS_OK);
	for (size_t i = 0; i < n; i++) {
		static const struct {
			const char *name;
			uint64_t offset, size;
		} wanted[] = {
			{ "c", 0, 8 }, { "z", 0, 12 }, { "y", 32, 8 }, { "i", 0, 3 }, { "p", 8, 8 }
		};
		for (size_t k = 0; k < WSI_COUNT(wanted); k++) {
			if (!ws_str_equal(variables[i].name, ws_str_of(wanted[k].name)))
				continue;
			assert_int_equal(variables[i].offset, wanted[k].offset);
			assert_int_equal(variables[i].size_bytes, wanted[k].size);
			seen |= (size_t)1 << k;
		}
	}
	assert_int_equal(seen, 31);
	ws_cubin_close(m);
	ws_assembly_destroy(assembly);
}

/* The smallest and the largest number of each width, and the most of what is limited. */
static void what_just_fits_is_taken(void **state)
{
	(void)state;
	static const uint8_t bytes[] = {
		0x80, 0xff, 0x00, 0x80, 0xff, 0xff, 0,    0,    0,    0,    0,
		0x80, 0xff, 0xff, 0xff, 0xff, 0,    0,    0,    0,    0,    0,
		0,    0x80, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	};
	static const char numbers[] =
		".arch sm_80\n.global g\n.u8 -128, 255\n.u16 -32768, 0xffff, 0\n"
		".u32 -0x80000000, 0xffffffff\n"
		".u64 -0x8000000000000000, 0xffffffffffffffff\n.end";
	static const char *const limits[] = {
		IN_KERNEL(".regs 255"),
		IN_KERNEL(".shared s 262144"),
		IN_KERNEL(".param p 8\n.param q 4 at 8"),
		".arch sm_80\n.const c\n.zero 0x10000\n.end",
		".arch sm_80\n.global g\n.u8 1\n.zero 0xffffff\n.end",
	};
	struct ws_assembly *assembly = assembled(numbers, NULL);
	struct ws_cubin *m;
	assert_int_equal(ws_cubin_open(ws_assembly_image(assembly), &m, NULL), WS_OK);
	struct ws_section section = section_named(m, ".nv.global.init");
	assert_int_equal(section.bytes.len, sizeof bytes);
	assert_memory_equal(section.bytes.ptr, bytes, sizeof bytes);
	ws_cubin_close(m);
	ws_assembly_destroy(assembly);
	for (size_t i = 0; i < WSI_COUNT(limits); i++)
		ws_assembly_destroy(assembled(limits[i], NULL));
}

/* Addresses in data are the loader's to fill in, in either kind of data. */
static void addresses_in_data_are_relocated(void **state)
{
	(void)state;
	static const struct {
		const char *source, *section, *other;
	} cases[] = {
		{ ".arch sm_80\n.global z\n.zero 12\n.end\n"
		  ".const c\n.u64 7\n.u64 `(z+4)\n.end",
		  ".rela.nv.constant3", ".rela.nv.global.init" },
		{ ".arch sm_80\n.global z\n.zero 12\n.end\n"
		  ".global g\n.u64 7\n.u64 `(z+4)\n.end",
		  ".rela.nv.global.init", ".rela.nv.constant3" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct ws_assembly *assembly = assembled(cases[i].source, NULL);
		struct ws_cubin *m;
		struct ws_reloc reloc;
		size_t n;
		assert_int_equal(ws_cubin_open(ws_assembly_image(assembly), &m, NULL), WS_OK);
		assert_true(section_number(m, cases[i].section) > 0);
		assert_int_equal(section_number(m, cases[i].other), 0);
		uint32_t data = section_number(m, cases[i].section + strlen(".rela"));
		assert_int_equal(ws_cubin_relocs(m, data, &reloc, 1, &n, NULL), WS_OK);
		assert_int_equal(n, 1);
		assert_int_equal(reloc.sec_off, 8);
		assert_int_equal(reloc.addend, 4);
		assert_true(ws_str_equal(reloc.symbol, ws_str_of("z")));
		ws_cubin_close(m);
		ws_assembly_destroy(assembly);
	}
}

static void an_empty_text_gives_an_image_without_code(void **state)
{
	(void)state;
	struct ws_assembly *assembly = assembled("", "sm_121");
	struct ws_cubin *m;
	const struct ws_function *functions;
	size_t n = 1;
	assert_int_equal(ws_cubin_open(ws_assembly_image(assembly), &m, NULL), WS_OK);
	assert_int_equal(ws_cubin_functions(m, &functions, &n, NULL), WS_OK);
	assert_int_equal(n, 0);
	ws_cubin_close(m);
	ws_assembly_destroy(assembly);
}

static unsigned allocations, failing;

static bool fails_at_its_turn(void)
{
	return allocations++ == failing;
}

/* Names in quotes, and what stands beside instructions. */
static const char quoted[] =
	".arch sm_80\n.extern \"a b\" data named \"a\\x20b\"\n.global \"g@1\" align 4 local named "
	"g\n"
	".u64 `(\"g@2\"+8)\n.end\n.global \"g@2\" local named g\n.zero 4\n.end\n"
	".func \"f@1\" local named \"\\xe9\"\n.reloc 64 \"a b\"-0x10\n.reloc 68 +280\n"
	".targets \"x y\", \"f@1\"\nBRX R2 -0x10\n\"x y\": MOV R1, 32@hi(\"g@1\"+4)\n"
	".inner \"in\\x5c\" named n\nCALL.REL.NOINC `(\"in\\x5c\")\nEXIT\n.end\n";

static void fail_in_turn(const char *text)
{
	for (failing = 0; failing < 10000; failing++) {
		struct ws_assembly *assembly = NULL;
		allocations = 0;
		wsi_alloc_should_fail = fails_at_its_turn;
		enum ws_status st = ws_assemble(ws_str_of(text), NULL, &assembly, NULL);
		wsi_alloc_should_fail = NULL;
		if (allocations <= failing) { /* it had no turn */
			assert_int_equal(st, WS_OK);
			ws_assembly_destroy(assembly);
			return;
		}
		assert_int_equal(st, WS_NO_MEMORY);
		assert_null(assembly);
	}
	fail();
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	fail_in_turn(program);
	fail_in_turn(quoted);
}

static void survive_cuts(const char *text, size_t size)
{
	for (size_t len = 0; len < size; len++) {
		char *copy = wsi_zalloc(len + 1); /* of its own, so that an overread is seen */
		struct ws_assembly *assembly = NULL;
		memcpy(copy, text, len);
		if (ws_assemble((struct ws_str){ copy, len }, NULL, &assembly, NULL) == WS_OK)
			ws_assembly_destroy(assembly);
		wsi_free(copy);
	}
}

static void a_cut_text_is_survived(void **state)
{
	(void)state;
	ws_assembly_destroy(assembled(quoted, NULL));
	survive_cuts(program, sizeof program);
	survive_cuts(quoted, sizeof quoted);
}

static void a_name_that_does_not_fit_is_cut(void **state)
{
	(void)state;
	static const struct {
		struct ws_str name;
		const char *text;
	} cases[] = {
		{ { "leaf", 4 }, "leaf" },
		{ { "", 0 }, "\"\"" },
		{ { "4", 1 }, "\"4\"" },
		{ { "a b", 3 }, "\"a b\"" },
		{ { "\"\\\0\xff", 4 }, "\"\\x22\\x5c\\x00\\xff\"" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		size_t len = strlen(cases[i].text);
		assert_int_equal(ws_assemble_name(cases[i].name, NULL, 0), len);
		for (size_t size = 1; size <= len + 2; size++) {
			char *buffer =
				wsi_zalloc(size); /* of its own, so that an overrun is seen */
			size_t kept = size - 1 < len ? size - 1 : len;
			memset(buffer, '?', size);
			assert_int_equal(ws_assemble_name(cases[i].name, buffer, size), len);
			assert_memory_equal(buffer, cases[i].text, kept);
			assert_int_equal(buffer[kept], '\0');
			wsi_free(buffer);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_mistake_has_its_place),
		cmocka_unit_test(parameters_lie_where_their_size_says),
		cmocka_unit_test(all_mistakes_are_told_up_to_a_limit),
		cmocka_unit_test(functions_are_as_many_as_an_image_has_room_for),
		cmocka_unit_test(a_text_beyond_the_limit_is_not_read),
		cmocka_unit_test(a_bad_architecture_is_told),
		cmocka_unit_test(the_module_reader_finds_what_the_text_says),
		cmocka_unit_test(data_has_sections_of_its_size),
		cmocka_unit_test(what_just_fits_is_taken),
		cmocka_unit_test(addresses_in_data_are_relocated),
		cmocka_unit_test(an_empty_text_gives_an_image_without_code),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(a_cut_text_is_survived),
		cmocka_unit_test(a_name_that_does_not_fit_is_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
