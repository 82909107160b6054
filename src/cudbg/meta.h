/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the API as data, from the tables in api/: for tracing, replaying and testing. */
#ifndef WSI_CUDBG_META_H
#define WSI_CUDBG_META_H

#include <warpscope/cudadebugger.h>

#include "base/base.h"

enum { WSI_API_SLOTS = 164, WSI_API_MAX_ARGS = 9 };

enum wsi_api_way {
	WSI_API_VALUE,  /* passed by value */
	WSI_API_OUT,    /* written on success */
	WSI_API_IN,     /* read */
	WSI_API_INOUT,  /* read, and written on success */
	WSI_API_OPAQUE, /* a pointer that is only handed through */
};

struct wsi_api_arg {
	const char *name, *type;
	enum wsi_api_way way;
	bool optional; /* may be NULL */
	bool string;   /* NUL-terminated input */
	int count;     /* argument that says how many units there are; -1: one */
	size_t size;   /* of a value, or of one unit behind a pointer; bytes */
};

struct wsi_api_fn {
	const char *name;
	unsigned n_args;
	const struct wsi_api_arg *args;
	bool any_state;      /* works before initialize */
	bool in_callback;    /* works inside the callback */
	bool stopped;        /* its device must stand */
	uint64_t codes;      /* result codes of the manual, bit i is code i */
	uint64_t extensions; /* those that this library returns beyond it */
};

/* By slot. */
extern const struct wsi_api_fn wsi_api_functions[WSI_API_SLOTS];

union wsi_api_value {
	uint64_t number;
	void *pointer;
	void (*code)(void);
};

/* Calls the function in a slot; `values` has one element per argument. */
CUDBGResult wsi_api_invoke(CUDBGAPI api, unsigned slot, const union wsi_api_value *values);

#endif
