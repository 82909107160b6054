/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Files that hold GPU code, and the images inside: cubins, fatbins, programs, objects, archives.
 *
 * nvcc packs images for several architectures into a *fatbin*, and fatbins into host programs,
 * shared objects and objects (sections `.nv_fatbin` and, for device code that is not linked yet,
 * `__nv_relfatbin`). Entries may be compressed (LZ4 or zstd). Opening lists what is there;
 * unpacking waits until an image is asked for. [measured: docs/formats/fatbin.md]
 *
 * **Damage is local.** A broken container or entry loses what follows it in its section; the rest
 * is listed, and ws_image_file_damage() reports it. **Memory** of an unpacked image never exceeds
 * what its entry says, nor WS_IMAGE_MAX_RATIO times its packed size.
 *
 * **Threads.** As everywhere: one file may have any number of readers, except while it is opened or
 * closed.
 */
#ifndef WARPSCOPE_IMAGE_H
#define WARPSCOPE_IMAGE_H

#include <warpscope/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ws_cubin;
struct ws_image_file;

enum {
	WS_IMAGE_MAX_RATIO = 1024, /**< an entry that claims to unpack to more is refused */
};

enum ws_image_kind {
	WS_IMAGE_CUBIN,
	WS_IMAGE_PTX,
	WS_IMAGE_OTHER, /**< an entry of a kind this version does not know */
};

enum ws_image_packing {
	WS_IMAGE_STORED,
	WS_IMAGE_LZ4,
	WS_IMAGE_ZSTD,
	WS_IMAGE_UNKNOWN_PACKING,
};

/** One image in a file. Strings are borrowed from the file. */
struct ws_image_entry {
	enum ws_image_kind kind;
	enum ws_image_packing packing;
	uint32_t sm;      /**< 75, 90, ...; 0: not known */
	bool relocatable; /**< device code that is to be linked (`__nv_relfatbin`) */
	struct ws_str
		container;    /**< section or archive member it is in; empty for the file itself */
	struct ws_str source; /**< name the compiler noted, often empty */
	uint64_t file_off;    /**< of the packed bytes */
	uint64_t packed_bytes;
	uint64_t image_bytes; /**< unpacked, as the entry says */
	uint64_t flags;       /**< of the fatbin entry; 0 for a bare cubin */
};

/**
 * Opens a cubin, a fatbin, a 64-bit little-endian ELF program, shared object or object, or an `ar`
 * archive of objects.
 * @retval WS_UNSUPPORTED  none of these.
 * @retval WS_ABSENT       one of these, without GPU code.
 * @retval WS_IO, WS_NO_MEMORY
 */
WS_API enum ws_status ws_image_file_open(const char *path, struct ws_image_file **ret_file,
					 struct ws_error *err) WS_MUST_USE;
/** The same over bytes that stay the caller's and must outlive the result. */
WS_API enum ws_status ws_image_file_open_memory(struct ws_span bytes,
						struct ws_image_file **ret_file,
						struct ws_error *err) WS_MUST_USE;
/** Closes its modules too. NULL is fine. */
WS_API void ws_image_file_close(struct ws_image_file *file);

WS_API size_t ws_image_file_count(const struct ws_image_file *file);
/** `index` must be below the count. */
WS_API const struct ws_image_entry *ws_image_file_at(const struct ws_image_file *file,
						     size_t index);
/** First damage found while listing: false when there was none. */
WS_API bool ws_image_file_damage(const struct ws_image_file *file, struct ws_error *ret_err);

/**
 * Bytes of an image, unpacked now if they were not; valid until `file` is closed.
 * @retval WS_UNSUPPORTED  packed in a way that this build cannot unpack.
 * @retval WS_MALFORMED    the packed data is broken, or its size is not the announced one.
 * @retval WS_LIMIT        it claims to unpack to more than WS_IMAGE_MAX_RATIO times its size.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_image_file_bytes(struct ws_image_file *file, size_t index,
					  struct ws_span *ret_bytes,
					  struct ws_error *err) WS_MUST_USE;
/**
 * The module of a cubin, opened now if it was not; the file owns it.
 * @retval WS_UNSUPPORTED  not a cubin. Others as ws_image_file_bytes() and ws_cubin_open().
 */
WS_API enum ws_status ws_image_file_cubin(struct ws_image_file *file, size_t index,
					  struct ws_cubin **ret_cubin,
					  struct ws_error *err) WS_MUST_USE;
/**
 * Closes the module of an image and forgets its unpacked bytes, which end to be valid: for who goes
 * through a large file once. Nobody else may use that image meanwhile. `index` must be below the
 * count.
 */
WS_API void ws_image_file_release(struct ws_image_file *file, size_t index);

#ifdef __cplusplus
}
#endif
#endif
