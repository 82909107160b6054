/* SPDX-License-Identifier: Apache-2.0 */
/* What atomics and reductions in the background do to one element in memory. */
#include "sim/exec/access.h"

#include "alu/bits.h"

enum wsi_reduction wsi_reduction_of(const struct ws_insn *insn)
{
	static const struct {
		enum ws_modifier modifier;
		enum wsi_reduction reduction;
	} list[] = {
		{ WS_MOD_CAS, WSI_REDUCE_CAS },   { WS_MOD_CAST, WSI_REDUCE_CAS },
		{ WS_MOD_INC, WSI_REDUCE_INC },   { WS_MOD_ADD, WSI_REDUCE_ADD },
		{ WS_MOD_MIN, WSI_REDUCE_MIN },   { WS_MOD_MAX, WSI_REDUCE_MAX },
		{ WS_MOD_DEC, WSI_REDUCE_DEC },   { WS_MOD_AND, WSI_REDUCE_AND },
		{ WS_MOD_OR, WSI_REDUCE_OR },     { WS_MOD_XOR, WSI_REDUCE_XOR },
		{ WS_MOD_EXCH, WSI_REDUCE_EXCH }, { WS_MOD_ARRIVE, WSI_REDUCE_ARRIVE },
	};
	for (size_t i = 0; i < WSI_COUNT(list); i++)
		if (ws_sass_has(insn, list[i].modifier))
			return list[i].reduction;
	return WSI_REDUCE_NONE;
}

enum wsi_sim_element wsi_element_of(const struct ws_insn *insn, unsigned bytes)
{
	static const struct {
		enum ws_modifier modifier;
		enum wsi_sim_element element;
	} list[] = {
		{ WS_MOD_F16, WSI_F16 },      { WS_MOD_F16x2, WSI_F16 },
		{ WS_MOD_F16x4, WSI_F16 },    { WS_MOD_F16x8, WSI_F16 },
		{ WS_MOD_BF16, WSI_BF16 },    { WS_MOD_BF16x2, WSI_BF16 },
		{ WS_MOD_BF16x4, WSI_BF16 },  { WS_MOD_BF16x8, WSI_BF16 },
		{ WS_MOD_BF16_V2, WSI_BF16 }, { WS_MOD_F32, WSI_F32 },
		{ WS_MOD_F32x2, WSI_F32 },    { WS_MOD_F32x4, WSI_F32 },
		{ WS_MOD_F64, WSI_F64 },      { WS_MOD_S32, WSI_S32 },
		{ WS_MOD_S64, WSI_S64 },      { WS_MOD_U64, WSI_U64 },
	};
	for (size_t i = 0; i < WSI_COUNT(list); i++) {
		if (!ws_sass_has(insn, list[i].modifier))
			continue;
		bool flushes = list[i].element == WSI_F32 && ws_sass_has(insn, WS_MOD_FTZ);
		return flushes ? WSI_F32_FTZ : list[i].element;
	}
	return bytes == 8 ? WSI_U64 : WSI_U32;
}

unsigned wsi_element_bytes(enum wsi_sim_element element)
{
	switch (element) {
	case WSI_F16:
	case WSI_BF16:
		return 2;
	case WSI_U64:
	case WSI_S64:
	case WSI_F64:
		return 8;
	case WSI_U32:
	case WSI_S32:
	case WSI_F32:
	case WSI_F32_FTZ:
		break;
	}
	return 4;
}

bool wsi_can_reduce(enum wsi_reduction reduction, enum wsi_sim_element element)
{
	switch (reduction) {
	case WSI_REDUCE_ADD:
		return true;
	case WSI_REDUCE_MIN:
	case WSI_REDUCE_MAX:
		return element != WSI_F32 && element != WSI_F32_FTZ && element != WSI_F64;
	case WSI_REDUCE_INC:
	case WSI_REDUCE_DEC:
	case WSI_REDUCE_AND:
	case WSI_REDUCE_OR:
	case WSI_REDUCE_XOR:
		return element <= WSI_S64;
	case WSI_REDUCE_NONE:
	case WSI_REDUCE_EXCH:
	case WSI_REDUCE_CAS:
	case WSI_REDUCE_ARRIVE:
		break;
	}
	return false;
}

/* ---- sums ---- */

static uint64_t add_f32(bool ftz, uint32_t a, uint32_t b)
{
	float sum = wsi_float(wsi_flushed(a, ftz)) + wsi_float(wsi_flushed(b, ftz));
	return sum != sum ? WSI_NAN32 : wsi_flushed(wsi_bits(sum), ftz);
}

static uint64_t add_f64(uint64_t a, uint64_t b)
{
	double sum = wsi_double(a) + wsi_double(b);
	return sum != sum ? UINT64_C(0x7fffffffffffffff) : wsi_double_bits(sum);
}

