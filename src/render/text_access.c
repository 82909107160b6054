/* SPDX-License-Identifier: Apache-2.0 */
/* What the faulting instruction did: the access, its base, the lanes, the code, the parameters. */
#include "render/text.h"

#include "render/words.h"

enum { MAX_PARAMS = 16, MAX_FIELDS = 16 /* of one parameter */ };

static void out_claim(struct wsi_page *page, const struct ws_report_claim *claim)
{
	ws_out_escaped(page->out, ws_str_of(claim->text));
	ws_out_printf(page->out, " (%s", ws_confidence_text(claim->confidence));
	if (claim->evidence) {
		ws_out_text(page->out, ": ");
		ws_out_escaped(page->out, ws_str_of(claim->evidence));
	}
	ws_out_text(page->out, ")");
}

static void line_claim(struct wsi_page *page, const char *label,
		       const struct ws_report_claim *claim)
{
	if (!claim->text)
		return;
	wsi_page_label(page, label);
	out_claim(page, claim);
	wsi_page_end_line(page);
}

/* "loads 4 bytes from global memory" */
static void line_kind(struct wsi_page *page, const struct ws_report_access *access)
{
	static const char *const verbs[] = { "loads", "stores", "atomically updates" };
	static const char *const ties[] = { "from", "to", "in" };
	struct ws_out *out = page->out;
	wsi_page_label(page, "does");
	ws_out_printf(out, "%s", verbs[access->direction]);
	if (access->width)
		ws_out_printf(out, " %u byte%s", access->width, access->width == 1 ? "" : "s");
	ws_out_printf(out, " %s %s memory", ties[access->direction], ws_space_text(access->space));
	if (access->bank != WS_NONE)
		ws_out_printf(out, ", bank %u", access->bank);
	if (access->rank != WS_NONE)
		ws_out_printf(out, ", block %u of the cluster", access->rank);
	if (access->generic)
		ws_out_text(out, ", through a generic address");
	if (access->async)
		ws_out_text(out, ", in the background");
	wsi_page_end_line(page);
}

static void line_address(struct wsi_page *page, const struct ws_report_access *access)
{
	struct ws_out *out = page->out;
	uint32_t lane = access->lane;
	uint32_t told = access->suspects & (access->lanes_known | access->lanes_likely);
	if (lane == WS_NONE && told) {
		wsi_page_label(page, "address");
		ws_out_printf(out, "0x%" PRIx64 " to 0x%" PRIx64 ", of %u suspects\n",
			      access->first_address, access->last_address, wsi_count_bits(told));
	}
	if (lane == WS_NONE || !((access->lanes_known | access->lanes_guess) >> lane & 1))
		return;
	wsi_page_label(page, "address");
	ws_out_printf(out, "lane %u: 0x%" PRIx64, lane, access->address[lane]);
	if (access->null_like >> lane & 1)
		ws_out_text(out, ", as from a null pointer");
	else if (access->noncanonical >> lane & 1)
		ws_out_text(out, ", which cannot be a GPU pointer");
	if (access->where) {
		ws_out_text(out, ", ");
		ws_out_escaped(out, ws_str_of(access->where));
	}
	wsi_page_end_line(page);
}

static void line_base(struct wsi_page *page, const struct ws_report_owner *owner)
{
	if (!owner->claim.text)
		return;
	wsi_page_label(page, "base");
	out_claim(page, &owner->claim);
	if (owner->value_known)
		ws_out_printf(page->out, " = 0x%" PRIx64, owner->value);
	wsi_page_end_line(page);
}

static void out_reason(struct wsi_page *page, uint32_t mask, const char *reason, bool *first)
{
	if (!mask)
		return;
	ws_out_printf(page->out, "%s%u %s", *first ? ": " : ", ", wsi_count_bits(mask), reason);
	*first = false;
}

static void line_lanes(struct wsi_page *page, const struct ws_report_access *access)
{
	bool first = true;
	if (!access->suspects)
		return;
	wsi_page_label(page, "suspects");
	uint32_t n = wsi_count_bits(access->lanes);
	ws_out_printf(page->out, "%u of %u lane%s, 0x%08x", wsi_count_bits(access->suspects), n,
		      wsi_plural(n), access->suspects);
	out_reason(page, access->null_like, "near null", &first);
	out_reason(page, access->noncanonical, "not a valid address", &first);
	out_reason(page, access->unmapped, "outside the dump's memory", &first);
	out_reason(page, access->outside, "outside the window", &first);
	out_reason(page, access->misaligned, "misaligned", &first);
	if (access->cleared)
		ws_out_printf(page->out, "; %u cleared by address or guard",
			      wsi_count_bits(access->cleared));
	wsi_page_end_line(page);
}

