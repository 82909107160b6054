/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec --dumps-through: hands each dump that is complete to a command of the user, packed, and
 * removes it here once the command has taken it. A process for each dump, which says what came of
 * it. Of a dump that was not taken nothing is lost.
 */
#ifdef __linux__
#define _GNU_SOURCE
#include <sys/prctl.h>
#endif
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard.h"

#define THROUGH_LIMIT (UINT64_C(64) << 30)

static volatile pid_t command_group; /* 0: no command runs */

/* exec is stopped, or dead. */
static void command_end(int number)
{
	(void)number;
	if (command_group)
		kill(-command_group, SIGKILL);
	_exit(1);
}

/* Starts the command; the caller writes to `*ret_to`. */
static pid_t through_start(const char *command, const char *name, int *ret_to)
{
	char variable[EXEC_PATH_BYTES];
	int ends[2];
	snprintf(variable, sizeof variable, "%s.gz", name);
	if (pipe(ends) != 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		setpgid(0, 0); /* it is ended with all that it has started */
		signal(SIGPIPE, SIG_DFL);
		dup2(ends[0], STDIN_FILENO);
		close(ends[0]);
		close(ends[1]);
		(void)!setenv("WARPSCOPE_DUMP", variable, 1);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	close(ends[0]);
	if (pid < 0)
		close(ends[1]);
	else
		(void)setpgid(pid, pid);
	command_group = pid > 0 ? pid : 0;
	*ret_to = ends[1];
	return pid;
}

/* Whether the command took the whole dump; told why not. */
static bool dump_hand_over(const char *command, const char *path, const char *name)
{
	struct ws_error err;
	int to, status = 0;
	pid_t pid = through_start(command, name, &to);
	if (pid < 0) {
		cli_say("warpscope exec: %s stays here: no process for the command: %s\n", path,
			strerror(errno));
		return false;
	}
	const enum ws_status st = ws_file_pack(path, ws_write_fd, &to, &err);
	if (st != WS_OK && err.os_errno != EPIPE)
		kill(-pid, SIGKILL); /* before it takes the end of the pipe for that of the dump */
	close(to);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	command_group = 0;
	if (st == WS_OK && status == 0)
		return true;
	if (st != WS_OK && err.os_errno != EPIPE)
		cli_say("warpscope exec: %s stays here: %s\n", path, err.message);
	else if (WIFSIGNALED(status))
		cli_say("warpscope exec: %s stays here: the command was ended by signal %d\n", path,
			WTERMSIG(status));
	else if (status != 0)
		cli_say("warpscope exec: %s stays here: the command ended with status %d\n", path,
			WEXITSTATUS(status));
	else
		cli_say("warpscope exec: %s stays here: the command did not read all of it\n",
			path);
	return false;
}

_Noreturn static void through_run(const struct exec *exec, const char *path)
{
	const char *name = strrchr(path, '/') + 1; /* it is absolute */
	const uint64_t limit = exec->cli->size_limit ? exec->cli->size_limit : THROUGH_LIMIT;
	struct stat at;
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_IGN); /* a key pressed is for exec, which ends this process */
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGTERM, command_end);
	if (stat(path, &at) != 0)
		cli_say("warpscope exec: %s: %s\n", path, strerror(errno));
	else if ((uint64_t)at.st_size > limit)
		cli_say("warpscope exec: %s stays here: its %" PRIu64
			" bytes are more than the limit; --size-limit changes it\n",
			path, (uint64_t)at.st_size);
	else if (dump_hand_over(exec->args->through, path, name)) {
		if (unlink(path) == 0)
			cli_say("warpscope exec: the command took %s, which is removed here\n",
				path);
		else
			cli_say("warpscope exec: the command took %s; %s\n", path, strerror(errno));
	}
	_exit(0);
}

pid_t exec_through_start(const struct exec *exec, const char *path, int life)
{
	const pid_t self = getpid(), pid = fork();
	if (pid == 0) {
		guard_end_with(self);
#ifdef __linux__
		prctl(PR_SET_PDEATHSIG, SIGTERM); /* so that it ends the command, too */
#endif
		close(life); /* the keeper waits for its end */
		through_run(exec, path);
	}
	return pid;
}
