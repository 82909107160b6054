/* SPDX-License-Identifier: Apache-2.0 */
/* Line tables as they are written: header and opcodes, in the manner of readelf
 * --debug-dump=rawline. */
#include <warpscope/symbols.h>

#include "verbs/code.h"

/* ---- headers ---- */

static void print_files(struct ws_out *out, const struct ws_line_table *t)
{
	size_t first = t->version < 5 ? 1 : 0;
	ws_out_text(out, "  directories:\n");
	for (size_t i = first; i < t->n_dirs; i++) {
		ws_out_printf(out, "%5zu  ", i);
		ws_out_escaped(out, ws_str_of(t->dirs[i]));
		ws_out_text(out, "\n");
	}
	ws_out_text(out, "  files:\n");
	for (size_t i = first; i < t->n_files; i++) {
		const struct ws_line_file *file = &t->files[i];
		ws_out_printf(out, "%5zu  time %llu, size %llu, ", i,
			      (unsigned long long)file->mtime,
			      (unsigned long long)file->size_bytes);
		ws_path_text(out, file, false);
		ws_out_text(out, "\n");
	}
}

static void print_names_base(struct ws_out *out, const struct ws_line_table *t)
{
	ws_out_text(out, "  NVIDIA base of function names: ");
	if (t->base == WS_LINE_BASE_LOST) {
		ws_out_text(out, "lost (the linker left 0)\n");
		return;
	}
	ws_out_printf(out, "0x%x", (unsigned)t->str_base);
	ws_out_text(out, t->base == WS_LINE_BASE_FOUND
				 ? " (the linker left 0; only this one fits the names)\n"
				 : "\n");
}

static void print_header(struct ws_out *out, const struct ws_line_table *t)
{
	ws_out_printf(out, "\nline table at 0x%llx\n", (unsigned long long)t->sec_off);
	ws_out_printf(out, "  length: %llu%s\n", (unsigned long long)t->unit_length,
		      t->dwarf64 ? " (64-bit DWARF)" : "");
	ws_out_printf(out, "  version: %u\n", (unsigned)t->version);
	ws_out_printf(out, "  header length: %llu\n", (unsigned long long)t->header_length);
	ws_out_printf(out, "  minimum instruction length: %u\n", (unsigned)t->min_inst_length);
	if (t->version >= 4)
		ws_out_printf(out, "  operations per instruction: %u\n", (unsigned)t->max_ops);
	ws_out_printf(out, "  initial is_stmt: %d\n", t->default_is_stmt);
	ws_out_printf(out, "  line base: %d\n", t->line_base);
	ws_out_printf(out, "  line range: %u\n", (unsigned)t->line_range);
	ws_out_printf(out, "  opcode base: %u\n", (unsigned)t->opcode_base);
	ws_out_text(out, "  operands of opcodes:");
	for (unsigned i = 0; i + 1 < t->opcode_base; i++)
		ws_out_printf(out, " %u", (unsigned)t->opcode_lengths[i]);
	ws_out_text(out, "\n");
	if (t->has_str_base)
		print_names_base(out, t);
	print_files(out, t);
	ws_out_text(out, "  program:\n");
}

/* ---- opcodes ---- */

static void print_callee(struct ws_out *out, const struct ws_line_table *table,
			 const struct ws_line_op *op)
{
	if (table->base == WS_LINE_BASE_LOST) {
		ws_out_printf(out, "lost, 0x%llx behind its base",
			      (unsigned long long)op->operand[op->opcode == 0x90]);
		return;
	}
	ws_out_printf(out, "at 0x%x ", (unsigned)op->name_off);
	if (op->text)
		ws_out_escaped(out, ws_str_of(op->text));
	else
		ws_out_text(out, "(outside .debug_str)");
}

static void print_extended(struct ws_out *out, const struct ws_line_table *table,
			   const struct ws_line_op *op)
{
	ws_out_printf(out, "extended opcode %u: ", (unsigned)op->opcode);
	switch (op->opcode) {
	case 1:
		ws_out_text(out, "end of sequence");
		break;
	case 2:
		ws_out_printf(out, "set address to 0x%llx", (unsigned long long)op->address);
		break;
	case 3:
		ws_out_text(out, "define file ");
		break;
	case 4:
		ws_out_printf(out, "set discriminator to %lld", (long long)op->operand[0]);
		break;
	case 0x90:
		ws_out_printf(out, "inlined call: context %u, name ", (unsigned)op->context);
		print_callee(out, table, op);
		break;
	case 0x91:
		ws_out_text(out, "set function name ");
		print_callee(out, table, op);
		break;
	default:
		ws_out_printf(out, "unknown, %u bytes", (unsigned)op->size_bytes);
		break;
	}
	if (op->opcode == 3 && op->text)
		ws_out_escaped(out, ws_str_of(op->text));
}

