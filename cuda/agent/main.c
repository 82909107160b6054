/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpscope-agent: the process that has the software GPU of one program. The driver in the program
 * starts it and speaks with it through sockets (driver/wire.h); it ends when the program does.
 *
 * Not in the program's own process, so that a debugger that stops the program does not stop the
 * device, and so that the program cannot harm it.
 */
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <warpscope/cubin.h>
#include <warpscope/cudadebugger.h>
#include <warpscope/out.h>

enum { SLICE = 1 << 16 /* instructions, between two looks at the sockets */ };

/* ---- words for the user ---- */

bool agent_say(const char *format, ...)
{
	int fd = STDERR_FILENO;
	struct ws_out out;
	va_list args;
	va_start(args, format);
	ws_out_init(&out, ws_write_fd, &fd);
	ws_out_text(&out, "warpscope: software GPU: ");
	ws_out_vprintf(&out, format, args);
	ws_out_text(&out, "\n");
	(void)!ws_out_flush(&out, NULL);
	va_end(args);
	return false;
}

enum ws_cuda_result agent_result(const struct ws_error *err)
{
	if (err->cuda_result != 0)
		return (enum ws_cuda_result)err->cuda_result;
	if (err->status == WS_UNSUPPORTED)
		return WS_CUDA_ERROR_NO_BINARY_FOR_GPU;
	if (err->status == WS_NO_MEMORY || err->status == WS_LIMIT)
		return WS_CUDA_ERROR_OUT_OF_MEMORY;
	if (err->status == WS_MALFORMED || err->status == WS_TRUNCATED)
		return WS_CUDA_ERROR_INVALID_IMAGE;
	return err->status == WS_ABSENT ? WS_CUDA_ERROR_NOT_FOUND : WS_CUDA_ERROR_INVALID_VALUE;
}

/* ---- requests ---- */

static enum ws_cuda_result hello(struct agent *agent, struct exchange *x)
{
	struct wire_device *device = calloc(1, sizeof *device);
	x->more = (uint8_t *)device;
	if (x->request->word[0] != WIRE_VERSION)
		return WS_CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
	if (!device)
		return WS_CUDA_ERROR_OUT_OF_MEMORY;
	agent->process = (int)x->request->word[1];
	ws_sim_limits(agent->sim, &device->limits);
	device->is_lazy = agent->options.lazy;
	static const char name[] = "Warpscope software GPU ";
	size_t len = strnlen(agent->options.device, 16);
	memcpy(device->name, name, sizeof name);
	memcpy(device->name + sizeof name - 1, agent->options.device, len);
	x->reply.n_bytes = sizeof *device;
	return WS_CUDA_SUCCESS;
}

static enum ws_cuda_result reset_agent(struct agent *agent)
{
	struct ws_sim *fresh;
	struct ws_error err;
	enum ws_cuda_result result = WS_CUDA_SUCCESS;
	if (ws_sim_create(&agent->options, &fresh, &err) != WS_OK)
		return agent_result(&err);
	if (agent->session)
		result = session_replace(agent, fresh);
	else
		ws_sim_destroy(agent->sim);
	if (result != WS_CUDA_SUCCESS) {
		ws_sim_destroy(fresh);
		return result;
	}
	agent_modules_fini(agent);
	agent_shared_fini(agent);
	agent_managed_reset(agent);
	agent->sim = fresh;
	agent->has_failed = false;
	return WS_CUDA_SUCCESS;
}

static enum ws_cuda_result symbol(struct agent *agent, struct exchange *x)
{
	struct ws_error err;
	char *name = calloc(1, (size_t)x->request->n_bytes + 1);
	if (!name)
		return WS_CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(name, x->bytes, x->request->n_bytes);
	enum ws_status st = x->request->word[0] < agent->modules.n
				    ? ws_sim_symbol(agent->sim, (uint32_t)x->request->word[0], name,
						    &x->reply.word[0], &x->reply.word[1], &err)
				    : WS_ABSENT;
	free(name);
	return st == WS_OK ? WS_CUDA_SUCCESS : WS_CUDA_ERROR_NOT_FOUND;
}

static enum ws_cuda_result tensor_map(struct exchange *x)
{
	struct ws_sim_tensor tensor;
	struct ws_error err;
	x->more = malloc(WS_SIM_TENSOR_MAP_BYTES);
	if (!x->more)
		return WS_CUDA_ERROR_OUT_OF_MEMORY;
	if (x->request->n_bytes != sizeof tensor)
		return WS_CUDA_ERROR_INVALID_VALUE;
	memcpy(&tensor, x->bytes, sizeof tensor);
	if (ws_sim_tensor_map(&tensor, x->more, &err) != WS_OK)
		return agent_result(&err);
	x->reply.n_bytes = WS_SIM_TENSOR_MAP_BYTES;
	return WS_CUDA_SUCCESS;
}

