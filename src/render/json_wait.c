/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for what, as JSON. */
#include "render/json.h"

static void json_absentee(struct ws_json *json, const struct ws_report_absentee *one)
{
	ws_json_object(json);
	wsi_json_key_text(json, "state", ws_absentee_state_text(one->state));
	ws_json_key_u64(json, "lanes", one->n_lanes);
	ws_json_key_u64(json, "warps", one->n_warps);
	ws_json_key_u64(json, "blocks", one->n_blocks);
	wsi_json_key_number(json, "group", one->group);
	wsi_json_key_number(json, "wait", one->wait);
	wsi_json_example(json, &one->example);
	ws_json_end(json);
}

static void json_word(struct ws_json *json, const struct ws_report_wait *wait)
{
	bool known = wait->address_status == WS_OK;
	wsi_json_key_hex(json, "address", wait->address, wait->address_status);
	wsi_json_key_text(json, "space", known ? ws_space_text(wait->space) : NULL);
	ws_json_key_bool(json, "one_address", known && wait->one_address);
	wsi_json_key_hex(json, "value", wait->value, wait->value_status);
	wsi_json_key_u64(json, "value_bytes", wait->value_bytes, wsi_status_if(known));
}

static void json_until(struct ws_json *json, const struct ws_report_wait *wait)
{
	if (!wsi_json_object(json, "until", wsi_status_if(wait->until != WS_FLOW_TEST_NONE)))
		return;
	wsi_json_key_text(json, "test", ws_flow_test_text(wait->until));
	ws_json_key_bool(json, "signed", wait->until_signed);
	wsi_json_key_hex(json, "value", wait->until_value, wait->until_status);
	wsi_json_key_hex(json, "plus", wait->until_plus, wait->until_status);
	ws_json_key_array(json, "words");
	for (unsigned i = 0; i < 32; i++)
		if (wait->until_words >> i & 1)
			ws_json_u64(json, i);
	ws_json_end(json);
	ws_json_key_u64(json, "word", wait->until_word);
	ws_json_key_bool(json, "each", wait->until_each);
	ws_json_key_bool(json, "met", wait->until_met);
	ws_json_end(json);
}

static void json_object(struct ws_json *json, const struct ws_report_object *object)
{
	if (!wsi_json_object(json, "object", object->status))
		return;
	ws_json_key_u64(json, "parity", object->parity);
	ws_json_key_u64(json, "pending", object->pending);
	ws_json_key_u64(json, "expected", object->expected);
	ws_json_key_u64(json, "pending_bytes", object->pending_bytes);
	if (object->phase_status == WS_OK) {
		ws_json_key_u64(json, "phase", object->phase);
		ws_json_key_bool(json, "over", object->over);
	} else {
		ws_json_missing(json, "phase", object->phase_status);
		ws_json_missing(json, "over", object->phase_status);
	}
	ws_json_end(json);
}

static void json_wait(struct ws_json *json, const struct ws_report *report,
		      const struct ws_report_wait *wait)
{
	ws_json_object(json);
	wsi_json_key_text(json, "kind", ws_wait_kind_text(wait->kind));
	wsi_json_claim_keys(json, &wait->claim);
	if (ws_json_key_given(json, "root", report->root_status))
		ws_json_bool(json, wait == report->root_wait);
	ws_json_key_hex(json, "pc", wait->pc);
	wsi_json_key_text(json, "instruction", wait->instruction);
	wsi_json_key_number(json, "kernel", wait->kernel);
	wsi_json_key_number(json, "user_frame", wait->user_frame);
	ws_json_key_u64(json, "lanes", wait->n_lanes);
	ws_json_key_u64(json, "warps", wait->n_warps);
	ws_json_key_u64(json, "blocks", wait->n_blocks);
	ws_json_key_u64(json, "hardware_warps", wait->n_hardware_warps);
	wsi_json_key_text(json, "collective", wait->collective);
	wsi_json_key_u64(json, "barrier", wait->barrier, wait->barrier_status);
	ws_json_key_u64(json, "expected", wait->expected);
	json_word(json, wait);
	wsi_json_owner(json, &wait->owner);
	json_until(json, wait);
	json_object(json, &wait->object);
	wsi_json_key_text(json, "needs", wait->needs);
	ws_json_key_u64(json, "missing", wait->n_missing);
	wsi_json_key_text(json, "missing_unit", ws_wait_unit_text(wait->kind));
	ws_json_key_bool(json, "missing_is_most", wait->missing_is_most);
	ws_json_key_u64(json, "never", wait->n_never);
	ws_json_key_bool(json, "nobody_left", wait->nobody_left);
	wsi_json_key_text(json, "missing_text", wait->missing_text);
	wsi_json_example(json, &wait->example);
	WSI_JSON_LIST(json, wait, frames, wsi_json_frame);
	WSI_JSON_LIST(json, wait, absentees, json_absentee);
	ws_json_end(json);
}

void wsi_json_waits(struct ws_json *json, const struct ws_report *report)
{
	ws_json_key_array(json, "waits");
	for (uint32_t i = 0; i < report->n_waits; i++)
		json_wait(json, report, &report->waits[i]);
	ws_json_end(json);
}
