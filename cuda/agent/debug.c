/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A debugger of the program. The driver announces it; it comes by a socket whose name is made of
 * its process and session, as it has introduced itself, and is served the debugger API over the
 * device, by a thread of its own. From then on the device belongs to a target (sim_target.h), and
 * the program's requests take it from there.
 */
#define _GNU_SOURCE /* pipe2, POLLRDHUP */
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <warpscope/cudbg.h>
#include <warpscope/meeting.h>
#include <warpscope/provider.h>
#include <warpscope/sim_target.h>

enum {
	MOST_WAIT = 10, /* seconds for a debugger that was announced */
	/* cuda-gdb ends its session when it sees that the program is over, and takes a pipe that
	 * nobody reads any more for a crash */
	FAREWELL_MS = 3000,
};

struct agent_session {
	struct ws_target *target;
	CUDBGAPI api;
	struct wire_debug debug;
	pthread_t thread;
	int listener;
	int done[2]; /* the thread writes when the client has gone */
	int stop[2]; /* ends a thread that waits at pipes */
	_Atomic int client;
	_Atomic bool ends; /* no client is served any more */
	bool has_answer;   /* the driver has had its reply */
	uint8_t number;
	time_t since;
	struct ws_sim **gone; /* owned, and they are: devices before resets */
	size_t n_gone;
};

static time_t agent_now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

/* ---- the client ---- */

/* cuda-gdb is where it made its pipes: below the folder for temporary files, which is the same for
 * its program and for us. */
static void serve_pipes(const struct agent_session *session, const struct ws_provider *provider)
{
	const char *temporary = getenv("TMPDIR");
	char folder[4096];
	const struct ws_rpc_client client = {
		.folder = folder,
		.tid = session->debug.tid,
		.waits = session->debug.waits,
		.stop = session->stop[0],
		.program = session->debug.waits ? -1 : WIRE_RUNS,
		.word = session->number,
	};
	struct ws_error err;
	if (snprintf(folder, sizeof folder, "%s/cuda-dbg/%u/session%u",
		     temporary && *temporary ? temporary : "/tmp", session->debug.client,
		     session->debug.session) >= (int)sizeof folder)
		return;
	(void)!ws_cudbg_serve_rpc(provider, &client, &err);
}

static void *serve_debuggers(void *data)
{
	struct agent_session *session = data;
	const struct ws_provider provider = {
		.api = session->api,
		.major = UINT32_MAX,
		.minor = UINT32_MAX,
	};
	struct ws_error err;
	int fd;
	if (session->debug.is_rpc) {
		serve_pipes(session, &provider);
	} else if (ws_cudbg_accept(session->listener, session->debug.client, &fd, &err) == WS_OK) {
		atomic_store(&session->client, fd);
		if (atomic_load(&session->ends))
			shutdown(fd, SHUT_RD);
		(void)!ws_cudbg_serve(&provider, fd, &err); /* however it ended */
		shutdown(fd, SHUT_RDWR);
	}
	(void)!write(session->done[1], "", 1);
	return NULL;
}

/* ---- beginning and end ---- */

/* What a session has, but the thread. */
static void session_free(struct agent_session *session)
{
	const int fds[] = { session->listener, session->done[0], session->done[1],
			    session->stop[0],  session->stop[1], session->client };
	ws_cudbg_release(session->api);
	ws_target_close(session->target);
	for (size_t i = 0; i < session->n_gone; i++)
		ws_sim_destroy(session->gone[i]);
	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(session->gone);
	free(session);
}

/* A device under a debugger: it runs at once if the program is only beginning. */
static CUDBGResult make_target(struct agent *agent, struct agent_session *session)
{
	const struct wire_debug *debug = &session->debug;
	struct ws_error err;
	cudbgDebuggerCapabilities = debug->capabilities;
	cudbgEnableLaunchBlocking = debug->is_blocking;
	enum ws_status st = ws_sim_target_live(agent->sim, &session->target, &err);
	if (st == WS_OK && debug->contexts == 0) /* so there is nothing to be told of */
		st = ws_sim_host_context(session->target, false, 0, &err);
	else if (st == WS_OK && !debug->waits)
		st = ws_sim_host_attached(session->target, &err);
	if (st == WS_OK && debug->waits)
		st = ws_target_resume(session->target, WS_NONE, &err);
	if (st == WS_OK)
		st = ws_cudbg_api(session->target, &session->api, &err);
	if (st == WS_OK)
		return CUDBG_SUCCESS;
	agent_say("no debugger can be served: %s", err.message);
	return CUDBG_ERROR_OS_RESOURCES;
}

