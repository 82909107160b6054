/* SPDX-License-Identifier: Apache-2.0 */
/* Writing memory and registers of a software GPU that stands, and its memory as the host sees it.
 */
#include "target/sim/sim.h"

static enum ws_status outside(struct ws_error *err, uint64_t address)
{
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "nothing is at 0x%" PRIx64, address);
}

/* ---- memory ---- */

static enum ws_status sim_write_global(struct ws_sim *sim, uint64_t address, const void *bytes,
				       size_t len, struct ws_error *err)
{
	enum ws_status st = wsi_memory_copy_in(&sim->memory, address, bytes, len, err);
	return st == WS_ARGUMENT ? outside(err, address) : st;
}

static enum ws_status write_shared(const struct wsi_block *block, uint64_t address,
				   const void *bytes, size_t len, struct ws_error *err)
{
	if (address > block->shared_bytes || len > block->shared_bytes - address)
		return outside(err, address);
	memcpy(block->shared + address, bytes, len);
	return WS_OK;
}

static enum ws_status write_local(struct ws_sim *sim, struct wsi_warp *warp, uint32_t lane,
				  uint64_t address, const uint8_t *bytes, size_t len,
				  struct ws_error *err)
{
	uint64_t size = warp->block->grid->local_bytes;
	if (address > size || len > size - address)
		return outside(err, address);
	for (size_t i = 0; i < len; i++) {
		uint8_t *to = wsi_local_byte(sim, warp, lane, address + i);
		if (!to)
			return wsi_account_fail(&sim->account, err);
		*to = bytes[i];
	}
	return WS_OK;
}

static enum ws_status write_bank(struct ws_sim *sim, const struct sim_place *p, const void *bytes,
				 size_t len, struct ws_error *err)
{
	uint64_t size = p->bank < WSI_BANKS ? p->grid->bank[p->bank].size : 0;
	if (p->address > size || len > size - p->address)
		return outside(err, p->address);
	return sim_write_global(sim, p->grid->bank[p->bank].address + p->address, bytes, len, err);
}

enum ws_status sim_write_memory(struct ws_target *target, const struct ws_address *at,
				const void *buffer, size_t len, struct ws_error *err)
{
	struct sim_target *t = sim_of(target);
	struct sim_place p;
	enum ws_status st = sim_place_of(t, at, &p, err);
	if (st != WS_OK)
		return st;
	t->sim->user_changes++;
	atomic_store(&t->ranges_known, false); /* local memory comes when it is first written */
	switch (p.space) {
	case WS_SPACE_GLOBAL:
		return sim_write_global(t->sim, p.address, buffer, len, err);
	case WS_SPACE_SHARED:
		return write_shared(p.warp->block, p.address, buffer, len, err);
	case WS_SPACE_LOCAL:
		return write_local(t->sim, p.warp, p.lane, p.address, buffer, len, err);
	case WS_SPACE_PARAM:
	case WS_SPACE_CONST:
		return write_bank(t->sim, &p, buffer, len, err);
	case WS_SPACE_CODE:
		if (sim_runs(t))
			return wsi_fail(err, WS_RUNNING, WS_NO_OFFSET, "the device is running");
		return wsi_stub_write_code(t->sim, p.address, buffer, len, err);
	case WS_SPACE_GENERIC:
		break;
	}
	return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "no such memory");
}

/* ---- registers ---- */

static void set_bit(uint32_t *mask, uint32_t bit, bool on)
{
	*mask = (*mask & ~(1u << bit)) | (on ? 1u << bit : 0);
}

static void write_register(struct wsi_warp *warp, uint32_t lane, enum ws_reg_kind kind,
			   uint32_t number, uint32_t value)
{
	switch (kind) {
	case WS_REG_R:
		wsi_reg(warp, number)[lane] = value;
		return;
	case WS_REG_P:
		set_bit(&warp->pred[number], lane, value);
		return;
	case WS_REG_UR:
		warp->uregs[number] = value;
		return;
	case WS_REG_UP:
		set_bit(&warp->upred, number, value);
		return;
	case WS_REG_BARRIER: /* each lane of the new mask has it, the others lose theirs */
		for (unsigned i = 0; i < WSI_LANES; i++)
			warp->converge[number][i] = value >> i & 1 ? value : 0;
		return;
	}
}

