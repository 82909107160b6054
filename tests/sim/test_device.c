/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The software GPU as its caller sees it: memory, images, launches and what they refuse. Kernels
 * are assembly text.
 */
#include "device.h"

#include <warpscope/cudadebugger.h>
#include <warpscope/sim_target.h>

static struct ws_sim *sim;
static struct ws_error err;

static int close_device(void **state)
{
	(void)state;
	ws_sim_destroy(sim);
	sim = NULL;
	return 0;
}

#define assert_fails(call, wanted_status, wanted_message)         \
	do {                                                      \
		assert_int_equal((call), wanted_status);          \
		assert_string_equal(err.message, wanted_message); \
	} while (0)

/* ---- devices and memory ---- */

static void options_are_checked(void **state)
{
	(void)state;
	struct ws_sim_options options = { .size = sizeof options, .device = "sm_80" };
	assert_string_equal(ws_sim_device_name(0), "sm_75");
	size_t n = 0;
	while (ws_sim_device_name(n))
		n++;
	assert_int_equal(n, 9);
	options.size = 8;
	assert_fails(ws_sim_create(&options, &sim, &err), WS_ARGUMENT,
		     "CUDA_ERROR_INVALID_VALUE: size of the options");
	options = (struct ws_sim_options){ .size = sizeof options, .device = "sm_1" };
	assert_fails(ws_sim_create(&options, &sim, &err), WS_ARGUMENT,
		     "CUDA_ERROR_INVALID_DEVICE: no device 'sm_1'");
	static const struct ws_sim_options out_of_range[] = {
		{ .device = "sm_80", .n_sms = 109 },
		{ .device = "sm_80", .granularity = 48 },
		{ .device = "sm_80", .schedule = WS_SIM_ADVERSARIAL + 1 },
	};
	for (size_t i = 0; i < sizeof out_of_range / sizeof out_of_range[0]; i++) {
		options = out_of_range[i];
		options.size = sizeof options;
		assert_fails(ws_sim_create(&options, &sim, &err), WS_ARGUMENT,
			     "CUDA_ERROR_INVALID_VALUE: an option is out of range");
	}
	options = (struct ws_sim_options){ .size = sizeof options,
					   .device = "sm_80",
					   .n_sms = 108,
					   .granularity = 64,
					   .schedule = WS_SIM_ADVERSARIAL };
	assert_int_equal(ws_sim_create(&options, &sim, &err), WS_OK);
	ws_sim_destroy(sim);
	assert_int_equal(ws_sim_create(NULL, &sim, &err), WS_OK);
	ws_sim_destroy(NULL);
}

static void memory_comes_and_goes(void **state)
{
	(void)state;
	const struct ws_sim_options options = { .size = sizeof options, .memory_bytes = 12000 };
	uint64_t a, b, c;
	uint8_t bytes[300];
	assert_int_equal(ws_sim_create(&options, &sim, NULL), WS_OK);
	assert_fails(ws_sim_alloc(sim, 0, &a, &err), WS_ARGUMENT,
		     "CUDA_ERROR_INVALID_VALUE: 0 bytes");
	assert_int_equal(ws_sim_alloc(sim, 300, &a, NULL), WS_OK);
	assert_int_equal(ws_sim_alloc(sim, 9700, &b, NULL), WS_OK);
	assert_true(a % 256 == 0 && b % 256 == 0 && b >= a + 300);
	assert_int_equal(ws_sim_alloc(sim, 2000, &c, &err), WS_LIMIT);
	assert_non_null(strstr(err.message, "no room for a buffer, 2000 bytes: "));
	assert_int_equal(ws_sim_alloc(sim, UINT64_MAX, &c, &err), WS_LIMIT);
	assert_non_null(strstr(err.message, "no room for a buffer, 18446744073709551615 bytes: "));
	memset(bytes, 0x5a, sizeof bytes);
	assert_int_equal(ws_sim_read(sim, a, bytes, 300, NULL), WS_OK);
	for (int i = 0; i < 300; i++)
		assert_int_equal(bytes[i], 0);
	for (int i = 0; i < 300; i++)
		bytes[i] = (uint8_t)(i * 7);
	assert_int_equal(ws_sim_write(sim, a, bytes, 300, NULL), WS_OK);
	assert_int_equal(ws_sim_write(sim, a + 1, bytes, 300, NULL), WS_ARGUMENT);
	uint8_t back[300] = { 0 };
	assert_int_equal(ws_sim_read(sim, a, back, 300, NULL), WS_OK);
	assert_memory_equal(back, bytes, 300);
	assert_int_equal(ws_sim_read(sim, a + 1, back, 300, NULL), WS_ARGUMENT);
	assert_int_equal(ws_sim_read(sim, a + 299, back, 1, NULL), WS_OK);
	assert_int_equal(back[0], bytes[299]);
	assert_int_equal(ws_sim_read(sim, a - 1, back, 1, NULL), WS_ARGUMENT);
	assert_int_equal(ws_sim_free(sim, 0, NULL), WS_OK);
	assert_int_equal(ws_sim_free(sim, a + 1, &err), WS_ARGUMENT);
	assert_non_null(strstr(err.message, " is not an allocation"));
	assert_int_equal(ws_sim_free(sim, a, NULL), WS_OK);
	assert_int_equal(ws_sim_free(sim, a, NULL), WS_ARGUMENT);
	assert_int_equal(ws_sim_read(sim, a, back, 1, NULL), WS_ARGUMENT);
	assert_int_equal(ws_sim_alloc(sim, 2300, &c, NULL), WS_LIMIT);
	assert_int_equal(ws_sim_alloc(sim, 2000, &c, NULL), WS_OK);
	assert_int_equal(ws_sim_free(sim, b, NULL), WS_OK);
	assert_int_equal(ws_sim_free(sim, c, NULL), WS_OK);
}

