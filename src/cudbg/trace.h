/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracing: tables that log every call to the file that WARPSCOPE_TRACE names, a line for each
 * (docs/formats/api-trace.md), and hand it on.
 */
#ifndef WSI_CUDBG_TRACE_H
#define WSI_CUDBG_TRACE_H

#include "cudbg/meta.h"
#include "cudbg/session.h"

/* Generated: the tracing table of each session. */
extern const struct CUDBGAPI_st wsi_trace_tables[WSI_CUDBG_SESSIONS];
/* What their functions do. */
CUDBGResult wsi_trace_call(unsigned session, unsigned slot, const union wsi_api_value *values);

/* The table to hand out for a session: the tracing one when WARPSCOPE_TRACE names a file that can
 * be written. */
CUDBGAPI wsi_trace_table(unsigned session);

#endif
