/* SPDX-License-Identifier: Apache-2.0 */
/* Line tables, debug information and unwinding rules of an image, as far as they are recognised. */
#include <warpscope/line.h>

#include "base/form.h"
#include "dwarf/dwarf.h"
#include "line/program.h"
#include "write/clean.h"
#include "write/paths.h"

static struct ws_span clean_part(struct ws_span bytes, uint64_t start, uint64_t end)
{
	struct ws_span sub = { 0 };
	if (end >= start)
		(void)ws_span_sub(bytes, start, end - start, &sub);
	return sub;
}

/* A number of variable length that becomes 0 and keeps its length. */
static void zero_leb(struct wsi_clean *clean, struct ws_span bytes)
{
	uint8_t *to = wsi_clean_at(clean, bytes.ptr, bytes.len);
	for (size_t i = 0; i < bytes.len; i++)
		to[i] = wsi_at_u8(bytes, i) & 0x80;
}

/* ---- lines ---- */

struct lines {
	struct wsi_clean *clean;
	struct ws_span bytes, names; /* of the section, of .debug_str */
};

static void path_clean(struct wsi_clean *clean, struct ws_str path, bool has_file)
{
	char *to = path.len ? (char *)wsi_clean_at(clean, path.ptr, path.len) : NULL;
	if (to && clean->flags & WS_STRIP_PATHS)
		clean->stripped->paths += wsi_path_scrub(to, path.len, has_file);
}

/* A name of a file, with the numbers behind it. */
static bool file_keep(struct wsi_clean *clean, struct wsi_reader *r)
{
	size_t start = r->pos;
	struct ws_str name = wsi_read_cstr(r);
	for (unsigned i = 0; i < 3 && name.len > 0; i++)
		wsi_read_uleb(r);
	if (r->failed || name.len == 0)
		return false;
	wsi_clean_keep(clean, clean_part(r->in, start, r->pos));
	path_clean(clean, name, true);
	return true;
}

/* Both lists of DWARF 2 to 4; what comes behind them is NVIDIA's word or nothing. */
static void lists_keep(struct wsi_clean *clean, struct ws_span bytes)
{
	struct wsi_reader r = wsi_reader_of(bytes);
	for (;;) {
		size_t start = r.pos;
		struct ws_str folder = wsi_read_cstr(&r);
		if (r.failed)
			return;
		if (folder.len == 0)
			break;
		wsi_clean_keep(clean, clean_part(bytes, start, r.pos));
		path_clean(clean, folder, false);
	}
	while (file_keep(clean, &r))
		;
	if (!r.failed && wsi_reader_left(&r) == 4)
		wsi_clean_keep(clean, clean_part(bytes, r.pos, bytes.len));
}

/* Bytes of what is known of an extended opcode's operands. */
static size_t operands_known(struct wsi_clean *clean, uint8_t opcode, struct wsi_reader *r)
{
	size_t start = r->pos;
	switch (opcode) {
	case DW_LNE_set_address:
		wsi_reader_skip(r, wsi_min_u64(wsi_reader_left(r), 8));
		break;
	case DW_LNE_define_file:
		if (!file_keep(clean, r))
			return 0;
		break;
	case DW_LNE_NVIDIA_inlined_call:
		wsi_read_uleb(r);
		wsi_read_uleb(r);
		break;
	case DW_LNE_set_discriminator:
	case DW_LNE_NVIDIA_set_function_name:
		wsi_read_uleb(r);
		break;
	default:
		break;
	}
	return r->failed ? 0 : r->pos - start;
}

static void extended_keep(struct lines *lines, const struct ws_line_op *op, struct ws_span bytes)
{
	struct wsi_reader r = wsi_reader_of(bytes);
	wsi_read_u8(&r);
	wsi_read_uleb(&r);
	wsi_read_u8(&r);
	if (r.failed)
		return;
	size_t start = r.pos, n = operands_known(lines->clean, op->opcode, &r);
	wsi_clean_keep(lines->clean, clean_part(bytes, 0, start));
	if (op->opcode != DW_LNE_define_file) /* else it is there, without its folders */
		wsi_clean_keep(lines->clean, clean_part(bytes, start, start + n));
	if (op->opcode == DW_LNE_NVIDIA_inlined_call ||
	    op->opcode == DW_LNE_NVIDIA_set_function_name)
		wsi_clean_string(lines->clean, lines->names, op->name_off);
}

