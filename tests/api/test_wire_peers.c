/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table through a socket whose other end lies, dies or is of another build; a server whose client
 * does. Nobody crashes or hangs, and the good side says what happened.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/sockios.h>

#include <warpscope/cudbg.h>
#include <warpscope/provider.h>

#include "target/fake.h"
#include "wire/wire.h"

#undef exit

static int ends[2];     /* of the good side, of the other */
static int events = -1; /* of the other side: its socket for events */

static void make_socket(void)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
}

static void push(int to, const void *bytes, size_t n)
{
	assert_int_equal(send(to, bytes, n, MSG_NOSIGNAL), n);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- servers ---- */

/* Replies lie in the socket before anything is asked; the greeting is one of them. */
static CUDBGAPI connect_to(const void *replies, size_t n, bool closes)
{
	const struct wsi_wire_greeting greeting = wsi_wire_greeting();
	CUDBGAPI api;
	make_socket();
	push(ends[1], &greeting, sizeof greeting);
	push(ends[1], replies, n);
	if (closes)
		shutdown(ends[1], SHUT_WR);
	/* the greeting is read as a packet of its own, so replies need not wait */
	assert_int_equal(ws_cudbg_connect(ends[0], &api, NULL), WS_OK);
	struct wsi_wire_greeting theirs;
	assert_true(wsi_packet_receive(ends[1], &theirs, sizeof theirs, &events));
	if (closes)
		close(events);
	events = closes ? -1 : events;
	return api;
}

static void release(CUDBGAPI api)
{
	ws_cudbg_release(api);
	close(ends[1]);
	if (events >= 0)
		close(events);
	events = -1;
}

/* Numbers of arguments, as of a reply of readPC. */
enum { READ_PC_NUMBERS = 5 };

struct reply {
	struct wsi_wire_reply head;
	uint64_t number[READ_PC_NUMBERS];
	uint64_t pc, more;
};

static const struct reply good_reply = { .head = { READ_PC_NUMBERS * 8 + 8, CUDBG_SUCCESS },
					 .number = { [4] = 8 },
					 .pc = 0x1230 };
enum { GOOD_BYTES = offsetof(struct reply, more) };

static CUDBGResult read_pc(CUDBGAPI api, uint64_t *ret_pc)
{
	*ret_pc = 77;
	return api->readPC(0, 0, 0, 0, ret_pc);
}

static void a_good_reply_is_taken(void **state)
{
	(void)state;
	uint64_t pc;
	CUDBGAPI api = connect_to(&good_reply, GOOD_BYTES, false);
	assert_int_equal(read_pc(api, &pc), CUDBG_SUCCESS);
	assert_int_equal(pc, 0x1230);
	release(api);
}

/* Cut at each byte: the output is not touched, and every later call says the same. */
static void a_reply_that_ends_early_is_none(void **state)
{
	(void)state;
	for (size_t n = 0; n < GOOD_BYTES; n++) {
		uint64_t pc;
		char text[200];
		uint32_t count;
		CUDBGAPI api = connect_to(&good_reply, n, true);
		assert_int_equal(read_pc(api, &pc), CUDBG_ERROR_COMMUNICATION_FAILURE);
		assert_int_equal(pc, 77);
		assert_int_equal(api->getNumDevices(&count), CUDBG_ERROR_COMMUNICATION_FAILURE);
		assert_int_equal(api->getErrorStringEx(text, sizeof text, NULL),
				 CUDBG_ERROR_COMMUNICATION_FAILURE);
		release(api);
	}
}

static void a_reply_that_cannot_be_is_none(void **state)
{
	(void)state;
	struct reply bad[8];
	for (size_t i = 0; i < WSI_COUNT(bad); i++)
		bad[i] = good_reply;
	bad[0].head.n_bytes = UINT32_MAX;
	bad[1].head.n_bytes = WSI_CHANNEL_MOST + 1;
	bad[2].head.n_bytes += 8; /* more than it needs */
	bad[3].head.n_bytes -= 8;
	bad[4].number[4] = 16; /* more than there is room for */
	bad[4].head.n_bytes += 8;
	bad[5].number[4] = UINT64_MAX;
	bad[6].head.result = 4711;
	bad[7].number[4] = 4; /* a part of a number */
	bad[7].head.n_bytes -= 4;
	for (size_t i = 0; i < WSI_COUNT(bad); i++) {
		uint64_t pc;
		CUDBGAPI api = connect_to(&bad[i], sizeof bad[i], true);
		assert_int_equal(read_pc(api, &pc), CUDBG_ERROR_COMMUNICATION_FAILURE);
		assert_int_equal(pc, 77);
		release(api);
	}
}

static void a_lent_image_must_be_there(void **state)
{
	(void)state;
	struct {
		struct wsi_wire_reply head;
		uint64_t number[6];
		uint64_t pointer, size;
		uint8_t image[8];
	} reply = { .head = { 6 * 8 + 16 + 8, CUDBG_SUCCESS },
		    .number = { [4] = 8, [5] = 8 },
		    .pointer = 0xdead0000,
		    .size = 8,
		    .image = "an image" };
	void *image = NULL;
	uint64_t size;
	CUDBGAPI api = connect_to(&reply, sizeof reply, false);
	assert_int_equal(api->getElfImage(0, 0, 0, true, &image, &size), CUDBG_SUCCESS);
	assert_memory_equal(image, "an image", 8);
	release(api);
	for (reply.size = 0; reply.size < 20; reply.size++) {
		image = NULL;
		if (reply.size == 8)
			continue;
		api = connect_to(&reply, sizeof reply, true);
		assert_int_equal(api->getElfImage(0, 0, 0, true, &image, &size),
				 CUDBG_ERROR_COMMUNICATION_FAILURE);
		assert_null(image);
		release(api);
	}
}

static void words_of_a_failure_are_bounded(void **state)
{
	(void)state;
	static struct {
		struct wsi_wire_reply head;
		char why[100000];
		struct wsi_wire_reply after; /* of getErrorStringEx */
		uint64_t number[3];
		uint32_t size;
	} __attribute__((packed)) reply;
	char text[400];
	uint64_t pc;
	reply.head = (struct wsi_wire_reply){ sizeof reply.why, CUDBG_ERROR_INTERNAL };
	memset(reply.why, 'x', sizeof reply.why);
	reply.after = (struct wsi_wire_reply){ 3 * 8 + 4, CUDBG_SUCCESS };
	reply.number[2] = 4;
	CUDBGAPI api = connect_to(&reply, sizeof reply, false);
	assert_int_equal(read_pc(api, &pc), CUDBG_ERROR_INTERNAL);
	assert_int_equal(api->getErrorStringEx(text, sizeof text, NULL), CUDBG_SUCCESS);
	assert_true(strncmp(text, "readPC: xxxx", 12) == 0 && strstr(text, "INTERNAL"));
	release(api);
}

static void a_reply_must_not_stall(void **state)
{
	(void)state;
	uint64_t pc;
	CUDBGAPI api = connect_to(&good_reply, GOOD_BYTES - 1, false);
	double begin = now();
	assert_int_equal(read_pc(api, &pc), CUDBG_ERROR_COMMUNICATION_FAILURE);
	assert_true(now() - begin < 60);
	release(api);
}

static void what_is_no_server_is_refused(void **state)
{
	(void)state;
	struct wsi_wire_greeting bad = wsi_wire_greeting();
	CUDBGAPI api;
	struct ws_error err;
	bad.version++;
	make_socket();
	push(ends[1], &bad, sizeof bad);
	assert_int_equal(ws_cudbg_connect(ends[0], &api, &err), WS_UNSUPPORTED);
	close(ends[1]);
	make_socket();
	push(ends[1], &bad, sizeof bad - 1);
	assert_int_equal(ws_cudbg_connect(ends[0], &api, &err), WS_IO);
	close(ends[1]);
	make_socket();
	close(ends[1]);
	assert_int_equal(ws_cudbg_connect(ends[0], &api, &err), WS_IO);
	assert_int_equal(ws_cudbg_connect(-1, &api, &err), WS_ARGUMENT);
	assert_int_equal(ws_cudbg_connect(0, NULL, &err), WS_ARGUMENT);
}

/* ---- a server that is killed ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned told;
static uint32_t told_tid;

static void note_event(CUDBGEventCallbackData *data)
{
	pthread_mutex_lock(&lock);
	told++;
	told_tid = data->tid;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void note_event41(CUDBGEventCallbackData41 *data)
{
	note_event(&(CUDBGEventCallbackData){ .tid = data->tid });
}

static pid_t fork_server(void)
{
	make_socket();
	pid_t pid = fork();
	if (pid == 0) {
		struct fake fake;
		struct ws_provider provider = { .major = UINT32_MAX };
		close(ends[0]);
		fake_init_running(&fake);
		if (ws_cudbg_api(&fake.target, &provider.api, NULL) != WS_OK)
			_exit(1);
		_exit(ws_cudbg_serve(&provider, ends[1], NULL) != WS_OK);
	}
	close(ends[1]);
	return pid;
}

/* In a session, whose events are taken. */
static CUDBGAPI begin_session(int socket)
{
	CUDBGAPI api;
	CUDBGEvent event;
	assert_int_equal(ws_cudbg_connect(socket, &api, NULL), WS_OK);
	assert_int_equal(api->initialize(), CUDBG_SUCCESS);
	while (api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_SYNC, &event) == CUDBG_SUCCESS)
		continue;
	told = 0;
	told_tid = 1;
	return api;
}

