/* SPDX-License-Identifier: Apache-2.0 */
/* Where a variable is, in words: "$R4 and $R5", "(@local) 0xfffb40". */
#include "cubin/cubin.h"
#include "vars/vars.h"

static void print_piece(const struct ws_reg_piece *piece, struct ws_out *out)
{
	const uint32_t index = piece->index;
	switch (piece->reg_class) {
	case WS_REG_CLASS_FULL:
		ws_out_printf(out, "$R%" PRIu32, index);
		break;
	case WS_REG_CLASS_UFULL:
		ws_out_printf(out, "$UR%" PRIu32, index);
		break;
	case WS_REG_CLASS_HALF:
	case WS_REG_CLASS_UHALF:
		ws_out_printf(out, "the %s half of $%s%" PRIu32, index & 1 ? "upper" : "lower",
			      piece->reg_class == WS_REG_CLASS_HALF ? "R" : "UR", index / 2);
		break;
	case WS_REG_CLASS_PRED:
		ws_out_printf(out, "$P%" PRIu32, index);
		break;
	case WS_REG_CLASS_UPRED:
		ws_out_printf(out, "$UP%" PRIu32, index);
		break;
	case WS_REG_CLASS_LOCAL:
		ws_out_printf(out, "(@local) 0x%" PRIx32, index);
		break;
	case WS_REG_CLASS_LOCAL_REG:
		ws_out_printf(out, "(@local) $R%" PRIu32 " + 0x%" PRIx32, index >> 16,
			      index & 0xffff);
		break;
	default:
		ws_out_text(out, "a register of an unknown class");
		break;
	}
}

enum ws_status ws_vars_print_place(struct ws_vars *vars, const struct ws_variable_value *variable,
				   struct ws_out *out)
{
	const struct ws_value *value = &variable->value;
	const struct ws_dwarf_function *function;
	struct ws_reg_piece pieces[WS_REG_MAX_PIECES];
	const struct ws_dwarf *dwarf;
	struct ws_where where;
	size_t n;
	if (value->kind == WS_VALUE_MEMORY) {
		ws_out_printf(out, "(@%s) 0x%" PRIx64, wsi_space_name(value->at.space),
			      value->at.address);
		return WS_OK;
	}
	if (wsi_vars_dwarf(vars, &dwarf, &function, NULL) != WS_OK)
		return WS_ABSENT;
	const struct ws_frame *frame = &vars->frames[vars->selected];
	if (ws_dwarf_where(dwarf, function, frame->rel_pc, &variable->variable, &where, NULL) !=
		    WS_OK ||
	    where.kind != WS_WHERE_REGISTER ||
	    wsi_cubin_find_register(frame->place.cubin, frame->place.function->name,
				    ws_str_of(where.reg), frame->rel_pc, pieces,
				    &n) != WS_REGMAP_FOUND)
		return WS_ABSENT;
	for (size_t i = 0; i < n; i++) {
		ws_out_text(out, i == 0 ? "" : i + 1 == n ? " and " : ", ");
		print_piece(&pieces[i], out);
	}
	return WS_OK;
}
