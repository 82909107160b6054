/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs, captured streams and managed variables of a program of the runtime API.
 * usage: test_graph FATBIN
 *
 * Kernels: tests/sim/kernels/graph.cu.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rt.h"

static char use_both, plus, times;
static unsigned *both, (*list)[4]; /* where the managed variables are */
static void **image;

static cudaError_t launch(char *kernel, unsigned threads, void **args, cudaStream_t stream)
{
	const dim3 grid = { 1, 1, 1 }, block = { threads, 1, 1 };
	return cudaLaunchKernel(kernel, grid, block, args, 0, stream);
}

/* ---- managed variables ---- */

static void host_and_device_share_variables(void **state)
{
	unsigned by = 2, value = 100;
	void *args[] = { &by };
	struct cudaPointerAttributes about;
	(void)state;
	assert_true(__cudaInitModule(image));
	assert_non_null(both);
	assert_int_equal(*both, 5);
	*both = 6;
	(*list)[3] = 40;
	OK(launch(&use_both, 4, args, NULL));
	OK(cudaDeviceSynchronize());
	assert_int_equal(*both, 6 + 2 * 3);
	assert_int_equal((*list)[3], 43);
	assert_int_equal((*list)[1], 1);
	OK(cudaPointerGetAttributes(&about, both));
	assert_int_equal(about.type, cudaMemoryTypeManaged);
	/* it is a symbol, too: of its own name, and of the variable that the name stands for */
	OK(cudaMemcpyToSymbol(both, &value, 4, 0, cudaMemcpyHostToDevice));
	assert_int_equal(*both, 100);
	OK(cudaMemcpyFromSymbol(&value, &both, 4, 0, cudaMemcpyDeviceToHost));
	assert_int_equal(value, 100);
	assert_int_equal(cudaFree(both), cudaErrorInvalidValue);
	(void)cudaGetLastError();
	*both = 7; /* it is still there */
}

static void a_reset_makes_them_anew(void **state)
{
	unsigned by = 1;
	void *args[] = { &by };
	(void)state;
	unsigned *before = both;
	*both = 50;
	OK(cudaDeviceReset());
	OK(launch(&use_both, 4, args, NULL));
	OK(cudaDeviceSynchronize());
	assert_ptr_equal(both, before); /* what was there is free again */
	assert_int_equal(*both, 5 + 3);
	assert_int_equal((*list)[3], 3);
}

int main(int argc, char **argv)
{
	static const struct kernel_name kernels[] = { { &use_both, "use_both" },
						      { &plus, "plus" },
						      { &times, "times" } };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_and_device_share_variables),
		cmocka_unit_test(a_reset_makes_them_anew),
	};
	if (argc != 2)
		return 2;
	image = register_image(argv[1], kernels, N_OF(kernels));
	__cudaRegisterManagedVar(image, (void **)&both, NULL, "both", 0, 4, 0, 0);
	__cudaRegisterManagedVar(image, (void **)&list, NULL, "list", 0, 16, 0, 0);
	__cudaRegisterFatBinaryEnd(image);
	return cmocka_run_group_tests_name("graphs and managed variables", tests, NULL, NULL);
}
