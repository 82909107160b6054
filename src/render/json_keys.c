/* SPDX-License-Identifier: Apache-2.0 */
/* Keys with values that may be missing. */
#include "render/json.h"

void wsi_json_key_text(struct ws_json *json, const char *key, const char *text)
{
	if (text) {
		ws_json_key(json, key);
		ws_json_text(json, text);
	} else {
		ws_json_missing(json, key, WS_ABSENT);
	}
}

void wsi_json_key_str(struct ws_json *json, const char *key, struct ws_str text,
		      enum ws_status status)
{
	if (status != WS_OK) {
		ws_json_missing(json, key, status);
		return;
	}
	ws_json_key(json, key);
	ws_json_str(json, text);
}

void wsi_json_key_u64(struct ws_json *json, const char *key, uint64_t value)
{
	ws_json_key(json, key);
	ws_json_u64(json, value);
}

/* A number that is WS_NONE when there is none. */
void wsi_json_key_number(struct ws_json *json, const char *key, uint32_t value)
{
	if (value == WS_NONE)
		ws_json_missing(json, key, WS_ABSENT);
	else
		wsi_json_key_u64(json, key, value);
}

void wsi_json_key_hex(struct ws_json *json, const char *key, uint64_t value, enum ws_status status)
{
	if (status != WS_OK) {
		ws_json_missing(json, key, status);
		return;
	}
	ws_json_key(json, key);
	ws_json_hex(json, value);
}

void wsi_json_key_dim3(struct ws_json *json, const char *key, struct ws_dim3 dim,
		       enum ws_status status)
{
	if (status != WS_OK) {
		ws_json_missing(json, key, status);
		return;
	}
	ws_json_key(json, key);
	ws_json_dim3(json, dim);
}

void wsi_json_key_bool(struct ws_json *json, const char *key, bool value)
{
	ws_json_key(json, key);
	ws_json_bool(json, value);
}

enum ws_status wsi_status_if(bool present)
{
	return present ? WS_OK : WS_ABSENT;
}
