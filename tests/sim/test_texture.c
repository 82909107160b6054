/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of textures and surfaces: what is refused, and what becomes of them. */
#include <warpscope/sim.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES = 1024 };

static struct ws_sim *sim;
static uint64_t memory;

static int make(void **state)
{
	struct ws_sim_options options = { .size = sizeof options };
	(void)state;
	return ws_sim_create(&options, &sim, NULL) != WS_OK ||
	       ws_sim_alloc(sim, BYTES, &memory, NULL) != WS_OK;
}

static int unmake(void **state)
{
	(void)state;
	ws_sim_destroy(sim);
	return 0;
}

static struct ws_sim_texture plane(void)
{
	return (struct ws_sim_texture){
		.size = sizeof(struct ws_sim_texture),
		.image = { .address = memory,
			   .shape = WS_SIM_IMAGE_2D,
			   .texel = WS_SIM_TEXEL_F32,
			   .n_components = 1,
			   .width = 16,
			   .height = 16 },
	};
}

static void accepts(const struct ws_sim_texture *texture)
{
	uint64_t handle = 0;
	struct ws_error err = { 0 };
	assert_int_equal(ws_sim_texture(sim, texture, &handle, &err), WS_OK);
	assert_in_range(handle, 1, 0xfffff);
}

static void refuses(const struct ws_sim_texture *texture, const char *why)
{
	uint64_t handle = 77;
	struct ws_error err = { 0 };
	assert_int_equal(ws_sim_texture(sim, texture, &handle, &err), WS_ARGUMENT);
	assert_non_null(strstr(err.message, why));
	assert_ptr_equal(strstr(err.message, "CUDA_ERROR_INVALID_VALUE"), err.message);
	assert_int_equal(handle, 77);
}

static void extents_fit_the_shape(void **state)
{
	(void)state;
	struct ws_sim_texture t = plane();
	accepts(&t);
	t.image.depth = 1;
	refuses(&t, "do not fit the shape");
	t.image.shape = WS_SIM_IMAGE_3D;
	accepts(&t);
	t.image.width = (1u << 27) + 1;
	refuses(&t, "do not fit the shape");
	t = plane();
	t.image.n_layers = 1;
	refuses(&t, "layers");
	t.image.shape = WS_SIM_IMAGE_2D_LAYERED;
	accepts(&t);
	t.image.n_layers = 2049;
	refuses(&t, "layers");
	t = plane();
	t.image.shape = WS_SIM_IMAGE_CUBE;
	t.image.width = 6;
	refuses(&t, "squares");
	t.image.height = 6;
	accepts(&t);
	t.image.shape = (enum ws_sim_shape)7;
	refuses(&t, "no such shape");
	t = plane();
	t.image.texel = (enum ws_sim_texel)8;
	refuses(&t, "type of texels");
	t = plane();
	t.image.n_components = 3;
	refuses(&t, "1, 2 or 4");
	t.size--;
	refuses(&t, "not filled in");
}

static void images_lie_in_one_allocation(void **state)
{
	(void)state;
	struct ws_sim_texture t = plane();
	t.image.row_bytes = 68;
	refuses(&t, "in one allocation");
	t.image.height = 15;
	accepts(&t);
	t.image.row_bytes = 60;
	refuses(&t, "overlap");
	t.image.row_bytes = 66;
	refuses(&t, "multiple");
	t = plane();
	t.image.row_bytes = UINT64_MAX & ~UINT64_C(3);
	refuses(&t, "in one allocation");
	t = plane();
	t.image.address += 4;
	refuses(&t, "in one allocation");
	t.image.address = 64;
	refuses(&t, "in one allocation");
	t.image.address = memory + 2;
	refuses(&t, "multiple");
	t = plane();
	t.image.shape = WS_SIM_IMAGE_3D;
	t.image.height = 4;
	t.image.depth = 4;
	accepts(&t);
	t.image.depth = 1u << 27;
	refuses(&t, "in one allocation");
	t.image.depth = 4;
	t.image.slice_bytes = 252;
	refuses(&t, "overlap");
	t.image.slice_bytes = 260;
	refuses(&t, "in one allocation");
}

static void filters_need_floating_point(void **state)
{
	(void)state;
	struct ws_sim_texture t = plane();
	t.linear = true;
	t.border[3] = 1;
	accepts(&t);
	t.image.texel = WS_SIM_TEXEL_S16;
	refuses(&t, "needs floating point");
	t.linear = false;
	refuses(&t, "needs floating point");
	t.as_float = true;
	accepts(&t);
	t.image.texel = WS_SIM_TEXEL_U32;
	refuses(&t, "32 bits");
	t = plane();
	t.mode[2] = (enum ws_sim_address_mode)4;
	refuses(&t, "address mode");
}

static void a_snapshot_has_the_objects_that_were_there(void **state)
{
	(void)state;
	struct ws_sim_snapshot *snapshot;
	struct ws_sim_texture t = plane();
	struct ws_error err = { 0 };
	uint64_t handle;
	accepts(&t);
	assert_int_equal(ws_sim_snapshot(sim, &snapshot, &err), WS_OK);
	assert_int_equal(ws_sim_restore(sim, snapshot, &err), WS_OK);
	assert_int_equal(ws_sim_surface(sim, &t.image, &handle, &err), WS_OK);
	assert_int_equal(handle, 2);
	assert_int_equal(ws_sim_restore(sim, snapshot, &err), WS_UNSUPPORTED);
	assert_non_null(strstr(err.message, "textures or surfaces"));
	ws_sim_snapshot_free(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(extents_fit_the_shape, make, unmake),
		cmocka_unit_test_setup_teardown(images_lie_in_one_allocation, make, unmake),
		cmocka_unit_test_setup_teardown(filters_need_floating_point, make, unmake),
		cmocka_unit_test_setup_teardown(a_snapshot_has_the_objects_that_were_there, make,
						unmake),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
