/* SPDX-License-Identifier: Apache-2.0 */
/* What the word of a memory barrier (mbarrier) says. */
#include "explain/explain.h"

#include "objects/mbarrier.h"

enum {
	WORD_BYTES = 8,
};

/* Threads that the block has. */
static uint64_t block_threads(const struct wsi_scene *scene)
{
	if (scene->e->kernel == WS_NONE)
		return 0;
	return wsi_dim3_count(scene->build->kernels[scene->e->kernel].grid.block_dim);
}

static void find_barrier_word(struct wsi_scene *scene, const struct ws_report_access *access,
			      uint64_t word)
{
	static const char evidence[] = "the barrier's word in shared memory";
	struct wsi_barrier b;
	uint64_t at = access->address[access->lane], threads = block_threads(scene);
	wsi_barrier_decode(scene->code.sm, word, &b);
	if (word == 0) {
		wsi_fact(scene, WSI_FACT_BAR_ZERO,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN, evidence,
				   "the word at 0x%" PRIx64
				   " is 0, which no initialised barrier holds",
				   at));
		return;
	}
	/* what is no barrier may be anything, and pages show no contents of memory */
	if (!b.in_use) {
		wsi_fact(scene, WSI_FACT_BAR_WRONG,
			 wsi_found(scene, WS_CONFIDENCE_LIKELY, evidence,
				   "the word at 0x%" PRIx64 " cannot be that of a barrier in use",
				   at));
		return;
	}
	wsi_found(scene, WS_CONFIDENCE_LIKELY, evidence,
		  "the word at 0x%" PRIx64 " is 0x%016" PRIx64
		  ": phase %u, %u arrival%s expected, %u pending",
		  at, word, b.phase, b.expected, b.expected == 1 ? "" : "s", b.pending);
	if (b.others)
		wsi_found(scene, WS_CONFIDENCE_POSSIBLE, evidence,
			  "it has undocumented bits set, 0x%" PRIx64
			  ": bytes of copies may be pending",
			  b.others);
	if (threads > b.expected)
		wsi_fact(scene, WSI_FACT_BAR_FEW,
			 wsi_found(scene, WS_CONFIDENCE_LIKELY, "the word and the launch",
				   "%u arrival%s expected; the block has %" PRIu64 " threads",
				   b.expected, b.expected == 1 ? " is" : "s are", threads));
}

enum ws_status wsi_find_barrier(struct wsi_scene *scene)
{
	const struct ws_report_exception *e = scene->e;
	const struct ws_report_access *access = e->n_accesses ? &e->accesses[0] : NULL;
	uint64_t word;
	if (!access || access->space != WS_SPACE_SHARED || access->lane == WS_NONE ||
	    !((access->lanes_known | access->lanes_guess) >> access->lane & 1)) {
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the code and the registers",
			  "the address of the barrier is not known");
		return WS_OK;
	}
	uint64_t at = access->address[access->lane];
	if (at % WORD_BYTES)
		wsi_fact(scene, WSI_FACT_BAR_WRONG,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the address of the access",
				   "the barrier's address 0x%" PRIx64 " is not a multiple of 8",
				   at));
	enum ws_status st =
		wsi_scene_memory(scene, access->lane, WS_SPACE_SHARED, 0, at, WORD_BYTES, &word);
	if (st == WS_OK)
		find_barrier_word(scene, access, word);
	if (st == WS_OK)
		return WS_OK;
	const char *text = wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the list of known memory",
				     "the barrier's word at 0x%" PRIx64 " of shared memory is %s",
				     at, wsi_lost_words(st));
	if (st == WS_EXCLUDED)
		wsi_fact(scene, WSI_FACT_NO_SHARED, text);
	return WS_OK;
}
