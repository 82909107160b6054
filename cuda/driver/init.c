/* SPDX-License-Identifier: Apache-2.0 */
/* Beginning, contexts, and what every call does at its end. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/cudadebugger.h>

enum { STACK = 64, DRIVER_VERSION = 13000, API_VERSION = 13000 };

struct driver driver;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUresult init_result = CUDA_ERROR_NO_DEVICE;
static struct context *contexts; /* all but the primary one */
static _Thread_local struct {
	struct context *item[STACK];
	size_t n;
} stack;

void driver_print(const char *text, size_t n)
{
	fwrite(text, 1, n, stdout);
}

void driver_print_out(void)
{
	fflush(stdout);
}

/* A child of the program has no device, as with the vendor's driver. */
static void forget(void)
{
	driver.ready = false;
}

/* Whether what CUDA_VISIBLE_DEVICES lists leaves the one device: the list ends with the first item
 * that is no device. */
static bool is_visible(const char *list)
{
	if (!list)
		return true;
	list += strspn(list, " ");
	const size_t n = strcspn(list, " ,");
	return n == 1 && *list == '0';
}

static void driver_init(void)
{
	cudbgPreInit();
	const char *list = getenv("CUDA_VISIBLE_DEVICES");
	if (!is_visible(list)) {
		if (*list >= '1' && *list <= '9')
			driver_say("the one device is number 0, and CUDA_VISIBLE_DEVICES is ",
				   list);
		return;
	}
	(void)pthread_atfork(NULL, NULL, forget);
	driver.primary = (struct context){ .magic = MAGIC_CONTEXT };
	driver.primary.id = atomic_fetch_add(&driver.ids, 1) + 1;
	if (driver_connect()) {
		init_result = CUDA_SUCCESS;
		driver.ready = true;
		debug_begin();
		coredump_begin();
	} else {
		driver_say("the agent did not start", "");
	}
}

CU_API(cuInit)(unsigned flags)
{
	if (flags != 0)
		DONE(CUDA_ERROR_INVALID_VALUE);
	pthread_once(&once, driver_init);
	DONE(init_result);
}

CU_API(cuDriverGetVersion)(int *ret_version)
{
	if (!ret_version)
		DONE(CUDA_ERROR_INVALID_VALUE);
	*ret_version = DRIVER_VERSION;
	DONE(CUDA_SUCCESS);
}

static const char *const *result_find(CUresult result)
{
	static const struct {
		CUresult number;
		const char *words[2];
	} results[] = {
#define X(number, name, text) { name, { #name, text } },
		WS_CUDA_RESULT_LIST(X)
#undef X
	};
	for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
		if (results[i].number == result)
			return results[i].words;
	return NULL;
}