static void table_lanes(struct wsi_page *page, const struct ws_report_access *access)
{
	static const struct ws_column columns[] = { { "Lane", WS_ALIGN_RIGHT },
						    { "Address", WS_ALIGN_LEFT },
						    { "Finding", WS_ALIGN_LEFT } };
	if (!page->options.all || !access->lanes)
		return;
	struct ws_table *table = wsi_page_table_start(page, columns, WSI_COUNT(columns));
	for (uint32_t lane = 0; table && lane < WS_MAX_LANES; lane++) {
		if (!(access->lanes >> lane & 1))
			continue;
		bool known = (access->lanes_known | access->lanes_guess) >> lane & 1;
		ws_table_printf(table, "%u", lane);
		if (known)
			ws_table_printf(table, "0x%" PRIx64 "%s", access->address[lane],
					access->lanes_known >> lane & 1 ? "" : " ?");
		else
			ws_table_printf(table, "-");
		ws_table_printf(table, "%s", wsi_lane_verdict(access, lane));
	}
	if (table)
		wsi_page_table_done(page, table);
}

/* Values of the operands in the lane that is told of. */
static void line_operands(struct wsi_page *page, const struct ws_report_access *access)
{
	bool first = true;
	for (uint32_t i = 0; i < access->n_operands && access->lane != WS_NONE; i++) {
		const struct ws_report_operand *op = &access->operands[i];
		if (op->constant || op->use == WS_USE_DESCRIPTOR || !ws_operand_is_shown(op) ||
		    !(op->lanes >> access->lane & 1))
			continue;
		if (first)
			wsi_page_label(page, "operands");
		ws_out_text(page->out, first ? "" : ", ");
		ws_out_escaped(page->out, ws_str_of(op->name));
		ws_out_printf(page->out, " = 0x%" PRIx64, op->value[access->lane]);
		if (op->trust != WS_TRUST_AT_FAULT)
			ws_out_printf(page->out, " (%s)", ws_trust_text(op->trust));
		first = false;
	}
	if (!first)
		wsi_page_end_line(page);
}

static void text_access(struct wsi_page *page, const struct ws_report_access *access)
{
	wsi_page_label(page, "executes");
	ws_out_escaped(page->out, ws_str_of(access->text));
	if (access->found.confidence != WS_CONFIDENCE_CERTAIN)
		ws_out_printf(page->out, "  at 0x%" PRIx64, access->pc);
	wsi_page_end_line(page);
	if (access->found.confidence != WS_CONFIDENCE_CERTAIN)
		line_claim(page, "because", &access->found);
	line_kind(page, access);
	line_address(page, access);
	line_base(page, &access->owner);
	line_claim(page, "index", &access->index.claim);
	line_lanes(page, access);
	line_claim(page, "addresses", &access->address_claim);
	line_operands(page, access);
	table_lanes(page, access);
}

void wsi_text_listing(struct wsi_page *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e || e->n_insns == 0)
		return;
	wsi_page_title_folded(page, "Machine code:");
	for (uint32_t i = 0; i < e->n_insns; i++) {
		const struct ws_report_insn *insn = &e->insns[i];
		ws_out_printf(page->out, "    %-8s 0x%" PRIx64 "  ",
			      !insn->mark                     ? ""
			      : strcmp(insn->mark, "pc") == 0 ? "pc ->"
							      : "error ->",
			      insn->pc);
		ws_out_escaped(page->out, ws_str_of(insn->text));
		wsi_page_end_line(page);
	}
}

void wsi_text_access(struct wsi_page *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e || e->n_accesses == 0)
		return;
	bool certain = e->accesses[0].found.confidence == WS_CONFIDENCE_CERTAIN;
	wsi_page_title(page, certain ? "The faulting instruction:"
			     : e->n_accesses == 1
				     ? "An instruction that may have failed:"
				     : "Instructions that may have failed, best first:");
	for (uint32_t i = 0; i < e->n_accesses; i++) {
		if (i)
			wsi_page_end_line(page);
		text_access(page, &e->accesses[i]);
	}
}

