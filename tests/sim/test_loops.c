/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What src/flow says that a loop waits for, against the software GPU: loops that read a word and
 * compare it, with every comparison, either side and sign, and through logic of predicates. A loop
 * must end just for the values of which flow says so.
 */
#include "device.h"

#include <inttypes.h>
#include <stdlib.h>

#include <warpscope/cubin.h>
#include <warpscope/flow.h>

enum { INSNS = 400 }; /* that a loop which ends never needs */

static const uint32_t values[] = { 0, 1, 2, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };
enum { N_VALUES = sizeof values / sizeof values[0] };

/* A loop as text. */
struct shape {
	const char *compare;    /* LT, ... */
	bool is_signed, turned; /* turned: the word that was read is the second source */
	bool number;            /* it is compared with a number, not with a register */
	bool negated;           /* of the branch */
	int lut;                /* of a PLOP3 behind the comparison; -1: there is none */
	unsigned rounds;        /* unrolled, if more than 1: the others leave if this one does */
};

/* The comparison of one round: of 64 bits, R4:R5 and R6:R7. */
static void write_wide(const struct shape *s, bool one, char *text, size_t size)
{
	const char *sign = s->is_signed ? "" : ".U32";
	const char *left = s->turned ? "R6" : "R4", *right = s->turned ? "R4" : "R6";
	if (one)
		snprintf(text, size, "ISETP.%s.%s64.AND P0, PT, %s, %s, PT\n", s->compare,
			 s->is_signed ? "S" : "U", left, right);
	else
		snprintf(text, size,
			 "ISETP.%s.U32.AND P0, PT, %s, %s, PT\n"
			 "ISETP.%s%s.AND.EX P0, PT, %s, %s, PT, P0\n",
			 s->compare, left, right, s->compare, sign, s->turned ? "R7" : "R5",
			 s->turned ? "R5" : "R7");
}

/* A loop over 64 bits; `last` round goes back, the ones before leave. */
static void write_wide_loop(const struct shape *s, const char *device, char *text, size_t size)
{
	char compare[200];
	write_wide(s, strncmp(device, "sm_12", 5) == 0, compare, sizeof compare);
	int n = snprintf(text, size,
			 ".arch %s\n.kernel k\n.param v 8\n.param w 8\n.regs 24\n.shared s 2048\n"
			 "LDC.64 R10, c[0x0][`(v)]\nLDC.64 R6, c[0x0][`(w)]\nMOV R9, RZ\n"
			 "STS.64 [R9+0x400], R10\nagain:\n",
			 device);
	for (unsigned i = 0; i < s->rounds && n > 0 && (size_t)n < size; i++)
		n += snprintf(text + n, size - (size_t)n,
			      "LDS.64 R4, [R9+0x400]\n%s@%sP0 BRA `(%s)\n", compare,
			      (i + 1 < s->rounds) == s->negated ? "" : "!",
			      i + 1 < s->rounds ? "out" : "again");
	snprintf(text + n, size - (size_t)n, "out:\nEXIT\n.end\n");
}

static void write_loop(const struct shape *s, const char *device, uint32_t with, char *text,
		       size_t size)
{
	char compare[80], logic[80] = "", other[16] = "R6";
	if (s->number)
		snprintf(other, sizeof other, "%s0x%x", with >> 31 ? "-" : "",
			 with >> 31 ? -with : with);
	snprintf(compare, sizeof compare, "ISETP.%s%s.AND P0, PT, %s, %s, PT", s->compare,
		 s->is_signed ? "" : ".U32", s->turned ? other : "R4", s->turned ? "R4" : other);
	if (s->lut >= 0)
		snprintf(logic, sizeof logic, "PLOP3.LUT P1, PT, P0, PT, PT, 0x%x, 0x0\n", s->lut);
	snprintf(text, size,
		 ".arch %s\n.kernel k\n.param v 4\n.param w 4\n.regs 24\n.shared s 2048\n"
		 "LDC R5, c[0x0][`(v)]\nLDC R6, c[0x0][`(w)]\nMOV R7, RZ\nSTS [R7+0x400], R5\n"
		 "again:\nLDS R4, [R7+0x400]\n%s\n%s@%sP%d BRA `(again)\nEXIT\n.end\n",
		 device, compare, logic, s->negated ? "!" : "", s->lut >= 0);
}

