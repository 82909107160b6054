/* SPDX-License-Identifier: Apache-2.0 */
/* A target over any provider of the debugger API: opening, closing, the lists. */
#include "target/api/api.h"

#if WSI_HAVE_DLOPEN
#include <dlfcn.h>
#endif
#include <unistd.h>

/* Slots of a version of the API, newest first: the table only ever grew at its end. [public doc:
 * manual and headers, see src/cudbg/api/README.md] */
static unsigned slots_of(uint32_t major, uint32_t minor)
{
	static const struct {
		uint8_t major, minor;
		uint8_t slots;
	} known[] = {
		{ 13, 4, 164 }, { 13, 2, 159 }, { 13, 1, 149 }, { 13, 0, 148 }, { 12, 9, 146 },
		{ 12, 8, 142 }, { 12, 7, 141 }, { 12, 6, 137 }, { 12, 5, 136 }, { 12, 4, 133 },
		{ 12, 3, 129 }, { 12, 2, 126 }, { 12, 0, 125 }, { 11, 8, 121 }, { 10, 0, 120 },
		{ 9, 0, 114 },  { 6, 5, 113 },  { 6, 0, 106 },  { 5, 5, 92 },   { 5, 0, 84 },
		{ 4, 2, 76 },   { 4, 1, 75 },   { 4, 0, 71 },   { 3, 2, 63 },   { 3, 1, 56 },
		{ 0, 0, 47 },
	};
	size_t i = 0;
	while (major < known[i].major || (major == known[i].major && minor < known[i].minor))
		i++;
	return known[i].slots;
}

/* Codes by which providers say that something is not there. UNKNOWN is one of NVIDIA's dump
 * library. */
static bool is_absent(CUDBGResult result)
{
	static const CUDBGResult codes[] = {
		CUDBG_ERROR_UNKNOWN,
		CUDBG_ERROR_MISSING_DATA,
		CUDBG_ERROR_INVALID_ADDRESS,
		CUDBG_ERROR_INVALID_MEMORY_ACCESS,
		CUDBG_ERROR_INVALID_MEMORY_SEGMENT,
		CUDBG_ERROR_MEMORY_MAPPING_FAILED,
		CUDBG_ERROR_ADDRESS_NOT_IN_DEVICE_MEM,
		CUDBG_ERROR_INVALID_ARGS,
		CUDBG_ERROR_INVALID_DEVICE,
		CUDBG_ERROR_INVALID_SM,
		CUDBG_ERROR_INVALID_WARP,
		CUDBG_ERROR_INVALID_LANE,
		CUDBG_ERROR_INVALID_GRID,
		CUDBG_ERROR_INVALID_CONTEXT,
		CUDBG_ERROR_INVALID_MODULE,
		CUDBG_ERROR_INVALID_CALL_LEVEL,
	};
	for (size_t i = 0; i < WSI_COUNT(codes); i++)
		if (codes[i] == result)
			return true;
	return false;
}

enum ws_status wsi_api_status(struct api_target *t, CUDBGResult result, const char *what,
			      struct ws_error *err)
{
	char words[200] = "";
	if (result == CUDBG_SUCCESS)
		return WS_OK;
	enum ws_status st = result == CUDBG_ERROR_NOT_SUPPORTED              ? WS_UNSUPPORTED
			    : result == CUDBG_ERROR_RUNNING_DEVICE           ? WS_RUNNING
			    : result == CUDBG_ERROR_AMBIGUOUS_MEMORY_ADDRESS ? WS_ARGUMENT
			    : result == CUDBG_ERROR_COMMUNICATION_FAILURE    ? WS_IO
			    : is_absent(result)                              ? WS_ABSENT
									     : WS_MALFORMED;
	(void)API_CALL(t, getErrorStringEx, words, sizeof words, NULL);
	words[sizeof words - 1] = '\0';
	size_t n = strlen(what);
	if (strncmp(words, what, n) == 0 && words[n] == ':') /* they name the function, too */
		return wsi_fail(err, st, WS_NO_OFFSET, "%s", words);
	return wsi_fail(err, st, WS_NO_OFFSET, "%s: %s", what,
			words[0] ? words : cudbgGetErrorString(result));
}

