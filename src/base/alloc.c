/* SPDX-License-Identifier: Apache-2.0 */
#ifdef __linux__
#define _GNU_SOURCE /* madvise */
#include <sys/mman.h>
#endif
#define WSI_BASE_SOURCE
#include "base/base.h"

bool (*wsi_alloc_should_fail)(void);

static bool must_fail(void)
{
	return wsi_alloc_should_fail && wsi_alloc_should_fail();
}

void *wsi_zalloc(size_t size)
{
	return must_fail() ? NULL : calloc(1, size ? size : 1);
}

void *wsi_zalloc_array(size_t count, size_t size)
{
	size_t bytes;
	return __builtin_mul_overflow(count, size, &bytes) ? NULL : wsi_zalloc(bytes);
}

void *wsi_realloc_array(void *ptr, size_t count, size_t size)
{
	size_t bytes;
	if (must_fail() || __builtin_mul_overflow(count, size, &bytes))
		return NULL;
	return realloc(ptr, bytes ? bytes : 1);
}

void wsi_expect_full(void *ptr, size_t count, size_t size)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
	const uintptr_t page = (uintptr_t)2 << 20;
	uintptr_t start = ((uintptr_t)ptr + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)ptr + count * size) & ~(page - 1);
	if (ptr && end > start)
		(void)!madvise((char *)ptr + (start - (uintptr_t)ptr), end - start, MADV_HUGEPAGE);
#else
	(void)ptr;
	(void)count;
	(void)size;
#endif
}

char *wsi_strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = wsi_zalloc(size);
	if (copy)
		memcpy(copy, text, size);
	return copy;
}

void wsi_free(void *ptr)
{
	free(ptr);
}

bool wsi_grow(void *ptr, size_t *cap, size_t n, size_t size, size_t max)
{
	assert(n <= *cap);
	if (n < *cap)
		return true;
	if (n >= max)
		return false;
	size_t want = *cap ? *cap : 8;
	want = want > max / 2 ? max : want * 2;
	void *old;
	memcpy(&old, ptr, sizeof old); /* `ptr` is the address of any object pointer */
	void *grown = wsi_realloc_array(old, want, size);
	if (!grown)
		return false;
	memcpy(ptr, &grown, sizeof grown);
	*cap = want;
	return true;
}
