/* SPDX-License-Identifier: Apache-2.0 */
#include "walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROMISE(condition)                                                              \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                        \
		}                                                                       \
	} while (0)

enum {
	MOST = 20000
}; /* list elements of one kind that are asked for; hostile dumps have millions */

static void mix(uint64_t *hash, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;
	for (size_t i = 0; i < n; i++)
		*hash = (*hash ^ at[i]) * UINT64_C(0x100000001b3);
}

static void mix_text(uint64_t *hash, struct ws_str text)
{
	if (text.len)
		mix(hash, text.ptr, text.len < 4096 ? text.len : 4096);
}

static uint32_t some(uint32_t n)
{
	return n < MOST ? n : MOST;
}

static void index_ok(uint32_t index, uint32_t n)
{
	PROMISE(index == WS_NONE || index < n);
}

static void walk_machine(const struct ws_target *target, const struct ws_counts *n, uint64_t *hash)
{
	struct ws_error err;
	for (uint32_t i = 0; i < some(n->devices); i++) {
		struct ws_device v;
		PROMISE(ws_target_device(target, i, &v, &err) == WS_OK);
		mix_text(hash, v.name), mix_text(hash, v.type), mix_text(hash, v.sm_type);
		mix(hash, &v.id, sizeof v.id);
	}
	for (uint32_t i = 0; i < some(n->sms); i++) {
		struct ws_sm v;
		PROMISE(ws_target_sm(target, i, &v, &err) == WS_OK);
		PROMISE(v.device_index < n->devices && v.first_warp_index <= n->warps &&
			v.n_warps <= n->warps - v.first_warp_index);
		mix_text(hash, v.exception_text);
		mix(hash, &v.error_pc, sizeof v.error_pc);
	}
	for (uint32_t i = 0; i < some(n->blocks); i++) {
		struct ws_block v;
		PROMISE(ws_target_block(target, i, &v, &err) == WS_OK);
		PROMISE(v.device_index < n->devices && v.sm_index < n->sms);
		index_ok(v.grid_index, n->grids);
		mix(hash, &v.idx, sizeof v.idx);
	}
}

static void walk_software(const struct ws_target *target, const struct ws_counts *n, uint64_t *hash)
{
	struct ws_error err;
	for (uint32_t i = 0; i < some(n->contexts); i++) {
		struct ws_context v;
		PROMISE(ws_target_context(target, i, &v, &err) == WS_OK);
		PROMISE(v.device_index < n->devices);
		mix(hash, &v.id, sizeof v.id);
	}
	for (uint32_t i = 0; i < some(n->modules); i++) {
		struct ws_module v;
		PROMISE(ws_target_module(target, i, &v, &err) == WS_OK);
		PROMISE(v.context_index < n->contexts && v.device_index < n->devices);
		mix(hash, v.relocated.ptr, v.relocated.len < 64 ? v.relocated.len : 64);
		mix(hash, v.original.ptr, v.original.len < 64 ? v.original.len : 64);
	}
	for (uint32_t i = 0; i < some(n->grids); i++) {
		struct ws_grid v;
		PROMISE(ws_target_grid(target, i, &v, &err) == WS_OK);
		PROMISE(v.device_index < n->devices);
		index_ok(v.context_index, n->contexts);
		index_ok(v.module_index, n->modules);
		mix(hash, &v.id, sizeof v.id);
	}
}

static void walk_registers(const struct ws_target *target, uint32_t warp, uint32_t lane,
			   uint64_t *hash)
{
	static const uint32_t firsts[] = { 0, 3, 250, UINT32_MAX };
	for (int kind = WS_REG_R; kind <= WS_REG_BARRIER; kind++) {
		for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
			uint32_t values[300], n = 77;
			struct ws_error err;
			enum ws_status st =
				ws_target_registers(target, warp, lane, (enum ws_reg_kind)kind,
						    firsts[i], i ? 5 : 300, values, &n, &err);
			PROMISE(st == WS_OK || st == WS_ABSENT || st == WS_TRUNCATED);
			PROMISE(st != WS_OK || (n >= 1 && n <= 300));
			if (st == WS_OK)
				mix(hash, values, n * sizeof *values);
		}
	}
}

static void walk_warps(const struct ws_target *target, const struct ws_counts *n, uint64_t *hash)
{
	struct ws_error err;
	for (uint32_t w = 0; w < some(n->warps); w++) {
		struct ws_warp v;
		struct ws_lane lanes[WS_MAX_LANES];
		uint32_t n_lanes;
		PROMISE(ws_target_warp(target, w, &v, &err) == WS_OK);
		PROMISE(v.device_index < n->devices && v.sm_index < n->sms &&
			v.block_index < n->blocks);
		mix_text(hash, v.barrier_text);
		mix(hash, &v.id, sizeof v.id);
		PROMISE(ws_target_lanes(target, w, lanes, &n_lanes, &err) == WS_OK);
		PROMISE(n_lanes <= WS_MAX_LANES);
		walk_registers(target, w, 33, hash);
		for (uint32_t l = 0; l < n_lanes; l++) {
			struct ws_return_address frames[8];
			struct ws_lane again;
			uint32_t n_frames;
			PROMISE(lanes[l].id < WS_MAX_LANES);
			PROMISE(l == 0 || lanes[l].id > lanes[l - 1].id);
			PROMISE(ws_target_lane(target, w, lanes[l].id, &again, &err) == WS_OK);
			PROMISE(again.pc == lanes[l].pc && again.thread.x == lanes[l].thread.x);
			PROMISE(ws_target_call_stack(target, w, lanes[l].id, frames, 8, &n_frames,
						     &err) == WS_OK);
			for (uint32_t f = 0; f < n_frames && f < 8; f++)
				mix(hash, &frames[f].address, sizeof frames[f].address);
			mix(hash, &lanes[l].pc, sizeof lanes[l].pc);
			walk_registers(target, w, lanes[l].id, hash);
		}
	}
}