static void out_param_value(struct wsi_page *page, const struct ws_report_param *param)
{
	if (param->value_status != WS_OK) {
		ws_out_printf(page->out, "%s", ws_missing_word(param->value_status));
		return;
	}
	bool number = param->size_bytes <= 8;
	size_t shown = number ? param->value.len : wsi_min_u64(param->value.len, 32);
	ws_out_text(page->out, number ? "0x" : "");
	for (size_t i = 0; i < shown; i++)
		ws_out_printf(page->out, "%02x",
			      param->value.ptr[number ? param->value.len - 1 - i : i]);
	if (shown < param->size_bytes)
		ws_out_text(page->out, "...");
}

static void out_type(struct wsi_page *page, struct ws_str type)
{
	bool cut = !page->options.full_names && type.len > WSI_WIDE_NAME;
	ws_out_escaped(page->out, cut ? (struct ws_str){ type.ptr, WSI_WIDE_NAME - 3 } : type);
	ws_out_text(page->out, cut ? "... " : " ");
}

static void out_value(struct wsi_page *page, const char *text)
{
	if (!text)
		return;
	ws_out_text(page->out, " = ");
	ws_out_escaped(page->out, ws_str_of(text));
}

static void line_field(struct wsi_page *page, const struct ws_report_field *field)
{
	wsi_page_label(page, "");
	ws_out_printf(page->out, "   +%u ", field->offset);
	out_type(page, field->type);
	ws_out_escaped(page->out, field->path);
	if (field->bit_size)
		ws_out_printf(page->out, " : %u", field->bit_size);
	out_value(page, field->text);
	wsi_page_end_line(page);
}

static void lines_fields(struct wsi_page *page, const struct ws_report_param *param)
{
	uint32_t shown = page->options.all ? param->n_fields
					   : (uint32_t)wsi_min_u64(param->n_fields, MAX_FIELDS);
	for (uint32_t i = 0; i < shown; i++)
		line_field(page, &param->fields[i]);
	if (shown == param->n_fields && !param->fields_cut)
		return;
	wsi_page_label(page, "");
	if (shown < param->n_fields)
		ws_out_printf(page->out, "   ... and %s%u more fields (--all)",
			      param->fields_cut ? "at least " : "", param->n_fields - shown);
	else
		ws_out_text(page->out, "   ... and more fields");
	wsi_page_end_line(page);
}

static void line_param(struct wsi_page *page, const struct ws_report_kernel *kernel,
		       const struct ws_report_param *param)
{
	ws_out_printf(page->out, "%u: ", param->ordinal);
	if (param->type.len) {
		out_type(page, param->type);
		ws_out_escaped(page->out, param->name);
		ws_out_text(page->out, param->name.len ? ", " : "");
	}
	ws_out_printf(page->out, "%u byte%s at 0x%x, ", param->size_bytes,
		      param->size_bytes == 1 ? "" : "s", kernel->params_offset + param->offset);
	out_param_value(page, param);
	if (param->text && strncmp(param->text, "0x", 2) != 0) /* a pointer is shown as it is */
		out_value(page, param->text);
	wsi_page_end_line(page);
	lines_fields(page, param);
}

void wsi_text_params(struct wsi_page *page, const struct ws_report_exception *e)
{
	if (e->kernel == WS_NONE)
		return;
	const struct ws_report_kernel *kernel = &page->report->kernels[e->kernel];
	if (kernel->params_status != WS_OK || kernel->n_params == 0)
		return;
	uint32_t shown =
		page->options.all || kernel->n_params <= MAX_PARAMS ? kernel->n_params : MAX_PARAMS;
	for (uint32_t i = 0; i < shown; i++) {
		wsi_page_label(page, i ? "" : "parameters");
		line_param(page, kernel, &kernel->params[i]);
	}
	if (shown < kernel->n_params) {
		wsi_page_label(page, "");
		ws_out_printf(page->out, "... and %u more (--all)", kernel->n_params - shown);
		wsi_page_end_line(page);
	}
}

void wsi_text_claims(struct wsi_page *page, const struct ws_report_claim *claims, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		ws_out_printf(page->out, "- %s: ", ws_confidence_text(claims[i].confidence));
		wsi_page_advice(page, claims[i].text);
		if (claims[i].evidence) {
			ws_out_text(page->out, " (");
			wsi_page_advice(page, claims[i].evidence);
			ws_out_text(page->out, ")");
		}
		wsi_page_end_line(page);
	}
}