static enum ws_cuda_result texture(struct agent *agent, struct exchange *x)
{
	struct ws_sim_texture texture;
	struct ws_error err;
	if (x->request->n_bytes != sizeof texture)
		return WS_CUDA_ERROR_INVALID_VALUE;
	memcpy(&texture, x->bytes, sizeof texture);
	uint64_t *ret_handle = &x->reply.word[0];
	enum ws_status st = x->request->word[0]
				    ? ws_sim_surface(agent->sim, &texture.image, ret_handle, &err)
				    : ws_sim_texture(agent->sim, &texture, ret_handle, &err);
	return st == WS_OK ? WS_CUDA_SUCCESS : agent_result(&err);
}

static enum ws_cuda_result log_line(struct agent *agent, const struct exchange *x)
{
	char line[256];
	struct ws_error err;
	if (x->request->n_bytes >= sizeof line)
		return WS_CUDA_ERROR_INVALID_VALUE;
	memcpy(line, x->bytes, x->request->n_bytes);
	line[x->request->n_bytes] = '\0';
	const uint32_t host_tid = (uint32_t)x->request->word[0];
	return ws_sim_log(agent->sim, WS_SIM_LOG_ERROR, host_tid, line, &err) == WS_OK
		       ? WS_CUDA_SUCCESS
		       : WS_CUDA_ERROR_OUT_OF_MEMORY;
}

static enum ws_cuda_result serve_exchange(struct agent *agent, struct exchange *x)
{
	const uint64_t *word = x->request->word;
	struct ws_error err;
	if (agent->has_failed && x->request->op != WIRE_RESET && x->request->op != WIRE_HELLO &&
	    x->request->op != WIRE_DUMP && x->request->op != WIRE_TRIGGER &&
	    x->request->op != WIRE_CONTEXT && x->request->op != WIRE_WANTED &&
	    x->request->op != WIRE_LOG)
		return agent->failure;
	switch ((enum wire_op)x->request->op) {
	case WIRE_HELLO:
		return hello(agent, x);
	case WIRE_RESET:
		return agent->is_running ? WS_CUDA_ERROR_ILLEGAL_STATE : reset_agent(agent);
	case WIRE_LOAD:
		return agent_load(agent, x);
	case WIRE_KERNEL:
		return agent_kernel(agent, x);
	case WIRE_FUNCTION:
		return agent_function(agent, x);
	case WIRE_SYMBOL:
		return symbol(agent, x);
	case WIRE_ALLOC:
		return ws_sim_alloc(agent->sim, word[0], &x->reply.word[0], &err) == WS_OK
			       ? WS_CUDA_SUCCESS
			       : agent_result(&err);
	case WIRE_FREE:
		return agent_free(agent, word[0]);
	case WIRE_SHARE:
		return agent_share(agent, x);
	case WIRE_MANAGED:
		return agent_set_managed(agent, x);
	case WIRE_WRITE:
		return agent_write(agent, x);
	case WIRE_READ:
		return agent_read(agent, x);
	case WIRE_COPY:
		return agent_copy(agent, x);
	case WIRE_FILL:
		return agent_fill(agent, x);
	case WIRE_LAUNCH:
		return agent_launch(agent, x);
	case WIRE_TENSOR_MAP:
		return tensor_map(x);
	case WIRE_TEXTURE:
		return texture(agent, x);
	case WIRE_DUMP:
		return agent_dump(agent, x);
	case WIRE_TRIGGER:
		return agent_set_trigger(agent, x);
	case WIRE_CONTEXT:
		return session_context(agent, x);
	case WIRE_WANTED:
		__atomic_store_n(&cudbgDebuggerCapabilities, (uint32_t)word[0], __ATOMIC_RELAXED);
		return WS_CUDA_SUCCESS;
	case WIRE_LOG:
		return log_line(agent, x);
	case WIRE_N_OPS:
		break;
	}
	return WS_CUDA_ERROR_NOT_SUPPORTED;
}

/* ---- a socket ---- */

/*
 * What a socket is amid. Without a debugger a request is received, served and answered at once, but
 * a launch. A debugger may keep the device (ASKED), or have the program wait (HELD).
 */
enum stage {
	IDLE,
	ASKED,   /* a request was received */
	HELD,    /* the reply waits until the debugger has acknowledged an event */
	RUNNING, /* a launch */
	ENDED,   /* it is over, but what was printed is still to be taken */
};

struct channel {
	struct agent *agent;
	int socket;
	enum stage stage;
	struct wire_request request;
	struct exchange x;
	uint8_t *bytes; /* owned; of the request */
	uint64_t event;
};

static void forget_launches(struct channel *channel)
{
	if (channel->x.fd >= 0)
		close(channel->x.fd);
	free(channel->x.more);
	free(channel->bytes);
	channel->bytes = channel->x.more = NULL;
	channel->x.fd = -1;
	channel->stage = IDLE;
}