static CUDBGResult debugging_begin(struct agent *agent, const struct wire_debug *debug)
{
	struct agent_session *session = calloc(1, sizeof *session);
	struct ws_error err;
	if (!session)
		return CUDBG_ERROR_OS_RESOURCES;
	session->debug = *debug;
	session->number = agent->n_sessions;
	session->since = agent_now();
	session->listener = -1;
	session->client = -1;
	session->done[0] = session->done[1] = session->stop[0] = session->stop[1] = -1;
	CUDBGResult result = make_target(agent, session);
	if (result == CUDBG_SUCCESS &&
	    (pipe2(session->done, O_CLOEXEC) != 0 || pipe2(session->stop, O_CLOEXEC) != 0))
		result = CUDBG_ERROR_OS_RESOURCES;
	if (result == CUDBG_SUCCESS && !debug->is_rpc &&
	    ws_cudbg_listen(debug->client, debug->session, &session->listener, &err) != WS_OK)
		result = CUDBG_ERROR_OS_RESOURCES;
	if (result == CUDBG_SUCCESS &&
	    pthread_create(&session->thread, NULL, serve_debuggers, session) != 0)
		result = CUDBG_ERROR_OS_RESOURCES;
	if (result != CUDBG_SUCCESS)
		session_free(session);
	else
		agent->session = session;
	return result;
}

/* Whether the client has gone, or goes. */
static bool is_done_within(const struct agent_session *session, int ms)
{
	struct pollfd polled = { session->done[0], POLLIN, 0 };
	return poll(&polled, 1, ms) > 0;
}

static bool is_done(const struct agent_session *session)
{
	return is_done_within(session, 0);
}

static bool is_client_gone(const struct agent_session *session)
{
	return kill((pid_t)session->debug.client, 0) != 0 && errno == ESRCH;
}

/* Whether the client has ended, or has closed its socket. */
static bool is_left(const struct agent_session *session)
{
	struct pollfd polled = { atomic_load(&session->client), POLLRDHUP, 0 };
	return is_client_gone(session) || poll(&polled, 1, 0) > 0;
}

static bool tell_driver(const struct agent *agent, CUDBGResult result)
{
	const struct wire_debugged reply = { .result = (int32_t)result,
					     .session = agent->n_sessions };
	return wire_send(WIRE_DEBUG, &reply, sizeof reply, NULL, 0, -1);
}

bool session_begin(struct agent *agent)
{
	struct wire_debug debug;
	CUDBGResult result = CUDBG_ERROR_ATTACH_NOT_POSSIBLE;
	if (!wire_receive(WIRE_DEBUG, &debug, sizeof debug, NULL))
		return false;
	/* what is left of a session whose client has left does not keep the next one out */
	if (agent->session &&
	    is_done_within(agent->session, is_left(agent->session) ? FAREWELL_MS : 0))
		session_end(agent);
	if (!agent->session) {
		agent->n_sessions = (uint8_t)(agent->n_sessions % UINT8_MAX + 1); /* never 0 */
		result = debugging_begin(agent, &debug);
	}
	if (result == CUDBG_SUCCESS && debug.waits)
		return true; /* answered when it listens */
	if (result == CUDBG_SUCCESS)
		agent->session->has_answer = true;
	return tell_driver(agent, result);
}

void session_end(struct agent *agent)
{
	struct agent_session *session = agent->session;
	if (!session)
		return;
	if (session->debug.is_rpc && session->has_answer)
		(void)is_done_within(session, FAREWELL_MS);
	(void)!write(session->stop[1], "", 1);
	shutdown(session->listener, SHUT_RDWR);
	atomic_store(&session->ends, true);
	int client = atomic_load(&session->client);
	if (client >= 0)
		shutdown(client, SHUT_RD); /* it is to have its reply yet, and a goodbye */
	pthread_join(session->thread, NULL);
	if (agent->is_running)
		(void)session_is_done(agent, &agent->left);
	if (!session->has_answer)
		(void)tell_driver(agent, CUDBG_ERROR_ATTACH_NOT_POSSIBLE);
	session_free(session);
	agent->session = NULL;
	(void)!write(WIRE_GONE, &agent->n_sessions, 1);
}

