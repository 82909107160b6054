/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracing: every call is logged to the file that WARPSCOPE_TRACE names, a line for each
 * (docs/formats/api-trace.md).
 */
#ifndef WSI_TRACE_TRACE_H
#define WSI_TRACE_TRACE_H

#include "call/meta.h"

/* Whether WARPSCOPE_TRACE named a file that can be written when the first table was made. */
bool wsi_trace_on(void);
/* What makes a call of a session. */
typedef CUDBGResult wsi_trace_make(unsigned session, unsigned slot,
				   const union wsi_api_value *values);
/* Makes the call and logs it. */
CUDBGResult wsi_trace_call(wsi_trace_make *make, unsigned session, unsigned slot,
			   const union wsi_api_value *values);

#endif
