/* SPDX-License-Identifier: Apache-2.0 */
/* What ws_strip() makes of single values and of the folders of paths. */
#include "unit.h"

#include <unistd.h>

#include <warpscope/core.h>
#include <warpscope/write.h>

#include "target/fake.h"
#include "write/paths.h"

enum { N_REGISTERS = 16 };
#define OTHER 0xbaadf00d
#define ONE 0x3f800000 /* 1.0f */
#define FLOAT(exponent, rest) ((uint32_t)(127 + (exponent)) << 23 | (rest))

static char folder[] = "/tmp/ws-strip-XXXXXX";
static char path[sizeof folder + 16];

static int folder_make(void **state)
{
	(void)state;
	return mkdtemp(folder) && wsi_format(path, "%s/out.nvcudmp", folder) ? 0 : -1;
}

static int folder_remove(void **state)
{
	(void)state;
	(void)unlink(path);
	return rmdir(folder);
}

/* Registers of the first lane in the dump that a strip of values makes. */
static struct ws_stripped stripped_registers(struct fake *fake, const uint32_t *registers,
					     uint32_t ret[N_REGISTERS])
{
	struct ws_strip_options options = { .size = sizeof options, .strip = WS_STRIP_VALUES };
	struct ws_stripped stripped;
	struct ws_target *target = NULL;
	struct ws_error err;
	uint32_t n;
	fake->has_registers = true;
	memcpy(fake->registers, registers, sizeof fake->registers);
	if (ws_strip(&fake->target, path, &options, &stripped, &err) != WS_OK)
		fail_msg("%s", err.message);
	assert_int_equal(ws_core_open(path, NULL, &target, NULL), WS_OK);
	assert_int_equal(ws_target_registers(target, 0, 0, WS_REG_R, 0, N_REGISTERS, ret, &n, NULL),
			 WS_OK);
	assert_int_equal(n, N_REGISTERS);
	ws_target_close(target);
	return stripped;
}

static void values_become_one_of_their_class(void **state)
{
	(void)state;
	static const struct {
		uint32_t value, left;
		enum ws_value_class class;
	} cases[N_REGISTERS] = {
		{ 0, 0, WS_VALUE_ZERO },
		{ 0, 0, WS_VALUE_ZERO }, /* R1 */
		{ 1, 1, WS_VALUE_SMALL },
		{ 0xffff, 1, WS_VALUE_SMALL },
		{ 0x10000, OTHER, WS_VALUE_OTHER },
		{ 0xffff0000, 1, WS_VALUE_SMALL },
		{ 0xfffeffff, OTHER, WS_VALUE_OTHER },
		{ 0xffffffff, 1, WS_VALUE_SMALL },
		{ FLOAT(-40, 0), ONE, WS_VALUE_FLOAT },
		{ FLOAT(-41, 0x7fffff), OTHER, WS_VALUE_OTHER },
		{ FLOAT(40, 0x7fffff), ONE, WS_VALUE_FLOAT },
		{ FLOAT(41, 0), OTHER, WS_VALUE_OTHER },
		{ 0x80000000 | FLOAT(3, 5), ONE, WS_VALUE_FLOAT },
		{ OTHER, OTHER, WS_VALUE_OTHER },
		{ ONE, ONE, WS_VALUE_FLOAT },
		{ 0x7fffffff, OTHER, WS_VALUE_OTHER },
	};
	/* a stack pointer stays, which a number of R1 is that lies in a thread's window */
	static const struct {
		uint32_t value, left;
	} stacks[] = { { 0xfffdc0, 0xfffdc0 }, { 0xffffff, 0xffffff }, { 1 << 24, OTHER } };
	for (size_t k = 0; k < WSI_COUNT(stacks); k++) {
		struct fake fake;
		uint32_t registers[N_REGISTERS] = { 0 }, left[N_REGISTERS];
		fake_init(&fake, 1, 1, 1);
		/* beside these registers there are others, which stay as they are */
		struct ws_stripped wanted = stripped_registers(&fake, registers, left);
		wanted.values[WS_VALUE_ZERO] -= N_REGISTERS - 1;
		for (size_t i = 0; i < N_REGISTERS; i++) {
			registers[i] = cases[i].value;
			wanted.values[cases[i].class] += i != 1;
		}
		registers[1] = stacks[k].value;
		wanted.values[WS_VALUE_OTHER] += stacks[k].left == OTHER;
		struct ws_stripped stripped = stripped_registers(&fake, registers, left);
		for (size_t i = 0; i < N_REGISTERS; i++)
			assert_int_equal(left[i], i == 1 ? stacks[k].left : cases[i].left);
		assert_memory_equal(stripped.values, wanted.values, sizeof wanted.values);
		ws_target_close(&fake.target);
	}
}

