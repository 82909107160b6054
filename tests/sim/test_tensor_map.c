/* SPDX-License-Identifier: Apache-2.0 */
/* What a tensor map can be: each limit that the driver's manual gives, from both sides; and which
 * instructions can use one. */
#include "device.h"

/* A tensor of floats: two dimensions of tiles, or three of pixels. */
static struct ws_sim_tensor usual(bool pixels)
{
	return (struct ws_sim_tensor){ .size = sizeof(struct ws_sim_tensor),
				       .address = 0x1000,
				       .type = WS_SIM_TENSOR_F32,
				       .n_dims = pixels ? 3 : 2,
				       .dims = { 64, 64, 64 },
				       .strides = { 256, 256 * 64 },
				       .box = { 16, 4 },
				       .im2col = pixels,
				       .channels = pixels ? 16 : 0,
				       .pixels = pixels ? 12 : 0 };
}

static bool can_be(const struct ws_sim_tensor *tensor)
{
	uint8_t map[WS_SIM_TENSOR_MAP_BYTES], kept[WS_SIM_TENSOR_MAP_BYTES];
	struct ws_error err;
	memset(map, 0x5a, sizeof map);
	memcpy(kept, map, sizeof map);
	enum ws_status st = ws_sim_tensor_map(tensor, map, &err);
	if (st == WS_OK)
		return true;
	assert_int_equal(st, WS_ARGUMENT);
	assert_non_null(strstr(err.message, "CUDA_ERROR_INVALID_VALUE: "));
	assert_memory_equal(map, kept, sizeof map);
	return false;
}

