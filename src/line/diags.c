/* SPDX-License-Identifier: Apache-2.0 */
#include "line/map.h"

void wsi_line_diag(struct wsi_line_diags *diags, enum ws_status status, uint64_t file_off,
		   const char *format, ...)
{
	diags->n_total++;
	if (diags->n_kept == WSI_LINE_MAX_DIAGS ||
	    !wsi_grow(&diags->item, &diags->cap, diags->n_kept, sizeof *diags->item,
		      WSI_LINE_MAX_DIAGS))
		return;
	struct wsi_line_diag *diag = &diags->item[diags->n_kept++];
	diag->status = status;
	diag->file_off = file_off;
	va_list args;
	va_start(args, format);
	vsnprintf(diag->message, sizeof diag->message, format, args);
	va_end(args);
}

void wsi_line_diags_fini(struct wsi_line_diags *diags)
{
	wsi_free(diags->item);
	*diags = (struct wsi_line_diags){ 0 };
}

size_t wsi_line_diags_tell(const struct wsi_line_diags *diags, ws_line_diagnostic_fn *take,
			   void *user)
{
	for (size_t i = 0; take && i < diags->n_kept; i++) {
		const struct wsi_line_diag *diag = &diags->item[i];
		take(user,
		     &(struct ws_line_diagnostic){ diag->status, diag->file_off, diag->message });
	}
	return diags->n_total;
}
