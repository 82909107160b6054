/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry of every target: runs it, and ends the program when it took more memory than 64 MB and
 * 8 times its input, or more than ten seconds of the processor. What a target printed it checks
 * itself (fuzz_check_printed()). The linker sends the allocations of our code here (--wrap).
 */
#define FUZZ_LIMITS
#include "fuzz.h"

#include <malloc.h>
#include <stdatomic.h>
#include <time.h>

#undef malloc
#undef calloc
#undef realloc

enum {
	MEMORY_FREE = 64 * 1000 * 1000,
	MEMORY_PER_BYTE = 8,
	OUTPUT_FREE = 65 << 20,
	OUTPUT_PER_BYTE = 64,
	SECONDS = 10,
};

static atomic_llong held, most;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *ptr, size_t size);
void __real_free(void *ptr);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *ptr, size_t size);
void __wrap_free(void *ptr);

static void *counted(void *ptr)
{
	long long now = atomic_load(&held);
	if (ptr)
		now = atomic_fetch_add(&held, (long long)malloc_usable_size(ptr)) +
		      (long long)malloc_usable_size(ptr);
	if (now > atomic_load(&most)) /* of two threads at once the lesser may win: never mind */
		atomic_store(&most, now);
	return ptr;
}

void *__wrap_malloc(size_t size)
{
	return counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *ptr, size_t size)
{
	const long long before = ptr ? (long long)malloc_usable_size(ptr) : 0;
	void *grown = __real_realloc(ptr, size);
	if (grown)
		atomic_fetch_sub(&held, before);
	return grown ? counted(grown) : NULL;
}

void __wrap_free(void *ptr)
{
	if (ptr)
		atomic_fetch_sub(&held, (long long)malloc_usable_size(ptr));
	__real_free(ptr);
}

void fuzz_check_printed(uint64_t bytes, size_t size)
{
	FUZZ_CHECK(bytes <= OUTPUT_FREE + (uint64_t)size * OUTPUT_PER_BYTE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const long long before = atomic_load(&held);
	const clock_t start = clock();
	atomic_store(&most, before);
	int result = fuzz_target(data, size);
	FUZZ_CHECK(atomic_load(&most) - before <= MEMORY_FREE + (long long)size * MEMORY_PER_BYTE);
	FUZZ_CHECK(clock() - start <= SECONDS * CLOCKS_PER_SEC);
	return result;
}
