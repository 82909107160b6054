/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the API as data, from the tables in cudbg/api/: for tracing, replaying and
 * testing. */
#ifndef WSI_CALL_META_H
#define WSI_CALL_META_H

#include <warpscope/cudadebugger.h>

#include "base/base.h"

enum { WSI_API_SLOTS = 164, WSI_API_MAX_ARGS = 9 };

#define WSI_SLOT(name) ((unsigned)(offsetof(struct CUDBGAPI_st, name) / sizeof(void *)))

enum wsi_api_way {
	WSI_API_VALUE,  /* passed by value */
	WSI_API_OUT,    /* written on success */
	WSI_API_IN,     /* read */
	WSI_API_INOUT,  /* read, and written on success */
	WSI_API_OPAQUE, /* a pointer that is only handed through */
};

enum {
	/* kinds of handles from 1 on are the `handle` rows of api/common.tbl, in their order */
	WSI_API_ADDRESS = 255, /* of the process */
};

/* A number, or an array of numbers, in a structure. */
struct wsi_api_field {
	const char *name;      /* "cases.kernelReady.tid" */
	uint16_t offset, size; /* bytes */
	uint8_t handle;        /* kind; 0: none */
	int32_t when;          /* counts when the first word of the structure is this; -1: always */
	int16_t image; /* of an address: the field with the size of the image there; -1: it is a
			  text */
};

struct wsi_api_arg {
	const char *name, *type;
	enum wsi_api_way way;
	bool optional; /* may be NULL */
	bool string;   /* NUL-terminated input */
	bool kept;     /* an output of which a call may leave a part as it was, and does not say */
	int count;     /* argument that says how many units there are; -1: one */
	int used;      /* output that says how many of them are written; -1: none does */
	int image;   /* of a pointer to a pointer: output with the size of the image there; -1: none
		      */
	size_t size; /* of a value, or of one unit behind a pointer; bytes */
	uint8_t handle; /* kind, of the value or of what the pointer points to; 0: none */
	const struct wsi_api_field *fields; /* of a structure behind a pointer */
	size_t n_fields;
};

struct wsi_api_fn {
	const char *name;
	int request; /* its number for cuda-gdb (wire/rpc.c); -1: none */
	unsigned n_args;
	const struct wsi_api_arg *args;
	bool any_state;      /* works before initialize */
	bool in_callback;    /* works inside the callback */
	bool stopped;        /* its device must stand */
	bool own_words;      /* its outputs are words that each provider chooses */
	uint64_t codes;      /* result codes of the manual, bit i is code i */
	uint64_t extensions; /* those that this library returns beyond it */
};

static inline bool wsi_api_goes_in(const struct wsi_api_arg *arg)
{
	return arg->way == WSI_API_IN || arg->way == WSI_API_INOUT;
}

static inline bool wsi_api_comes_out(const struct wsi_api_arg *arg)
{
	return arg->way == WSI_API_OUT || arg->way == WSI_API_INOUT;
}

static inline bool wsi_api_is_callback(const struct wsi_api_arg *arg)
{
	return arg->way == WSI_API_VALUE && strstr(arg->type, "Callback");
}

/* By slot. */
extern const struct wsi_api_fn wsi_api_functions[WSI_API_SLOTS];

union wsi_api_value {
	uint64_t number;
	void *pointer;
	void (*code)(void);
};

/* Room behind a pointer argument in bytes, by the counts that `values` has; SIZE_MAX: too much. */
size_t wsi_call_api_room(const struct wsi_api_fn *fn, unsigned arg,
			 const union wsi_api_value *values);
/* Bytes of an output that a successful call has written; of a text without its NUL. */
size_t wsi_call_api_written(const struct wsi_api_fn *fn, unsigned i,
			    const union wsi_api_value *values);
/* Calls the function in a slot; `values` has one element per argument. */
CUDBGResult wsi_api_invoke(CUDBGAPI api, unsigned slot, const union wsi_api_value *values);

#endif
