/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpscope exec, trigger, env: what their files share.
 *
 *   exec (exec.c)                  keeper (keeper.c)          the program, and all below it
 *     variables   vars.c             ends what is below         writes dumps
 *     checks      check.c            when exec is killed
 *     ranks       ranks.c
 *     output      relay.c          <- with --on-hang only: passes the program's output on
 *     afterwards  after.c          <- a process: triggers dumps (trigger.c), triages
 *     dumps go on through.c        <- a process for each
 *
 * exec waits in one loop for signals, for news of the keeper and for the clock; all that takes long
 * is done by processes of its own, which end with it. Both exec and the keeper take in processes
 * that lost their parent, so that kill -9 of either leaves nothing behind
 * (docs/decisions/0071-exec.md).
 */
#ifndef CLI_EXEC_H
#define CLI_EXEC_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include "cli.h"

enum {
	EXEC_PATH_BYTES = 1024, /* CUDA takes 1,023 characters */
	EXEC_HOST_BYTES = 256,
};

/* ---- vars.c: CUDA's variables ---- */

enum exec_purpose { EXEC_FAULT, EXEC_HANG, EXEC_SHARE, EXEC_FULL, EXEC_N_PURPOSES };

/* What a variable is set to, and why. */
struct exec_variable {
	const char *name; /* static */
	char value[EXEC_PATH_BYTES];
	const char *cost; /* static: what it does, and what it costs */
};

enum { EXEC_MOST_VARIABLES = 8 };

struct exec_variables {
	struct exec_variable item[EXEC_MOST_VARIABLES];
	size_t n;
};

/* False: there is no purpose of that name. */
bool exec_purpose_find(const char *name, enum exec_purpose *ret_purpose);
/* Of several execs of a job, which one this is. */
struct exec_part {
	const char *kind; /* "rank"; "task" of Slurm, which may have many ranks; NULL: not known */
	uint64_t number;
};

/* How dumps are named: "core_r3_%t_%h_%p.nvcudmp". `host` is that, or %h. */
void exec_dump_name(struct exec_part part, const char *host, char *ret_name, size_t size);
/* What is to be set, for dumps in `folder`. `flags` are more words of
 * CUDA_COREDUMP_GENERATION_FLAGS, or NULL. False: a value is too long for CUDA. */
bool exec_variables_make(enum exec_purpose purpose, const char *folder, struct exec_part part,
			 const char *flags, struct exec_variables *ret_variables);

/* ---- gpu.c: the software GPU ---- */

/* Sets what the program needs to find it; `arch` is a device's name, or NULL for the usual one.
 * Told what is wrong. */
bool exec_gpu_set(const char *arch);
/* Whether a program has the vendor's runtime inside, as nvcc links it unless -cudart says
 * otherwise; false where it cannot be told. */
bool exec_gpu_is_foreign(const char *program);

/* ---- proc.c: what /proc says ---- */

struct exec_processes {
	struct exec_process {
		pid_t pid, parent;
		uint64_t started; /* in the kernel's ticks: with the pid, which process it is */
		bool is_below;
	} * item; /* owned; by pid */
	size_t n, cap;
};

/* Whether /proc is that of our processes. */
bool exec_proc_works(void);
/* All processes below `root`, but for those that ended; free() `item`. */
void exec_proc_below(pid_t root, struct exec_processes *ret_below);
/* A small file of a process with a NUL behind it, at most `most` bytes; free() it. NULL: errno. */
char *exec_proc_read(pid_t pid, const char *name, size_t most, size_t *ret_len);
/* Frees it, and leaves nothing of it in memory: environments hold secrets. */
void exec_proc_forget(char *text, size_t len);
/* The value of a variable in an environment as /proc has it, or NULL. */
const char *exec_proc_variable(const char *environment, size_t len, const char *name);
/* Calls `each` for all files that a process has open, until it returns false; false with errno: it
 * cannot be asked. */
typedef bool exec_file_fn(void *user, int number, const char *target);
bool exec_proc_files(pid_t pid, exec_file_fn *each, void *user);
/* Ends everything below this process, and takes in what has ended. Waits a bounded time. */
void exec_proc_kill_below(void);
/* This host, as %h stands for it. */
void exec_host(char ret_host[EXEC_HOST_BYTES]);

/* ---- exec.c ---- */

