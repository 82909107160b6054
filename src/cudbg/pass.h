/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that are handed on as data: into a trace (trace/trace.h), to another process
 * (cudbg/remote.h), or both.
 */
#ifndef WSI_CUDBG_PASS_H
#define WSI_CUDBG_PASS_H

#include "call/meta.h"
#include "cudbg/session.h"

/* Generated: the table of each session whose functions do so. */
extern const struct CUDBGAPI_st wsi_cudbg_passing_tables[WSI_CUDBG_SESSIONS];
/* What they do. */
CUDBGResult wsi_cudbg_pass(unsigned session, unsigned slot, const union wsi_api_value *values);
/* The table to hand out for a session: the plain one where nothing needs the calls as data. */
CUDBGAPI wsi_cudbg_table(const struct wsi_cudbg *s);

#endif
