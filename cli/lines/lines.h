/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of `warpscope lines` share. */
#ifndef WARPSCOPE_CLI_LINES_H
#define WARPSCOPE_CLI_LINES_H

#include <warpscope/symbols.h>

#include "images.h"

/* What the command line asks for. */
struct lines_query {
	const char *path, *arch, *function;
	bool raw, full_names;
	struct cli_given pc; /* offset in the function */
	char *source;        /* owned: the file of --source, or NULL */
	uint32_t source_line;
};

/* Each answers for one image, into cli->out or as fields of the object in `json` (NULL: text). True
 * when there was something to show. */
bool lines_rows(struct cli *cli, const struct lines_query *query, const struct ws_code_image *image,
		struct ws_line_map *map, struct ws_json *json);
bool lines_pc(struct cli *cli, const struct lines_query *query, const struct ws_code_image *image,
	      struct ws_json *json);
bool lines_source(struct cli *cli, const struct lines_query *query,
		  const struct ws_code_image *image, struct ws_line_map *map, struct ws_json *json);
bool lines_raw(struct cli *cli, struct ws_line_map *map, struct ws_json *json);

#endif
