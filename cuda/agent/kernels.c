/* SPDX-License-Identifier: Apache-2.0 */
/* Images, their kernels, and launches. */
#include "agent.h"

#include <stdlib.h>
#include <string.h>

#include <warpscope/cubin.h>

enum { MAX_PARAMS = 4096, MAX_NAME = 1 << 16 };

void agent_modules_fini(struct agent *agent)
{
	for (size_t i = 0; i < agent->modules.n; i++)
		ws_cubin_close(agent->modules.item[i]);
	free(agent->modules.item);
	agent->modules = (struct modules){ 0 };
}

enum ws_cuda_result agent_load(struct agent *agent, struct exchange *x)
{
	const struct ws_span image = { x->bytes, x->request->n_bytes, 0 };
	struct modules *modules = &agent->modules;
	struct ws_span loaded;
	struct ws_cubin *cubin;
	struct ws_error err;
	uint32_t number;
	if (modules->n == modules->cap) {
		size_t cap = modules->cap ? 2 * modules->cap : 16;
		void *grown = realloc(modules->item, cap * sizeof *modules->item);
		if (!grown)
			return WS_CUDA_ERROR_OUT_OF_MEMORY;
		modules->item = grown;
		modules->cap = cap;
	}
	enum ws_status st = ws_sim_load(agent->sim, image, &number, &err);
	if (st == WS_OK)
		st = ws_sim_module_image(agent->sim, number, &loaded, &err);
	if (st == WS_OK)
		st = ws_cubin_open(loaded, &cubin, &err);
	static bool is_told; /* a program may ask again for each launch */
	if (st == WS_UNSUPPORTED && !is_told)
		is_told = !agent_say("%s (exec --arch says which device it is)", err.message);
	if (st != WS_OK)
		return agent_result(&err);
	modules->item[modules->n++] = cubin;
	x->reply.word[0] = number;
	x->reply.word[1] = agent->managed.n_used;
	return WS_CUDA_SUCCESS;
}

/* The cubin of a module; NULL: there is none of that number. */
static struct ws_cubin *cubin_of(const struct agent *agent, uint64_t module)
{
	return module < agent->modules.n ? agent->modules.item[module] : NULL;
}

static uint32_t known(uint32_t number)
{
	return number == WS_UNKNOWN ? 0 : number;
}

/* Of a block that is this large at most; 0: any. */
static uint32_t threads_of(struct ws_dim3 most)
{
	uint64_t n = (uint64_t)most.x * most.y;
	if (most.x == 0 || n > UINT32_MAX || n * most.z > UINT32_MAX)
		return UINT32_MAX;
	return (uint32_t)(n * most.z);
}

enum ws_cuda_result agent_kernel(struct agent *agent, struct exchange *x)
{
	struct ws_cubin *cubin = cubin_of(agent, x->request->word[0]);
	uint64_t number = x->request->word[1];
	const struct ws_function *functions, *f = NULL;
	struct ws_function_info info;
	struct ws_error err;
	size_t n;
	if (!cubin)
		return WS_CUDA_ERROR_INVALID_HANDLE;
	if (ws_cubin_functions(cubin, &functions, &n, &err) != WS_OK)
		return agent_result(&err);
	for (size_t i = 0; i < n && !f; i++)
		if (functions[i].is_kernel && functions[i].section != 0 && number-- == 0)
			f = &functions[i];
	if (!f || f->name.len > MAX_NAME)
		return WS_CUDA_ERROR_NOT_FOUND;
	struct ws_param *params = calloc(MAX_PARAMS, sizeof *params);
	if (!params)
		return WS_CUDA_ERROR_OUT_OF_MEMORY;
	if (ws_cubin_function_info(cubin, f, &info, params, MAX_PARAMS, NULL, 0, &err) != WS_OK)
		info = (struct ws_function_info){ 0 };
	uint32_t n_params = info.n_params > MAX_PARAMS ? MAX_PARAMS : (uint32_t)info.n_params;
	struct ws_dim3 most = info.max_block, only = info.required_block;
	struct ws_sim_limits limits;
	ws_sim_limits(agent->sim, &limits);
	const struct wire_kernel kernel = {
		.n_regs = known(f->n_regs),
		.local_bytes = known(f->frame_bytes),
		.shared_bytes = known(info.shared_bytes),
		.max_threads = ws_sim_threads_of_block(&limits, f->n_regs),
		.bound_threads = threads_of(most),
		.required = { only.x, only.y, only.z },
		.cluster = { info.cluster_dim.x, info.cluster_dim.y, info.cluster_dim.z },
		.n_params = n_params,
		.n_name = (uint32_t)f->name.len,
	};
	size_t head = sizeof kernel, middle = n_params * sizeof(struct wire_param);
	x->more = malloc(head + middle + f->name.len);
	if (x->more) {
		memcpy(x->more, &kernel, head);
		for (uint32_t i = 0; i < n_params; i++) {
			const struct wire_param p = { params[i].offset, params[i].size_bytes };
			memcpy(x->more + head + i * sizeof p, &p, sizeof p);
		}
		memcpy(x->more + head + middle, f->name.ptr, f->name.len);
		x->reply.n_bytes = (uint32_t)(head + middle + f->name.len);
	}
	free(params);
	return x->more ? WS_CUDA_SUCCESS : WS_CUDA_ERROR_OUT_OF_MEMORY;
}

