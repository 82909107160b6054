/* SPDX-License-Identifier: Apache-2.0 */
#include "sources.h"

#include <stdlib.h>
#include <string.h>

void cli_sources_map(struct cli_sources *sources, const char *from, size_t len, const char *to)
{
	cli_grow(&sources->maps, &sources->cap_maps, sources->n_maps, sizeof *sources->maps);
	sources->maps[sources->n_maps++] =
		(struct ws_source_map){ cli_copy(from, len), cli_copy(to, strlen(to)) };
}

void cli_sources_dir(struct cli_sources *sources, const char *path)
{
	cli_grow(&sources->dirs, &sources->cap_dirs, sources->n_dirs, sizeof *sources->dirs);
	sources->dirs[sources->n_dirs++] = cli_copy(path, strlen(path));
}

int cli_sources_take_map(struct cli_sources *sources, const char *verb, const char *text)
{
	const char *equals = strchr(text, '=');
	if (!equals || equals == text)
		return cli_usage(verb, "--source-map takes FROM=TO, not '%s'", text);
	cli_sources_map(sources, text, (size_t)(equals - text), equals + 1);
	return CLI_ANSWERED;
}

void cli_sources_use(const struct cli_sources *sources, struct ws_report_options *options)
{
	options->source_maps = sources->maps;
	options->n_source_maps = sources->n_maps;
	options->source_dirs = sources->dirs;
	options->n_source_dirs = sources->n_dirs;
}

void cli_sources_fini(struct cli_sources *sources)
{
	for (size_t i = 0; i < sources->n_maps; i++) {
		free((char *)(uintptr_t)sources->maps[i].from);
		free((char *)(uintptr_t)sources->maps[i].to);
	}
	for (size_t i = 0; i < sources->n_dirs; i++)
		free((char *)(uintptr_t)sources->dirs[i]);
	free(sources->maps);
	free(sources->dirs);
	*sources = (struct cli_sources){ 0 };
}