static void read_at(const struct ws_target *target, struct ws_address at, size_t len,
		    uint64_t *hash)
{
	uint8_t bytes[256];
	size_t n = 999;
	struct ws_error err;
	memset(bytes, 0xee, sizeof bytes);
	enum ws_status st = ws_target_read_memory(target, &at, bytes, len, &n, &err);
	PROMISE(n <= len && (st == WS_OK) == (n == len));
	PROMISE(st == WS_OK || (err.status == st && err.message[0]));
	for (size_t i = n; i < sizeof bytes; i++)
		PROMISE(bytes[i] == 0xee);
	mix(hash, bytes, n);
	mix(hash, &st, sizeof st);
}

static void read_around(const struct ws_target *target, struct ws_address at, uint64_t start,
			uint64_t size, uint64_t *hash)
{
	static const int64_t steps[] = { -3, 0, 1 };
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		at.address = start + (uint64_t)steps[i];
		read_at(target, at, 64, hash);
		at.address = start + size + (uint64_t)steps[i];
		read_at(target, at, 64, hash);
	}
}

static void walk_memory(const struct ws_target *target, const struct ws_counts *n, uint64_t *hash)
{
	struct ws_memory_range v;
	struct ws_address at = { .space = WS_SPACE_GLOBAL };
	uint64_t last = 0;
	for (uint32_t i = 0; i < 2000 && ws_target_memory_range(target, i, &v, NULL) == WS_OK;
	     i++) {
		PROMISE(v.bytes_present <= v.size);
		PROMISE(v.space != WS_SPACE_GLOBAL || v.start >= last);
		last = v.start;
		at = (struct ws_address){ v.space,      v.bank, WS_NONE, v.grid_index,
					  v.warp_index, v.lane, 0 };
		if (v.space == WS_SPACE_SHARED)
			at.warp_index = 0;
		read_around(target, at, v.start, v.size, hash);
	}
	for (int space = WS_SPACE_GLOBAL; space <= WS_SPACE_GENERIC + 1; space++) {
		static const uint64_t places[] = { 0, 1, UINT64_MAX - 70, UINT64_MAX };
		for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
			at = (struct ws_address){ .space = (enum ws_space)space,
						  .grid_index = n->grids ? 0 : WS_NONE,
						  .address = places[i] };
			read_at(target, at, 64, hash);
		}
	}
	for (uint32_t i = 0; i < some(n->contexts) && n->warps; i++) {
		struct ws_context c;
		PROMISE(ws_target_context(target, i, &c, NULL) == WS_OK);
		at = (struct ws_address){ .space = WS_SPACE_GENERIC, .grid_index = WS_NONE };
		at.warp_index = n->warps - 1;
		read_around(target, at, c.shared_window_base, UINT64_C(3) << 24, hash);
		read_around(target, at, c.local_window_base, 1u << 24, hash);
	}
}

static void walk_file(const struct ws_target *target, uint64_t *hash)
{
	const struct ws_core *core = ws_target_core(target);
	struct ws_dump_facts facts;
	struct ws_diagnostic diagnostic;
	PROMISE(ws_target_dump_facts(target, &facts, NULL) == WS_OK);
	mix_text(hash, facts.generator);
	uint32_t i = 0;
	for (; ws_target_diagnostic(target, i, &diagnostic, NULL) == WS_OK; i++)
		PROMISE(diagnostic.what && diagnostic.message && diagnostic.message[0]);
	PROMISE(i < 200);
	for (i = 0; i < some(ws_core_n_sections(core)); i++) {
		struct ws_core_section section;
		PROMISE(ws_core_section(core, i, &section, NULL) == WS_OK);
		PROMISE(section.present <= section.size);
		mix_text(hash, section.name);
	}
	struct ws_salvaged part;
	for (i = 0; i < 1000 && ws_core_salvaged(core, i, &part, NULL) == WS_OK; i++) {
		PROMISE(part.what && part.present <= part.size);
		mix_text(hash, ws_str_of(part.what));
	}
}

uint64_t core_walk(const struct ws_target *target)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	struct ws_counts n;
	ws_target_counts(target, &n);
	walk_machine(target, &n, &hash);
	walk_software(target, &n, &hash);
	walk_warps(target, &n, &hash);
	walk_memory(target, &n, &hash);
	walk_file(target, &hash);
	return hash;
}