/* False: the program is gone. */
static bool agent_receive(struct channel *channel)
{
	struct wire_request *request = &channel->request;
	channel->x = (struct exchange){ .request = request, .fd = -1 };
	if (!wire_receive(channel->socket, request, sizeof *request, &channel->x.fd))
		return false;
	bool ok = request->n_bytes <= WIRE_IMAGE && request->op < WIRE_N_OPS;
	if (ok && request->n_bytes > 0)
		channel->bytes = malloc(request->n_bytes);
	ok = ok && (request->n_bytes == 0 || channel->bytes) &&
	     wire_receive(channel->socket, channel->bytes, request->n_bytes, NULL);
	channel->x.bytes = channel->bytes;
	channel->stage = ASKED;
	return ok;
}

static bool reply(struct channel *channel)
{
	const struct wire_reply *made = &channel->x.reply;
	bool ok = wire_send(channel->socket, made, sizeof *made, channel->x.more,
			    made->result == WS_CUDA_SUCCESS ? made->n_bytes : 0, -1);
	forget_launches(channel);
	return ok;
}

/* Serves what was asked, unless the device stands for a debugger; a launch is answered later. */
static bool serve_request(struct channel *channel)
{
	struct agent *agent = channel->agent;
	if (!session_take(agent))
		return true;
	channel->x.reply.result = (int32_t)serve_exchange(agent, &channel->x);
	session_give(agent, &channel->event);
	bool launches = channel->request.op == WIRE_LAUNCH;
	channel->stage = HELD;
	if (launches && channel->x.reply.result == WS_CUDA_SUCCESS) {
		agent->is_running = true;
		channel->stage = RUNNING;
	}
	return channel->stage == RUNNING || session_holds(agent, channel->event) || reply(channel);
}

/* ---- running ---- */

/* Answers a launch. */
static bool finish_launch(struct channel *channel)
{
	struct agent *agent = channel->agent;
	if (!session_take(agent))
		return true;
	struct ws_span printed = ws_sim_printed(agent->sim);
	const struct wire_reply made = {
		.result = (int32_t)(agent->has_failed ? agent->failure : WS_CUDA_SUCCESS),
		.n_bytes = (uint32_t)printed.len,
		.word = { (agent->has_failed ? WIRE_FAULT : 0) |
			  (agent->has_failed && agent->was_told ? WIRE_TOLD : 0) },
	};
	uint8_t *copy =
		malloc(printed.len + 1); /* the debugger may have the device while it is sent */
	if (copy && printed.len > 0)
		memcpy(copy, printed.ptr, printed.len);
	ws_sim_clear_printed(agent->sim);
	session_give(agent, NULL);
	bool ok = copy && wire_send(channel->socket, &made, sizeof made, copy, made.n_bytes, -1);
	free(copy);
	forget_launches(channel);
	return ok;
}

static void launch_ended(struct channel *channel, enum ws_cuda_result failure, bool was_told)
{
	struct agent *agent = channel->agent;
	agent->is_running = false;
	agent->has_failed = failure != WS_CUDA_SUCCESS;
	agent->failure = failure;
	agent->was_told = was_told;
	channel->stage = ENDED;
}

/* Executes a slice of what was launched. */
static void run_launch_slice(struct channel *channel)
{
	struct agent *agent = channel->agent;
	enum ws_sim_outcome outcome;
	struct ws_sim_fault fault;
	struct ws_error err;
	agent->is_stuck = false;
	if (agent->left != WS_CUDA_SUCCESS) {
		launch_ended(channel, agent->left, true);
		agent->left = WS_CUDA_SUCCESS;
		return;
	}
	if (ws_sim_run(agent->sim, SLICE, &outcome, &err) != WS_OK) {
		launch_ended(channel, agent_result(&err), false);
		return;
	}
	agent->is_stuck = outcome == WS_SIM_STUCK;
	if (outcome == WS_SIM_DONE)
		launch_ended(channel, WS_CUDA_SUCCESS, false);
	else if (outcome == WS_SIM_FAULTED && ws_sim_fault(agent->sim, &fault))
		launch_ended(channel, agent_fault(&fault), false);
}

/* ---- the loop ---- */

/* Goes on with what a socket is amid. False: the program is gone. */
static bool step_channel(struct channel *channel)
{
	struct agent *agent = channel->agent;
	enum ws_cuda_result failure;
	bool ok = true;
	if (channel->stage == ASKED)
		ok = serve_request(channel);
	else if (channel->stage == HELD && !session_holds(agent, channel->event))
		ok = reply(channel);
	if (channel->stage == RUNNING && !agent->session)
		run_launch_slice(channel);
	else if (channel->stage == RUNNING && session_is_done(agent, &failure))
		launch_ended(channel, failure, true);
	if (channel->stage == ENDED)
		ok = finish_launch(channel);
	return ok;
}

