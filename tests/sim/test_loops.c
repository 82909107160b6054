/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What src/flow says that a loop waits for, against the software GPU: loops that read a word and
 * compare it, with every comparison, either side and sign, and through logic of predicates. A loop
 * must end just for the values of which flow says so.
 */
#include "device.h"
#include "words.h"

#include <inttypes.h>
#include <stdlib.h>

#include <warpscope/cubin.h>
#include <warpscope/flow.h>

enum {
	INSNS = 400, /* that a loop which ends never needs */
	READS = 4,   /* the instruction that reads in most of them */
};

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

/* What flow says of the loop around the instruction that reads, number `reads`. */
static void ask_flow(struct ws_sim *sim, uint32_t module, unsigned sm, unsigned reads,
		     struct ws_flow_loop *ret_loop)
{
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
	assert_int_equal(ws_flow_loop(flow, (uint64_t)reads * WS_SASS_BYTES, ret_loop, NULL),
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

/* Whether the loop ends that reads words and compares them with another. */
static bool ends_with(struct ws_sim *sim, uint32_t module, const void *const *args, unsigned n_args)
{
	enum ws_sim_outcome outcome;
	struct ws_sim_launch launch = launch_of(module, (struct ws_dim3){ 1, 1, 1 }, args);
	launch.n_args = n_args;
	assert_int_equal(ws_sim_launch(sim, &launch, NULL), WS_OK);
	assert_int_equal(ws_sim_run(sim, INSNS, &outcome, NULL), WS_OK);
	assert_true(outcome == WS_SIM_DONE || outcome == WS_SIM_LIMIT);
	return outcome == WS_SIM_DONE;
}

static bool ends(struct ws_sim *sim, uint32_t module, uint32_t word, uint32_t with)
{
	const void *const args[] = { &word, &with };
	return ends_with(sim, module, args, 2);
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
			ask_flow(sim, module, (unsigned)strtoul(device + 3, NULL, 10), READS,
				 &loop);
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
		ask_flow(sim, module, (unsigned)strtoul(device + 3, NULL, 10), READS, &loop);
		assert_int_not_equal(loop.test, WS_FLOW_TEST_NONE);
		assert_int_equal(loop.n_test_with, 2);
		assert_int_equal(loop.test_with[1].with.number, 7);
		ws_sim_destroy(sim);
		for (unsigned v = i % 5; v < 6 * 6; v += 5) {
			const void *const args[] = { &wide[v % 6], &wide[v / 6] };
			sim = device_of(device);
			if (ends_with(sim, load_text(sim, text), args, 2) !=
			    holds_wide(&loop, wide[v % 6], wide[v / 6]))
				fail_msg("%s 0x%" PRIx64 ", 0x%" PRIx64 ": flow says %s\n%s",
					 device, wide[v % 6], wide[v / 6],
					 ws_flow_test_text(loop.test), text);
			ws_sim_destroy(sim);
		}
	}
}

/* ---- several words of one read ---- */

enum { N_WORDS = 4, READS_WORDS = 7 };

/* A loop whose condition joins random comparisons of words of one read. */
static void write_joined(const char *device, uint64_t *seed, char *text, size_t size)
{
	static const char *const compares[] = { "EQ", "NE", "LT", "GE" };
	unsigned same = (unsigned)random_number(seed) % 4,
		 n_joined = 1 + (unsigned)random_number(seed) % 3;
	unsigned first = (unsigned)random_number(seed) % N_WORDS;
	int n = snprintf(text, size,
			 ".arch %s\n.kernel k\n.param a 4\n.param b 4\n.param c 4\n.param d 4\n"
			 ".param w 4\n.regs 24\n.shared s 2048\nMOV R9, RZ\nLDC R4, c[0x0][`(a)]\n"
			 "LDC R5, c[0x0][`(b)]\nLDC R6, c[0x0][`(c)]\nLDC R7, c[0x0][`(d)]\n"
			 "LDC R10, c[0x0][`(w)]\nSTS.128 [R9+0x400], R4\nagain:\n"
			 "LDS.128 R4, [R9+0x400]\n",
			 device);
	for (unsigned i = 0; i <= n_joined && n > 0 && (size_t)n < size; i++) {
		bool negated = random_number(seed) % 2, is_or = i && random_number(seed) % 2;
		unsigned odd = random_number(seed) % 8 ? 0 : 1;
		n += snprintf(text + n, size - (size_t)n,
			      "ISETP.%s.U32.%s P0, PT, R%u, R10, %s%s\n", compares[same ^ odd],
			      is_or ? "OR" : "AND", 4 + (first + i) % N_WORDS,
			      i && negated ? "!" : "", i ? "P0" : "PT");
		if (random_number(seed) % 2)
			same ^= i && negated; /* as when an OR is made of an AND */
	}
	snprintf(text + n, size - (size_t)n, "@%sP0 BRA `(again)\nEXIT\n.end\n",
		 random_number(seed) % 2 ? "!" : "");
}

static bool all_hold(const struct ws_flow_loop *loop, const uint32_t word[N_WORDS], uint32_t with)
{
	bool all = true, any = false;
	for (unsigned i = 0; i < N_WORDS; i++) {
		bool one = holds(loop, word[i], with);
		all &= one || !(loop->test_words >> i & 1);
		any |= one && loop->test_words >> i & 1;
	}
	return loop->test_each ? all : any;
}

static void a_loop_over_words_ends_for_those_that_flow_says(void **state)
{
	(void)state;
	static const char *const devices[] = { "sm_80", "sm_90a", "sm_100a", "sm_120a" };
	unsigned n_each = 0, n_any = 0;
	uint64_t seed = 11;
	char text[2000];
	for (unsigned i = 0; i < 800; i++) {
		const char *device = devices[i % 4];
		struct ws_flow_loop loop;
		struct ws_sim *sim = device_of(device);
		write_joined(device, &seed, text, sizeof text);
		ask_flow(sim, load_text(sim, text), (unsigned)strtoul(device + 3, NULL, 10),
			 READS_WORDS, &loop);
		ws_sim_destroy(sim);
		if (loop.test == WS_FLOW_TEST_NONE)
			continue;
		assert_int_equal(loop.n_test_words, N_WORDS);
		n_each += loop.test_each && loop.test_words & (loop.test_words - 1);
		n_any += !loop.test_each && loop.test_words & (loop.test_words - 1);
		for (unsigned v = 0; v < 16; v++) {
			uint32_t word[N_WORDS], with = 1;
			const void *const args[] = { &word[0], &word[1], &word[2], &word[3],
						     &with };
			for (unsigned k = 0; k < N_WORDS; k++)
				word[k] = v >> k & 1 ? 1 : 3 * (uint32_t)(random_number(&seed) % 2);
			sim = device_of(device);
			if (ends_with(sim, load_text(sim, text), args, N_WORDS + 1) !=
			    all_hold(&loop, word, with))
				fail_msg("%s words %u %u %u %u: flow says %s of %x\n%s", device,
					 word[0], word[1], word[2], word[3],
					 ws_flow_test_text(loop.test), loop.test_words, text);
			ws_sim_destroy(sim);
		}
	}
	assert_true(n_each >= 40);
	assert_true(n_any >= 40);
}

/* ---- sums ---- */

/* A loop that compares a number more than it reads: of 32 or 64 bits. */
static void write_sum(const char *device, const char *compare, bool wide, uint64_t plus, char *text,
		      size_t size)
{
	bool one = wide && strncmp(device, "sm_12", 5) == 0;
	char sum[200], test[200];
	const struct shape s = { .compare = compare };
	write_wide(&s, one, test, sizeof test);
	if (!wide)
		snprintf(test, sizeof test, "ISETP.%s.U32.AND P0, PT, R4, R6, PT\n", compare);
	const char *more = strlen(device) > 6 ? ", PT" : ""; /* sm_100a: two carries */
	char number[20];
	bool negative = plus >> 63;
	snprintf(number, sizeof number, "%s0x%x", negative ? "-" : "",
		 (uint32_t)(negative ? -plus : plus));
	if (one)
		snprintf(sum, sizeof sum, "IADD.64 R4, R4, %s\n", number);
	else if (wide)
		snprintf(sum, sizeof sum,
			 "IADD3 R4, P1%s, R4, %s, RZ\nIADD3.X R5%s%s, R5, %s, RZ, P1, !PT\n", more,
			 number, more, more, negative ? "-0x1" : "RZ");
	else
		snprintf(sum, sizeof sum, "IADD3 R4%s%s, R4, %s, RZ\n", more, more, number);
	snprintf(text, size,
		 ".arch %s\n.kernel k\n.param v 8\n.param w 8\n.regs 24\n.shared s 2048\n"
		 "LDC.64 R10, c[0x0][`(v)]\nLDC.64 R6, c[0x0][`(w)]\nMOV R9, RZ\n"
		 "STS.64 [R9+0x400], R10\nagain:\n%s\n%s%s@P0 BRA `(again)\nEXIT\n.end\n",
		 device, wide ? "LDS.64 R4, [R9+0x400]" : "LDS R4, [R9+0x400]", sum, test);
}

static void a_loop_over_sums_ends_for_those_that_flow_says(void **state)
{
	(void)state;
	static const char *const devices[] = { "sm_80", "sm_90a", "sm_100a", "sm_120a" };
	static const char *const compares[] = { "LT", "EQ", "LE", "GT", "NE", "GE" };
	static const uint64_t plus[] = { 8, (uint64_t)-2, 0x7fffffff, (uint64_t)-0x70000000 };
	static const uint64_t number[] = { 0, 7, 8, 0xfffffff9, 0x100000004, (uint64_t)-4 };
	char text[2000];
	for (unsigned i = 0; i < 4 * 6 * 4 * 2; i++) {
		const char *device = devices[i % 4];
		bool wide = i / 96;
		struct ws_flow_loop loop;
		struct ws_sim *sim = device_of(device);
		uint64_t more = plus[i / 24 % 4], mask = wide ? UINT64_MAX : UINT32_MAX;
		write_sum(device, compares[i / 4 % 6], wide, more, text, sizeof text);
		ask_flow(sim, load_text(sim, text), (unsigned)strtoul(device + 3, NULL, 10), READS,
			 &loop);
		ws_sim_destroy(sim);
		assert_int_not_equal(loop.test, WS_FLOW_TEST_NONE);
		assert_int_equal(loop.test_plus & mask, more & mask);
		for (unsigned v = 0; v < 36; v++) {
			const void *const args[] = { &number[v % 6], &number[v / 6] };
			uint64_t sum = (number[v % 6] + loop.test_plus) & mask;
			sim = device_of(device);
			if (ends_with(sim, load_text(sim, text), args, 2) !=
			    holds_wide(&loop, sum, number[v / 6] & mask))
				fail_msg("%s 0x%" PRIx64 ": flow says %s\n%s", device, sum,
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
		cmocka_unit_test(a_loop_over_words_ends_for_those_that_flow_says),
		cmocka_unit_test(a_loop_over_sums_ends_for_those_that_flow_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