static void await_call(void)
{
	pthread_mutex_lock(&lock);
	while (told == 0)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	assert_int_equal(told_tid, 0);
}

static void bury(pid_t pid)
{
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

/* Each call says that nobody answers, and the death is an event once, in the form that is asked
 * for. */
static void assert_dead(CUDBGAPI api, unsigned form)
{
	const CUDBGResult gone = CUDBG_ERROR_COMMUNICATION_FAILURE;
	uint32_t n;
	CUDBGEvent event;
	CUDBGEvent50 event50;
	CUDBGEvent55 event55;
	memset(&event, 0xff, sizeof event);
	memset(&event50, 0xff, sizeof event50);
	memset(&event55, 0xff, sizeof event55);
	assert_int_equal(api->getNumDevices(&n), gone);
	assert_int_equal(api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_SYNC, &event), gone);
	assert_int_equal(api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_ASYNC, NULL), gone);
	assert_int_equal(api->getNextSyncEvent50(&event50), gone);
	assert_int_equal(form == 0   ? api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_ASYNC, &event)
			 : form == 1 ? api->getNextAsyncEvent50(&event50)
				     : api->getNextAsyncEvent55(&event55),
			 CUDBG_SUCCESS);
	const CUDBGEventKind kinds[] = { event.kind, event50.kind, event55.kind };
	const CUDBGResult types[] = { event.cases.internalError.errorType,
				      event50.cases.internalError.errorType,
				      event55.cases.internalError.errorType };
	assert_int_equal(kinds[form], CUDBG_EVENT_INTERNAL_ERROR);
	assert_int_equal(types[form], gone);
	assert_int_equal(api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_ASYNC, &event), gone);
	assert_int_equal(api->getNextAsyncEvent50(&event50), gone);
	assert_int_equal(api->getNextAsyncEvent55(&event55), gone);
	assert_int_equal(api->finalize(), gone);
}

