/* SPDX-License-Identifier: Apache-2.0 */
/* Opcodes as written, for those who want to see them. */
#include "line/map.h"
#include "line/program.h"

static const char *op_name(enum ws_line_op_kind kind, uint8_t opcode)
{
	if (kind == WS_LINE_OP_STANDARD) {
		switch (opcode) {
#define X(name, number)     \
	case DW_LNS_##name: \
		return "DW_LNS_" #name;
			WSI_LNS_LIST(X)
#undef X
		default:
			return NULL;
		}
	}
	if (kind == WS_LINE_OP_EXTENDED) {
		switch (opcode) {
#define X(name, number)     \
	case DW_LNE_##name: \
		return "DW_LNE_" #name;
			WSI_LNE_LIST(X)
#undef X
		default:
			return NULL;
		}
	}
	return NULL;
}

static const char *op_text(const struct ws_line_map *map, const struct wsi_line_insn *insn,
			   const struct wsi_line_regs *regs)
{
	if (insn->kind != WS_LINE_OP_EXTENDED)
		return NULL;
	if (insn->opcode == DW_LNE_define_file)
		return insn->defined.name;
	if (insn->opcode == DW_LNE_NVIDIA_inlined_call ||
	    insn->opcode == DW_LNE_NVIDIA_set_function_name)
		return wsi_line_str(&map->names, regs->name_off);
	return NULL;
}

struct line_walk {
	ws_line_op_fn *take;
	void *user;
	struct ws_error first; /* damage */
	bool damaged, stopped;
};

static void walk_damage(struct line_walk *w, enum ws_status status, uint64_t file_off,
			const char *why)
{
	if (!w->damaged)
		wsi_fail(&w->first, status, file_off, "%s", why);
	w->damaged = true;
}

static void walk_stretch(struct line_walk *w, const struct ws_line_map *map, uint32_t table,
			 const struct wsi_line_stretch *stretch)
{
	struct wsi_reader r;
	const struct wsi_line_program p = wsi_line_program_of(map, table, stretch, &r);
	struct wsi_line_regs regs = wsi_line_regs_start(p.table);
	struct wsi_line_insn insn;
	uint32_t n_rows = 0, owner = WS_LINE_NO_OWNER;
	while (wsi_reader_left(&r) > 0 && !w->stopped) {
		struct wsi_line_regs before = regs;
		enum wsi_line_step step = wsi_line_step(&p, &r, &regs, &insn);
		if (step == WSI_LINE_BROKEN) {
			walk_damage(w, insn.status, r.in.origin + insn.start, insn.why);
			return;
		}
		if (insn.kind == WS_LINE_OP_EXTENDED && insn.opcode == DW_LNE_set_address &&
		    insn.reloc)
			owner = insn.reloc->owner;
		n_rows += step != WSI_LINE_STEP;
		struct ws_line_op op = {
			.kind = insn.kind,
			.opcode = insn.opcode,
			.name = op_name(insn.kind, insn.opcode),
			.sec_off = stretch->start + insn.start,
			.size_bytes = (uint32_t)(r.pos - insn.start),
			.n_operands = insn.n_operands,
			.text = op_text(map, &insn, &regs),
			.address = regs.address,
			.address_advance = regs.address - before.address,
			.line_advance = (int32_t)(regs.line - before.line),
			.line = regs.line,
			.file = regs.file,
			.column = regs.column,
			.op_index = regs.op_index,
			.context = regs.context,
			.name_off = regs.name_off,
			.is_stmt = regs.is_stmt,
			.row = step == WSI_LINE_STEP ? 0 : n_rows,
			.owner = owner,
		};
		memcpy(op.operand, insn.operand, insn.n_operands * sizeof *op.operand);
		w->stopped = !w->take(w->user, p.table, &op);
		if (step == WSI_LINE_ROW) {
			wsi_line_after_row(&regs);
		} else if (step == WSI_LINE_END) {
			regs = wsi_line_regs_start(p.table);
			n_rows = 0;
			owner = WS_LINE_NO_OWNER;
		}
	}
}

/* First part of a table or a later one. */
static size_t part_lower(const struct ws_line_map *map, size_t table)
{
	return WSI_BISECT(i, 0, map->n_parts, map->part[i].table < table);
}

enum ws_status ws_line_walk(const struct ws_line_map *map, size_t table, ws_line_op_fn *take,
			    void *user, struct ws_error *err)
{
	if (table >= map->n_tables)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "no line table %zu", table);
	struct line_walk w = { .take = take, .user = user };
	for (size_t i = part_lower(map, table); i < map->n_parts && map->part[i].table == table;
	     i++) {
		struct wsi_line_stretch it = wsi_line_stretches(&map->part[i]);
		while (!w.stopped && wsi_line_stretch_next(map, &map->part[i], &it))
			walk_stretch(&w, map, map->part[i].table, &it);
	}
	if (!w.damaged)
		return WS_OK;
	if (err)
		*err = w.first;
	return w.first.status;
}