/* A sum of two halves in a float, rounded again, is the nearest half: a float has more than twice
 * its digits. */
static uint64_t add_half(bool bf16, uint32_t a, uint32_t b)
{
	float sum = wsi_half_value(a, bf16) + wsi_half_value(b, bf16);
	return wsi_to_half(wsi_bits(sum), bf16);
}

static uint64_t element_sum(enum wsi_sim_element element, uint64_t a, uint64_t b)
{
	switch (element) {
	case WSI_F32:
	case WSI_F32_FTZ:
		return add_f32(element == WSI_F32_FTZ, (uint32_t)a, (uint32_t)b);
	case WSI_F64:
		return add_f64(a, b);
	case WSI_F16:
	case WSI_BF16:
		return add_half(element == WSI_BF16, (uint32_t)a, (uint32_t)b);
	case WSI_U32:
	case WSI_S32:
	case WSI_U64:
	case WSI_S64:
		break;
	}
	return a + b;
}

/* ---- the smaller one ---- */

/* A NaN is never the smaller one, nor the larger; -0 is less than +0. */
static bool half_less(bool bf16, uint32_t a, uint32_t b)
{
	uint32_t infinity = bf16 ? 0x7f80 : 0x7c00;
	if ((a & 0x7fff) > infinity || (b & 0x7fff) > infinity)
		return false;
	uint32_t x = a & 0x8000 ? 0xffff - a : a + 0x8000;
	uint32_t y = b & 0x8000 ? 0xffff - b : b + 0x8000;
	return x < y;
}

static bool element_less(enum wsi_sim_element element, uint64_t a, uint64_t b)
{
	switch (element) {
	case WSI_S32:
		return (int32_t)a < (int32_t)b;
	case WSI_S64:
		return (int64_t)a < (int64_t)b;
	case WSI_F16:
	case WSI_BF16:
		return half_less(element == WSI_BF16, (uint32_t)a, (uint32_t)b);
	case WSI_U32:
	case WSI_U64:
	case WSI_F32:
	case WSI_F32_FTZ:
	case WSI_F64:
		break;
	}
	return a < b;
}

static bool is_nan(enum wsi_sim_element element, uint64_t value)
{
	uint32_t infinity = element == WSI_BF16 ? 0x7f80 : 0x7c00;
	return (element == WSI_F16 || element == WSI_BF16) && (value & 0x7fff) > infinity;
}

/* The one of two that is less, or greater. A NaN loses; two give one in the usual form. */
static uint64_t element_extreme(enum wsi_sim_element element, bool greater, uint64_t old,
				uint64_t value)
{
	if (is_nan(element, old))
		return is_nan(element, value) ? 0x7fff : value;
	return (greater ? element_less(element, old, value) : element_less(element, value, old))
		       ? value
		       : old;
}

uint64_t wsi_reduce(enum wsi_reduction reduction, enum wsi_sim_element element, uint64_t old,
		    uint64_t value)
{
	switch (reduction) {
	case WSI_REDUCE_ADD:
		return element_sum(element, old, value);
	case WSI_REDUCE_MIN:
	case WSI_REDUCE_MAX:
		return element_extreme(element, reduction == WSI_REDUCE_MAX, old, value);
	case WSI_REDUCE_INC:
		return old >= value ? 0 : old + 1;
	case WSI_REDUCE_DEC:
		return old == 0 || old > value ? value : old - 1;
	case WSI_REDUCE_AND:
		return old & value;
	case WSI_REDUCE_OR:
		return old | value;
	case WSI_REDUCE_XOR:
		return old ^ value;
	case WSI_REDUCE_ARRIVE:
		return wsi_mbarrier_arrive_80(old);
	case WSI_REDUCE_EXCH:
		return value;
	case WSI_REDUCE_NONE:
	case WSI_REDUCE_CAS:
		break;
	}
	return old;
}

static uint64_t load_element(const uint8_t *from, unsigned bytes)
{
	return bytes == 2   ? wsi_load_u16(from)
	       : bytes == 4 ? wsi_load_u32(from)
			    : wsi_load_u64(from);
}

void wsi_reduce_bytes(enum wsi_reduction reduction, enum wsi_sim_element element, uint8_t *to,
		      const uint8_t *from, unsigned n)
{
	unsigned bytes = wsi_element_bytes(element);
	for (unsigned at = 0; at < n; at += bytes) {
		uint64_t now = wsi_reduce(reduction, element, load_element(to + at, bytes),
					  load_element(from + at, bytes));
		if (bytes == 2)
			wsi_store_u16(to + at, (uint16_t)now);
		else if (bytes == 4)
			wsi_store_u32(to + at, (uint32_t)now);
		else
			wsi_store_u64(to + at, now);
	}
}
