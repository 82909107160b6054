/* SPDX-License-Identifier: Apache-2.0 */
/* What an exception's instruction did: accesses, operands, owner, causes, code, parameters. */
#include "render/json.h"

void wsi_json_key_claim(struct ws_json *json, const char *key, const struct ws_report_claim *claim)
{
	if (!claim->text) {
		ws_json_missing(json, key, WS_ABSENT);
		return;
	}
	ws_json_key(json, key);
	wsi_json_claim(json, claim);
}

void wsi_json_claim_keys(struct ws_json *json, const struct ws_report_claim *claim)
{
	wsi_json_key_text(json, "text", claim->text);
	wsi_json_key_text(json, "evidence", claim->evidence);
	wsi_json_key_text(json, "confidence", ws_confidence_text(claim->confidence));
}

void wsi_json_claim(struct ws_json *json, const struct ws_report_claim *claim)
{
	ws_json_object(json);
	wsi_json_claim_keys(json, claim);
	ws_json_end(json);
}

/* One value per lane of a mask: {"0": "0x...", ...}. */
static void json_lanes(struct ws_json *json, const char *key, uint32_t lanes,
		       const uint64_t *values)
{
	char lane[12];
	ws_json_key_object(json, key);
	for (uint32_t i = 0; i < WS_MAX_LANES; i++) {
		if (!(lanes >> i & 1))
			continue;
		wsi_format(lane, "%u", i);
		ws_json_key_hex(json, lane, values[i]);
	}
	ws_json_end(json);
}

static void json_operand(struct ws_json *json, const struct ws_report_operand *op)
{
	ws_json_object(json);
	wsi_json_key_text(json, "name", op->name);
	wsi_json_key_text(json, "use", ws_operand_use_text(op->use));
	ws_json_key_bool(json, "uniform", op->uniform);
	ws_json_key_bool(json, "constant", op->constant);
	if (op->status == WS_OK) {
		wsi_json_key_text(json, "trust", ws_trust_text(op->trust));
		wsi_json_key_text(json, "trust_reason", op->trust_why);
		json_lanes(json, "values", op->lanes, op->value);
	} else {
		ws_json_missing(json, "values", op->status);
	}
	ws_json_end(json);
}

static void json_neighbour(struct ws_json *json, const char *key,
			   const struct ws_report_neighbour *one)
{
	if (!wsi_json_object(json, key, one->status))
		return;
	ws_json_key_hex(json, "start", one->start);
	ws_json_key_u64(json, "size", one->size);
	ws_json_key_u64(json, "distance", one->distance);
	ws_json_key_u64(json, "elements", one->elements);
	wsi_json_key_str(json, "symbol", one->symbol, wsi_status_if(one->symbol.len));
	ws_json_end(json);
}

void wsi_json_owner(struct ws_json *json, const struct ws_report_owner *owner)
{
	ws_json_key_object(json, "owner");
	wsi_json_key_text(json, "kind", ws_owner_kind_text(owner->kind));
	wsi_json_key_number(json, "parameter", owner->ordinal);
	ws_json_key_u64(json, "offset", owner->offset);
	wsi_json_key_str(json, "name", owner->name, wsi_status_if(owner->name.len));
	wsi_json_key_str(json, "field", owner->field, wsi_status_if(owner->field.len));
	wsi_json_key_hex(json, "value", owner->value, wsi_status_if(owner->value_known));
	wsi_json_key_hex(json, "range_start", owner->range_start, owner->range_status);
	wsi_json_key_u64(json, "range_size", owner->range_size, owner->range_status);
	wsi_json_key_hex(json, "loaded_at", owner->pc,
			 wsi_status_if(owner->kind == WS_OWNER_LOADED));
	wsi_json_key_number(json, "loaded_through", owner->root_ordinal);
	wsi_json_key_claim(json, "claim", &owner->claim);
	ws_json_end(json);
}

static void json_index(struct ws_json *json, const struct ws_report_index *index)
{
	if (!wsi_json_object(json, "index", wsi_status_if(index->claim.text)))
		return;
	ws_json_key_hex(json, "read_at", index->pc);
	wsi_json_key_number(json, "parameter", index->root_ordinal);
	wsi_json_key_u64(json, "element", index->element, wsi_status_if(index->element_known));
	ws_json_key_u64(json, "bytes", index->bytes);
	if (ws_json_key_given(json, "value", index->value_known ? WS_OK : WS_ABSENT))
		ws_json_i64(json, index->value);
	wsi_json_key_claim(json, "claim", &index->claim);
	ws_json_end(json);
}

static void json_overflow(struct ws_json *json, const struct ws_report_overflow *overflow)
{
	if (!wsi_json_object(json, "overflow", wsi_status_if(overflow->claim.text)))
		return;
	wsi_json_key_hex(json, "computed_at", overflow->pc, wsi_status_if(overflow->pc));
	ws_json_key_hex(json, "address", overflow->address);
	ws_json_key_bool(json, "inside", overflow->inside);
	wsi_json_key_claim(json, "claim", &overflow->claim);
	ws_json_end(json);
}

static void json_masks(struct ws_json *json, const struct ws_report_access *access)
{
	ws_json_key_hex(json, "lanes", access->lanes);
	ws_json_key_hex(json, "lanes_known", access->lanes_known);
	ws_json_key_hex(json, "lanes_guess", access->lanes_guess);
	ws_json_key_hex(json, "lanes_likely", access->lanes_likely);
	ws_json_key_hex(json, "wrong", access->wrong);
	ws_json_key_hex(json, "suspects", access->suspects);
	ws_json_key_hex(json, "cleared", access->cleared);
	ws_json_key_hex(json, "unmapped", access->unmapped);
	ws_json_key_hex(json, "outside", access->outside);
	ws_json_key_hex(json, "misaligned", access->misaligned);
	ws_json_key_hex(json, "null_like", access->null_like);
	ws_json_key_hex(json, "noncanonical", access->noncanonical);
}

