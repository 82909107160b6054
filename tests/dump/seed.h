/* SPDX-License-Identifier: Apache-2.0 */
/* The small dumps of fuzz/seeds/core (fuzz/make-core-seeds.py says what is in them), to be changed.
 */
#ifndef WS_TEST_SEED_H
#define WS_TEST_SEED_H

#include "../unit/unit.h"

#include "target/dump/dump.h"

/* Of a section header. */
enum { NAME = 0, TYPE = 4, ADDR = 16, OFFSET = 24, SIZE = 32, LINK = 40, INFO = 44, ENTSIZE = 56 };

static const char *seeds;

struct copy {
	uint8_t bytes[16384];
	size_t len;
};

static inline void load(struct copy *copy, const char *name)
{
	char path[4096];
	assert_true(wsi_format(path, "%s/%s", seeds, name));
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	copy->len = fread(copy->bytes, 1, sizeof copy->bytes, file);
	fclose(file);
	assert_in_range(copy->len, 64, sizeof copy->bytes - 1);
}

static inline struct ws_target *open_copy(const struct copy *copy)
{
	struct ws_target *target = NULL;
	struct ws_error err = { 0 };
	struct ws_span bytes = { copy->bytes, copy->len, 0 };
	if (ws_core_open_memory(bytes, "seed", &target, &err) != WS_OK)
		fail_msg("%s", err.message);
	return target;
}

/* Header field of the `nth` section of a kind. */
static inline uint8_t *header_field(struct copy *copy, enum wsi_kind kind, unsigned nth,
				    unsigned field)
{
	uint64_t shoff = wsi_load_u64(copy->bytes + 40);
	for (uint64_t at = shoff + 64; at + 64 <= copy->len; at += 64) {
		if (wsi_kind_of(wsi_load_u32(copy->bytes + at + 4)) == kind && nth-- == 0)
			return copy->bytes + at + field;
	}
	fail_msg("no such section");
	return NULL;
}

#endif
