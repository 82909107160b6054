/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of `warpscope run` share. */
#ifndef WARPSCOPE_RUN_H
#define WARPSCOPE_RUN_H

#include <warpscope/sim.h>

#include "cli.h"

/* ---- values.c ---- */

/* A type of number, as C and PTX mean it. */
struct run_type {
	const char *name;
	unsigned bytes;
	char kind; /* u, s or f */
};

/* The type that a text of `len` bytes names; NULL: none. */
const struct run_type *run_type_find(const char *text, size_t len);
/* One number as it lies in memory; false when it is none of the type, or does not fit. */
bool run_value_parse(const struct run_type *type, const char *text, uint8_t ret_bytes[8]);
void run_value_print(const struct run_type *type, const uint8_t *bytes, struct ws_out *out);
/* The same number, as JSON has it: what JSON cannot hold is text. */
void run_value_json(const struct run_type *type, const uint8_t *bytes, struct ws_json *json);

/* ---- buffers.c ---- */

struct run_buffer {
	char *name; /* owned */
	const struct run_type *type;
	uint64_t count, address; /* elements; on the device */
};

struct run_buffers {
	struct run_buffer *item; /* owned */
	size_t n, cap;
};

/* NAME=TYPE[COUNT][:FILL] or NAME=TYPE@FILE: makes the buffer on the device. Told what is wrong. */
bool run_buffer_add(struct run_buffers *buffers, struct ws_sim *sim, const char *text);
/* The buffer that the first `len` bytes of a text name; NULL: none. */
const struct run_buffer *run_buffer_find(const struct run_buffers *buffers, const char *text,
					 size_t len);
/* Its bytes, read back; free() them. NULL: told why not. */
uint8_t *run_buffer_read(const struct run_buffer *buffer, struct ws_sim *sim);
void run_buffers_fini(struct run_buffers *buffers);
/* The whole of a file, with a NUL behind it; free() it. NULL: told why not. */
void *run_file_read(const char *path, size_t *ret_len);

/* ---- launch.c ---- */

/* A launch as the command line or a line of a file asks for it. */
struct run_launch {
	struct cli *cli;
	const char *kernel;
	struct ws_dim3 grid, block, cluster;
	struct cli_given shared;
	bool cooperative;
	struct cli_words args;
};

void run_launch_fini(struct run_launch *launch);
/* Options of a launch, for both. */
int run_take_grid(void *launch, const char *text);
int run_take_block(void *launch, const char *text);
int run_take_cluster(void *launch, const char *text);
/* Puts it into the queue of the device. Told what is wrong. */
bool run_launch(const struct run_launch *launch, struct ws_sim *sim, uint32_t module,
		const struct run_buffers *buffers);
/* All launches of a file: each line has the options of one. */
bool run_launch_file(struct cli *cli, const char *path, struct ws_sim *sim, uint32_t module,
		     const struct run_buffers *buffers);

/* ---- fault.c ---- */

/* The report of a device that stopped, and a dump unless its path is NULL. An exit status. */
int run_fault(struct cli *cli, struct ws_sim *sim, const char *dump);

#endif
