/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * A target over any provider of the CUDA Debugger API: NVIDIA's driver on a GPU machine, a peer, or
 * this library itself (cudbg.h).
 *
 * Opening starts the provider's session (`initialize`), reads its events and collects the state:
 * devices, contexts, images, resident warps with their blocks and grids. Registers, call stacks and
 * memory are read on demand. What the API does not provide is absent here: context windows, the
 * offset of the parameters, grids without a resident warp, memory ranges other than managed memory
 * and constant banks, and the reason why something is missing.
 *
 * Providers have different functions. Each fact is read with the newest function that provides it,
 * then with older ones. A row that the functions cannot complete is not returned (WS_UNSUPPORTED,
 * with the missing fact); the other rows are not affected.
 *
 * If the provider debugs something that can run, so can the target: run control, breakpoints,
 * alteration and events are passed on, and all rows below the devices are rebuilt when devices stop
 * again. Providers before 13.0 do not wake a client that waits for events: it must poll.
 *
 * **Threads.** Calls to one such target must be serialized: the vendor's library is not safe for
 * more. Different targets of one provider disturb each other unless the provider says otherwise.
 */
#ifndef WARPSCOPE_PROVIDER_H
#define WARPSCOPE_PROVIDER_H

#include <warpscope/cudadebugger.h>
#include <warpscope/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A function table, and what is needed to use it. */
struct ws_provider {
	CUDBGAPI api;
	uint32_t major, minor;  /**< of the API (cudbgGetAPIVersion): later slots do not exist;
				     UINT32_MAX: all that cudadebugger.h has */
	uint32_t revision;      /**< the same as the count of its builds; 0: not known */
	uint32_t *capabilities; /**< its cudbgDebuggerCapabilities; NULL: it has none */
	void *library;          /**< owned: what ws_provider_close() unloads; NULL: none */
};

/**
 * Loads a shared library that provides the API: "FILE" or "FILE:SYMBOL", where SYMBOL is a function
 * like cudbgGetAPI (the default). Its symbols stay its own (RTLD_LOCAL). The library is told who we
 * are and what we ask for; no session is started.
 * @retval WS_IO           the library cannot be loaded, or lacks the symbol.
 * @retval WS_UNSUPPORTED  it gives no table; or this is a static program, which can load none.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_provider_open(const char *library, struct ws_provider *ret_provider,
				       struct ws_error *err) WS_MUST_USE;
/** Leaves it all-zero; may be repeated. */
WS_API void ws_provider_close(struct ws_provider *provider);
/** Whether the slot at this offset of struct CUDBGAPI_st is one that the provider has. */
WS_API bool ws_provider_has(const struct ws_provider *provider, size_t offset);

/**
 * A target over a table. `major` and `minor` are the version of the provider (cudbgGetAPIVersion):
 * slots that it does not have are not touched, and those that it has may be NULL or answer
 * NOT_SUPPORTED or UNKNOWN, except `initialize`. The table must outlive the target; closing ends
 * its session.
 * @retval WS_UNSUPPORTED  `initialize` failed (the message names the provider's code), or the
 *                         version is older than 6.0.
 * @retval WS_MALFORMED    the provider's answers contradict each other.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_target_from_api(CUDBGAPI api, uint32_t major, uint32_t minor,
					 struct ws_target **ret_target,
					 struct ws_error *err) WS_MUST_USE;

/** The same over a shared library, named as for ws_provider_open(). Statuses as of both. */
WS_API enum ws_status ws_target_open_provider(const char *library, struct ws_target **ret_target,
					      struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
