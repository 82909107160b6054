/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of four kernels (tests/sim/kernels/debug.cu), for debuggers to walk through; it says of
 * each whether the result is right. usage: walk FATBIN [astray]
 *
 * astray: the last kernel follows an index out of its array.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api.h"

enum { BLOCKS = 2, THREADS = 32, N = BLOCKS * THREADS, STEPS = 3 };

static uint32_t folded(uint32_t v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		v = v * 3 + i;
	return v;
}

static uint32_t calls(const uint32_t *in, uint32_t i)
{
	uint32_t v = 5 * ((2 * (in[i] + 3)) ^ 1);
	return v + folded(v, 3);
}

static uint32_t parts_once(const uint32_t *in, uint32_t i)
{
	return 100 + (in[i] & 1 ? folded(in[i], 2) : folded(in[i], 4) + 1);
}

static uint32_t shifts(const uint32_t *in, uint32_t i)
{
	return 2 * in[(i % THREADS + 1) % THREADS];
}

static uint32_t chain(const uint32_t *in, uint32_t i)
{
	for (uint32_t n = 0; n < STEPS; n++)
		i = in[i];
	return i;
}

static const struct {
	const char *name;
	uint32_t (*expected)(const uint32_t *in, uint32_t i);
	uint32_t n; /* results */
} kernels[] = {
	{ "calls", calls, N },
	{ "parts_once", parts_once, N },
	{ "shifts", shifts, THREADS },
	{ "chain", chain, THREADS },
};

static int run(CUmodule module, unsigned number, uint32_t *out, uint32_t *in, int is_astray)
{
	CUdeviceptr places[] = { (uintptr_t)out, (uintptr_t)in };
	uint32_t steps = STEPS, wrong = 0;
	void *args[] = { &places[0], &places[1], &steps };
	CUfunction function;
	if (is_astray && kernels[number].expected == chain)
		in[5] = 1u << 30;
	if (cuModuleGetFunction(&function, module, kernels[number].name) != CUDA_SUCCESS ||
	    cuLaunchKernel(function, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, args, NULL) !=
		    CUDA_SUCCESS ||
	    cuCtxSynchronize() != CUDA_SUCCESS)
		return 1;
	for (uint32_t i = 0; i < kernels[number].n; i++)
		wrong += out[i] != kernels[number].expected(in, i);
	printf("%s: %u wrong\n", kernels[number].name, (unsigned)wrong);
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	CUcontext context;
	CUmodule module;
	void *host;
	if (argc < 2 || cuInit(0) != CUDA_SUCCESS ||
	    cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
	    cuCtxSetCurrent(context) != CUDA_SUCCESS ||
	    cuModuleLoad(&module, argv[1]) != CUDA_SUCCESS ||
	    cuMemAllocHost(&host, sizeof(uint32_t[2 * N])) != CUDA_SUCCESS)
		return 2;
	uint32_t *out = host, *in = out + N;
	for (uint32_t i = 0; i < N; i++)
		in[i] = (i * 7 + 1) % N;
	for (unsigned i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
		if (run(module, i, out, in, argc > 2))
			return 1;
	return 0;
}
