/* SPDX-License-Identifier: Apache-2.0 */
/* From instructions to operations: which handler executes one, and its operands. */
#include "sim/check/check.h"
#include "sim/exec/exec.h"

/* What executes an operation that src/alu does not know. */
enum operation_way {
	PLAIN,  /* as an operation of lanes */
	SPLITS, /* lanes may go different ways */
	MANY,   /* registers: a matrix of a group's lanes, or what lies in tensor memory */
	FLAT,   /* registers of addresses and descriptors, among the sources as they come, and no
		   numbers */
};

struct code_rule {
	uint16_t operation; /* enum ws_operation */
	wsi_handler *run;
	enum operation_way way;
	wsi_preparer *prepare; /* may choose another handler */
};

static const struct code_rule rules[] = {
	{ WS_OP_BRA, wsi_run_bra, SPLITS, wsi_prepare_bra },
	{ WS_OP_JMP, wsi_run_bra, SPLITS, wsi_prepare_bra },
	{ WS_OP_BRX, wsi_run_brx, SPLITS, NULL },
	{ WS_OP_BRXU, wsi_run_brx, SPLITS, NULL },
	{ WS_OP_JMX, wsi_run_brx, SPLITS, NULL },
	{ WS_OP_JMXU, wsi_run_brx, SPLITS, NULL },
	{ WS_OP_CALL, wsi_run_call, SPLITS, NULL },
	{ WS_OP_RET, wsi_run_ret, SPLITS, NULL },
	{ WS_OP_EXIT, wsi_run_exit, SPLITS, NULL },
	{ WS_OP_BSSY, wsi_run_bssy, PLAIN, NULL },
	{ WS_OP_BSYNC, wsi_run_bsync, SPLITS, NULL },
	{ WS_OP_BREAK, wsi_run_break, SPLITS, NULL },
	{ WS_OP_WARPSYNC, wsi_run_warpsync, SPLITS, wsi_prepare_warpsync },
	{ WS_OP_BMOV, wsi_run_bmov, PLAIN, wsi_prepare_bmov },
	{ WS_OP_BPT, wsi_run_bpt, PLAIN, NULL },
	{ WS_OP_LEPC, wsi_run_lepc, PLAIN, NULL },
	{ WS_OP_ULEPC, wsi_run_lepc, PLAIN, NULL },
	{ WS_OP_RPCMOV, wsi_run_rpcmov, PLAIN, NULL },
	{ WS_OP_YIELD, wsi_run_yield, PLAIN, NULL },
	{ WS_OP_NANOSLEEP, wsi_run_yield, PLAIN, NULL },
	{ WS_OP_NOP, wsi_run_nothing, PLAIN, NULL },
	{ WS_OP_ENDCOLLECTIVE, wsi_run_nothing, PLAIN, NULL },
	{ WS_OP_DEPBAR, wsi_run_nothing, PLAIN, NULL },
	{ WS_OP_LDGDEPBAR, wsi_run_nothing, PLAIN, NULL },
	{ WS_OP_MEMBAR, wsi_run_nothing, PLAIN, NULL },
	{ WS_OP_FENCE, wsi_run_nothing, PLAIN, NULL },
	{ WS_OP_ERRBAR, wsi_run_nothing, PLAIN, NULL },
	{ WS_OP_CGAERRBAR, wsi_run_nothing, PLAIN, NULL },
	{ WS_OP_CCTL, wsi_run_nothing, PLAIN, NULL },
	{ WS_OP_CCTLL, wsi_run_nothing, PLAIN, NULL },
	{ WS_OP_CCTLT, wsi_run_nothing, PLAIN, NULL },
	{ WS_OP_PMTRIG, wsi_run_nothing, PLAIN, NULL },  /* nobody counts */
	{ WS_OP_ACQBULK, wsi_run_nothing, PLAIN, NULL }, /* grids run one after the other */
	{ WS_OP_PREEXIT, wsi_run_nothing, PLAIN, NULL },
	{ WS_OP_BAR, wsi_run_bar, SPLITS, NULL },
	{ WS_OP_B2R, wsi_run_b2r, PLAIN, NULL },
	{ WS_OP_UCGABAR_ARV, wsi_run_cluster_arrive, PLAIN, NULL },
	{ WS_OP_UCGABAR_WAIT, wsi_run_cluster_wait, SPLITS, NULL },
	{ WS_OP_LD, wsi_run_load, PLAIN, NULL },
	{ WS_OP_LDG, wsi_run_load, PLAIN, wsi_prepare_wide },
	{ WS_OP_LDS, wsi_run_load, PLAIN, NULL },
	{ WS_OP_LDL, wsi_run_load, PLAIN, NULL },
	{ WS_OP_ST, wsi_run_store, PLAIN, NULL },
	{ WS_OP_STG, wsi_run_store, PLAIN, wsi_prepare_wide },
	{ WS_OP_STS, wsi_run_store, PLAIN, NULL },
	{ WS_OP_STL, wsi_run_store, PLAIN, NULL },
	{ WS_OP_USTGR, wsi_run_uniform_store, PLAIN, NULL },
	{ WS_OP_UREDGR, wsi_run_uniform_store, PLAIN, wsi_prepare_atomic },
	{ WS_OP_UMEMSETS, wsi_run_clear, PLAIN, wsi_prepare_clear },
	{ WS_OP_LDC, wsi_run_load_constant, PLAIN, wsi_prepare_load_constant },
	{ WS_OP_ULDC, wsi_run_load_constant, PLAIN, wsi_prepare_load_constant },
	{ WS_OP_LDCU, wsi_run_load_constant, PLAIN, wsi_prepare_load_constant },
	{ WS_OP_LDGSTS, wsi_run_copy, PLAIN, NULL },
	{ WS_OP_LDSM, wsi_run_matrix_load, PLAIN, NULL },
	{ WS_OP_STSM, wsi_run_matrix_store, PLAIN, NULL },
	{ WS_OP_QSPC, wsi_run_qspc, PLAIN, NULL },
	{ WS_OP_ATOM, wsi_run_atomic, PLAIN, wsi_prepare_atomic },
	{ WS_OP_ATOMG, wsi_run_atomic, PLAIN, wsi_prepare_atomic },
	{ WS_OP_ATOMS, wsi_run_atomic, PLAIN, wsi_prepare_atomic },
	{ WS_OP_RED, wsi_run_atomic, PLAIN, wsi_prepare_atomic },
	{ WS_OP_REDG, wsi_run_atomic, PLAIN, wsi_prepare_atomic },
	{ WS_OP_SYNCS, NULL, false, wsi_prepare_mbarrier },
	{ WS_OP_SYNCSU, NULL, false, wsi_prepare_mbarrier },
	{ WS_OP_USYNCS, NULL, false, wsi_prepare_mbarrier },
	{ WS_OP_ARRIVES, wsi_run_arrives, PLAIN, wsi_prepare_arrives },
	{ WS_OP_UBLKCP, wsi_run_bulk, PLAIN, wsi_prepare_bulk },
	{ WS_OP_UBLKRED, wsi_run_bulk, PLAIN, wsi_prepare_bulk },
	{ WS_OP_UBLKPF, wsi_run_nothing, PLAIN, NULL },
	{ WS_OP_UBLKL2CCTL, wsi_run_nothing, PLAIN, wsi_prepare_prefetch },
	{ WS_OP_STAS, wsi_run_counted_store, PLAIN, wsi_prepare_counted_store },
	{ WS_OP_REDAS, wsi_run_counted_store, PLAIN, wsi_prepare_counted_store },
	{ WS_OP_UGETNEXTWORKID, wsi_run_next_work, PLAIN, wsi_prepare_next_work },
	{ WS_OP_UTMALDG, wsi_run_tensor, PLAIN, wsi_prepare_tensor },
	{ WS_OP_UTMASTG, wsi_run_tensor, PLAIN, wsi_prepare_tensor },
	{ WS_OP_UTMAREDG, wsi_run_tensor, PLAIN, wsi_prepare_tensor },
	{ WS_OP_UTMAPF, wsi_run_nothing, PLAIN, NULL },
	{ WS_OP_UTMAL2CCTL, wsi_run_nothing, PLAIN, wsi_prepare_prefetch },
	{ WS_OP_UTMACCTL, wsi_run_nothing, PLAIN, NULL },
	{ WS_OP_UTMACMDFLUSH, wsi_run_nothing, PLAIN, NULL },
	{ WS_OP_BGMMA, wsi_run_group_matrix, MANY, wsi_prepare_group_matrix },
	{ WS_OP_HGMMA, wsi_run_group_matrix, MANY, wsi_prepare_group_matrix },
	{ WS_OP_IGMMA, wsi_run_group_matrix, MANY, wsi_prepare_group_matrix },
	{ WS_OP_QGMMA, wsi_run_group_matrix, MANY, wsi_prepare_group_matrix },
	{ WS_OP_UTCATOMSWS, wsi_run_tmem_allocate, PLAIN, wsi_prepare_tmem_allocate },
	{ WS_OP_UVIRTCOUNT, wsi_run_nothing, PLAIN, NULL },
	{ WS_OP_LDTM, wsi_run_tmem_move, MANY, wsi_prepare_tmem_move },
	{ WS_OP_STTM, wsi_run_tmem_move, MANY, wsi_prepare_tmem_move },
	{ WS_OP_UTCCP, wsi_run_tmem_copy, FLAT, wsi_prepare_tmem_copy },
	{ WS_OP_UTCSHIFT, wsi_run_tmem_shift, FLAT, wsi_prepare_tmem_shift },
	{ WS_OP_UTCBAR, wsi_run_tmem_commit, PLAIN, wsi_prepare_tmem_commit },
	{ WS_OP_UTCHMMA, wsi_run_tmem_matrix, FLAT, wsi_prepare_tmem_matrix },
	{ WS_OP_UTCIMMA, wsi_run_tmem_matrix, FLAT, wsi_prepare_tmem_matrix },
	{ WS_OP_UTCQMMA, wsi_run_tmem_matrix, FLAT, wsi_prepare_tmem_matrix },
	{ WS_OP_UTCOMMA, wsi_run_tmem_matrix, FLAT, wsi_prepare_tmem_matrix },
	{ WS_OP_WARPGROUP, wsi_run_group_wait, PLAIN, wsi_prepare_group },
	{ WS_OP_USETMAXREG, wsi_run_set_registers, PLAIN, wsi_prepare_set_registers },
	{ WS_OP_TEX, wsi_run_sample, PLAIN, wsi_prepare_texture },
	{ WS_OP_TXD, wsi_run_sample, PLAIN, wsi_prepare_texture },
	{ WS_OP_TLD, wsi_run_fetch, PLAIN, wsi_prepare_texture },
	{ WS_OP_TLD4, wsi_run_gather, PLAIN, wsi_prepare_texture },
	{ WS_OP_TXQ, wsi_run_texture_size, PLAIN, wsi_prepare_texture },
	{ WS_OP_SULD, wsi_run_surface_load, PLAIN, wsi_prepare_surface },
	{ WS_OP_SUST, wsi_run_surface_store, PLAIN, wsi_prepare_surface },
	{ WS_OP_SURED, wsi_run_surface_atomic, PLAIN, wsi_prepare_surface },
	{ WS_OP_SUATOM, wsi_run_surface_atomic, PLAIN, wsi_prepare_surface },
	{ WS_OP_SHFL, wsi_run_shfl, PLAIN, NULL },
	{ WS_OP_VOTE, wsi_run_vote, PLAIN, NULL },
	{ WS_OP_VOTEU, wsi_run_vote, PLAIN, NULL },
	{ WS_OP_MATCH, wsi_run_match, PLAIN, NULL },
	{ WS_OP_REDUX, wsi_run_redux, PLAIN, wsi_prepare_redux },
	{ WS_OP_CREDUX, wsi_run_redux, PLAIN, wsi_prepare_redux },
	{ WS_OP_R2UR, wsi_run_to_uniform, PLAIN, wsi_prepare_to_uniform },
	{ WS_OP_S2R, wsi_run_special, PLAIN, NULL },
	{ WS_OP_S2UR, wsi_run_special, PLAIN, NULL },
	{ WS_OP_CS2R, wsi_run_special, PLAIN, NULL },
	{ WS_OP_CS2UR, wsi_run_special, PLAIN, NULL },
	{ WS_OP_ELECT, wsi_run_elect, PLAIN, NULL },
};