void session_step(struct agent *agent)
{
	struct agent_session *session = agent->session;
	if (!session)
		return;
	if (!session->has_answer && ws_sim_host_watched(session->target)) {
		session->has_answer = true;
		(void)tell_driver(agent, CUDBG_SUCCESS);
	}
	bool is_late = !session->has_answer &&
		       (agent_now() - session->since > MOST_WAIT || is_client_gone(session));
	if (is_late || is_done(session))
		session_end(agent);
}

/* ---- what kernels printed ---- */

/* A pipe that is ready takes so much at once: a reader that does not read holds nobody up. */
size_t session_print(void *unused, const uint8_t *text, size_t len)
{
	struct pollfd polled = { STDOUT_FILENO, POLLOUT, 0 };
	size_t done = 0;
	(void)unused;
	while (done < len && poll(&polled, 1, 0) > 0 && polled.revents & POLLOUT) {
		ssize_t n = write(STDOUT_FILENO, text + done,
				  len - done < PIPE_BUF ? len - done : PIPE_BUF);
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

/* ---- what the loop asks ---- */

int session_fd(const struct agent *agent)
{
	return agent->session ? agent->session->done[0] : -1;
}

bool session_is_urgent(const struct agent *agent)
{
	return agent->session && !agent->session->has_answer;
}

bool session_take(struct agent *agent)
{
	return !agent->session || ws_sim_host_try(agent->session->target);
}

void session_give(struct agent *agent, uint64_t *ret_event)
{
	struct ws_error err;
	if (agent->session)
		(void)!ws_sim_host_end(agent->session->target, false, ret_event, &err);
}

bool session_holds(const struct agent *agent, uint64_t event)
{
	return agent->session && ws_sim_host_held(agent->session->target, event);
}

bool session_is_done(struct agent *agent, enum ws_cuda_result *ret_failure)
{
	enum ws_sim_outcome outcome;
	struct ws_sim_fault fault;
	if (!ws_sim_host_done(agent->session->target, &outcome, &fault))
		return false;
	*ret_failure = outcome == WS_SIM_FAULTED ? agent_fault(&fault) : WS_CUDA_SUCCESS;
	return true;
}

enum ws_cuda_result session_context(struct agent *agent, const struct exchange *x)
{
	struct wire_context context;
	struct ws_error err;
	enum ws_status st = WS_OK;
	if (x->request->n_bytes != sizeof context)
		return WS_CUDA_ERROR_INVALID_VALUE;
	memcpy(&context, x->bytes, sizeof context);
	if (!agent->session)
		return WS_CUDA_SUCCESS;
	if (context.change == WIRE_CREATED || context.change == WIRE_DESTROYED)
		st = ws_sim_host_context(agent->session->target, context.change == WIRE_CREATED,
					 context.host_tid, &err);
	else
		st = ws_sim_host_switched(agent->session->target, context.change == WIRE_PUSHED,
					  context.host_tid, &err);
	return st == WS_OK ? WS_CUDA_SUCCESS : WS_CUDA_ERROR_OUT_OF_MEMORY;
}

enum ws_cuda_result session_replace(struct agent *agent, struct ws_sim *fresh)
{
	struct agent_session *session = agent->session;
	struct ws_error err;
	struct ws_sim **grown =
		realloc(session->gone, (session->n_gone + 1) * sizeof(struct ws_sim *));
	if (!grown)
		return WS_CUDA_ERROR_OUT_OF_MEMORY;
	session->gone = grown;
	if (ws_sim_host_replace(session->target, fresh, &err) != WS_OK)
		return WS_CUDA_ERROR_OUT_OF_MEMORY;
	session->gone[session->n_gone++] = agent->sim;
	return WS_CUDA_SUCCESS;
}
