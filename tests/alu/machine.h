/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A warp's registers, and one instruction executed on them through src/alu: what the tests of
 * operations compare with references. Random values come from a fixed seed, with the corners of
 * integers and floats among them.
 */
#ifndef WS_TEST_MACHINE_H
#define WS_TEST_MACHINE_H

#include "alu/alu.h"
#include "unit/unit.h"

#include <string.h>

enum { MACHINE_REGS = 64, MACHINE_CONSTANTS = 64 };

struct machine {
	uint32_t r[MACHINE_REGS][WSI_ALU_LANES];
	uint32_t ur[MACHINE_REGS];
	uint32_t p[7], up; /* predicates: a mask of lanes each; uniform ones: bit n for UPn */
	uint32_t c[MACHINE_CONSTANTS]; /* constant bank 0 */
};

static inline uint64_t machine_random(uint64_t *seed)
{
	uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* A word: anything, a corner, a small number, or a corner that is some units off. */
static inline uint32_t machine_word(uint64_t *seed)
{
	static const uint32_t corners[] = {
		0,          1,          0x7fffffff, 0x80000000, 0xffffffff, 0x0000ffff, 0x00010000,
		0x7f800000, 0xff800000, 0x7fc00000, 0x7fffffff, 0x7f800001, 0x3f800000, 0xbf800000,
		0x00800000, 0x007fffff, 0x00000001, 0x80000001, 0x7f7fffff, 0xff7fffff, 0x3f000000,
		0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0x7fff7fff, 0x7c007c00, 0xfc007bff,
		0x3c003c00, 0x00010400, 0x03ff8001, 0x7f807f80, 0x00800080, 0x43000000, 0x3fc00000,
		0x40200000, 0x1f,       0x20,       0x3f,       0x40,       0x3ff00000, 0x7ff00000,
		0x00100000, 0x43e00000,
	};
	uint64_t x = machine_random(seed);
	uint32_t word = (uint32_t)(x >> 32);
	switch (x & 7) {
	case 0:
		return corners[word % WSI_COUNT(corners)];
	case 1:
		return corners[word % WSI_COUNT(corners)] + (word >> 28) - 8;
	case 2:
		return word & 0x7f;
	case 3: /* a float near 1, so that sums cancel */
		return (word & 0x81ffffff) | 0x3e000000;
	case 4: /* two halves near 1 */
		return (word & 0x8fff8fff) | 0x38003800;
	default:
		return word;
	}
}

static inline void machine_fill(struct machine *m, uint64_t *seed)
{
	for (unsigned r = 0; r < MACHINE_REGS; r++)
		for (unsigned l = 0; l < WSI_ALU_LANES; l++)
			m->r[r][l] = machine_word(seed);
	for (unsigned r = 0; r < MACHINE_REGS; r++)
		m->ur[r] = machine_word(seed);
	for (unsigned i = 0; i < MACHINE_CONSTANTS; i++)
		m->c[i] = machine_word(seed);
	for (unsigned i = 0; i < WSI_COUNT(m->p); i++)
		m->p[i] = (uint32_t)machine_random(seed);
	m->up = (uint32_t)machine_random(seed) & 0x7f;
}

/* The words of a value, made in `room` where they are not registers. */
static inline const uint32_t *machine_source(struct machine *m, const struct wsi_alu_value *v,
					     uint32_t *room)
{
	if (v->place == WSI_ALU_REG && v->number != 255) {
		assert_true(v->number + v->words <= MACHINE_REGS);
		return m->r[v->number];
	}
	for (unsigned k = 0; k < v->words; k++) {
		uint32_t word = 0;
		if (v->place == WSI_ALU_NUMBER)
			word = k < 2 ? (uint32_t)(v->value >> (32 * k)) : 0;
		else if (v->place == WSI_ALU_UREG && v->number != 255)
			word = m->ur[v->number + k];
		else if (v->place == WSI_ALU_CONSTANT)
			word = m->c[v->value / 4 + k];
		for (unsigned l = 0; l < WSI_ALU_LANES; l++)
			room[k * WSI_ALU_LANES + l] = word;
	}
	return room;
}

static inline uint32_t machine_predicate(const struct machine *m, struct wsi_alu_predicate p)
{
	if (p.number == 7)
		return UINT32_MAX;
	if (p.is_uniform)
		return m->up >> p.number & 1 ? UINT32_MAX : 0;
	return m->p[p.number];
}

static inline void machine_put_predicate(struct machine *m, struct wsi_alu_predicate p,
					 uint32_t bits)
{
	if (p.number == 7)
		return;
	if (p.is_uniform)
		m->up = (m->up & ~(1u << p.number)) | (bits & 1) << p.number;
	else
		m->p[p.number] = bits;
}

static inline void machine_run(struct machine *m, const struct wsi_alu *alu)
{
	static uint32_t room[WSI_ALU_SOURCES + WSI_ALU_RESULTS][16 * WSI_ALU_LANES];
	struct wsi_alu_io io = { .source = { 0 } };
	for (unsigned i = 0; i < alu->n_sources; i++)
		io.source[i] = machine_source(m, &alu->source[i], room[i]);
	for (unsigned i = 0; i < alu->n_predicates; i++)
		io.predicate[i] = machine_predicate(m, alu->predicate[i]);
	for (unsigned i = 0; i < alu->n_results; i++) {
		const struct wsi_alu_value *to = &alu->result[i];
		bool direct = to->place == WSI_ALU_REG && to->number != 255;
		io.result[i] = direct ? m->r[to->number] : room[WSI_ALU_SOURCES + i];
	}
	wsi_alu_run(alu, &io);
	for (unsigned i = 0; i < alu->n_results; i++) {
		const struct wsi_alu_value *to = &alu->result[i];
		if (to->place == WSI_ALU_UREG && to->number != 255)
			for (unsigned k = 0; k < to->words; k++)
				m->ur[to->number + k] = io.result[i][k * WSI_ALU_LANES];
	}
	for (unsigned i = 0; i < alu->n_predicate_results; i++)
		machine_put_predicate(m, alu->predicate_result[i], io.predicate_result[i]);
}

/* Prepares the instruction of a text; fails the test when it cannot. */
static inline void machine_prepare(struct wsi_alu *alu, unsigned sm, const char *text)
{
	uint8_t bytes[WS_SASS_BYTES];
	struct ws_insn insn;
	struct ws_error err;
	if (ws_sass_encode(sm, text, 0, bytes, &err) != WS_OK)
		fail_msg("%s: %s", text, err.message);
	ws_sass_decode(sm, bytes, &insn);
	if (wsi_alu_prepare(&insn, alu) != WSI_ALU_OK)
		fail_msg("sm_%u %s: not prepared", sm, text);
}

/* ---- references, a lane at a time ---- */

/*
 * What an instruction sees of one lane, and what it should write. By convention of the tests'
 * texts R4, R6, R8 are the sources, R2 the result, P0 to P2 the predicate sources, P3 and P4 the
 * results.
 */
struct lane {
	uint32_t a, b, c, u;     /* R4, R6, R8, UR4 */
	uint64_t aw, bw, cw, uw; /* the pairs from there */
	bool p0, p1, p2;
	uint32_t constant; /* c[0x0][0x20] */
	uint64_t constant_wide;
	uint64_t to;     /* R2, or the pair */
	bool to_p, to_q; /* P3, P4 */
};

struct operation_test {
	unsigned sm;
	const char *text;
	void (*reference)(struct lane *lane);
};

enum { AT_TO = 2, AT_A = 4, AT_B = 6, AT_C = 8, AT_U = 4 };

static inline uint64_t machine_pair(const struct machine *m, unsigned r, unsigned l)
{
	return m->r[r][l] | (uint64_t)m->r[r + 1][l] << 32;
}

static inline void lane_of(const struct machine *m, unsigned l, struct lane *ret_lane)
{
	*ret_lane = (struct lane){
		.a = m->r[AT_A][l],
		.b = m->r[AT_B][l],
		.c = m->r[AT_C][l],
		.u = m->ur[AT_U],
		.aw = machine_pair(m, AT_A, l),
		.bw = machine_pair(m, AT_B, l),
		.cw = machine_pair(m, AT_C, l),
		.uw = m->ur[AT_U] | (uint64_t)m->ur[AT_U + 1] << 32,
		.p0 = m->p[0] >> l & 1,
		.p1 = m->p[1] >> l & 1,
		.p2 = m->p[2] >> l & 1,
		.constant = m->c[8],
		.constant_wide = m->c[8] | (uint64_t)m->c[9] << 32,
		.to = machine_pair(m, AT_TO, l),
		.to_p = m->p[3] >> l & 1,
		.to_q = m->p[4] >> l & 1,
	};
}

static inline void machine_check(const struct operation_test *t, unsigned rounds, uint64_t seed)
{
	static struct machine before, after;
	struct wsi_alu alu;
	machine_prepare(&alu, t->sm, t->text);
	unsigned words = alu.n_results ? alu.result[0].words : 0;
	for (unsigned round = 0; round < rounds; round++) {
		machine_fill(&before, &seed);
		after = before;
		machine_run(&after, &alu);
		for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
			struct lane lane;
			lane_of(&before, l, &lane);
			t->reference(&lane);
			uint64_t got = machine_pair(&after, AT_TO, l);
			bool p = after.p[3] >> l & 1, q = after.p[4] >> l & 1;
			uint64_t mask = words == 1 ? UINT32_MAX : words ? UINT64_MAX : 0;
			if ((got & mask) == (lane.to & mask) && p == lane.to_p && q == lane.to_q)
				continue;
			fail_msg("sm_%u %s: a %016llx b %016llx c %016llx u %016llx c[] %016llx p "
				 "%d%d%d: "
				 "%llx %d %d, not %llx %d %d",
				 t->sm, t->text, (unsigned long long)lane.aw,
				 (unsigned long long)lane.bw, (unsigned long long)lane.cw,
				 (unsigned long long)lane.uw,
				 (unsigned long long)lane.constant_wide, lane.p0, lane.p1, lane.p2,
				 (unsigned long long)(got & mask), p, q,
				 (unsigned long long)(lane.to & mask), lane.to_p, lane.to_q);
		}
	}
}

#endif
