/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the agent, and speaking with it. */
#define _GNU_SOURCE /* dladdr, pipe2 */
#include "driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <warpscope/cudadebugger.h>

enum { AGENT_ENDS = WIRE_GONE - WIRE_CALLS + 1 };

static int calls = -1, work = -1;
static pthread_mutex_t calls_lock = PTHREAD_MUTEX_INITIALIZER;

/* The agent lies beside this library. False: the path is too long. */
static bool agent_path(char *ret_path, size_t size)
{
	static const char name[] = "warpscope-agent";
	Dl_info self;
	if (!dladdr((void *)(uintptr_t)&driver, &self))
		return false;
	const char *slash = strrchr(self.dli_fname, '/');
	size_t n = slash ? (size_t)(slash + 1 - self.dli_fname) : 0;
	if (n + sizeof name > size)
		return false;
	memcpy(ret_path, self.dli_fname, n);
	memcpy(ret_path + n, name, sizeof name);
	return true;
}

/* In a child of a process that may have threads: async-signal-safe calls only. */
static _Noreturn void become_agent(const char *path, const char *device, const int ends[AGENT_ENDS])
{
	int high[AGENT_ENDS];
	/* not the program's child, nor of its session: the program may wait for any child, and what
	 * ends it from a terminal must not end the agent before a dump is made */
	pid_t pid = setsid() < 0 ? -1 : fork();
	if (pid != 0)
		_exit(pid < 0);
	for (int i = 0; i < AGENT_ENDS; i++)
		high[i] = fcntl(ends[i], F_DUPFD, 10); /* out of the way of the new ones */
	for (int i = 0; i < AGENT_ENDS; i++)
		if (high[i] < 0 || dup2(high[i], WIRE_CALLS + i) < 0)
			_exit(1);
	(void)syscall(SYS_close_range, WIRE_GONE + 1, ~0u, 0); /* pipes that the program closes */
	execl(path, "warpscope-agent", device, (char *)NULL);
	_exit(1);
}

static bool start_agent(const int ends[AGENT_ENDS])
{
	char path[4096];
	const char *device = getenv("WARPSCOPE_SOFTWARE_GPU");
	if (!agent_path(path, sizeof path))
		return false;
	pid_t child = fork();
	if (child == 0)
		become_agent(path, device && *device ? device : "sm_90a", ends);
	int status = 0;
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	return child > 0 && (!WIFEXITED(status) || WEXITSTATUS(status) == 0);
}

bool driver_connect(void)
{
	int ours[AGENT_ENDS], theirs[AGENT_ENDS], n_ends = 0;
	bool ok = true;
	while (ok && n_ends < AGENT_ENDS) {
		int pair[2];
		ok = n_ends < WIRE_GONE - WIRE_CALLS
			     ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0
			     : pipe2(pair, O_CLOEXEC) == 0;
		if (ok) {
			ours[n_ends] = pair[0];
			theirs[n_ends++] = pair[1];
		}
	}
	if (!ok)
		driver_report_internal(CUDBG_ERROR_OS_RESOURCES);
	if (ok && !start_agent(theirs)) {
		ok = false;
		driver_report_internal(CUDBG_ERROR_FORK_FAILED);
	}
	for (int i = 0; i < n_ends; i++)
		close(theirs[i]);
	for (int i = 0; !ok && i < n_ends; i++)
		close(ours[i]);
	if (!ok)
		return false;
	calls = ours[0];
	work = ours[1];
	debug_connected(&ours[2]);
	uint64_t word[WIRE_WORDS] = { WIRE_VERSION, (uint64_t)getpid() };
	void *more = NULL;
	size_t n = 0;
	CUresult result = driver_call(WIRE_HELLO, word, NULL, 0, -1, &more, &n);
	if (result == CUDA_ERROR_NO_DEVICE)
		driver_report_internal((uint32_t)word[0]);
	ok = result == CUDA_SUCCESS && n == sizeof driver.device;
	if (ok)
		memcpy(&driver.device, more, sizeof driver.device);
	free(more);
	return ok;
}

/* The agent is gone: nothing works from now on. */
static CUresult lost(void)
{
	if (atomic_exchange(&driver.failure, CUDA_ERROR_DEVICE_UNAVAILABLE) !=
	    CUDA_ERROR_DEVICE_UNAVAILABLE)
		driver_report_internal(CUDBG_ERROR_COMMUNICATION_FAILURE);
	return CUDA_ERROR_DEVICE_UNAVAILABLE;
}

static bool ask_agent(int socket, enum wire_op op, const uint64_t word[WIRE_WORDS],
		      const void *bytes, size_t n_bytes, int fd)
{
	struct wire_request request = { .op = op, .n_bytes = (uint32_t)n_bytes };
	memcpy(request.word, word, sizeof request.word);
	return wire_send(socket, &request, sizeof request, bytes, n_bytes, fd);
}

CUresult driver_call(enum wire_op op, uint64_t word[WIRE_WORDS], const void *bytes, size_t n_bytes,
		     int fd, void **ret_more, size_t *ret_n_more)
{
	struct wire_reply reply;
	void *more = NULL;
	pthread_mutex_lock(&calls_lock);
	bool ok = ask_agent(calls, op, word, bytes, n_bytes, fd) &&
		  wire_receive(calls, &reply, sizeof reply, NULL);
	if (ok && reply.result == CUDA_SUCCESS && reply.n_bytes > 0) {
		more = malloc(reply.n_bytes);
		ok = more && wire_receive(calls, more, reply.n_bytes, NULL);
	}
	pthread_mutex_unlock(&calls_lock);
	if (ok)
		memcpy(word, reply.word, sizeof reply.word);
	if (ok && ret_more) {
		*ret_more = more;
		*ret_n_more = reply.n_bytes;
	} else {
		free(more);
	}
	return ok ? (CUresult)reply.result : lost();
}

bool driver_work_send(enum wire_op op, const uint64_t word[WIRE_WORDS], const void *bytes,
		      size_t n_bytes)
{
	return ask_agent(work, op, word, bytes, n_bytes, -1);
}

CUresult driver_work_end(uint64_t ret_word[WIRE_WORDS], void *ret_bytes, size_t n_ret)
{
	struct wire_reply reply;
	if (!wire_receive(work, &reply, sizeof reply, NULL))
		return lost();
	memcpy(ret_word, reply.word, sizeof reply.word);
	for (size_t left = reply.n_bytes; left > 0;) { /* printed: to where the program prints */
		char text[4096];
		size_t n = ret_bytes ? left : left < sizeof text ? left : sizeof text;
		if (ret_bytes && left != n_ret)
			return lost();
		if (!wire_receive(work, ret_bytes ? ret_bytes : text, n, NULL))
			return lost();
		if (!ret_bytes)
			driver_print(text, n);
		left -= n;
	}
	return (CUresult)reply.result;
}

CUresult driver_work(enum wire_op op, uint64_t word[WIRE_WORDS], const void *bytes, size_t n_bytes,
		     void *ret_bytes, size_t n_ret)
{
	if (!driver_work_send(op, word, bytes, n_bytes))
		return lost();
	return driver_work_end(word, ret_bytes, n_ret);
}