/* Two registers are an address when the upper one is the upper half of one that is known: of the
 * windows of a context, of a grid's code. */
static void addresses_stay(void **state)
{
	(void)state;
	enum { SHARED = 0x7f12, LOCAL = 0x7f22, CODE = 0x7f32, UNKNOWN = 0x7f13, LOW = 0x12345678 };
	static const uint32_t registers[N_REGISTERS] = { LOW, SHARED,  LOW,    LOCAL, LOW, CODE,
							 LOW, UNKNOWN, SHARED, LOW,   0,   LOW,
							 0,   0,       0,      SHARED };
	static const uint32_t wanted[N_REGISTERS] = { LOW,   SHARED, LOW, LOCAL, LOW, CODE,
						      OTHER, 1,      1,   OTHER, 0,   OTHER,
						      0,     0,      0,   SHARED };
	struct fake fake;
	uint32_t left[N_REGISTERS];
	fake_init_still(&fake);
	fake.context[0].shared_window_base = (uint64_t)SHARED << 32;
	fake.context[0].local_window_base = (uint64_t)LOCAL << 32;
	fake.grid[3].function_entry = (uint64_t)CODE << 32;
	struct ws_stripped stripped = stripped_registers(&fake, registers, left);
	for (size_t i = 0; i < N_REGISTERS; i++)
		assert_int_equal(left[i], wanted[i]);
	assert_true(stripped.values[WS_VALUE_POINTER] >= 8);
	assert_int_equal(stripped.values[WS_VALUE_POINTER] % 2, 0);
	ws_target_close(&fake.target);
}

static void memory_write(struct ws_writer *writer, uint64_t start, const void *bytes, size_t n)
{
	struct ws_write_memory where = { .space = WS_SPACE_GLOBAL, .start = start };
	assert_int_equal(ws_writer_memory_begin(writer, &where, NULL), WS_OK);
	assert_int_equal(ws_writer_memory_append(writer, bytes, n, NULL), WS_OK);
	assert_int_equal(ws_writer_memory_end(writer, NULL), WS_OK);
}

/* Values of memory are those of its words of 8 bytes; of parts of words nothing is known, so zeros
 * stand there. Where memory lies is known. */
