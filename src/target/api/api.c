/* SPDX-License-Identifier: Apache-2.0 */
/* A target over any provider of the debugger API: opening, closing, the lists. */
#include "target/api/api.h"

#include <dlfcn.h>
#include <unistd.h>

/* Slots of a revision of the API. [public doc: release notes and headers, see
 * src/cudbg/api/README.md] */
static unsigned slots_of(uint32_t revision)
{
	static const struct {
		uint32_t revision;
		unsigned slots;
	} known[] = {
		{ 193, 164 }, { 172, 159 }, { 167, 149 }, { 163, 148 },
		{ 156, 146 }, { 142, 133 }, { 0, 120 },
	};
	size_t i = 0;
	while (revision < known[i].revision)
		i++;
	return known[i].slots;
}

enum ws_status wsi_api_status(struct api_target *t, CUDBGResult result, const char *what,
			      struct ws_error *err)
{
	char words[200] = "";
	if (result == CUDBG_SUCCESS)
		return WS_OK;
	if (API_HAS(t, getErrorStringEx))
		(void)t->api->getErrorStringEx(words, sizeof words, NULL);
	enum ws_status st = WS_MALFORMED;
	if (result == CUDBG_ERROR_MISSING_DATA || result == CUDBG_ERROR_INVALID_ADDRESS ||
	    result == CUDBG_ERROR_INVALID_MEMORY_ACCESS || result == CUDBG_ERROR_INVALID_GRID ||
	    result == CUDBG_ERROR_ADDRESS_NOT_IN_DEVICE_MEM || result == CUDBG_ERROR_INVALID_ARGS ||
	    result == CUDBG_ERROR_INVALID_WARP || result == CUDBG_ERROR_INVALID_LANE ||
	    result == CUDBG_ERROR_INVALID_MEMORY_SEGMENT)
		st = WS_ABSENT;
	else if (result == CUDBG_ERROR_NOT_SUPPORTED)
		st = WS_UNSUPPORTED;
	else if (result == CUDBG_ERROR_RUNNING_DEVICE)
		st = WS_RUNNING;
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

static void api_counts(const struct ws_target *target, struct ws_counts *ret_counts)
{
	*ret_counts = ((const struct api_target *)target)->n;
}

#define DEFINE_ELEMENT(kind, list, type)                                                 \
	static enum ws_status api_##kind(const struct ws_target *target, uint32_t index, \
					 type *ret_##kind, struct ws_error *err)         \
	{                                                                                \
		(void)err;                                                               \
		*ret_##kind = ((const struct api_target *)target)->list[index];          \
		return WS_OK;                                                            \
	}

DEFINE_ELEMENT(device, devices, struct ws_device)
DEFINE_ELEMENT(context, contexts, struct ws_context)
DEFINE_ELEMENT(grid, grids, struct ws_grid)
DEFINE_ELEMENT(sm, sms, struct ws_sm)
DEFINE_ELEMENT(block, blocks, struct ws_block)
DEFINE_ELEMENT(warp, warps, struct ws_warp)

static enum ws_status api_image(const struct ws_target *target, uint32_t index,
				struct ws_image *ret_image, struct ws_error *err)
{
	(void)err;
	*ret_image = ((const struct api_target *)target)->images[index].image;
	return WS_OK;
}

static void api_close(struct ws_target *target)
{
	struct api_target *t = (struct api_target *)target;
	if (t->wake)
		wsi_api_on_event(target, NULL, NULL);
	(void)t->api->finalize();
	wsi_api_drop_stock(t);
	pthread_mutex_destroy(&t->lock);
	pthread_mutex_destroy(&t->wake_lock);
	ws_provider_close(&t->provider);
	wsi_free(t);
}

#define INSPECTION                                                                                \
	.size = sizeof(struct ws_target_ops), .name = "api", .close = api_close,                  \
	.counts = api_counts, .device = api_device, .context = api_context, .image = api_image,   \
	.grid = api_grid, .sm = api_sm, .block = api_block, .warp = api_warp,                     \
	.lanes = wsi_api_lanes, .call_stack = wsi_api_call_stack, .registers = wsi_api_registers, \
	.read_memory = wsi_api_read_memory, .memory_range = wsi_api_memory_range

static const struct ws_target_ops still_ops = { INSPECTION };
static const struct ws_target_ops running_ops = {
	INSPECTION,
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
	.next_event = wsi_api_next_event,
	.acknowledge = wsi_api_acknowledge,
	.take_logs = wsi_api_take_logs,
	.log_rules = wsi_api_log_rules,
	.launch_stack = wsi_api_launch_stack,
	.on_event = wsi_api_on_event,
};

/*
 * Whether what the provider debugs can run. Removing a breakpoint that nobody set changes nothing,
 * and a provider over a dump says that it has none at all.
 */
static bool can_run(struct api_target *t)
{
	return t->n.devices &&
	       t->api->unsetBreakpoint(t->devices[0].id, 0) != CUDBG_ERROR_NOT_SUPPORTED;
}

enum ws_status ws_target_from_api(CUDBGAPI api, uint32_t revision, struct ws_target **ret_target,
				  struct ws_error *err)
{
	if (!api || !ret_target)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "a table and a place are needed");
	CUDBGResult result = api->initialize();
	if (result != CUDBG_SUCCESS)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "initialize: %s",
				cudbgGetErrorString(result));
	struct api_target *t = wsi_zalloc(sizeof *t);
	if (!t) {
		(void)api->finalize();
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "target over a provider");
	}
	t->base.ops = &still_ops;
	t->api = api;
	t->provider = (struct ws_provider){ .api = api, .revision = revision };
	pthread_mutex_init(&t->lock, NULL);
	pthread_mutex_init(&t->wake_lock, NULL);
	enum ws_status st = wsi_api_take_stock(t, err);
	if (st != WS_OK) {
		api_close(&t->base);
		return wsi_context(err, st, "taking stock");
	}
	if (can_run(t))
		t->base.ops = &running_ops;
	*ret_target = &t->base;
	return WS_OK;
}

