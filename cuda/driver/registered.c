/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the program that it makes the device's, too: pages are replaced by those of a file that
 * both processes map. What another thread writes meanwhile would be lost, so that this is done only
 * while the program has one thread; nor can a stack be replaced, or what is shared already.
 */
#define _GNU_SOURCE /* mremap */
#include "driver.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <warpscope/cudadebugger.h>

enum { PAGE = 4096, IO_MEMORY = 4, ALL_FLAGS = 15 };

/* Pages that are shared, and how many registrations lie in them. */
struct registered_run {
	struct registered_run *next;
	uint64_t start, end;
	unsigned refs;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct registered_run *runs; /* owned */

void registered_forget(void)
{
	pthread_mutex_lock(&lock);
	while (runs) {
		struct registered_run *gone = runs;
		runs = gone->next;
		free(gone);
	}
	pthread_mutex_unlock(&lock);
}

/* ---- what may be replaced ---- */

/* Whether nobody but the caller can write to memory. The driver's own threads write to theirs. */
static bool is_alone_now(void)
{
	DIR *tasks = opendir("/proc/self/task");
	size_t n = 0;
	for (const struct dirent *task; tasks && (task = readdir(tasks));)
		n += task->d_name[0] != '.';
	if (tasks)
		closedir(tasks);
	return n > 0 && n <= 1 + queue_threads() + (cudbgAttachHandlerAvailable ? 1 : 0);
}

/* A thread that was joined may be there for a moment. */
static bool is_thread_alone(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	for (unsigned tries = 0; tries < 10; tries++) {
		if (is_alone_now())
			return true;
		nanosleep(&moment, NULL);
	}
	return false;
}

/* Whether all pages are memory of the program alone, or were replaced before, and no stack. */
static bool are_pages_plain(uint64_t start, uint64_t end)
{
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t at = start;
	while (maps && at < end && fgets(line, sizeof line, maps)) {
		uint64_t first, past;
		char rights[5];
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &first, &past, rights) != 3 ||
		    past <= at)
			continue;
		bool is_ours = strstr(line, "/memfd:cuda host memory") != NULL;
		bool is_private = strcmp(rights, "rw-p") == 0 && !strstr(line, "[stack");
		if (first > at || (!is_private && !is_ours))
			break;
		at = past;
	}
	if (maps)
		fclose(maps);
	return at >= end;
}

/* ---- pages, under lock ---- */

/* Whole pages, so that also what sanitizers keep between allocations is copied: they must not look.
 */
__attribute__((no_sanitize("address", "thread"))) static void
copy_pages(volatile uint64_t *to, const volatile uint64_t *from, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes / sizeof *to; i++)
		to[i] = from[i];
}

/* Nothing of the program may run between the copy and the change of pages, nor may these be those
 * that the copy itself uses. */
