/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the runtime says to the driver for a debugger. It asks for this weakly, as the vendor's
 * driver lacks it. And what both do about entry points that are missing.
 */
#ifndef WARPSCOPE_DRIVER_REPORT_H
#define WARPSCOPE_DRIVER_REPORT_H

#define REPORT_API __attribute__((visibility("default"))) void

/* The thread begins a call of the runtime: errors of the driver are not told until its end. */
REPORT_API warpscope_runtime_begin(void);
/* The call ends; a result other than 0 is told. Texts are static. */
REPORT_API warpscope_runtime_end(int result, const char *function, const char *name,
				 const char *text);

/* In the driver and in the runtime: tells of an entry point that is missing as of other errors. The
 * result for it. */
int entry_failed(const char *function);

#endif