struct api_place wsi_api_place(const struct api_target *t, uint32_t warp_index)
{
	const struct ws_warp *warp = &t->warps[warp_index];
	return (struct api_place){ t->devices[warp->device_index].id, t->sms[warp->sm_index].id,
				   warp->id };
}

/* ---- the lists ---- */

/* What no function told of a row, or NULL. */
static const char *lack_of(const struct api_target *t, enum api_kind kind, uint32_t index)
{
	const struct api_lack *items = t->lacks[kind].items;
	size_t low = WSI_BISECT(i, 0, t->lacks[kind].n, items[i].index < index);
	return low < t->lacks[kind].n && items[low].index == index ? items[low].what : NULL;
}

/* A row is handed out whole or not at all. */
static enum ws_status whole(const struct ws_target *target, enum api_kind kind, uint32_t index,
			    struct ws_error *err)
{
	const char *lack = lack_of(target->state, kind, index);
	return lack ? wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
			       "no function of this provider tells %s", lack)
		    : WS_OK;
}

#define DEFINE_ELEMENT(name, list, type, kind)                                           \
	static enum ws_status api_##name(const struct ws_target *target, uint32_t index, \
					 type *ret_##name, struct ws_error *err)         \
	{                                                                                \
		const struct api_target *t = target->state;                              \
		enum ws_status st = whole(target, kind, index, err);                     \
		if (st == WS_OK)                                                         \
			*ret_##name = t->list[index];                                    \
		return st;                                                               \
	}

DEFINE_ELEMENT(device, devices, struct ws_device, API_DEVICE)
DEFINE_ELEMENT(grid, grids, struct ws_grid, API_GRID_ROW)
DEFINE_ELEMENT(sm, sms, struct ws_sm, API_SM)
DEFINE_ELEMENT(block, blocks, struct ws_block, API_BLOCK_ROW)
DEFINE_ELEMENT(warp, warps, struct ws_warp, API_WARP)

static enum ws_status api_context(const struct ws_target *target, uint32_t index,
				  struct ws_context *ret_context, struct ws_error *err)
{
	const struct api_target *t = target->state;
	(void)err;
	*ret_context = t->contexts[index];
	return WS_OK;
}

static enum ws_status api_module(const struct ws_target *target, uint32_t index,
				 struct ws_module *ret_module, struct ws_error *err)
{
	const struct api_target *t = target->state;
	(void)err;
	*ret_module = t->modules[index].module;
	return WS_OK;
}

/* What is not known and has no row of its own that could say so. */
static enum ws_status api_diagnostic(const struct ws_target *target, uint32_t index,
				     struct ws_diagnostic *ret_diagnostic, struct ws_error *err)
{
	const struct api_target *t = target->state;
	struct ws_diagnostic told[3];
	uint32_t n = 0;
	if (t->n_untold)
		told[n++] = (struct ws_diagnostic){ .what = "SM",
						    .file_off = WS_NO_OFFSET,
						    .repeats = t->n_untold - 1,
						    .message = t->untold,
						    .hides = WS_HIDES_FAULT };
	if (t->n_unnamed)
		told[n++] = (struct ws_diagnostic){ .what = "exception",
						    .file_off = WS_NO_OFFSET,
						    .repeats = t->n_unnamed - 1,
						    .message = t->unnamed };
	if (t->no_events)
		told[n++] = (struct ws_diagnostic){
			.what = "event",
			.file_off = WS_NO_OFFSET,
			.message = "the provider reports no events: contexts and images that run "
				   "nothing are not known",
		};
	if (index >= n)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "there are %u diagnostics", n);
	*ret_diagnostic = told[index];
	return WS_OK;
}

static void api_close(struct ws_target *target)
{
	struct api_target *t = target->state;
	if (t->wake)
		wsi_api_on_event(target, NULL, NULL);
	if (API_HAS(t, finalize))
		(void)t->api->finalize();
	wsi_api_drop_stock(t);
	pthread_mutex_destroy(&t->lock);
	pthread_mutex_destroy(&t->wake_lock);
	pthread_mutex_destroy(&t->event_lock);
	wsi_free(t->untaken.items);
	ws_provider_close(&t->provider);
	wsi_free(t);
}