static bool replace_pages(int fd, uint64_t start, size_t n)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	void *to = (void *)(uintptr_t)start;
	void *copy = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	bool ok = copy != MAP_FAILED;
	if (ok) {
		copy_pages(copy, to, n);
		ok = mremap(copy, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to;
		if (!ok)
			munmap(copy, n);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ok;
}

static CUresult add_registered_pages(uint64_t start, uint64_t end)
{
	uint64_t word[WIRE_WORDS] = { start, end - start };
	struct registered_run *run = malloc(sizeof *run);
	int fd = run ? memory_make_file(end - start) : -1;
	CUresult result = fd >= 0 && replace_pages(fd, start, end - start)
				  ? CUDA_SUCCESS
				  : CUDA_ERROR_OUT_OF_MEMORY;
	if (result == CUDA_SUCCESS)
		result = driver_call(WIRE_SHARE, word, NULL, 0, fd, NULL, NULL);
	if (fd >= 0)
		close(fd);
	if (result != CUDA_SUCCESS) {
		free(run);
		return result;
	}
	*run = (struct registered_run){ runs, start, end, 0 };
	runs = run;
	return CUDA_SUCCESS;
}

/* The end of pages from an address on that are not shared; the address itself if it is. */
static uint64_t gap_end(uint64_t at, uint64_t end)
{
	for (const struct registered_run *run = runs; run; run = run->next) {
		if (run->start <= at && at < run->end)
			return at;
		if (run->start > at && run->start < end)
			end = run->start;
	}
	return end;
}

static uint64_t registered_run_end(uint64_t at)
{
	for (const struct registered_run *run = runs; run; run = run->next)
		if (run->start <= at && at < run->end)
			return run->end;
	return at + PAGE;
}

static CUresult share_pages(uint64_t start, uint64_t end)
{
	CUresult result = CUDA_SUCCESS;
	for (uint64_t at = start; at < end && result == CUDA_SUCCESS;) {
		uint64_t gap = gap_end(at, end);
		if (gap > at)
			result = add_registered_pages(at, gap);
		at = gap > at ? gap : registered_run_end(at);
	}
	return result;
}

/* Counts a registration in its pages, or counts it no more. */
static CUresult count_registration(uint64_t start, uint64_t end, bool is_added)
{
	CUresult result = CUDA_SUCCESS;
	for (struct registered_run **at = &runs; *at;) {
		struct registered_run *run = *at;
		if (run->end > start && run->start < end)
			run->refs += is_added ? 1u : -1u;
		if (run->refs > 0) {
			at = &run->next;
			continue;
		}
		uint64_t word[WIRE_WORDS] = { run->start };
		result = driver_call(WIRE_FREE, word, NULL, 0, -1, NULL, NULL);
		*at = run->next;
		free(run);
	}
	return result;
}

/* ---- the program's calls ---- */

static uint64_t page_of(uint64_t address)
{
	return address / PAGE * PAGE;
}

CU_API(cuMemHostRegister_v2)(void *host, size_t n_bytes, unsigned flags)
{
	const struct driver_range range = { .start = (uintptr_t)host,
					    .n_bytes = n_bytes,
					    .kind = RANGE_HOST,
					    .flags = flags,
					    .is_variable = true,
					    .context = driver_context() };
	uint64_t start = page_of(range.start), end = page_of(range.start + n_bytes + PAGE - 1);
	struct driver_range known;
	CUresult result = host && n_bytes > 0 && n_bytes < SIZE_MAX / 2 && flags <= ALL_FLAGS
				  ? driver_check()
				  : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS &&
	    (range_find(range.start, &known) || range_find(range.start + n_bytes - 1, &known)))
		result = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	if (result == CUDA_SUCCESS)
		result = queue_drain();
	if (result == CUDA_SUCCESS &&
	    (flags & IO_MEMORY || !is_thread_alone() || !are_pages_plain(start, end)))
		result = CUDA_ERROR_NOT_SUPPORTED;
	if (result != CUDA_SUCCESS)
		DONE(result);
	pthread_mutex_lock(&lock);
	result = share_pages(start, end);
	if (result == CUDA_SUCCESS && !range_add(&range))
		result = CUDA_ERROR_OUT_OF_MEMORY;
	CUresult counted = count_registration(start, end, true); /* also what was shared in vain */
	if (result != CUDA_SUCCESS)
		counted = count_registration(start, end, false);
	pthread_mutex_unlock(&lock);
	DONE(result == CUDA_SUCCESS ? counted : result);
}

CU_API(cuMemHostUnregister)(void *host)
{
	struct driver_range range;
	uint64_t at = (uintptr_t)host;
	CUresult result = host ? driver_check() : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS && (!range_find(at, &range) || range.start != at ||
				       range.kind != RANGE_HOST || !range.is_variable))
		result = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	if (result == CUDA_SUCCESS)
		result = queue_drain();
	if (result != CUDA_SUCCESS)
		DONE(result);
	(void)range_remove(at, &range);
	pthread_mutex_lock(&lock); /* the program's pages stay what they are */
	result = count_registration(page_of(at), page_of(at + range.n_bytes + PAGE - 1), false);
	pthread_mutex_unlock(&lock);
	DONE(result);
}
