/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the waist share. */
#ifndef WSI_TARGET_INTERNAL_H
#define WSI_TARGET_INTERNAL_H

#include <stdatomic.h>

#include <warpscope/target.h>

#include "base/lock.h"

/* What the waist keeps of a target. Readers change it: it lies behind a pointer. */
struct ws_target_own {
	pthread_mutex_t lock;        /* of `modules` */
	struct ws_cubin_set *cubins; /* the last set that was made; NULL: nobody asked yet */
	/* `modules` while the lists of the target are those it was made of, else NULL. */
	_Atomic(struct ws_cubin_set *) current;
	/* Changes one by one, oldest first; what changed before generation `oldest` is not known.
	 */
	struct wsi_dated_change {
		uint64_t generation;
		struct ws_change change;
	} changes[WS_MAX_CHANGES];
	uint32_t n_changes;
	uint64_t oldest;
};

/* cubins.c: machine code as it was loaded; what a debugger or the program wrote over it is not in
 * the images. Adds to `*ret_n`. */
enum ws_status wsi_target_code_read(const struct ws_target *target, const struct ws_address *at,
				    uint8_t *buffer, size_t len, size_t *ret_n,
				    struct ws_error *err);

/* ws_write_target() (write.h) calls this where it can; clients call ws_write_target(). */
enum ws_status wsi_target_write_dump(const struct ws_target *target, const char *path,
				     uint32_t flags, struct ws_error *err) WS_MUST_USE;
enum ws_status wsi_target_contradictions(const struct ws_target *target, uint64_t *ret_n,
					 struct ws_error *err) WS_MUST_USE;

#endif
