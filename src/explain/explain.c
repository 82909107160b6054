/* SPDX-License-Identifier: Apache-2.0 */
/* Explains one exception: the steps in order. */
#include "explain/explain.h"

enum ws_status wsi_explain(struct wsi_build *build, struct wsi_fault *fault)
{
	static enum ws_status (*const steps[])(struct wsi_scene *) = {
		wsi_passed_find, wsi_access_find, wsi_elsewhere_find, wsi_suspects,  wsi_listing,
		wsi_precision,   wsi_findings,    wsi_causes,         wsi_variables,
	};
	struct wsi_scene scene;
	enum ws_status st = wsi_scene_init(&scene, build, fault);
	for (size_t i = 0; i < WSI_COUNT(steps) && st == WS_OK; i++)
		st = steps[i](&scene);
	wsi_scene_fini(&scene);
	return st;
}