static bool op_keep(void *user, const struct ws_line_table *table, const struct ws_line_op *op)
{
	struct lines *lines = user;
	struct ws_span bytes = clean_part(lines->bytes, op->sec_off, op->sec_off + op->size_bytes);
	(void)table;
	if (op->kind == WS_LINE_OP_EXTENDED) {
		extended_keep(lines, op, bytes);
	} else if (op->kind == WS_LINE_OP_STANDARD && !op->name) {
		zero_leb(lines->clean, clean_part(bytes, 1, bytes.len));
		wsi_clean_keep(lines->clean, clean_part(bytes, 0, 1));
	} else {
		wsi_clean_keep(lines->clean, bytes);
	}
	return true;
}

static enum ws_status map_keep(struct lines *lines, const struct ws_line_map *map,
			       struct ws_error *err)
{
	enum { NEWEST = 4 };
	for (size_t i = 0; i < ws_line_table_count(map); i++) {
		const struct ws_line_table *table = ws_line_table_at(map, i);
		if (table->version > NEWEST) /* no compiler of NVIDIA's writes it */
			continue;
		uint64_t lists = (uint64_t)(table->opcode_lengths - lines->bytes.ptr) +
				 table->opcode_base - 1;
		wsi_clean_keep(lines->clean, clean_part(lines->bytes, table->sec_off, lists));
		lists_keep(lines->clean, clean_part(lines->bytes, lists, table->program_off));
		if (ws_line_walk(map, i, op_keep, lines, err) == WS_NO_MEMORY)
			return WS_NO_MEMORY;
	}
	return WS_OK;
}

enum ws_status wsi_clean_lines(struct wsi_clean *clean, uint32_t section, struct ws_error *err)
{
	struct lines lines = { clean, wsi_clean_bytes(clean, section), { 0 } };
	struct ws_line_map *map;
	if (section == clean->debug_line) {
		lines.names = wsi_clean_bytes(clean, clean->debug_str);
		enum ws_status st = ws_cubin_line_map(clean->cubin, &map, err);
		return st == WS_OK ? map_keep(&lines, map, err) : (st == WS_NO_MEMORY ? st : WS_OK);
	}
	struct ws_line_input input = { .line = lines.bytes };
	enum ws_status st = ws_line_create(&input, &map, err);
	if (st != WS_OK)
		return st == WS_NO_MEMORY ? st : WS_OK;
	st = map_keep(&lines, map, err);
	ws_line_destroy(map);
	return st;
}

/* ---- debug information ---- */

/* Numbers that stay: what entries refer to, where code is, how types are laid out. */
static bool number_stays(uint16_t attribute)
{
	static const uint16_t known[] = {
		DW_AT_sibling,
		DW_AT_stmt_list,
		DW_AT_low_pc,
		DW_AT_high_pc,
		DW_AT_language,
		DW_AT_inline,
		DW_AT_prototyped,
		DW_AT_accessibility,
		DW_AT_artificial,
		DW_AT_decl_file,
		DW_AT_decl_line,
		DW_AT_virtuality,
		DW_AT_object_pointer,
		DW_AT_byte_size,
		DW_AT_bit_offset,
		DW_AT_bit_size,
		DW_AT_containing_type,
		DW_AT_upper_bound,
		DW_AT_address_class,
		DW_AT_abstract_origin,
		DW_AT_count,
		DW_AT_declaration,
		DW_AT_data_member_location,
		DW_AT_encoding,
		DW_AT_external,
		DW_AT_specification,
		DW_AT_type,
		DW_AT_data_bit_offset,
	};
	for (size_t i = 0; i < WSI_COUNT(known); i++) {
		if (known[i] == attribute)
			return true;
	}
	return false;
}

static bool is_leb(uint16_t form)
{
	return form == WSI_FORM_SDATA || form == WSI_FORM_UDATA || form == WSI_FORM_REF_UDATA;
}

static struct ws_str written_text_of(const struct wsi_clean *clean,
				     const struct wsi_dwarf_written *value)
{
	struct ws_str text = { (const char *)value->bytes.ptr, value->bytes.len - 1 };
	if (value->in_str &&
	    !wsi_span_cstr(wsi_clean_bytes(clean, clean->debug_str), value->str_off, &text))
		return (struct ws_str){ 0 };
	return text;
}

