/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpscope-agent: the process that has the software GPU of one program. The driver in the program
 * starts it and speaks with it through two sockets (driver/wire.h); it ends when the program does.
 *
 * Not in the program's own process, so that a debugger that stops the program does not stop the
 * device, and so that the program cannot harm it.
 */
#include "agent.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <warpscope/cubin.h>
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

enum cu_result agent_result(const struct ws_error *err)
{
	static const struct {
		enum cu_result result;
		const char *name;
	} results[] = {
#define X(number, name, text) { number, #name },
		CU_RESULT_LIST(X)
#undef X
	};
	size_t n = strcspn(err->message, ": ");
	for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
		if (strlen(results[i].name) == n && memcmp(results[i].name, err->message, n) == 0)
			return results[i].result;
	if (err->status == WS_UNSUPPORTED)
		return CUDA_ERROR_NO_BINARY_FOR_GPU;
	if (err->status == WS_NO_MEMORY || err->status == WS_LIMIT)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (err->status == WS_MALFORMED || err->status == WS_TRUNCATED)
		return CUDA_ERROR_INVALID_IMAGE;
	return err->status == WS_ABSENT ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
}

/* ---- requests ---- */

static enum cu_result hello(struct agent *agent, struct exchange *x)
{
	struct ws_sim_limits limits;
	struct wire_device *device = calloc(1, sizeof *device);
	x->more = (uint8_t *)device;
	if (x->request->word[0] != WIRE_VERSION)
		return CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
	if (!device)
		return CUDA_ERROR_OUT_OF_MEMORY;
	ws_sim_limits(agent->sim, &limits);
	agent->process = (int)x->request->word[1];
	*device = (struct wire_device){
		.sm = limits.sm,
		.n_sms = limits.n_sms,
		.n_warps = limits.n_warps,
		.n_blocks = limits.n_blocks,
		.n_regs = limits.n_regs,
		.sm_shared_bytes = limits.sm_shared_bytes,
		.block_shared_bytes = limits.block_shared_bytes,
		.kept_shared_bytes = limits.kept_shared_bytes,
		.memory_bytes = limits.memory_bytes,
		.heap_bytes = limits.heap_bytes,
		.print_bytes = limits.print_bytes,
	};
	static const char name[] = "Warpscope software GPU ";
	size_t len = strnlen(agent->options.device, 16);
	memcpy(device->name, name, sizeof name);
	memcpy(device->name + sizeof name - 1, agent->options.device, len);
	x->reply.n_bytes = sizeof *device;
	return CUDA_SUCCESS;
}

static enum cu_result reset(struct agent *agent)
{
	struct ws_sim *fresh;
	struct ws_error err;
	if (ws_sim_create(&agent->options, &fresh, &err) != WS_OK)
		return agent_result(&err);
	agent_modules_fini(agent);
	ws_sim_destroy(agent->sim);
	agent_shared_fini(agent);
	agent_managed_reset(agent);
	agent->sim = fresh;
	agent->has_failed = false;
	return CUDA_SUCCESS;
}

static enum cu_result symbol(struct agent *agent, struct exchange *x)
{
	struct ws_error err;
	char *name = calloc(1, (size_t)x->request->n_bytes + 1);
	if (!name)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(name, x->bytes, x->request->n_bytes);
	enum ws_status st = x->request->word[0] < agent->modules.n
				    ? ws_sim_symbol(agent->sim, (uint32_t)x->request->word[0], name,
						    &x->reply.word[0], &x->reply.word[1], &err)
				    : WS_ABSENT;
	free(name);
	return st == WS_OK ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

static enum cu_result tensor_map(struct exchange *x)
{
	struct ws_sim_tensor tensor;
	struct ws_error err;
	x->more = malloc(WS_SIM_TENSOR_MAP_BYTES);
	if (!x->more)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (x->request->n_bytes != sizeof tensor)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&tensor, x->bytes, sizeof tensor);
	if (ws_sim_tensor_map(&tensor, x->more, &err) != WS_OK)
		return agent_result(&err);
	x->reply.n_bytes = WS_SIM_TENSOR_MAP_BYTES;
	return CUDA_SUCCESS;
}

static enum cu_result texture(struct agent *agent, struct exchange *x)
{
	struct ws_sim_texture texture;
	struct ws_error err;
	if (x->request->n_bytes != sizeof texture)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&texture, x->bytes, sizeof texture);
	uint64_t *ret_handle = &x->reply.word[0];
	enum ws_status st = x->request->word[0]
				    ? ws_sim_surface(agent->sim, &texture.image, ret_handle, &err)
				    : ws_sim_texture(agent->sim, &texture, ret_handle, &err);
	return st == WS_OK ? CUDA_SUCCESS : agent_result(&err);
}

