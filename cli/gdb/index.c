/* SPDX-License-Identifier: Apache-2.0 */
/* Which number a name has: a table of hashes, so that nothing is searched through. */
#include "gdb/gdb.h"

#include <stdlib.h>
#include <string.h>

static uint64_t name_hash_of(const char *name, size_t len)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Where a name is, or would be. */
static struct gdb_index_slot *debug_slot_of(const struct gdb_index *index, const char *name,
					    size_t len)
{
	size_t at = name_hash_of(name, len) & (index->cap - 1);
	while (index->slots[at].name && (strncmp(index->slots[at].name, name, len) != 0 ||
					 index->slots[at].name[len] != '\0'))
		at = (at + 1) & (index->cap - 1);
	return &index->slots[at];
}

bool gdb_index_find(const struct gdb_index *index, const char *name, size_t len, size_t *ret_number)
{
	const struct gdb_index_slot *slot = index->cap ? debug_slot_of(index, name, len) : NULL;
	if (!slot || !slot->name)
		return false;
	*ret_number = slot->number;
	return true;
}

void gdb_index_add(struct gdb_index *index, const char *name, size_t number)
{
	if (2 * index->n >= index->cap) {
		struct gdb_index grown = { .cap = index->cap ? 2 * index->cap : 64 };
		grown.slots = cli_alloc(grown.cap, sizeof *grown.slots);
		for (size_t i = 0; i < index->cap; i++)
			if (index->slots[i].name)
				*debug_slot_of(&grown, index->slots[i].name,
					       strlen(index->slots[i].name)) = index->slots[i];
		free(index->slots);
		index->slots = grown.slots;
		index->cap = grown.cap;
	}
	*debug_slot_of(index, name, strlen(name)) = (struct gdb_index_slot){ name, number };
	index->n++;
}

void gdb_index_fini(struct gdb_index *index)
{
	free(index->slots);
}