static void memory_is_made_word_by_word(void **state)
{
	(void)state;
	enum { KNOWN = 0x7f12 };
	static const uint64_t first = (uint64_t)KNOWN << 32, second = (uint64_t)(KNOWN + 1) << 32;
	static const uint8_t pointer[] = { 0x78, 0x56, 0x34, 0x12, 0x12, 0x7f, 0, 0 };
	static const uint8_t number[] = { 0x78, 0x56, 0x34, 0x12, 0x12, 0x7e, 0, 0 };
	static const uint8_t made[] = { 0x0d, 0xf0, 0xad, 0xba, 1, 0, 0, 0 };
	static const uint8_t other[] = { 0xf0, 0xad, 0xba, 0x0d, 0xf0, 0xad, 0xba, 0x0d };
	uint8_t bytes[3 + 8 + 8 + 5], got[sizeof bytes];
	char again[sizeof path + 8];
	struct ws_device device = { .id = 0, .n_lanes_per_warp = 32 };
	struct ws_writer *writer;
	memset(bytes, 0x11, sizeof bytes);
	memcpy(bytes + 3, pointer, 8);
	memcpy(bytes + 11, number, 8);
	assert_int_equal(ws_writer_open(path, NULL, &writer, NULL), WS_OK);
	memory_write(writer, first, number, sizeof number);
	memory_write(writer, second + 5, bytes, sizeof bytes);
	assert_int_equal(ws_writer_devices(writer, &device, 1, NULL, NULL), WS_OK);
	assert_int_equal(ws_writer_commit(writer, NULL), WS_OK);
	ws_writer_close(writer);

	struct ws_strip_options options = { .size = sizeof options, .strip = WS_STRIP_VALUES };
	struct ws_stripped stripped;
	struct ws_target *target = NULL;
	struct ws_error err;
	assert_true(wsi_format(again, "%s.again", path));
	assert_int_equal(ws_core_open(path, NULL, &target, NULL), WS_OK);
	if (ws_strip(target, again, &options, &stripped, &err) != WS_OK)
		fail_msg("%s", err.message);
	ws_target_close(target);
	assert_int_equal(ws_core_open(again, NULL, &target, NULL), WS_OK);
	struct ws_address at = { .space = WS_SPACE_GLOBAL, .address = second + 5 };
	size_t n;
	assert_int_equal(ws_target_read_memory(target, &at, got, sizeof got, &n, NULL), WS_OK);
	assert_memory_equal(got, other, 3);
	assert_memory_equal(got + 3, pointer, 8);
	assert_memory_equal(got + 11, made, 8);
	assert_memory_equal(got + 19, other + 3, 5);
	assert_int_equal(stripped.values[WS_VALUE_POINTER], 2);
	assert_int_equal(stripped.values[WS_VALUE_SMALL], 2);
	assert_int_equal(stripped.memory_bytes, sizeof bytes + sizeof number);
	assert_int_equal(stripped.memory_bytes_kept, sizeof bytes + sizeof number);
	ws_target_close(target);
	(void)unlink(again);
}

/* A dump of one device whose writer says that it removed something. */
static void removed_write(uint32_t left_out, uint32_t stripped)
{
	struct ws_device device = { .id = 0, .n_lanes_per_warp = 32 };
	struct ws_writer *writer;
	assert_int_equal(ws_writer_open(path, NULL, &writer, NULL), WS_OK);
	assert_int_equal(ws_writer_devices(writer, &device, 1, NULL, NULL), WS_OK);
	ws_writer_stripped(writer, left_out, stripped);
	assert_int_equal(ws_writer_commit(writer, NULL), WS_OK);
	ws_writer_close(writer);
}

static void removed_is(uint32_t left_out, uint32_t stripped)
{
	struct ws_dump_facts facts;
	struct ws_target *target = NULL;
	assert_int_equal(ws_core_open(path, NULL, &target, NULL), WS_OK);
	assert_int_equal(ws_target_dump_facts(target, &facts, NULL), WS_OK);
	assert_int_equal(facts.left_out, left_out);
	assert_int_equal(facts.stripped, stripped);
	ws_target_close(target);
}

/* Either kind of removal is told by itself. */
static void a_dump_says_what_was_removed(void **state)
{
	(void)state;
	static const uint32_t cases[][2] = { { 0, 0 }, { 1, 0 }, { 0, 2 }, { 4, 8 } };
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		removed_write(cases[i][0], cases[i][1]);
		removed_is(cases[i][0], cases[i][1]);
	}
}

