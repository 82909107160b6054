/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program under a debugger: its life, attaching and detaching, who may debug it, and the end of
 * what has the device. usage: test_debugged FATBIN
 */
#define _GNU_SOURCE /* struct ucred */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/sockios.h>

#include <warpscope/cudadebugger.h>

#include "api.h"
#include "debugged.h"

static void test_life(void **state)
{
	uint32_t n = 7;
	(void)state;
	start(STOPS | NO_SWITCHES, true);
	/* it stands before cuInit(), as for a breakpoint there */
	assert_int_equal(api->initialize(), CUDBG_SUCCESS);
	assert_int_equal(api->getNumDevices(&n), CUDBG_SUCCESS);
	assert_int_equal(n, 0);
	assert_int_equal(api->setNotifyNewEventCallback(called, NULL), CUDBG_SUCCESS);
	assert_int_equal(api->suspendDevice(0), CUDBG_ERROR_UNINITIALIZED);
	do_steps("i");
	tell('c');
	for (int i = 0; i < MOST_MS && atomic_load(&n_calls) == 0; i++)
		(void)poll(NULL, 0, 1);
	assert_int_equal(atomic_load(&n_calls), 1);
	assert_int_equal(hear(MOST_MS), 'c');
	assert_int_equal(api->getNumDevices(&n), CUDBG_SUCCESS);
	assert_int_equal(n, 1);
	assert_int_equal(n_events, 1);
	assert_int_equal(events[0].kind, CUDBG_EVENT_CTX_CREATE);
	assert_int_equal(events[0].cases.contextCreate.tid, program.pid);
	do_steps("ml");
	assert_int_equal(count(CUDBG_EVENT_ELF_IMAGE_LOADED), 1);
	const CUDBGEvent ready = events[first(CUDBG_EVENT_KERNEL_READY)];
	assert_int_equal(ready.cases.kernelReady.tid, program.pid);
	assert_true(first(CUDBG_EVENT_ELF_IMAGE_LOADED) < first(CUDBG_EVENT_KERNEL_READY));
	assert_true(first(CUDBG_EVENT_KERNEL_READY) < first(CUDBG_EVENT_KERNEL_FINISHED));
	do_steps("r");
	assert_int_equal(count(CUDBG_EVENT_ELF_IMAGE_UNLOADED), 1);
	assert_int_equal(count(CUDBG_EVENT_CTX_DESTROY), 1);
	const uint64_t gone =
		events[first(CUDBG_EVENT_ELF_IMAGE_UNLOADED)].cases.elfImageUnloaded.handle;
	assert_int_equal(gone,
			 events[first(CUDBG_EVENT_ELF_IMAGE_LOADED)].cases.elfImageLoaded.handle);
	n_events = 0;
	do_steps("cml");
	assert_int_equal(count(CUDBG_EVENT_CTX_CREATE), 1);
	assert_int_not_equal(
		events[first(CUDBG_EVENT_ELF_IMAGE_LOADED)].cases.elfImageLoaded.handle, gone);
	end();
}

/* The program's thread goes on when its event is acknowledged, and not before. */
static void test_waiting(void **state)
{
	(void)state;
	start(STOPS | NO_SWITCHES, true);
	assert_int_equal(api->initialize(), CUDBG_SUCCESS);
	do_steps("i");
	acknowledges = false;
	tell('c');
	assert_int_equal(hear(200), 0);
	assert_int_equal(count(CUDBG_EVENT_CTX_CREATE), 1);
	assert_int_equal(api->acknowledgeSyncEvents(), CUDBG_SUCCESS);
	assert_int_equal(hear(MOST_MS), 'c');
	tell('m');
	assert_int_equal(hear(200), 0);
	assert_int_equal(count(CUDBG_EVENT_ELF_IMAGE_LOADED), 1);
	assert_int_equal(api->acknowledgeSyncEvents(), CUDBG_SUCCESS);
	assert_int_equal(hear(MOST_MS), 'm');
	tell('l');
	assert_int_equal(hear(200), 0);
	assert_int_equal(count(CUDBG_EVENT_KERNEL_READY), 1);
	assert_int_equal(count(CUDBG_EVENT_KERNEL_FINISHED), 0);
	assert_int_equal(api->acknowledgeSyncEvents(), CUDBG_SUCCESS);
	assert_int_equal(hear(MOST_MS), 'l');
	end();
}

