/* SPDX-License-Identifier: Apache-2.0 */
/* Launches, and how many blocks fit. */
#include "driver.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/cudadebugger.h>

enum { MAX_THREADS = 1024, MAX_Z = 64, MAX_GRID_YZ = 65535, MAX_CLUSTER = 16 };

/* ---- the queue's part ---- */

/* If this fails run_launch() tells why. */
static void send_launch(struct driver_op *op)
{
	debug_flush();
	op->is_sent = driver_work_send(WIRE_LAUNCH, op->word, op->host, op->n_host);
}

static CUresult run_launch(struct driver_op *op)
{
	if (!op->is_sent)
		send_launch(op);
	CUresult result = driver_work_end(op->word, NULL, 0);
	if (result == CUDA_SUCCESS)
		return result;
	if (!(op->word[0] & WIRE_FAULT))
		return result;
	if (!(op->word[0] & WIRE_TOLD))
		coredump_fault(op->context);
	atomic_store(&driver.failure, (int)result);
	return result;
}

/* ---- the call's part ---- */

static CUresult check_block_dims(const struct launch *launch)
{
	const struct wire_kernel *about = &launch->kernel->about;
	const uint32_t *grid = launch->asked.grid, *block = launch->asked.block;
	for (unsigned i = 0; i < 3; i++)
		if (grid[i] == 0 || block[i] == 0)
			return CUDA_ERROR_INVALID_VALUE;
	if (grid[0] > INT32_MAX || grid[1] > MAX_GRID_YZ || grid[2] > MAX_GRID_YZ ||
	    block[0] > MAX_THREADS || block[1] > MAX_THREADS || block[2] > MAX_Z ||
	    block[0] * block[1] * block[2] > MAX_THREADS)
		return CUDA_ERROR_INVALID_VALUE;
	if (launch->asked.shared_bytes > launch->kernel->dynamic_shared)
		return CUDA_ERROR_INVALID_VALUE;
	uint32_t threads = block[0] * block[1] * block[2];
	if (threads > about->bound_threads ||
	    (about->required[0] != 0 &&
	     memcmp(block, about->required, sizeof about->required) != 0))
		return CUDA_ERROR_INVALID_VALUE;
	return threads > about->max_threads ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES : CUDA_SUCCESS;
}

