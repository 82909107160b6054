/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/product.h"

#include "base/base.h"

enum { MOST_COLUMNS = 256 };

/* The type of A or B by its number, which depends on the kind of the product. */
static enum ws_modifier product_type_of(enum ws_operation operation, unsigned number)
{
	static const enum ws_modifier floats[] = { WS_MOD_F16, WS_MOD_BF16, WS_MOD_TF32 };
	static const enum ws_modifier bytes[] = { WS_MOD_U8, WS_MOD_S8 };
	static const enum ws_modifier small[] = { WS_MOD_E4M3, WS_MOD_E5M2, WS_MOD_NONE,
						  WS_MOD_E2M3, WS_MOD_E3M2, WS_MOD_E2M1 };
	if (operation == WS_OP_UTCHMMA && number < WSI_COUNT(floats))
		return floats[number];
	if (operation == WS_OP_UTCIMMA && number < WSI_COUNT(bytes))
		return bytes[number];
	if (operation == WS_OP_UTCQMMA && number < WSI_COUNT(small))
		return small[number];
	return operation == WS_OP_UTCOMMA && number == 1 ? WS_MOD_E2M1 : WS_MOD_NONE;
}

static bool shape_is_right(const struct wsi_product *p, bool pair, bool apart)
{
	if (p->n == 0 || p->n > MOST_COLUMNS)
		return false;
	if (pair)
		return (p->m == 128 || p->m == 256) && p->n % (p->m == 128 ? 16 : 32) == 0 &&
		       !apart;
	if (apart)
		return (p->m == 32 || p->m == 64 || p->m == 128) &&
		       (p->n == 64 || p->n == 128 || p->n == 256);
	return (p->m == 64 && p->n % 8 == 0) || (p->m == 128 && p->n % 16 == 0);
}

const char *wsi_product_decode(enum ws_operation operation, bool pair, bool apart, uint32_t bits,
			       struct wsi_product *ret_product)
{
	*ret_product = (struct wsi_product){
		.m = (bits >> 24 & 0x1f) << 4,
		.n = (bits >> 17 & 0x3f) << 3,
		.type_a = product_type_of(operation, bits >> 7 & 7),
		.type_b = product_type_of(operation, bits >> 10 & 7),
	};
	const enum ws_modifier a = ret_product->type_a, b = ret_product->type_b;
	if (a == WS_MOD_NONE || b == WS_MOD_NONE ||
	    (operation == WS_OP_UTCHMMA && (a == WS_MOD_TF32) != (b == WS_MOD_TF32)))
		return "types of A and B";
	return shape_is_right(ret_product, pair, apart) ? NULL : "shape";
}

uint64_t wsi_objects_matrix_odd_bits(uint64_t descriptor, bool tensor)
{
	/* fields: start, leading, stride, base offset, mode of the leading offset, swizzle */
	const uint64_t fields =
		UINT64_C(0x3fff) | UINT64_C(0x3fff) << 16 | UINT64_C(0x3fff) << 32 |
		UINT64_C(7) << 49 |
		(tensor ? UINT64_C(1) << 52 | UINT64_C(7) << 61 : UINT64_C(3) << 62);
	const uint64_t wanted = tensor ? UINT64_C(1) << 46 : 0;
	return (descriptor & ~fields) ^ wanted;
}
