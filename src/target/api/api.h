/* SPDX-License-Identifier: Apache-2.0 */
/* A target over a table of the debugger API: what its files share. */
#ifndef WSI_TARGET_API_H
#define WSI_TARGET_API_H

#include <stdatomic.h>

#include <warpscope/provider.h>

#include "base/base.h"
#include "base/lock.h"
#include "target/member.h"

struct api_module {
	struct ws_module module; /* its spans point into `bytes` */
	uint8_t *bytes[2];       /* owned: original, relocated */
};

/* Rows that a provider may tell of in part only. */
enum api_kind { API_DEVICE, API_GRID_ROW, API_SM, API_BLOCK_ROW, API_WARP, API_KINDS };

/* Such a row, and what no function told of it. */
struct api_lack {
	uint32_t index;
	const char *what;
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
	pthread_mutex_t event_lock; /* of the next; taken before `lock` */
	struct {
		CUDBGEvent *items; /* owned: told, but not yet in the lists */
		size_t n, cap;
	} untaken;
	uint32_t wants;
	uint64_t sequence;               /* of the last event that was told */
	uint64_t last_sync, last_launch; /* of those that hold a host thread */
	uint64_t acknowledged;           /* up to here */
	bool attached; /* that was told while taking stock, and the client does not know yet */
	bool owes;     /* the provider waits for an acknowledgement */
	struct ws_counts n;
	/* owned, with room for more than `n` while taking stock */
	struct ws_device *devices;
	struct ws_context *contexts;
	struct api_module *modules;
	struct ws_grid *grids;
	struct ws_sm *sms;
	struct ws_block *blocks;
	struct ws_warp *warps;
	struct ws_memory_range *ranges;
	char **texts; /* owned strings that rows point to */
	struct {
		struct api_lack *items; /* owned; by index */
		size_t n, cap;
	} lacks[API_KINDS];
	/* of the device being taken stock of: SMs with an exception, and of how many it is known */
	uint64_t exception_mask[CUDBG_MAX_SMS / 64];
	uint32_t n_masked;
	/* registers by the image of the grid that was asked for last */
	uint32_t image_grid_index, n_image_regs;
	bool no_events; /* the provider does not tell of any */
	bool can_run;
	/* SMs with an exception that no function names, and those of which no function tells
	 * whether they have one; the first of each in words */
	uint32_t n_unnamed, n_untold;
	char unnamed[200], untold[200];
	size_t n_ranges, n_texts;
	size_t n_device_texts; /* the first ones, which stay as long as the devices */
	struct ws_counts cap;
	size_t cap_ranges, cap_texts;
};

/* Whether the provider has a function. */
#define API_HAS(t, name) ws_provider_has(&(t)->provider, offsetof(struct CUDBGAPI_st, name))
/* Calls a function of the provider; NOT_SUPPORTED where it has none. */
#define API_CALL(t, name, ...) \
	(API_HAS(t, name) ? (t)->api->name(__VA_ARGS__) : CUDBG_ERROR_NOT_SUPPORTED)
/* Whether the function is not there, as far as the result tells. */
bool wsi_api_not_offered(CUDBGResult result);

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

/* facts.c: the functions that tell a fact, in the order in which they are asked. */
enum api_fact {
	API_VALID = 1u << 0,
	API_ACTIVE = 1u << 1,
	API_GRID = 1u << 2,
	API_BLOCK = 1u << 3,
	API_ERROR_PC = 1u << 4,
	API_CLUSTER_IDX = 1u << 5,
	API_CLUSTER_DIM = 1u << 6,
	API_SYSCALL_LANES = 1u << 7,
	API_PC = 1u << 8, /* from here on of each lane */
	API_REL_PC = 1u << 9,
	API_THREAD = 1u << 10,
	API_EXCEPTION = 1u << 11,
	API_CALL_DEPTH = 1u << 12,
};
struct api_lane_facts {
	uint64_t pc, rel_pc;
	CuDim3 thread;
	CUDBGException_t exception;
	uint32_t call_depth, syscall_depth;
};
struct api_warp_facts {
	uint32_t known; /* enum api_fact */
	uint32_t valid_lanes, active_lanes, in_syscall_lanes;
	uint32_t lost_lanes; /* valid, but the provider does not hold them */
	uint64_t grid, error_pc;
	bool error_pc_valid;
	CuDim3 block, cluster_idx, cluster_dim;
	struct api_lane_facts lane[WS_MAX_LANES];
};
/*
 * Finds out what is `wanted` and not `known` yet; facts of lanes need API_VALID among both. Else
 * the reason of the first function that could have told, NOT_SUPPORTED where there is none.
 */
CUDBGResult wsi_api_ask_warp(struct api_target *t, const struct api_place *at, uint32_t wanted,
			     struct api_warp_facts *facts);
/* The first of these facts in words. */
const char *wsi_api_fact_text(uint32_t facts);
CUDBGResult wsi_api_ask_masks(struct api_target *t, uint32_t dev, uint32_t sm, uint64_t *ret_valid,
			      uint64_t *ret_broken, bool *ret_broken_known);
void wsi_api_ask_sm_exception(struct api_target *t, uint32_t dev, struct ws_sm *sm);
/* SMs with an exception, whichever. How many SMs the answer is about: 0, 64 or all. */
uint32_t wsi_api_ask_exception_mask(struct api_target *t, uint32_t dev,
				    uint64_t ret_mask[CUDBG_MAX_SMS / 64]);