/* ---- images ---- */

static void put_at(struct ws_assembly *assembly, uint64_t off, uint64_t value, unsigned n)
{
	uint8_t *bytes = (uint8_t *)(uintptr_t)ws_assembly_image(assembly).ptr;
	for (unsigned i = 0; i < n; i++)
		bytes[off + i] = (uint8_t)(value >> 8 * i);
}

static uint64_t number_at(struct ws_span image, uint64_t off, unsigned n)
{
	uint64_t value = 0;
	for (unsigned i = n; i-- > 0;)
		value = value << 8 | image.ptr[off + i];
	return value;
}

/* File offset of the header of a section by its name. */
static uint64_t section_of(struct ws_span image, const char *name)
{
	uint64_t headers = number_at(image, 0x28, 8);
	uint64_t names = headers + 64 * number_at(image, 0x3e, 2);
	names = number_at(image, names + 24, 8);
	for (uint64_t i = 0; i < number_at(image, 0x3c, 2); i++) {
		uint64_t header = headers + 64 * i;
		if (strcmp((const char *)image.ptr + names + number_at(image, header, 4), name) ==
		    0)
			return header;
	}
	fail_msg("no section %s", name);
	return 0;
}

static const char relocated[] = ".arch sm_80\n"
				".global target align 16\n.u64 0x1111, 0x2222\n.end\n"
				".global pointers align 8\n.u64 `(target+8), 5\n.end\n"
				".const table\n.u32 7, 8\n.end\n"
				".kernel k\n.param out 8\nEXIT\n.end\n";

static void variables_are_relocated(void **state)
{
	(void)state;
	/* CUDA's numbers of relocations: 32 and 64 bits, and their generic forms */
	static const struct {
		uint32_t type;
		unsigned bytes;
	} types[] = { { 1, 4 }, { 2, 8 }, { 3, 4 }, { 4, 8 } };
	struct ws_assembly *assembly;
	const struct ws_str text = { relocated, sizeof relocated - 1 };
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		uint64_t target, pointers, bytes, got[2], wanted[2] = { 0, 5 };
		uint32_t module;
		sim = device_of("sm_80");
		assert_int_equal(ws_assemble(text, NULL, &assembly, NULL), WS_OK);
		struct ws_span image = ws_assembly_image(assembly);
		uint64_t table = section_of(image, ".rela.nv.global.init");
		put_at(assembly, number_at(image, table + 24, 8) + 8, types[i].type, 4);
		assert_int_equal(ws_sim_load(sim, image, &module, &err), WS_OK);
		ws_assembly_destroy(assembly);
		assert_int_equal(ws_sim_symbol(sim, module, "target", &target, &bytes, NULL),
				 WS_OK);
		assert_int_equal(bytes, 16);
		assert_int_equal(ws_sim_symbol(sim, module, "pointers", &pointers, &bytes, NULL),
				 WS_OK);
		assert_int_equal(ws_sim_read(sim, pointers, got, 16, NULL), WS_OK);
		wanted[0] = types[i].bytes == 8 ? target + 8 : (uint32_t)(target + 8);
		assert_memory_equal(got, wanted, sizeof got);
		assert_int_equal(ws_sim_read(sim, target + 8, got, 8, NULL), WS_OK);
		assert_int_equal(got[0], 0x2222);
		close_device(NULL);
	}
}