/* `good` is the last value that a field may have, `bad` the next one. */
#define LIMIT(pixels, field, good, bad)                         \
	do {                                                    \
		struct ws_sim_tensor tensor = usual(pixels);    \
		tensor.field = (good);                          \
		if (!can_be(&tensor))                           \
			fail_msg(#field " " #good " can be");   \
		tensor.field = (bad);                           \
		if (can_be(&tensor))                            \
			fail_msg(#field " " #bad " cannot be"); \
	} while (0)

static void tiles_have_limits(void **state)
{
	(void)state;
	LIMIT(false, n_dims, 1, 0);
	LIMIT(false, address, 0x1010, 0x1008);
	LIMIT(false, type, WS_SIM_TENSOR_BF16, WS_SIM_TENSOR_BF16 + 1);
	LIMIT(false, type, WS_SIM_TENSOR_F32, WS_SIM_TENSOR_F32_FTZ);
	LIMIT(false, dims[1], 1, 0);
	LIMIT(false, dims[1], UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1);
	LIMIT(false, box[1], 1, 0);
	LIMIT(false, box[1], 256, 257);
	LIMIT(false, box[0], 256, 260);
	LIMIT(false, box[0], 4, 2); /* rows of 16 bytes */
	LIMIT(false, element_strides[1], 8, 9);
	LIMIT(false, strides[0], 272, 264);
	LIMIT(false, strides[0], (UINT64_C(1) << 40) - 16, UINT64_C(1) << 40);
	LIMIT(false, size, sizeof(struct ws_sim_tensor), sizeof(struct ws_sim_tensor) - 1);
	struct ws_sim_tensor five = usual(false);
	for (unsigned i = 2; i < 5; i++) {
		five.dims[i] = five.box[i] = 1;
		five.strides[i - 1] = 256 * 64;
	}
	five.n_dims = 5;
	assert_true(can_be(&five));
	five.n_dims = 6;
	assert_false(can_be(&five));
}

static void a_row_fits_its_swizzle(void **state)
{
	static const enum ws_sim_tensor_swizzle swizzles[] = { WS_SIM_SWIZZLE_32B,
							       WS_SIM_SWIZZLE_64B,
							       WS_SIM_SWIZZLE_128B };
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct ws_sim_tensor tensor = usual(false);
		tensor.swizzle = swizzles[i];
		tensor.box[0] = 8u << i; /* floats */
		assert_true(can_be(&tensor));
		tensor.box[0] += 4;
		assert_false(can_be(&tensor));
	}
	LIMIT(false, swizzle, WS_SIM_SWIZZLE_128B, WS_SIM_SWIZZLE_128B + 1);
}

/* A corner of the box of pixels has 16 bits, 8 or 5, by the number of dimensions. */
static void pixels_have_limits(void **state)
{
	(void)state;
	LIMIT(true, n_dims, 3, 2);
	LIMIT(true, channels, 256, 260);
	LIMIT(true, channels, 4, 0);
	LIMIT(true, pixels, 1, 0);
	LIMIT(true, pixels, 1024, 1025);
	for (unsigned n = 3; n <= 5; n++) {
		int32_t most = n == 3 ? 32768 : n == 4 ? 128 : 16;
		for (unsigned i = 0; i < 2 * (n - 2); i++) {
			struct ws_sim_tensor tensor = usual(true);
			int32_t *corner = i % 2 ? &tensor.upper[i / 2] : &tensor.lower[i / 2];
			tensor.n_dims = n;
			for (unsigned k = 3; k < n; k++) {
				tensor.dims[k] = 2;
				tensor.strides[k - 1] = 256 * 64;
			}
			const struct {
				int32_t at;
				bool good;
			} cases[] = { { -most - 1, false },
				      { -most, true },
				      { most - 1, true },
				      { most, false } };
			for (unsigned k = 0; k < 4; k++) {
				*corner = cases[k].at;
				assert_int_equal(can_be(&tensor), cases[k].good);
			}
		}
	}
}

/* ---- maps that an instruction cannot use ---- */

/* Runs one instruction: the map is at [UR4], the tile at `shared`, with its barrier at 0x1000. */
static void run_with(const struct ws_sim_tensor *tensor, const char *insn, unsigned shared,
		     struct ws_sim_fault *ret_fault)
{
	char source[1000];
	uint8_t map[WS_SIM_TENSOR_MAP_BYTES];
	struct ws_sim_tensor its = *tensor;
	struct ws_error err;
	uint64_t at, data;
	const void *const args[1] = { &at };
	struct ws_sim *sim = device_of("sm_90a");
	assert_int_equal(ws_sim_alloc(sim, 1 << 21, &data, NULL), WS_OK);
	its.address = data;
	if (ws_sim_tensor_map(&its, map, &err) != WS_OK)
		fail_msg("%s: %s", insn, err.message);
	assert_int_equal(ws_sim_alloc(sim, sizeof map, &at, NULL), WS_OK);
	assert_int_equal(ws_sim_write(sim, at, map, sizeof map, NULL), WS_OK);
	snprintf(source, sizeof source,
		 ".arch sm_90a\n.kernel k\n.param map 8\n.regs 40\n.shared s 8192\n"
		 "ULDC.64 UR4, c[0x0][`(map)]\nUMOV UR6, 0x0\nUMOV UR8, 0x%x\nUMOV UR9, 0x1000\n"
		 "UMOV UR10, 0x0\nUMOV UR11, 0x0\nUMOV UR12, 0x0\nUMOV UR13, 0x0\n"
		 "UMOV UR14, 0x0\n%s\nEXIT\n.end\n",
		 shared, insn);
	uint32_t module = load_text(sim, source);
	const struct ws_sim_launch launch = launch_of(module, (struct ws_dim3){ 1, 1, 1 }, args);
	assert_int_equal(ws_sim_launch(sim, &launch, NULL), WS_OK);
	memset(ret_fault, 0, sizeof *ret_fault);
	if (run_all(sim) == WS_SIM_FAULTED)
		assert_true(ws_sim_fault(sim, ret_fault));
	ws_sim_destroy(sim);
}

static void a_map_is_for_some_instructions(void **state)
{
	enum { NONE = 0, MISALIGNED = 6, PARAMETER = 27 };
	static const struct {
		const char *insn;
		bool pixels;
		unsigned rows, shared; /* of the box; where the tile goes */
		enum ws_sim_tensor_swizzle swizzle;
		uint32_t exception;
		const char *text;
	} cases[] = {
		{ "UTMASTG.2D [UR8], [UR4]", false, 4, 0x800, 0, NONE, "" },
		{ "UTMASTG.3D [UR8], [UR4]", false, 4, 0x800, 0, PARAMETER,
		  "the tensor map has 2 dimensions, not 3" },
		{ "UTMALDG.1D [UR8], [UR4], desc[URZ]", false, 4, 0x800, 0, PARAMETER,
		  "the tensor map has 2 dimensions, not 1" },
		{ "UTMALDG.3D [UR8], [UR4], desc[URZ]", true, 4, 0x800, 0, PARAMETER,
		  "the tensor map is for im2col" },
		{ "UTMASTG.3D.IM2COL [UR8], [UR4]", true, 4, 0x800, 0, NONE, "" },
		{ "UTMASTG.2D [UR8], [UR4]", false, 4, 0x840, 0, MISALIGNED,
		  "shared address 0x840 of a tile is not a multiple of 128" },
		{ "UTMASTG.2D [UR8], [UR4]", false, 4, 0x800, WS_SIM_SWIZZLE_64B, NONE, "" },
		/* where rows shorter than the swizzle are, no document says */
		{ "UTMASTG.2D [UR8], [UR4]", false, 4, 0x800, WS_SIM_SWIZZLE_128B,
		  WS_SIM_UNIMPLEMENTED, NULL },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ws_sim_tensor tensor = usual(cases[i].pixels);
		struct ws_sim_fault fault;
		tensor.box[1] = cases[i].rows;
		tensor.swizzle = cases[i].swizzle;
		run_with(&tensor, cases[i].insn, cases[i].shared, &fault);
		if (fault.exception != cases[i].exception ||
		    (cases[i].text && strcmp(fault.text, cases[i].text) != 0))
			fail_msg("%s: %u: %s", cases[i].insn, fault.exception, fault.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiles_have_limits),
		cmocka_unit_test(a_row_fits_its_swizzle),
		cmocka_unit_test(pixels_have_limits),
		cmocka_unit_test(a_map_is_for_some_instructions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
