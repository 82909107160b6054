/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of PTX in the registers of the machine: every entry of the map of a real image. */
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/cubin.h>

enum { MAX_ENTRIES = 4096 };

static struct driver_entry {
	const char *function, *reg;
	uint32_t part, first, last;
	uint8_t *place; /* in the image */
} entries[MAX_ENTRIES];

static uint32_t n_entries;

static uint64_t number(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << 8 * i;
	return value;
}

/* A section of an image that is known to be whole. */
static uint8_t *section(uint8_t *image, const char *name, uint64_t *ret_size)
{
	const uint8_t *headers = image + number(image + 40, 8);
	const uint8_t *names = image + number(headers + 64 * number(image + 62, 2) + 24, 8);
	for (uint64_t i = 0; i < number(image + 60, 2); i++) {
		const uint8_t *header = headers + 64 * i;
		*ret_size = number(header + 32, 8);
		if (strcmp((const char *)names + number(header, 4), name) == 0)
			return image + number(header + 24, 8);
	}
	return NULL;
}

static const char *name_take(uint8_t **at)
{
	const char *name = (const char *)*at;
	*at += strlen(name) + 1;
	return name;
}

static uint32_t word_take(uint8_t **at)
{
	*at += 4;
	return (uint32_t)number(*at - 4, 4);
}

/* The map, read once more, and not by the code that is tested. */
static void read_map(uint8_t *image)
{
	uint64_t size = 0;
	uint8_t *at = section(image, ".nv_debug_info_reg_sass", &size);
	assert_non_null(at);
	n_entries = 0;
	for (uint8_t *end = at + size; at < end;) {
		const char *function = name_take(&at);
		for (uint32_t left = word_take(&at); left > 0; left--) {
			struct driver_entry *entry = &entries[n_entries++];
			assert_in_range(n_entries, 1, MAX_ENTRIES - 1);
			entry->function = function;
			entry->part = word_take(&at);
			entry->reg = name_take(&at);
			entry->place = at;
			at += 4;
			entry->first = word_take(&at);
			entry->last = word_take(&at);
		}
	}
}

/* What the map says of a register at a byte of its function; 0: not all of it is live. */
static uint32_t expected(const struct driver_entry *of, uint32_t rel_pc, uint32_t ret_numbers[4])
{
	bool have[4] = { false };
	uint32_t n_parts = 0, n = 0;
	for (uint32_t i = 0; i < n_entries; i++) {
		const struct driver_entry *entry = &entries[i];
		if (strcmp(entry->function, of->function) || strcmp(entry->reg, of->reg))
			continue;
		n_parts = entry->part + 1 > n_parts ? entry->part + 1 : n_parts;
		if (rel_pc < entry->first || rel_pc > entry->last || have[entry->part])
			continue;
		have[entry->part] = true;
		ret_numbers[entry->part] = (uint32_t)number(entry->place, 4);
		n++;
	}
	return n == n_parts ? n : 0;
}

/* The numbers of how many registers were right. */
static uint32_t check_place(uint64_t entry_pc, const struct driver_entry *of, uint32_t rel_pc)
{
	uint32_t want[4], got[5] = { 7, 7, 7, 7, 7 }, n = 9, n_want = expected(of, rel_pc, want);
	CUDBGRegClass class = REG_CLASS_REG_CC;
	char reg[64];
	snprintf(reg, sizeof reg, "%s", of->reg);
	uint64_t pc = entry_pc + rel_pc;
	assert_int_equal(CALL(getPhysicalRegister30, pc, reg, got, 4, &n, &class), CUDBG_SUCCESS);
	assert_int_equal(n, n_want);
	assert_memory_equal(got, want, n * sizeof *got);
	assert_int_equal(class, n ? want[0] >> 24 : REG_CLASS_INVALID);
	assert_int_equal(got[n], 7);
	if (n) {
		got[0] = 7;
		assert_int_equal(
			CALL(getPhysicalRegister40, 0, 1, 0, pc, reg, got, n - 1, &n, &class),
			CUDBG_ERROR_BUFFER_TOO_SMALL);
		assert_int_equal(CALL(getPhysicalRegister30, pc, reg, got, n - 1, &n, &class),
				 CUDBG_ERROR_BUFFER_TOO_SMALL);
		assert_int_equal(got[0], 7);
	}
	assert_int_equal(CALL(getPhysicalRegister40, 0, 1, 0, pc, reg, got, n, &n, &class),
			 CUDBG_SUCCESS);
	assert_memory_equal(got, want, n * sizeof *got);
	return n;
}

