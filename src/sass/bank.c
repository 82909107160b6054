/* SPDX-License-Identifier: Apache-2.0 */
/* See bank.h. */
#include "sass/bank.h"

#include "base/base.h"

static const struct wsi_bank0 banks[] = {
#include "banks.inc"
};

const struct wsi_bank0 *wsi_bank0(uint32_t sm)
{
	size_t i = WSI_COUNT(banks) - 1;
	while (i > 0 && banks[i].sm > sm)
		i--;
	return &banks[i];
}