static void text_keep(struct wsi_clean *clean, const struct wsi_dwarf_written *value)
{
	bool of_unit = value->tag == DW_TAG_compile_unit;
	bool path =
		of_unit && (value->attribute == DW_AT_name || value->attribute == DW_AT_comp_dir);
	bool name = !of_unit &&
		    (value->attribute == DW_AT_name || value->attribute == DW_AT_linkage_name ||
		     value->attribute == DW_AT_MIPS_linkage_name);
	if (name && value->tag == DW_TAG_enumerator && clean->options->enumerator)
		clean->options->enumerator(clean->options->user, written_text_of(clean, value));
	if (value->in_str) { /* a path may be the end of a name, so it is not changed but goes */
		if (name || (path && !(clean->flags & WS_STRIP_PATHS))) {
			wsi_clean_keep(clean, value->bytes);
			wsi_clean_string(clean, wsi_clean_bytes(clean, clean->debug_str),
					 value->str_off);
		}
		return;
	}
	struct ws_str text = { (const char *)value->bytes.ptr, value->bytes.len - 1 };
	uint8_t *to = wsi_clean_at(clean, text.ptr, text.len);
	if (name || path)
		wsi_clean_keep(clean, value->bytes);
	else if (text.len > 0)
		memset(to, 'x', text.len);
	if (path)
		path_clean(clean, text, value->attribute == DW_AT_name);
}

/* An expression: how long it is stays; what it is only for a member's place, or with all values. */
static void block_keep(struct wsi_clean *clean, const struct wsi_dwarf_written *value)
{
	enum { OP_PLUS_UCONST = 0x23, OP_NOP = 0x96 };
	struct wsi_reader r = wsi_reader_of(value->block);
	bool place = value->attribute == DW_AT_data_member_location &&
		     wsi_read_u8(&r) == OP_PLUS_UCONST && wsi_read_uleb(&r) <= UINT32_MAX &&
		     !r.failed && wsi_reader_left(&r) == 0;
	wsi_clean_keep(clean, clean_part(value->bytes, 0, value->bytes.len - value->block.len));
	if (place || !(clean->flags & WS_STRIP_VALUES))
		wsi_clean_keep(clean, value->block);
	else if (value->attribute == DW_AT_location && value->block.len > 0)
		memset(wsi_clean_at(clean, value->block.ptr, value->block.len), OP_NOP,
		       value->block.len);
}

static void value_keep(void *user, const struct wsi_dwarf_written *value)
{
	struct wsi_clean *clean = user;
	bool constant = value->attribute == DW_AT_const_value;
	bool place = value->attribute == DW_AT_location; /* in .debug_loc */
	if (value->is_text) {
		text_keep(clean, value);
		return;
	}
	if (value->bytes.len > 1 && value->block.ptr) {
		block_keep(clean, value);
		return;
	}
	bool stays = constant || place ? !(clean->flags & WS_STRIP_VALUES)
				       : number_stays(value->attribute);
	if (value->bytes.len == 8 && wsi_at_u64(value->bytes, 0) > WSI_CLEAN_MAX_ADDRESS)
		stays = stays && constant;
	if (stays)
		wsi_clean_keep(clean, value->bytes);
	else if (is_leb(value->form))
		zero_leb(clean, value->bytes);
}

static void bytes_keep(void *user, struct ws_span bytes)
{
	wsi_clean_keep(user, bytes);
}

enum ws_status wsi_clean_debug(struct wsi_clean *clean, struct ws_error *err)
{
	const struct ws_dwarf *dwarf;
	struct wsi_dwarf_visitor visitor = { clean, bytes_keep, value_keep };
	enum ws_status st = ws_cubin_dwarf(clean->cubin, &dwarf, err);
	if (st != WS_OK)
		return st == WS_NO_MEMORY ? st : WS_OK;
	return wsi_dwarf_visit(dwarf, &visitor, err);
}

/* ---- unwinding ---- */

/*
 * Operands of the rules: "u" and "s" numbers of variable length, "a" an address, digits so many
 * bytes, "b" an expression [public doc: DWARF 4 section 7.23].
 */
static const char *const frame_operands[] = {
	"",   "a", "1", "2", "4",  "uu", "u",  "u", "u",  "uu", "",   "",
	"uu", "u", "u", "b", "ub", "us", "us", "s", "uu", "us", "ub",
};