/* A note of another length than the writer's is no note of what was removed. */
static void a_note_of_another_length_tells_nothing(void **state)
{
	(void)state;
	enum { LENGTH_AT = 4, SHORT = 4 };
	static const char start[] = "\x0a\0\0\0\x08\0\0\0\3";
	char bytes[4096];
	removed_write(4, 8);
	FILE *file = fopen(path, "r+b");
	assert_non_null(file);
	size_t n = fread(bytes, 1, sizeof bytes, file), at = 0;
	while (at + sizeof start < n && memcmp(bytes + at, start, sizeof start - 1) != 0)
		at++;
	assert_true(at + sizeof start < n);
	assert_int_equal(fseek(file, (long)at + LENGTH_AT, SEEK_SET), 0);
	assert_int_equal(fputc(SHORT, file), SHORT);
	assert_int_equal(fclose(file), 0);
	removed_is(0, 0);
}

/* Folders of libraries stay (data/library-paths.txt), and the name of a file. */
static void folders_of_a_user_are_blanked(void **state)
{
	(void)state;
	static const struct {
		const char *path, *left;
		bool has_file;
	} cases[] = {
		{ "/home/me/a.cu", "/xxxx/xx/a.cu", true },
		{ "/home/me/a.cu", "/xxxx/xx/xxxx", false },
		{ "a.cu", "a.cu", true },
		{ "", "", true },
		{ "/", "/", true },
		{ "C:\\me\\a.cu", "xx\\xx\\a.cu", true },
		{ "/usr/include", "/xxx/include", false },
		{ "/usr/includes/a", "/xxx/xxxxxxxx/a", true },
		{ "/usr/includ/a", "/xxx/xxxxxx/a", true },
		{ "cuda/cuda-13.0/cuda-/x", "cuda/cuda-13.0/cuda-/x", true },
		{ "cuda-13a/cuda-13:/b", "xxxxxxxx/xxxxxxxx/b", true },
		{ "cudb/cud/b", "xxxx/xxx/b", true },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		char text[100];
		assert_true(wsi_format(text, "%s", cases[i].path));
		bool changed = wsi_path_scrub(text, strlen(text), cases[i].has_file);
		assert_string_equal(text, cases[i].left);
		assert_int_equal(changed, strcmp(cases[i].path, cases[i].left) != 0);
		assert_false(wsi_path_scrub(text, strlen(text), cases[i].has_file));
	}
}

/* The graver of two losses of the target is that of the dump. */
static void what_a_target_lost_its_dump_lacks(void **state)
{
	(void)state;
	static const struct {
		enum ws_hides hides[2], told;
	} cases[] = {
		{ { WS_HIDES_FAULT, WS_HIDES_HANG }, WS_HIDES_FAULT },
		{ { WS_HIDES_HANG, WS_HIDES_FAULT }, WS_HIDES_FAULT },
		{ { WS_HIDES_NOTHING, WS_HIDES_HANG }, WS_HIDES_HANG },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct ws_write_options options = { .size = sizeof options };
		struct ws_target *target = NULL;
		struct ws_diagnostic diagnostic;
		struct fake fake;
		fake_init(&fake, 1, 1, 1);
		fake.has_facts = true;
		fake.n_diagnostics = 2;
		for (unsigned k = 0; k < 2; k++)
			fake.diagnostics[k] = (struct ws_diagnostic){ .what = "section",
								      .hides = cases[i].hides[k],
								      .message = "lost" };
		assert_int_equal(ws_write_target(&fake.target, path, &options, NULL), WS_OK);
		assert_int_equal(ws_core_open(path, NULL, &target, NULL), WS_OK);
		assert_int_equal(ws_target_diagnostic(target, 0, &diagnostic, NULL), WS_OK);
		assert_int_equal(diagnostic.hides, cases[i].told);
		ws_target_close(target);
		ws_target_close(&fake.target);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_become_one_of_their_class),
		cmocka_unit_test(addresses_stay),
		cmocka_unit_test(memory_is_made_word_by_word),
		cmocka_unit_test(a_dump_says_what_was_removed),
		cmocka_unit_test(a_note_of_another_length_tells_nothing),
		cmocka_unit_test(folders_of_a_user_are_blanked),
		cmocka_unit_test(what_a_target_lost_its_dump_lacks),
	};
	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