/* While the device stands for the debugger the program's requests wait, and then are done. */
static void test_standing(void **state)
{
	(void)state;
	start(STOPS | NO_SWITCHES, true);
	assert_int_equal(api->initialize(), CUDBG_SUCCESS);
	do_steps("ic");
	assert_int_equal(api->suspendDevice(0), CUDBG_SUCCESS);
	tell('m');
	assert_int_equal(hear(200), 0);
	assert_int_equal(api->resumeDevice(0), CUDBG_SUCCESS);
	assert_int_equal(hear(MOST_MS), 'm');
	end();
}

/* ---- the process that has the device dies, or ends with the program ---- */

/* It is who listened at the socket that leads to it. */
static pid_t find_agent(int *ret_socket)
{
	for (int fd = 3; fd < 256; fd++) {
		struct ucred peer;
		socklen_t n = sizeof peer;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.pid > 0 &&
		    peer.pid != getpid()) {
			*ret_socket = fd;
			return peer.pid;
		}
	}
	fail_msg("there is no agent");
	return 0;
}

/* Whether all threads of a process stand. */
static bool stands(pid_t pid)
{
	char path[300], about[200], state = 'T';
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	assert_non_null(tasks);
	for (const struct dirent *task; state == 'T' && (task = readdir(tasks));) {
		snprintf(path, sizeof path, "/proc/%d/task/%s/stat", (int)pid, task->d_name);
		FILE *file = task->d_name[0] == '.' ? NULL : fopen(path, "r");
		if (file && fgets(about, sizeof about, file))
			state = strrchr(about, ')')[2];
		if (file)
			fclose(file);
	}
	closedir(tasks);
	return state == 'T';
}

static CUDBGResult result_of_call;

static void *make_call(void *unused)
{
	uint64_t mask;
	(void)unused;
	result_of_call = api->readValidWarps(0, 0, &mask);
	return NULL;
}

/* Kills it when a call has come to it and is not answered. */
static void kill_in_a_call(pid_t agent, int socket)
{
	pthread_t thread;
	int n_unread = 0;
	assert_int_equal(kill(agent, SIGSTOP), 0);
	while (!stands(agent))
		(void)poll(NULL, 0, 1);
	assert_int_equal(pthread_create(&thread, NULL, make_call, NULL), 0);
	while (n_unread == 0)
		assert_int_equal(ioctl(socket, SIOCOUTQ, &n_unread), 0);
	assert_int_equal(kill(agent, SIGKILL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(result_of_call, CUDBG_ERROR_COMMUNICATION_FAILURE);
}

/* All that is told from now on; what the callback was called for until now is `before`. */
static void take_the_rest(unsigned before)
{
	CUDBGEvent event;
	CUDBGResult result = CUDBG_SUCCESS;
	for (int i = 0; i < MOST_MS && atomic_load(&n_calls) == before; i++)
		(void)poll(NULL, 0, 1);
	assert_true(atomic_load(&n_calls) > before);
	n_events = 0;
	for (int i = 0; i < MOST_MS && result != CUDBG_ERROR_COMMUNICATION_FAILURE; i++) {
		result = api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_ASYNC, &event);
		if (result == CUDBG_SUCCESS)
			events[n_events++] = event;
		else
			(void)poll(NULL, 0, 1);
	}
	assert_int_equal(result, CUDBG_ERROR_COMMUNICATION_FAILURE);
	assert_int_equal(api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_ASYNC, &event), result);
}

/* Each call says so, one event does, and so does the program's. */
static void test_loss(void **state)
{
	enum { RUNS, STANDS, IN_A_CALL, GIVES_UP, MOMENTS };
	(void)state;
	for (int moment = RUNS; moment < MOMENTS; moment++) {
		uint64_t mask;
		int socket = -1;
		start(STOPS | NO_SWITCHES, true);
		assert_int_equal(api->initialize(), CUDBG_SUCCESS);
		assert_int_equal(api->setNotifyNewEventCallback(called, NULL), CUDBG_SUCCESS);
		do_steps(moment == RUNS ? "icmh" : "icm");
		if (moment == STANDS)
			assert_int_equal(api->suspendDevice(0), CUDBG_SUCCESS);
		const unsigned before = atomic_load(&n_calls);
		const pid_t agent = find_agent(&socket);
		if (moment == IN_A_CALL)
			kill_in_a_call(agent, socket);
		else if (moment == GIVES_UP)
			tell('k');
		else
			assert_int_equal(kill(agent, SIGKILL), 0);
		take_the_rest(before);
		assert_int_equal(n_events, 1);
		assert_int_equal(events[0].kind, CUDBG_EVENT_INTERNAL_ERROR);
		assert_int_equal(events[0].cases.internalError.errorType,
				 CUDBG_ERROR_COMMUNICATION_FAILURE);
		assert_int_equal(api->readValidWarps(0, 0, &mask),
				 CUDBG_ERROR_COMMUNICATION_FAILURE);
		assert_int_equal(api->acknowledgeSyncEvents(), CUDBG_ERROR_COMMUNICATION_FAILURE);
		acknowledges = false; /* nobody may be left who could be told */
		if (moment == GIVES_UP)
			assert_int_equal(hear(MOST_MS), 'k');
		tell('m');
		assert_int_equal(hear(MOST_MS), '-');
		assert_int_equal(api->finalize(), CUDBG_ERROR_COMMUNICATION_FAILURE);
		bury();
	}
}

