/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing files: buffered, whole or not at all.
 *
 * An output file is written beside its final name and renamed when it is complete: others see the
 * old content or the new one, never a part, and a failure leaves the old file as it was. What is
 * known only at the end (sizes, offsets) goes into its head, a few bytes at the start for which
 * room is kept, in a packed file too:
 *
 *   gzip header | stored block: the head | deflated rest | checksum, length
 *                 rewritten in the end
 *
 * A scratch file is for what has to wait: it stays in memory while it is small.
 */
#ifndef WSI_OUTFILE_H
#define WSI_OUTFILE_H

#include "base/base.h"

/* Buffered bytes on their way to a descriptor. */
struct wsi_stream {
	int fd;          /* owned; -1: none yet */
	uint8_t *buffer; /* owned */
	size_t used;
	uint64_t total; /* bytes appended */
};

struct wsi_scratch {
	struct wsi_stream stream;
};

/* WS_NO_MEMORY. Leaves nothing to free when it fails. */
enum ws_status wsi_scratch_init(struct wsi_scratch *scratch, struct ws_error *err) WS_MUST_USE;
void wsi_scratch_fini(struct wsi_scratch *scratch);
/* WS_IO: no room. */
enum ws_status wsi_scratch_append(struct wsi_scratch *scratch, const void *bytes, size_t n,
				  struct ws_error *err) WS_MUST_USE;

struct wsi_outfile_options {
	size_t head_bytes;    /* kept at the start for wsi_outfile_commit(); at most 32 KiB */
	bool gzip;            /* pack it; the same bytes always give the same file */
	const char *not_over; /* a file that must not be written over, or NULL */
};

struct wsi_outfile; /* opaque */

/*
 * Starts a file that will be called `path`. WS_ARGUMENT: that is the file `not_over`, by whatever
 * name. WS_UNSUPPORTED: there is something there that is no regular file. WS_IO: no file can be
 * made in its folder.
 */
enum ws_status wsi_outfile_open(const char *path, const struct wsi_outfile_options *options,
				struct wsi_outfile **ret_file, struct ws_error *err) WS_MUST_USE;
/* Bytes appended so far, the head included: where the next one will be in the unpacked file. */
uint64_t wsi_outfile_size(const struct wsi_outfile *file);
enum ws_status wsi_outfile_append(struct wsi_outfile *file, const void *bytes, size_t n,
				  struct ws_error *err) WS_MUST_USE;
/* Appends all of a scratch file, which stays as it is. */
enum ws_status wsi_outfile_append_scratch(struct wsi_outfile *file, struct wsi_scratch *scratch,
					  struct ws_error *err) WS_MUST_USE;
/* Fills the head (`head_bytes` at `head`) and gives the file its name. Then it can only be closed.
 */
enum ws_status wsi_outfile_commit(struct wsi_outfile *file, const void *head,
				  struct ws_error *err) WS_MUST_USE;
/* Closes; a file that was not committed is gone. NULL is fine. */
void wsi_outfile_close(struct wsi_outfile *file);

#endif