static void a_client_learns_that_the_server_was_killed(void **state)
{
	(void)state;
	for (unsigned form = 0; form < 3; form++) {
		pid_t pid = fork_server();
		CUDBGAPI api = begin_session(ends[0]);
		assert_int_equal(api->setNotifyNewEventCallback(note_event, NULL), CUDBG_SUCCESS);
		kill(pid, SIGKILL);
		await_call();
		assert_dead(api, form);
		ws_cudbg_release(api);
		assert_int_equal(told, 1);
		bury(pid);
	}
}

/* The callback may take the event. */
static void take_event(CUDBGEventCallbackData *data)
{
	CUDBGAPI api = data->userData;
	CUDBGEvent event = { .kind = CUDBG_EVENT_INVALID };
	(void)api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_ASYNC, &event);
	if (event.kind == CUDBG_EVENT_INTERNAL_ERROR)
		note_event(data);
}

static void a_death_is_told_inside_the_callback(void **state)
{
	(void)state;
	CUDBGEvent event;
	pid_t pid = fork_server();
	CUDBGAPI api = begin_session(ends[0]);
	assert_int_equal(api->setNotifyNewEventCallback(take_event, (void *)(uintptr_t)api),
			 CUDBG_SUCCESS);
	kill(pid, SIGKILL);
	await_call();
	assert_int_equal(api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_ASYNC, &event),
			 CUDBG_ERROR_COMMUNICATION_FAILURE);
	ws_cudbg_release(api);
	assert_int_equal(told, 1);
	bury(pid);
}

