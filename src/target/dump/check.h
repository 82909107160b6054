/* SPDX-License-Identifier: Apache-2.0 */
/* What check.c (the file and its sections) and check_rows.c (what the tables say) share. */
#ifndef WSI_CHECK_H
#define WSI_CHECK_H

#include "target/dump/dump.h"

struct wsi_checker {
	const struct ws_core *core;
	struct ws_span names;   /* of the sections */
	struct wsi_elf claimed; /* with section headers as the file has them */
	bool (*each)(void *user, const struct ws_finding *finding);
	void *user;
	struct ws_check_summary summary;
	bool stopped;
};

/* Notes a finding. It contradicts something as its rule says, but not if it is a loss. */
void wsi_finding(struct wsi_checker *c, enum ws_check_rule rule, uint32_t section,
		 uint64_t file_off, const char *format, ...) WS_PRINTF(5, 6);
void wsi_loss(struct wsi_checker *c, enum ws_check_rule rule, uint32_t section, uint64_t file_off,
	      const char *format, ...) WS_PRINTF(5, 6);

/* Everything below the devices. */
void wsi_core_check_rows(struct wsi_checker *c);

#endif