/* What flow says of the loop around the instruction that reads. */
static void ask_flow(struct ws_sim *sim, uint32_t module, unsigned sm,
		     struct ws_flow_loop *ret_loop)
{
	enum { READS = 4 };
	struct ws_span image, code;
	struct ws_cubin *cubin;
	const struct ws_function *function;
	struct ws_flow *flow;
	assert_int_equal(ws_sim_module_image(sim, module, &image, NULL), WS_OK);
	assert_int_equal(ws_cubin_open(image, &cubin, NULL), WS_OK);
	assert_int_equal(ws_cubin_find_function(cubin, (struct ws_str){ "k", 1 }, &function, NULL),
			 WS_OK);
	assert_int_equal(ws_cubin_code(cubin, function, &code, NULL), WS_OK);
	assert_int_equal(ws_flow_create(sm, code, 0, NULL, 0, &flow, NULL), WS_OK);
	assert_int_equal(ws_flow_loop(flow, (uint64_t)READS * WS_SASS_BYTES, ret_loop, NULL),
			 WS_OK);
	ws_flow_destroy(flow);
	ws_cubin_close(cubin);
}

static bool holds_wide(const struct ws_flow_loop *loop, uint64_t a, uint64_t b);

static bool holds(const struct ws_flow_loop *loop, uint32_t a, uint32_t b)
{
	return loop->test_signed ? holds_wide(loop, (uint64_t)(int32_t)a, (uint64_t)(int32_t)b)
				 : holds_wide(loop, a, b);
}

static bool holds_wide(const struct ws_flow_loop *loop, uint64_t a, uint64_t b)
{
	bool less = loop->test_signed ? (int64_t)a < (int64_t)b : a < b;
	switch (loop->test) {
	case WS_FLOW_TEST_EQUAL:
		return a == b;
	case WS_FLOW_TEST_OTHER:
		return a != b;
	case WS_FLOW_TEST_LESS:
		return less;
	case WS_FLOW_TEST_AT_MOST:
		return less || a == b;
	case WS_FLOW_TEST_MORE:
		return !less && a != b;
	case WS_FLOW_TEST_AT_LEAST:
		return !less;
	case WS_FLOW_TEST_NONE:
		break;
	}
	fail_msg("a test without a name");
	return false;
}

/* Whether the loop ends that reads one word and compares it with another. */
static bool ends_with(struct ws_sim *sim, uint32_t module, const void *const args[2])
{
	enum ws_sim_outcome outcome;
	struct ws_sim_launch launch = launch_of(module, (struct ws_dim3){ 1, 1, 1 }, args);
	launch.n_args = 2;
	assert_int_equal(ws_sim_launch(sim, &launch, NULL), WS_OK);
	assert_int_equal(ws_sim_run(sim, INSNS, &outcome, NULL), WS_OK);
	assert_true(outcome == WS_SIM_DONE || outcome == WS_SIM_LIMIT);
	return outcome == WS_SIM_DONE;
}

static bool ends(struct ws_sim *sim, uint32_t module, uint32_t word, uint32_t with)
{
	const void *const args[] = { &word, &with };
	return ends_with(sim, module, args);
}

/* Values that were compared; 0: flow names no test. */
static unsigned try_loop(const struct shape *s, const char *device, unsigned *tests)
{
	char text[700];
	unsigned n = 0;
	for (unsigned w = 0; w < N_VALUES; w++) {
		for (unsigned v = 0; v < N_VALUES; v++) {
			struct ws_flow_loop loop;
			struct ws_sim *sim = device_of(device);
			write_loop(s, device, values[w], text, sizeof text);
			uint32_t module = load_text(sim, text);
			ask_flow(sim, module, (unsigned)strtoul(device + 3, NULL, 10), &loop);
			tests[loop.test]++;
			bool known = loop.test != WS_FLOW_TEST_NONE;
			if (known) {
				if (s->number && values[w]) /* 0 may be RZ */
					assert_int_equal((uint32_t)loop.test_with[0].with.value,
							 values[w]);
				if (ends(sim, module, values[v], values[w]) !=
				    holds(&loop, values[v], values[w]))
					fail_msg("%s word 0x%x, 0x%x: flow says %s\n%s", device,
						 values[v], values[w], ws_flow_test_text(loop.test),
						 text);
				n++;
			}
			ws_sim_destroy(sim);
			if (!known)
				return 0;
		}
	}
	return n;
}