static uint64_t modifiers_of(const struct ws_insn *insn)
{
	static const uint16_t list[] = {
#define X(name) WS_MOD_##name,
		WSI_MODIFIERS(X)
#undef X
	};
	enum ws_modifier mods[WS_SASS_MAX_MODIFIERS];
	size_t n = ws_sass_modifiers(insn, mods, WSI_COUNT(mods));
	uint64_t has = 0;
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < WSI_COUNT(list); k++)
			has |= list[k] == mods[i] ? UINT64_C(1) << k : 0;
	return has;
}

/* ---- operands of what src/alu does not know ---- */

static bool add_source_registers(struct wsi_alu *alu, const struct ws_operand *op)
{
	if (ws_operand_is_predicate(op->kind))
		return wsi_alu_add_condition(alu, op);
	if (alu->n_sources == WSI_ALU_SOURCES)
		return false;
	struct wsi_alu_value value = { .number = (uint8_t)op->number, .words = op->count };
	if (op->kind == WS_OPERAND_REG || op->kind == WS_OPERAND_UREG) {
		value.place = op->kind == WS_OPERAND_REG ? WSI_ALU_REG : WSI_ALU_UREG;
	} else if (op->kind == WS_OPERAND_IMMEDIATE || op->kind == WS_OPERAND_FLOAT ||
		   op->kind == WS_OPERAND_SPECIAL) {
		value.place = WSI_ALU_NUMBER;
		value.value = op->kind == WS_OPERAND_SPECIAL ? op->number : (uint64_t)op->value;
	} else {
		return false;
	}
	alu->flip[alu->n_sources] = op->negated ? UINT32_MAX : 0;
	alu->source[alu->n_sources++] = value;
	return true;
}