static void *ask_for_devices(void *data)
{
	static CUDBGResult result;
	CUDBGAPI api = data;
	uint32_t n;
	result = api->getNumDevices(&n);
	return &result;
}

/* It dies while it has a request and has not answered: with a callback, and without. */
static void a_death_in_the_middle_of_a_call_is_told(void **state)
{
	(void)state;
	for (unsigned calls_back = 0; calls_back < 2; calls_back++) {
		pthread_t thread;
		void *result;
		int status, n_unread = 0;
		pid_t pid = fork_server();
		CUDBGAPI api = begin_session(ends[0]);
		if (calls_back)
			assert_int_equal(api->setNotifyNewEventCallback(note_event, NULL),
					 CUDBG_SUCCESS);
		kill(pid, SIGSTOP);
		assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
		assert_int_equal(
			pthread_create(&thread, NULL, ask_for_devices, (void *)(uintptr_t)api), 0);
		while (n_unread == 0)
			assert_int_equal(ioctl(ends[0], SIOCOUTQ, &n_unread), 0);
		kill(pid, SIGKILL);
		pthread_join(thread, &result);
		assert_int_equal(*(CUDBGResult *)result, CUDBG_ERROR_COMMUNICATION_FAILURE);
		assert_dead(api, 0);
		if (calls_back)
			await_call();
		ws_cudbg_release(api);
		assert_int_equal(told, calls_back);
		bury(pid);
	}
}

/* Who is in no session is not told by an event. */
static void a_death_outside_a_session_is_no_event(void **state)
{
	(void)state;
	for (unsigned was_in_one = 0; was_in_one < 2; was_in_one++) {
		CUDBGAPI api;
		CUDBGEvent event;
		pid_t pid = fork_server();
		assert_int_equal(ws_cudbg_connect(ends[0], &api, NULL), WS_OK);
		if (was_in_one) {
			assert_int_equal(api->initialize(), CUDBG_SUCCESS);
			assert_int_equal(api->finalize(), CUDBG_SUCCESS);
		}
		kill(pid, SIGKILL);
		bury(pid);
		for (unsigned i = 0; i < 2; i++)
			assert_int_equal(api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_ASYNC, &event),
					 CUDBG_ERROR_COMMUNICATION_FAILURE);
		ws_cudbg_release(api);
	}
}

/* ---- clients ---- */

static struct fake fake;
static struct ws_provider provider;
static enum ws_status served;

static void *serve(void *data)
{
	(void)data;
	served = ws_cudbg_serve(&provider, ends[0], NULL);
	return NULL;
}

/* What a server says to a client that sends this and then nothing. */
static enum ws_status serve_bytes(const void *bytes, size_t n, bool greets)
{
	const struct wsi_wire_greeting greeting = wsi_wire_greeting();
	int for_events[2];
	pthread_t server;
	make_socket();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, for_events), 0);
	if (greets)
		assert_true(wsi_packet_send(ends[1], &greeting, sizeof greeting, for_events[1]));
	assert_int_equal(pthread_create(&server, NULL, serve, NULL), 0);
	if (n)
		push(ends[1], bytes, n);
	shutdown(ends[1], SHUT_WR);
	pthread_join(server, NULL);
	for (int i = 0; i < 2; i++) {
		close(ends[i]);
		close(for_events[i]);
	}
	return served;
}

