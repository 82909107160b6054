/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operations of the instruction table the software GPU never executes: random words of every
 * row, decoded as a device does. docs/sim-operations.md must list exactly those, each with the
 * architectures that have it.
 * Further which modifiers the operations that src/sim itself executes run with: LIST says of each
 * that somebody looked at what it means there. usage: test_operations PAGE LIST
 */
#include "../unit/unit.h"
#include "sass/table.h"
#include "sim/exec/exec.h"
#include "words.h"

#include <stdio.h>
#include <string.h>

static const struct wsi_device devices[] = {
#include "devices.inc"
};

static const char *page_path, *list_path;

enum { N_DEVICES = WSI_COUNT(devices), OP12S = 1 << 12, OPERATIONS = 512, ROUNDS = 4000 };
enum { WORDS = 300, MODIFIERS = 1024 };

enum { NOT_THERE, NEVER_RUNS, RUNS };

static uint8_t found[OPERATIONS][N_DEVICES];

/* Often: registers that are pairs and fours, no offset, predicates that are always true, few
 * modifiers. */
static void make_word(unsigned op12, uint64_t word[2], uint64_t *seed)
{
	static const uint8_t places[] = { 16, 24, 32, 64 }, more[] = { 40, 48 };
	uint64_t x = random_number(seed);
	for (unsigned i = 0; i < 2; i++) {
		word[i] = random_number(seed) & random_number(seed);
		if (x >> i & 1)
			word[i] &= random_number(seed) & random_number(seed);
	}
	for (unsigned i = 0; i < WSI_COUNT(places); i++)
		if (x >> (8 + 2 * i) & 3)
			set_bits(word, places[i], 8,
				 x >> (16 + 2 * i) & 3 ? (x >> (24 + 4 * i) & 15) * 4 : 255);
	for (unsigned i = 0; i < WSI_COUNT(more); i++)
		if (x >> (42 + i) & 1)
			set_bits(word, more[i], 8, 255);
	if (x >> 44 & 1)
		set_bits(word, 40, 24, 0); /* no offset */
	if (x >> 40 & 1)
		set_bits(word, 81, 10, 0x3ff);
	if (x >> 41 & 1)
		set_bits(word, 87, 4, 7);
	set_bits(word, 0, 12, op12);
	set_bits(word, 12, 4, 7);
	set_bits(word, 105, 23, 0);
}

static wsi_handler *handler_of(const struct ws_sim *sim, const uint64_t word[2],
			       struct ws_insn *ret_insn)
{
	uint8_t bytes[WS_SASS_BYTES];
	struct wsi_op op;
	memcpy(bytes, word, sizeof bytes);
	struct wsi_text text = { .start = WSI_CODE_BASE, .size = sizeof bytes, .bytes = bytes };
	wsi_sim_text_renew(sim, &text, 0, &op);
	*ret_insn = op.insn;
	return op.run;
}

static bool is_executed(const struct ws_sim *sim, const uint64_t word[2], unsigned operation)
{
	struct ws_insn insn;
	wsi_handler *run = handler_of(sim, word, &insn);
	return insn.operation == operation && run != wsi_run_unimplemented &&
	       run != wsi_run_illegal;
}

static void try_words(unsigned device, unsigned op12, uint64_t *seed)
{
	struct ws_sim sim = { .device = &devices[device] };
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t word[2];
		uint8_t bytes[WS_SASS_BYTES];
		struct ws_insn insn;
		make_word(op12, word, seed);
		memcpy(bytes, word, sizeof bytes);
		ws_sass_decode(devices[device].sm, bytes, &insn);
		if (!insn.known || found[insn.operation][device] != NEVER_RUNS)
			continue;
		word[0] ^= insn.unknown[0]; /* as usual */
		word[1] ^= insn.unknown[1];
		if (is_executed(&sim, word, insn.operation))
			found[insn.operation][device] = RUNS;
	}
}

static void measure(void)
{
	uint64_t seed = 17;
	assert_true(wsi_isa_n_ops <= OPERATIONS);
	for (unsigned d = 0; d < N_DEVICES; d++) {
		uint16_t arch = wsi_isa_arch_bit(devices[d].sm);
		for (size_t i = 0; i < wsi_isa_n_rows; i++)
			if (wsi_isa_rows[i].archs & arch)
				found[wsi_isa_rows[i].operation][d] = NEVER_RUNS;
		for (unsigned op12 = 0; op12 < OP12S; op12++)
			for (unsigned i = wsi_isa_first[op12]; i < wsi_isa_first[op12 + 1]; i++) {
				bool open = found[wsi_isa_rows[i].operation][d] == NEVER_RUNS;
				if (open && wsi_isa_rows[i].archs & arch)
					try_words(d, op12, &seed);
			}
	}
}

