/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are not read from a target. */
#include "vars/vars.h"

struct ws_value wsi_value_words(enum wsi_c_type type, const uint32_t words[2])
{
	struct ws_value value = { .kind = WS_VALUE_BYTES, .type = wsi_c_type(type) };
	wsi_store_u32(value.bytes, words[0]);
	wsi_store_u32(value.bytes + 4, words[1]);
	return value;
}

struct ws_value ws_value_int(int64_t number)
{
	return wsi_value_int(number);
}

struct ws_value ws_value_void(void)
{
	return (struct ws_value){ .kind = WS_VALUE_BYTES, .type = wsi_c_type(WSI_C_VOID) };
}

struct ws_value wsi_value_uints(const uint32_t *numbers, uint32_t n)
{
	struct ws_value value = { .kind = WS_VALUE_BYTES, .type = wsi_c_type(WSI_C_UINT) };
	if (n == 0 || n > sizeof value.bytes / sizeof *numbers)
		return ws_value_void();
	for (uint32_t i = 0; i < n; i++)
		wsi_store_u32(value.bytes + (size_t)i * sizeof *numbers, numbers[i]);
	value.type.added[value.type.n_added++].count = n;
	return value;
}

struct ws_value ws_value_address(uint64_t address)
{
	const uint32_t words[2] = { (uint32_t)address, (uint32_t)(address >> 32) };
	struct ws_value value = wsi_value_words(WSI_C_VOID, words);
	(void)!wsi_vtype_point(&value.type, WS_SPACE_CODE);
	return value;
}

struct ws_value ws_value_text(struct ws_str text)
{
	struct ws_value value = { .kind = WS_VALUE_BYTES, .type = wsi_c_type(WSI_C_CHAR) };
	const size_t n = (size_t)wsi_min_u64(text.len, sizeof value.bytes - 1);
	memcpy(value.bytes, text.ptr, n);
	(void)!wsi_vtype_repeat(&value.type, n + 1);
	return value;
}
