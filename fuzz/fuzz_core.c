/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dump out of any bytes: it opens or is refused, and an open one answers everything, twice alike,
 * and in windows as in memory. Packed bytes are read in windows only.
 */
#include "../tests/dump/walk.h"
#include "fuzz.h"

struct input {
	const uint8_t *data;
	size_t size;
};

static size_t read_little(void *user, uint64_t off, void *buffer, size_t n)
{
	const struct input *input = user;
	FUZZ_CHECK(n > 0 && off <= input->size && n <= input->size - off);
	n = n < 1000 ? n : 1000;
	memcpy(buffer, input->data + off, n);
	return n;
}

static enum ws_status open_windows(struct input *input, struct ws_target **ret_target,
				   struct ws_error *err)
{
	struct ws_core_options options = { .size = sizeof options,
					   .max_unpacked_bytes = 4u << 20,
					   .max_stored_bytes = 1 };
	struct ws_core_source source = { .size = sizeof source,
					 .n_bytes = input->size,
					 .read = read_little,
					 .user = input,
					 .window_bytes = 512 };
	return ws_core_open_source(&source, "fuzz", &options, ret_target, err);
}

int fuzz_target(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct ws_target *target = NULL, *windows = NULL;
	struct ws_error err = { 0 };
	enum ws_status in_windows = open_windows(&input, &windows, &err);
	FUZZ_CHECK((in_windows == WS_OK) == (windows != NULL));
	FUZZ_CHECK(in_windows == WS_OK || (err.status == in_windows && err.message[0]));
	enum ws_status st =
		ws_core_open_memory((struct ws_span){ data, size, 0 }, "fuzz", &target, &err);
	FUZZ_CHECK((st == WS_OK) == (target != NULL));
	FUZZ_CHECK(st == WS_OK || (err.status == st && err.message[0]));
	if (st == WS_OK) {
		uint64_t walked = core_walk(target);
		FUZZ_CHECK(in_windows == WS_OK && core_walk(windows) == walked);
		FUZZ_CHECK(core_walk(target) == walked);
		ws_target_close(target);
	} else if (windows) {
		(void)core_walk(windows);
	}
	if (windows)
		ws_target_close(windows);
	return 0;
}
