/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs look up by the vendor's names: the variables and entry points of the library. These
 * are the only exports without the prefix ws_.
 */
#include <pthread.h>

#include <warpscope/core.h>
#include <warpscope/cudbg.h>

#include "cudbg/pass.h"

uint32_t cudbgIpcFlag, cudbgRpcEnabled, cudbgApiClientPid, cudbgApiClientRevision, cudbgSessionId;
uint32_t cudbgAttachHandlerAvailable, cudbgEnableLaunchBlocking, cudbgResumeForAttachDetach;
uint32_t cudbgDebuggerInitialized, cudbgDebuggerCapabilities, cudbgUseExternalDebugger = 1;
int32_t cudbgInitiateDebuggerAttachProcedureFd = -1;
uint32_t cudbgReportDriverApiErrorFlags, cudbgReportedDriverApiErrorSource;
uint64_t cudbgReportedDriverApiErrorCode, cudbgReportedDriverInternalErrorCode;
uint64_t cudbgReportedDriverApiErrorFuncNameSize, cudbgReportedDriverApiErrorFuncNameAddr;
uint64_t cudbgReportedDriverApiErrorNameSize, cudbgReportedDriverApiErrorNameAddr;
uint64_t cudbgReportedDriverApiErrorStringSize, cudbgReportedDriverApiErrorStringAddr;
uint32_t CUDBG_I_AM_DEBUGGER;

/* Nothing here calls them: they exist so that breakpoints on their names resolve. */
void cudbgReportDriverApiError(void)
{
}

void cudbgReportDriverInternalError(void)
{
}

void cudbgReportAttachProcedureFinished(void)
{
}

void cudbgPreInit(void)
{
}

/* Called in a debuggee; a dump has none that runs. */
void cudbgApiInit(uint32_t arg)
{
	(void)arg;
}

void cudbgApiAttach(void)
{
}

void cudbgApiDetach(void)
{
}

CUDBGResult cudbgGetAPIVersion(uint32_t *major, uint32_t *minor, uint32_t *rev)
{
	if (!major || !minor || !rev)
		return CUDBG_ERROR_INVALID_ARGS;
	*major = CUDBG_API_VERSION_MAJOR;
	*minor = CUDBG_API_VERSION_MINOR;
	*rev = CUDBG_API_VERSION_REVISION;
	return CUDBG_SUCCESS;
}

/* Which versions are served, and why: docs/decisions/0010-api-versions.md. */
CUDBGResult cudbgGetAPI(uint32_t major, uint32_t minor, uint32_t rev, CUDBGAPI *api)
{
	(void)rev;
	if (!api)
		return CUDBG_ERROR_INVALID_ARGS;
	if (major != 12 && major != 13)
		return CUDBG_ERROR_INCOMPATIBLE_API;
	struct wsi_cudbg *s = wsi_cudbg_main_session();
	*api = wsi_cudbg_table(s);
	ws_cudbg_ask(*api, major, minor);
	return CUDBG_SUCCESS;
}

/* ---- the dump that the environment names ---- */

static struct {
	char *path;
	struct ws_target *target;
} opened; /* under the lock of session 0 */

enum ws_status wsi_cudbg_open_core(struct ws_target **ret_target, struct ws_error *err)
{
	const char *path = getenv("WARPSCOPE_CORE");
	if (!path || !*path)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"there is no target: set WARPSCOPE_CORE to a dump");
	if (opened.path && !strcmp(opened.path, path)) {
		*ret_target = opened.target;
		return WS_OK;
	}
	wsi_scoped_free char *copy = wsi_strdup(path);
	if (!copy)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "name of the dump");
	struct ws_target *target = NULL;
	enum ws_status st = ws_core_open(path, NULL, &target, err);
	if (st != WS_OK)
		return wsi_context(err, st, "WARPSCOPE_CORE");
	wsi_free(opened.path);
	opened.path = WSI_TAKE(copy);
	opened.target = target;
	*ret_target = target;
	return WS_OK;
}

/* Leaves nothing behind for leak checkers when the library is unloaded. */
__attribute__((destructor)) static void close_main_session(void)
{
	struct wsi_cudbg *s = &wsi_cudbg_sessions[0];
	if (!s->id)
		return;
	wsi_cudbg_stop_events(s);
	wsi_cudbg_drop_stock(s);
	ws_target_close(s->target);
	wsi_free(opened.path);
	s->id = 0;
}
