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
	const struct cli *cli;   /* borrowed; whose words are wrong */
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

/* ---- textures.c ---- */

/* Whether an argument is a texture or a surface. */
bool run_is_texture(const char *text);
/* Makes its object: the handle. Told what is wrong. */
bool run_texture_make(const char *text, struct ws_sim *sim, const struct run_buffers *buffers,
		      uint64_t *ret_handle);

/* ---- launch.c ---- */

/* A launch as the command line or a line of a file asks for it. */
struct run_launch {
	struct cli *cli;
	const char *kernel;
	struct ws_dim3 grid, block, cluster, preferred;
	struct cli_given shared;
	bool cooperative;
	struct cli_words args;
};

void run_launch_fini(struct run_launch *launch);
/* Options of a launch. */
int run_take_grid(void *launch, const char *text);
int run_take_block(void *launch, const char *text);
int run_take_cluster(void *launch, const char *text);
int run_take_preferred(void *launch, const char *text);
#define RUN_LAUNCH_OPTIONS                                                                      \
	{ "kernel", 0, CLI_TEXT, .at = offsetof(struct run_launch, kernel) },                   \
		{ "grid", 0, CLI_TAKE, .take = run_take_grid },                                 \
		{ "block", 0, CLI_TAKE, .take = run_take_block },                               \
		{ "cluster", 0, CLI_TAKE, .take = run_take_cluster },                           \
		{ "preferred-cluster", 0, CLI_TAKE, .take = run_take_preferred },               \
		{ "shared", 0, CLI_NUMBER, .at = offsetof(struct run_launch, shared) },         \
		{ "cooperative", 0, CLI_FLAG, .at = offsetof(struct run_launch, cooperative) }, \
	{                                                                                       \
		"arg", 0, CLI_WORDS, .at = offsetof(struct run_launch, args)                    \
	}
/* Puts it into the queue of the device. Told what is wrong. */
bool run_launch(const struct run_launch *launch, struct ws_sim *sim,
		const struct run_buffers *buffers);
/* All launches of a file: each line has the options of one. */
bool run_launch_file(struct cli *cli, const char *path, struct ws_sim *sim,
		     const struct run_buffers *buffers);

/* ---- run.c ---- */

/* The device of an architecture: "sm_90", "90", "sm_90a" or "90a". NULL with a word to the user. */
const char *run_device_find(struct cli *cli, const char *arch);
/* What kernels printed, line by line. */
void run_print_lines(struct ws_out *out, struct ws_span printed);

/* ---- setup.c ---- */

/* A software GPU with an image, buffers and launches, as the command line asks for them. */
struct run_setup {
	struct run_launch launch; /* first: its options fill it */
	const char *image, *launches, *device, *schedule;
	struct cli_given seed, memory, stack, late;
	struct cli_words buffers;
	bool check;
	struct ws_sim *sim; /* owned */
	struct run_buffers made;
};

/* For verbs whose query begins with a `struct run_setup`. */
#define RUN_SETUP_OPTIONS                                                                \
	{ "arch", 0, CLI_TEXT, .at = offsetof(struct run_setup, device) },               \
		{ "seed", 0, CLI_NUMBER, .at = offsetof(struct run_setup, seed) },       \
		{ "schedule", 0, CLI_TEXT, .at = offsetof(struct run_setup, schedule) }, \
		{ "memory", 0, CLI_NUMBER, .at = offsetof(struct run_setup, memory) },   \
		{ "stack", 0, CLI_NUMBER, .at = offsetof(struct run_setup, stack) },     \
		{ "late", 0, CLI_NUMBER, .at = offsetof(struct run_setup, late) },       \
		RUN_LAUNCH_OPTIONS,                                                      \
		{ "launches", 0, CLI_TEXT, .at = offsetof(struct run_setup, launches) }, \
	{                                                                                \
		"buffer", 0, CLI_WORDS, .at = offsetof(struct run_setup, buffers)        \
	}

#define RUN_SETUP_INIT(cli_)                                                          \
	{                                                                             \
		.launch = {.cli = (cli_), .grid = { 1, 1, 1 }, .block = { 1, 1, 1 } } \
	}

/* What is left of the command line, once its options are taken: the image. An exit status. */
int run_setup_check(struct run_setup *setup, int argc, char **argv);
/* Tells why the device refused something, and which option would help. CLI_NO_ANSWER. */
int run_fail(const char *what, const struct ws_error *err);
/* Makes the device, loads the image, fills buffers, queues launches. An exit status. */
int run_setup_make(struct run_setup *setup, struct cli *cli);
/* Back to what run_setup_check() left: it can be made anew. */
void run_setup_unmake(struct run_setup *setup);
void run_setup_fini(struct run_setup *setup);

/* ---- fault.c ---- */

/* The report of a device that stopped, if `tells`, and a dump unless its path is NULL. An exit
 * status. */
int run_fault(struct cli *cli, struct ws_sim *sim, bool tells, const char *dump);

/* ---- check.c ---- */

/* What a device that checks has found, as text, or as keys of an object. An exit status. */
int run_findings(struct cli *cli, const struct ws_sim *sim, struct ws_json *json);

#endif