CU_API(cuGetErrorName)(CUresult result, const char **ret_name)
{
	const char *const *words = result_find(result);
	if (!ret_name)
		DONE(CUDA_ERROR_INVALID_VALUE);
	*ret_name = words ? words[0] : NULL;
	DONE(words ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CU_API(cuGetErrorString)(CUresult result, const char **ret_text)
{
	const char *const *words = result_find(result);
	if (!ret_text)
		DONE(CUDA_ERROR_INVALID_VALUE);
	*ret_text = words ? words[1] : NULL;
	DONE(words ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

/* ---- contexts: all are of one device, and share its memory ---- */

struct context *driver_context(void)
{
	return stack.n > 0 ? stack.item[stack.n - 1] : NULL;
}

CUresult driver_check(void)
{
	const struct context *context = driver_context();
	int failure = atomic_load(&driver.failure);
	if (!driver.ready)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (context->magic != MAGIC_CONTEXT)
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	return (CUresult)failure;
}

unsigned driver_contexts(void)
{
	return driver.n_contexts + (driver.primary.refs > 0);
}

static CUresult push_context(struct context *context)
{
	if (stack.n == STACK)
		return CUDA_ERROR_INVALID_VALUE;
	stack.item[stack.n++] = context;
	debug_tell(WIRE_PUSHED);
	return CUDA_SUCCESS;
}

static void pop(void)
{
	stack.n--;
	debug_tell(WIRE_POPPED);
}

CUresult device_check(CUdevice device)
{
	if (!driver.ready)
		return CUDA_ERROR_NOT_INITIALIZED;
	return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CU_API(cuDevicePrimaryCtxRetain)(CUcontext *ret_context, CUdevice device)
{
	CUresult result = ret_context ? device_check(device) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS) {
		pthread_mutex_lock(&lock);
		bool first = driver.primary.refs++ == 0;
		pthread_mutex_unlock(&lock);
		if (first)
			debug_tell(WIRE_CREATED);
		*ret_context = &driver.primary;
	}
	DONE(result);
}

/* All that is on the device goes, also a failure. */
static CUresult reset_device(void)
{
	uint64_t word[WIRE_WORDS] = { 0 };
	(void)queue_drain();
	CUresult result = driver_call(WIRE_RESET, word, NULL, 0, -1, NULL, NULL);
	ranges_forget();
	modules_forget();
	objects_forget();
	virtual_forget();
	registered_forget();
	atomic_store(&driver.failure, CUDA_SUCCESS);
	if (driver_contexts() > 0)
		debug_tell(WIRE_CREATED);
	return result;
}

CU_API(cuDevicePrimaryCtxReset_v2)(CUdevice device)
{
	CUresult result = device_check(device);
	DONE(result == CUDA_SUCCESS ? reset_device() : result);
}

CU_API(cuDevicePrimaryCtxRelease_v2)(CUdevice device)
{
	CUresult result = device_check(device);
	bool last = false;
	pthread_mutex_lock(&lock);
	if (result == CUDA_SUCCESS && driver.primary.refs == 0)
		result = CUDA_ERROR_INVALID_CONTEXT;
	else if (result == CUDA_SUCCESS)
		last = --driver.primary.refs == 0;
	pthread_mutex_unlock(&lock);
	DONE(last ? reset_device() : result);
}

CU_API(cuDevicePrimaryCtxGetState)(CUdevice device, unsigned *ret_flags, int *ret_active)
{
	CUresult result = ret_flags && ret_active ? device_check(device) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS) {
		*ret_flags = driver.primary.flags;
		*ret_active = driver.primary.refs > 0;
	}
	DONE(result);
}

CU_API(cuDevicePrimaryCtxSetFlags_v2)(CUdevice device, unsigned flags)
{
	CUresult result = device_check(device);
	if (result == CUDA_SUCCESS && flags & ~(unsigned)CU_CTX_FLAGS_MASK)
		result = CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		driver.primary.flags = flags;
	DONE(result);
}

static CUresult context_create(CUcontext *ret_context, unsigned flags, CUdevice device)
{
	CUresult result = ret_context ? device_check(device) : CUDA_ERROR_INVALID_VALUE;
	if (result != CUDA_SUCCESS)
		return result;
	struct context *context = calloc(1, sizeof *context);
	if (!context)
		return CUDA_ERROR_OUT_OF_MEMORY;
	context->magic = MAGIC_CONTEXT;
	context->flags = flags;
	context->id = atomic_fetch_add(&driver.ids, 1) + 1;
	if (stack.n == STACK) {
		free(context);
		return CUDA_ERROR_INVALID_VALUE;
	}
	pthread_mutex_lock(&lock);
	context->next = contexts;
	contexts = context;
	driver.n_contexts++;
	pthread_mutex_unlock(&lock);
	debug_tell(WIRE_CREATED);
	(void)push_context(context); /* there is room */
	coredump_of_flags(context, flags);
	*ret_context = context;
	return CUDA_SUCCESS;
}

CU_API(cuCtxCreate_v2)(CUcontext *ret_context, unsigned flags, CUdevice device)
{
	DONE(context_create(ret_context, flags, device));
}

CU_API(cuCtxCreate_v4)(CUcontext *ret_context, const void *params, unsigned flags, CUdevice device)
{
	DONE(params ? CUDA_ERROR_NOT_SUPPORTED : context_create(ret_context, flags, device));
}

CU_API(cuCtxDestroy_v2)(CUcontext context)
{
	if (!IS(context, MAGIC_CONTEXT) || context == &driver.primary)
		DONE(CUDA_ERROR_INVALID_CONTEXT);
	(void)queue_drain();
	context->magic = MAGIC_GONE;
	if (driver_context() == context)
		pop();
	pthread_mutex_lock(&lock);
	driver.n_contexts--;
	pthread_mutex_unlock(&lock);
	if (driver_contexts() == 0)
		debug_tell(WIRE_DESTROYED);
	DONE(CUDA_SUCCESS);
}

CU_API(cuCtxPushCurrent_v2)(CUcontext context)
{
	DONE(IS(context, MAGIC_CONTEXT) ? push_context(context) : CUDA_ERROR_INVALID_CONTEXT);
}

CU_API(cuCtxPopCurrent_v2)(CUcontext *ret_context)
{
	if (stack.n == 0)
		DONE(CUDA_ERROR_INVALID_CONTEXT);
	pop();
	if (ret_context)
		*ret_context = stack.item[stack.n];
	DONE(CUDA_SUCCESS);
}

CU_API(cuCtxSetCurrent)(CUcontext context)
{
	if (!driver.ready)
		DONE(CUDA_ERROR_NOT_INITIALIZED);
	if (context && context->magic != MAGIC_CONTEXT)
		DONE(CUDA_ERROR_INVALID_CONTEXT);
	if (stack.n > 0)
		pop();
	DONE(context ? push_context(context) : CUDA_SUCCESS);
}

CU_API(cuCtxGetCurrent)(CUcontext *ret_context)
{
	if (!driver.ready)
		DONE(CUDA_ERROR_NOT_INITIALIZED);
	if (!ret_context)
		DONE(CUDA_ERROR_INVALID_VALUE);
	*ret_context = driver_context();
	DONE(CUDA_SUCCESS);
}

/* `*ret = value`, of the current context. */
#define OF_CONTEXT(ret, value)                                                        \
	do {                                                                          \
		CUresult checked = (ret) ? driver_check() : CUDA_ERROR_INVALID_VALUE; \
		if (checked == CUDA_SUCCESS)                                          \
			*(ret) = (value);                                             \
		DONE(checked);                                                        \
	} while (0)

CU_API(cuCtxGetDevice)(CUdevice *ret_device)
{
	OF_CONTEXT(ret_device, 0);
}

CU_API(cuCtxGetFlags)(unsigned *ret_flags)
{
	OF_CONTEXT(ret_flags, driver_context()->flags);
}

CU_API(cuCtxGetId)(CUcontext context, unsigned long long *ret_id)
{
	context = context ? context : driver_context();
	if (!ret_id || !IS(context, MAGIC_CONTEXT))
		DONE(CUDA_ERROR_INVALID_VALUE);
	*ret_id = context->id;
	DONE(CUDA_SUCCESS);
}

CU_API(cuCtxGetApiVersion)(CUcontext context, unsigned *ret_version)
{
	context = context ? context : driver_context();
	if (!ret_version || !IS(context, MAGIC_CONTEXT))
		DONE(CUDA_ERROR_INVALID_CONTEXT);
	*ret_version = API_VERSION;
	DONE(CUDA_SUCCESS);
}

CU_API(cuCtxGetCacheConfig)(int *ret_config)
{
	OF_CONTEXT(ret_config, 0);
}

CU_API(cuCtxSetCacheConfig)(int config)
{
	(void)config; /* a preference */
	DONE(driver_check());
}

CU_API(cuCtxGetSharedMemConfig)(int *ret_config)
{
	OF_CONTEXT(ret_config, 1);
}

CU_API(cuCtxSetSharedMemConfig)(int config)
{
	(void)config; /* a preference */
	DONE(driver_check());
}

CU_API(cuCtxGetStreamPriorityRange)(int *ret_least, int *ret_greatest)
{
	CUresult result = driver_check();
	if (result == CUDA_SUCCESS && ret_least)
		*ret_least = 0;
	if (result == CUDA_SUCCESS && ret_greatest)
		*ret_greatest = -5;
	DONE(result);
}

CU_API(cuCtxResetPersistingL2Cache)(void)
{
	DONE(driver_check());
}

enum { LIMIT_STACK, LIMIT_PRINT, LIMIT_HEAP, N_LIMITS = 8 };

/* Limits are those that the device was made with; what is asked for is kept, and told again. */
CU_API(cuCtxGetLimit)(size_t *ret_value, unsigned limit)
{
	CUresult result = ret_value ? driver_check() : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS && limit >= N_LIMITS)
		result = CUDA_ERROR_UNSUPPORTED_LIMIT;
	if (result != CUDA_SUCCESS)
		DONE(result);
	const uint64_t usual[N_LIMITS] = { 1024, driver.device.limits.print_bytes,
					   driver.device.limits.heap_bytes };
	uint64_t set = driver_context()->limits[limit];
	*ret_value = set ? set : usual[limit];
	DONE(CUDA_SUCCESS);
}

CU_API(cuCtxSetLimit)(unsigned limit, size_t value)
{
	CUresult result = driver_check();
	if (result == CUDA_SUCCESS && limit >= N_LIMITS)
		result = CUDA_ERROR_UNSUPPORTED_LIMIT;
	if (result == CUDA_SUCCESS)
		driver_context()->limits[limit] = value;
	DONE(result);
}

CU_API(cuCtxSynchronize)(void)
{
	CUresult result = driver_check();
	if (result == CUDA_SUCCESS)
		result = queue_drain();
	DONE(result == CUDA_SUCCESS ? driver_check() : result);
}
