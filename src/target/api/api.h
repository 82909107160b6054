/* SPDX-License-Identifier: Apache-2.0 */
/* A target over a table of the debugger API: what its files share. */
#ifndef WSI_TARGET_API_H
#define WSI_TARGET_API_H

#include <pthread.h>
#include <stdatomic.h>

#include <warpscope/provider.h>

#include "base/base.h"

struct api_image {
	struct ws_image image; /* its spans point into `bytes` */
	uint8_t *bytes[2];     /* owned: original, relocated */
};

struct api_target {
	struct ws_target base; /* first */
	CUDBGAPI api;          /* borrowed */
	struct ws_provider provider;
	bool no_bulk;         /* its getDeviceInfo gave nonsense */
	pthread_mutex_t lock; /* one call at a time */
	_Atomic bool runs[CUDBG_MAX_DEVICES];
	pthread_mutex_t wake_lock; /* of the next two; held while `wake` runs */
	void (*wake)(void *data);
	void *wake_data;
	struct ws_counts n;
	/* owned, with room for more than `n` while taking stock */
	struct ws_device *devices;
	struct ws_context *contexts;
	struct api_image *images;
	struct ws_grid *grids;
	struct ws_sm *sms;
	struct ws_block *blocks;
	struct ws_warp *warps;
	struct ws_memory_range *ranges;
	char **texts; /* owned strings that rows point to */
	size_t n_ranges, n_texts;
	size_t n_device_texts; /* the first ones, which stay as long as the devices */
	struct ws_counts cap;
	size_t cap_ranges, cap_texts;
};

/* Whether the provider has a function. */
#define API_HAS(t, name) ws_provider_has(&(t)->provider, offsetof(struct CUDBGAPI_st, name))

/* What a result means for us, with the provider's words in `err`. */
enum ws_status wsi_api_status(struct api_target *t, CUDBGResult result, const char *what,
			      struct ws_error *err);
/* Numbers that the API uses for a warp: device, SM, slot. */
struct api_place {
	uint32_t dev, sm, wp;
};
struct api_place wsi_api_place(const struct api_target *t, uint32_t warp_index);

static inline struct ws_dim3 wsi_api_dim3(CuDim3 dim)
{
	return (struct ws_dim3){ dim.x, dim.y, dim.z };
}

/* bulk.c: the state of a device from getDeviceInfo, SM by SM and warp by warp, in order. */
struct api_bulk {
	uint8_t *bytes; /* owned */
	size_t len, at;
	CUDBGDeviceInfoSizes sizes;
	uint64_t active[CUDBG_MAX_SMS / 64]; /* SMs with warps */
};
/* What identifies a warp and where it stands. */
struct api_warp_facts {
	uint32_t valid_lanes, active_lanes;
	uint64_t grid;
	CuDim3 block;
	bool error_pc_valid;
	uint64_t error_pc;
};
/* False where the provider has no such function, or what it answers cannot be. */
bool wsi_api_bulk_open(struct api_target *t, uint32_t dev, struct api_bulk *ret_bulk);
void wsi_api_bulk_close(struct api_bulk *bulk);
/* Each SM once, from 0 on; then each of its valid warps. False: the buffer does not add up. */
bool wsi_api_bulk_sm(struct api_bulk *bulk, uint32_t sm, uint64_t *ret_valid, uint64_t *ret_broken);
bool wsi_api_bulk_warp(struct api_bulk *bulk, struct api_warp_facts *ret_facts);

/* stock.c: fills the lists. */
enum ws_status wsi_api_take_stock(struct api_target *t, struct ws_error *err) WS_MUST_USE;
/* The same for all that changes when devices run: SMs and below, grids, ranges. */
enum ws_status wsi_api_renew(struct api_target *t, struct ws_error *err) WS_MUST_USE;
/* Takes up a context or image that an event tells of; other events are fine. */
enum ws_status wsi_api_add_event(struct api_target *t, const CUDBGEvent *event,
				 struct ws_error *err) WS_MUST_USE;
