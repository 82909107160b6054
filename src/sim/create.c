/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: making, memory for the host. */
#include "sim/check/check.h"
#include "sim/history/history.h"

static const struct wsi_device devices[] = {
#include "devices.inc"
};

const char *ws_sim_device_name(size_t index)
{
	return index < WSI_COUNT(devices) ? devices[index].name : NULL;
}

#define ADDRESSES (UINT64_C(1) << 40) /* that there are for memory, about */

static const struct wsi_device *find_device_named(const char *name)
{
	for (size_t i = 0; i < WSI_COUNT(devices); i++)
		if (strcmp(devices[i].name, name) == 0)
			return &devices[i];
	return NULL;
}

enum ws_status ws_sim_create(const struct ws_sim_options *options, struct ws_sim **ret_sim,
			     struct ws_error *err)
{
	struct ws_sim_options o = { .size = sizeof o };
	if (options)
		o = *options;
	if (o.size != sizeof o)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_VALUE, "size of the options");
	const struct wsi_device *device = find_device_named(o.device ? o.device : "sm_90a");
	if (!device)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_DEVICE, "no device '%.40s'",
				     o.device);
	o.device = device->name;
	o.n_sms = o.n_sms ? o.n_sms : device->sms;
	o.memory_bytes = o.memory_bytes ? o.memory_bytes : UINT64_C(1) << 30;
	o.heap_bytes = o.heap_bytes ? o.heap_bytes : UINT64_C(8) << 20;
	o.print_bytes = o.print_bytes ? o.print_bytes : UINT64_C(1) << 20;
	if (o.n_sms > device->sms || (o.granularity & (o.granularity - 1)) != 0 ||
	    o.schedule > WS_SIM_ADVERSARIAL)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_VALUE, "an option is out of range");
	struct ws_sim *sim = wsi_zalloc(sizeof *sim);
	struct wsi_sm *sms = wsi_zalloc_array(o.n_sms, sizeof *sms);
	struct wsi_check *check = o.check ? wsi_check_create() : NULL;
	if (!sim || !sms || (o.check && !check)) {
		wsi_free(sim);
		wsi_free(sms);
		wsi_check_destroy(check);
		return wsi_cuda_no_memory(err);
	}
	sim->device = device;
	sim->budget.limit = UINT64_MAX;
	sim->memory.budget = &sim->budget;
	sim->memory.account = &sim->account;
	sim->account.limit = wsi_min_u64(o.memory_bytes, ADDRESSES);
	if (check)
		check->shadow.limit = o.memory_bytes;
	sim->options = o;
	sim->sms = sms;
	sim->check = check;
	sim->next_code = WSI_CODE_BASE;
	sim->random = o.seed;
	atomic_init(&sim->stop, false);
	*ret_sim = sim;
	return WS_OK;
}

void ws_sim_destroy(struct ws_sim *sim)
{
	if (!sim)
		return;
	wsi_launch_fini(sim);
	if (sim->debug)
		wsi_history_fini(sim);
	wsi_stub_detach(sim);
	wsi_loader_fini(sim);
	wsi_memory_fini(&sim->memory);
	wsi_check_destroy(sim->check);
	wsi_free(sim->objects);
	wsi_free(sim->printed);
	wsi_free(sim);
}

/* ---- memory ---- */

static enum ws_status alloc(struct ws_sim *sim, uint64_t bytes, bool managed, uint64_t *ret_address,
			    struct ws_error *err)
{
	sim->host_changes++;
	uint64_t unit = sim->options.granularity ? sim->options.granularity : 1;
	if (bytes == 0)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_VALUE, "0 bytes");
	if (!wsi_account_has_room(&sim->account, "a buffer", bytes)) /* no address is spent */
		return wsi_account_fail(&sim->account, err);
	struct wsi_region region = {
		.size = bytes,
		.reach = (bytes + unit - 1) & ~(unit - 1),
		.kind = WSI_REGION_USER,
		.managed = managed,
	};
	region.start = wsi_memory_place(&sim->memory, region.reach, 256);
	enum ws_status st = wsi_memory_add(&sim->memory, &region, err);
	if (st == WS_OK)
		*ret_address = region.start;
	return st;
}

enum ws_status ws_sim_alloc(struct ws_sim *sim, uint64_t bytes, uint64_t *ret_address,
			    struct ws_error *err)
{
	return alloc(sim, bytes, false, ret_address, err);
}

enum ws_status ws_sim_alloc_managed(struct ws_sim *sim, uint64_t bytes, uint64_t *ret_address,
				    struct ws_error *err)
{
	return alloc(sim, bytes, true, ret_address, err);
}

enum ws_status ws_sim_free(struct ws_sim *sim, uint64_t address, struct ws_error *err)
{
	sim->host_changes++;
	struct wsi_region *region = address ? wsi_memory_find(&sim->memory, address) : NULL;
	if (address == 0)
		return WS_OK;
	if (!region || region->start != address ||
	    (region->kind != WSI_REGION_USER && region->kind != WSI_REGION_MAPPED))
		return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_VALUE,
				     "0x%" PRIx64 " is not an allocation", address);
	wsi_memory_remove(&sim->memory, region);
	return WS_OK;
}

enum ws_status ws_sim_write(struct ws_sim *sim, uint64_t address, const void *bytes, size_t len,
			    struct ws_error *err)
{
	sim->host_changes++;
	enum ws_status st = wsi_memory_copy_in(&sim->memory, address, bytes, len, err);
	if (st == WS_OK && sim->check)
		wsi_check_written(sim->check, address, len);
	return st;
}

enum ws_status ws_sim_read(struct ws_sim *sim, uint64_t address, void *ret_bytes, size_t len,
			   struct ws_error *err)
{
	return wsi_memory_copy_out(&sim->memory, address, ret_bytes, len, err);
}

enum ws_status ws_sim_map(struct ws_sim *sim, uint64_t address, void *bytes, uint64_t len,
			  struct ws_error *err)
{
	sim->host_changes++;
	struct wsi_region region = {
		.start = address,
		.size = len,
		.reach = len,
		.kind = WSI_REGION_MAPPED,
	};
	if (address % 256 != 0)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_VALUE,
				     "0x%" PRIx64 " is not aligned", address);
	return wsi_memory_add_mapped(&sim->memory, &region, bytes, err);
}

enum ws_status ws_sim_map_lazy(struct ws_sim *sim, uint64_t address, uint64_t len,
			       ws_sim_fetch_fn *fetch, void *user, struct ws_error *err)
{
	sim->host_changes++;
	struct wsi_region region = {
		.start = address,
		.size = len,
		.reach = len,
		.kind = WSI_REGION_MAPPED,
		.fetch = fetch,
		.user = user,
	};
	if (address % 256 != 0 || !fetch)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_VALUE,
				     "0x%" PRIx64 " is not aligned", address);
	return wsi_memory_add(&sim->memory, &region, err);
}

struct ws_span ws_sim_printed(const struct ws_sim *sim)
{
	return (struct ws_span){ sim->printed, sim->n_printed, 0 };
}

void ws_sim_clear_printed(struct ws_sim *sim)
{
	sim->n_printed = 0;
}
