/* SPDX-License-Identifier: Apache-2.0 */
/* Launches, and what is asked of kernels. */
#include "runtime.h"

#include <string.h>

/* ---- <<<...>>>: what is between the brackets is kept until the stub of the kernel takes it ----
 */

struct configuration {
	struct rt_dim3 grid, block;
	size_t shared_bytes;
	CUstream stream;
};

enum { DEPTH = 16 };

static _Thread_local struct configuration pushed[DEPTH];
static _Thread_local unsigned n_pushed;

RT_API_OF(unsigned, __cudaPushCallConfiguration)
(struct rt_dim3 grid, struct rt_dim3 block, size_t shared_bytes, CUstream stream)
{
	if (n_pushed == DEPTH)
		return 1;
	pushed[n_pushed++] = (struct configuration){ grid, block, shared_bytes, stream };
	return 0;
}

RT_API(__cudaPopCallConfiguration)
(struct rt_dim3 *ret_grid, struct rt_dim3 *ret_block, size_t *ret_shared_bytes,
 CUstream *ret_stream)
{
	if (n_pushed == 0)
		return rt_done(RT_MISSING_CONFIGURATION);
	const struct configuration *one = &pushed[--n_pushed];
	*ret_grid = one->grid;
	*ret_block = one->block;
	*ret_shared_bytes = one->shared_bytes;
	*ret_stream = one->stream;
	return RT_SUCCESS;
}

/* ---- launches ---- */

/* The runtime calls what is wrong with the dimensions a wrong configuration. */
static int launched(CUresult result)
{
	return result == CUDA_ERROR_INVALID_VALUE ? RT_INVALID_CONFIGURATION : (int)result;
}

RT_API(cudaLaunchKernel)
(const void *host, struct rt_dim3 grid, struct rt_dim3 block, void **args, size_t shared_bytes,
 CUstream stream)
{
	CUfunction function;
	int result = rt_function(host, &function);
	if (result != RT_SUCCESS)
		return rt_done(result);
	return rt_done(
		launched(cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
					(unsigned)shared_bytes, stream, args, NULL)));
}

RT_API(cudaLaunchCooperativeKernel)
(const void *host, struct rt_dim3 grid, struct rt_dim3 block, void **args, size_t shared_bytes,
 CUstream stream)
{
	CUfunction function;
	int result = rt_function(host, &function);
	if (result != RT_SUCCESS)
		return rt_done(result);
	return rt_done(launched(cuLaunchCooperativeKernel(function, grid.x, grid.y, grid.z, block.x,
							  block.y, block.z, (unsigned)shared_bytes,
							  stream, args)));
}

/* As compilers since CUDA 12.8 call it: with a kernel of __cudaGetKernel(). */
RT_API(__cudaGetKernel)(const void **ret_kernel, const void *host)
{
	CUfunction function;
	int result = rt_function(host, &function);
	*ret_kernel = result == RT_SUCCESS ? (const void *)function : host;
	return rt_done(result);
}

RT_API(__cudaLaunchKernel)
(CUfunction kernel, struct rt_dim3 grid, struct rt_dim3 block, void **args, size_t shared_bytes,
 CUstream stream)
{
	int result = rt_begin();
	CUfunction function;
	if (result == RT_SUCCESS) /* what the program calls it by: it could not be had before */
		result = rt_function(kernel, &function);
	if (result != RT_SUCCESS && result != RT_INVALID_FUNCTION)
		return rt_done(result);
	return rt_done(
		launched(cuLaunchKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
					(unsigned)shared_bytes, stream, args, NULL)));
}

struct launch_config {
	struct rt_dim3 grid, block;
	size_t shared_bytes;
	CUstream stream;
	CUlaunchAttribute *attributes;
	unsigned n_attributes;
};

