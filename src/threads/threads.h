/* SPDX-License-Identifier: Apache-2.0 */
/* More of threads.h, for what the library shows of threads. */
#ifndef WSI_THREADS_H
#define WSI_THREADS_H

#include <warpscope/threads.h>

/* Kernel id of a grid index; WS_NONE for WS_NONE. */
uint32_t wsi_threads_kernel(const struct ws_threads *threads, uint32_t grid_index);

/* Whether the block was launched in a cluster: the layout has the field, and it is not all zero.
 */
bool wsi_threads_has_clusters(const struct ws_threads *threads, const struct ws_block *block);

/* ---- what cannot be ---- */

/* Whether rows hold what cannot be, by the rules of doubt.h. */
struct wsi_thread_doubt {
	char text[160]; /* a sentence; empty: all that the row holds can be */
	uint32_t lanes; /* of a warp: those whose own rows are in doubt, a mask of ids */
};

struct wsi_thread_doubt wsi_threads_doubt_device(const struct ws_threads *threads, uint32_t index);
/* Of a grid, and of its device, whose number is in its row. */
struct wsi_thread_doubt wsi_threads_doubt_grid(const struct ws_threads *threads, uint32_t index);
struct wsi_thread_doubt wsi_threads_doubt_sm(const struct ws_threads *threads, uint32_t index);
enum { WSI_DOUBT_NO_LANE = WS_MAX_LANES };
/* Of a warp: with all its lanes (WS_NONE), with none, or with the one that a row is about. */
struct wsi_thread_doubt wsi_threads_doubt_warp(const struct ws_threads *threads,
					       const struct ws_resident *place, uint32_t lane);

#endif
