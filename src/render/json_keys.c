/* SPDX-License-Identifier: Apache-2.0 */
/* Keys with values that may be missing. */
#include "render/json.h"

void wsi_json_key_text(struct ws_json *json, const char *key, const char *text)
{
	if (text)
		ws_json_key_text(json, key, text);
	else
		ws_json_missing(json, key, WS_ABSENT);
}

void wsi_json_key_str(struct ws_json *json, const char *key, struct ws_str text,
		      enum ws_status status)
{
	if (status == WS_OK)
		ws_json_key_str(json, key, text);
	else
		ws_json_missing(json, key, status);
}

/* A number that is WS_NONE when there is none. */
void wsi_json_key_number(struct ws_json *json, const char *key, uint32_t value)
{
	if (value == WS_NONE)
		ws_json_missing(json, key, WS_ABSENT);
	else
		ws_json_key_u64(json, key, value);
}

void wsi_json_key_hex(struct ws_json *json, const char *key, uint64_t value, enum ws_status status)
{
	if (status == WS_OK)
		ws_json_key_hex(json, key, value);
	else
		ws_json_missing(json, key, status);
}

void wsi_json_key_dim3(struct ws_json *json, const char *key, struct ws_dim3 dim,
		       enum ws_status status)
{
	if (status == WS_OK)
		ws_json_key_dim3(json, key, dim);
	else
		ws_json_missing(json, key, status);
}

enum ws_status wsi_status_if(bool present)
{
	return present ? WS_OK : WS_ABSENT;
}
