/* SPDX-License-Identifier: Apache-2.0 */
/* What --check found, as text and JSON: each with both threads and both lines. */
#include "run/run.h"

#include <inttypes.h>
#include <stdlib.h>

#include <warpscope/symbols.h>

/* The images of a device, opened where it has them. */
struct places {
	struct ws_cubin **cubin; /* owned, and they are */
	size_t n;
};

/* Where one of the two threads was, in words. */
struct check_words {
	const char *kind, *tool, *what, *who, *other;
};

static const struct check_words words[] = {
	[WS_SIM_RACE_RAW] = { "raw", "racecheck", "race (read after write)", "read by",
			      "written by" },
	[WS_SIM_RACE_WAR] = { "war", "racecheck", "race (write after read)", "written by",
			      "read by" },
	[WS_SIM_RACE_WAW] = { "waw", "racecheck", "race (write after write)", "written by",
			      "written by" },
	[WS_SIM_UNINITIALIZED] = { "uninitialized", "initcheck", "read of memory that nobody wrote",
				   "read by", "" },
	[WS_SIM_OUT_OF_BOUNDS] = { "out-of-bounds", "memcheck",
				   "access outside of the buffer that the pointer is of",
				   "accessed by", "" },
	[WS_SIM_OVERFLOW] = { "overflow", "none", "address from an index that overflowed 32 bits",
			      "accessed by", "computed by" },
	[WS_SIM_DIVERGENT_BARRIER] = { "divergent-barrier", "synccheck",
				       "threads of a block at different barriers",
				       "waits:", "waits:" },
	[WS_SIM_MISSING_AT_BARRIER] = { "missing-at-barrier", "synccheck",
					"a barrier that some threads never reach",
					"waits:", "does not come:" },
};

static const char *const spaces[] = { [WS_SIM_SPACE_GLOBAL] = "global",
				      [WS_SIM_SPACE_SHARED] = "shared",
				      [WS_SIM_SPACE_LOCAL] = "local",
				      [WS_SIM_SPACE_REGISTER] = "register",
				      [WS_SIM_SPACE_PREDICATE] = "predicate" };

/* What memory, or which register: "shared memory at 0x410", "register R5". */
static void print_object(struct ws_out *out, const struct ws_sim_finding *f)
{
	if (f->space == WS_SIM_SPACE_NONE)
		ws_out_printf(out, ", barrier %" PRIu64, f->address);
	else if (f->space == WS_SIM_SPACE_REGISTER || f->space == WS_SIM_SPACE_PREDICATE)
		ws_out_printf(out, ": %s %c%" PRIu64, spaces[f->space],
			      f->space == WS_SIM_SPACE_REGISTER ? 'R' : 'P', f->address);
	else
		ws_out_printf(out, ": %s memory at 0x%" PRIx64, spaces[f->space], f->address);
}

/* Registers and stacks: only where it decides something is it told. */
static bool is_own(const struct ws_sim_finding *f)
{
	return f->space == WS_SIM_SPACE_LOCAL || f->space == WS_SIM_SPACE_REGISTER ||
	       f->space == WS_SIM_SPACE_PREDICATE;
}

static const struct check_words *words_of(const struct ws_sim_finding *f)
{
	static const struct check_words own = { "uninitialized", "initcheck",
						"use of a value that nobody wrote", "used by",
						"first read by" };
	return is_own(f) ? &own : &words[f->kind];
}

static void places_open(struct places *places, const struct ws_sim *sim)
{
	struct ws_span image;
	size_t cap = 0;
	for (uint32_t i = 0; ws_sim_module_image(sim, i, &image, NULL) == WS_OK; i++) {
		cli_grow(&places->cubin, &cap, places->n, sizeof *places->cubin);
		if (ws_cubin_open(image, &places->cubin[places->n], NULL) == WS_OK)
			places->n++;
	}
}

static void places_close(struct places *places)
{
	for (size_t i = 0; i < places->n; i++)
		ws_cubin_close(places->cubin[i]);
	free(places->cubin);
}

static bool place_find(const struct places *places, uint64_t pc, struct ws_place *ret_place)
{
	for (size_t i = 0; i < places->n; i++)
		if (ws_cubin_find_address(places->cubin[i], pc, ret_place, NULL) == WS_OK)
			return true;
	return false;
}

