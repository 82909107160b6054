/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every source file under src/ includes first: the public base, errors with their context,
 * allocation, scope guards, and the functions nobody may call. Internal names have the prefix wsi_.
 */
#ifndef WSI_BASE_H
#define WSI_BASE_H

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/base.h>

#define WSI_COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- errors ---- */

/* Fills `err` (may be NULL) and returns `status`, which must not be WS_OK. */
enum ws_status wsi_fail(struct ws_error *err, enum ws_status status, uint64_t file_off,
			const char *format, ...) WS_PRINTF(4, 5);
/* WS_IO with the current errno. */
enum ws_status wsi_fail_errno(struct ws_error *err, const char *format, ...) WS_PRINTF(2, 3);
/* Puts "context: " before the message of a failure; passes WS_OK through. */
enum ws_status wsi_context(struct ws_error *err, enum ws_status status, const char *format, ...)
	WS_PRINTF(3, 4);

/* ---- memory ---- */

/* Zeroed memory or NULL. wsi_free(NULL) is fine. Everything under src/ allocates through these. */
void *wsi_zalloc(size_t size) WS_MUST_USE;
void *wsi_zalloc_array(size_t count, size_t size) WS_MUST_USE;
/* Like realloc for `count` elements; new memory is not zeroed; the old block survives a failure. */
void *wsi_realloc_array(void *ptr, size_t count, size_t size) WS_MUST_USE;
/* A hint: all of this block will be written, so that large pages pay (a fault for each 2 MiB). */
void wsi_expect_full(void *ptr, size_t count, size_t size);
char *wsi_strdup(const char *text) WS_MUST_USE;
void wsi_free(void *ptr);

/* Tests only: every allocation whose turn it is fails while this returns true. NULL: none fails. */
extern bool (*wsi_alloc_should_fail)(void);

/*
 * Room for one more element of an array that grows by doubling: `*ptr` has `*cap` elements of
 * `size` bytes, `n` are used, never more than `max`. False when memory is out or `max` is reached.
 */
bool wsi_grow(void *ptr, size_t *cap, size_t n, size_t size, size_t max) WS_MUST_USE;

/* Runs `close` on the variable when it goes out of scope: wsi_scoped(ws_store_close) ... */
#define WSI_DEFINE_SCOPED(type, close)                        \
	static inline void wsi_scoped_##close(type **guarded) \
	{                                                     \
		close(*guarded);                              \
	}                                                     \
	struct wsi_swallow_semicolon
#define wsi_scoped(close) __attribute__((cleanup(wsi_scoped_##close)))
/* Moves a guarded pointer out: the guard then closes NULL. */
#define WSI_TAKE(ptr)                              \
	__extension__({                            \
		__typeof__(ptr) wsi_taken = (ptr); \
		(ptr) = NULL;                      \
		wsi_taken;                         \
	})

/* Index of the first element from `first` to before `end` for which `is_before`, an expression of
 * the index `i`, is false; elements are sorted by it. `end` when there is none. */
#define WSI_BISECT(i, first, end, is_before)                                  \
	__extension__({                                                       \
		__typeof__((end) + 0) wsi_low = (first), wsi_high = (end), i; \
		while (wsi_low < wsi_high) {                                  \
			i = wsi_low + (wsi_high - wsi_low) / 2;               \
			if (is_before)                                        \
				wsi_low = i + 1;                              \
			else                                                  \
				wsi_high = i;                                 \
		}                                                             \
		wsi_low;                                                      \
	})

static inline void wsi_free_bytes(void *ptr)
{
	wsi_free(*(void **)ptr);
}
#define wsi_scoped_free __attribute__((cleanup(wsi_free_bytes)))

/* ---- small helpers ---- */

/* Component 0, 1 or 2. */
static inline uint32_t wsi_axis(struct ws_dim3 dim, uint32_t axis)
{
	return axis == 0 ? dim.x : axis == 1 ? dim.y : dim.z;
}

