/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WSI_SORT_H
#define WSI_SORT_H

#include "base/base.h"

struct wsi_keyed {
	uint64_t key;
	uint32_t value;
};

/*
 * Sorts by key, stable, in linear time whatever the keys are. What is sorted already costs one
 * look; more than a few elements need as much memory again: false when there is none (then nothing
 * moved).
 */
bool wsi_sort_keyed(struct wsi_keyed *items, size_t n) WS_MUST_USE;

#endif