static void a_loop_ends_for_the_values_that_flow_says(void **state)
{
	(void)state;
	static const char *const devices[] = { "sm_75", "sm_80", "sm_90a", "sm_120a" };
	static const char *const compares[] = { "LT", "EQ", "LE", "GT", "NE", "GE" };
	/* P0; not P0; true; false; and two that are true of P0 with PT */
	static const int luts[] = { -1, 0xf0, 0x0f, 0xff, 0x00, 0x80, 0x2a };
	unsigned tests[WS_FLOW_TEST_AT_LEAST + 1] = { 0 }, shapes = 0, known = 0;
	for (unsigned i = 0; i < 6 * 2 * 2 * 2 * 2 * 7; i++) {
		unsigned rest = i / 6;
		struct shape s = { .compare = compares[i % 6],
				   .is_signed = rest & 1,
				   .turned = rest >> 1 & 1,
				   .number = rest >> 2 & 1,
				   .negated = rest >> 3 & 1,
				   .lut = luts[rest >> 4] };
		if (s.turned && s.number)
			continue; /* the number comes second */
		shapes++;
		known += try_loop(&s, devices[i % 4], tests) > 0;
	}
	for (unsigned t = WS_FLOW_TEST_EQUAL; t <= WS_FLOW_TEST_AT_LEAST; t++)
		assert_true(tests[t] > 0);
	assert_true(known >= shapes / 2);
}

/* Halves that decide the comparison alone, and such as decide it together. */
static void a_wide_loop_ends_for_the_values_that_flow_says(void **state)
{
	(void)state;
	static const char *const devices[] = { "sm_80", "sm_90a", "sm_100a", "sm_120a" };
	static const char *const compares[] = { "LT", "EQ", "LE", "GT", "NE", "GE" };
	static const uint64_t wide[] = {
		0, 5, 0x100000000, 0x1fffffffe, 0x8000000000000005, 0xffffffffffffffff
	};
	char text[20000];
	for (unsigned i = 0; i < 6 * 2 * 2 * 2 * 2; i++) {
		const char *device = devices[(i + i / 6) % 4];
		struct shape s = { .compare = compares[i % 6],
				   .is_signed = i / 6 & 1,
				   .turned = i / 12 & 1,
				   .negated = i / 24 & 1,
				   .rounds = i / 48 ? 70 : 1 };
		struct ws_flow_loop loop;
		struct ws_sim *sim = device_of(device);
		write_wide_loop(&s, device, text, sizeof text);
		uint32_t module = load_text(sim, text);
		ask_flow(sim, module, (unsigned)strtoul(device + 3, NULL, 10), &loop);
		assert_int_not_equal(loop.test, WS_FLOW_TEST_NONE);
		assert_int_equal(loop.n_test_with, 2);
		assert_int_equal(loop.test_with[1].with.number, 7);
		ws_sim_destroy(sim);
		for (unsigned v = i % 5; v < 6 * 6; v += 5) {
			const void *const args[] = { &wide[v % 6], &wide[v / 6] };
			sim = device_of(device);
			if (ends_with(sim, load_text(sim, text), args) !=
			    holds_wide(&loop, wide[v % 6], wide[v / 6]))
				fail_msg("%s 0x%" PRIx64 ", 0x%" PRIx64 ": flow says %s\n%s",
					 device, wide[v % 6], wide[v / 6],
					 ws_flow_test_text(loop.test), text);
			ws_sim_destroy(sim);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_ends_for_the_values_that_flow_says),
		cmocka_unit_test(a_wide_loop_ends_for_the_values_that_flow_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
