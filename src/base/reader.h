/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading integers and strings out of spans: the only place where file bytes become values.
 *
 * wsi_at_uNN(): random access at an offset that the caller has checked (asserted, so a forgotten
 * check stops the program instead of reading on). struct wsi_reader: sequential, failure is sticky:
 * a failed reader yields zeros and stays put, so a parser checks `failed` once - but before a value
 * decides anything (a loop bound, an allocation, an index).
 *
 * Input is little endian unless `big_endian` is set.
 */
#ifndef WSI_READER_H
#define WSI_READER_H

#include "base/base.h"

/* Spelled out byte by byte: compilers make one load of each, which they do not of a loop (gcc 12,
 * -O2). */
static inline uint16_t wsi_load_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t wsi_load_u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t wsi_load_u64(const uint8_t *p)
{
	return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
	       (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
	       (uint64_t)p[7] << 56;
}

/* The other way, for what is written. */
static inline void wsi_store_u16(uint8_t *p, uint16_t value)
{
	p[0] = (uint8_t)value;
	p[1] = (uint8_t)(value >> 8);
}

static inline void wsi_store_u32(uint8_t *p, uint32_t value)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(p, &value, sizeof value); /* loops of byte stores are not vectorised */
#else
	wsi_store_u16(p, (uint16_t)value);
	wsi_store_u16(p + 2, (uint16_t)(value >> 16));
#endif
}

static inline void wsi_store_u64(uint8_t *p, uint64_t value)
{
	wsi_store_u32(p, (uint32_t)value);
	wsi_store_u32(p + 4, (uint32_t)(value >> 32));
}

static inline uint64_t wsi_load_le(const uint8_t *p, unsigned n_bytes)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < n_bytes; i++)
		value |= (uint64_t)p[i] << (8 * i);
	return value;
}

static inline const uint8_t *wsi_at(struct ws_span s, uint64_t off, uint64_t n_bytes)
{
	assert(off <= s.len && n_bytes <= s.len - off);
	return off ? s.ptr + off : s.ptr; /* an empty span may have no address */
}

static inline uint8_t wsi_at_u8(struct ws_span s, uint64_t off)
{
	return *wsi_at(s, off, 1);
}

static inline uint16_t wsi_at_u16(struct ws_span s, uint64_t off)
{
	return wsi_load_u16(wsi_at(s, off, 2));
}

static inline uint32_t wsi_at_u32(struct ws_span s, uint64_t off)
{
	return wsi_load_u32(wsi_at(s, off, 4));
}

static inline uint64_t wsi_at_u64(struct ws_span s, uint64_t off)
{
	return wsi_load_u64(wsi_at(s, off, 8));
}

/* `n` 32-bit integers from `off` on, which must all be inside. */
static inline void wsi_copy_u32(struct ws_span s, uint64_t off, size_t n, uint32_t *ret_values)
{
	if (n == 0)
		return;
	const uint8_t *from = wsi_at(s, off, (uint64_t)n * 4);
	if (n == 1) { /* a call of memcpy costs more than all the rest of a look-up */
		*ret_values = wsi_load_u32(from);
		return;
	}
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(ret_values, from, n * 4);
#else
	for (size_t i = 0; i < n; i++)
		ret_values[i] = wsi_load_u32(from + i * 4);
#endif
}

/* The string that starts at `off` and ends before a NUL inside the span. False: no NUL, or `off`
 * outside. */
static inline bool wsi_span_cstr(struct ws_span s, uint64_t off, struct ws_str *ret_text)
{
	if (off >= s.len)
		return false;
	const void *end = memchr(s.ptr + off, 0, s.len - (size_t)off);
	if (!end)
		return false;
	*ret_text = (struct ws_str){ (const char *)s.ptr + off,
				     (size_t)((const uint8_t *)end - (s.ptr + off)) };
	return true;
}

struct wsi_reader {
	struct ws_span in;
	size_t pos;      /* next byte */
	size_t fail_pos; /* where the first read that failed began */
	bool failed;
	bool big_endian;
};

static inline struct wsi_reader wsi_reader_of(struct ws_span in)
{
	return (struct wsi_reader){ .in = in };
}

static inline size_t wsi_reader_left(const struct wsi_reader *r)
{
	return r->in.len - r->pos;
}

/* File offset of the next byte. */
static inline uint64_t wsi_reader_off(const struct wsi_reader *r)
{
	return r->in.origin + r->pos;
}

static inline bool wsi_reader_take(struct wsi_reader *r, uint64_t n_bytes)
{
	if (!r->failed && n_bytes <= wsi_reader_left(r))
		return true;
	if (!r->failed) {
		r->failed = true;
		r->fail_pos = r->pos;
	}
	return false;
}

