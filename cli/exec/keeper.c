/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process between exec and the program. It takes in every process below that loses its parent,
 * and ends them all when exec is gone, whatever ended it: then its end of a pipe is closed. It
 * tells exec how the program starts and ends.
 */
#ifdef __linux__
#define _GNU_SOURCE
#include <sys/prctl.h>
#include <sys/signalfd.h>
#endif
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(int news, enum exec_news_kind kind, int value)
{
	struct exec_news one = { kind, value };
	(void)!ws_write_fd(&news, (const char *)&one, sizeof one); /* exec may be gone */
}

_Noreturn static void program_run(char **program, const int outputs[2], const sigset_t *mask,
				  int news)
{
	for (int i = 0; i < 2; i++)
		if (outputs[i] >= 0)
			dup2(outputs[i], i + 1);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(program[0], program);
	tell(news, EXEC_NOT_STARTED, errno);
	_exit(127);
}

#ifdef __linux__
/* Takes in what has ended, and tells of the program. */
static void reap(pid_t program, int news)
{
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == program)
			tell(news, EXEC_ENDED, status);
}

/* Whoever waits for the end of the program's output is not to wait for the keeper. */
static void keeper_outputs_detach(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
}

_Noreturn static void keep_watch(pid_t program, int life, int news)
{
	sigset_t ended;
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	int signals = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
	struct pollfd polled[] = { { life, POLLIN, 0 }, { signals, POLLIN, 0 } };
	struct signalfd_siginfo about;
	for (;;) {
		char word;
		/* the time limit is for a signal that came before there was a descriptor for it */
		if (poll(polled, 2, 1000) < 0 && errno != EINTR)
			break;
		while (read(signals, &about, sizeof about) > 0)
			;
		reap(program, news);
		if (!polled[0].revents)
			continue;
		if (read(life, &word, 1) == 1)
			_exit(0); /* let go */
		break;
	}
	exec_proc_kill_below();
	_exit(1);
}

bool exec_keeper_start(char **program, const int outputs[2], const void *mask,
		       struct exec_keeper *ret_keeper)
{
	int life[2], news[2];
	if (pipe2(life, O_CLOEXEC) != 0)
		return false;
	if (pipe2(news, O_CLOEXEC) != 0) {
		close(life[0]);
		close(life[1]);
		return false;
	}
	pid_t pid = fork();
	if (pid == 0) {
		sigset_t all;
		close(life[1]);
		close(news[0]);
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		prctl(PR_SET_NAME, "warpscope-keep"); /* docs/recipes.md looks for it */
		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, NULL);
		pid_t child = fork();
		if (child == 0)
			program_run(program, outputs, mask, news[1]);
		tell(news[1], child < 0 ? EXEC_NOT_STARTED : EXEC_STARTED,
		     child < 0 ? errno : (int)child);
		keeper_outputs_detach();
		for (int i = 0; i < 2; i++)
			if (outputs[i] >= 0)
				close(outputs[i]);
		keep_watch(child, life[0], news[1]);
	}
	close(life[0]);
	close(news[1]);
	*ret_keeper = (struct exec_keeper){ pid, life[1], news[0] };
	if (pid > 0)
		return true;
	close(life[1]);
	close(news[0]);
	return false;
}
#else
bool exec_keeper_start(char **program, const int outputs[2], const void *mask,
		       struct exec_keeper *ret_keeper)
{
	(void)program;
	(void)outputs;
	(void)mask;
	(void)ret_keeper;
	errno = ENOSYS;
	return false;
}
#endif

void exec_keeper_release(struct exec_keeper *keeper)
{
	(void)!ws_write_fd(&keeper->life, "q", 1);
	close(keeper->life);
	close(keeper->news);
	if (keeper->pid > 0)
		while (waitpid(keeper->pid, NULL, 0) < 0 && errno == EINTR)
			;
	*keeper = (struct exec_keeper){ 0, -1, -1 };
}
