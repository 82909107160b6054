/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks in memory. Whole files that are packed (zstd, gzip): spool.c. */
#define WSI_BASE_SOURCE
#include "base/unpack.h"

#if WSI_HAVE_LZ4
#include <lz4.h>
#endif
#if WSI_HAVE_ZSTD
#include <zstd.h>
#endif

enum ws_status wsi_unpack_lz4(struct ws_span packed, uint8_t *ret_bytes, size_t size,
			      struct ws_error *err)
{
#if WSI_HAVE_LZ4
	if (packed.len > INT_MAX || size > INT_MAX)
		return wsi_fail(err, WS_LIMIT, packed.origin, "LZ4 block of 2 GiB or more");
	int n = LZ4_decompress_safe((const char *)packed.ptr, (char *)ret_bytes, (int)packed.len,
				    (int)size);
	if (n < 0)
		return wsi_fail(err, WS_MALFORMED, packed.origin, "LZ4 data is broken");
	if ((size_t)n != size)
		return wsi_fail(err, WS_MALFORMED, packed.origin,
				"LZ4 data has %d bytes, %zu were announced", n, size);
	return WS_OK;
#else
	(void)ret_bytes;
	(void)size;
	return wsi_fail(err, WS_UNSUPPORTED, packed.origin,
			"LZ4 data, and this build has no liblz4");
#endif
}

enum ws_status wsi_unpack_zstd(struct ws_span packed, uint8_t *ret_bytes, size_t size,
			       struct ws_error *err)
{
#if WSI_HAVE_ZSTD
	size_t n = ZSTD_decompress(ret_bytes, size, packed.ptr, packed.len);
	if (ZSTD_isError(n))
		return wsi_fail(err, WS_MALFORMED, packed.origin, "zstd data is broken: %s",
				ZSTD_getErrorName(n));
	if (n != size)
		return wsi_fail(err, WS_MALFORMED, packed.origin,
				"zstd data has %zu bytes, %zu were announced", n, size);
	return WS_OK;
#else
	(void)ret_bytes;
	(void)size;
	return wsi_fail(err, WS_UNSUPPORTED, packed.origin,
			"zstd data, and this build has no libzstd");
#endif
}