/* A program that ends, whichever way and whatever the device does, has lost no agent. */
static void test_farewell(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++) {
		const bool stands_still = i & 1, runs = i & 2, is_killed = i & 4;
		int status;
		start(STOPS | NO_SWITCHES, true);
		assert_int_equal(api->initialize(), CUDBG_SUCCESS);
		assert_int_equal(api->setNotifyNewEventCallback(called, NULL), CUDBG_SUCCESS);
		do_steps(runs ? "icmh" : "icm");
		if (stands_still)
			assert_int_equal(api->suspendDevice(0), CUDBG_SUCCESS);
		const unsigned before = atomic_load(&n_calls);
		if (is_killed)
			kill(program.pid, SIGKILL);
		close(program.tell);
		assert_int_equal(waitpid(program.pid, &status, 0), program.pid);
		take_the_rest(before);
		for (unsigned j = 0; j < n_events; j++)
			assert_int_not_equal(events[j].kind, CUDBG_EVENT_INTERNAL_ERROR);
		assert_int_equal(api->finalize(), CUDBG_ERROR_COMMUNICATION_FAILURE);
		close(program.hear);
		close(program.out);
	}
}

/* ---- attaching and detaching, as the manual of the API has them (2.5) ---- */

/* A variable of the program, which lies where it lies here. */
static uint32_t peek(const void *variable)
{
	char path[40];
	uint32_t value;
	snprintf(path, sizeof path, "/proc/%d/mem", (int)program.pid);
	int fd = open(path, O_RDONLY);
	assert_int_equal(pread(fd, &value, sizeof value, (off_t)(uintptr_t)variable), sizeof value);
	close(fd);
	return value;
}

static void poke(const void *variable, uint32_t value)
{
	char path[40];
	snprintf(path, sizeof path, "/proc/%d/mem", (int)program.pid);
	int fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, &value, sizeof value, (off_t)(uintptr_t)variable),
			 sizeof value);
	close(fd);
}

/* By the descriptor, with a place to break on. */
static void ask_by_descriptor(void)
{
	char path[64], byte;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)program.pid,
		 (int)peek(&cudbgInitiateDebuggerAttachProcedureFd));
	int fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	assert_int_equal(read(program.hear, &byte, 1), 1); /* nobody listens to events yet */
	assert_int_equal(byte, 'F');
	assert_int_equal(api->initialize(), CUDBG_SUCCESS);
}

static void ask_by_call(char step)
{
	CUDBGResult result = CUDBG_ERROR_ATTACH_NOT_POSSIBLE;
	tell(step);
	assert_int_equal(hear(MOST_MS), CUDBG_SUCCESS + 1);
	for (int i = 0; i < MOST_MS && result != CUDBG_SUCCESS; i++) {
		result = api->initialize();
		(void)poll(NULL, 0, 1);
	}
	assert_int_equal(result, CUDBG_SUCCESS);
	assert_int_equal(api->initializeAttachStub(), CUDBG_SUCCESS);
}

/* What there is, and ATTACH_COMPLETE behind it; or nothing, and that is known beforehand. That the
 * devices stand is told in both cases. */
