/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images, kernels and variables that a program brings, as compilers register them before main()
 * [public: crt/host_runtime.h]. An image is loaded when something of it is first used.
 */
#include "runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct registered_image {
	struct registered_image *next;
	const void *wrapper; /* borrowed */
	CUmodule module;     /* NULL: not loaded */
};

struct named {
	struct named *next;
	struct registered_image *image;
	const void *host; /* of a managed variable: the pointer by which the program reaches it */
	const char *name; /* borrowed: of the program's image */
	CUfunction function;
};

enum { BUCKETS = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct registered_image *images;
static struct named *functions[BUCKETS], *variables[BUCKETS];
static struct named *managed; /* a list */

static struct named **bucket(struct named **table, const void *host)
{
	return &table[((uintptr_t)host >> 4) % BUCKETS];
}

static void registered_add(struct named **at, struct registered_image *image, const void *host,
			   const char *name)
{
	struct named *one = malloc(sizeof *one);
	if (!one)
		abort(); /* before main(): there is nobody to tell */
	pthread_mutex_lock(&lock);
	*one = (struct named){ .next = *at, .image = image, .host = host, .name = name };
	*at = one;
	pthread_mutex_unlock(&lock);
}

RT_API_OF(void **, __cudaRegisterFatBinary)(const void *wrapper)
{
	struct registered_image *image = calloc(1, sizeof *image);
	if (!image)
		abort();
	pthread_mutex_lock(&lock);
	image->wrapper = wrapper;
	image->next = images;
	images = image;
	pthread_mutex_unlock(&lock);
	return (void **)image;
}

RT_API_OF(void, __cudaRegisterFatBinaryEnd)(void **image)
{
	(void)image;
}

/* The program, or a library of it, ends: what it brought is not named any more. */
RT_API_OF(void, __cudaUnregisterFatBinary)(void **image)
{
	(void)image;
}

RT_API_OF(void, __cudaRegisterFunction)
(void **image, const void *host, char *device, const char *name, int thread_limit, void *tid,
 void *bid, void *block, void *grid, int *warp_size)
{
	(void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid;
	(void)warp_size;
	registered_add(bucket(functions, host), (struct registered_image *)image, host, name);
}

RT_API_OF(void, __cudaRegisterVar)
(void **image, char *host, char *device, const char *name, int is_extern, size_t n_bytes,
 int is_constant, int is_global)
{
	(void)device, (void)is_extern, (void)n_bytes, (void)is_constant, (void)is_global;
	registered_add(bucket(variables, host), (struct registered_image *)image, host, name);
}

void rt_forget_images(void)
{
	pthread_mutex_lock(&lock);
	for (struct registered_image *image = images; image; image = image->next)
		image->module = NULL;
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct named *one = functions[i]; one; one = one->next)
			one->function = NULL;
	pthread_mutex_unlock(&lock);
}

RT_API_OF(void, __cudaRegisterManagedVar)
(void **image, void **host, char *device, const char *name, int is_extern, size_t n_bytes,
 int is_constant, int is_global)
{
	(void)device, (void)is_extern, (void)n_bytes, (void)is_constant, (void)is_global;
	registered_add(&managed, (struct registered_image *)image, host, name);
}

/* Under lock: tells the program where the managed variables of an image are. */
static int point_managed(const struct registered_image *image)
{
	int result = RT_SUCCESS;
	for (struct named *one = managed; one && result == RT_SUCCESS; one = one->next) {
		CUdeviceptr at;
		if (one->image != image)
			continue;
		result = (int)cuModuleGetGlobal_v2(&at, NULL, image->module, one->name);
		if (result == RT_SUCCESS)
			*(void **)(uintptr_t)one->host = (void *)(uintptr_t)at;
	}
	return result;
}

/* Under lock. */
static int load_image(struct registered_image *image)
{
	if (image->module)
		return RT_SUCCESS;
	int result = (int)cuModuleLoadFatBinary(&image->module, image->wrapper);
	return result == RT_SUCCESS ? point_managed(image) : result;
}

/* Before the program first uses a managed variable. */
RT_API_OF(char, __cudaInitModule)(void **image)
{
	int result = rt_begin();
	pthread_mutex_lock(&lock);
	if (result == RT_SUCCESS)
		result = load_image((struct registered_image *)image);
	pthread_mutex_unlock(&lock);
	return (char)(rt_done(result) == RT_SUCCESS);
}

static struct named *registered_find(struct named **table, const void *host)
{
	struct named *one = *bucket(table, host);
	while (one && one->host != host)
		one = one->next;
	return one;
}

int rt_function(const void *host, CUfunction *ret_function)
{
	int result = rt_begin();
	if (result != RT_SUCCESS)
		return result;
	pthread_mutex_lock(&lock);
	struct named *one = registered_find(functions, host);
	if (!one)
		result = RT_INVALID_FUNCTION;
	else if (!one->function)
		result = load_image(one->image);
	if (one && result == RT_SUCCESS && !one->function)
		result = (int)cuModuleGetFunction(&one->function, one->image->module, one->name);
	if (result == RT_SUCCESS)
		*ret_function = one->function;
	pthread_mutex_unlock(&lock);
	return result == (int)CUDA_ERROR_NOT_FOUND ? RT_INVALID_FUNCTION : result;
}

const void *rt_host_of(CUfunction function)
{
	const void *host = function;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < BUCKETS; i++)
		for (const struct named *one = functions[i]; one; one = one->next)
			if (one->function == function)
				host = one->host;
	pthread_mutex_unlock(&lock);
	return host;
}

int rt_variable(const void *host, CUdeviceptr *ret_address, size_t *ret_bytes)
{
	int result = rt_begin();
	if (result != RT_SUCCESS)
		return result;
	pthread_mutex_lock(&lock);
	struct named *one = registered_find(variables, host);
	for (struct named *m = managed; m && !one; m = m->next)
		if (m->host == host || *(void *const *)m->host == host)
			one = m;
	result = one ? load_image(one->image) : RT_INVALID_SYMBOL;
	if (result == RT_SUCCESS)
		result = (int)cuModuleGetGlobal_v2(ret_address, ret_bytes, one->image->module,
						   one->name);
	pthread_mutex_unlock(&lock);
	return result == (int)CUDA_ERROR_NOT_FOUND ? RT_INVALID_SYMBOL : result;
}