static unsigned log2_of_scale(unsigned scale)
{
	unsigned shift = 0;
	while (scale > 1u << shift)
		shift++;
	return shift;
}

/* Part of an address. */
static bool add_at(struct wsi_op *to, const struct ws_operand *op, int *place)
{
	if (op->role == WS_ROLE_DESCRIPTOR) /* says how to access, nothing to add */
		return true;
	if (*place != op->place) {
		if (to->n_at == WSI_COUNT(to->at))
			return false;
		*place = op->place;
		to->n_at++;
	}
	struct wsi_op_address *at = &to->at[to->n_at - 1];
	if (op->role == WS_ROLE_BANK) {
		at->bank = (uint8_t)op->value;
		return op->kind == WS_OPERAND_IMMEDIATE && op->value < WSI_BANKS;
	}
	if (op->role == WS_ROLE_OFFSET) {
		at->offset += op->value;
		return op->kind == WS_OPERAND_IMMEDIATE;
	}
	uint8_t words = op->count == 2 && !op->is_u32 ? 2 : 1;
	if (op->kind == WS_OPERAND_REG) {
		at->reg = (uint8_t)op->number;
		at->reg_words = op->number == 255 ? 0 : words;
		at->shift = (uint8_t)log2_of_scale(op->scale);
		return true;
	}
	at->ureg = (uint8_t)op->number;
	at->ureg_words = op->number == 255 ? 0 : words;
	return op->kind == WS_OPERAND_UREG;
}