static void print_standard(struct ws_out *out, const struct ws_line_op *op)
{
	static const char *const plain[] = { [1] = "copy",
					     [7] = "set basic block",
					     [10] = "set prologue end",
					     [11] = "set epilogue begin" };
	unsigned long long operand = op->n_operands ? (unsigned long long)op->operand[0] : 0;
	if (op->opcode < WSI_COUNT(plain) && plain[op->opcode]) {
		ws_out_printf(out, "%s", plain[op->opcode]);
		return;
	}
	switch (op->opcode) {
	case 2:
	case 8:
	case 9:
		ws_out_printf(out, "advance address by %llu to 0x%llx%s",
			      (unsigned long long)op->address_advance,
			      (unsigned long long)op->address,
			      op->opcode == 8   ? " (constant)"
			      : op->opcode == 9 ? " (fixed)"
						: "");
		break;
	case 3:
		ws_out_printf(out, "advance line by %lld to %u", (long long)op->line_advance,
			      (unsigned)op->line);
		break;
	case 4:
		ws_out_printf(out, "set file to %llu", operand);
		break;
	case 5:
		ws_out_printf(out, "set column to %llu", operand);
		break;
	case 6:
		ws_out_printf(out, "set is_stmt to %d", op->is_stmt);
		break;
	case 12:
		ws_out_printf(out, "set isa to %llu", operand);
		break;
	default:
		ws_out_printf(out, "unknown opcode %u with %u operands", (unsigned)op->opcode,
			      op->n_operands);
		break;
	}
}

static bool print_op(void *user, const struct ws_line_table *table, const struct ws_line_op *op)
{
	struct ws_out *out = user;
	ws_out_printf(out, "  [%6llx]  ", (unsigned long long)op->sec_off);
	if (op->kind == WS_LINE_OP_EXTENDED)
		print_extended(out, table, op);
	else if (op->kind == WS_LINE_OP_STANDARD)
		print_standard(out, op);
	else
		ws_out_printf(out, "special opcode %u: address+%llu = 0x%llx, line%+lld = %u",
			      (unsigned)op->opcode, (unsigned long long)op->address_advance,
			      (unsigned long long)op->address, (long long)op->line_advance,
			      (unsigned)op->line);
	if (op->row)
		ws_out_printf(out, "  -> row %u", (unsigned)op->row);
	ws_out_text(out, "\n");
	return true;
}

static bool json_op(void *user, const struct ws_line_table *table, const struct ws_line_op *op)
{
	struct ws_json *json = user;
	(void)table;
	static const char *const kinds[] = { "special", "standard", "extended" };
	ws_json_object(json);
	ws_json_key_hex(json, "offset", op->sec_off);
	ws_json_key_text(json, "kind", kinds[op->kind]);
	ws_json_key_u64(json, "opcode", op->opcode);
	ws_json_key_text(json, "name", op->name);
	ws_json_key_array_line(json, "operands");
	for (unsigned i = 0; i < op->n_operands; i++)
		ws_json_i64(json, op->operand[i]);
	ws_json_end(json);
	if (op->text)
		ws_json_key_text(json, "text", op->text);
	if (op->row) {
		ws_json_key_u64(json, "row", op->row);
		ws_json_key_hex(json, "address", op->address);
		ws_json_key_u64(json, "line", op->line);
	}
	ws_json_end(json);
	return true;
}

/* ---- tables ---- */

static void json_header(struct ws_json *json, const struct ws_line_table *t)
{
	ws_json_key_u64(json, "offset", t->sec_off);
	ws_json_key_u64(json, "length", t->unit_length);
	ws_json_key_u64(json, "version", t->version);
	ws_json_key_bool(json, "dwarf64", t->dwarf64);
	ws_json_key_u64(json, "header_length", t->header_length);
	ws_json_key_u64(json, "min_inst_length", t->min_inst_length);
	ws_json_key_u64(json, "max_ops", t->max_ops);
	ws_json_key_bool(json, "default_is_stmt", t->default_is_stmt);
	ws_json_key_i64(json, "line_base", t->line_base);
	ws_json_key_u64(json, "line_range", t->line_range);
	ws_json_key_u64(json, "opcode_base", t->opcode_base);
	if (t->has_str_base && t->base == WS_LINE_BASE_LOST)
		ws_json_missing(json, "function_names_base", WS_MALFORMED);
	else if (t->has_str_base)
		ws_json_key_u64(json, "function_names_base", t->str_base);
	if (t->has_str_base)
		ws_json_key_bool(json, "function_names_base_unset",
				 t->base != WS_LINE_BASE_WRITTEN);
	ws_json_key_array(json, "files");
	for (size_t i = t->version < 5 ? 1 : 0; i < t->n_files; i++) {
		ws_json_object(json);
		ws_json_key_u64(json, "number", i);
		ws_path_json(json, &t->files[i]);
		ws_json_key_u64(json, "mtime", t->files[i].mtime);
		ws_json_key_u64(json, "size", t->files[i].size_bytes);
		ws_json_end(json);
	}
	ws_json_end(json);
}

bool wsi_verbs_lines_raw(const struct ws_line_map *map, struct ws_out *out, struct ws_json *json)
{
	size_t n = ws_line_table_count(map);
	if (json)
		ws_json_key_array(json, "tables");
	for (size_t i = 0; i < n; i++) {
		const struct ws_line_table *table = ws_line_table_at(map, i);
		if (json) {
			ws_json_object(json);
			json_header(json, table);
			ws_json_key_array(json, "program");
		} else {
			print_header(out, table);
		}
		/* what breaks is told with all other damage of the map */
		(void)!ws_line_walk(map, i, json ? json_op : print_op, json ? (void *)json : out,
				    NULL);
		if (json) {
			ws_json_end(json);
			ws_json_end(json);
		}
	}
	if (json)
		ws_json_end(json);
	return n > 0;
}