#define INSPECTION                                                                       \
	.name = "api", .close = api_close, .device = api_device, .context = api_context, \
	.module = api_module, .grid = api_grid, .sm = api_sm, .block = api_block,        \
	.warp = api_warp, .lanes = wsi_api_lanes, .call_stack = wsi_api_call_stack,      \
	.registers = wsi_api_registers, .read_memory = wsi_api_read_memory,              \
	.memory_range = wsi_api_memory_range, .diagnostic = api_diagnostic,              \
	.write_dump = wsi_api_write_dump

static const struct ws_target_ops still_ops = { INSPECTION };
static const struct ws_target_ops running_ops = {
	INSPECTION,
	.update = wsi_api_update,
	.running = wsi_api_running,
	.suspend = wsi_api_suspend,
	.resume = wsi_api_resume,
	.step = wsi_api_step,
	.run_until = wsi_api_run_until,
	.plant = wsi_api_plant,
	.unplant = wsi_api_unplant,
	.stop_at_launch = wsi_api_stop_at_launch,
	.write_memory = wsi_api_write_memory,
	.write_registers = wsi_api_write_registers,
	.write_rpc = wsi_api_write_rpc,
	.next_event = wsi_api_next_event,
	.acknowledge = wsi_api_acknowledge,
	.want = wsi_api_want,
	.take_logs = wsi_api_take_logs,
	.log_rules = wsi_api_log_rules,
	.launch_stack = wsi_api_launch_stack,
	.read_host = wsi_api_read_host,
	.write_host = wsi_api_write_host,
	.host_address = wsi_api_host_address,
	.detach = wsi_api_detach,
	.on_event = wsi_api_on_event,
};

enum ws_status ws_target_from_api(CUDBGAPI api, uint32_t major, uint32_t minor,
				  struct ws_target **ret_target, struct ws_error *err)
{
	if (!api || !ret_target)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "a table and a place are needed");
	if (major < 6)
		return wsi_fail(
			err, WS_UNSUPPORTED, WS_NO_OFFSET,
			"version %u.%u of the API: before 6.0 it does not say where a warp failed",
			major, minor);
	CUDBGResult result = api->initialize ? api->initialize() : CUDBG_ERROR_NOT_SUPPORTED;
	if (result != CUDBG_SUCCESS)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "initialize: %s",
				cudbgGetErrorString(result));
	struct api_target *t = wsi_zalloc(sizeof *t);
	enum ws_status st = t ? ws_target_init(&t->base, &still_ops, t, err)
			      : wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "target over a provider");
	if (st != WS_OK) {
		if (api->finalize)
			(void)api->finalize();
		wsi_free(t);
		return st;
	}
	t->api = api;
	t->provider = (struct ws_provider){ .api = api, .major = major, .minor = minor };
	pthread_mutex_init(&t->lock, NULL);
	pthread_mutex_init(&t->wake_lock, NULL);
	pthread_mutex_init(&t->event_lock, NULL);
	st = wsi_api_take_stock(t, err);
	if (st != WS_OK) {
		ws_target_close(&t->base);
		return wsi_context(err, st, "taking stock");
	}
	if (t->can_run)
		t->base.ops = &running_ops;
	*ret_target = &t->base;
	return WS_OK;
}

#if WSI_HAVE_DLOPEN
typedef CUDBGResult (*get_api)(uint32_t major, uint32_t minor, uint32_t rev, CUDBGAPI *api);
typedef CUDBGResult (*get_version)(uint32_t *major, uint32_t *minor, uint32_t *rev);