struct exec_args {
	const char *dumps, *job, *purpose, *message, *arch, *annotations, *through;
	struct cli_given on_hang, wait;
	bool no_abort, software_gpu;
	char **program; /* ends in NULL; borrowed */
	enum exec_purpose kind;
};

struct exec_record; /* ranks.c */

struct exec {
	struct cli *cli;
	const struct exec_args *args;
	char host[EXEC_HOST_BYTES];
	char folder[EXEC_PATH_BYTES]; /* of this job's dumps; absolute */
	struct exec_part part;        /* for the names of dumps */
	struct exec_record *record;
};

/* ---- check.c ---- */

/* Makes the folder, and says what keeps dumps from being made. CLI_ANSWERED; or told why none can
 * be made at all. */
int exec_check(struct exec *exec);

/* ---- keeper.c ---- */

enum exec_news_kind { EXEC_STARTED, EXEC_NOT_STARTED, EXEC_ENDED };

struct exec_news {
	enum exec_news_kind kind;
	int value; /* a pid; an errno; a status of wait() */
};

struct exec_keeper {
	pid_t pid;
	int life; /* closed: exec is dead; a byte: the work is done, and the rest may live on */
	int news; /* to be read */
};

/* Starts the program below a keeper; its output goes to `outputs`, -1 each: where it goes now. The
 * signals that are blocked now are not in the program if `mask` lacks them. */
bool exec_keeper_start(char **program, const int outputs[2], const void *mask,
		       struct exec_keeper *ret_keeper);
/* Lets the keeper go; what the program left running lives on. */
void exec_keeper_release(struct exec_keeper *keeper);

/* ---- relay.c ---- */

struct exec_relay {
	pid_t pid;      /* 0: there is none */
	int outputs[2]; /* for the program; -1: not used */
	int control;
	_Atomic uint64_t *count; /* how much was passed on; shared with the relay */
};

bool exec_relay_start(struct exec_relay *ret_relay);
uint64_t exec_relay_count(const struct exec_relay *relay);
/* Passes on what is there, and ends. */
void exec_relay_end(struct exec_relay *relay);

/* ---- ranks.c: the record of descendants ---- */

struct exec_record *exec_record_open(const struct exec *exec);
/* Looks at the processes below `root`, and writes what is new. */
void exec_record_look(struct exec_record *record, pid_t root);
/* Of what was written last: whether a process had a GPU open. */
bool exec_record_saw_gpu(const struct exec_record *record);
/* When the record was made, as the file system of the dumps has it. */
struct timespec exec_record_made(const struct exec_record *record);
void exec_record_close(struct exec_record *record);
struct exec_part exec_own_part(void);

/* ---- trigger.c ---- */

/* Triggers dumps of all processes below `root`, and waits for them at most `timeout` seconds
 * without progress; says what came of each on standard error. `took` is called with each dump. How
 * many processes had a pipe. */
typedef void exec_took_fn(void *user, const char *path);
size_t exec_trigger_below(pid_t root, uint64_t timeout, exec_took_fn *took, void *user);

/* ---- through.c ---- */

/* A process that hands a dump to the command of --dumps-through, and removes it if that takes it;
 * it says what came of it. Below 0: errno. */
pid_t exec_through_start(const struct exec *exec, const char *path, int life);

/* ---- after.c ---- */

struct exec_dumps {
	char **path; /* owned, and each */
	size_t n, cap;
	uint64_t bytes; /* together */
};

/* The dumps of this run that lie in the folder. */
void exec_dumps_find(const struct exec *exec, struct exec_dumps *ret_dumps);
void exec_dumps_fini(struct exec_dumps *dumps);
/* Whether a process below `root` still writes a dump. */
bool exec_dumps_are_written(const struct exec *exec, pid_t root);

/* A process that makes a page of dumps. */
struct exec_helper {
	pid_t pid; /* 0: none runs */
	FILE *page;
};

/* Triages `dumps`; NULL: triggers dumps below `root` first, and triages those. */
bool exec_helper_start(const struct exec *exec, const struct exec_dumps *dumps, pid_t root,
		       int life, struct exec_helper *ret_helper);
/* Shows the page of one that has ended, below `title`, also in the message for who runs us. */
void exec_helper_show(const struct exec *exec, struct exec_helper *helper, const char *title);
/* Writes the message for who runs us, if there is such a file. */
void exec_message_write(const struct exec *exec, const char *text, size_t len);

#endif