static void collect(bool has_context)
{
	n_events = 0;
	assert_int_equal(peek(&cudbgResumeForAttachDetach), has_context);
	if (has_context) {
		for (int i = 0; i < MOST_MS && count(CUDBG_EVENT_ATTACH_COMPLETE) == 0; i++)
			assert_int_equal(hear(1), 0);
		assert_int_equal(first(CUDBG_EVENT_CTX_CREATE), 0);
		assert_int_equal(first(CUDBG_EVENT_ELF_IMAGE_LOADED), 1);
		assert_int_equal(first(CUDBG_EVENT_KERNEL_READY), n_events - 2);
		assert_int_equal(first(CUDBG_EVENT_ATTACH_COMPLETE), n_events - 1);
	} else {
		poke(&cudbgIpcFlag, 1);
		take_events();
		assert_int_equal(n_events, count(CUDBG_EVENT_ALL_DEVICES_SUSPENDED));
	}
	assert_int_equal(api->suspendDevice(0), CUDBG_ERROR_SUSPENDED_DEVICE);
}

static void detach(bool has_context)
{
	assert_int_equal(peek(&cudbgDebuggerInitialized), 1);
	assert_int_equal(api->clearAttachState(), CUDBG_SUCCESS);
	tell('D');
	(void)hear(MOST_MS);
	const uint32_t resume = peek(&cudbgResumeForAttachDetach);
	assert_int_equal(resume, has_context);
	if (resume)
		assert_int_equal(api->requestCleanupOnDetach(resume), CUDBG_SUCCESS);
	poke(&cudbgDebuggerInitialized, 0);
	for (int i = 0; i < MOST_MS && resume && count(CUDBG_EVENT_DETACH_COMPLETE) == 0; i++)
		assert_int_equal(hear(1), 0);
	assert_int_equal(count(CUDBG_EVENT_DETACH_COMPLETE), has_context);
	poke(&cudbgIpcFlag, 0);
	assert_int_equal(api->finalize(), CUDBG_SUCCESS);
}

/* Each way twice: to a program that has no context yet, or whose kernel runs. */
static void attach_twice(const char *way, bool has_context)
{
	start(STOPS | NO_SWITCHES, false);
	do_steps(has_context ? "icmh" : "i");
	for (unsigned i = 0; i < 2; i++) {
		if (i == 1)
			poke(&cudbgSessionId, ++cudbgSessionId);
		if (*way == 'F')
			ask_by_descriptor();
		else
			ask_by_call(*way);
		collect(has_context);
		if (i == 1 && !has_context) { /* it is told of what comes */
			tell('c');
			assert_int_equal(hear(100), 0); /* all devices stand */
			assert_int_equal(api->resumeDevice(0), CUDBG_SUCCESS);
			assert_int_equal(hear(MOST_MS), 'c');
			assert_int_equal(count(CUDBG_EVENT_CTX_CREATE), 1);
			has_context = true;
		}
		detach(has_context);
	}
	do_steps(count(CUDBG_EVENT_KERNEL_READY) ? "u" : "ml");
	bury();
}

static void test_attach(void **state)
{
	(void)state;
	for (const char *way = "FaA"; *way; way++) {
		attach_twice(way, false);
		attach_twice(way, true);
	}
}

/* Why nobody was let in, for who called the function: its code, and 1. */
static void test_refusals(void **state)
{
	int socket = -1;
	uint32_t n;
	(void)state;
	start(STOPS | NO_SWITCHES, false);
	tell('a'); /* before cuInit() */
	assert_int_equal(hear(MOST_MS), CUDBG_ERROR_ATTACH_NOT_POSSIBLE + 1);
	do_steps("i");
	tell('a');
	assert_int_equal(hear(MOST_MS), CUDBG_SUCCESS + 1);
	tell('a'); /* there is one already */
	assert_int_equal(hear(MOST_MS), CUDBG_ERROR_ATTACH_NOT_POSSIBLE + 1);
	assert_int_equal(api->initialize(), CUDBG_SUCCESS);
	acknowledges = false; /* nobody may be left who could be told */
	assert_int_equal(kill(find_agent(&socket), SIGKILL), 0);
	while (api->getNumDevices(&n) == CUDBG_SUCCESS)
		(void)poll(NULL, 0, 1);
	tell('a');
	assert_int_equal(hear(MOST_MS), CUDBG_ERROR_COMMUNICATION_FAILURE + 1);
	bury();
	(void)api->finalize();
}

/* The name at which somebody listens for this session of a process, as the system lists it. */
static bool find_listener(pid_t client, struct sockaddr_un *ret_name, socklen_t *ret_len)
{
	char prefix[80], line[300];
	bool found = false;
	int n = snprintf(prefix, sizeof prefix, " @warpscope-gpu/%d/%u/", (int)client,
			 cudbgSessionId);
	FILE *list = fopen("/proc/net/unix", "r");
	while (list && !found && fgets(line, sizeof line, list)) {
		const char *name = strstr(line, prefix);
		found = name && strlen(name) == (size_t)n + 32 + 1; /* and no fewer secrets */
		if (!found)
			continue;
		*ret_name = (struct sockaddr_un){ .sun_family = AF_UNIX };
		memcpy(ret_name->sun_path + 1, name + 2, (size_t)n - 2 + 32);
		*ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n - 2 +
				       32);
	}
	if (list)
		fclose(list);
	return found;
}