/* False: operands that the table does not tell apart far enough. */
static bool take_code_operands(struct wsi_op *op, uint64_t pc, bool flat)
{
	struct ws_operand list[WS_SASS_MAX_OPERANDS];
	size_t n = ws_sass_operands(&op->insn, pc, list, WSI_COUNT(list));
	int place = -1;
	bool ok = true;
	for (size_t i = 0; i < n && ok; i++) {
		switch (list[i].role) {
		case WS_ROLE_WRITTEN:
			if (list[i].kind == WS_OPERAND_BREG)
				op->kind = (uint8_t)list[i].number;
			else
				ok = wsi_alu_add_result(&op->alu, &list[i]);
			break;
		case WS_ROLE_UPDATED:
		case WS_ROLE_READ:
			if (list[i].kind == WS_OPERAND_BREG)
				op->kind = (uint8_t)list[i].number;
			else if (list[i].kind != WS_OPERAND_SCOREBOARD &&
				 !(flat && list[i].kind == WS_OPERAND_IMMEDIATE))
				ok = add_source_registers(&op->alu, &list[i]);
			break;
		case WS_ROLE_TARGET:
			op->target = (uint64_t)list[i].value;
			break;
		case WS_ROLE_ADDRESS_BASE:
		case WS_ROLE_OFFSET:
		case WS_ROLE_BANK:
		case WS_ROLE_DESCRIPTOR:
			if (!flat)
				ok = add_at(op, &list[i], &place);
			else if (list[i].role == WS_ROLE_OFFSET)
				op->at[0].offset += list[i].value;
			else
				ok = add_source_registers(&op->alu, &list[i]);
			break;
		}
	}
	return ok;
}

