/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `.nv.info` and `.nv.info.F`: attributes of an image and of one function.
 *
 * A record is u8 format, u8 attribute, then by format: 1 two bytes that say nothing, 2 and 3 a
 * value in two bytes, 4 a u16 length and so many bytes. [measured: nvcc 13.0, sm_75 to sm_120;
 * docs/formats/cubin.md]
 */
#include "cubin/internal.h"
#include "sass/bank.h"

struct info_attribute {
	uint8_t number;
	uint16_t value;       /* formats 2 and 3 */
	struct ws_span bytes; /* format 4 */
};

/* Next record; false at the end or where the rest cannot be read. */
static bool attribute_next(struct wsi_reader *r, struct info_attribute *ret)
{
	if (wsi_reader_left(r) < 4)
		return false;
	uint8_t format = wsi_read_u8(r);
	*ret = (struct info_attribute){ .number = wsi_read_u8(r) };
	ret->value = wsi_read_u16(r);
	if (format == 4)
		ret->bytes = wsi_read_span(r, ret->value);
	return !r->failed && format >= 1 && format <= 4;
}

static struct ws_function *function_of_symbol(struct ws_function *functions, size_t n,
					      uint32_t symbol)
{
	/* the table is in the order of symbols */
	return &functions[WSI_BISECT(i, (size_t)0, n, functions[i].symbol_index < symbol)];
}

void wsi_cubin_read_counts(const struct ws_cubin *cubin, struct ws_function *functions, size_t n)
{
	struct wsi_reader r = wsi_reader_of(wsi_cubin_bytes(cubin, cubin->nv_info));
	struct info_attribute a;
	while (attribute_next(&r, &a)) {
		if (a.bytes.len < 8)
			continue;
		uint32_t symbol = wsi_at_u32(a.bytes, 0), value = wsi_at_u32(a.bytes, 4);
		struct ws_function *f = function_of_symbol(functions, n, symbol);
		if (f == functions + n || f->symbol_index != symbol)
			continue;
		if (a.number == WSI_NV_REGCOUNT)
			f->n_regs = value;
		else if (a.number == WSI_NV_FRAME_SIZE)
			f->frame_bytes = value;
		else if (a.number == WSI_NV_MIN_STACK_SIZE)
			f->min_stack_bytes = value;
		else if (a.number == WSI_NV_MAX_STACK_SIZE)
			f->max_stack_bytes = value;
	}
}

struct info_out {
	struct ws_function_info info;
	struct ws_param *params;
	uint32_t *exits;
	size_t cap_params, cap_exits;
};

static struct ws_dim3 dimensions(const struct info_attribute *a)
{
	return (struct ws_dim3){ wsi_at_u32(a->bytes, 0), wsi_at_u32(a->bytes, 4),
				 wsi_at_u32(a->bytes, 8) };
}

/* Numbers that cuobjdump has a name for, and 0x35 and 0x5f, which nvcc writes for every kernel.
 * [measured: cuobjdump 13.4; docs/formats/cubin.md] */
static bool attribute_is_named(uint8_t number)
{
	static const uint8_t nameless[] = { 0x00, 0x2a, 0x30, 0x47, 0x56, 0x5a, 0x60, 0x63, 0x67 };
	enum { LAST = 0x6d };
	return number <= LAST && !memchr(nameless, number, sizeof nameless);
}

/*
 * A parameter: u32 index, u16 ordinal, u16 offset, then in the first kind of record u32 size << 18
 * and the pointer's space << 8 and log2 of its alignment, in the second kind u16 size, u8 log2 of
 * the alignment, u8 space. [measured: ptxas 13.0 and 13.5, each space and alignment of PTX]
 */
