/* SPDX-License-Identifier: Apache-2.0 */
/* Operands, addresses and words that waiting threads look at. */
#include "analyze/wait.h"

enum { NOT_GIVEN = 255 };

static bool read_register(struct wsi_build *build, uint32_t warp_index, uint32_t lane,
			  enum ws_reg_kind kind, uint32_t number, uint32_t n, uint64_t *ret_value)
{
	uint32_t values[2] = { 0 }, n_read = 0;
	if (ws_target_registers(build->target, warp_index, lane, kind, number, n, values, &n_read,
				NULL) != WS_OK ||
	    n_read < n)
		return false;
	*ret_value = values[0] | (n > 1 ? (uint64_t)values[1] << 32 : 0);
	return true;
}

bool wsi_wait_operand(struct wsi_build *build, uint32_t warp_index, uint32_t lane,
		      const struct ws_operand *op, uint64_t *ret_value)
{
	uint32_t n = op->count > 1 ? 2 : 1;
	*ret_value = (uint64_t)op->value;
	switch (op->kind) {
	case WS_OPERAND_IMMEDIATE:
		return true;
	case WS_OPERAND_REG:
		*ret_value = 0;
		return op->number >= 255 ||
		       read_register(build, warp_index, lane, WS_REG_R, op->number, n, ret_value);
	case WS_OPERAND_UREG:
		*ret_value = 0;
		return op->number >= 255 ||
		       read_register(build, warp_index, lane, WS_REG_UR, op->number, n, ret_value);
	case WS_OPERAND_BREG:
		return read_register(build, warp_index, lane, WS_REG_BARRIER, op->number, 1,
				     ret_value);
	case WS_OPERAND_PRED:
	case WS_OPERAND_UPRED:
	case WS_OPERAND_SCOREBOARD:
	case WS_OPERAND_FLOAT:
	case WS_OPERAND_TARGET:
		break;
	}
	return false;
}

bool wsi_wait_address(struct wsi_build *build, uint32_t warp_index, uint32_t lane,
		      const struct wsi_wait_code *code, uint64_t *ret_address)
{
	uint64_t sum = (uint64_t)code->offset, part;
	const struct ws_operand *const bases[] = { &code->base, &code->ubase };
	if (!code->have_address)
		return false;
	for (size_t i = 0; i < WSI_COUNT(bases); i++) {
		if (bases[i]->place == NOT_GIVEN)
			continue;
		if (!wsi_wait_operand(build, warp_index, lane, bases[i], &part))
			return false;
		sum += part;
	}
	bool wide = code->space == WS_SPACE_GLOBAL || code->space == WS_SPACE_GENERIC;
	*ret_address = wide ? sum : (uint32_t)sum;
	return true;
}

void wsi_wait_read_word(struct wsi_build *build, const struct wsi_wait_code *code,
			uint32_t device_index, struct ws_report_wait *wait)
{
	uint8_t bytes[8] = { 0 };
	size_t n = 0;
	wait->space = code->space;
	wait->address_status = WS_ABSENT;
	wait->value_status = WS_ABSENT;
	if (!wsi_wait_address(build, wait->example.warp_index, wait->example.lane, code,
			      &wait->address))
		return;
	wait->address_status = WS_OK;
	wait->value_bytes = code->bytes;
	if (code->bytes == 0 || code->bytes > sizeof bytes)
		return;
	struct ws_address at = { .space = code->space,
				 .device_index = device_index,
				 .grid_index = WS_NONE,
				 .warp_index = wait->example.warp_index,
				 .lane = wait->example.lane,
				 .address = wait->address };
	wait->value_status =
		ws_target_read_memory(build->target, &at, bytes, code->bytes, &n, NULL);
	for (size_t i = 0; i < n && i < sizeof bytes; i++)
		wait->value |= (uint64_t)bytes[i] << 8 * i;
	if (wait->value_status != WS_OK)
		wait->value = 0;
}
