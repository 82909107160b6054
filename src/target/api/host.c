/* SPDX-License-Identifier: Apache-2.0 */
/* What the provider knows about the host: the driver's log, and who launched a grid; its dumps. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "target/api/api.h"

enum { AT_ONCE = 16 }; /* records in a call of the older form */

/* The records of one of two functions, since 13.4 with the rule that chose each. */
#define DEFINE_TAKE(name, call, type, its_ruleset, its_rule)                                 \
	static CUDBGResult name(struct api_target *t, struct ws_log *ret_logs, uint32_t cap, \
				uint32_t *ret_n)                                             \
	{                                                                                    \
		type records[AT_ONCE];                                                       \
		uint32_t n = 0;                                                              \
		CUDBGResult result =                                                         \
			API_CALL(t, call, records, cap < AT_ONCE ? cap : AT_ONCE, &n);       \
		if (result != CUDBG_SUCCESS || n > AT_ONCE || n > cap)                       \
			return result == CUDBG_SUCCESS ? CUDBG_ERROR_INTERNAL : result;      \
		for (uint32_t i = 0; i < n; i++) {                                           \
			ret_logs[i] = (struct ws_log){                                       \
				.time_ns = records[i].unixTimestampNs,                       \
				.host_tid = records[i].osThreadId,                           \
				.level = records[i].logLevel,                                \
				.ruleset = its_ruleset,                                      \
				.rule = its_rule,                                            \
			};                                                                   \
			memcpy(ret_logs[i].text, records[i].message, WS_LOG_TEXT - 1);       \
		}                                                                            \
		*ret_n = n;                                                                  \
		return CUDBG_SUCCESS;                                                        \
	}

DEFINE_TAKE(take_new, consumeCudaLogs134, CUDBGCudaLogMessage134, records[i].matchedRulesetIndex,
	    records[i].matchedRuleIndex)
DEFINE_TAKE(take_old, consumeCudaLogs, CUDBGCudaLogMessage, UINT32_MAX, UINT32_MAX)

enum ws_status wsi_api_take_logs(struct ws_target *target, struct ws_log *ret_logs, uint32_t cap,
				 uint32_t *ret_n, struct ws_error *err)
{
	struct api_target *t = target->state;
	CUDBGResult result = CUDBG_SUCCESS;
	uint32_t n = 0, more = 1;
	if (!API_HAS(t, consumeCudaLogs) && !API_HAS(t, consumeCudaLogs134))
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "this version has no log");
	wsi_hold(&t->lock);
	while (n < cap && more && result == CUDBG_SUCCESS) {
		more = 0;
		result = API_HAS(t, consumeCudaLogs134) ? take_new(t, ret_logs + n, cap - n, &more)
							: take_old(t, ret_logs + n, cap - n, &more);
		n += more;
	}
	/* what was taken is gone from the provider: it counts more than what failed after it */
	enum ws_status st = n || result == CUDBG_ERROR_NO_EVENT_AVAILABLE
				    ? WS_OK
				    : wsi_api_status(t, result, "log", err);
	if (st == WS_OK)
		*ret_n = n;
	return st;
}

enum ws_status wsi_api_log_rules(struct ws_target *target, const struct ws_log_rule *rules,
				 uint32_t n, uint32_t *ret_ruleset, struct ws_error *err)
{
	struct api_target *t = target->state;
	wsi_scoped_free CUDBGCudaLogRule *theirs = NULL;
	if (!API_HAS(t, setCudaLogRules))
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "this version has no log rules");
	theirs = wsi_zalloc((n ? n : 1) * sizeof *theirs);
	if (!theirs)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "log rules");
	for (uint32_t i = 0; i < n; i++)
		theirs[i] = (CUDBGCudaLogRule){
			.action = (CUDBGCudaLogRuleAction)rules[i].action,
			.logLevelFilter = (CUDBGCudaLogLevelFilter)rules[i].level,
			.osThreadIdFilter = rules[i].host_tid,
			.messageFilterRegex = rules[i].regex,
		};
	wsi_hold(&t->lock);
	CUDBGResult result = API_CALL(t, setCudaLogRules, theirs, n, ret_ruleset);
	return result == CUDBG_ERROR_INVALID_ARGS
		       ? wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "the provider refuses the rules")
		       : wsi_api_status(t, result, "log rules", err);
}

