/* SPDX-License-Identifier: Apache-2.0 */
/* What the faulting instruction did: the access, its base, the lanes, their operands. */
#include "report/build.h"

#include "render/html.h"
#include "render/sections.h"
#include "render/words.h"

static bool bit(uint32_t mask, uint32_t lane)
{
	return mask >> lane & 1;
}

static void hex(struct wsi_page *page, uint64_t value)
{
	wsi_render_run(page, WSI_CODE, "0x%" PRIx64, value);
}

/* "loads 4 bytes from global memory" */
static void kind(struct wsi_page *page, const struct ws_report_access *access)
{
	const struct wsi_direction *does = &wsi_directions[access->direction];
	wsi_label(page, "Does");
	wsi_say(page, "%s%ss", does->manner, does->verb);
	if (access->width)
		wsi_say(page, " %u byte%s", access->width, wsi_plural(access->width));
	bool known = access->space != WS_SPACE_GENERIC;
	if (known)
		wsi_say(page, " %s %s memory", does->tie, ws_space_text(access->space));
	if (access->bank != WS_NONE)
		wsi_say(page, ", bank %u", access->bank);
	if (access->rank != WS_NONE)
		wsi_say(page, ", block %u of the cluster", access->rank);
	if (access->generic)
		wsi_say(page, "%s through a generic address", known ? "," : "");
	if (access->async)
		wsi_say(page, ", asynchronously");
}

static void address(struct wsi_page *page, const struct ws_report_access *access)
{
	uint32_t lane = access->lane;
	uint32_t told = access->suspects & (access->lanes_known | access->lanes_likely);
	if (lane == WS_NONE && told) {
		wsi_label(page, "Address");
		if (access->first_address == access->last_address)
			wsi_render_run(page, WSI_STRONG, "0x%" PRIx64 ", of %u suspect%s",
				       access->first_address, wsi_count_bits(told),
				       wsi_plural(wsi_count_bits(told)));
		else
			wsi_render_run(
				page, WSI_STRONG, "0x%" PRIx64 " to 0x%" PRIx64 ", of %u suspects",
				access->first_address, access->last_address, wsi_count_bits(told));
	}
	if (lane == WS_NONE || !bit(access->lanes_known | access->lanes_guess, lane))
		return;
	wsi_label(page, "Address");
	wsi_render_run(page, WSI_STRONG, "lane %u: 0x%" PRIx64, lane, access->address[lane]);
	if (bit(access->null_like, lane))
		wsi_render_run(page, WSI_STRONG, ", as from a null pointer");
	else if (bit(access->noncanonical, lane))
		wsi_render_run(page, WSI_STRONG, ", which cannot be a GPU pointer");
	if (access->where)
		wsi_render_run(page, WSI_STRONG, ", %s", access->where);
}

static void base(struct wsi_page *page, const struct ws_report_owner *owner)
{
	wsi_render_fact_claim(page, "Base", &owner->claim);
	if (!owner->claim.text || !owner->value_known)
		return;
	if (page->rich) /* below the evidence */
		wsi_label(page, "");
	else
		wsi_say(page, " = ");
	hex(page, owner->value);
}

enum { N_REASONS = 5 };

/* Lanes whose address cannot be right, and why. */
struct reason {
	uint32_t mask;
	const char *words;
};

static void reasons_of(const struct ws_report *report, const struct ws_report_access *access,
		       struct reason reasons[N_REASONS])
{
	bool is_dump = report->dump_status == WS_OK;
	reasons[0] = (struct reason){ access->null_like, "near null" };
	reasons[1] = (struct reason){ access->noncanonical, "not a valid address" };
	reasons[2] = (struct reason){ access->unmapped, is_dump ? "outside the dump's memory"
								: "outside the device's memory" };
	reasons[3] = (struct reason){ access->outside, "outside the window" };
	reasons[4] = (struct reason){ access->misaligned, "misaligned" };
}

/* What the state shows of one lane. */
static const char *lane_verdict(const struct ws_report *report,
				const struct ws_report_access *access, uint32_t lane)
{
	static const uint8_t order[] = { 0, 1, 4, 3, 2 }; /* what tells most first */
	struct reason reasons[N_REASONS];
	reasons_of(report, access, reasons);
	for (int i = 0; i < N_REASONS; i++) {
		if (bit(reasons[order[i]].mask, lane))
			return reasons[order[i]].words;
	}
	if (bit(access->cleared, lane))
		return "cannot be the cause";
	if (!bit(access->lanes_known | access->lanes_guess, lane))
		return "address not known";
	return bit(access->suspects, lane) ? "can be the cause" : "";
}

