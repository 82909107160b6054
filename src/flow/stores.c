/* SPDX-License-Identifier: Apache-2.0 */
/* The stores that gave memory the value that an instruction reads; the caller says which stores
 * hit.
 */
#include "base/base.h"
#include "flow/slice.h"

/* What a store stores: its source that is no address. */
static bool data_of(const struct ws_flow *flow, size_t at, struct wsi_half *ret_data)
{
	struct wsi_parts parts;
	wsi_parts_of(flow, at, &parts);
	return !(parts.insn.flags & WS_SASS_ATOMIC) && parts.n_sources == 2 &&
	       parts.source[0].address && wsi_half_of(&parts, 1, ret_data) && !ret_data->constant;
}

static bool take_defs(const struct ws_flow *flow, const struct wsi_defs *defs,
		      struct ws_flow_stores *stores)
{
	if (defs->more || defs->n == 0)
		return false;
	for (size_t i = 0; i < defs->n; i++) {
		const struct wsi_def *def = &defs->def[i];
		struct wsi_half data;
		if (def->kind == WSI_DEF_ENTRY) {
			stores->entry = true;
			continue;
		}
		if (def->kind != WSI_DEF_INSN || !data_of(flow, def->at, &data) ||
		    stores->n == WS_FLOW_MAX_STORES)
			return false;
		stores->store[stores->n].pc = wsi_flow_pc(flow, def->at);
		stores->store[stores->n].kind = data.kind;
		stores->store[stores->n++].number = data.number;
	}
	return true;
}

enum ws_status ws_flow_find_stores(const struct ws_flow *flow, uint64_t pc, ws_flow_judge judge,
				   void *context, struct ws_flow_stores *ret_stores,
				   struct ws_error *err)
{
	struct wsi_want want = { .kind = WS_OPERAND_TARGET, .judge = judge, .context = context };
	struct ws_flow_stores stores = { .n = 0 };
	struct wsi_reach reach;
	struct wsi_defs defs;
	size_t at = wsi_flow_at(flow, pc);
	if (at == SIZE_MAX)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "no instruction at 0x%" PRIx64, pc);
	enum ws_status st = wsi_reach_init(&reach, flow, err);
	if (st != WS_OK)
		return st;
	wsi_reach_find(&reach, at, &want, &defs);
	stores.calls = reach.spilled;
	wsi_reach_fini(&reach);
	if (!take_defs(flow, &defs, &stores))
		return wsi_fail(err, WS_LIMIT, WS_NO_OFFSET,
				"the stores before 0x%" PRIx64 " cannot be told", pc);
	*ret_stores = stores;
	return WS_OK;
}
