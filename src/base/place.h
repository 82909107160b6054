/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a new file is until it is complete: without a name, else under a temporary one. It gets its
 * name by a commit, and is gone when there is none.
 *
 * What is written may hold secrets of a dump. So a new file is its owner's alone, unless the file
 * that its bytes come from is open to more people: then it is as open as that, less the umask. A
 * file that was there before is replaced, and the new one is never more open than it was. The
 * file is made with these permissions; there is no moment in which it has others.
 */
#ifndef WSI_PLACE_H
#define WSI_PLACE_H

#include "base/base.h"

struct wsi_place {
	int fd;          /* owned; for reading and writing; -1: none */
	bool is_kept;    /* by the broker (base/broker.h), which has the names too */
	char *path;      /* owned */
	char *temporary; /* owned: name until the commit; NULL while the file has none */
};

/*
 * `source`: the file that the bytes come from ("-": standard input), which is not written over; may
 * be NULL. WS_ARGUMENT: `path` is the source. WS_UNSUPPORTED: there is something that is no
 * regular file. WS_IO, WS_NO_MEMORY.
 */
enum ws_status wsi_place_open(const char *path, const char *source, struct wsi_place *ret_place,
			      struct ws_error *err) WS_MUST_USE;
/* The complete file gets its name, and is closed. False: see errno. */
bool wsi_place_commit(struct wsi_place *place) WS_MUST_USE;
/* All-zero but for `fd` -1 is fine too. */
void wsi_place_close(struct wsi_place *place);

#endif