static uint64_t entry_pc_of(const char *function)
{
	char name[200];
	bool found;
	uintptr_t pc;
	snprintf(name, sizeof name, "%s", function);
	assert_int_equal(CALL(lookupDeviceCodeSymbol, name, &found, &pc), CUDBG_SUCCESS);
	return found ? pc : 0;
}

/* Some pieces become spilled, uniform, predicates: what no compiler at hand writes into this. */
static void change_classes(void)
{
	static const uint8_t classes[] = {
		REG_CLASS_MEM_LOCAL, REG_CLASS_LMEM_REG_OFFSET, REG_CLASS_UREG_PRED,
		REG_CLASS_UREG_HALF, REG_CLASS_UREG_FULL,       REG_CLASS_REG_PRED,
	};
	for (uint32_t i = 0; i < n_entries; i += 3)
		entries[i].place[3] = classes[i / 3 % sizeof classes];
}

/* The last byte of a function that the map speaks of. */
static uint32_t last_of(const char *function)
{
	uint32_t last = 0;
	for (uint32_t i = 0; i < n_entries; i++)
		if (entries[i].last > last && strcmp(entries[i].function, function) == 0)
			last = entries[i].last;
	return last;
}

static uint32_t check_all(uint32_t ret_by_size[5])
{
	uint32_t n = 0;
	memset(ret_by_size, 0, 5 * sizeof *ret_by_size);
	for (uint32_t i = 0; i < n_entries; i++) {
		const struct driver_entry *entry = &entries[i];
		uint64_t pc = entry_pc_of(entry->function);
		if (!pc)
			continue;
		ret_by_size[check_place(pc, entry, entry->first)]++;
		ret_by_size[check_place(pc, entry, entry->last)]++;
		if (entry->last + 16 <= last_of(entry->function)) /* often dead by then */
			ret_by_size[check_place(pc, entry, entry->last + 16)]++;
		n++;
	}
	return n;
}

void registers_of_ptx_are_where_the_map_says(void **state)
{
	(void)state;
	struct ws_module module;
	struct ws_target *target = open_real("WS_TEST_DEBUG_DUMP", &module);
	uint32_t by_size[5], out[4], n;
	CUDBGRegClass class;
	uint8_t *copy = wsi_zalloc(module.relocated.len);
	assert_non_null(copy);
	memcpy(copy, module.relocated.ptr, module.relocated.len);
	read_map(copy);
	change_classes();
	start(true);
	fake.module[0].relocated = (struct ws_span){ copy, module.relocated.len, 0 };
	assert_int_equal(CALL0(initialize), CUDBG_SUCCESS);
	assert_in_range(check_all(by_size), 140, MAX_ENTRIES);
	assert_true(by_size[0] > 50 && by_size[1] > 50 && by_size[2] > 50);
	uint64_t pc = entry_pc_of(entries[0].function);
	assert_int_equal(CALL(getPhysicalRegister30, pc, "%nobody", out, 4, &n, &class),
			 CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(getPhysicalRegister30, 16, "%r1", out, 4, &n, &class),
			 CUDBG_ERROR_UNKNOWN_FUNCTION);
	assert_int_equal(CALL(getPhysicalRegister40, 0, 1, 0, 16, "%r1", out, 4, &n, &class),
			 CUDBG_ERROR_UNKNOWN_FUNCTION);
	stop();
	wsi_free(copy);
	ws_target_close(target);
}
