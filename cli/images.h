/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPU code in a file, whatever file it is: a cubin, a fatbin, a program, a shared object, an
 * object, an archive, or a dump.
 */
#ifndef WARPSCOPE_CLI_IMAGES_H
#define WARPSCOPE_CLI_IMAGES_H

#include <warpscope/cubin.h>
#include <warpscope/image.h>
#include <warpscope/target.h>

#include "cli.h"

struct images {
	const struct cli *cli;      /* borrowed */
	struct ws_code_images code; /* its items are owned */
	struct ws_image_file *file; /* or: */
	struct ws_target *target;
	struct ws_cubin_set *set; /* of a target's images */
};

/*
 * Opens all cubins of a file; `arch` chooses ("sm_90", "90a"; NULL: all). What cannot be opened is
 * said on standard error. CLI_ANSWERED, or CLI_NO_ANSWER when there is no code at all, which has
 * been told; CLI_USAGE: `arch` is no architecture. Call images_close() in any case.
 */
int images_open(struct cli *cli, const char *verb, const char *path, const char *arch,
		struct images *ret_images);
void images_close(struct images *images);

/* An architecture as --arch takes it. */
struct arch {
	uint64_t sm;
	char variant; /* 0: any */
};
bool arch_parse(const char *text, struct arch *ret_arch);
/* Whether code for sm_NN, with that letter or 0, is wanted; `arch` NULL: all is. */
bool arch_fits(const struct arch *arch, uint32_t sm, char variant);

#endif