enum ws_cuda_result agent_function(struct agent *agent, struct exchange *x)
{
	const uint32_t module = (uint32_t)x->request->word[0], n = x->request->n_bytes;
	bool is_loaded = false;
	struct ws_error err;
	char *name = n <= MAX_NAME ? calloc(1, n + (size_t)1) : NULL;
	if (!name)
		return WS_CUDA_ERROR_OUT_OF_MEMORY;
	if (n > 0)
		memcpy(name, x->bytes, n);
	enum ws_status st =
		x->request->word[1] ? ws_sim_load_function(agent->sim, module, name, &err) : WS_OK;
	if (st == WS_OK)
		st = ws_sim_function_is_loaded(agent->sim, module, name, &is_loaded, &err);
	x->reply.word[0] = is_loaded;
	free(name);
	return st == WS_OK ? WS_CUDA_SUCCESS : agent_result(&err);
}

static struct ws_dim3 dim3_of(const uint32_t words[3])
{
	return (struct ws_dim3){ words[0], words[1], words[2] };
}

/* Launches with arguments that lie as the kernel's parameters do. */
static enum ws_cuda_result launch(struct agent *agent, const struct wire_launch *asked,
				  const char *name, const uint8_t *args, const uint64_t *stack)
{
	struct ws_cubin *cubin = cubin_of(agent, asked->module);
	struct ws_param *params = calloc(MAX_PARAMS, sizeof *params);
	const void **places = calloc(MAX_PARAMS, sizeof *places);
	const struct ws_function *f;
	struct ws_function_info info = { 0 };
	struct ws_error err;
	enum ws_status st = WS_OK;
	enum ws_cuda_result result = cubin ? WS_CUDA_SUCCESS : WS_CUDA_ERROR_INVALID_HANDLE;
	if (!params || !places)
		result = WS_CUDA_ERROR_OUT_OF_MEMORY;
	if (result == WS_CUDA_SUCCESS) {
		st = ws_cubin_find_function(cubin, ws_str_of(name), &f, &err);
		if (st == WS_OK)
			st = ws_cubin_function_info(cubin, f, &info, params, MAX_PARAMS, NULL, 0,
						    &err);
		result = st == WS_OK ? WS_CUDA_SUCCESS : agent_result(&err);
	}
	if (info.n_params > MAX_PARAMS)
		result = WS_CUDA_ERROR_INVALID_IMAGE;
	for (size_t i = 0; i < info.n_params && result == WS_CUDA_SUCCESS; i++) {
		if (params[i].offset > asked->n_args ||
		    params[i].size_bytes > asked->n_args - params[i].offset)
			result = WS_CUDA_ERROR_INVALID_VALUE;
		places[i] = args + params[i].offset;
	}
	const struct ws_sim_launch made = {
		.size = sizeof made,
		.module = asked->module,
		.kernel = name,
		.grid = dim3_of(asked->grid),
		.block = dim3_of(asked->block),
		.cluster = dim3_of(asked->cluster),
		.preferred_cluster = dim3_of(asked->preferred),
		.shared_bytes = asked->shared_bytes,
		.args = places,
		.n_args = info.n_params,
		.cooperative = asked->is_cooperative,
		.host_tid = asked->host_tid,
		.host_stack = stack,
		.n_host_stack = asked->n_stack,
	};
	if (result == WS_CUDA_SUCCESS && ws_sim_launch(agent->sim, &made, &err) != WS_OK)
		result = agent_result(&err);
	free(params);
	free(places);
	return result;
}

enum ws_cuda_result agent_launch(struct agent *agent, struct exchange *x)
{
	struct wire_launch asked;
	uint64_t stack[WS_SIM_HOST_STACK] = { 0 };
	const size_t head = sizeof asked, n = x->request->n_bytes;
	if (n < head)
		return WS_CUDA_ERROR_INVALID_VALUE;
	memcpy(&asked, x->bytes, head);
	if (asked.n_name == 0 || asked.n_name > MAX_NAME || asked.n_name > n - head ||
	    asked.n_stack > WS_SIM_HOST_STACK || asked.n_args > n - head - asked.n_name ||
	    asked.n_stack * sizeof *stack != n - head - asked.n_name - asked.n_args)
		return WS_CUDA_ERROR_INVALID_VALUE;
	memcpy(stack, x->bytes + n - asked.n_stack * sizeof *stack, asked.n_stack * sizeof *stack);
	char *name = calloc(1, asked.n_name + (size_t)1);
	if (!name)
		return WS_CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(name, x->bytes + head, asked.n_name);
	enum ws_cuda_result result =
		launch(agent, &asked, name, x->bytes + head + asked.n_name, stack);
	free(name);
	return result;
}