/* Registers that an operation reaches: one more than its highest. */
static uint16_t top_register(const struct wsi_op *op)
{
	unsigned top = 0;
	for (unsigned i = 0; i < op->alu.n_sources + op->alu.n_results; i++) {
		const struct wsi_alu_value *v = i < op->alu.n_sources
							? &op->alu.source[i]
							: &op->alu.result[i - op->alu.n_sources];
		unsigned end = v->number + v->words;
		if (v->place == WSI_ALU_REG && v->number != 255 && end > top)
			top = end;
	}
	for (unsigned i = 0; i < op->n_at; i++) {
		unsigned end = op->at[i].reg + op->at[i].reg_words;
		if (op->at[i].reg_words != 0 && end > top)
			top = end;
	}
	return (uint16_t)top;
}

/* Whether uniform registers and constants are within bounds, once and for all. */
static bool uniform_fits(const struct wsi_op *op, uint32_t n_uregs, unsigned most_read,
			 unsigned most_written, unsigned most_uniform)
{
	for (unsigned i = 0; i < op->alu.n_sources + op->alu.n_results; i++) {
		bool is_source = i < op->alu.n_sources;
		const struct wsi_alu_value *v =
			is_source ? &op->alu.source[i] : &op->alu.result[i - op->alu.n_sources];
		if (v->place == WSI_ALU_UREG && v->number != 255 && v->number + v->words > n_uregs)
			return false;
		if (v->place == WSI_ALU_BINDLESS ||
		    (v->place == WSI_ALU_CONSTANT && v->number >= WSI_BANKS))
			return false;
		unsigned most = is_source ? most_read : most_written;
		if (v->words == 0 || v->words > (v->place == WSI_ALU_REG ? most : most_uniform))
			return false;
	}
	for (unsigned i = 0; i < op->n_at; i++)
		if (op->at[i].ureg_words != 0 && op->at[i].ureg + op->at[i].ureg_words > n_uregs)
			return false;
	return true;
}