/* Numbers and addresses of an expression; false where it is another than those of nvcc's. */
static bool expression_is_known(struct ws_span bytes)
{
	enum {
		ADDR = 0x03,
		PLUS = 0x22,
		PLUS_UCONST = 0x23,
		REGX = 0x90,
		BREGX = 0x92,
		NOP = 0x96
	};
	struct wsi_reader r = wsi_reader_of(bytes);
	while (!r.failed && wsi_reader_left(&r) > 0) {
		switch (wsi_read_u8(&r)) {
		case ADDR:
			r.failed |= wsi_read_u64(&r) > WSI_CLEAN_MAX_ADDRESS;
			break;
		case BREGX:
			r.failed |= wsi_read_uleb(&r) > UINT32_MAX;
			wsi_read_sleb(&r);
			break;
		case REGX:
		case PLUS_UCONST:
			r.failed |= wsi_read_uleb(&r) > UINT32_MAX;
			break;
		case PLUS:
		case NOP:
			break;
		default:
			return false;
		}
	}
	return !r.failed;
}

static bool operand_read(struct wsi_reader *r, char kind)
{
	enum { ADDRESS_BYTES = 8 };
	if (kind == 'u')
		return wsi_read_uleb(r) <= UINT32_MAX;
	if (kind == 's') {
		int64_t value = wsi_read_sleb(r);
		return value <= INT32_MAX && value >= INT32_MIN;
	}
	if (kind == 'a')
		return wsi_read_uint(r, ADDRESS_BYTES) <= WSI_CLEAN_MAX_ADDRESS;
	if (kind == 'b')
		return expression_is_known(wsi_read_span(r, wsi_read_uleb(r)));
	wsi_reader_skip(r, (uint64_t)(kind - '0'));
	return true;
}

/* Rules up to the first that is not known; the rest stays zeros, which do nothing. */
static void rules_keep(struct wsi_clean *clean, struct ws_span bytes)
{
	enum { OFFSET = 2 }; /* in the upper two bits: a register, and a number behind it */
	struct wsi_reader r = wsi_reader_of(bytes);
	size_t good = 0;
	while (wsi_reader_left(&r) > 0) {
		uint8_t opcode = wsi_read_u8(&r);
		const char *kinds = opcode >> 6 == OFFSET ? "u" : "";
		if (opcode >> 6 == 0) {
			if (opcode >= WSI_COUNT(frame_operands))
				break;
			kinds = frame_operands[opcode];
		}
		bool ok = true;
		for (; *kinds && ok; kinds++)
			ok = operand_read(&r, *kinds);
		if (!ok || r.failed)
			break;
		good = r.pos;
	}
	wsi_clean_keep(clean, clean_part(bytes, 0, good));
}

/* Head of an entry: of a CIE all but the rules, of an FDE its place. False: not known. */
static bool frame_head(struct wsi_reader *r, unsigned offset_bytes)
{
	enum { VERSION = 3 };
	uint64_t id = wsi_read_uint(r, offset_bytes);
	bool cie = id == (offset_bytes == 8 ? UINT64_MAX : UINT32_MAX);
	if (!cie) {
		bool ok = id <= WSI_CLEAN_MAX_SIZE;
		ok &= wsi_read_u64(r) <= WSI_CLEAN_MAX_ADDRESS;
		ok &= wsi_read_u64(r) <= WSI_CLEAN_MAX_SIZE;
		return ok && !r->failed;
	}
	bool ok = wsi_read_u8(r) == VERSION;
	ok &= wsi_read_u8(r) == 0; /* no augmentation */
	ok &= wsi_read_uleb(r) <= UINT8_MAX;
	int64_t factor = wsi_read_sleb(r);
	ok &= factor >= INT8_MIN && factor <= INT8_MAX;
	ok &= wsi_read_uleb(r) <= UINT32_MAX;
	return ok && !r->failed;
}

void wsi_clean_frames(struct wsi_clean *clean, struct ws_span bytes)
{
	struct wsi_reader r = wsi_reader_of(bytes);
	while (wsi_reader_left(&r) > 4) {
		size_t start = r.pos;
		unsigned offset_bytes = 4;
		uint64_t len = wsi_read_u32(&r);
		if (len == UINT32_MAX) {
			offset_bytes = 8;
			len = wsi_read_u64(&r);
		}
		size_t body = r.pos;
		struct ws_span entry = wsi_read_span(&r, len);
		if (r.failed)
			return; /* where the next one begins is not known */
		struct wsi_reader in = wsi_reader_of(entry);
		wsi_clean_keep(clean, clean_part(bytes, start, body));
		if (!frame_head(&in, offset_bytes))
			continue;
		wsi_clean_keep(clean, clean_part(entry, 0, in.pos));
		rules_keep(clean, clean_part(entry, in.pos, entry.len));
	}
}
