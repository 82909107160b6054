/* SPDX-License-Identifier: Apache-2.0 */
/* Two recorded calls, compared: what counts as the same call, and how each difference is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "trace/traced.h"

static char told[512]; /* "WHAT: A, B" of each, a line each */
static struct wsi_handles handles;

static void tell(void *user, const char *what, const char *a, const char *b)
{
	size_t n = strlen(told);
	(void)user;
	snprintf(told + n, sizeof told - n, "%s: %s, %s\n", what ? what : "result", a, b);
}

static int forget(void **state)
{
	(void)state;
	wsi_handles_fini(&handles);
	return 0;
}

static unsigned slot_of(const char *name)
{
	for (unsigned i = 0; i < WSI_API_SLOTS; i++)
		if (strcmp(wsi_api_functions[i].name, name) == 0)
			return i;
	fail_msg("no function %s", name);
	return 0;
}

/* The first output of a function. */
static unsigned output_of(unsigned slot)
{
	unsigned i = 0;
	while (!wsi_api_comes_out(&wsi_api_functions[slot].args[i]))
		i++;
	return i;
}

static struct wsi_traced_value value_of(const void *bytes, size_t n)
{
	return (struct wsi_traced_value){
		.kind = WSI_TRACED_BYTES, .bytes = bytes, .n_shown = n, .n = n
	};
}

/* Compares calls with these first outputs; `want` is what is told. */
static void expect(const char *function, struct wsi_traced_value a, struct wsi_traced_value b,
		   const char *want)
{
	static struct wsi_traced one, other;
	unsigned slot = slot_of(function);
	memset(&one, 0, sizeof one);
	memset(&other, 0, sizeof other);
	one.slot = other.slot = slot;
	one.out[output_of(slot)] = a;
	other.out[output_of(slot)] = b;
	told[0] = '\0';
	bool same = wsi_traced_compare(&one, &other, &handles, tell, NULL);
	assert_string_equal(told, want);
	assert_int_equal(same, want[0] == '\0');
}

static void bytes_that_differ_are_shown_from_their_stretch_on(void **state)
{
	uint8_t a[40], b[40];
	(void)state;
	for (unsigned i = 0; i < sizeof a; i++)
		a[i] = (uint8_t)i;
	memcpy(b, a, sizeof b);
	expect("readLocalMemory", value_of(a, 40), value_of(b, 40), "");
	b[19] = 0xff;
	expect("readLocalMemory", value_of(a, 40), value_of(b, 40),
	       "buf[16]: 101112131415161718191a1b1c1d1e1f, 101112ff1415161718191a1b1c1d1e1f\n");
	b[19] = 19;
	b[0] = 1;
	expect("readLocalMemory", value_of(a, 40), value_of(b, 40),
	       "buf[0]: 000102030405060708090a0b0c0d0e0f, 010102030405060708090a0b0c0d0e0f\n");
	b[0] = 0;
	b[39] = 0; /* the last stretch is what is left */
	expect("readLocalMemory", value_of(a, 37), value_of(b, 37), "");
	expect("readLocalMemory", value_of(a, 40), value_of(b, 39), "buf: 40 bytes, 39 bytes\n");
}

static void what_is_not_shown_is_compared_by_its_hash(void **state)
{
	uint8_t same[8] = { 1, 2, 3 };
	struct wsi_traced_value a = value_of(same, 8), b = value_of(same, 8);
	(void)state;
	a.n = b.n = 5000;
	a.hash = 0x11;
	b.hash = 0x12;
	expect("readLocalMemory", a, b, "buf: hash 0000000000000011, hash 0000000000000012\n");
	b.hash = 0x11;
	expect("readLocalMemory", a, b, "");
	b.n = 4999;
	expect("readLocalMemory", a, b, "buf: 5000 bytes, 4999 bytes\n");
}

static void texts_and_fields_are_named(void **state)
{
	const uint32_t x[3] = { 1, 2, 3 }, y[3] = { 1, 9, 3 };
	const struct wsi_traced_value nothing = { .kind = WSI_TRACED_NOTHING };
	(void)state;
	expect("getDeviceName", value_of("H100", 4), value_of("H100", 4), "");
	expect("getDeviceName", value_of("H100", 4), value_of("H200", 4),
	       "buf: \"H100\", \"H200\"\n");
	expect("getDeviceName", value_of("H100", 4), value_of("H100", 3),
	       "buf: \"H100\", \"H10\"\n");
	expect("getDeviceName", value_of("H100", 4), nothing, "buf: \"H100\", nothing\n");
	expect("getDeviceName", nothing, value_of("H100", 4), "buf: nothing, \"H100\"\n");
	expect("getDeviceName", nothing, nothing, "");
	expect("readThreadIdx", value_of(x, 12), value_of(x, 12), "");
	expect("readThreadIdx", value_of(x, 12), value_of(y, 12), "threadIdx.y: 2, 9\n");
}

