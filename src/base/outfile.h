/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing files: buffered, completely or not at all.
 *
 * An output file gets its name when it is complete: others see the old content or the new one,
 * never a part, and a failure leaves the old file as it was. Until then it has no name at all where
 * the system can do that (Linux: O_TMPFILE), so that not even a process that is killed leaves
 * something behind; elsewhere it is called PATH.XXXXXX. Who may read it: base/place.h.
 *
 * What is known only at the end (sizes, offsets) goes into its head, a few bytes at the start for
 * which room is kept, in a packed file too:
 *
 *   gzip header | stored block: the head | deflated rest | checksum, length
 *                 rewritten in the end
 */
#ifndef WSI_OUTFILE_H
#define WSI_OUTFILE_H

#include "base/stream.h"

struct wsi_outfile_options {
	size_t head_bytes;  /* kept at the start for wsi_outfile_commit(); at most 32 KiB */
	bool gzip;          /* pack it; the same bytes always give the same file */
	const char *source; /* where the bytes come from (base/place.h), or NULL */
};

struct wsi_outfile; /* opaque */

/*
 * Starts a file that will be called `path`. WS_ARGUMENT: that is the source, by whatever
 * name. WS_UNSUPPORTED: there is something there that is no regular file. WS_IO: no file can be
 * made in its folder.
 */
enum ws_status wsi_outfile_open(const char *path, const struct wsi_outfile_options *options,
				struct wsi_outfile **ret_file, struct ws_error *err) WS_MUST_USE;
/* The bytes of the unpacked file; its `total` includes the head. Valid until the commit. Who
 * appends to it directly calls wsi_outfile_failed() when that fails. */
struct wsi_stream *wsi_outfile_stream(struct wsi_outfile *file);
/* WS_IO, by errno. */
enum ws_status wsi_outfile_failed(const struct wsi_outfile *file, struct ws_error *err);
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