/* The variable of a module that starts at an address; false: none does. */
static bool module_variable_find(const struct places *places, uint64_t address,
				 struct ws_str *ret_name)
{
	const struct ws_variable *variables;
	size_t n;
	for (size_t i = 0; i < places->n; i++) {
		if (ws_cubin_variables(places->cubin[i], &variables, &n, NULL) != WS_OK)
			continue;
		for (size_t k = 0; k < n; k++) {
			*ret_name = variables[k].name;
			if (variables[k].space == WS_SPACE_GLOBAL &&
			    variables[k].gpu_va == address && variables[k].size_bytes > 0)
				return true;
		}
	}
	return false;
}

static size_t lines_find(const struct ws_place *place, struct ws_line_pos pos[WS_CHAIN_MOST])
{
	size_t n = 0;
	enum ws_status st = ws_cubin_line_find(place->cubin, place->section, place->sec_off, pos,
					       WS_CHAIN_MOST, &n, NULL);
	return st == WS_OK ? n : 0;
}

/* Whether threads at different instructions may be at one barrier of the source: compilers copy
 * code. Without lines nobody can tell. */
static bool is_one_barrier(const struct places *places, const struct ws_sim_finding *f)
{
	struct ws_line_pos who[WS_CHAIN_MOST], other[WS_CHAIN_MOST];
	struct ws_place at, there;
	if (!place_find(places, f->who.pc, &at) || !place_find(places, f->other.pc, &there))
		return true;
	size_t n = lines_find(&at, who), m = lines_find(&there, other);
	bool same = n == m;
	for (size_t i = 0; i < n && same; i++)
		same = who[i].line == other[i].line && who[i].file == other[i].file;
	return n == 0 || m == 0 || same;
}

/* ---- text ---- */

static void print_party(struct ws_out *out, const struct places *places, const char *does,
			const struct ws_sim_party *party)
{
	struct ws_dim3 t = party->thread, b = party->block;
	struct ws_line_pos pos[WS_CHAIN_MOST];
	struct ws_place place;
	ws_out_printf(out, "  %s thread (%u,%u,%u) of block (%u,%u,%u)%s", does, t.x, t.y, t.z, b.x,
		      b.y, b.z, party->is_atomic ? ", atomically" : "");
	if (!place_find(places, party->pc, &place)) {
		ws_out_printf(out, ", at 0x%" PRIx64 "\n", party->pc);
		return;
	}
	size_t n = lines_find(&place, pos);
	if (n > 0) {
		ws_out_text(out, ", ");
		ws_position_text(out, &pos[0], false);
	}
	ws_out_text(out, ", in ");
	ws_name_text(out, place.function ? place.function->name : (struct ws_str){ "?", 1 }, false);
	ws_out_printf(out, "+0x%" PRIx64 "\n", place.rel_pc);
	for (size_t i = 1; i < n; i++) {
		ws_out_text(out, "    called from ");
		ws_position_text(out, &pos[i], false);
		ws_out_text(out, "\n");
	}
}

static void print_base(struct ws_out *out, const struct places *places,
		       const struct ws_sim_finding *f)
{
	struct ws_str name;
	ws_out_text(out, "  that buffer is ");
	if (module_variable_find(places, f->base, &name)) {
		ws_out_text(out, "the variable ");
		ws_name_text(out, name, false);
		ws_out_text(out, ": ");
	}
	ws_out_printf(out, "the %" PRIu64 " bytes at 0x%" PRIx64 "\n", f->base_bytes, f->base);
}

/* As the report of an access that fails says it. */
static void print_product(struct ws_out *out, const struct ws_sim_finding *f)
{
	int64_t exact = f->factor[0] * f->factor[1] + f->addend;
	ws_out_printf(out, "  %" PRId64 " * %" PRId64, f->factor[0], f->factor[1]);
	if (f->addend != 0)
		ws_out_printf(out, " + %" PRId64, f->addend);
	ws_out_printf(out,
		      " = %" PRId64 " does not fit in 32 bits: the code went on with %" PRId32
		      "\n  compute it in 64 bits, as `int64_t(row) * stride`\n",
		      exact, (int32_t)(uint32_t)exact);
}

