/* SPDX-License-Identifier: Apache-2.0 */
/* The memory access of the fault: sentence, picture, what the lanes had, whose memory. */
#include "render/html.h"

static void kind(struct wsi_html *page, const struct ws_report_access *access)
{
	wsi_html_term(page, "Access");
	if (access->width)
		wsi_html_printf(page, "%u-byte ", access->width);
	wsi_html_printf(page, "%s%s, %s memory%s", access->async ? "asynchronous " : "",
			ws_direction_text(access->direction), ws_space_text(access->space),
			access->space == WS_SPACE_GENERIC ? " (any of global, shared, local)" : "");
	wsi_html_term_end(page);
	wsi_html_term(page, "Found by");
	wsi_html_claim(page, &access->found);
	wsi_html_term_end(page);
}

static void suspects(struct wsi_html *page, const struct ws_report_access *access)
{
	static const char *const reasons[] = { "outside the dump's memory", "outside the window",
					       "misaligned", "near null", "not a valid address" };
	const uint32_t masks[] = { access->unmapped, access->outside, access->misaligned,
				   access->null_like, access->noncanonical };
	if (!access->lanes)
		return;
	wsi_html_term(page, "Lanes");
	wsi_html_printf(page, "%u can be the cause, %u cannot, of %u",
			wsi_count_bits(access->suspects), wsi_count_bits(access->cleared),
			wsi_count_bits(access->lanes));
	for (size_t i = 0; i < WSI_COUNT(masks); i++) {
		if (masks[i])
			wsi_html_printf(page, "; %u %s <code>0x%08x</code>",
					wsi_count_bits(masks[i]), reasons[i], masks[i]);
	}
	wsi_html_term_end(page);
}

static void neighbour(struct wsi_html *page, const char *term,
		      const struct ws_report_neighbour *side, const char *direction, bool inside)
{
	if (side->status != WS_OK)
		return;
	wsi_html_term(page, term);
	wsi_html_hex(page, side->start);
	wsi_html_printf(page, " + %" PRIu64 " bytes", side->size);
	if (side->symbol.len) {
		wsi_html_raw(page, " (<code>");
		wsi_html_str(page, side->symbol);
		wsi_html_raw(page, "</code>)");
	}
	if (inside)
		wsi_html_raw(page, ", which holds the address");
	else if (side->distance == 0)
		wsi_html_raw(page, ", touching the access");
	else
		wsi_html_printf(page,
				", %" PRIu64 " byte%s %s the access <span class=\"soft\">(%" PRIu64
				" element%s)</span>",
				side->distance, wsi_plural(side->distance), direction,
				side->elements, wsi_plural(side->elements));
	wsi_html_term_end(page);
}

static void owner(struct wsi_html *page, const struct ws_report_owner *owner)
{
	wsi_html_term(page, "Belongs to");
	if (owner->claim.text)
		wsi_html_claim(page, &owner->claim);
	else
		wsi_html_raw(page, "<span class=\"none\">not known</span>");
	wsi_html_term_end(page);
}

/* ---- the lanes ---- */

static bool has_values(const struct ws_report_operand *operand)
{
	return operand->status == WS_OK && operand->lanes && ws_operand_is_shown(operand);
}

/* A lane with a value to show: the one that is told of, else the first suspect. */
static uint32_t shown_lane(const struct ws_report_access *access,
			   const struct ws_report_operand *operand)
{
	uint32_t lane = 0, have = operand->lanes & access->suspects;
	if (access->lane != WS_NONE)
		return access->lane;
	while (have && !(have >> lane & 1))
		lane++;
	return lane;
}

/* What each operand is, with the value of the lane that is told of. */
static void operand_table(struct wsi_html *page, const struct ws_report_access *access)
{
	wsi_html_raw(
		page,
		"<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Operands\"><table "
		"class=\"operands\">\n<caption>Operands</caption>\n<thead><tr><th "
		"scope=\"col\">Operand</th><th scope=\"col\">Use</th><th scope=\"col\">"
		"Value</th><th scope=\"col\">As at the fault?</th></tr></thead>\n<tbody>");
	for (uint32_t i = 0; i < access->n_operands; i++) {
		const struct ws_report_operand *operand = &access->operands[i];
		wsi_html_raw(page, "<tr><th scope=\"row\"><code>");
		wsi_html_text(page, operand->name);
		wsi_html_printf(page, "</code></th><td>%s</td><td>",
				ws_operand_use_text(operand->use));
		uint32_t lane = shown_lane(access, operand);
		if (operand->use == WS_USE_RESULT)
			wsi_html_raw(page, "<span class=\"soft\">written by it</span>");
		else if (operand->status != WS_OK)
			wsi_html_printf(page, "<span class=\"none\">%s</span>",
					ws_missing_word(operand->status));
		else if (!has_values(operand))
			wsi_html_printf(page, "<span class=\"none\">%s</span>",
					operand->use == WS_USE_DATA ? "data, not shown" : "gone");
		else if (operand->uniform || operand->constant)
			wsi_html_hex(page, operand->value[lane]);
		else if (operand->lanes >> lane & 1) {
			wsi_html_hex(page, operand->value[lane]);
			wsi_html_printf(page, " <span class=\"soft\">lane %u; others below</span>",
					lane);
		}
		wsi_html_raw(page, "</td><td>");
		if (!operand->constant && operand->status == WS_OK) {
			wsi_html_text(page, ws_trust_text(operand->trust));
			if (operand->trust_why) {
				wsi_html_raw(page, " <span class=\"soft\">");
				wsi_html_text(page, operand->trust_why);
				wsi_html_raw(page, "</span>");
			}
		}
		wsi_html_raw(page, "</td></tr>\n");
	}
	wsi_html_raw(page, "</tbody></table></div>\n");
}

