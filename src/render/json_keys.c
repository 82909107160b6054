/* SPDX-License-Identifier: Apache-2.0 */
/* Keys with values that may be missing. */
#include "render/json.h"

void wsi_json_key_text(struct ws_json *json, const char *key, const char *text)
{
	if (ws_json_key_given(json, key, text ? WS_OK : WS_ABSENT))
		ws_json_text(json, text);
}

#define DEFINE_GIVEN(kind, type)                                                    \
	void wsi_json_key_##kind(struct ws_json *json, const char *key, type value, \
				 enum ws_status status)                             \
	{                                                                           \
		if (ws_json_key_given(json, key, status))                           \
			ws_json_##kind(json, value);                                \
	}

DEFINE_GIVEN(str, struct ws_str)
DEFINE_GIVEN(u64, uint64_t)
DEFINE_GIVEN(hex, uint64_t)
DEFINE_GIVEN(dim3, struct ws_dim3)

/* A number that is WS_NONE when there is none. */
void wsi_json_key_number(struct ws_json *json, const char *key, uint32_t value)
{
	wsi_json_key_u64(json, key, value, wsi_status_if(value != WS_NONE));
}

#define DEFINE_OPEN(kind)                                                                  \
	bool wsi_json_##kind(struct ws_json *json, const char *key, enum ws_status status) \
	{                                                                                  \
		const bool is_given = ws_json_key_given(json, key, status);                \
		if (is_given)                                                              \
			ws_json_##kind(json);                                              \
		return is_given;                                                           \
	}

DEFINE_OPEN(object)
DEFINE_OPEN(array)

enum ws_status wsi_status_if(bool present)
{
	return present ? WS_OK : WS_ABSENT;
}
