/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of `warpscope info` share, and the prompt asks of it. */
#ifndef WARPSCOPE_CLI_INFO_H
#define WARPSCOPE_CLI_INFO_H

#include <warpscope/image.h>

#include "cli.h"
#include "sources.h"

struct info_images_query {
	const char *arch, *kernel; /* only these; NULL: all */
	bool wide, full_names;
	uint64_t limit; /* of images and kernels together; 0: none */
};

/* Lists the images of `file` with their kernels. An exit status. */
int info_images(struct cli *cli, const char *path, struct ws_image_file *file,
		const struct info_images_query *query);
/* Whether a word is a table's, or begins what is. */
bool info_has_table(const char *word);

#endif
