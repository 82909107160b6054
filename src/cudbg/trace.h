/* SPDX-License-Identifier: Apache-2.0 */
/* Tracing: tables that log every call and hand it on. */
#ifndef WSI_CUDBG_TRACE_H
#define WSI_CUDBG_TRACE_H

#include <warpscope/cudadebugger.h>

/* A table that traces `api` to the file that WARPSCOPE_TRACE names; `api` itself without one. */
CUDBGAPI wsi_trace_wrap(CUDBGAPI api);
/* What a traced table hands on to; other tables as they are. */
CUDBGAPI wsi_trace_unwrap(CUDBGAPI api);
/* Gives a tracing table back. */
void wsi_trace_release(CUDBGAPI api);

#endif