static void open_provider(void)
{
	fake_init_running(&fake);
	provider = (struct ws_provider){ .major = UINT32_MAX };
	assert_int_equal(ws_cudbg_api(&fake.target, &provider.api, NULL), WS_OK);
}

static int close_provider(void **state)
{
	(void)state;
	ws_cudbg_release(provider.api);
	provider.api = NULL;
	ws_target_close(&fake.target);
	return 0;
}

struct request {
	struct wsi_wire_request head;
	uint64_t number[8];
	uint8_t bytes[64];
};

static struct request request_of(unsigned slot, uint32_t n_bytes)
{
	return (struct request){ .head = { .n_bytes = n_bytes, .slot = (uint16_t)slot } };
}

static void a_request_that_cannot_be_ends_it(void **state)
{
	(void)state;
	const unsigned write = WSI_SLOT(writeGlobalMemory), rules = WSI_SLOT(setCudaLogRules);
	struct request bad[12];
	size_t n = 0;
	open_provider();
	bad[n++] = request_of(WSI_API_SLOTS, 0);
	bad[n++] = request_of(UINT16_MAX, 0);
	bad[n++] = request_of(WSI_SLOT(initialize), 8);
	bad[n++] = request_of(WSI_SLOT(initialize), UINT32_MAX);
	bad[n++] = request_of(WSI_SLOT(getNumSMs), 8); /* it has two arguments */
	bad[n] = request_of(write, 3 * 8 + 16);
	bad[n].head.present = 2;
	bad[n].number[1] = 16;
	bad[n++].number[2] = 32; /* another size than what goes in */
	bad[n] = request_of(write, 3 * 8 + 16);
	bad[n].head.present = 2;
	bad[n].number[1] = 32; /* more than there is */
	bad[n++].number[2] = 32;
	bad[n] = request_of(WSI_SLOT(lookupDeviceCodeSymbol), 3 * 8);
	bad[n].head.present = 7;
	bad[n++].number[0] = 1 << 29; /* a text that is not there */
	bad[n] = request_of(rules, 3 * 8 + sizeof(CUDBGCudaLogRule));
	bad[n].head.present = 5; /* the rule's text is missing */
	bad[n].number[0] = sizeof(CUDBGCudaLogRule);
	bad[n++].number[1] = 1;
	bad[n] = bad[n - 1]; /* or has no end */
	bad[n].head.n_bytes += 8 + 3;
	bad[n].bytes[sizeof(CUDBGCudaLogRule) - 16] = 3;
	memset(bad[n].number + 3, 0, sizeof(CUDBGCudaLogRule));
	uint64_t len = 3;
	uint8_t *at = (uint8_t *)(bad[n].number + 3) + sizeof(CUDBGCudaLogRule);
	memcpy(at, &len, sizeof len);
	memcpy(at + sizeof len, "abc", 3);
	n++;
	for (size_t i = 0; i < n; i++)
		if (serve_bytes(&bad[i], sizeof bad[i], true) != WS_MALFORMED)
			fail_msg("request %zu: %s", i, ws_status_name(served));
}

static void a_client_that_leaves_lets_go(void **state)
{
	(void)state;
	const struct request start = request_of(WSI_SLOT(initialize), 0);
	open_provider();
	for (size_t n = 0; n <= sizeof start.head; n++) {
		fake.detached = -1;
		assert_int_equal(serve_bytes(&start, n, true), WS_OK);
		/* a whole request began a session, which is ended as a detach */
		assert_int_equal(fake.detached, n == sizeof start.head ? 1 : -1);
	}
	uint32_t n;
	assert_int_equal(provider.api->getNumDevices(&n), CUDBG_ERROR_UNINITIALIZED);
}