RT_API(cudaLaunchKernelExC)(const struct launch_config *config, const void *host, void **args)
{
	CUfunction function;
	int result = config ? rt_function(host, &function) : RT_INVALID_VALUE;
	if (result != RT_SUCCESS)
		return rt_done(result);
	const CUlaunchConfig c = {
		.grid = { config->grid.x, config->grid.y, config->grid.z },
		.block = { config->block.x, config->block.y, config->block.z },
		.shared_bytes = (unsigned)config->shared_bytes,
		.stream = config->stream,
		.attributes = config->attributes,
		.n_attributes = config->n_attributes,
	};
	return rt_done(launched(cuLaunchKernelEx(&c, function, args, NULL)));
}

/* ---- kernels ---- */

RT_API(cudaGetFuncBySymbol)(CUfunction *ret_function, const void *host)
{
	return rt_done(ret_function ? rt_function(host, ret_function) : RT_INVALID_VALUE);
}

struct function_attributes {
	size_t shared_bytes, constant_bytes, local_bytes;
	int max_threads, n_regs, ptx_version, binary_version, cache_mode, dynamic_shared;
	int carveout, cluster_must_be_set, cluster[3], cluster_policy, non_portable_cluster;
	int reserved[16];
};

static int function_attribute(CUfunction function, int number)
{
	int value = 0;
	(void)cuFuncGetAttribute(&value, number, function);
	return value;
}

RT_API(cudaFuncGetAttributes)(struct function_attributes *ret, const void *host)
{
	CUfunction f;
	int result = ret ? rt_function(host, &f) : RT_INVALID_VALUE;
	if (result != RT_SUCCESS)
		return rt_done(result);
	memset(ret, 0, sizeof *ret);
	ret->max_threads = function_attribute(f, 0);
	ret->shared_bytes = (size_t)function_attribute(f, 1);
	ret->constant_bytes = (size_t)function_attribute(f, 2);
	ret->local_bytes = (size_t)function_attribute(f, 3);
	ret->n_regs = function_attribute(f, 4);
	ret->ptx_version = function_attribute(f, 5);
	ret->binary_version = function_attribute(f, 6);
	ret->dynamic_shared = function_attribute(f, 8);
	ret->carveout = function_attribute(f, 9);
	for (int i = 0; i < 3; i++)
		ret->cluster[i] = function_attribute(f, 11 + i);
	return rt_done(RT_SUCCESS);
}

RT_API(cudaFuncSetAttribute)(const void *host, int number, int value)
{
	CUfunction function;
	int result = rt_function(host, &function);
	if (result == RT_SUCCESS)
		result = (int)cuFuncSetAttribute(function, number, value);
	return rt_done(result);
}

RT_API(cudaFuncSetCacheConfig)(const void *host, int config)
{
	CUfunction function;
	(void)config; /* a preference */
	return rt_done(rt_function(host, &function));
}

RT_API(cudaFuncGetName)(const char **ret_name, const void *host)
{
	CUfunction function;
	int result = rt_function(host, &function);
	if (result == RT_SUCCESS)
		result = (int)cuFuncGetName(ret_name, function);
	return rt_done(result);
}

static int active_blocks(int *ret_n, const void *host, int threads, size_t dynamic_bytes)
{
	CUfunction function;
	int result = rt_function(host, &function);
	if (result == RT_SUCCESS)
		result = (int)cuOccupancyMaxActiveBlocksPerMultiprocessor(ret_n, function, threads,
									  dynamic_bytes);
	return result;
}

RT_API(cudaOccupancyMaxActiveBlocksPerMultiprocessor)
(int *ret_n, const void *host, int threads, size_t dynamic_bytes)
{
	return rt_done(active_blocks(ret_n, host, threads, dynamic_bytes));
}

RT_API(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
(int *ret_n, const void *host, int threads, size_t dynamic_bytes, unsigned flags)
{
	(void)flags;
	return rt_done(active_blocks(ret_n, host, threads, dynamic_bytes));
}

RT_API(cudaOccupancyAvailableDynamicSMemPerBlock)
(size_t *ret_bytes, const void *host, int blocks, int threads)
{
	CUfunction function;
	int result = rt_function(host, &function);
	if (result == RT_SUCCESS)
		result = (int)cuOccupancyAvailableDynamicSMemPerBlock(ret_bytes, function, blocks,
								      threads);
	return rt_done(result);
}
