/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * What every other Warpscope header uses: statuses, errors, byte spans, strings, version.
 *
 * **Errors.** A function that can fail returns `enum ws_status` and takes a `struct ws_error *err`
 * that the caller lends (usually on its stack; NULL is allowed everywhere). Nothing is allocated
 * for an error, nothing is printed, there is no "last error". On failure outputs are untouched
 * unless a function says otherwise.
 *
 * **Missing is an answer.** WS_ABSENT (the input does not have it), WS_EXCLUDED (it was left out
 * when the dump was made), WS_UNSUPPORTED (this back end cannot say) and WS_MALFORMED /
 * WS_TRUNCATED (damaged) are different results and stay different, down to the words that a user
 * reads.
 *
 * **Ownership.** An open object owns everything it hands out; a returned pointer is a borrowed
 * view, valid until the object that it came from is closed.
 *
 * **Threads.** Reading one open object from any number of threads is safe; open, close and
 * configuration are not; different objects are independent.
 */
#ifndef WARPSCOPE_BASE_H
#define WARPSCOPE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WS_API __attribute__((visibility("default")))
#define WS_MUST_USE __attribute__((warn_unused_result))
#define WS_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define WS_API
#define WS_MUST_USE
#define WS_PRINTF(fmt, args)
#endif

/** One list gives the enum, ws_status_name() and ws_status_text(). */
#define WS_STATUS_LIST(X)                                         \
	X(OK, "success")                                          \
	X(ABSENT, "the input does not contain this")              \
	X(EXCLUDED, "left out when the dump was made")            \
	X(RUNNING, "the device must be stopped first")            \
	X(MALFORMED, "input violates its format")                 \
	X(TRUNCATED, "input ends inside a structure")             \
	X(UNSUPPORTED, "not supported by this input or back end") \
	X(ARGUMENT, "the caller passed an invalid argument")      \
	X(LIMIT, "a configured limit was reached")                \
	X(NO_MEMORY, "out of memory")                             \
	X(IO, "the operating system refused")

enum ws_status {
#define X(name, text) WS_##name,
	WS_STATUS_LIST(X)
#undef X
};

/** `file_off` of an error without a position in a file. */
#define WS_NO_OFFSET UINT64_MAX

/** The story of a failure. Lives in the caller's storage; written only when a function fails. */
struct ws_error {
	enum ws_status status;
	int os_errno;      /**< errno of the refused call for WS_IO, else 0 */
	uint64_t file_off; /**< byte offset in the input, or WS_NO_OFFSET */
	int cuda_result;   /**< calls of sim.h: what a CUDA program is told (cuda_results.h), else 0
			    */
	char message[200]; /**< outermost context first; always NUL-terminated; no newline */
};

/** Identifier of a status, e.g. "WS_ABSENT". Static storage; "WS_?" for an unknown number. */
WS_API const char *ws_status_name(enum ws_status status);

/** One plain sentence part for a status. Static storage. */
WS_API const char *ws_status_text(enum ws_status status);

/** Version of the library, "MAJOR.MINOR.PATCH". Static storage. */
WS_API const char *ws_version(void);

/**
 * Bytes of an input: `len` bytes at `ptr`, which come from byte `origin` of their file.
 * A span never owns its bytes. An empty span may have a null `ptr`.
 */
struct ws_span {
	const uint8_t *ptr;
	size_t len;
	uint64_t origin;
};

/**
 * Part of a span: `len` bytes from byte `off`. False, and `*ret_sub` untouched, if that is not
 * entirely inside.
 */
static inline bool ws_span_sub(struct ws_span span, uint64_t off, uint64_t len,
			       struct ws_span *ret_sub)
{
	if (off > span.len || len > span.len - off) /* subtract: off + len could wrap */
		return false;
	ret_sub->ptr = span.ptr ? span.ptr + off : NULL;
	ret_sub->len = (size_t)len;
	ret_sub->origin = span.origin + off;
	return true;
}

/**
 * Text from an input: not terminated, maybe not UTF-8; whoever prints it escapes it. `ptr` may be
 * NULL when `len` is 0.
 */
struct ws_str {
	const char *ptr;
	size_t len;
};

/** A C string as a `ws_str`; NULL gives the empty string. */
WS_API struct ws_str ws_str_of(const char *text);

/** Whether two strings have the same bytes. */
WS_API bool ws_str_equal(struct ws_str a, struct ws_str b);

/** Three-dimensional index or extent (blockIdx, blockDim, ...), as CUDA names it. */
struct ws_dim3 {
	uint32_t x, y, z;
};

/** Where bytes go. Returns false when they could not be taken; then errno says why. */
typedef bool ws_write_fn(void *user, const char *bytes, size_t len);

/** A `ws_write_fn` for a file descriptor: `user` points to an int. Restarts after signals. */
WS_API bool ws_write_fd(void *user, const char *bytes, size_t len);

/**
 * Writes a whole file: it has the new bytes if this succeeds, and is unchanged if not. The file is
 * its owner's alone, unless the source is open to more people: then it is as open as the source,
 * less the umask, and never more open than a file that it replaces.
 * @param source       the file that the bytes come from, which is never overwritten; "-" for
 * standard input, or NULL
 * @retval WS_ARGUMENT     `path` is that file
 * @retval WS_UNSUPPORTED  `path` is not a regular file
 * @retval WS_IO, WS_NO_MEMORY
 */
WS_API enum ws_status ws_file_replace(const char *path, struct ws_span bytes, const char *source,
				      struct ws_error *err) WS_MUST_USE;

/** Hands on what a file holds, packed with gzip. @retval WS_IO  it cannot be read, or `write` did
 * not take all. @retval WS_NO_MEMORY */
WS_API enum ws_status ws_file_pack(const char *path, ws_write_fn *write, void *user,
				   struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
