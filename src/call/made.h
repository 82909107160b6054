/* SPDX-License-Identifier: Apache-2.0 */
/* A call that is made for somebody else, with room of its own for what its arguments point to. */
#ifndef WSI_CALL_MADE_H
#define WSI_CALL_MADE_H

#include "call/meta.h"

enum {
	/* of one call: the largest images fit */
	WSI_MADE_MOST = 1 << 30,
	/* behind a pointer that is only handed through */
	WSI_MADE_OPAQUE = 128,
	WSI_MADE_SMALL = 1024,
};

/* WSI_MADE_MOST, but for tests that want less. */
extern uint64_t wsi_made_most;

struct wsi_made {
	unsigned slot;
	union wsi_api_value v[WSI_API_MAX_ARGS];
	size_t n[WSI_API_MAX_ARGS]; /* bytes behind a pointer; of a text without its NUL */
	uint8_t *bytes;             /* owned; NULL: `small` is enough */
	_Alignas(16) uint8_t small[WSI_MADE_SMALL];
};

/*
 * Gives zeroed room to the pointers that are in the mask `present`, by the numbers in `v`; `n` of
 * texts is set already. CUDBG_ERROR_OS_RESOURCES: it would be more than wsi_made_most, or there is
 * no memory.
 */
CUDBGResult wsi_made_init(struct wsi_made *made, unsigned present);
void wsi_made_fini(struct wsi_made *made);

/* Bytes of an output that a successful call has written: a text with its NUL. */
size_t wsi_made_written(const struct wsi_api_fn *fn, unsigned i, const union wsi_api_value *values);

#endif