static inline uint64_t wsi_read_uint(struct wsi_reader *r, unsigned n_bytes)
{
	if (n_bytes == 0 || !wsi_reader_take(r, n_bytes))
		return 0;
	const uint8_t *p = r->in.ptr + r->pos;
	r->pos += n_bytes;
	if (!r->big_endian)
		return wsi_load_le(p, n_bytes);
	uint64_t value = 0;
	for (unsigned i = 0; i < n_bytes; i++)
		value = value << 8 | p[i];
	return value;
}

static inline uint8_t wsi_read_u8(struct wsi_reader *r)
{
	return (uint8_t)wsi_read_uint(r, 1);
}

static inline uint16_t wsi_read_u16(struct wsi_reader *r)
{
	return (uint16_t)wsi_read_uint(r, 2);
}

static inline uint32_t wsi_read_u32(struct wsi_reader *r)
{
	return (uint32_t)wsi_read_uint(r, 4);
}

static inline uint64_t wsi_read_u64(struct wsi_reader *r)
{
	return wsi_read_uint(r, 8);
}

static inline void wsi_reader_skip(struct wsi_reader *r, uint64_t n_bytes)
{
	if (wsi_reader_take(r, n_bytes))
		r->pos += (size_t)n_bytes;
}

/* `n_bytes` from here, as a span; an empty span when that fails. */
static inline struct ws_span wsi_read_span(struct wsi_reader *r, uint64_t n_bytes)
{
	struct ws_span sub = { 0 };
	if (wsi_reader_take(r, n_bytes) && ws_span_sub(r->in, r->pos, n_bytes, &sub))
		r->pos += (size_t)n_bytes;
	return sub;
}

/* A number of unknown length at a place, and where it ends. */
struct wsi_leb {
	uint64_t value;
	size_t end;
	bool ok;
};

/* From `start`, which need not be inside. */
struct wsi_leb wsi_uleb_at(struct ws_span in, size_t start);
struct wsi_leb wsi_sleb_at(struct ws_span in, size_t start);

static inline uint64_t wsi_reader_leb(struct wsi_reader *r, struct wsi_leb leb)
{
	if (leb.ok) {
		r->pos = leb.end;
		return leb.value;
	}
	r->failed = true;
	r->fail_pos = r->pos;
	return 0;
}

/* The next eight bytes, which must be inside; they stay unread. */
static inline uint64_t wsi_reader_peek_u64(const struct wsi_reader *r)
{
	return wsi_load_u64(wsi_at(r->in, r->pos, 8));
}

/*
 * The number that begins with the first byte of `w`, without a branch on its length: the bytes up
 * to the first one below 0x80 are kept, then neighbouring groups of 7, 14 and 28 bits are pushed
 * together. Bytes of it: 0 when it is longer than these eight, and then the value is none.
 */
static inline uint64_t wsi_short_leb(uint64_t w, unsigned *ret_bytes)
{
	uint64_t stop = ~w & UINT64_C(0x8080808080808080);
	*ret_bytes = stop ? (unsigned)__builtin_ctzll(stop) / 8 + 1 : 0;
	w &= (stop ^ (stop - 1)) & UINT64_C(0x7f7f7f7f7f7f7f7f);
	w = (w & UINT64_C(0x007f007f007f007f)) | (w & UINT64_C(0x7f007f007f007f00)) >> 1;
	w = (w & UINT64_C(0x00003fff00003fff)) | (w & UINT64_C(0x3fff00003fff0000)) >> 2;
	return (w & UINT64_C(0x0fffffff)) | (w & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* False, and nothing read, for a number of more than 8 bytes and in the last bytes of the input. */
static inline bool wsi_read_short_leb(struct wsi_reader *r, uint64_t *ret_value, unsigned *ret_bits)
{
	if (r->failed || wsi_reader_left(r) < 8)
		return false;
	unsigned n_bytes;
	*ret_value = wsi_short_leb(wsi_reader_peek_u64(r), &n_bytes);
	*ret_bits = 7 * n_bytes;
	r->pos += n_bytes;
	return n_bytes > 0;
}

/*
 * ULEB128 and SLEB128. Running off the end fails, and so does a value that does not fit 64 bits:
 * neither is a number. Padding bytes (0x80 ... 0x00) are accepted as long as they add nothing.
 */
static inline uint64_t wsi_read_uleb(struct wsi_reader *r)
{
	uint64_t value;
	unsigned bits;
	if (wsi_read_short_leb(r, &value, &bits))
		return value;
	return r->failed ? 0 : wsi_reader_leb(r, wsi_uleb_at(r->in, r->pos));
}

static inline int64_t wsi_read_sleb(struct wsi_reader *r)
{
	uint64_t value;
	unsigned bits;
	if (wsi_read_short_leb(r, &value, &bits))
		return (int64_t)(value << (64 - bits)) >> (64 - bits);
	return r->failed ? 0 : (int64_t)wsi_reader_leb(r, wsi_sleb_at(r->in, r->pos));
}

/* A string up to its NUL, which is consumed; fails when there is none. */
struct ws_str wsi_read_cstr(struct wsi_reader *r);

#endif
