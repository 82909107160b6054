/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/worker.h"

#include <errno.h>

enum { MANY = 1000 };

/* What ran: the first byte of each piece. The piece of this value fails. */
struct log {
	uint8_t seen[MANY];
	size_t n;
	int bad;
};

static bool note(void *user, const uint8_t *bytes, size_t n)
{
	struct log *log = user;
	assert(n == 1 && log->n < MANY);
	if (*bytes == log->bad) {
		errno = ENOSPC;
		return false;
	}
	log->seen[log->n++] = *bytes;
	return true;
}

/* A buffer is used again as soon as a wait says that it is free, as base/outfile.c does. */
static void pieces_are_done_in_order_and_once(void **state)
{
	(void)state;
	struct log log = { .bad = -1 };
	struct wsi_worker worker;
	uint8_t ring[WSI_WORKER_PIECES];
	wsi_worker_init(&worker, note, &log);
	for (unsigned i = 0; i < MANY; i++) {
		assert_true(wsi_worker_wait(&worker, WSI_WORKER_PIECES - 1));
		ring[i % WSI_WORKER_PIECES] = (uint8_t)i;
		wsi_worker_give(&worker, &ring[i % WSI_WORKER_PIECES], 1);
	}
	assert_true(wsi_worker_wait(&worker, 0));
	assert_int_equal(log.n, MANY);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(log.seen[i], (uint8_t)i);
	wsi_worker_fini(&worker);
}

static void nothing_is_done_after_a_failure(void **state)
{
	(void)state;
	struct log log = { .bad = 2 };
	struct wsi_worker worker;
	const uint8_t bytes[WSI_WORKER_PIECES] = { 0, 1, 2, 3 };
	wsi_worker_init(&worker, note, &log);
	for (unsigned i = 0; i < WSI_WORKER_PIECES; i++)
		wsi_worker_give(&worker, &bytes[i], 1);
	assert_false(wsi_worker_wait(&worker, 0));
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(log.n, 2);
	assert_false(wsi_worker_wait(&worker, WSI_WORKER_PIECES - 1));
	wsi_worker_fini(&worker);
}

static void all_memory_is_freed(void **state)
{
	(void)state;
	assert_frees_all(nothing_is_done_after_a_failure);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_done_in_order_and_once),
		cmocka_unit_test(nothing_is_done_after_a_failure),
		cmocka_unit_test(all_memory_is_freed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