/* How long nothing may happen without a look, in ms; -1: for ever. */
static int patience(const struct agent *agent, const struct channel *calls,
		    const struct channel *work)
{
	if (!agent->session)
		return work->stage == IDLE ? -1 : agent->is_stuck ? 1 : 0;
	return calls->stage != IDLE || work->stage != IDLE || session_is_urgent(agent) ? 1 : -1;
}

/* The other end is closed, and nothing is left to read. */
static bool is_gone(const struct pollfd *polled)
{
	return (polled->revents & (POLLHUP | POLLERR)) && !(polled->revents & POLLIN);
}

static void loop(struct agent *agent)
{
	struct channel calls = { .agent = agent, .socket = WIRE_CALLS, .x.fd = -1 };
	struct channel work = { .agent = agent, .socket = WIRE_WORK, .x.fd = -1 };
	bool ok = true;
	while (ok) {
		struct pollfd polled[] = {
			{ calls.socket, calls.stage == IDLE ? POLLIN : 0, 0 },
			{ work.socket, work.stage == IDLE ? POLLIN : 0, 0 },
			{ WIRE_DEBUG, POLLIN, 0 },
			{ agent->trigger.pipe, POLLIN, 0 },
			{ session_fd(agent), POLLIN, 0 },
		};
		/* memory that the program shares may yet change */
		int n = poll(polled, sizeof polled / sizeof polled[0],
			     patience(agent, &calls, &work));
		if (n < 0 && errno != EINTR)
			break;
		bool any = n > 0;
		if (any && (is_gone(&polled[0]) || is_gone(&polled[1])))
			break;
		if (any && polled[3].revents && session_take(agent)) {
			agent_triggered(agent);
			session_give(agent, NULL);
		}
		if (any && polled[2].revents)
			ok = session_begin(agent);
		if (ok && any && polled[0].revents & POLLIN)
			ok = agent_receive(&calls);
		if (ok && any && polled[1].revents & POLLIN)
			ok = agent_receive(&work);
		session_step(agent);
		ok = ok && step_channel(&calls) && step_channel(&work);
	}
	forget_launches(&calls);
	forget_launches(&work);
}

/* Whether the program has ended, and not only become one that cannot be served any more. Any of its
 * sockets may be the first to be closed. */
static bool is_over(void)
{
	struct pollfd polled[] = { { WIRE_CALLS, 0, 0 },
				   { WIRE_WORK, 0, 0 },
				   { WIRE_DEBUG, 0, 0 } };
	return poll(polled, sizeof polled / sizeof polled[0], 0) > 0; /* of no event but the end */
}

/* CUDA's variable; without it code is loaded late, as CUDA has it since 12.2. */
static bool is_lazy(void)
{
	const char *asked = getenv("CUDA_MODULE_LOADING");
	return !asked || strcmp(asked, "EAGER") != 0;
}

/* What the program may have closed is not to become something else of ours, and nobody may be left
 * who reads. */
static void prepare_output(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null", O_RDWR);
	(void)signal(SIGPIPE, SIG_IGN);
}

/* There is no device: the name that a variable gives is none, or there is no room for it. */
static int turn_away(const struct ws_error *why)
{
	struct wire_request request;
	const struct wire_reply reply = {
		.result = WS_CUDA_ERROR_NO_DEVICE,
		.word = { why->status == WS_ARGUMENT ? CUDBG_ERROR_INVALID_ENVVAR_ARGS
						     : CUDBG_ERROR_OS_RESOURCES },
	};
	if (wire_receive(WIRE_CALLS, &request, sizeof request, NULL))
		(void)wire_send(WIRE_CALLS, &reply, sizeof reply, NULL, 0, -1);
	return 1;
}

int main(int argc, char **argv)
{
	struct agent agent = { .trigger.pipe = -1 };
	struct ws_error err;
	if (argc != 2) {
		agent_say("warpscope-agent is started by the driver of the software GPU");
		return 2;
	}
	prepare_output();
	agent.options = (struct ws_sim_options){ .size = sizeof agent.options,
						 .device = argv[1],
						 .managed = agent_give_managed,
						 .managed_user = &agent,
						 .lazy = is_lazy(),
						 .print = session_print };
	if (ws_sim_create(&agent.options, &agent.sim, &err) != WS_OK) {
		agent_say("%s", err.message);
		return turn_away(&err);
	}
	loop(&agent);
	if (!is_over())
		_exit(1); /* without a goodbye to the debugger: the device is lost */
	session_end(&agent);
	agent_modules_fini(&agent);
	ws_sim_destroy(agent.sim);
	agent_shared_fini(&agent);
	return 0;
}
