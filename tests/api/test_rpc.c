/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The named pipes of cuda-gdb, with a client of our own at their other end: requests byte by byte
 * as cuda-gdb 12.4 sends them (seen with tests/oracle/live.py), answers those of the table itself;
 * then requests that cannot be, and pipes that are somebody else's.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <warpscope/cudbg.h>

#include "base/base.h"
#include "call/made.h"
#include "harness.h"
#include "target/fake.h"

#undef calloc
#undef free

enum { PATIENCE_MS = 30000, MOST = 1 << 21, WORD = 200 };

static struct fake fake;
static CUDBGAPI api;
static char folder[64];
static int requests, replies, notices, stop_ends[2];
static pthread_t server;
static uint32_t asked_tid;
static int program[2] = { -1, -1 };
static enum ws_status served;

static void *serve(void *data)
{
	const struct ws_provider provider = { .api = api, .major = UINT32_MAX };
	(void)data;
	const struct ws_rpc_client client = {
		.folder = folder,
		.tid = asked_tid,
		.waits = asked_tid != 0 && program[0] < 0,
		.stop = stop_ends[0],
		.program = program[0],
		.word = WORD,
	};
	served = ws_cudbg_serve_rpc(&provider, &client, NULL);
	return NULL;
}

static const char *in_folder(const char *name)
{
	static char path[128];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void make_folder(void)
{
	snprintf(folder, sizeof folder, "/tmp/ws-rpc-XXXXXX");
	assert_non_null(mkdtemp(folder));
}

/* The pipes that a client reads; then the server's. */
static void start(void)
{
	fake_init_running(&fake);
	assert_int_equal(ws_cudbg_api(&fake.target, &api, NULL), WS_OK);
	make_folder();
	assert_int_equal(mkfifo(in_folder("pipe.999.1000"), 0600), 0);
	replies = open(in_folder("pipe.999.1000"), O_RDONLY | O_NONBLOCK);
	assert_int_equal(mkfifo(in_folder("pipe.1001.1002"), 0600), 0);
	notices = open(in_folder("pipe.1001.1002"), O_RDONLY | O_NONBLOCK);
	assert_int_equal(pipe(stop_ends), 0);
	assert_int_equal(pthread_create(&server, NULL, serve, NULL), 0);
	for (int i = 0; (requests = open(in_folder("pipe.1000.999"), O_WRONLY | O_NONBLOCK)) < 0;
	     i++) {
		assert_in_range(i, 0, PATIENCE_MS);
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

static int stop(void **state)
{
	(void)state;
	if (requests >= 0)
		close(requests);
	requests = -1;
	pthread_join(server, NULL);
	asked_tid = 0;
	close(replies);
	close(notices);
	close(stop_ends[0]);
	close(stop_ends[1]);
	ws_cudbg_release(api);
	ws_target_close(&fake.target);
	/* every name was removed by who should */
	assert_int_equal(rmdir(folder), 0);
	return 0;
}

/* False: there will be no more. */
static bool read_all(int from, void *bytes, size_t n)
{
	for (size_t at = 0; at < n;) {
		struct pollfd fd = { from, POLLIN, 0 };
		assert_int_equal(poll(&fd, 1, 2 * PATIENCE_MS), 1);
		ssize_t got = read(from, (uint8_t *)bytes + at, n - at);
		if (got <= 0)
			return false;
		at += (size_t)got;
	}
	return true;
}

static void push(const void *bytes, size_t n)
{
	assert_int_equal(write(requests, bytes, n), n);
}

struct answer {
	uint32_t result;
	size_t n;
	uint8_t bytes[MOST];
};
static struct answer answer;

/* False: the server is gone. */
static bool ask_head(uint64_t total, uint32_t number, const void *bytes, size_t n)
{
	uint32_t head[4] = { (uint32_t)total, (uint32_t)(total >> 32), 12, number };
	uint64_t size;
	push(head, sizeof head);
	if (n)
		push(bytes, n);
	if (!read_all(replies, &size, sizeof size))
		return false;
	assert_in_range(size, 12, MOST);
	answer.n = (size_t)size - 12;
	return read_all(replies, &answer.result, 4) && read_all(replies, answer.bytes, answer.n);
}

static void ask(uint32_t number, const void *bytes, size_t n)
{
	assert_true(ask_head(16 + n, number, bytes, n));
}

static void begin(void)
{
	static const uint32_t version[] = { 12, 4, 142 };
	start();
	ask(2, version, sizeof version);
	assert_int_equal(answer.result, CUDBG_SUCCESS);
	assert_int_equal(answer.n, sizeof version);
	assert_memory_equal(answer.bytes, version, sizeof version);
}

/* ---- as cuda-gdb 12.4 asks ---- */

static size_t unhex(const char *text, uint8_t *bytes)
{
	size_t n = strlen(text) / 2;
	for (size_t i = 0; i < n; i++) {
		unsigned byte;
		assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
		bytes[i] = (uint8_t)byte;
	}
	return n;
}

/* Coordinates and addresses are the fake's; all else is what was seen. */
static const struct {
	uint32_t number;
	const char *name, *request, *reply; /* NULL: only its size counts */
	size_t n_reply;
	CUDBGResult result;
} seen[] = {
	{ 28, "getNumDevices", "", "03000000", 4, CUDBG_SUCCESS },
	{ 30, "getNumWarps", "00000000", NULL, 4, CUDBG_SUCCESS },
	{ 27, "getSmType", "0000000040000000", NULL, 64, CUDBG_SUCCESS },
	{ 8, "readValidWarps", "0000000001000000", NULL, 8, CUDBG_SUCCESS },
	{ 100, "getDeviceInfoSizes", "00000000", NULL, 532, CUDBG_SUCCESS },
	{ 94, "readWarpState120", "000000000100000000000000", NULL, 820, CUDBG_SUCCESS },
	{ 84, "readDeviceExceptionState", "0000000003000000", NULL, 24, CUDBG_SUCCESS },
	{ 69, "readRegisterRange60", "000000000100000000000000000000000200000004000000",
	  "66000000670000006800000069000000", 16, CUDBG_SUCCESS },
	{ 23, "writeRegister", "000000000100000000000000000000000400000044332211", "", 0,
	  CUDBG_SUCCESS },
	{ 16, "readRegister", "0000000001000000000000000000000004000000", "44332211", 4,
	  CUDBG_SUCCESS },
	{ 78, "writePredicates",
	  "000000000100000000000000000000000200000000000000"
	  "01000000",
	  "", 0, CUDBG_SUCCESS },
	{ 73, "writeGlobalMemory", "000000100000000004000000ddccbbaa", "", 0, CUDBG_SUCCESS },
	{ 72, "readGlobalMemory", "000000100000000004000000", NULL, 4, CUDBG_SUCCESS },
	{ 21, "writeSharedMemory", "000000000100000000000000100000000000000004000000ddccbbaa", "",
	  0, CUDBG_SUCCESS },
	{ 14, "readSharedMemory", "000000000100000000000000100000000000000004000000", "ddccbbaa", 4,
	  CUDBG_SUCCESS },
	{ 64, "readErrorPC", "000000000100000000000000", NULL, 9, CUDBG_SUCCESS },
	{ 63, "getAdjustedCodeAddress",
	  "00000000"
	  "0000004000000000"
	  "01000000",
	  "0000000000000000", 8, CUDBG_ERROR_INVALID_ADDRESS },
	{ 29, "getNumSMs of no device", "07000000", "00000000", 4, CUDBG_ERROR_INVALID_ARGS },
	{ 55, "acknowledgeSyncEvents", "", "", 0, CUDBG_SUCCESS },
	{ 4711, "no request", "", "", 0, CUDBG_ERROR_UNKNOWN_FUNCTION },
};

static void requests_of_cuda_gdb_are_understood(void **state)
{
	(void)state;
	uint8_t bytes[64];
	begin();
	for (size_t i = 0; i < WSI_COUNT(seen); i++) {
		ask(seen[i].number, bytes, unhex(seen[i].request, bytes));
		if (answer.result != (uint32_t)seen[i].result || answer.n != seen[i].n_reply)
			fail_msg("%s: %s with %zu bytes", seen[i].name,
				 cudbgGetErrorString((CUDBGResult)answer.result), answer.n);
		if (seen[i].reply && unhex(seen[i].reply, bytes) &&
		    memcmp(bytes, answer.bytes, answer.n) != 0)
			fail_msg("%s: other bytes", seen[i].name);
	}
}

static void the_three_forms_of_their_own(void **state)
{
	(void)state;
	static const uint32_t no_device[] = { 7 }, info[] = { 0, 0, 400000 };
	static const uint32_t file[] = { 0x3f, 1 };
	uint32_t n;
	begin();
	ask(29, no_device, sizeof no_device);
	ask(96, NULL, 0);
	memcpy(&n, answer.bytes, sizeof n);
	assert_int_equal(n + 4, answer.n);
	assert_string_equal((char *)answer.bytes + 4,
			    "getNumSMs: there is no device 7 (CUDBG_ERROR_INVALID_ARGS)");
	ask(101, info, sizeof info);
	assert_int_equal(answer.result, CUDBG_SUCCESS);
	memcpy(&n, answer.bytes, sizeof n);
	assert_in_range(n, 100, 100000);
	assert_int_equal(n + 4, answer.n);
	/* a text without a NUL is none, one of no bytes is NULL */
	ask(98, (const uint32_t[]){ 0x3f, 0 }, sizeof file);
	assert_int_equal(answer.result, CUDBG_ERROR_INVALID_ARGS);
}

static void versions_that_are_not_served_are_refused(void **state)
{
	(void)state;
	start();
	ask(2, (const uint32_t[]){ 11, 8, 132 }, 12);
	assert_int_equal(answer.result, CUDBG_ERROR_INCOMPATIBLE_API);
	ask(2, (const uint32_t[]){ 12 }, 4);
	assert_int_equal(answer.result, CUDBG_ERROR_INCOMPATIBLE_API);
	ask(28, NULL, 0);
	assert_int_equal(answer.result, CUDBG_ERROR_UNINITIALIZED);
}

/* ---- all that has a number ---- */

/* What a client without outputs of its own would send for a call. */
static size_t pack(const struct api_call *call, uint8_t *to)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[call->slot];
	size_t at = 0;
	for (unsigned i = 0; i < fn->n_args; i++)
		if (fn->args[i].way == WSI_API_VALUE) {
			memcpy(to + at, &call->v[i].number, fn->args[i].size);
			at += fn->args[i].size;
		}
	for (unsigned i = 0; i < fn->n_args; i++) {
		size_t n = call->bytes[i];
		if (fn->args[i].string) {
			uint32_t size = (uint32_t)strlen(call->v[i].pointer) + 1;
			memcpy(to + at, &size, sizeof size);
			at += sizeof size;
			n = size;
		}
		if (wsi_api_goes_in(&fn->args[i])) {
			memcpy(to + at, call->v[i].pointer, n);
			at += n;
		}
	}
	return at;
}

static void every_number_is_a_function_of_the_table(void **state)
{
	(void)state;
	unsigned n = 0;
	struct fake other; /* what a call changes in the one it changes in the other */
	CUDBGAPI direct;
	begin();
	fake_init_running(&other);
	assert_int_equal(ws_cudbg_api(&other.target, &direct, NULL), WS_OK);
	assert_int_equal(direct->initialize(), CUDBG_SUCCESS);
	for (unsigned slot = 0; slot < WSI_API_SLOTS; slot++) {
		const struct wsi_api_fn *fn = &wsi_api_functions[slot];
		struct api_call call;
		CUDBGResult result;
		uint8_t *bytes = calloc(1, HARNESS_MAX_BYTES + 256);
		if (fn->request < 0)
			goto next;
		n++;
		if (slot == SLOT(initialize) || slot == SLOT(finalize) ||
		    slot == SLOT(getErrorStringEx) || slot == SLOT(getDeviceInfo) ||
		    slot == SLOT(readAllVirtualReturnAddresses) || slot == SLOT(getNextEvent))
			goto next;
		api_call_init(&call, slot);
		api_call_buffers(&call);
		ask((uint32_t)fn->request, bytes, pack(&call, bytes));
		const char *wrong = api_call_run(&call, direct, &result);
		if (slot == SLOT(unsetBreakpoint) && result == CUDBG_ERROR_INVALID_ARGS)
			result = CUDBG_SUCCESS; /* it removes what it has removed before */
		if (wrong || answer.result != (uint32_t)result)
			fail_msg("%s: %s, by the table %s %s", fn->name,
				 cudbgGetErrorString((CUDBGResult)answer.result),
				 cudbgGetErrorString(result), wrong ? wrong : "");
		size_t at = 0;
		for (unsigned i = 0; i < fn->n_args; i++)
			at += wsi_api_comes_out(&fn->args[i]) ? call.bytes[i] : 0;
		if (answer.n != at)
			fail_msg("%s: %zu bytes come out, not %zu", fn->name, at, answer.n);
		/* where one argument comes out, it is the same */
		for (unsigned i = 0; i < fn->n_args; i++)
			if (result == CUDBG_SUCCESS && wsi_api_comes_out(&fn->args[i]) &&
			    !fn->args[i].kept && call.bytes[i] == answer.n &&
			    memcmp(call.v[i].pointer, answer.bytes,
				   wsi_made_written(fn, i, call.v)) != 0)
				fail_msg("%s: other bytes", fn->name);
		api_call_fini(&call);
	next:
		free(bytes);
	}
	ws_cudbg_release(direct);
	ws_target_close(&other.target);
	assert_int_equal(n,
			 109); /* 0 to 112, but two that do nothing and two that cannot be sent */
}

static void requests_of_later_clients_have_their_numbers(void **state)
{
	(void)state;
	static const unsigned slots[] = {
		SLOT(readAllVirtualReturnAddresses),
		SLOT(getSupportedDebuggerCapabilities),
		SLOT(readSmException),
		SLOT(executeInternalCommand),
		SLOT(getGridInfo),
		SLOT(getClusterDim),
		SLOT(readWarpState127), /* as it was in 12.7 and 12.8 */
		SLOT(getClusterExceptionTargetBlock),
		SLOT(readWarpResources),
	};
	for (unsigned i = 0; i < WSI_COUNT(slots); i++)
		assert_int_equal(wsi_api_functions[slots[i]].request, 104 + i);
	begin();
	ask(113, NULL, 0);
	assert_int_equal(answer.result, CUDBG_ERROR_UNKNOWN_FUNCTION);
}

/* A client of 12.5 has the addresses of the table, behind both depths. */
static void a_whole_backtrace_is_one_request(void **state)
{
	(void)state;
	struct fake other;
	CUDBGAPI direct;
	uint64_t addresses[64];
	uint32_t at[4], depth, syscalls, depths[2], bad[4] = { 0, 0, 0, 99 }, most = 0;
	begin();
	fake_init_running(&other);
	assert_int_equal(ws_cudbg_api(&other.target, &direct, NULL), WS_OK);
	ws_cudbg_ask(direct, 12, 4);
	assert_int_equal(direct->initialize(), CUDBG_SUCCESS);
	for (unsigned i = 0; i < 1024; i++) { /* some warps are there */
		for (unsigned k = 0; k < 4; k++)
			at[k] = i >> 3 * k & 7;
		CUDBGResult result = direct->readAllVirtualReturnAddresses(
			at[0], at[1], at[2], at[3], addresses, 64, &depth, &syscalls);
		ask(104, at, sizeof at);
		assert_int_equal(answer.result, result);
		if (result != CUDBG_SUCCESS)
			continue;
		memcpy(depths, answer.bytes, sizeof depths);
		assert_int_equal(depths[0], depth);
		assert_int_equal(depths[1], syscalls);
		assert_int_equal(answer.n, sizeof depths + 8 * depth);
		assert_memory_equal(answer.bytes + sizeof depths, addresses, 8 * depth);
		most = depth > most ? depth : most;
	}
	assert_true(most > 1);
	ask(104, bad, sizeof bad);
	assert_int_equal(answer.result, CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(answer.n, sizeof depths); /* it takes the depths of any answer */
	ws_cudbg_release(direct);
	ws_target_close(&other.target);
}

/* ---- events ---- */

static void events_wake_the_debugger(void **state)
{
	(void)state;
	const struct ws_event created = {
		.kind = WS_EVENT_CONTEXT_CREATED, .sync = true, .host_tid = 4711, .context_id = 5
	};
	uint32_t notice[3] = { 0 };
	begin();
	while (notice[0] != 4711) {
		fake_event(&fake, &created);
		assert_true(read_all(notices, notice, sizeof notice));
		assert_int_equal(notice[1], 0);
		assert_int_equal(notice[2], 0);
		do
			ask(65, (const uint32_t[]){ 0 }, 4);
		while (answer.result == CUDBG_SUCCESS);
		assert_int_equal(answer.result, CUDBG_ERROR_NO_EVENT_AVAILABLE);
		assert_int_equal(answer.n, 92);
	}
}

/* ---- the end ---- */

static void a_debugger_that_leaves_lets_go(void **state)
{
	(void)state;
	begin();
	stop(NULL);
	assert_int_equal(served, WS_OK);
	assert_int_equal(fake.detached, 1);
}

static void a_session_that_was_ended_is_not_detached(void **state)
{
	(void)state;
	begin();
	ask(3, NULL, 0);
	assert_int_equal(answer.result, CUDBG_SUCCESS);
	assert_int_equal(answer.n, 0);
	uint32_t notice[3];
	do
		assert_true(read_all(notices, notice, sizeof notice));
	while (!notice[1]); /* the last: the thread that reads them may end */
	assert_int_equal(notice[1], 1);
	/* the server's end is closed though the client keeps its own */
	uint64_t size;
	assert_false(read_all(replies, &size, sizeof size));
	stop(NULL);
	assert_int_equal(fake.detached, -1);
}

static void a_debugger_is_asked_to_come(void **state)
{
	(void)state;
	uint32_t notice[3];
	asked_tid = 77;
	start();
	for (int i = 0; i < 2; i++) { /* once more, as it does not come */
		notice[0] = 0;
		assert_true(read_all(notices, notice, sizeof notice));
		assert_int_equal(notice[0], 77);
		assert_int_equal(notice[1], 0);
	}
	ask(2, (const uint32_t[]){ 12, 4, 142 }, 12);
	assert_int_equal(answer.result, CUDBG_SUCCESS);
	/* what has no thread of its own stops that one, too */
	notice[0] = 0;
	fake_event(&fake, &(struct ws_event){ .kind = WS_EVENT_STOPPED, .sync = true });
	while (notice[0] != 77)
		assert_true(read_all(notices, notice, sizeof notice));
}

/* ---- a program that runs already ---- */

static void initialize(CUDBGResult expected)
{
	static const uint32_t version[] = { 12, 4, 142 };
	ask(2, version, sizeof version);
	assert_int_equal(answer.result, expected);
}

static bool is_readable(int fd, int ms)
{
	struct pollfd polled = { fd, POLLIN, 0 };
	return poll(&polled, 1, ms) == 1 && polled.revents & POLLIN;
}

/* The server asks whether the program runs: only once. */
static void is_asked(void)
{
	uint8_t word;
	assert_true(read_all(program[1], &word, 1));
	assert_int_equal(word, WORD);
	assert_false(is_readable(program[1], 0));
}

static void begin_to_attach(void)
{
	asked_tid = 77;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, program), 0);
	start();
}

static int stop_attached(void **state)
{
	close(program[1]);
	stop(state);
	close(program[0]);
	program[0] = -1;
	return 0;
}

static void a_program_that_stands_tells_of_nothing(void **state)
{
	(void)state;
	const uint8_t runs = WORD, other = WORD + 1;
	uint32_t notice[3];
	begin_to_attach();
	/* when the function returns that the debugger had called: too early */
	initialize(CUDBG_ERROR_UNINITIALIZED);
	is_asked();
	/* again, and the program has not run: it waits for this */
	initialize(CUDBG_SUCCESS);
	fake_event(&fake, &(struct ws_event){ .kind = WS_EVENT_STOPPED, .sync = true });
	assert_false(is_readable(notices, 50));
	/* the answer to an earlier session */
	assert_int_equal(write(program[1], &other, 1), 1);
	assert_false(is_readable(notices, 50));
	assert_int_equal(write(program[1], &runs, 1), 1);
	assert_true(read_all(notices, notice, sizeof notice));
	assert_int_equal(notice[0], 77);
	assert_false(is_readable(program[1], 0)); /* it is asked no more */
}

static void a_program_that_ran_stops_again_before_the_session(void **state)
{
	(void)state;
	const uint8_t runs = WORD;
	begin_to_attach();
	for (int i = 0; i < 3; i++) {
		initialize(CUDBG_ERROR_UNINITIALIZED);
		is_asked();
		assert_int_equal(write(program[1], &runs, 1), 1);
	}
	initialize(CUDBG_ERROR_UNINITIALIZED);
	is_asked();
	initialize(CUDBG_SUCCESS);
}

/* Nobody would ever say that it runs. */
static void a_program_that_is_gone_is_not_waited_for(void **state)
{
	(void)state;
	begin_to_attach();
	initialize(CUDBG_ERROR_UNINITIALIZED);
	is_asked();
	initialize(CUDBG_SUCCESS);
	fake_event(&fake, &(struct ws_event){ .kind = WS_EVENT_STOPPED, .sync = true });
	shutdown(program[1], SHUT_RDWR);
	assert_true(is_readable(notices, PATIENCE_MS));
	ask(28, NULL, 0);
	assert_int_equal(answer.result, CUDBG_SUCCESS);
}

static void a_wait_can_be_stopped(void **state)
{
	(void)state;
	start();
	assert_int_equal(write(stop_ends[1], "", 1), 1);
	pthread_join(server, NULL);
	assert_int_equal(served, WS_OK);
	assert_int_equal(pthread_create(&server, NULL, serve, NULL), 0);
	/* before anybody asked: the client's pipes are still there */
	unlink(in_folder("pipe.999.1000"));
	unlink(in_folder("pipe.1001.1002"));
}

static void a_request_that_cannot_be_ends_it(void **state)
{
	(void)state;
	static const struct {
		uint64_t total;
		uint32_t number;
		size_t n;
	} bad[] = {
		{ 0, 28, 0 },          { 15, 28, 0 }, { UINT64_MAX, 28, 0 },
		{ 1ull << 31, 28, 0 }, { 16, 29, 0 }, /* without its device */
		{ 16 + 4, 73, 4 },                    /* a write that lacks its size */
		{ 16 + 12, 73, 12 }                   /* ... or its bytes */
	};
	for (size_t i = 0; i < WSI_COUNT(bad); i++) {
		static const uint8_t bytes[16] = { 0, 0, 0, 0x10, 0, 0, 0, 0, 4 };
		begin();
		assert_false(ask_head(bad[i].total, bad[i].number, bytes, bad[i].n));
		stop(NULL);
		assert_int_equal(served, WS_OK);
		assert_int_equal(fake.detached, 1);
	}
}

static void a_request_that_stops_in_the_middle_ends_it(void **state)
{
	(void)state;
	begin();
	push("0123456789", 10);
	close(requests);
	requests = -1;
	stop(NULL);
	assert_int_equal(served, WS_OK);
}

static enum ws_status come(const struct ws_provider *provider, const char *path)
{
	const struct ws_rpc_client client = { .folder = path, .stop = -1, .program = -1 };
	struct ws_error err;
	return ws_cudbg_serve_rpc(provider, &client, &err);
}

static void pipes_of_others_are_not_used(void **state)
{
	(void)state;
	const struct ws_provider provider = { .api = api, .major = UINT32_MAX };
	struct ws_provider none = { .api = NULL };
	fake_init_running(&fake);
	assert_int_equal(ws_cudbg_api(&fake.target, &api, NULL), WS_OK);
	struct ws_provider ours = provider;
	ours.api = api;
	make_folder();
	assert_int_equal(come(&ours, "/nonexistent"), WS_IO);
	assert_int_equal(come(&ours, NULL), WS_ARGUMENT);
	assert_int_equal(come(&none, folder), WS_ARGUMENT);
	if (geteuid() != 0) /* root may make its pipe there */
		assert_int_equal(come(&ours, "/"), WS_IO);
	char link[sizeof folder + 8];
	snprintf(link, sizeof link, "%s.link", folder);
	assert_int_equal(symlink(folder, link), 0);
	assert_int_equal(come(&ours, link), WS_IO);
	assert_int_equal(unlink(link), 0);
	/* somebody made the server's pipe */
	assert_int_equal(mkfifo(in_folder("pipe.1000.999"), 0600), 0);
	assert_int_equal(come(&ours, folder), WS_IO);
	assert_int_equal(unlink(in_folder("pipe.1000.999")), 0);
	assert_int_equal(rmdir(folder), 0);
	ws_cudbg_release(api);
	ws_target_close(&fake.target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(requests_of_cuda_gdb_are_understood, stop),
		cmocka_unit_test_teardown(the_three_forms_of_their_own, stop),
		cmocka_unit_test_teardown(versions_that_are_not_served_are_refused, stop),
		cmocka_unit_test_teardown(every_number_is_a_function_of_the_table, stop),
		cmocka_unit_test_teardown(requests_of_later_clients_have_their_numbers, stop),
		cmocka_unit_test_teardown(a_whole_backtrace_is_one_request, stop),
		cmocka_unit_test_teardown(events_wake_the_debugger, stop),
		cmocka_unit_test_teardown(a_debugger_is_asked_to_come, stop),
		cmocka_unit_test(a_debugger_that_leaves_lets_go),
		cmocka_unit_test(a_session_that_was_ended_is_not_detached),
		cmocka_unit_test_teardown(a_program_that_stands_tells_of_nothing, stop_attached),
		cmocka_unit_test_teardown(a_program_that_ran_stops_again_before_the_session,
					  stop_attached),
		cmocka_unit_test_teardown(a_program_that_is_gone_is_not_waited_for, stop_attached),
		cmocka_unit_test_teardown(a_wait_can_be_stopped, stop),
		cmocka_unit_test(a_request_that_cannot_be_ends_it),
		cmocka_unit_test(a_request_that_stops_in_the_middle_ends_it),
		cmocka_unit_test(pipes_of_others_are_not_used),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