/* "| NAME | 75 80 ... |", as the page begins its rows. */
static void row_of(unsigned operation, char *buffer, size_t size)
{
	int n = snprintf(buffer, size, "| %s |", ws_sass_operation_name(operation));
	for (unsigned d = 0; d < N_DEVICES; d++)
		if (found[operation][d] == NEVER_RUNS)
			n += snprintf(buffer + n, size - (size_t)n, " %u", devices[d].sm);
	snprintf(buffer + n, size - (size_t)n, " |");
}

static void the_page_lists_what_never_runs(void **state)
{
	(void)state;
	static char page[1 << 16];
	char row[256], copy[300];
	unsigned wrong = 0, listed = 0, wanted = 0;
	FILE *file = fopen(page_path, "rb");
	assert_non_null(file);
	size_t n = fread(page, 1, sizeof page - 1, file);
	fclose(file);
	page[n] = 0;
	measure();
	for (unsigned o = 0; o < wsi_isa_n_ops; o++) {
		bool never = false;
		for (unsigned d = 0; d < N_DEVICES; d++)
			never |= found[o][d] == NEVER_RUNS;
		row_of(o, row, sizeof row);
		snprintf(copy, sizeof copy, "\n| %s |", ws_sass_operation_name(o));
		bool in_page = strstr(page, copy) != NULL;
		snprintf(copy, sizeof copy, "\n%s", row);
		if (never != in_page || (never && !strstr(page, copy))) {
			print_message("# %s: %s\n", never ? "the page lacks" : "it runs", row);
			wrong++;
		}
		wanted += never;
	}
	for (const char *at = page; (at = strstr(at, "\n| ")) != NULL; at++)
		listed += at[3] >= 'A' && at[3] <= 'Z';
	assert_int_equal(wrong, 0);
	assert_int_equal(listed, wanted);
}

/* ---- modifiers ---- */

static bool runs_with[OPERATIONS][MODIFIERS];

static void try_modifiers(unsigned device, unsigned op12, uint64_t *seed)
{
	struct ws_sim sim = { .device = &devices[device] };
	for (unsigned i = 0; i < WORDS; i++) {
		uint64_t word[2];
		struct ws_insn insn;
		enum ws_modifier mods[WS_SASS_MAX_MODIFIERS];
		make_word(op12, word, seed);
		handler_of(&sim, word, &insn);
		word[0] ^= insn.unknown[0];
		word[1] ^= insn.unknown[1];
		wsi_handler *run = handler_of(&sim, word, &insn);
		if (!insn.known || run == wsi_run_values || run == wsi_run_nothing ||
		    run == wsi_run_unimplemented || run == wsi_run_illegal)
			continue;
		size_t n = ws_sass_modifiers(&insn, mods, WSI_COUNT(mods));
		for (size_t k = 0; k < n; k++)
			if ((unsigned)mods[k] < MODIFIERS)
				runs_with[insn.operation][mods[k]] = true;
	}
}

/* The line of an operation in the list: "\nNAME A B C \n", or NULL. */
static bool is_listed(const char *list, const char *operation, const char *modifier)
{
	char start[100], word[100];
	snprintf(start, sizeof start, "\n%s ", operation);
	snprintf(word, sizeof word, " %s", modifier);
	const char *at = strstr(list, start), *end = at ? strchr(at + 1, '\n') : NULL;
	while (at && (at = strstr(at + 1, word)) != NULL && at < end) {
		char after = at[strlen(word)];
		if (after == ' ' || after == '\n')
			return true;
	}
	return false;
}

static void modifiers_that_run_have_been_looked_at(void **state)
{
	(void)state;
	static char list[1 << 15];
	uint64_t seed = 23;
	unsigned wrong = 0;
	FILE *file = fopen(list_path, "rb");
	assert_non_null(file);
	size_t n = fread(list, 1, sizeof list - 1, file);
	fclose(file);
	list[n] = 0;
	assert_true(wsi_isa_n_modifiers <= MODIFIERS);
	for (unsigned d = 0; d < N_DEVICES; d++)
		for (unsigned op12 = 0; op12 < OP12S; op12++)
			if (wsi_isa_first[op12] != wsi_isa_first[op12 + 1])
				try_modifiers(d, op12, &seed);
	for (unsigned o = 0; o < wsi_isa_n_ops; o++) {
		for (unsigned m = 1; m < wsi_isa_n_modifiers; m++) {
			const char *name = ws_sass_modifier_name((enum ws_modifier)m);
			if (!runs_with[o][m] || is_listed(list, ws_sass_operation_name(o), name))
				continue;
			print_message("# %s runs with .%s\n", ws_sass_operation_name(o), name);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_page_lists_what_never_runs),
					    cmocka_unit_test(
						    modifiers_that_run_have_been_looked_at) };
	page_path = argc > 1 ? argv[1] : "docs/sim-operations.md";
	list_path = argc > 2 ? argv[2] : "tests/sim/modifiers.txt";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
