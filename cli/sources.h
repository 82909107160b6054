/* SPDX-License-Identifier: Apache-2.0 */
/* Where the user says that sources are: --source-map, --source-dir and what a prompt adds. */
#ifndef WARPSCOPE_CLI_SOURCES_H
#define WARPSCOPE_CLI_SOURCES_H

#include <warpscope/report.h>

#include "cli.h"

struct cli_sources {
	struct ws_source_map *maps; /* owned, with their texts */
	const char **dirs;          /* owned, likewise */
	size_t n_maps, cap_maps, n_dirs, cap_dirs;
};

void cli_sources_map(struct cli_sources *sources, const char *from, size_t len, const char *to);
void cli_sources_dir(struct cli_sources *sources, const char *path);
/* FROM=TO of a command line. An exit status. */
int cli_sources_take_map(struct cli_sources *sources, const char *verb, const char *text);
/* Has a report, or a search for one file, look there. */
void cli_sources_use(const struct cli_sources *sources, struct ws_report_options *options);
/* Forgets all. */
void cli_sources_fini(struct cli_sources *sources);

#endif
