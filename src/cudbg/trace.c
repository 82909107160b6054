/* SPDX-License-Identifier: Apache-2.0 */
#include "cudbg/trace.h"

CUDBGAPI wsi_trace_wrap(CUDBGAPI api)
{
	return api;
}

CUDBGAPI wsi_trace_unwrap(CUDBGAPI api)
{
	return api;
}

void wsi_trace_release(CUDBGAPI api)
{
	(void)api;
}