enum ws_status sim_write_registers(struct ws_target *target, uint32_t warp_index, uint32_t lane,
				   enum ws_reg_kind kind, uint32_t first, uint32_t n,
				   const uint32_t *values, struct ws_error *err)
{
	struct sim_target *t = sim_of(target);
	if (sim_runs(t))
		return wsi_fail(err, WS_RUNNING, WS_NO_OFFSET, "the device is running");
	struct wsi_warp *warp = t->rows.warps[warp_index];
	uint32_t count = sim_register_count(t, warp, kind);
	bool of_lane = kind == WS_REG_R || kind == WS_REG_P;
	if (of_lane && (lane >= WSI_LANES || !(warp->live >> lane & 1)))
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "this lane has no thread");
	if (first > count || n > count - first)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the warp has %u of these registers",
				count);
	t->sim->user_changes++;
	for (uint32_t i = 0; i < n; i++)
		write_register(warp, lane, kind, first + i, values[i]);
	return WS_OK;
}

enum ws_status sim_write_rpc(struct ws_target *target, uint32_t warp_index, uint32_t lane,
			     uint32_t rpc_lo, uint32_t rpc_hi, struct ws_error *err)
{
	struct sim_target *t = sim_of(target);
	if (sim_runs(t))
		return wsi_fail(err, WS_RUNNING, WS_NO_OFFSET, "the device is running");
	struct wsi_warp *warp = t->rows.warps[warp_index];
	if (lane >= WSI_LANES || !(warp->live >> lane & 1))
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "this lane has no thread");
	t->sim->user_changes++;
	warp->rpc[0][lane] = rpc_lo;
	warp->rpc[1][lane] = rpc_hi;
	return WS_OK;
}

/* ---- the host's view ---- */

/* Memory of the host's that the device sees too: the region, and the host's address of it. */
static const struct wsi_region *host_region(const struct sim_target *t, size_t i,
					    uint64_t *ret_host)
{
	const struct wsi_region *region = &t->sim->memory.regions[i];
	if (region->kind != WSI_REGION_MAPPED || region->fetch)
		return NULL;
	*ret_host = (uint64_t)(uintptr_t)region->pages->page[0]->bytes;
	return region;
}

/* Bytes of such memory from a host address on; NULL: there is none. */
static uint8_t *host_bytes(const struct sim_target *t, uint64_t address, size_t *ret_n)
{
	for (size_t i = 0; i < t->sim->memory.n; i++) {
		uint64_t host = 0;
		const struct wsi_region *region = host_region(t, i, &host);
		if (!region || address - host >= region->size)
			continue;
		*ret_n = (size_t)(region->size - (address - host));
		return region->pages->page[0]->bytes + (address - host);
	}
	return NULL;
}

enum ws_status sim_read_host(const struct ws_target *target, uint64_t address, void *buffer,
			     size_t len, size_t *ret_n, struct ws_error *err)
{
	const struct sim_target *t = sim_of(target);
	size_t there = 0;
	*ret_n = 0;
	if (sim_runs(t))
		return wsi_fail(err, WS_RUNNING, WS_NO_OFFSET, "the device is running");
	const uint8_t *from = host_bytes(t, address, &there);
	*ret_n = len < there ? len : there;
	if (from)
		memcpy(buffer, from, *ret_n);
	return *ret_n == len ? WS_OK : outside(err, address + *ret_n);
}

enum ws_status sim_write_host(struct ws_target *target, uint64_t address, const void *buffer,
			      size_t len, struct ws_error *err)
{
	size_t there = 0;
	if (sim_runs(sim_of(target)))
		return wsi_fail(err, WS_RUNNING, WS_NO_OFFSET, "the device is running");
	uint8_t *to = host_bytes(sim_of(target), address, &there);
	if (!to || len > there)
		return outside(err, address);
	memcpy(to, buffer, len);
	return WS_OK;
}

enum ws_status sim_host_address(const struct ws_target *target, uint32_t device_index,
				uint64_t address, uint64_t *ret_address, struct ws_error *err)
{
	const struct sim_target *t = sim_of(target);
	(void)device_index;
	if (sim_runs(t))
		return wsi_fail(err, WS_RUNNING, WS_NO_OFFSET, "the device is running");
	for (size_t i = 0; i < t->sim->memory.n; i++) {
		uint64_t host = 0;
		const struct wsi_region *region = host_region(t, i, &host);
		if (region && address - region->start < region->size) {
			*ret_address = host + (address - region->start);
			return WS_OK;
		}
	}
	return outside(err, address);
}
