/* SPDX-License-Identifier: Apache-2.0 */
/* Where a driver puts things for code: constant bank 0, and the start of shared memory. */
#ifndef WSI_SASS_BANK_H
#define WSI_SASS_BANK_H

#include <stdint.h>

struct wsi_bank0 {
	uint32_t sm;     /* from this architecture on */
	uint32_t param;  /* start of the parameters */
	uint32_t local;  /* generic address of the window of local memory, two words */
	uint32_t sync;   /* ... of what the blocks of a cooperative launch wait by, upper first */
	uint32_t params; /* ... from which code reckons those of parameters */
	uint32_t ntid, nctaid; /* dimensions of the block and the grid, three words each */
	uint32_t kept; /* bytes at the start of a block's shared memory that are the system's */
};

/* Of an architecture: what is known of the newest that is not newer (data/devices.txt). */
const struct wsi_bank0 *wsi_bank0(uint32_t sm);

#endif