static void access_lanes(struct wsi_page *page, const struct ws_report_access *access)
{
	struct reason reasons[N_REASONS];
	const char *comma = ": ";
	uint32_t n = wsi_count_bits(access->lanes);
	if (!access->suspects)
		return;
	reasons_of(page->report, access, reasons);
	wsi_label(page, "Suspects");
	wsi_say(page, "%u of %u lane%s, ", wsi_count_bits(access->suspects), n, wsi_plural(n));
	wsi_render_run(page, WSI_CODE, "0x%08x", access->suspects);
	for (size_t i = 0; i < N_REASONS; i++) {
		uint32_t mask = reasons[i].mask;
		if (!mask)
			continue;
		wsi_say(page, "%s%u %s", comma, wsi_count_bits(mask), reasons[i].words);
		if (page->rich)
			wsi_render_run(page, WSI_CODE, " 0x%08x", mask);
		comma = ", ";
	}
	if (access->cleared)
		wsi_say(page, "; %u cleared by address or guard", wsi_count_bits(access->cleared));
}

/* Values of the operands in the lane that is told of. */
static void operands(struct wsi_page *page, const struct ws_report_access *access)
{
	bool first = true;
	for (uint32_t i = 0; i < access->n_operands && access->lane != WS_NONE; i++) {
		const struct ws_report_operand *op = &access->operands[i];
		if (op->constant || op->use == WS_USE_DESCRIPTOR || !wsi_operand_is_shown(op) ||
		    !bit(op->lanes, access->lane))
			continue;
		if (first)
			wsi_label(page, "Operands");
		wsi_say(page, "%s%s = 0x%" PRIx64, first ? "" : ", ", op->name,
			op->value[access->lane]);
		if (op->trust != WS_TRUST_AT_FAULT)
			wsi_say(page, " (%s)", ws_trust_text(op->trust));
		first = false;
	}
}

static void neighbour(struct wsi_page *page, const char *label,
		      const struct ws_report_neighbour *side, const char *direction, bool inside)
{
	if (side->status != WS_OK)
		return;
	wsi_label(page, label);
	hex(page, side->start);
	wsi_say(page, " + %" PRIu64 " bytes", side->size);
	if (side->symbol.len) {
		wsi_say(page, " (");
		wsi_str(page, WSI_CODE, side->symbol);
		wsi_say(page, ")");
	}
	if (inside) {
		wsi_say(page, ", which holds the address");
	} else if (side->distance == 0) {
		wsi_say(page, ", touching the access");
	} else {
		wsi_say(page, ", %" PRIu64 " byte%s %s the access", side->distance,
			wsi_plural(side->distance), direction);
		wsi_render_run(page, WSI_SOFT, " (%" PRIu64 " element%s)", side->elements,
			       wsi_plural(side->elements));
	}
}

/* ---- tables ---- */

static bool has_values(const struct ws_report_operand *operand)
{
	return operand->status == WS_OK && operand->lanes && wsi_operand_is_shown(operand);
}

/* A lane with a value to show: the one that is told of, else the first suspect. */
static uint32_t shown_lane(const struct ws_report_access *access,
			   const struct ws_report_operand *operand)
{
	uint32_t lane = 0, have = operand->lanes & access->suspects;
	if (access->lane != WS_NONE)
		return access->lane;
	while (have && !bit(have, lane))
		lane++;
	return lane;
}

static void operand_value(struct wsi_page *page, const struct ws_report_access *access,
			  const struct ws_report_operand *operand)
{
	uint32_t lane = shown_lane(access, operand);
	if (operand->use == WS_USE_RESULT) {
		wsi_render_run(page, WSI_SOFT, "written by the instruction");
	} else if (operand->status != WS_OK) {
		wsi_say_status(page, operand->status);
	} else if (!has_values(operand)) {
		wsi_render_run(page, WSI_NONE, "%s",
			       operand->use == WS_USE_DATA ? "data, not shown" : "gone");
	} else if (operand->uniform || operand->constant) {
		hex(page, operand->value[lane]);
	} else if (bit(operand->lanes, lane)) {
		hex(page, operand->value[lane]);
		wsi_render_run(page, WSI_SOFT, " lane %u; others below", lane);
	}
}