void wsi_api_drop_stock(struct api_target *t);

enum { WSI_API_MAX_REGISTERS = 256 };
/* Registers of each kind that the warp has at most. */
uint32_t wsi_api_register_limit(const struct api_target *t, uint32_t warp_index,
				enum ws_reg_kind kind);
/* A warp that runs a grid, for the calls that ask by warp; false when none is resident. */
bool wsi_api_warp_of_grid(const struct api_target *t, uint32_t grid_index, uint32_t *ret_index);

/* state.c: members of ws_target_ops */
enum ws_status wsi_api_lanes(const struct ws_target *target, uint32_t warp_index,
			     struct ws_lane *ret_lanes, uint32_t *ret_n, struct ws_error *err);
enum ws_status wsi_api_call_stack(const struct ws_target *target, uint32_t warp_index,
				  uint32_t lane, struct ws_return_address *ret_addresses,
				  uint32_t cap, uint32_t *ret_n, struct ws_error *err);
enum ws_status wsi_api_registers(const struct ws_target *target, uint32_t warp_index, uint32_t lane,
				 enum ws_reg_kind kind, uint32_t first, uint32_t n,
				 uint32_t *ret_values, uint32_t *ret_n, struct ws_error *err);
enum ws_status wsi_api_read_memory(const struct ws_target *target, const struct ws_address *at,
				   void *buffer, size_t len, size_t *ret_n, struct ws_error *err);
enum ws_status wsi_api_memory_range(const struct ws_target *target, uint32_t index,
				    struct ws_memory_range *ret_range, struct ws_error *err);

/* run.c, alter.c: those of targets that run */
bool wsi_api_running(const struct ws_target *target, uint32_t device_index);
enum ws_status wsi_api_suspend(struct ws_target *target, uint32_t device_index, bool wait,
			       struct ws_error *err);
enum ws_status wsi_api_resume(struct ws_target *target, uint32_t device_index,
			      struct ws_error *err);
enum ws_status wsi_api_step(struct ws_target *target, const struct ws_step *step,
			    uint64_t *ret_warps, struct ws_error *err);
enum ws_status wsi_api_run_until(struct ws_target *target, uint32_t sm_index, uint64_t warp_mask,
				 uint64_t pc, uint32_t flags, struct ws_error *err);
enum ws_status wsi_api_plant(struct ws_target *target, uint32_t device_index, uint64_t pc,
			     struct ws_error *err);
enum ws_status wsi_api_unplant(struct ws_target *target, uint32_t device_index, uint64_t pc,
			       struct ws_error *err);
enum ws_status wsi_api_stop_at_launch(struct ws_target *target, bool on, struct ws_error *err);
enum ws_status wsi_api_next_event(struct ws_target *target, struct ws_event *ret_event,
				  struct ws_error *err);
enum ws_status wsi_api_acknowledge(struct ws_target *target, struct ws_error *err);
void wsi_api_on_event(struct ws_target *target, void (*wake)(void *data), void *data);
enum ws_status wsi_api_write_memory(struct ws_target *target, const struct ws_address *at,
				    const void *buffer, size_t len, struct ws_error *err);
enum ws_status wsi_api_write_registers(struct ws_target *target, uint32_t warp_index, uint32_t lane,
				       enum ws_reg_kind kind, uint32_t first, uint32_t n,
				       const uint32_t *values, struct ws_error *err);
/* host.c */
enum ws_status wsi_api_take_logs(struct ws_target *target, struct ws_log *ret_logs, uint32_t cap,
				 uint32_t *ret_n, struct ws_error *err);
enum ws_status wsi_api_log_rules(struct ws_target *target, const struct ws_log_rule *rules,
				 uint32_t n, uint32_t *ret_ruleset, struct ws_error *err);
enum ws_status wsi_api_launch_stack(struct ws_target *target, uint32_t grid_index,
				    uint64_t *ret_addresses, uint32_t cap, uint32_t *ret_n,
				    struct ws_error *err);

#endif
