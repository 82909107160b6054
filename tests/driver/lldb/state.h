/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATE_H
#define STATE_H

#include <warpscope/cudadebugger.h>

/* Says what went wrong, if it did. */
bool failed(const char *what, CUDBGResult result);
/* Prints the warps of a device that stands which are at a breakpoint or have failed. */
void show_device(CUDBGAPI api, uint32_t dev);

#endif