static void param_take(const struct info_attribute *a, struct info_out *out)
{
	static const enum ws_space spaces[] = {
		[WSI_NV_POINTER_LOCAL] = WS_SPACE_LOCAL,
		[WSI_NV_POINTER_SHARED] = WS_SPACE_SHARED,
		[WSI_NV_POINTER_CONST] = WS_SPACE_CONST,
		[WSI_NV_POINTER_GLOBAL] = WS_SPACE_GLOBAL,
		[WSI_NV_POINTER_GENERIC] = WS_SPACE_GENERIC,
	};
	const bool is_second = a->number == WSI_NV_KPARAM_INFO_V2;
	const uint32_t word = wsi_at_u32(a->bytes, 8);
	const uint32_t space = is_second ? word >> 24 : word >> 8 & 15;
	const uint32_t alignment = is_second ? word >> 16 & 0xff : word & 0xff;
	struct ws_param param = {
		.ordinal = wsi_at_u16(a->bytes, 4),
		.offset = wsi_at_u16(a->bytes, 6),
		.size_bytes = is_second ? word & 0xffff : word >> 18,
		.is_pointer = space != 0 && space < WSI_COUNT(spaces) && alignment < 32,
	};
	if (param.is_pointer) {
		param.to = spaces[space];
		param.alignment = UINT32_C(1) << alignment;
	}
	if (out->info.n_params < out->cap_params)
		out->params[out->info.n_params] = param;
	out->info.n_params++;
}

static void attribute_take(const struct info_attribute *a, struct info_out *out)
{
	struct ws_function_info *info = &out->info;
	if (a->number == WSI_NV_PARAM_CBANK && a->bytes.len >= 8) {
		info->param_bank_offset = wsi_at_u16(a->bytes, 4);
		info->param_bytes = wsi_at_u16(a->bytes, 6);
	} else if (a->number == WSI_NV_CBANK_PARAM_SIZE && a->bytes.len == 0) {
		info->param_bytes = a->value;
	} else if (a->number == WSI_NV_NUM_BARRIERS && a->bytes.len == 0) {
		info->n_barriers = a->value & 0xff;
	} else if (a->number == WSI_NV_API_VERSION && a->bytes.len >= 4) {
		info->toolkit = wsi_at_u32(a->bytes, 0);
	} else if (a->number == WSI_NV_CTA_PER_CLUSTER && a->bytes.len >= 12) {
		info->cluster_dim = dimensions(a);
	} else if (a->number == WSI_NV_MAX_THREADS && a->bytes.len >= 12) {
		info->max_block = dimensions(a);
	} else if (a->number == WSI_NV_REQNTID && a->bytes.len >= 12) {
		info->required_block = dimensions(a);
	} else if ((a->number == WSI_NV_KPARAM_INFO || a->number == WSI_NV_KPARAM_INFO_V2) &&
		   a->bytes.len >= 12) {
		param_take(a, out);
	} else if (a->number == WSI_NV_EXIT_OFFSETS) {
		for (size_t i = 0; i < a->bytes.len / 4; i++, info->n_exits++) {
			if (info->n_exits < out->cap_exits)
				out->exits[info->n_exits] = wsi_at_u32(a->bytes, 4 * i);
		}
	} else if (!attribute_is_named(a->number)) {
		if (info->n_unknown++ == 0)
			info->first_unknown = a->number;
	}
}

static int param_order(const void *left, const void *right)
{
	const struct ws_param *a = left, *b = right;
	return WSI_ORDER(a->ordinal, b->ordinal);
}

/* From sm_90 on the linker puts what the system takes in front. [measured: ptxas and nvlink 13.0,
 * against what ptxas -v says] */
static uint32_t reserved_shared(const struct ws_cubin *cubin, uint64_t size)
{
	struct ws_cubin_facts facts;
	ws_cubin_facts(cubin, &facts);
	uint32_t kept = wsi_bank0(facts.sm)->kept;
	return !facts.relocatable && size >= kept ? kept : 0;
}

enum ws_status ws_cubin_function_info(const struct ws_cubin *cubin,
				      const struct ws_function *function,
				      struct ws_function_info *ret_info,
				      struct ws_param *ret_params, size_t cap_params,
				      uint32_t *ret_exits, size_t cap_exits, struct ws_error *err)
{
	const struct wsi_cubin_code *code = wsi_cubin_code_of(cubin, function->section);
	if (!code || code->info_section == 0 || function->is_inner)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"the image has no attributes of the function");
	struct info_out out = {
		.info = { .param_bank_offset = WS_UNKNOWN,
			  .param_bytes = WS_UNKNOWN,
			  .n_barriers = WS_UNKNOWN,
			  .toolkit = WS_UNKNOWN },
		.params = ret_params,
		.exits = ret_exits,
		.cap_params = cap_params,
		.cap_exits = cap_exits,
	};
	if (code->shared_section != 0) {
		uint64_t size = wsi_cubin_shdr(cubin, code->shared_section).size;
		out.info.shared_bytes = size < WS_UNKNOWN ? (uint32_t)size : WS_UNKNOWN;
		out.info.reserved_shared_bytes = reserved_shared(cubin, size);
	}
	struct wsi_reader r = wsi_reader_of(wsi_cubin_bytes(cubin, code->info_section));
	struct info_attribute a;
	while (attribute_next(&r, &a))
		attribute_take(&a, &out);
	size_t n = out.info.n_params < cap_params ? out.info.n_params : cap_params;
	if (n > 1)
		qsort(ret_params, n, sizeof *ret_params, param_order);
	*ret_info = out.info;
	return WS_OK;
}