static void json_access(struct ws_json *json, const struct ws_report_access *access)
{
	ws_json_object(json);
	ws_json_key_hex(json, "pc", access->pc);
	wsi_json_key_text(json, "instruction", access->text);
	wsi_json_key_claim(json, "found", &access->found);
	wsi_json_key_text(json, "space", ws_space_text(access->space));
	ws_json_key_bool(json, "generic", access->generic);
	wsi_json_key_number(json, "bank", access->bank);
	wsi_json_key_number(json, "cluster_rank", access->rank);
	wsi_json_key_text(json, "direction", ws_direction_text(access->direction));
	wsi_json_key_number(json, "width", access->width ? access->width : WS_NONE);
	ws_json_key_bool(json, "async", access->async);
	json_masks(json, access);
	json_lanes(json, "address", access->lanes_known | access->lanes_guess, access->address);
	wsi_json_key_claim(json, "address_claim", &access->address_claim);
	wsi_json_key_number(json, "lane", access->lane);
	enum ws_status range =
		wsi_status_if(access->suspects & (access->lanes_known | access->lanes_likely));
	wsi_json_key_hex(json, "first_address", access->first_address, range);
	wsi_json_key_hex(json, "last_address", access->last_address, range);
	wsi_json_key_u64(json, "window_size", access->window_size,
			 wsi_status_if(access->window_size || access->outside));
	wsi_json_key_text(json, "where", access->where);
	ws_json_key_bool(json, "inside", access->inside);
	json_neighbour(json, "below", &access->below);
	json_neighbour(json, "above", &access->above);
	wsi_json_owner(json, &access->owner);
	json_index(json, &access->index);
	json_overflow(json, &access->overflow);
	WSI_JSON_LIST(json, access, operands, json_operand);
	ws_json_end(json);
}

static void json_report_insn(struct ws_json *json, const struct ws_report_insn *insn)
{
	ws_json_object(json);
	ws_json_key_hex(json, "pc", insn->pc);
	wsi_json_key_text(json, "text", insn->text);
	wsi_json_key_text(json, "mark", insn->mark);
	wsi_json_key_text(json, "values", insn->values);
	ws_json_key_bool(json, "known", insn->known);
	ws_json_end(json);
}

static void json_command(struct ws_json *json, const char *const *one)
{
	ws_json_text(json, *one);
}

void wsi_json_accesses(struct ws_json *json, const struct ws_report_exception *e)
{
	if (e->access_status == WS_OK)
		WSI_JSON_LIST(json, e, accesses, json_access);
	else
		ws_json_missing(json, "accesses", e->access_status);
	wsi_json_key_text(json, "accesses_text", e->access_why);
	WSI_JSON_LIST(json, e, insns, json_report_insn);
	ws_json_key_array(json, "likely_causes");
	for (uint32_t i = 0; i < e->n_causes; i++)
		wsi_json_claim(json, &e->causes[i]);
	ws_json_end(json);
	WSI_JSON_LIST(json, e, commands, json_command);
}

static void json_field(struct ws_json *json, const struct ws_report_field *field)
{
	ws_json_object(json);
	ws_json_key_str(json, "path", field->path);
	wsi_json_key_str(json, "type", field->type, field->type.len ? WS_OK : WS_LIMIT);
	ws_json_key_u64(json, "offset", field->offset);
	ws_json_key_u64(json, "size", field->size_bytes);
	if (field->bit_size) {
		ws_json_key_u64(json, "bit_size", field->bit_size);
		ws_json_key_u64(json, "bit_offset", field->bit_off);
	}
	wsi_json_key_text(json, "value", field->text);
	ws_json_end(json);
}

static void json_report_param(struct ws_json *json, const struct ws_report_param *param,
			      enum ws_status types_status)
{
	char text[2 * WS_PARAM_BYTES + 1] = "";
	enum ws_status type = types_status == WS_OK && !param->type.len ? WS_LIMIT : types_status;
	bool unnamed = types_status == WS_OK && !param->name.len;
	ws_json_object(json);
	ws_json_key_u64(json, "ordinal", param->ordinal);
	ws_json_key_u64(json, "offset", param->offset);
	ws_json_key_u64(json, "size", param->size_bytes);
	wsi_json_key_str(json, "name", param->name, unnamed ? WS_ABSENT : types_status);
	wsi_json_key_str(json, "type", param->type, type);
	for (size_t i = 0; i < param->value.len; i++)
		(void)snprintf(text + 2 * i, 3, "%02x", param->value.ptr[i]);
	wsi_json_key_str(json, "bytes", ws_str_of(text), param->value_status);
	wsi_json_key_text(json, "value", param->text);
	if (types_status == WS_OK)
		WSI_JSON_LIST(json, param, fields, json_field);
	else
		ws_json_missing(json, "fields", types_status);
	if (param->fields_cut)
		ws_json_key_bool(json, "fields_cut", true);
	ws_json_end(json);
}

void wsi_json_params(struct ws_json *json, const struct ws_report_kernel *kernel)
{
	if (!wsi_json_array(json, "params", kernel->params_status))
		return;
	for (uint32_t i = 0; i < kernel->n_params; i++)
		json_report_param(json, &kernel->params[i], kernel->types_status);
	ws_json_end(json);
	if (kernel->hidden_bytes)
		wsi_json_key_number(json, "hidden_param_bytes", kernel->hidden_bytes);
	if (kernel->n_unknown_attributes)
		wsi_json_key_number(json, "unknown_attributes", kernel->n_unknown_attributes);
}