static void print_finding(struct ws_out *out, const struct places *places,
			  const struct ws_sim_finding *f)
{
	const struct check_words *w = words_of(f);
	ws_out_printf(out, "%s", w->what);
	print_object(out, f);
	ws_out_printf(out, ", launch %" PRIu64, f->grid);
	if (f->count > 1)
		ws_out_printf(out, ", %" PRIu64 " times", f->count);
	ws_out_text(out, "\n");
	print_party(out, places, w->who, &f->who);
	if (f->has_other)
		print_party(out, places, w->other, &f->other);
	if (f->kind == WS_SIM_OUT_OF_BOUNDS)
		print_base(out, places, f);
	if (f->kind == WS_SIM_OVERFLOW)
		print_product(out, f);
}

/* ---- JSON ---- */

static void json_party(struct ws_json *json, const struct places *places, const char *key,
		       const struct ws_sim_party *party)
{
	struct ws_line_pos pos[WS_CHAIN_MOST];
	struct ws_place place;
	ws_json_key_object(json, key);
	ws_json_key_dim3(json, "block", party->block);
	ws_json_key_dim3(json, "thread", party->thread);
	ws_json_key_bool(json, "atomic", party->is_atomic);
	ws_json_key_hex(json, "pc", party->pc);
	if (place_find(places, party->pc, &place)) {
		size_t n = lines_find(&place, pos);
		if (place.function)
			ws_name_json(json, place.function->name);
		ws_json_key_u64(json, "offset", place.rel_pc);
		ws_json_key(json, "positions");
		ws_chain_json(json, pos, n);
	}
	ws_json_end(json);
}

static void json_finding(struct ws_json *json, const struct places *places,
			 const struct ws_sim_finding *f)
{
	const struct check_words *w = words_of(f);
	struct ws_str variable;
	ws_json_object(json);
	ws_json_key_text(json, "kind", w->kind);
	ws_json_key_text(json, "tool", w->tool);
	if (f->space == WS_SIM_SPACE_NONE) {
		ws_json_key_u64(json, "barrier", f->address);
	} else {
		ws_json_key_text(json, "space", spaces[f->space]);
		ws_json_key_hex(json, "address", f->address);
	}
	if (f->kind == WS_SIM_OUT_OF_BOUNDS) {
		ws_json_key_hex(json, "buffer", f->base);
		ws_json_key_u64(json, "buffer_bytes", f->base_bytes);
		if (module_variable_find(places, f->base, &variable))
			ws_json_key_str(json, "variable", variable);
	}
	if (f->kind == WS_SIM_OVERFLOW) {
		int64_t exact = f->factor[0] * f->factor[1] + f->addend;
		ws_json_key_array(json, "factors");
		ws_json_i64(json, f->factor[0]);
		ws_json_i64(json, f->factor[1]);
		ws_json_end(json);
		ws_json_key_i64(json, "addend", f->addend);
		ws_json_key_i64(json, "exact", exact);
		ws_json_key_i64(json, "value", (int32_t)(uint32_t)exact);
	}
	ws_json_key_u64(json, "launch", f->grid);
	ws_json_key_u64(json, "count", f->count);
	json_party(json, places, "who", &f->who);
	if (f->has_other)
		json_party(json, places, "other", &f->other);
	ws_json_end(json);
}

int run_findings(struct cli *cli, const struct ws_sim *sim, struct ws_json *json)
{
	const struct ws_sim_finding *findings;
	size_t n = ws_sim_findings(sim, &findings), told = 0;
	uint64_t unchecked = ws_sim_unchecked(sim);
	struct places places = { 0 };
	places_open(&places, sim);
	if (json)
		ws_json_key_array(json, "findings");
	for (size_t i = 0; i < n; i++) {
		if (findings[i].kind == WS_SIM_DIVERGENT_BARRIER &&
		    is_one_barrier(&places, &findings[i]))
			continue;
		told++;
		if (json)
			json_finding(json, &places, &findings[i]);
		else
			print_finding(&cli->out, &places, &findings[i]);
	}
	places_close(&places);
	if (json) {
		ws_json_end(json);
		ws_json_key_u64(json, "unchecked", unchecked);
	} else if (told == 0) {
		ws_out_text(&cli->out, "--check found nothing\n");
	}
	if (unchecked > 0)
		cli_warn("--check ran out of room: %" PRIu64 " accesses were not checked",
			 unchecked);
	return told > 0 ? CLI_FOUND : CLI_ANSWERED;
}
