/* SPDX-License-Identifier: Apache-2.0 */
/* What lines mean: one table of Xids, one of CUDA errors, and one of the other kinds. */
#ifndef WSI_LOG_TOPIC_H
#define WSI_LOG_TOPIC_H

#include <warpscope/log.h>

#include "base/base.h"

/* What to do about it (advice.c). */
enum wsi_advice {
	WSI_ADVICE_KERNEL,   /* a dump of the fault */
	WSI_ADVICE_HANG,     /* dumps while it hangs */
	WSI_ADVICE_HARDWARE, /* look after the GPU */
	WSI_ADVICE_LINK,     /* NVLink, NVSwitch */
	WSI_ADVICE_DRIVER,   /* collect what the vendor asks for */
	WSI_ADVICE_MEMORY,   /* who has the memory */
	WSI_ADVICE_BUILD,    /* what the program was built for */
	WSI_ADVICE_CALL,     /* arguments of one call */
	WSI_ADVICE_NETWORK,  /* which peer went away */
	WSI_ADVICE_EARLIER,  /* look for what came before */
	WSI_ADVICE_DUMP,     /* read it */
	WSI_ADVICE_AMD,
};

struct wsi_log_topic {
	uint32_t code, last; /* last: 0: that code alone */
	enum ws_log_role role;
	enum wsi_advice advice;
	const char *title;          /* a few words */
	const char *means, *cannot; /* sentences; NULL: nothing more is to be said */
};

/* Never NULL: of a number that is not listed, what can be said of any. */
const struct wsi_log_topic *wsi_xid_topic(uint64_t number);

struct wsi_cuda_error {
	struct wsi_log_topic topic;   /* its title is the vendor's message */
	const char *runtime, *driver; /* names; NULL: there is none */
	bool is_distinct;             /* the message alone is found only where it is meant */
};

/* NULL past the last. */
const struct wsi_cuda_error *wsi_log_cuda_error_at(size_t index);
/* NULL: not listed. */
const struct wsi_cuda_error *wsi_log_cuda_error_find(uint64_t number);
/* Of an error that is not listed. */
extern const struct wsi_log_topic wsi_cuda_topic_any;

/* Of all other kinds; never NULL. */
const struct wsi_log_topic *wsi_other_topic(enum ws_log_kind kind, uint32_t code);

#endif
