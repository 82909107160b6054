/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input files as spans. What is special to one operating system lives here, behind these functions.
 */
#ifndef WSI_FILE_H
#define WSI_FILE_H

#include "base/base.h"
#include "base/input.h"

struct wsi_file {
	struct ws_span bytes;    /* those of the mapping */
	struct wsi_input source; /* owned: the same, or windows */
	void *mapping;           /* owned; NULL: no byte, or windows */

	/* of wsi_file_open_any() */
	const char *packing; /* "gzip", "zstd"; NULL: the bytes are as they came. Static storage */
	bool is_cut;         /* the compressed data ends early */
	bool is_damaged;     /* the compressed data is wrong from `packed_off` on */
	bool has_rest;       /* something that is not compressed data follows at `packed_off` */
	bool is_enough;      /* not all was unpacked: `needs` said that it has enough */
	uint64_t packed_off; /* byte of the compressed input */
};

/*
 * Maps a regular file read-only. A directory, a missing file or a refused one is WS_IO with a plain
 * message; an empty file gives an empty span. The file must not shrink while it is mapped: touching
 * lost pages kills the process with SIGBUS, as with every memory-mapped reader.
 */
enum ws_status wsi_file_open(const char *path, struct wsi_file *ret_file,
			     struct ws_error *err) WS_MUST_USE;
/* Maps what an open descriptor refers to, whole; the descriptor stays open. `path` is for messages.
 */
enum ws_status wsi_file_map(int fd, const char *path, struct wsi_file *ret_file,
			    struct ws_error *err) WS_MUST_USE;
/* Windows on what an open descriptor refers to, which is taken over, also when this fails. */
enum ws_status wsi_file_windows(int fd, const char *path, struct wsi_file *ret_file,
				struct ws_error *err) WS_MUST_USE;
/* A hint: the bytes before `before` are not needed soon, and need take no memory. They can still be
 * read. */
void wsi_file_release(const struct wsi_file *file, size_t before);
/* Leaves it all-zero; may be repeated. */
void wsi_file_close(struct wsi_file *file);

struct wsi_file_options {
	uint64_t max_unpacked_bytes; /* what a stream or a compressed file may become; 0: 64 GiB */
	/* Called every few MiB; false gives up (WS_LIMIT). `total_in` 0: not known. May be NULL. */
	bool (*progress)(void *user, uint64_t bytes_in, uint64_t total_in, uint64_t bytes_out);
	void *user;
	/*
	 * What a stream or a compressed file is good for, asked while it is unpacked: how many
	 * bytes are needed to tell more than `so_far` does (then it is asked again), or no more
	 * than those when they are enough. May be NULL: all is needed.
	 */
	uint64_t (*needs)(const struct wsi_input *so_far);
	/* `source` is what is read: then `bytes` may be empty, where a file is too large to map. */
	bool in_windows;
	/* Then also: how much of a packed file is stored; more is unpacked again where it is
	 * needed (base/seek.h). 0: 1 GiB. */
	uint64_t max_stored_bytes;
};

/*
 * Maps a file of any kind: plain, gzip or zstd (told apart by content, several members in a row are
 * one file), standard input as "-", FIFOs and other streams. What cannot be mapped as it is, is
 * unpacked once into an unlinked temporary file, in which zeros take no room. Compressed data that
 * ends early or turns bad gives the bytes before that, and says so in `*ret_file`.
 *
 * WS_LIMIT: more bytes than allowed, or `progress` gave up. WS_UNSUPPORTED: it is
 * packed, and this build cannot unpack it (xz, bzip2, lz4, zip; zstd in a build without it), a
 * device (/dev/zero), a FIFO that nobody has opened for writing after five seconds.
 * WS_MALFORMED: compressed data of which nothing can be unpacked.
 */
enum ws_status wsi_file_open_any(const char *path, const struct wsi_file_options *options,
				 struct wsi_file *ret_file, struct ws_error *err) WS_MUST_USE;

/* The same over any source, which is taken over where this succeeds: unpacked if it is packed. */
enum ws_status wsi_file_open_input(struct wsi_input *source, const char *path,
				   const struct wsi_file_options *options,
				   struct wsi_file *ret_file, struct ws_error *err) WS_MUST_USE;

/* Opens for reading; in the sandboxed program by way of the broker where that is needed. -1: see
 * errno. */
int wsi_file_descriptor(const char *path) WS_MUST_USE;

/* Opens a file for writing that is its owner's alone, empty; also when it was open to others
 * before. Anything but a regular file is opened as it is. -1: see errno. */
int wsi_file_private(const char *path) WS_MUST_USE;

/*
 * A new file without a name, in $TMPDIR, else /var/tmp, else /tmp; open for reading and writing.
 * -1: there is room nowhere.
 */
int wsi_file_temporary(void);

#endif
