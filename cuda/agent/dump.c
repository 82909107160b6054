/* SPDX-License-Identifier: Apache-2.0 */
/* Core dumps: after a fault, and when somebody writes to the pipe. */
#define _GNU_SOURCE /* prlimit */
#include "agent.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <warpscope/sim_target.h>
#include <warpscope/write.h>

enum { MOST_PATH = 4096, STILL_MS = 50, MOST_DRAINS = 1024, MOST_CALL_MS = 5000 };

/* What CUDA_COREDUMP_SHOW_PROGRESS=1 asks for. */
static void progress(const char *what, const char *path)
{
	const char *on = getenv("CUDA_COREDUMP_SHOW_PROGRESS");
	struct timespec now;
	struct tm tm;
	if (!on || strcmp(on, "1") != 0)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	agent_say("[%02d:%02d:%02d.%06ld] coredump: %s%s", tm.tm_hour, tm.tm_min, tm.tm_sec,
		  now.tv_nsec / 1000, what, path);
}

static bool dump(struct agent *agent, const char *path, uint32_t flags)
{
	const struct ws_write_options options = { .size = sizeof options,
						  .flags = flags & WS_WRITE_KNOWN_FLAGS };
	struct ws_target *target;
	struct ws_error err;
	progress("Writing ELF file to ", path);
	enum ws_status st = ws_sim_target(agent->sim, &target, &err);
	if (st == WS_OK) {
		st = ws_write_target(target, path, &options, &err);
		ws_target_close(target);
	}
	if (st != WS_OK)
		return agent_say("the dump %s could not be made: %s", path, err.message);
	progress("All done", "");
	return true;
}

enum ws_cuda_result agent_dump(struct agent *agent, const struct exchange *x)
{
	char path[MOST_PATH];
	size_t n = x->request->n_bytes;
	if (n == 0 || n >= sizeof path)
		return WS_CUDA_ERROR_INVALID_VALUE;
	memcpy(path, x->bytes, n);
	path[n] = '\0';
	return dump(agent, path, (uint32_t)x->request->word[0]) ? WS_CUDA_SUCCESS
								: WS_CUDA_ERROR_OPERATING_SYSTEM;
}

enum ws_cuda_result agent_set_trigger(struct agent *agent, struct exchange *x)
{
	size_t n = x->request->n_bytes;
	if (n >= sizeof agent->trigger.file)
		return WS_CUDA_ERROR_INVALID_VALUE;
	if (agent->trigger.pipe < 0) {
		agent->trigger.pipe = x->fd;
		x->fd = -1;
	}
	agent->trigger.flags = (uint32_t)x->request->word[0];
	agent->trigger.has_host_dump = x->request->word[1] != 0;
	agent->trigger.has_functions = x->request->word[2] != 0;
	memset(agent->trigger.file, 0, sizeof agent->trigger.file);
	if (n > 0)
		memcpy(agent->trigger.file, x->bytes, n);
	return WS_CUDA_SUCCESS;
}

/* Takes all that is written: one request may be many bytes. */
static void drain_pipe(int pipe)
{
	char bytes[1 << 12];
	struct pollfd more = { pipe, POLLIN, 0 };
	for (unsigned i = 0; i < MOST_DRAINS && poll(&more, 1, STILL_MS) > 0; i++)
		if (read(pipe, bytes, sizeof bytes) <= 0)
			return;
}

/* Has the program call its functions. It may stand, or they may not end: then it is dumped all the
 * same. */
static bool tell_program(const struct agent *agent, uint8_t is_made)
{
	struct pollfd answered = { WIRE_DUMPS, POLLIN, 0 };
	uint8_t byte;
	while (recv(WIRE_DUMPS, &byte, 1, MSG_DONTWAIT) == 1) /* too late, the last time */
		continue;
	return agent->trigger.has_functions && send(WIRE_DUMPS, &is_made, 1, MSG_NOSIGNAL) == 1 &&
	       poll(&answered, 1, MOST_CALL_MS) == 1 && read(WIRE_DUMPS, &byte, 1) == 1;
}

void agent_triggered(struct agent *agent)
{
	static const struct rlimit none;
	char path[MOST_PATH];
	drain_pipe(agent->trigger.pipe);
	if (!ws_write_name(agent->trigger.file, agent->process, path, sizeof path)) {
		agent_say("the name of the dump is too long: %s", agent->trigger.file);
		return;
	}
	const bool is_told = tell_program(agent, false);
	if (!dump(agent, path, agent->trigger.flags))
		return;
	if (is_told)
		(void)tell_program(agent, true);
	if (agent->trigger.flags & WS_WRITE_SKIP_ABORT)
		return;
	agent_say("the program is aborted, as the dump is written");
	if (!agent->trigger.has_host_dump)
		(void)prlimit(agent->process, RLIMIT_CORE, &none, NULL);
	(void)kill(agent->process, SIGABRT);
}