/* How qsort() and bsearch() want two numbers compared: below, equal to or above 0. */
#define WSI_ORDER(a, b) (((a) > (b)) - ((a) < (b)))
/* Of two that are equal, what `next` says of them. */
#define WSI_ORDER_THEN(a, b, next) ((a) == (b) ? (next) : WSI_ORDER(a, b))

static inline uint64_t wsi_min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t wsi_max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* How many bits are set. */
static inline unsigned wsi_count_bits(uint32_t mask)
{
	unsigned n = 0;
	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

/* The lowest bit that is set; 31 for none. */
static inline uint32_t wsi_first_bit(uint32_t mask)
{
	return mask ? (uint32_t)__builtin_ctz(mask) : 31;
}

/* a + b, or UINT64_MAX when that wraps. */
static inline uint64_t wsi_add_sat(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* What follows the first `n` bytes, of which there are that many. An empty text may have no
 * address, to which C does not allow to add even 0. */
static inline struct ws_str wsi_str_skip(struct ws_str text, size_t n)
{
	return (struct ws_str){ n ? text.ptr + n : text.ptr, text.len - n };
}

static inline bool wsi_str_begins(struct ws_str text, const char *with)
{
	size_t n = strlen(with);
	return text.len >= n && memcmp(text.ptr, with, n) == 0;
}

/* By bytes, the shorter of two that begin alike first. */
static inline int wsi_str_order(struct ws_str a, struct ws_str b)
{
	const size_t n = a.len < b.len ? a.len : b.len;
	const int order = n ? memcmp(a.ptr, b.ptr, n) : 0;
	return order ? order : WSI_ORDER(a.len, b.len);
}

static inline bool wsi_str_ends(struct ws_str text, const char *with)
{
	const size_t len = strlen(with);
	return text.len >= len && memcmp(text.ptr + text.len - len, with, len) == 0;
}

/* `part` has a byte at least. */
static inline bool wsi_str_holds(struct ws_str text, const char *part)
{
	const size_t len = strlen(part);
	while (text.len >= len) {
		const char *at = memchr(text.ptr, *part, text.len - len + 1);
		if (!at || memcmp(at, part, len) == 0)
			return at != NULL;
		text = wsi_str_skip(text, (size_t)(at - text.ptr) + 1);
	}
	return false;
}

static inline bool wsi_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool wsi_is_alphanumeric(char c)
{
	return wsi_is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static inline char wsi_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* The value of a hexadecimal digit, 16 for what is none; letters are small. */
static inline unsigned wsi_hex_digit(char c)
{
	return wsi_is_digit(c)        ? (unsigned)(c - '0')
	       : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
				      : 16;
}

/* snprintf into an array of known size; true when it all fitted. */
#define wsi_format(array, ...) wsi_format_(array, sizeof(array), __VA_ARGS__)
bool wsi_format_(char *buffer, size_t size, const char *format, ...) WS_PRINTF(3, 4);

/* ---- banned outside src/base ---- */

#ifndef WSI_BASE_SOURCE
#define WSI_BANNED(name) wsi_banned_##name
#define strcpy(...) WSI_BANNED(strcpy)
#define strcat(...) WSI_BANNED(strcat)
#define strncpy(...) WSI_BANNED(strncpy)
#define sprintf(...) WSI_BANNED(sprintf)
#define vsprintf(...) WSI_BANNED(vsprintf)
#define strtok(...) WSI_BANNED(strtok)
#define atoi(...) WSI_BANNED(atoi)
#define atol(...) WSI_BANNED(atol)
#define gets(...) WSI_BANNED(gets)
#define strerror(...) WSI_BANNED(strerror)
#define malloc(...) WSI_BANNED(malloc)
#define calloc(...) WSI_BANNED(calloc)
#define realloc(...) WSI_BANNED(realloc)
#define strdup(...) WSI_BANNED(strdup)
#define free(...) WSI_BANNED(free)
#define printf(...) WSI_BANNED(printf)
#define abort(...) WSI_BANNED(abort)
#define exit(...) WSI_BANNED(exit)
#endif

#endif