/* By the handler that was chosen. */
static enum wsi_does does_of(const struct wsi_op *op)
{
#define X(name, handler)                  \
	if (op->run == wsi_run_##handler) \
		return WSI_DOES_##name;
	WSI_DOES_LIST(X)
#undef X
	return op->insn.operation == WS_OP_MEMBAR || op->insn.operation == WS_OP_FENCE
		       ? WSI_DOES_FENCE
		       : WSI_DOES_OTHER;
}

static void decode_operation(const struct ws_sim *sim, const struct wsi_text *text, uint64_t off,
			     struct wsi_op *op)
{
	*op = (struct wsi_op){ .run = NULL };
	ws_sass_decode(sim->device->sm, text->bytes + off, &op->insn);
	op->guard = op->insn.guard;
	op->guard_negated = op->insn.guard_negated;
	op->guard_uniform = op->insn.flags & WS_SASS_UNIFORM_GUARD;
	op->bytes = (uint8_t)ws_sass_access_bytes(&op->insn);
	op->space = (uint8_t)ws_sass_space(&op->insn);
	op->run = wsi_run_illegal;
	op->always = !op->insn.known; /* who knows its guard? */
	op->has = modifiers_of(&op->insn);
	if (!op->insn.known)
		return;
	op->run = wsi_run_unimplemented;
	if (op->insn.unknown[0] != 0 || op->insn.unknown[1] != 0 ||
	    ws_sass_has(&op->insn, WS_MOD_UNKNOWN))
		return; /* who knows what it means? */
	const struct code_rule *rule = NULL;
	for (size_t i = 0; i < WSI_COUNT(rules) && !rule; i++)
		if (rules[i].operation == op->insn.operation)
			rule = &rules[i];
	if (rule) {
		if (!take_code_operands(op, text->start + off, rule->way == FLAT))
			return;
	} else if (wsi_alu_prepare(&op->insn, &op->alu) != WSI_ALU_OK) {
		return;
	}
	if (rule && op->n_at == 0 && op->bytes != 0)
		op->n_at = 1; /* "[RZ]": address 0 */
	op->top = top_register(op);
	const enum operation_way way = rule ? rule->way : PLAIN;
	if (!uniform_fits(op, sim->device->uregs, way == MANY ? 128 : WSI_WORDS_READ,
			  way == MANY ? 128 : WSI_WORDS_WRITTEN, way == FLAT ? 8 : 4))
		return;
	op->run = rule ? rule->run : wsi_run_values;
	op->splits = way == SPLITS;
	if (rule && rule->prepare)
		rule->prepare(op);
	op->does = (uint8_t)does_of(op);
}

/* Whether what is loaded is soon the value that a compare and swap compares with: the first half of
 * an atomic that hardware does not have, which fails if the word has changed meanwhile. */
static bool feeds_swap(const struct ws_sim *sim, const struct wsi_text *text, uint64_t off,
		       const struct wsi_op *load)
{
	enum { NEAR = 16 };
	for (unsigned i = 0; i < NEAR; i++) {
		struct wsi_op next;
		off += WS_SASS_BYTES;
		if (off + WS_SASS_BYTES > text->size)
			return false;
		decode_operation(sim, text, off, &next);
		if (next.does == WSI_DOES_ATOMIC && (WSI_HAS(&next, CAST) || WSI_HAS(&next, CAS)) &&
		    next.bytes == load->bytes &&
		    next.alu.source[0].number == load->alu.result[0].number)
			return true;
	}
	return false;
}

/* On a device that checks: accesses to memory, and fences, are watched, registers followed. */
static void decode_checked(const struct ws_sim *sim, const struct wsi_text *text, uint64_t off,
			   struct wsi_op *op)
{
	if (op->does == WSI_DOES_VALUES)
		op->target = wsi_check_named(sim->check, text->start + off);
	if (op->does == WSI_DOES_LOAD && feeds_swap(sim, text, off, op))
		op->has |= UINT64_C(1) << WSI_MODIFIER_STRONG;
	if (!op->insn.known)
		return;
	op->wrap = wsi_wrap_kind(op);
	op->checked = op->run;
	op->run = op->does >= WSI_DOES_LOAD ? wsi_run_checked : wsi_run_followed;
}

void wsi_sim_text_renew(const struct ws_sim *sim, const struct wsi_text *text, uint64_t off,
			struct wsi_op *op)
{
	decode_operation(sim, text, off, op);
	if (sim->check)
		decode_checked(sim, text, off, op);
}

bool wsi_sim_text_decode(struct ws_sim *sim, struct wsi_text *text, uint64_t chunk)
{
	struct wsi_op *ops = NULL;
	if (wsi_account_fix(&sim->account, "decoded code", WSI_OPS_CHUNK * sizeof *ops))
		ops = wsi_zalloc_array(WSI_OPS_CHUNK, sizeof *ops);
	if (!ops)
		return false;
	uint64_t first = chunk * WSI_OPS_CHUNK, n = text->size / WS_SASS_BYTES;
	for (uint64_t i = 0; i < WSI_OPS_CHUNK; i++) {
		if (first + i < n)
			wsi_sim_text_renew(sim, text, (first + i) * WS_SASS_BYTES, &ops[i]);
		else
			ops[i] = (struct wsi_op){ .run = wsi_run_illegal, .always = true };
	}
	text->chunks[chunk] = ops;
	return true;
}
