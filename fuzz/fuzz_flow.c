/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control and data flow of any bytes: an architecture (one byte), then code. Beyond not crashing:
 * blocks cover the code without gaps and their edges agree, what is written directly is written
 * anyway, the arguments of a slice's nodes come behind them, and stores come in order.
 */
#include "fuzz.h"

#include <warpscope/flow.h>

enum { BASE = 0x7000, MAX_ASKED = 24 };

static const unsigned archs[] = { 70, 72, 75, 80, 86, 89, 90, 100, 103, 110, 120, 121 };

static void check_blocks(const struct ws_flow *flow, uint64_t end_pc)
{
	size_t n;
	uint64_t pc = BASE;
	const struct ws_flow_block *blocks = ws_flow_blocks(flow, &n);
	for (size_t i = 0; i < n; i++) {
		FUZZ_CHECK(blocks[i].pc == pc && blocks[i].end_pc > pc);
		FUZZ_CHECK(ws_flow_block_find(flow, pc) == i);
		pc = blocks[i].end_pc;
		for (uint32_t k = 0; k < blocks[i].n_succ; k++) {
			const struct ws_flow_block *next = &blocks[blocks[i].succ[k]];
			bool back = false;
			for (uint32_t p = 0; p < next->n_pred; p++)
				back |= next->pred[p] == i;
			FUZZ_CHECK(back);
		}
	}
	FUZZ_CHECK(pc == end_pc);
}

static void check_slice(const struct ws_flow_slice *slice)
{
	struct ws_flow_address address;
	FUZZ_CHECK(slice->n > 0 && slice->n <= WS_FLOW_MAX_NODES);
	for (size_t i = 0; i < slice->n; i++) {
		FUZZ_CHECK(slice->node[i].n_args <= WS_FLOW_MAX_ARGS);
		for (unsigned k = 0; k < slice->node[i].n_args; k++)
			FUZZ_CHECK(slice->node[i].arg[k] > i && slice->node[i].arg[k] < slice->n);
	}
	ws_flow_address(slice, 0, &address);
	FUZZ_CHECK(address.n_terms <= WS_FLOW_MAX_TERMS);
}

/* Answers alike each time, with all of enum ws_flow_hit. */
static enum ws_flow_hit judge(void *context, uint64_t pc)
{
	return (enum ws_flow_hit)((pc / WS_SASS_BYTES + *(const unsigned *)context) % 3);
}

static void check_stores(const struct ws_flow *flow, uint64_t pc, unsigned number)
{
	struct ws_flow_stores stores;
	if (ws_flow_find_stores(flow, pc, judge, &number, &stores, NULL) != WS_OK)
		return;
	FUZZ_CHECK(stores.n <= WS_FLOW_MAX_STORES);
	for (size_t i = 0; i < stores.n; i++)
		FUZZ_CHECK(judge(&number, stores.store[i].pc) == WS_FLOW_HIT &&
			   (i == 0 || stores.store[i - 1].pc < stores.store[i].pc));
}

/* Everything that can be asked at one instruction. */
static void ask(const struct ws_flow *flow, uint64_t pc, uint64_t other, unsigned number)
{
	static struct ws_flow_slice slice;
	struct ws_flow_written written;
	struct ws_flow_loop loop;
	if (ws_flow_written(flow, pc, other, &written, NULL) == WS_OK)
		for (size_t i = 0; i < 8; i++)
			FUZZ_CHECK(!(written.direct.reg[i] & ~written.any.reg[i]));
	if (ws_flow_loop(flow, pc, &loop, NULL) == WS_OK)
		FUZZ_CHECK(
			loop.n_insns <= WS_FLOW_MAX_LOOP && loop.n_sources <= WS_FLOW_MAX_SOURCES &&
			loop.n_calls <= WS_FLOW_MAX_SOURCES && loop.test <= WS_FLOW_TEST_AT_LEAST);
	enum ws_operand_kind kind = number & 1 ? WS_OPERAND_UREG : WS_OPERAND_REG;
	if (ws_flow_slice(flow, pc, kind, number / 4, number & 2 ? 64 : 32, &slice, NULL) == WS_OK)
		check_slice(&slice);
	for (unsigned which = 0; which < 2; which++)
		if (ws_flow_slice_address(flow, pc, which, &slice, NULL) == WS_OK)
			check_slice(&slice);
	check_stores(flow, pc, number);
}

int fuzz_target(const uint8_t *data, size_t size)
{
	struct ws_flow *flow;
	if (size == 0)
		return 0;
	unsigned sm = archs[data[0] % (sizeof archs / sizeof archs[0])];
	struct ws_span code = { data + 1, size - 1, 0 };
	uint64_t n = code.len / WS_SASS_BYTES;
	const struct ws_flow_edge edges[] = { { BASE, BASE + 16 }, { BASE + 16, BASE + code.len } };
	if (ws_flow_create(sm, code, BASE, edges, 2, &flow, NULL) != WS_OK)
		return 0;
	check_blocks(flow, BASE + n * WS_SASS_BYTES);
	for (uint64_t i = 0; i < n && i < MAX_ASKED; i++) {
		uint64_t at = i * n / (n < MAX_ASKED ? n : MAX_ASKED);
		ask(flow, BASE + 16 * at, BASE + 16 * (n - 1 - at), data[1 + 16 * at]);
	}
	ws_flow_destroy(flow);
	return 0;
}
