/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes the program's output on, and counts it, so that a program that says nothing is noticed. A
 * process of its own: it may wait for whoever reads the output as long as that takes.
 */
#ifdef __linux__
#define _GNU_SOURCE
#endif
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard.h"

enum { CHUNK = 1 << 16 };

struct relay_stream {
	int from, to; /* from: -1: it has ended */
};

/* Passes on what is there; false: there is no more to come, or nobody takes it. */
static bool pass_on(struct relay_stream *stream, _Atomic uint64_t *count)
{
	static char bytes[CHUNK];
	ssize_t n = read(stream->from, bytes, sizeof bytes);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n > 0)
		atomic_fetch_add(count, (uint64_t)n);
	return n > 0 && ws_write_fd(&stream->to, bytes, (size_t)n);
}

_Noreturn static void relay_run(struct relay_stream streams[2], int control,
				_Atomic uint64_t *count)
{
	bool ending = false;
	for (;;) {
		struct pollfd polled[3] = { { streams[0].from, POLLIN, 0 },
					    { streams[1].from, POLLIN, 0 },
					    { ending ? -1 : control, POLLIN, 0 } };
		if (streams[0].from < 0 && streams[1].from < 0)
			break;
		int n = poll(polled, 3, ending ? 0 : -1);
		if (n < 0 && errno != EINTR)
			break;
		if (ending && n == 0)
			break; /* whoever still has the other end says nothing now */
		for (int i = 0; i < 2 && n > 0; i++) {
			if (!polled[i].revents || pass_on(&streams[i], count))
				continue;
			close(streams[i].from); /* the program then sees that nobody reads */
			streams[i].from = -1;
		}
		ending = ending || (n > 0 && polled[2].revents);
	}
	_exit(0);
}

static bool is_one_file(int a, int b)
{
	struct stat at_a, at_b;
	return fstat(a, &at_a) == 0 && fstat(b, &at_b) == 0 && at_a.st_dev == at_b.st_dev &&
	       at_a.st_ino == at_b.st_ino;
}

bool exec_relay_start(struct exec_relay *ret_relay)
{
	int pipes[3][2];
	_Atomic uint64_t *count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	/* one pipe for both, where both go to one place: lines keep their order */
	bool is_one = is_one_file(1, 2);
	if (count == MAP_FAILED)
		return false;
	for (int i = 0; i < 3; i++)
		if (pipe2(pipes[i], O_CLOEXEC) != 0)
			return false;
	pid_t self = getpid(), pid = fork();
	if (pid == 0) {
		struct relay_stream streams[2] = { { pipes[0][0], 1 },
						   { is_one ? -1 : pipes[1][0], 2 } };
		guard_end_with(self);
		signal(SIGPIPE, SIG_IGN);
		for (int i = 0; i < 3; i++)
			close(pipes[i][1]);
		relay_run(streams, pipes[2][0], count);
	}
	for (int i = 0; i < 3; i++)
		close(pipes[i][0]);
	*ret_relay = (struct exec_relay){
		.pid = pid > 0 ? pid : 0,
		.outputs = { pipes[0][1], is_one ? pipes[0][1] : pipes[1][1] },
		.control = pipes[2][1],
		.count = count,
	};
	if (is_one)
		close(pipes[1][1]);
	return pid > 0;
}

uint64_t exec_relay_count(const struct exec_relay *relay)
{
	return relay->count ? atomic_load(relay->count) : 0;
}

void exec_relay_end(struct exec_relay *relay)
{
	if (!relay->pid)
		return;
	/* a byte, as the keeper has the other end, too */
	(void)!ws_write_fd(&relay->control, "q", 1);
	close(relay->control);
	while (waitpid(relay->pid, NULL, 0) < 0 && errno == EINTR)
		;
	relay->pid = 0;
}