static enum cu_result serve(struct agent *agent, struct exchange *x)
{
	const uint64_t *word = x->request->word;
	struct ws_error err;
	if (agent->has_failed && x->request->op != WIRE_RESET && x->request->op != WIRE_HELLO &&
	    x->request->op != WIRE_DUMP && x->request->op != WIRE_TRIGGER)
		return agent->failure;
	switch ((enum wire_op)x->request->op) {
	case WIRE_HELLO:
		return hello(agent, x);
	case WIRE_RESET:
		return agent->is_running ? CUDA_ERROR_ILLEGAL_STATE : reset(agent);
	case WIRE_LOAD:
		return agent_load(agent, x);
	case WIRE_KERNEL:
		return agent_kernel(agent, x);
	case WIRE_SYMBOL:
		return symbol(agent, x);
	case WIRE_ALLOC:
		return ws_sim_alloc(agent->sim, word[0], &x->reply.word[0], &err) == WS_OK
			       ? CUDA_SUCCESS
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
	case WIRE_N_OPS:
		break;
	}
	return CUDA_ERROR_NOT_SUPPORTED;
}

/* Answers one request; a launch that was made is answered later. False: the program is gone. */
static bool answer(struct agent *agent, int socket)
{
	struct wire_request request;
	struct exchange x = { .request = &request };
	uint8_t *bytes = NULL;
	if (!wire_receive(socket, &request, sizeof request, &x.fd))
		return false;
	bool ok = request.n_bytes <= WIRE_IMAGE && request.op < WIRE_N_OPS;
	if (ok && request.n_bytes > 0)
		bytes = malloc(request.n_bytes);
	ok = ok && (request.n_bytes == 0 || bytes) &&
	     wire_receive(socket, bytes, request.n_bytes, NULL);
	x.bytes = bytes;
	bool launches = ok && request.op == WIRE_LAUNCH;
	if (ok)
		x.reply.result = (int32_t)serve(agent, &x);
	if (launches && x.reply.result == CUDA_SUCCESS)
		agent->is_running = true;
	else if (ok)
		ok = wire_send(socket, &x.reply, sizeof x.reply, x.more,
			       x.reply.result == CUDA_SUCCESS ? x.reply.n_bytes : 0, -1);
	if (x.fd >= 0)
		close(x.fd);
	free(x.more);
	free(bytes);
	return ok;
}

/* ---- running ---- */

static bool finish(struct agent *agent, enum cu_result result, uint64_t flags)
{
	struct ws_span printed = ws_sim_printed(agent->sim);
	const struct wire_reply reply = {
		.result = (int32_t)result,
		.n_bytes = (uint32_t)printed.len,
		.word = { flags },
	};
	agent->is_running = false;
	bool ok = wire_send(agent->work, &reply, sizeof reply, printed.ptr, printed.len, -1);
	ws_sim_clear_printed(agent->sim);
	return ok;
}

/* Executes a slice of what was launched. False: the program is gone. */
static bool run(struct agent *agent)
{
	enum ws_sim_outcome outcome;
	struct ws_error err;
	agent->is_stuck = false;
	if (ws_sim_run(agent->sim, SLICE, &outcome, &err) != WS_OK) {
		agent->failure = agent_result(&err);
		agent->has_failed = true;
		return finish(agent, agent->failure, WIRE_FAULT);
	}
	agent->is_stuck = outcome == WS_SIM_STUCK;
	switch (outcome) {
	case WS_SIM_DONE:
		return finish(agent, CUDA_SUCCESS, 0);
	case WS_SIM_FAULTED:
		agent->failure = agent_fault(agent);
		agent->has_failed = true;
		return finish(agent, agent->failure, WIRE_FAULT);
	case WS_SIM_STUCK:
	case WS_SIM_LIMIT:
	case WS_SIM_STOPPED:
		break;
	}
	return true;
}

static void loop(struct agent *agent)
{
	bool ok = true;
	while (ok) {
		/* while a launch runs, `work` is silent: the driver waits for its end */
		struct pollfd sockets[] = { { agent->calls, POLLIN, 0 },
					    { agent->work, agent->is_running ? 0 : POLLIN, 0 },
					    { agent->trigger.pipe, POLLIN, 0 } };
		/* memory that the program shares may yet change */
		int n = poll(sockets, 3, !agent->is_running ? -1 : agent->is_stuck ? 1 : 0);
		if (n < 0 && errno != EINTR)
			return;
		if (n > 0 && sockets[2].revents)
			agent_triggered(agent);
		if (n > 0 && sockets[0].revents)
			ok = answer(agent, agent->calls);
		if (n > 0 && ok && sockets[1].revents)
			ok = (sockets[1].revents & POLLIN) && answer(agent, agent->work);
		else if (ok && agent->is_running)
			ok = run(agent);
	}
}

int main(int argc, char **argv)
{
	struct agent agent = { .calls = 3, .work = 4, .trigger.pipe = -1 };
	struct ws_error err;
	if (argc != 2) {
		agent_say("warpscope-agent is started by the driver of the software GPU");
		return 2;
	}
	agent.options = (struct ws_sim_options){ .size = sizeof agent.options,
						 .device = argv[1],
						 .managed = agent_give_managed,
						 .managed_user = &agent };
	if (ws_sim_create(&agent.options, &agent.sim, &err) != WS_OK) {
		agent_say("%s", err.message);
		return 1;
	}
	loop(&agent);
	agent_modules_fini(&agent);
	ws_sim_destroy(agent.sim);
	agent_shared_fini(&agent);
	return 0;
}