/* The table of a loaded library, of the version that it says it has. */
static enum ws_status table_of(struct ws_provider *provider, const char *symbol,
			       struct ws_error *err)
{
	union {
		void *object;
		get_api api;
		get_version version;
	} get = { dlsym(provider->library, symbol) },
	  version = { dlsym(provider->library, "cudbgGetAPIVersion") };
	provider->major = 12; /* the least that a library without a version can be */
	if (!get.object)
		return wsi_fail(err, WS_IO, WS_NO_OFFSET, "the library has no %s", symbol);
	if (version.object && version.version(&provider->major, &provider->minor,
					      &provider->revision) != CUDBG_SUCCESS)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "cudbgGetAPIVersion failed");
	CUDBGResult result =
		get.api(provider->major, provider->minor, provider->revision, &provider->api);
	if (result != CUDBG_SUCCESS)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "%s: %s", symbol,
				cudbgGetErrorString(result));
	return WS_OK;
}

static void set_variable(void *library, const char *name, uint32_t value)
{
	uint32_t *variable = dlsym(library, name);
	if (variable)
		*variable = value;
}

/* Says who we are and what we ask for, as every client does. [public doc: manual 13.2, 3.1] */
static void introduce_client(void *library, uint32_t revision)
{
	set_variable(library, "cudbgApiClientPid", (uint32_t)getpid());
	set_variable(library, "cudbgApiClientRevision", revision);
	set_variable(library, "cudbgSessionId", 0);
	set_variable(library, "cudbgDebuggerCapabilities",
		     CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS |
			     CUDBG_DEBUGGER_CAPABILITY_REPORT_EXCEPTIONS_IN_EXITED_WARPS |
			     CUDBG_DEBUGGER_CAPABILITY_NO_CONTEXT_PUSH_POP_EVENTS |
			     CUDBG_DEBUGGER_CAPABILITY_FLUSH_PRINTF_ON_SUSPEND |
			     CUDBG_DEBUGGER_CAPABILITY_BREAK_ON_LAUNCH);
}

enum ws_status ws_provider_open(const char *library, struct ws_provider *ret_provider,
				struct ws_error *err)
{
	if (!library || !ret_provider)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "a library and a place are needed");
	wsi_scoped_free char *file = wsi_strdup(library);
	if (!file)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "name of the library");
	char *colon = strrchr(file, ':');
	if (colon)
		*colon = '\0';
	struct ws_provider provider = { .library = dlopen(file, RTLD_NOW | RTLD_LOCAL) };
	if (!provider.library)
		return wsi_fail(err, WS_IO, WS_NO_OFFSET, "%s", dlerror());
	enum ws_status st = table_of(&provider, colon ? colon + 1 : "cudbgGetAPI", err);
	if (st != WS_OK) {
		ws_provider_close(&provider);
		return wsi_context(err, st, "%s", file);
	}
	introduce_client(provider.library, provider.revision);
	provider.capabilities = dlsym(provider.library, "cudbgDebuggerCapabilities");
	*ret_provider = provider;
	return WS_OK;
}

static void library_close(void *library)
{
	if (library)
		dlclose(library);
}
#else
/* A library that is loaded has the loader and a libc of its own, which a static program has not. */
enum ws_status ws_provider_open(const char *library, struct ws_provider *ret_provider,
				struct ws_error *err)
{
	(void)library;
	(void)ret_provider;
	return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
			"a static program cannot load a library (--api-lib); one that `make "
			"install` has installed can");
}

static void library_close(void *library)
{
	(void)library;
}
#endif

void ws_provider_close(struct ws_provider *provider)
{
	library_close(provider->library);
	memset(provider, 0, sizeof *provider);
}

bool ws_provider_has(const struct ws_provider *provider, size_t offset)
{
	void *slot = NULL;
	if (offset / sizeof slot >= slots_of(provider->major, provider->minor))
		return false;
	memcpy(&slot, (const char *)provider->api + offset, sizeof slot);
	return slot != NULL;
}

enum ws_status ws_target_open_provider(const char *library, struct ws_target **ret_target,
				       struct ws_error *err)
{
	struct ws_provider provider;
	enum ws_status st = ws_provider_open(library, &provider, err);
	if (st != WS_OK)
		return st;
	st = ws_target_from_api(provider.api, provider.major, provider.minor, ret_target, err);
	if (st != WS_OK) {
		ws_provider_close(&provider);
		return wsi_context(err, st, "%s", library);
	}
	((struct api_target *)(*ret_target)->state)->provider = provider;
	return WS_OK;
}
