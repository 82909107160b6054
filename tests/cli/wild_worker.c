/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker of the triage that does as the name of a file says, as one that a dump took over may do
 * anything: linked in the place of the real one, for tests/cli/test_triage_workers.py.
 */
#include "triage/triage.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1 << 24 }; /* bytes of a record that are taken */

_Noreturn void __wrap_triage_worker(const struct cli *cli, const struct triage_args *args,
				    const struct triage_list *list, int fd, pid_t parent);

static bool take(int fd, void *bytes, size_t len)
{
	for (char *at = bytes; len;) {
		ssize_t n = read(fd, at, len);
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

/* `step` bytes at a time. */
static void send_all(int fd, const char *bytes, size_t len, size_t step)
{
	for (size_t at = 0; at < len; at += step)
		(void)!ws_write_fd(&fd, bytes + at, at + step < len ? step : len - at);
}

/* A record as long as is asked for: {"of":"NAME      "} and a line end. */
static char *record(const char *name, size_t len)
{
	char *text = calloc(1, sizeof(struct triage_answer) + len + 1);
	if (!text)
		_exit(9);
	struct triage_answer answer = { 1, (uint32_t)len };
	memcpy(text, &answer, sizeof answer);
	char *line = text + sizeof answer;
	memset(line, ' ', len);
	int n = snprintf(line, len, "{\"of\":\"%s", name);
	line[n] = ' ';
	memcpy(line + len - 3, "\"}\n", 3);
	return text;
}

/* The end of a record that comes with the next one. */
static char held[8];
static size_t n_held;

static void send_held(int fd, const char *text, size_t len)
{
	char bytes[sizeof held + 20];
	memcpy(bytes, held, sizeof held);
	memcpy(bytes + sizeof held, text, 20);
	(void)!ws_write_fd(&fd, bytes, sizeof bytes);
	(void)!poll(NULL, 0, 50); /* it is taken in between */
	(void)!ws_write_fd(&fd, text + 20, len - 20);
	n_held = 0;
}

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static void reply(int fd, const char *name)
{
	size_t len = begins(name, "most") ? MOST : begins(name, "over") ? MOST + 1 : 64;
	const size_t all = sizeof(struct triage_answer) + len;
	char *text = record(name, len), *line = text + sizeof(struct triage_answer);
	struct triage_answer *answer = (struct triage_answer *)(void *)text;
	if (begins(name, "crash"))
		abort();
	if (begins(name, "exit"))
		_exit(3);
	if (begins(name, "slow"))
		sleep(600);
	if (begins(name, "other")) {
		answer->is_dump = answer->len = 0;
		send_all(fd, text, sizeof *answer, sizeof *answer);
		return;
	}
	if (begins(name, "none"))
		answer->len = 0;
	if (begins(name, "open"))
		line[len - 1] = ' ';
	if (begins(name, "early"))
		line[len - 2] = '\n';
	if (n_held) {
		send_held(fd, text, all);
		free(text);
		return;
	}
	if (begins(name, "held")) {
		n_held = sizeof held;
		memcpy(held, text + all - n_held, n_held);
		(void)!ws_write_fd(&fd, text, all - n_held);
		free(text);
		return;
	}
	bool is_half = begins(name, "half");
	send_all(fd, text, is_half ? all / 2 : all, begins(name, "torn") ? 5 : all);
	if (is_half)
		_exit(0);
	if (begins(name, "twice"))
		send_all(fd, text, all, all);
	free(text);
}

_Noreturn void __wrap_triage_worker(const struct cli *cli, const struct triage_args *args,
				    const struct triage_list *list, int fd, pid_t parent)
{
	struct triage_request request;
	char path[4096];
	(void)cli, (void)args, (void)list, (void)parent;
	while (take(fd, &request, sizeof request) && request.path_len < sizeof path &&
	       take(fd, path, request.path_len)) {
		path[request.path_len] = '\0';
		reply(fd, strrchr(path, '/') + 1);
	}
	_exit(0);
}
