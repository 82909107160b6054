/* SPDX-License-Identifier: Apache-2.0 */
/* A memory snapshot of PyTorch: any pickle is read or refused, and what it tells about an address
 * is about that address. */
#include "fuzz.h"
#include "torch/memory.h"

static void check_block(const struct wsi_torch_block *block)
{
	FUZZ_CHECK(block->size <= UINT64_MAX - block->start);
}

static volatile char seen;

static void check_stack(const struct wsi_torch_memory *memory, struct wsi_torch_stack stack)
{
	for (uint32_t i = 0; i < stack.n; i++) {
		const struct wsi_torch_frame *frame = wsi_torch_frame(memory, stack, i);
		for (size_t k = 0; k < frame->file.len + frame->function.len; k++) /* is it there */
			seen = k < frame->file.len ? frame->file.ptr[k]
						   : frame->function.ptr[k - frame->file.len];
	}
}

int fuzz_target(const uint8_t *data, size_t size)
{
	struct wsi_torch_place places[] = { { .address = 0 },
					    { .address = 0x7f3a00000010 },
					    { .address = 0x7f3a10000000 } };
	struct wsi_torch_memory memory;
	enum ws_status st = wsi_torch_memory_read(&memory, (struct ws_span){ data, size, 0 },
						  places, WSI_COUNT(places), NULL);
	FUZZ_CHECK(st != WS_NO_MEMORY && st != WS_IO);
	for (size_t i = 0; st == WS_OK && i < WSI_COUNT(places); i++) {
		const struct wsi_torch_place *place = &places[i];
		const struct wsi_torch_segment *segment =
			wsi_torch_segment_at(&memory, place->address);
		FUZZ_CHECK(!segment || place->address - segment->start < segment->size);
		FUZZ_CHECK(!place->in.there || place->address - place->in.start < place->in.size);
		check_block(&place->in);
		check_block(&place->below);
		check_block(&place->above);
		check_stack(&memory, place->in.stack);
		for (int k = 0; k < WSI_EVENT_KINDS; k++) {
			FUZZ_CHECK(place->last[k].number <= memory.n_events);
			check_stack(&memory, place->last[k].stack);
		}
	}
	wsi_torch_memory_fini(&memory);
	return 0;
}
