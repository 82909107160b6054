/* SPDX-License-Identifier: Apache-2.0 */
/* What PTX text says of itself: its version, its target, and the kernels in it. */
#ifndef WARPSCOPE_CLI_PTX_H
#define WARPSCOPE_CLI_PTX_H

#include <warpscope/base.h>

struct ptx {
	struct ws_str text;    /* borrowed */
	struct ws_str version; /* "9.0"; empty: it does not say */
	uint32_t sm;           /* of "sm_90a"; 0: it does not say */
	char variant;          /* 'a', 'f' or 0 */
};

void ptx_read(struct ws_str text, struct ptx *ret_ptx);
/* The next kernel from `*at` on, which moves behind it; false: there is none. Begin with 0. */
bool ptx_kernel(const struct ptx *ptx, size_t *at, struct ws_str *ret_name);

#endif
