/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a dump is as its format says, and where it is not. */
#include <inttypes.h>

#include <warpscope/verbs.h>

#include "base/base.h"

struct check {
	const struct ws_core *core;
	struct ws_out *out;
	struct ws_json *json; /* NULL in text */
	uint64_t limit;       /* 0: none */
	uint64_t shown[WS_N_CHECKS];
};

/* Whether the next one of a list is to be shown, of which `n` have come. */
static bool is_within(const struct check *check, uint64_t n)
{
	return check->limit == 0 || n < check->limit;
}

static struct ws_str section_name(const struct ws_core *core, uint32_t index)
{
	struct ws_core_section section;
	if (index == 0 || ws_core_section(core, index, &section, NULL) != WS_OK)
		return (struct ws_str){ 0 };
	return section.name;
}

static void finding_json(struct check *check, const struct ws_finding *finding)
{
	struct ws_json *json = check->json;
	ws_json_object(json);
	ws_json_key_text(json, "rule", ws_check_rule_word(finding->rule));
	if (ws_json_key_or_null(json, "section", finding->section))
		ws_json_u64(json, finding->section);
	ws_json_key_str(json, "name", section_name(check->core, finding->section));
	if (ws_json_key_or_null(json, "offset", finding->file_off != WS_NO_OFFSET))
		ws_json_hex(json, finding->file_off);
	ws_json_key_text(json, "message", finding->message);
	ws_json_end(json);
}

static void finding_text(struct check *check, const struct ws_finding *finding)
{
	struct ws_out *out = check->out;
	if (finding->file_off == WS_NO_OFFSET)
		ws_out_printf(out, "%-12s", "-");
	else
		ws_out_printf(out, "0x%-10" PRIx64, finding->file_off);
	ws_out_printf(out, "  %-9s  ", ws_check_rule_word(finding->rule));
	if (finding->section) {
		ws_out_printf(out, "section %" PRIu32, finding->section);
		struct ws_str name = section_name(check->core, finding->section);
		if (name.len) {
			ws_out_text(out, " ");
			ws_out_escaped(out, name);
		}
		ws_out_text(out, ": ");
	}
	ws_out_escaped(out, ws_str_of(finding->message));
	ws_out_text(out, "\n");
}

static bool finding_show(void *user, const struct ws_finding *finding)
{
	struct check *check = user;
	if (!is_within(check, check->shown[finding->rule]++))
		return true;
	if (check->json)
		finding_json(check, finding);
	else
		finding_text(check, finding);
	return true;
}

static const char *const sureness_words[] = {
	[WS_POSSIBLE] = "possible", [WS_LIKELY] = "likely", [WS_SURE] = "sure"
};

static void salvaged_show(struct check *check)
{
	struct ws_salvaged one;
	struct ws_out *out = check->out;
	uint32_t i = 0, n = 0;
	for (; ws_core_salvaged(check->core, i, &one, NULL) == WS_OK; i++) {
		if (!is_within(check, i))
			continue;
		n++;
		if (check->json) {
			ws_json_object(check->json);
			ws_json_key_text(check->json, "what", one.what);
			ws_json_key_hex(check->json, "offset", one.file_off);
			ws_json_key_u64(check->json, "size", one.size);
			ws_json_key_u64(check->json, "present", one.present);
			ws_json_key_u64(check->json, "rows", one.rows);
			ws_json_key_u64(check->json, "stride", one.stride);
			ws_json_key_text(check->json, "sureness", sureness_words[one.sureness]);
			ws_json_key_u64(check->json, "exceptions", one.n_exceptions);
			ws_json_end(check->json);
			continue;
		}
		ws_out_printf(out, "0x%-10" PRIx64 "  salvaged   %s (%s): %" PRIu64 " bytes",
			      one.file_off, one.what, sureness_words[one.sureness], one.size);
		if (one.rows)
			ws_out_printf(out, ", %" PRIu32 " rows of %" PRIu32, one.rows, one.stride);
		if (one.n_exceptions)
			ws_out_printf(out, ", %" PRIu32 " with an exception, the first %" PRIu32,
				      one.n_exceptions, one.exception);
		if (one.exception_pc)
			ws_out_printf(out, " at 0x%" PRIx64, one.exception_pc);
		if (one.present < one.size)
			ws_out_printf(out, ", %" PRIu64 " of them in the file", one.present);
		ws_out_text(out, "\n");
	}
	if (n < i && !check->json)
		ws_out_printf(out, "... and %" PRIu32 " more salvaged; --limit 0 shows all\n",
			      i - n);
}

static void check_summary_text(struct check *check, const struct ws_check_summary *summary)
{
	struct ws_out *out = check->out;
	for (int rule = 0; rule < WS_N_CHECKS; rule++) {
		if (!is_within(check, check->shown[rule] - !!check->shown[rule]))
			ws_out_printf(
				out, "... and %" PRIu64 " more of kind '%s'; --limit 0 shows all\n",
				check->shown[rule] - check->limit,
				ws_check_rule_word((enum ws_check_rule)rule));
	}
	salvaged_show(check);
	if (summary->findings)
		ws_out_printf(out, "verdict: %" PRIu64 " finding%s in ", summary->findings,
			      summary->findings == 1 ? "" : "s");
	else
		ws_out_text(out, "verdict: sound: ");
	ws_out_printf(out, "%" PRIu64 " sections, %" PRIu64 " rows\n", summary->sections,
		      summary->rows);
}

static void check_summary_json(struct check *check, const char *path,
			       const struct ws_check_summary *summary)
{
	struct ws_json *json = check->json;
	ws_json_end(json);
	ws_json_key_array(json, "salvaged");
	salvaged_show(check);
	ws_json_end(json);
	ws_json_key_object(json, "summary");
	ws_json_key_text(json, "path", path);
	ws_json_key_bool(json, "sound", summary->findings == 0);
	ws_json_key_u64(json, "sections", summary->sections);
	ws_json_key_u64(json, "rows", summary->rows);
	ws_json_key_u64(json, "findings", summary->findings);
	ws_json_key_object(json, "by_rule");
	for (int rule = 0; rule < WS_N_CHECKS; rule++) {
		ws_json_key(json, ws_check_rule_word((enum ws_check_rule)rule));
		ws_json_u64(json, summary->by_rule[rule]);
	}
	ws_json_end(json);
	ws_json_end(json);
	ws_json_end(json);
}

enum ws_status ws_check_answer(const struct ws_core *core, const char *path, uint64_t limit,
			       const struct ws_answer_style *style,
			       struct ws_check_summary *ret_summary, struct ws_error *err)
{
	struct ws_json json;
	struct check check = {
		.core = core, .out = style->out, .json = style->json ? &json : NULL, .limit = limit
	};
	if (style->json) {
		ws_json_begin(&json, style->out, "warpscope-check-1");
		ws_json_key_array(&json, "findings");
	}
	enum ws_status st = ws_core_check(core, finding_show, &check, ret_summary, err);
	if (st == WS_OK && style->json)
		check_summary_json(&check, path, ret_summary);
	else if (st == WS_OK)
		check_summary_text(&check, ret_summary);
	return st;
}
