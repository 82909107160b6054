/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call as data: of a client that is being traced, of a line of a trace, or made again. All
 * three are written, read and compared by the same code (docs/formats/api-trace.md).
 */
#ifndef WSI_TRACE_TRACED_H
#define WSI_TRACE_TRACED_H

#include "base/map.h"
#include "call/meta.h"

enum {
	WSI_TRACED_OUT = 1024,    /* bytes of an output that a trace keeps */
	WSI_TRACED_IN = 1u << 20, /* of an input */
};

enum wsi_traced_kind {
	WSI_TRACED_NOTHING,
	WSI_TRACED_NULL,
	WSI_TRACED_NUMBER,
	WSI_TRACED_FUNCTION,
	WSI_TRACED_BYTES,
};

struct wsi_traced_value {
	enum wsi_traced_kind kind;
	uint64_t number;
	const uint8_t *bytes; /* borrowed: the first `n_shown` of `n` */
	size_t n_shown;
	uint64_t n;
	uint64_t hash; /* FNV-1a of all `n`, when not all are shown */
};

struct wsi_traced {
	uint64_t ns;
	uint64_t capabilities; /* of initialize: what cudbgDebuggerCapabilities was */
	unsigned table, slot;
	CUDBGResult result;
	/* by argument; outputs are in `out` only, but for null pointers */
	struct wsi_traced_value in[WSI_API_MAX_ARGS], out[WSI_API_MAX_ARGS];
	uint8_t before[WSI_TRACED_OUT]; /* of an argument that is read and written */
};

/* What went in, and on success came out. `values` are borrowed. */
void wsi_traced_inputs(struct wsi_traced *call, const union wsi_api_value *values);
void wsi_traced_outputs(struct wsi_traced *call, const union wsi_api_value *values);

/* "readPC(dev=0, sm=1, wp=2, ln=3)", cut to `size`. */
void wsi_traced_text(const struct wsi_traced *call, char *text, size_t size);
/* One value for a reader: a number, a text, bytes; cut to `size`. */
void wsi_traced_value_text(const struct wsi_api_arg *arg, const struct wsi_traced_value *value,
			   char *text, size_t size);
/* One line of a trace. `scratch` holds the bytes and must have half as many as the line. */
enum ws_status wsi_traced_read(struct ws_span line, struct wsi_traced *ret_call, uint8_t *scratch,
			       struct ws_error *err) WS_MUST_USE;

/* ---- comparing (compare.c) ---- */

/* Handles of one run, and what they are in the other. All-zero is empty. */
struct wsi_handles {
	struct wsi_map map;
	uint64_t *counterpart; /* owned; by value of `map` */
	size_t n, cap;
};

void wsi_handles_fini(struct wsi_handles *handles);
/* What a handle of the first run is in the second: itself when it was never seen. */
uint64_t wsi_handles_map(const struct wsi_handles *handles, uint8_t kind, uint64_t value);

/* Called for each difference; `what` names the output, or is NULL for the result. */
typedef void wsi_traced_tell(void *user, const char *what, const char *a, const char *b);

/* Whether two calls are of one function with the same arguments. */
bool wsi_traced_same_inputs(const struct wsi_traced *a, const struct wsi_traced *b,
			    const struct wsi_handles *handles);
/* Compares result and outputs of such; new handles are taken up in `handles`. True: the same. */
bool wsi_traced_compare(const struct wsi_traced *a, const struct wsi_traced *b,
			struct wsi_handles *handles, wsi_traced_tell *tell, void *user);

#endif
