/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The threads of a stopped target: their coordinates, cuda-gdb's filters over them, and the walk
 * over the warps that a filter lets through.
 *
 * A filter is such as "device 0 sm 3 warp any" or "kernel 1 block (1,0,0) thread 32".
 *
 * A word limits the rows to one number, or to any ("any", "all", "*"); "current" stands for the
 * focus, with what it counts within: "warp current" is the focus's warp, of its SM and device,
 * unless the filter has other words for those. Of a triple the components that are not given match
 * anything [measured: cuda-gdb 12.4, `info cuda lanes thread 3`]. A table has a default filter; any
 * word at all replaces the whole of it [measured: same, `info cuda warps kernel 0`].
 *
 * **Threads.** One at a time. **Ownership.** What a `struct ws_threads` refers to is its own, but
 * for the target, which must outlive it and stay stopped.
 */
#ifndef WARPSCOPE_THREADS_H
#define WARPSCOPE_THREADS_H

#include <warpscope/focus.h>
#include <warpscope/out.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- filters ---- */

/** Every word, and how many numbers it takes. */
#define WS_FILTER_WORD_LIST(X) \
	X(device, 1)           \
	X(sm, 1)               \
	X(warp, 1) X(lane, 1) X(kernel, 1) X(grid, 1) X(cluster, 3) X(block, 3) X(thread, 3)

enum ws_filter_word {
#define X(name, n) WS_FILTER_##name,
	WS_FILTER_WORD_LIST(X)
#undef X
		WS_FILTER_N_WORDS
};

/** A thread by all its numbers, in the order of the words; triples as x, y, z. */
struct ws_coords {
	bool known[WS_FILTER_N_WORDS]; /**< the numbers mean something */
	int64_t number[WS_FILTER_N_WORDS][3];
};

/** Which threads are wanted; ws_filter_parse() fills it; all zero: all. */
struct ws_filter {
	bool nothing; /**< "current" of something that the focus lacks: no row matches */
	struct {
		bool limited[3];
		int64_t number[3];
	} word[WS_FILTER_N_WORDS];
};

/**
 * Reads the words of `argv`. `focus` may be NULL. False with a pointer to what is wrong, the first
 * word that could not be read, in `*ret_bad`.
 */
WS_API bool ws_filter_parse(struct ws_filter *filter, const struct ws_coords *focus, int argc,
			    char *const *argv, const char **ret_bad);

/** Whether a text is one of the words, with which a filter begins. */
WS_API bool ws_filter_is_word(const char *text);
/** Limits one word to the focus. */
WS_API void ws_filter_current(struct ws_filter *filter, const struct ws_coords *focus,
			      enum ws_filter_word word);

/** Whether the numbers of one word match. */
WS_API bool ws_filter_number(const struct ws_filter *filter, enum ws_filter_word word,
			     int64_t number);
WS_API bool ws_filter_dim3(const struct ws_filter *filter, enum ws_filter_word word,
			   struct ws_dim3 dim);
/** Whether a word limits anything. */
WS_API bool ws_filter_limits(const struct ws_filter *filter, enum ws_filter_word word);

/* ---- threads ---- */

/** A target with what all that shows its threads shares. Fill it with ws_threads_init(). */
struct ws_threads {
	const struct ws_target *target; /**< borrowed */
	struct ws_counts counts;
	struct ws_device *devices; /**< zero where one could not be read */
	struct ws_grid *grids;     /**< likewise */
	uint32_t *kernel_ids;      /**< by grid index */
	bool have_focus;
	struct ws_focus focus; /**< with have_focus */
	struct ws_coords at; /**< the focus in numbers, for filters; nothing is known without one */
};

/** `focus`: the thread to look at; NULL: the one that cuda-gdb looks at first.
 * @retval WS_NO_MEMORY */
WS_API enum ws_status ws_threads_init(struct ws_threads *threads, const struct ws_target *target,
				      const struct ws_focus *focus,
				      struct ws_error *err) WS_MUST_USE;
WS_API void ws_threads_fini(struct ws_threads *threads);

/** Writes the focus as an object: device, sm, ..., or null. */
WS_API void ws_threads_focus_json(const struct ws_threads *threads, struct ws_json *json);
/** "kernel 0, grid 1, block (0,0,0), thread (0,0,0), device 0, sm 0, warp 0, lane 0" */
WS_API void ws_threads_focus_text(const struct ws_threads *threads, struct ws_out *out);

/** Looks at another thread from now on. */
WS_API void ws_threads_focus_on(struct ws_threads *threads, const struct ws_focus *focus);

/* ---- walking ---- */

/** A resident warp that matches a filter. */
struct ws_resident {
	const struct ws_device *device;
	uint32_t sm_index, warp_index;
	struct ws_sm sm;
	struct ws_warp warp;
	struct ws_block block;              /**< all zero with block_status */
	enum ws_status block_status;        /**< why the block could not be read */
	const struct ws_grid *grid;         /**< NULL: the block names none of the dump */
	uint32_t kernel;                    /**< id, or WS_NONE */
	struct ws_lane lanes[WS_MAX_LANES]; /**< those that match, in the order of ids */
	uint32_t n_lanes;
	bool all_lanes;              /**< they are all that the warp has */
	enum ws_status lanes_status; /**< why there are none */
};

enum ws_walk {
	WS_WALK_WARPS, /**< lanes are read only when the filter asks for some */
	WS_WALK_LANES,
};

typedef void ws_threads_visit(void *user, const struct ws_resident *place);

/** Visits the warps in the order of devices, SMs and warp ids. With WS_WALK_LANES, or a filter on
 * lanes or threads, only warps of which a lane matches, or whose lanes cannot be read. */
WS_API void ws_threads_walk(const struct ws_threads *threads, const struct ws_filter *filter,
			    enum ws_walk what, ws_threads_visit *visit, void *user);
/** The first lane that a walk visits; false: none. */
WS_API bool ws_threads_first(const struct ws_threads *threads, const struct ws_filter *filter,
			     struct ws_focus *ret_focus);
/**
 * The thread that the words of a filter name, as cuda-gdb chooses it where they name several: the
 * nearest to the focus. One of its kernel, where no device is given, and of its block, where no SM
 * is given either, is before others. Then the distance counts of device, SM, warp and lane, in this
 * order, where one of these words is given, else of block and thread; of equally near ones the
 * first. A word alone names a thread of the warp, SM, device, block or grid that the focus is in.
 * False: there is none.
 */
WS_API bool ws_threads_nearest(const struct ws_threads *threads, const struct ws_filter *given,
			       struct ws_focus *ret_focus);
/** One warp of a walk; false when it does not match. */
WS_API bool ws_threads_resident(const struct ws_threads *threads, const struct ws_filter *filter,
				enum ws_walk what, uint32_t warp_index,
				struct ws_resident *ret_place);
/** A lane of the place as a thread to look at. */
WS_API struct ws_focus ws_resident_focus(const struct ws_resident *place,
					 const struct ws_lane *lane);
/** Whether the warp has the focus. */
WS_API bool ws_threads_has_focus(const struct ws_threads *threads, const struct ws_resident *place);
/** The fields that say where a lane is, from "device" to "pc". */
WS_API void ws_resident_json(const struct ws_resident *place, const struct ws_lane *lane,
			     struct ws_json *json);

#ifdef __cplusplus
}
#endif
#endif