enum ws_status wsi_api_launch_stack(struct ws_target *target, uint32_t grid_index,
				    uint64_t *ret_addresses, uint32_t cap, uint32_t *ret_n,
				    struct ws_error *err)
{
	struct api_target *t = target->state;
	const struct ws_grid *grid = &t->grids[grid_index];
	if (!API_HAS(t, readCPUCallStack))
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"this version keeps no call stacks of launches");
	wsi_hold(&t->lock);
	CUDBGResult result = API_CALL(t, readCPUCallStack, t->devices[grid->device_index].id,
				      (uint64_t)grid->id, cap ? ret_addresses : NULL, cap, ret_n);
	return wsi_api_status(t, result, "call stack of the launch", err);
}

/* The API reads all or nothing. */
enum ws_status wsi_api_read_host(const struct ws_target *target, uint64_t address, void *buffer,
				 size_t len, size_t *ret_n, struct ws_error *err)
{
	struct api_target *t = target->state;
	if (len > UINT32_MAX)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "%zu bytes at once", len);
	wsi_hold(&t->lock);
	enum ws_status st =
		wsi_api_status(t, API_CALL(t, readPinnedMemory, address, buffer, (uint32_t)len),
			       "host memory", err);
	*ret_n = st == WS_OK ? len : 0;
	return st;
}

enum ws_status wsi_api_write_host(struct ws_target *target, uint64_t address, const void *buffer,
				  size_t len, struct ws_error *err)
{
	struct api_target *t = target->state;
	if (len > UINT32_MAX)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "%zu bytes at once", len);
	wsi_hold(&t->lock);
	return wsi_api_status(t, API_CALL(t, writePinnedMemory, address, buffer, (uint32_t)len),
			      "host memory", err);
}

enum ws_status wsi_api_host_address(const struct ws_target *target, uint32_t device_index,
				    uint64_t address, uint64_t *ret_address, struct ws_error *err)
{
	struct api_target *t = target->state;
	wsi_hold(&t->lock);
	return wsi_api_status(t,
			      API_CALL(t, getHostAddrFromDeviceAddr, t->devices[device_index].id,
				       address, ret_address),
			      "host address", err);
}

enum ws_status wsi_api_detach(struct ws_target *target, bool runs, struct ws_error *err)
{
	struct api_target *t = target->state;
	wsi_hold(&t->lock);
	CUDBGResult result = API_HAS(t, clearAttachState) ? t->api->clearAttachState()
							  : CUDBG_ERROR_NOT_SUPPORTED;
	if (result == CUDBG_SUCCESS || wsi_api_not_offered(result))
		result = API_CALL(t, requestCleanupOnDetach, runs);
	return wsi_api_status(t, result, "detach", err);
}

/* The provider may write in another process, whose working directory is another one. */
enum ws_status wsi_api_write_dump(const struct ws_target *target, const char *path, uint32_t flags,
				  struct ws_error *err)
{
	struct api_target *t = target->state;
	char whole[PATH_MAX];
	if (!API_HAS(t, generateCoredump))
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "this version writes no dumps");
	if (path[0] != '/') {
		if (!getcwd(whole, sizeof whole - 1))
			return wsi_fail_errno(err, "working directory");
		size_t at = strlen(whole);
		whole[at++] = '/';
		size_t size = strlen(path) + 1;
		if (size > sizeof whole - at)
			return wsi_fail(err, WS_LIMIT, WS_NO_OFFSET, "the path is too long");
		memcpy(whole + at, path, size);
		path = whole;
	}
	wsi_hold(&t->lock);
	CUDBGResult result =
		API_CALL(t, generateCoredump, path, (CUDBGCoredumpGenerationFlags)flags);
	return result == CUDBG_ERROR_INVALID_ARGS
		       ? wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "the provider refuses the file")
		       : wsi_api_status(t, result, "dump", err);
}
