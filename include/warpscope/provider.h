/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * A target over any provider of the CUDA Debugger API: NVIDIA's driver on a GPU machine, a peer, or
 * this library itself (cudbg.h).
 *
 * Opening starts the provider's session (`initialize`), reads its events and takes stock: devices,
 * contexts, images, resident warps with their blocks and grids. Registers, call stacks and memory
 * are asked for when they are wanted. What the API cannot tell is absent here: context windows, the
 * offset of the parameters, grids without a resident warp, ranges of memory that is not managed and
 * no constant bank; why a thing is missing.
 *
 * **Threads.** Calls of one such target follow one another: the vendor's library is not safe for
 * more. Different targets of one provider disturb each other unless the provider says otherwise.
 */
#ifndef WARPSCOPE_PROVIDER_H
#define WARPSCOPE_PROVIDER_H

#include <warpscope/cudadebugger.h>
#include <warpscope/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A target over a table. `revision` is that of the provider (cudbgGetAPIVersion): slots that it
 * does not have are not touched. The table must outlive the target; closing ends its session.
 * @retval WS_UNSUPPORTED  `initialize` failed; the message names the provider's code.
 * @retval WS_MALFORMED    the provider's answers contradict each other.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_target_from_api(CUDBGAPI api, uint32_t revision,
					 struct ws_target **ret_target,
					 struct ws_error *err) WS_MUST_USE;

/**
 * The same over a shared library: "FILE" or "FILE:SYMBOL", where SYMBOL is a function like
 * cudbgGetAPI (the default). Its symbols stay its own (RTLD_LOCAL).
 * @retval WS_IO  the library cannot be loaded, or lacks the symbol.
 */
WS_API enum ws_status ws_target_open_provider(const char *library, struct ws_target **ret_target,
					      struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