/* Nobody but the process that was announced gets in. */
static void test_strangers(void **state)
{
	struct sockaddr_un name;
	socklen_t len = 0;
	char byte;
	(void)state;
	start(STOPS | NO_SWITCHES, true);
	tell('i'); /* it waits for us */
	pid_t stranger = fork();
	if (stranger == 0) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);
		if (geteuid() == 0 && setuid(65534) != 0)
			_exit(3);
		for (int i = 0; i < MOST_MS / 10 && !find_listener(getppid(), &name, &len); i++)
			(void)poll(NULL, 0, 10);
		if (connect(fd, (struct sockaddr *)&name, len) != 0)
			_exit(4);
		_exit(read(fd, &byte, 1) == 0 ? 0 : 1); /* turned away without a word */
	}
	int status;
	assert_int_equal(waitpid(stranger, &status, 0), stranger);
	assert_int_equal(status, 0);
	assert_int_equal(api->initialize(), CUDBG_SUCCESS);
	assert_int_equal(hear(MOST_MS), 'i');
	uint32_t n = 0;
	assert_int_equal(api->getNumDevices(&n), CUDBG_SUCCESS);
	assert_int_equal(n, 1); /* we are the one who got in */
	end();
}

/* Who took names before: all that can be known of it, and some more. Neither does the debugger talk
 * to another user, also where it is root, nor is it kept out. */
static void test_squatters(void **state)
{
	char byte = 'k';
	int ready[2];
	(void)state;
	if (geteuid() != 0)
		skip(); /* who is somebody else? */
	assert_int_equal(pipe(ready), 0);
	const uint32_t session = cudbgSessionId + 1; /* start() takes the next */
	pid_t squatter = fork();
	if (squatter == 0) {
		if (setuid(65534) != 0)
			_exit(3);
		for (unsigned i = 0; i < 100; i++) {
			struct sockaddr_un name = { .sun_family = AF_UNIX };
			const unsigned next = session + i / 10;
			int n = i % 10 ? snprintf(name.sun_path + 1, sizeof name.sun_path - 1,
						  "warpscope-gpu/%d/%u/%032u", (int)getppid(), next,
						  i)
				       : snprintf(name.sun_path + 1, sizeof name.sun_path - 1,
						  "warpscope-gpu/%d/%u", (int)getppid(), next);
			int fd = socket(AF_UNIX, SOCK_STREAM, 0);
			socklen_t len =
				(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
			if (bind(fd, (struct sockaddr *)&name, len) != 0 ||
			    listen(fd, i % 3 ? 8 : 0) != 0)
				_exit(4);
		}
		(void)!write(ready[1], &byte, 1);
		for (;;)
			(void)pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	start(STOPS | NO_SWITCHES, true);
	tell('i');
	assert_int_equal(api->initialize(), CUDBG_SUCCESS);
	assert_int_equal(hear(MOST_MS), 'i');
	uint32_t n = 0;
	assert_int_equal(api->getNumDevices(&n), CUDBG_SUCCESS);
	assert_int_equal(n, 1); /* not the squatter's answer */
	end();
	kill(squatter, SIGKILL);
	assert_int_equal(waitpid(squatter, NULL, 0), squatter);
	close(ready[0]);
	close(ready[1]);
}

static void test_versions(void **state)
{
	CUDBGAPI other;
	uint32_t major, minor, revision;
	(void)state;
	assert_int_equal(cudbgGetAPI(11, 8, 0, &other), CUDBG_ERROR_INCOMPATIBLE_API);
	assert_int_equal(cudbgGetAPI(12, 4, 0, NULL), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(cudbgGetAPIVersion(&major, &minor, &revision), CUDBG_SUCCESS);
	assert_int_equal(major, 13);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),      cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_standing),  cmocka_unit_test(test_attach),
		cmocka_unit_test(test_loss),      cmocka_unit_test(test_farewell),
		cmocka_unit_test(test_refusals),  cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_squatters), cmocka_unit_test(test_versions),
	};
	return DEBUGGED_MAIN(argc, argv, tests);
}
