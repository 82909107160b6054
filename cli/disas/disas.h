/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of `warpscope disas` share. */
#ifndef WARPSCOPE_CLI_DISAS_H
#define WARPSCOPE_CLI_DISAS_H

#include "disas/code_names.h"
#include "disas/constants.h"
#include "names.h"

struct disas_thread;

struct disas {
	struct cli *cli;
	const char *path, *arch, *function;
	bool with_values; /* --regs */
	const char *lane; /* of --regs, or NULL */
	bool full_names, source, hex, control, as_source, cfg, dot;
	struct cli_given pc; /* offset in the function */
	struct ws_json json;
	bool shown;
	uint64_t n_unknown, n_total;
};

enum disas_mark_flags {
	DISAS_PC = 1u << 0,
	DISAS_ERRORPC = 1u << 1,
};

/* The code of one function while it is shown. */
struct disas_code {
	struct disas *d;
	struct ws_cubin *cubin;
	const struct ws_function *function;
	unsigned sm;
	struct ws_span code;
	struct code_names names;
	const struct constants *constants; /* borrowed; NULL: they are not named */
	struct {
		uint64_t off;
		unsigned flags;
	} marks[2];
	unsigned n_marks;                  /* with any, only the code around them is shown */
	bool without_inner;                /* functions inside this one are listed by themselves */
	const struct disas_thread *thread; /* whose registers are shown; NULL: none */
};

/* disas/code.c */
/* False when the function has no code that could be read, which has been told. */
bool disas_code_init(struct disas_code *code, struct disas *d, struct ws_cubin *cubin,
		     const struct ws_function *function);
void disas_code_fini(struct disas_code *code);
/* Its name and a colon, or the fields of a JSON object that stays open. */
void disas_code_start(struct disas_code *code);
/* The start, then the instructions, all or those around the marks. */
void disas_code_show(struct disas_code *code);
/* Closes the JSON object. */
void disas_code_end(struct disas_code *code);
/* One instruction: a line, or an element of the JSON array. */
void disas_code_show_insn(struct disas_code *code, uint64_t off);
/* Its text; `control`: with every bit. WS_SASS_TEXT_MAX + CODE_NAMES_TEXT_MAX bytes suffice. */
size_t disas_code_text(struct disas_code *code, const struct ws_insn *insn, uint64_t off,
		       bool control, char *text, size_t size);

/* disas/cfg.c: blocks in place of the bare instructions. */
void disas_cfg_show(struct disas_code *code);

/* disas/thread.c */
/* The code around the pc of one thread of a dump. An exit status. */
int disas_thread_run(struct disas *d, int argc, char **argv);
/* The values that an instruction finds in the thread's registers: text behind a line, or the
 * element "registers". */
void disas_thread_values(struct disas_code *code, const struct ws_insn *insn, uint64_t off);

/* disas/asm.c: a whole image as `warpscope as` reads it. */
void disas_asm(struct disas *d, const struct ws_code_image *image);

#endif