static void what_is_no_client_is_refused(void **state)
{
	(void)state;
	struct wsi_wire_greeting greeting = wsi_wire_greeting();
	open_provider();
	assert_int_equal(serve_bytes(&greeting, sizeof greeting, false), WS_UNSUPPORTED);
	greeting.version++;
	assert_int_equal(serve_bytes(&greeting, sizeof greeting, false), WS_UNSUPPORTED);
	assert_int_equal(serve_bytes(&greeting, 3, false), WS_IO);
	assert_int_equal(serve_bytes(NULL, 0, false), WS_IO);
	assert_int_equal(ws_cudbg_serve(NULL, 0, NULL), WS_ARGUMENT);
	assert_int_equal(ws_cudbg_serve(&provider, -1, NULL), WS_ARGUMENT);
}

/* Old providers lack the newest functions; a client is told so, and events are told all the same.
 */
static void a_provider_may_lack_functions(void **state)
{
	(void)state;
	pthread_t server;
	CUDBGAPI api;
	CUDBGBreakpointHandle handle;
	open_provider();
	provider.major = 12;
	provider.minor = 4;
	make_socket();
	int mine = ends[1];
	assert_int_equal(pthread_create(&server, NULL, serve, NULL), 0);
	assert_int_equal(ws_cudbg_connect(mine, &api, NULL), WS_OK);
	assert_int_equal(api->initialize(), CUDBG_SUCCESS);
	assert_int_equal(api->insertBreakpoint(0, FAKE_CODE, &handle),
			 CUDBG_ERROR_UNKNOWN_FUNCTION);
	told = 0;
	assert_int_equal(api->setNotifyNewEventCallback(note_event, NULL),
			 CUDBG_ERROR_UNKNOWN_FUNCTION);
	assert_int_equal(api->setNotifyNewEventCallback41(note_event41), CUDBG_SUCCESS);
	pthread_mutex_lock(&lock);
	while (told == 0)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	ws_cudbg_release(api);
	pthread_join(server, NULL);
	assert_int_equal(served, WS_OK);
	close(ends[0]);
}

/* A server that means to leave says so: with a callback and without, whichever end is looked at
 * first. */
static void a_server_that_leaves_is_not_dead(void **state)
{
	(void)state;
	static const int ways[] = { SHUT_RD, SHUT_RDWR };
	for (unsigned i = 0; i < 4; i++) {
		const bool calls_back = i & 1;
		CUDBGEvent event;
		pthread_t server;
		open_provider();
		make_socket();
		assert_int_equal(pthread_create(&server, NULL, serve, NULL), 0);
		CUDBGAPI api = begin_session(ends[1]);
		if (calls_back)
			assert_int_equal(api->setNotifyNewEventCallback(note_event, NULL),
					 CUDBG_SUCCESS);
		shutdown(ends[0], ways[i / 2]);
		for (unsigned j = 0; j < 3; j++)
			assert_int_equal(api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_ASYNC, &event),
					 CUDBG_ERROR_COMMUNICATION_FAILURE);
		if (calls_back)
			await_call();
		pthread_join(server, NULL);
		assert_int_equal(served, WS_OK);
		ws_cudbg_release(api);
		assert_int_equal(told, calls_back);
		close(ends[0]);
		(void)close_provider(NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_reply_is_taken),
		cmocka_unit_test(a_reply_that_ends_early_is_none),
		cmocka_unit_test(a_reply_that_cannot_be_is_none),
		cmocka_unit_test(a_lent_image_must_be_there),
		cmocka_unit_test(words_of_a_failure_are_bounded),
		cmocka_unit_test(a_reply_must_not_stall),
		cmocka_unit_test(what_is_no_server_is_refused),
		cmocka_unit_test(a_client_learns_that_the_server_was_killed),
		cmocka_unit_test(a_death_is_told_inside_the_callback),
		cmocka_unit_test(a_death_in_the_middle_of_a_call_is_told),
		cmocka_unit_test(a_death_outside_a_session_is_no_event),
		cmocka_unit_test_teardown(a_request_that_cannot_be_ends_it, close_provider),
		cmocka_unit_test_teardown(a_client_that_leaves_lets_go, close_provider),
		cmocka_unit_test_teardown(what_is_no_client_is_refused, close_provider),
		cmocka_unit_test(a_server_that_leaves_is_not_dead),
		cmocka_unit_test_teardown(a_provider_may_lack_functions, close_provider),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