static void symbols_and_images_of_modules(void **state)
{
	(void)state;
	uint64_t address, bytes;
	struct ws_span image;
	sim = device_of("sm_80");
	uint32_t module = load_text(sim, relocated), second = load_text(sim, relocated);
	assert_true(module == 0 && second == 1);
	assert_int_equal(ws_sim_symbol(sim, 1, "table", &address, &bytes, NULL), WS_OK);
	uint32_t words[2];
	assert_int_equal(bytes, 8);
	assert_int_equal(ws_sim_read(sim, address, words, 8, NULL), WS_OK);
	assert_true(words[0] == 7 && words[1] == 8);
	assert_fails(ws_sim_symbol(sim, 1, "nobody", &address, &bytes, &err), WS_ABSENT,
		     "CUDA_ERROR_NOT_FOUND: no variable 'nobody'");
	assert_fails(ws_sim_symbol(sim, 2, "table", &address, &bytes, &err), WS_ARGUMENT,
		     "CUDA_ERROR_INVALID_HANDLE: no module 2");
	assert_fails(ws_sim_module_image(sim, 2, &image, &err), WS_ARGUMENT,
		     "CUDA_ERROR_INVALID_HANDLE: no module 2");
	assert_int_equal(ws_sim_module_image(sim, 1, &image, NULL), WS_OK);
	/* its sections have the addresses that they got */
	assert_int_equal(number_at(image, section_of(image, ".nv.constant3") + 16, 8), address);
}

/* An image with one number changed. */
static void damaged(const char *section, uint64_t field, uint64_t value, unsigned n,
		    enum ws_status status, const char *message)
{
	const struct ws_str text = { relocated, sizeof relocated - 1 };
	struct ws_assembly *assembly;
	uint32_t module;
	uint64_t address;
	sim = device_of("sm_80");
	assert_int_equal(ws_assemble(text, NULL, &assembly, NULL), WS_OK);
	struct ws_span image = ws_assembly_image(assembly);
	uint64_t at = section_of(image, section);
	if (field >= 64) /* of its bytes */
		at = number_at(image, at + 24, 8) - 64;
	put_at(assembly, at + field, value, n);
	assert_int_equal(ws_sim_load(sim, image, &module, &err), status);
	if (!strstr(err.message, message))
		fail_msg("%s: not '%s'", err.message, message);
	ws_assembly_destroy(assembly);
	/* what was placed before is gone again, and the device still loads and allocates */
	assert_int_equal(load_text(sim, relocated), 0);
	assert_int_equal(ws_sim_alloc(sim, 1, &address, NULL), WS_OK);
	close_device(NULL);
}

static void images_that_cannot_be_loaded_leave_nothing(void **state)
{
	(void)state;
	enum { OFFSET = 24, SIZE = 32, BYTES = 64 };
	damaged(".rela.nv.global.init", BYTES + 8, 99, 4, WS_UNSUPPORTED,
		"CUDA_ERROR_INVALID_IMAGE: relocation of type 99 at 0x10 of section");
	damaged(".rela.nv.global.init", BYTES, 0x19, 8, WS_UNSUPPORTED,
		"CUDA_ERROR_INVALID_IMAGE: relocation of type 2 at 0x19 of section");
	damaged(".rela.nv.global.init", BYTES + 12, 9999, 4, WS_UNSUPPORTED,
		"CUDA_ERROR_INVALID_IMAGE: undefined symbol '?'");
	damaged(".rela.nv.global.init", OFFSET, 1 << 20, 8, WS_TRUNCATED,
		"CUDA_ERROR_INVALID_IMAGE: relocations are cut");
	damaged(".nv.global.init", OFFSET, 1 << 20, 8, WS_TRUNCATED,
		"CUDA_ERROR_INVALID_IMAGE: a section is cut");
	damaged(".text.k", OFFSET, 1 << 20, 8, WS_TRUNCATED,
		"CUDA_ERROR_INVALID_IMAGE: code is cut");
}