static bool per_lane(const struct ws_report_operand *operand)
{
	return has_values(operand) && !operand->uniform && !operand->constant;
}

static void lane_row(struct wsi_html *page, const struct ws_report_access *access, uint32_t lane)
{
	bool suspect = access->suspects >> lane & 1;
	bool known = (access->lanes_known | access->lanes_guess) >> lane & 1;
	wsi_html_raw(page, suspect ? "<tr class=\"bad\">" : "<tr>");
	wsi_html_printf(page, "<th scope=\"row\">%u", lane);
	wsi_html_raw(page, lane == access->lane ? " &#9668;</th><td>" : "</th><td>");
	if (known)
		wsi_html_hex(page, access->address[lane]);
	wsi_html_printf(page, "%s</td><td>%s</td>",
			known && !(access->lanes_known >> lane & 1) ? " ?" : "",
			wsi_lane_verdict(access, lane));
	for (uint32_t i = 0; i < access->n_operands; i++) {
		const struct ws_report_operand *operand = &access->operands[i];
		if (!per_lane(operand))
			continue;
		wsi_html_raw(page, "<td>");
		if (operand->lanes >> lane & 1)
			wsi_html_hex(page, operand->value[lane]);
		wsi_html_raw(page, "</td>");
	}
	wsi_html_raw(page, "</tr>\n");
}

static void lane_table(struct wsi_html *page, const struct ws_report_access *access)
{
	wsi_html_printf(page,
			"<details><summary>Address and operands of %u lane%s</summary>\n<div "
			"class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Lanes\"><table "
			"class=\"lanes\"><thead><tr><th scope=\"col\">Lane</th><th scope=\"col\">"
			"Address</th><th scope=\"col\">Finding</th>",
			wsi_count_bits(access->lanes), wsi_plural(wsi_count_bits(access->lanes)));
	for (uint32_t i = 0; i < access->n_operands; i++) {
		if (!per_lane(&access->operands[i]))
			continue;
		wsi_html_raw(page, "<th scope=\"col\"><code>");
		wsi_html_text(page, access->operands[i].name);
		wsi_html_raw(page, "</code></th>");
	}
	wsi_html_raw(page, "</tr></thead>\n<tbody>\n");
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++) {
		if (access->lanes >> lane & 1)
			lane_row(page, access, lane);
	}
	wsi_html_raw(page, "</tbody></table></div></details>\n");
}

/* ---- the section ---- */

static void where(struct wsi_html *page, const struct ws_report_access *access)
{
	uint32_t told = access->suspects & (access->lanes_known | access->lanes_likely);
	if (access->lane == WS_NONE && told) {
		wsi_html_printf(page, "<p class=\"where\">The addresses of the %u suspects are ",
				wsi_count_bits(told));
		wsi_html_hex(page, access->first_address);
		wsi_html_raw(page, " to ");
		wsi_html_hex(page, access->last_address);
		wsi_html_raw(page, ".</p>\n");
	}
	if (access->lane == WS_NONE || !access->where)
		return;
	wsi_html_printf(page, "<p class=\"where\">The address of lane %u, ", access->lane);
	wsi_html_hex(page, access->address[access->lane]);
	wsi_html_raw(page, ", is ");
	wsi_html_text(page, access->where);
	wsi_html_raw(page, ".</p>\n");
}

static void one_access(struct wsi_html *page, const struct ws_report_access *access)
{
	wsi_html_raw(page, "<p class=\"instruction\"><code>");
	wsi_html_text(page, access->text);
	wsi_html_raw(page, "</code></p>\n");
	where(page, access);
	wsi_html_ruler(page, access);
	wsi_html_raw(page, "<dl class=\"facts\">\n");
	kind(page, access);
	owner(page, &access->owner);
	if (access->index.claim.text) {
		wsi_html_term(page, "Index");
		wsi_html_claim(page, &access->index.claim);
		wsi_html_term_end(page);
	}
	suspects(page, access);
	neighbour(page, access->inside ? "In range" : "Below", &access->below, "before",
		  access->inside);
	neighbour(page, "Above", &access->above, "after", false);
	wsi_html_raw(page, "</dl>\n");
	if (access->n_operands)
		operand_table(page, access);
	if (access->lanes)
		lane_table(page, access);
}

void wsi_html_access(struct wsi_html *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e || e->n_accesses == 0)
		return;
	wsi_html_section(page, "access", "The access");
	one_access(page, &e->accesses[0]);
	for (uint32_t i = 1; i < e->n_accesses; i++) {
		wsi_html_printf(page, "<details><summary>Candidate %u</summary>\n", i + 1);
		one_access(page, &e->accesses[i]);
		wsi_html_raw(page, "</details>\n");
	}
	wsi_html_section_end(page);
}