/* A parameter lies where its size lets it be aligned; a hole that this does not explain is hidden.
 * [measured: ptxas 13.0] */
bool ws_params_hidden(const struct ws_function_info *info, const struct ws_param *params, size_t n,
		      uint32_t *offset, uint32_t *ret_bytes)
{
	uint32_t at = *offset, end = info->param_bytes;
	if (end == WS_UNKNOWN || n < info->n_params)
		return false;
	for (size_t i = 0; i < n; i++) {
		uint32_t size = params[i].size_bytes, padding = (size & (0 - size)) - 1;
		if (size == 0 || params[i].offset + size <= at)
			continue;
		if (params[i].offset > at && params[i].offset - at > padding) {
			end = params[i].offset;
			break;
		}
		at = params[i].offset + size;
	}
	*offset = at;
	*ret_bytes = end > at ? end - at : 0;
	return end > at;
}

/* ---- branches through a register ---- */

/* Targets being collected: the first `cap` are kept. */
struct jump_targets {
	struct ws_branch_target *at;
	size_t n, cap;
};

/*
 * Records of: u32 offset of the branch, u32 0, u32 number of targets, their u32 offsets; all in the
 * section. [measured: nvcc 13.0, switch statements for sm_80 to sm_120]
 */
static void targets_take(struct ws_span bytes, struct jump_targets *targets)
{
	struct wsi_reader r = wsi_reader_of(bytes);
	while (wsi_reader_left(&r) >= 12) {
		uint64_t from = wsi_read_u32(&r);
		wsi_read_u32(&r);
		uint32_t n = wsi_read_u32(&r);
		for (uint32_t i = 0; i < n && wsi_reader_left(&r) >= 4; i++, targets->n++) {
			uint64_t to = wsi_read_u32(&r);
			if (targets->n < targets->cap)
				targets->at[targets->n] = (struct ws_branch_target){ from, to };
		}
	}
}

void ws_cubin_branch_targets(const struct ws_cubin *cubin, uint32_t section,
			     struct ws_branch_target *ret_targets, size_t cap, size_t *ret_n)
{
	const struct wsi_cubin_code *code = wsi_cubin_code_of(cubin, section);
	struct jump_targets targets = { ret_targets, 0, cap };
	struct info_attribute a;
	if (code && code->info_section != 0) {
		struct wsi_reader r = wsi_reader_of(wsi_cubin_bytes(cubin, code->info_section));
		while (attribute_next(&r, &a))
			if (a.number == WSI_NV_BRANCH_TARGETS)
				targets_take(a.bytes, &targets);
	}
	*ret_n = targets.n;
}

enum ws_status ws_cubin_flow(const struct ws_cubin *cubin, const struct ws_function *function,
			     uint64_t base_pc, struct ws_flow **ret_flow, struct ws_error *err)
{
	struct ws_cubin_facts facts;
	struct ws_span bytes;
	size_t n;
	enum ws_status st = ws_cubin_code(cubin, function, &bytes, err);
	if (st != WS_OK)
		return st;
	ws_cubin_branch_targets(cubin, function->section, NULL, 0, &n);
	wsi_scoped_free struct ws_branch_target *targets = wsi_zalloc_array(n, sizeof *targets);
	wsi_scoped_free struct ws_flow_edge *edges = wsi_zalloc_array(n, sizeof *edges);
	if (!targets || !edges)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "targets of branches");
	ws_cubin_branch_targets(cubin, function->section, targets, n, &n);
	for (size_t i = 0; i < n; i++)
		edges[i] = (struct ws_flow_edge){ base_pc + targets[i].sec_off - function->sec_off,
						  base_pc + targets[i].target - function->sec_off };
	ws_cubin_facts(cubin, &facts);
	return ws_flow_create(facts.sm, bytes, base_pc, edges, n, ret_flow, err);
}