static void images_for_others_are_refused(void **state)
{
	(void)state;
	static const uint8_t nothing[8] = { 1, 2, 3 };
	uint32_t module;
	struct ws_assembly *assembly;
	struct ws_assemble_options options = { .arch = "sm_86" };
	const struct ws_str text = { relocated, sizeof relocated - 1 };
	sim = device_of("sm_80");
	assert_int_equal(ws_assemble(text, &options, &assembly, NULL), WS_OK);
	assert_fails(ws_sim_load(sim, ws_assembly_image(assembly), &module, &err), WS_UNSUPPORTED,
		     "CUDA_ERROR_NO_BINARY_FOR_GPU: an image for sm_86 on sm_80");
	ws_assembly_destroy(assembly);
	assert_int_not_equal(
		ws_sim_load(sim, (struct ws_span){ nothing, sizeof nothing, 0 }, &module, &err),
		WS_OK);
	assert_non_null(strstr(err.message, "CUDA_ERROR_INVALID_IMAGE"));
}

/* ---- launches ---- */

static void launches_are_checked(void **state)
{
	(void)state;
	static const char source[] = ".arch sm_90a\n.kernel k\n.param a 8\n.shared s 1024\nEXIT\n"
				     ".end\n.func f\nRET.ABS.NODEC R20 0x0\n.end\n"
				     ".kernel wide\n.param a 8\nMOV R200, R1\nEXIT\n.end\n";
	static const struct {
		const char *kernel;
		struct ws_dim3 grid, block, cluster;
		uint32_t shared, n_args, module;
		bool cooperative;
		const char *message;
	} cases[] = {
#define ONE { 1, 1, 1 }
#define NO              \
	{               \
		0, 0, 0 \
	}
		{ "k",
		  { 1, 1, 0 },
		  ONE,
		  NO,
		  0,
		  1,
		  0,
		  false,
		  "CUDA_ERROR_INVALID_VALUE: a dimension is 0" },
		{ "k",
		  ONE,
		  { 1, 0, 1 },
		  NO,
		  0,
		  1,
		  0,
		  false,
		  "CUDA_ERROR_INVALID_VALUE: a dimension is 0" },
		{ "k",
		  { 1, 65536, 1 },
		  ONE,
		  NO,
		  0,
		  1,
		  0,
		  false,
		  "CUDA_ERROR_INVALID_VALUE: the grid is too large" },
		{ "k",
		  { 1, 1, 65536 },
		  ONE,
		  NO,
		  0,
		  1,
		  0,
		  false,
		  "CUDA_ERROR_INVALID_VALUE: the grid is too large" },
		{ "k",
		  { 0x80000000, 1, 1 },
		  ONE,
		  NO,
		  0,
		  1,
		  0,
		  false,
		  "CUDA_ERROR_INVALID_VALUE: the grid is too large" },
		{ "k",
		  ONE,
		  { 32, 33, 1 },
		  NO,
		  0,
		  1,
		  0,
		  false,
		  "CUDA_ERROR_INVALID_VALUE: a block has more than 1024 threads, or z more than "
		  "64" },
		{ "k",
		  ONE,
		  { 1, 1, 65 },
		  NO,
		  0,
		  1,
		  0,
		  false,
		  "CUDA_ERROR_INVALID_VALUE: a block has more than 1024 threads, or z more than "
		  "64" },
		{ "k",
		  { 4, 1, 1 },
		  ONE,
		  { 2, 0, 1 },
		  0,
		  1,
		  0,
		  false,
		  "CUDA_ERROR_INVALID_VALUE: a cluster has 1 to 16 blocks" },
		{ "k",
		  { 34, 1, 1 },
		  ONE,
		  { 17, 1, 1 },
		  0,
		  1,
		  0,
		  false,
		  "CUDA_ERROR_INVALID_VALUE: a cluster has 1 to 16 blocks" },
		{ "k",
		  { 3, 2, 1 },
		  ONE,
		  { 2, 2, 1 },
		  0,
		  1,
		  0,
		  false,
		  "CUDA_ERROR_INVALID_CLUSTER_SIZE: clusters of 2x2x1 blocks" },
		{ "k", ONE, ONE, NO, 227 * 1024 - 1023, 1, 0, false,
		  "CUDA_ERROR_INVALID_VALUE: 233473 bytes of shared memory, a block has 227 "
		  "KiB" },
		{ "wide",
		  ONE,
		  { 512, 1, 1 },
		  NO,
		  0,
		  1,
		  0,
		  false,
		  "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: 512 threads of 208 registers, a block has "
		  "at most 256 of these" },
		{ "k", ONE, ONE, NO, 0, 2, 0, false,
		  "CUDA_ERROR_INVALID_VALUE: 2 arguments for 1 parameters" },
		{ "f", ONE, ONE, NO, 0, 1, 0, false, "CUDA_ERROR_NOT_FOUND: no kernel 'f'" },
		{ "nobody", ONE, ONE, NO, 0, 1, 0, false,
		  "CUDA_ERROR_NOT_FOUND: no kernel 'nobody'" },
		{ "k", ONE, ONE, NO, 0, 1, 7, false, "CUDA_ERROR_INVALID_HANDLE: no module 7" },
		{ NULL, ONE, ONE, NO, 0, 1, 0, false,
		  "CUDA_ERROR_INVALID_VALUE: the launch is not filled in" },
		/* 32 blocks on each of the 132 SMs */
		{ "k",
		  { 4225, 1, 1 },
		  ONE,
		  NO,
		  0,
		  1,
		  0,
		  true,
		  "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: 4225 blocks, 4224 fit" },
		/* by warps, by registers, by shared memory */
		{ "k",
		  { 265, 1, 1 },
		  { 1024, 1, 1 },
		  NO,
		  0,
		  1,
		  0,
		  true,
		  "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: 265 blocks, 264 fit" },
		{ "wide",
		  { 133, 1, 1 },
		  { 256, 1, 1 },
		  NO,
		  0,
		  1,
		  0,
		  true,
		  "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: 133 blocks, 132 fit" },
		{ "k",
		  { 133, 1, 1 },
		  ONE,
		  NO,
		  120 * 1024,
		  1,
		  0,
		  true,
		  "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: 133 blocks, 132 fit" },
		{ "k", { 2, 65535, 1 }, { 1024, 1, 1 }, { 2, 1, 1 }, 1000, 1, 0, false, NULL },
		{ "k", { 4224, 1, 1 }, ONE, NO, 0, 1, 0, true, NULL },
		{ "k", ONE, ONE, NO, 227 * 1024 - 1024, 1, 0, false, NULL },
		{ "k", { 16, 1, 1 }, { 2, 8, 64 }, { 16, 1, 1 }, 0, 1, 0, false, NULL },
	};
	uint64_t value = 0;
	const void *const args[2] = { &value, &value };
	sim = device_of("sm_90a");
	load_text(sim, source);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct ws_sim_launch launch = {
			.size = sizeof launch,
			.module = cases[i].module,
			.kernel = cases[i].kernel,
			.grid = cases[i].grid,
			.block = cases[i].block,
			.cluster = cases[i].cluster,
			.shared_bytes = cases[i].shared,
			.args = args,
			.n_args = cases[i].n_args,
			.cooperative = cases[i].cooperative,
		};
		err.message[0] = '\0';
		enum ws_status st = ws_sim_launch(sim, &launch, &err);
		if (cases[i].message ? strcmp(err.message, cases[i].message) != 0 : st != WS_OK)
			fail_msg("case %zu: %d, %s", i, st, err.message);
	}
	struct ws_sim_launch launch = launch_of(0, (struct ws_dim3)ONE, args);
	launch.size--;
	assert_int_equal(ws_sim_launch(sim, &launch, NULL), WS_ARGUMENT);
	launch.size++;
	launch.args = NULL;
	assert_int_equal(ws_sim_launch(sim, &launch, NULL), WS_ARGUMENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(options_are_checked, close_device),
		cmocka_unit_test_teardown(memory_comes_and_goes, close_device),
		cmocka_unit_test_teardown(variables_are_relocated, close_device),
		cmocka_unit_test_teardown(symbols_and_images_of_modules, close_device),
		cmocka_unit_test_teardown(images_that_cannot_be_loaded_leave_nothing, close_device),
		cmocka_unit_test_teardown(images_for_others_are_refused, close_device),
		cmocka_unit_test_teardown(launches_are_checked, close_device),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