bool wsi_api_ask_device(struct api_target *t, uint32_t dev);
/* Fills the sizes of a device; the first that no function tells, or NULL. */
const char *wsi_api_ask_numbers(struct api_target *t, struct ws_device *device);
/* False when no function tells of it. `at`: a warp that runs it. */
bool wsi_api_ask_grid(struct api_target *t, const struct api_place *at, struct ws_grid *grid);
/* Registers that the code of a grid's kernel uses, by its image; 0: not known. */
uint32_t wsi_api_ask_image_registers(const struct ws_module *module, const struct ws_grid *grid);

/* As readPC: offsets of the pcs in their functions, the pc itself where no function covers it. */
bool wsi_api_ask_image_offsets(const struct ws_module *module, struct api_warp_facts *facts);

/* bulk.c: the state of a device from getDeviceInfo, SM by SM and warp by warp, in order. */
struct api_bulk {
	uint8_t *bytes; /* owned */
	size_t len, at;
	CUDBGDeviceInfoSizes sizes;
	uint64_t active[CUDBG_MAX_SMS / 64]; /* SMs with warps */
};
/* False where the provider has no such function, or what it answers cannot be. */
bool wsi_api_bulk_open(struct api_target *t, uint32_t dev, struct api_bulk *ret_bulk);
void wsi_api_bulk_close(struct api_bulk *bulk);
/* Each SM once, from 0 on; then each of its valid warps. False: the buffer does not add up. */
bool wsi_api_bulk_sm(struct api_bulk *bulk, uint32_t sm, uint64_t *ret_valid, uint64_t *ret_broken);
bool wsi_api_bulk_warp(struct api_bulk *bulk, struct api_warp_facts *ret_facts);

/* stock.c: fills the lists. */
enum ws_status wsi_api_take_stock(struct api_target *t, struct ws_error *err) WS_MUST_USE;
/* Fills the lists of what changes when devices run: SMs and below, grids, ranges. */
enum ws_status wsi_api_renew(struct api_target *t, struct ws_error *err) WS_MUST_USE;
/* Takes up a context or image that an event tells of; other events are fine. */
enum ws_status wsi_api_add_event(struct api_target *t, const CUDBGEvent *event,
				 struct ws_error *err) WS_MUST_USE;
void wsi_api_drop_stock(struct api_target *t);

enum { WSI_API_MAX_REGISTERS = 256 };
/* Registers of each kind that the warp has at most. */
uint32_t wsi_api_register_limit(struct api_target *t, uint32_t warp_index, enum ws_reg_kind kind);
/* The grid that a warp runs, or WS_NONE. */
uint32_t wsi_api_grid_of_warp(const struct api_target *t, uint32_t warp_index);
/* A warp that runs a grid, for the calls that ask by warp; false when none is resident. */
bool wsi_api_warp_of_grid(const struct api_target *t, uint32_t grid_index, uint32_t *ret_index);

/* state.c */
CUDBGResult wsi_api_read_global(struct api_target *t, uint32_t device_index, uint64_t address,
				void *buffer, uint32_t len);
/* members of ws_target_ops */
WSI_TARGET_MEMBER(wsi_api_, lanes);
WSI_TARGET_MEMBER(wsi_api_, call_stack);
WSI_TARGET_MEMBER(wsi_api_, registers);
WSI_TARGET_MEMBER(wsi_api_, read_memory);
WSI_TARGET_MEMBER(wsi_api_, memory_range);

/* run.c, event.c, alter.c: those of targets that run */
WSI_TARGET_MEMBER(wsi_api_, running);
WSI_TARGET_MEMBER(wsi_api_, suspend);
WSI_TARGET_MEMBER(wsi_api_, resume);
WSI_TARGET_MEMBER(wsi_api_, step);
WSI_TARGET_MEMBER(wsi_api_, run_until);
WSI_TARGET_MEMBER(wsi_api_, plant);
WSI_TARGET_MEMBER(wsi_api_, unplant);
WSI_TARGET_MEMBER(wsi_api_, stop_at_launch);
WSI_TARGET_MEMBER(wsi_api_, next_event);
WSI_TARGET_MEMBER(wsi_api_, update);
WSI_TARGET_MEMBER(wsi_api_, acknowledge);
WSI_TARGET_MEMBER(wsi_api_, want);
WSI_TARGET_MEMBER(wsi_api_, on_event);
WSI_TARGET_MEMBER(wsi_api_, write_memory);
WSI_TARGET_MEMBER(wsi_api_, write_registers);
WSI_TARGET_MEMBER(wsi_api_, write_rpc);
/* host.c */
WSI_TARGET_MEMBER(wsi_api_, take_logs);
WSI_TARGET_MEMBER(wsi_api_, log_rules);
WSI_TARGET_MEMBER(wsi_api_, launch_stack);
WSI_TARGET_MEMBER(wsi_api_, read_host);
WSI_TARGET_MEMBER(wsi_api_, write_host);
WSI_TARGET_MEMBER(wsi_api_, host_address);
WSI_TARGET_MEMBER(wsi_api_, detach);
WSI_TARGET_MEMBER(wsi_api_, write_dump);

#endif
