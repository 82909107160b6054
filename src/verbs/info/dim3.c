/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/info/dim3.h"

int wsi_dim3_compare(struct ws_dim3 a, struct ws_dim3 b)
{
	if (a.z != b.z)
		return a.z < b.z ? -1 : 1;
	if (a.y != b.y)
		return a.y < b.y ? -1 : 1;
	return a.x < b.x ? -1 : a.x > b.x;
}

bool wsi_dim3_follows(struct ws_dim3 at, struct ws_dim3 next, struct ws_dim3 extent,
		      bool *ret_wrapped)
{
	bool wrapped = false;
	if (++at.x >= extent.x) {
		at.x = 0;
		if (++at.y >= extent.y) {
			at.y = 0;
			wrapped = ++at.z >= extent.z;
			if (wrapped)
				at.z = 0;
		}
	}
	if (ret_wrapped)
		*ret_wrapped = wrapped;
	return (!wrapped || ret_wrapped) && wsi_dim3_equal(at, next);
}