/* Those of arrays are named by their place. */
static void elements_that_differ_are_named(void **state)
{
	const uint32_t x[3] = { 1, 2, 3 }, y[3] = { 1, 9, 4 };
	(void)state;
	expect("readRegisterRange", value_of(x, 12), value_of(x, 12), "");
	expect("readRegisterRange", value_of(x, 12), value_of(y, 12),
	       "registers[1]: 2, 9\nregisters[2]: 3, 4\n");
}

/* What each run numbers for itself is the same as long as it stays paired; 0 is always 0. */
static void handles_are_paired(void **state)
{
	const uint64_t five = 5, seven = 7, eight = 8, zero = 0;
	(void)state;
	expect("insertBreakpoint", value_of(&five, 8), value_of(&seven, 8), "");
	expect("insertBreakpoint", value_of(&five, 8), value_of(&seven, 8), "");
	expect("insertBreakpoint", value_of(&five, 8), value_of(&eight, 8), "handle: 0x5, 0x8\n");
	expect("insertBreakpoint", value_of(&zero, 8), value_of(&zero, 8), "");
	expect("insertBreakpoint", value_of(&zero, 8), value_of(&eight, 8), "handle: 0x0, 0x8\n");
	expect("insertBreakpoint", value_of(&eight, 8), value_of(&zero, 8), "handle: 0x8, 0x0\n");
}

static void results_come_first(void **state)
{
	static struct wsi_traced a, b;
	(void)state;
	told[0] = '\0';
	a.slot = b.slot = slot_of("readPC");
	b.result = CUDBG_ERROR_INVALID_LANE;
	assert_false(wsi_traced_compare(&a, &b, &handles, tell, NULL));
	assert_string_equal(told, "result: CUDBG_SUCCESS, CUDBG_ERROR_INVALID_LANE\n");
}

/* One function with the same arguments: numbers, bytes, how many of them, and null pointers. */
static void calls_are_the_same_with_the_same_inputs(void **state)
{
	static struct wsi_traced a, b;
	const uint8_t bytes[] = { 1, 2, 3 }, others[] = { 1, 2, 4 };
	(void)state;
	a.slot = slot_of("writeLocalMemory");
	const struct wsi_api_fn *fn = &wsi_api_functions[a.slot];
	unsigned buffer = 0;
	while (fn->args[buffer].way != WSI_API_IN)
		buffer++;
	for (unsigned i = 0; i < fn->n_args; i++)
		a.in[i] = (struct wsi_traced_value){ .kind = WSI_TRACED_NUMBER, .number = i };
	a.in[buffer] = value_of(bytes, 3);
	b = a;
	assert_true(wsi_traced_same_inputs(&a, &b, &handles));
	for (unsigned i = 0; i < fn->n_args; i++) {
		b = a;
		if (i == buffer)
			b.in[i].bytes = others;
		else
			b.in[i].number++;
		assert_false(wsi_traced_same_inputs(&a, &b, &handles));
	}
	for (int how = 0; how < 5; how++) {
		b = a;
		if (how == 0)
			b.in[buffer].n_shown = 2;
		else if (how == 1)
			b.in[buffer].n = 4;
		else if (how == 2)
			b.in[buffer].hash = 1;
		else if (how == 3)
			b.in[buffer].kind = WSI_TRACED_NULL;
		else
			b.slot = slot_of("readLocalMemory");
		assert_false(wsi_traced_same_inputs(&a, &b, &handles));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(bytes_that_differ_are_shown_from_their_stretch_on,
					  forget),
		cmocka_unit_test_teardown(what_is_not_shown_is_compared_by_its_hash, forget),
		cmocka_unit_test_teardown(texts_and_fields_are_named, forget),
		cmocka_unit_test_teardown(elements_that_differ_are_named, forget),
		cmocka_unit_test_teardown(handles_are_paired, forget),
		cmocka_unit_test_teardown(results_come_first, forget),
		cmocka_unit_test_teardown(calls_are_the_same_with_the_same_inputs, forget),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