/* What each operand is, with the value of the lane that is told of. */
static void operand_table(struct wsi_page *page, const struct ws_report_access *access)
{
	static const struct ws_column columns[] = { { "Operand", WS_ALIGN_LEFT },
						    { "Use", WS_ALIGN_LEFT },
						    { "Value", WS_ALIGN_LEFT },
						    { "As at the fault?", WS_ALIGN_LEFT } };
	if (!page->rich || access->n_operands == 0)
		return;
	wsi_render_table(page, &(struct wsi_page_table){ .id = "operands",
							 .label = "Operands",
							 .column = columns,
							 .n_columns = WSI_COUNT(columns),
							 .named = true });
	for (uint32_t i = 0; i < access->n_operands; i++) {
		const struct ws_report_operand *operand = &access->operands[i];
		wsi_cell(page, "");
		wsi_render_run(page, WSI_CODE, "%s", operand->name);
		wsi_cell(page, "");
		wsi_say(page, "%s", ws_operand_use_text(operand->use));
		wsi_cell(page, "");
		operand_value(page, access, operand);
		wsi_cell(page, "");
		if (operand->constant || operand->status != WS_OK)
			continue;
		wsi_say(page, "%s", ws_trust_text(operand->trust));
		if (operand->trust_why)
			wsi_render_run(page, WSI_SOFT, " %s", operand->trust_why);
	}
}

enum { LANE_COLUMNS = 3, MAX_OPERANDS = 16 /* with a column */ };

static void access_lane_row(struct wsi_page *page, const struct ws_report_access *access,
			    uint32_t lane, const struct ws_report_operand *const *operands,
			    size_t n_operands)
{
	if (bit(access->suspects, lane))
		wsi_render_row_marked(page);
	wsi_cell(page, "");
	wsi_say(page, page->rich && lane == access->lane ? "%u \u25c4" : "%u", lane);
	wsi_cell(page, "");
	if (bit(access->lanes_known | access->lanes_guess, lane)) {
		hex(page, access->address[lane]);
		wsi_say(page, bit(access->lanes_known, lane) ? "" : " ?");
	} else {
		wsi_say(page, "-");
	}
	wsi_cell(page, "");
	wsi_say(page, "%s", lane_verdict(page->report, access, lane));
	for (size_t i = 0; i < n_operands; i++) {
		wsi_cell(page, "");
		if (bit(operands[i]->lanes, lane))
			hex(page, operands[i]->value[lane]);
	}
}

static void lane_table(struct wsi_page *page, const struct ws_report_access *access)
{
	const struct ws_report_operand *operands[MAX_OPERANDS];
	struct ws_column columns[LANE_COLUMNS + MAX_OPERANDS] = { { "Lane", WS_ALIGN_RIGHT },
								  { "Address", WS_ALIGN_LEFT },
								  { "Finding", WS_ALIGN_LEFT } };
	size_t n = 0;
	if (!access->lanes || (!page->rich && !page->options.all))
		return;
	for (uint32_t i = 0; page->rich && i < access->n_operands && n < MAX_OPERANDS; i++) {
		const struct ws_report_operand *one = &access->operands[i];
		if (!has_values(one) || one->uniform || one->constant)
			continue;
		columns[LANE_COLUMNS + n] = (struct ws_column){ one->name, WS_ALIGN_LEFT };
		operands[n++] = one;
	}
	wsi_render_table(page,
			 &(struct wsi_page_table){ .id = "lanes",
						   .label = "Address and operands of each lane",
						   .column = columns,
						   .n_columns = LANE_COLUMNS + n,
						   .folded = true,
						   .named = true });
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++) {
		if (bit(access->lanes, lane))
			access_lane_row(page, access, lane, operands, n);
	}
}

/* ---- the section ---- */

static void one_access(struct wsi_page *page, const struct ws_report_access *access)
{
	bool certain = access->found.confidence == WS_CONFIDENCE_CERTAIN;
	wsi_label(page, "Executes");
	wsi_render_run(page, WSI_KEY, "%s", access->text);
	if (!certain)
		wsi_say(page, "  at 0x%" PRIx64, access->pc);
	if (page->rich || !certain)
		wsi_render_fact_claim(page, "Because", &access->found);
	kind(page, access);
	address(page, access);
	wsi_figure_ruler(page, access);
	base(page, &access->owner);
	wsi_render_fact_claim(page, "Index", &access->index.claim);
	access_lanes(page, access);
	wsi_render_fact_claim(page, "Addresses", &access->address_claim);
	if (page->rich) {
		neighbour(page, access->inside ? "In range" : "Below", &access->below, "before",
			  access->inside);
		neighbour(page, "Above", &access->above, "after", false);
	} else {
		operands(page, access);
	}
	operand_table(page, access);
	lane_table(page, access);
}

void wsi_section_access(struct wsi_page *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e || e->n_accesses == 0)
		return;
	bool certain = e->accesses[0].found.confidence == WS_CONFIDENCE_CERTAIN;
	wsi_section(page, "access",
		    certain              ? "The faulting instruction"
		    : e->n_accesses == 1 ? "An instruction that may have failed"
					 : "Instructions that may have failed, best first",
		    WSI_DETAIL);
	for (uint32_t i = 0; i < e->n_accesses; i++) {
		if (e->n_accesses > 1)
			wsi_render_part(page, "Candidate", i);
		one_access(page, &e->accesses[i]);
	}
}
