/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Textures and surfaces: texels in rows and slices of global memory, and how they are read.
 *
 * A handle is the number of an object, from 1 on, in its lower 20 bits, where code that nvcc makes
 * looks for it; all other bits are 0. The descriptor is this structure and lies outside of device
 * memory: that of hardware is not documented.
 */
#ifndef WSI_SIM_TEXTURE_H
#define WSI_SIM_TEXTURE_H

#include "sim/exec/access.h"

enum { WSI_COMPONENTS = 4, WSI_TEXTURE_AXES = 3 };

struct wsi_object {
	struct ws_sim_texture of; /* of a surface, only `image` */
	bool is_surface;
	bool is_float;      /* what a fetch gives, else integers */
	unsigned component; /* bytes */
	unsigned texel;     /* bytes */
	unsigned n_axes;    /* coordinates, without layers and faces */
	uint32_t extent[WSI_TEXTURE_AXES];
	uint32_t n_slices; /* of `image`: its depth, layers or faces */
};

/* A texel. */
struct wsi_texel {
	int64_t at[WSI_TEXTURE_AXES];
	uint32_t slice; /* layer or face; of 3D images 0 */
};

/* The object of a handle, of the kind that is asked for. NULL: none, and the fault is recorded. */
const struct wsi_object *wsi_object_find(struct wsi_run *run, unsigned lane, uint32_t handle,
					 bool is_surface);
/* As wsi_fault_postpone(), for what has just failed: a bad access to memory may surface later, not
 * so a wrong handle or a place outside of a surface. */
bool wsi_object_postpone(struct wsi_run *run, uint32_t lanes);
/* Address of a byte of a row; all inside. */
uint64_t wsi_object_address(const struct wsi_object *object, const struct wsi_texel *place,
			    uint64_t x_bytes);

/* The handle of a texture or surface instruction is one of its sources: a bank and a word of it, a
 * uniform register (handles are short: what follows it does not matter), or a register. `op->kind`
 * becomes its number; `n_first`: sources that come before. False: none of these. */
bool wsi_sim_take_handle(struct wsi_op *op, unsigned n_first);

#endif