/* The grid is a multiple of it. */
static CUresult check_size(const struct launch *launch, const uint32_t cluster[3])
{
	for (unsigned i = 0; i < 3; i++)
		if (cluster[i] == 0 || cluster[i] > MAX_CLUSTER)
			return CUDA_ERROR_INVALID_CLUSTER_SIZE;
	if (cluster[0] * cluster[1] * cluster[2] > MAX_CLUSTER)
		return CUDA_ERROR_INVALID_CLUSTER_SIZE;
	for (unsigned i = 0; i < 3; i++)
		if (launch->asked.grid[i] % cluster[i] != 0)
			return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static CUresult check_cluster(struct launch *launch)
{
	uint32_t *cluster = launch->asked.cluster, *preferred = launch->asked.preferred;
	CUresult result = CUDA_SUCCESS;
	if (cluster[0] == 0)
		memcpy(cluster, launch->kernel->about.cluster, sizeof launch->asked.cluster);
	if (cluster[0] != 0)
		result = check_size(launch, cluster);
	if (cluster[0] == 0) /* only with a regular size does it take effect */
		memset(preferred, 0, sizeof launch->asked.preferred);
	if (preferred[0] == 0 || result != CUDA_SUCCESS)
		return result;
	for (unsigned i = 0; i < 3; i++)
		if (preferred[i] % cluster[i] != 0)
			return CUDA_ERROR_INVALID_VALUE;
	return check_size(launch, preferred);
}

/* Arguments as they lie in the parameter area. */
static CUresult put_args(const struct launch *launch, char *to)
{
	const struct driver_kernel *kernel = launch->kernel;
	const void *buffer = NULL;
	size_t n_bytes = 0;
	if (launch->params && launch->extra)
		return CUDA_ERROR_INVALID_VALUE;
	if (launch->params) {
		for (uint32_t i = 0; i < kernel->about.n_params; i++)
			memcpy(to + kernel->params[i].offset, launch->params[i],
			       kernel->params[i].n_bytes);
		return CUDA_SUCCESS;
	}
	for (void **at = launch->extra; at && *at != CU_LAUNCH_PARAM_END; at += 2) {
		if (*at == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buffer = at[1];
		else if (*at == CU_LAUNCH_PARAM_BUFFER_SIZE)
			n_bytes = *(const size_t *)at[1];
		else
			return CUDA_ERROR_INVALID_VALUE;
	}
	if (n_bytes < kernel->args_bytes || (n_bytes > 0 && !buffer))
		return CUDA_ERROR_INVALID_VALUE;
	if (kernel->args_bytes > 0)
		memcpy(to, buffer, kernel->args_bytes);
	return CUDA_SUCCESS;
}

CUresult launch_op(struct launch *launch, struct driver_op *ret_op)
{
	struct driver_kernel *kernel = launch->kernel;
	CUresult result = IS(kernel, MAGIC_KERNEL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
	if (result == CUDA_SUCCESS && kernel->module->magic != MAGIC_MODULE)
		result = CUDA_ERROR_INVALID_HANDLE;
	if (result == CUDA_SUCCESS)
		result = check_block_dims(launch);
	if (result == CUDA_SUCCESS)
		result = check_cluster(launch);
	if (result != CUDA_SUCCESS)
		return result;
	struct wire_launch *asked = &launch->asked;
	asked->module = kernel->module->number;
	asked->n_name = kernel->about.n_name;
	asked->n_args = kernel->args_bytes;
	asked->host_tid = debug_tid();
	uint64_t stack[DEBUG_STACK];
	asked->n_stack = debug_stack(stack);
	const size_t n_stack = asked->n_stack * sizeof *stack;
	struct driver_op op = { .send = send_launch,
				.run = run_launch,
				.type = CU_NODE_KERNEL,
				.context = driver_context(),
				.kernel = kernel,
				.n_host = sizeof *asked + asked->n_name + asked->n_args + n_stack };
	char *bytes = calloc(1, op.n_host);
	op.host = bytes;
	if (!bytes)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(bytes, asked, sizeof *asked);
	memcpy(bytes + sizeof *asked, kernel->name, asked->n_name);
	if (n_stack > 0)
		memcpy(bytes + op.n_host - n_stack, stack, n_stack);
	result = put_args(launch, bytes + sizeof *asked + asked->n_name);
	if (result != CUDA_SUCCESS) {
		free(bytes);
		return result;
	}
	*ret_op = op;
	return CUDA_SUCCESS;
}

static CUresult launch_now(CUstream stream, struct launch *launch)
{
	struct driver_op op;
	CUresult result = stream_check(stream);
	if (result == CUDA_SUCCESS)
		result = launch_op(launch, &op);
	if (result == CUDA_SUCCESS)
		result = stream_add(stream, &op);
	if (result == CUDA_SUCCESS && __atomic_load_n(&cudbgEnableLaunchBlocking, __ATOMIC_RELAXED))
		stream_wait(stream);
	return result;
}

CU_API(cuLaunchKernel)
(CUfunction kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
 unsigned shared_bytes, CUstream stream, void **params, void **extra)
{
	struct launch launch = { .kernel = kernel,
				 .params = params,
				 .extra = extra,
				 .asked = { .grid = { gx, gy, gz },
					    .block = { bx, by, bz },
					    .shared_bytes = shared_bytes } };
	DONE(launch_now(stream, &launch));
}

CU_API(cuLaunchCooperativeKernel)
(CUfunction kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
 unsigned shared_bytes, CUstream stream, void **params)
{
	struct launch launch = { .kernel = kernel,
				 .params = params,
				 .asked = { .grid = { gx, gy, gz },
					    .block = { bx, by, bz },
					    .shared_bytes = shared_bytes,
					    .is_cooperative = 1 } };
	DONE(launch_now(stream, &launch));
}

CU_API(cuLaunchKernelEx)
(const CUlaunchConfig *config, CUfunction kernel, void **params, void **extra)
{
	if (!config || (config->n_attributes > 0 && !config->attributes))
		DONE(CUDA_ERROR_INVALID_VALUE);
	struct launch launch = { .kernel = kernel,
				 .params = params,
				 .extra = extra,
				 .asked = { .shared_bytes = config->shared_bytes } };
	memcpy(launch.asked.grid, config->grid, sizeof config->grid);
	memcpy(launch.asked.block, config->block, sizeof config->block);
	for (unsigned i = 0; i < config->n_attributes; i++) {
		const CUlaunchAttribute *a = &config->attributes[i];
		if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
			launch.asked.is_cooperative = a->value.cooperative != 0;
		if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
			memcpy(launch.asked.cluster, a->value.cluster, sizeof launch.asked.cluster);
		if (a->id == CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION)
			memcpy(launch.asked.preferred, a->value.cluster,
			       sizeof launch.asked.preferred);
	} /* the others are preferences, or change no result */
	DONE(launch_now(config->stream, &launch));
}

/* ---- how many fit ---- */

/* Blocks of an SM at once. */
static unsigned blocks_of(const struct driver_kernel *kernel, unsigned threads,
			  size_t dynamic_bytes)
{
	const struct wire_kernel *about = &kernel->about;
	const struct ws_sim_need need = {
		.threads = threads,
		.n_regs = about->n_regs,
		.static_bytes = about->shared_bytes,
		.dynamic_bytes = dynamic_bytes < UINT32_MAX ? (uint32_t)dynamic_bytes : UINT32_MAX,
	};
	return threads > about->bound_threads ? 0
					      : ws_sim_blocks_of_sm(&driver.device.limits, &need);
}

CU_API(cuOccupancyMaxActiveBlocksPerMultiprocessor)
(int *ret_n, CUfunction kernel, int threads, size_t dynamic_bytes)
{
	if (!ret_n || threads <= 0)
		DONE(CUDA_ERROR_INVALID_VALUE);
	if (!IS(kernel, MAGIC_KERNEL))
		DONE(CUDA_ERROR_INVALID_HANDLE);
	*ret_n = (int)blocks_of(kernel, (unsigned)threads, dynamic_bytes);
	DONE(CUDA_SUCCESS);
}

CU_API(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
(int *ret_n, CUfunction kernel, int threads, size_t dynamic_bytes, unsigned flags)
{
	(void)flags;
	DONE_BY(cuOccupancyMaxActiveBlocksPerMultiprocessor(ret_n, kernel, threads, dynamic_bytes));
}

CU_API(cuOccupancyMaxPotentialBlockSize)
(int *ret_grid, int *ret_block, CUfunction kernel, size_t (*bytes_of)(int block),
 size_t dynamic_bytes, int limit)
{
	unsigned best = 0, best_block = 0;
	if (!ret_grid || !ret_block)
		DONE(CUDA_ERROR_INVALID_VALUE);
	if (!IS(kernel, MAGIC_KERNEL))
		DONE(CUDA_ERROR_INVALID_HANDLE);
	unsigned most = limit > 0 && limit < MAX_THREADS ? (unsigned)limit : MAX_THREADS;
	for (unsigned block = most / 32 * 32; block >= 32; block -= 32) {
		size_t dynamic = bytes_of ? bytes_of((int)block) : dynamic_bytes;
		unsigned threads = blocks_of(kernel, block, dynamic) * block;
		if (threads > best) {
			best = threads;
			best_block = block;
		}
	}
	*ret_block = (int)best_block;
	*ret_grid = best_block ? (int)(best / best_block * driver.device.limits.n_sms) : 0;
	DONE(CUDA_SUCCESS);
}

CU_API(cuOccupancyMaxPotentialBlockSizeWithFlags)
(int *ret_grid, int *ret_block, CUfunction kernel, size_t (*bytes_of)(int block),
 size_t dynamic_bytes, int limit, unsigned flags)
{
	(void)flags;
	DONE_BY(cuOccupancyMaxPotentialBlockSize(ret_grid, ret_block, kernel, bytes_of,
						 dynamic_bytes, limit));
}

CU_API(cuOccupancyAvailableDynamicSMemPerBlock)
(size_t *ret_bytes, CUfunction kernel, int blocks, int threads)
{
	if (!ret_bytes || blocks <= 0 || threads <= 0)
		DONE(CUDA_ERROR_INVALID_VALUE);
	if (!IS(kernel, MAGIC_KERNEL))
		DONE(CUDA_ERROR_INVALID_HANDLE);
	size_t low = 0, high = driver.device.limits.block_shared_bytes;
	while (low < high) { /* the most for which they fit */
		size_t middle = high - (high - low) / 2;
		if (blocks_of(kernel, (unsigned)threads, middle) >= (unsigned)blocks)
			low = middle;
		else
			high = middle - 1;
	}
	*ret_bytes = low;
	DONE(CUDA_SUCCESS);
}