typedef CUDBGResult (*get_api)(uint32_t major, uint32_t minor, uint32_t rev, CUDBGAPI *api);
typedef CUDBGResult (*get_version)(uint32_t *major, uint32_t *minor, uint32_t *rev);

/* The table of a loaded library, of the version that it says it has. */
static enum ws_status table_of(void *library, const char *symbol, CUDBGAPI *ret_api,
			       uint32_t *ret_revision, struct ws_error *err)
{
	union {
		void *object;
		get_api api;
		get_version version;
	} get = { dlsym(library, symbol) }, version = { dlsym(library, "cudbgGetAPIVersion") };
	uint32_t major = 12, minor = 0, revision = 0;
	if (!get.object)
		return wsi_fail(err, WS_IO, WS_NO_OFFSET, "the library has no %s", symbol);
	if (version.object && version.version(&major, &minor, &revision) != CUDBG_SUCCESS)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "cudbgGetAPIVersion failed");
	CUDBGResult result = get.api(major, minor, revision, ret_api);
	if (result != CUDBG_SUCCESS)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "%s: %s", symbol,
				cudbgGetErrorString(result));
	*ret_revision = revision;
	return WS_OK;
}

static void set_variable(void *library, const char *name, uint32_t value)
{
	uint32_t *variable = dlsym(library, name);
	if (variable)
		*variable = value;
}

/* Says who we are and what we ask for, as every client does. [public doc: manual 13.2, 3.1] */
static void introduce(void *library, uint32_t revision)
{
	set_variable(library, "cudbgApiClientPid", (uint32_t)getpid());
	set_variable(library, "cudbgApiClientRevision", revision);
	set_variable(library, "cudbgSessionId", 0);
	set_variable(library, "cudbgDebuggerCapabilities",
		     CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS |
			     CUDBG_DEBUGGER_CAPABILITY_REPORT_EXCEPTIONS_IN_EXITED_WARPS |
			     CUDBG_DEBUGGER_CAPABILITY_NO_CONTEXT_PUSH_POP_EVENTS);
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
	enum ws_status st = table_of(provider.library, colon ? colon + 1 : "cudbgGetAPI",
				     &provider.api, &provider.revision, err);
	if (st != WS_OK) {
		ws_provider_close(&provider);
		return wsi_context(err, st, "%s", file);
	}
	introduce(provider.library, provider.revision);
	provider.capabilities = dlsym(provider.library, "cudbgDebuggerCapabilities");
	*ret_provider = provider;
	return WS_OK;
}

void ws_provider_close(struct ws_provider *provider)
{
	if (provider->library)
		dlclose(provider->library);
	memset(provider, 0, sizeof *provider);
}

bool ws_provider_has(const struct ws_provider *provider, size_t offset)
{
	void *slot = NULL;
	if (offset / sizeof slot >= slots_of(provider->revision))
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
	st = ws_target_from_api(provider.api, provider.revision, ret_target, err);
	if (st != WS_OK) {
		ws_provider_close(&provider);
		return wsi_context(err, st, "%s", library);
	}
	((struct api_target *)*ret_target)->provider = provider;
	return WS_OK;
}
