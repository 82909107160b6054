/* SPDX-License-Identifier: Apache-2.0 */
/* See meeting.h. */
#ifdef __linux__
#define _GNU_SOURCE /* struct ucred, accept4 */
#include <fcntl.h>
#include <stddef.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#endif
#include <errno.h>
#include <stdio.h>

#include <warpscope/meeting.h>

#include "base/base.h"

#ifdef __linux__

enum { SECRET_BYTES = 16 };

/* How the names of a session begin: what follows cannot be guessed, so that nobody takes a name
 * before it is used. */
static size_t prefix_of(uint32_t client_pid, uint32_t session, char *ret, size_t size)
{
	return (size_t)snprintf(ret, size, "warpscope-gpu/%" PRIu32 "/%" PRIu32 "/", client_pid,
				session);
}

/* An address without a file, and how long it is. */
static socklen_t meeting_address(const char *name, size_t len, struct sockaddr_un *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->sun_family = AF_UNIX;
	len = len < sizeof ret->sun_path - 1 ? len : sizeof ret->sun_path - 1;
	memcpy(ret->sun_path + 1, name, len);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
}

static enum ws_status failed(const char *what, int fd, struct ws_error *err)
{
	int reason = errno;
	if (fd >= 0)
		close(fd);
	return wsi_fail(err, reason == ECONNREFUSED ? WS_ABSENT : WS_IO, WS_NO_OFFSET,
			"%s: error %d of the system", what, reason);
}

static bool peer_of(int fd, struct ucred *ret)
{
	socklen_t n = sizeof *ret;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret, &n) == 0;
}

enum ws_status ws_cudbg_listen(uint32_t client_pid, uint32_t session, int *ret_listener,
			       struct ws_error *err)
{
	struct sockaddr_un name;
	uint8_t secret[SECRET_BYTES];
	char text[100];
	size_t len = prefix_of(client_pid, session, text, sizeof text);
	if (getrandom(secret, sizeof secret, 0) != (ssize_t)sizeof secret)
		return failed("the name of a debugger", -1, err);
	for (size_t i = 0; i < sizeof secret; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%02x", secret[i]);
	socklen_t n = meeting_address(text, len, &name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&name, n) != 0 || listen(fd, 8) != 0)
		return failed("the name of a debugger", fd, err);
	*ret_listener = fd;
	return WS_OK;
}

enum ws_status ws_cudbg_accept(int listener, uint32_t client_pid, int *ret_socket,
			       struct ws_error *err)
{
	for (;;) {
		struct ucred peer;
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0 && errno != EINTR && errno != ECONNABORTED)
			return failed("waiting for a debugger", -1, err);
		if (fd < 0)
			continue;
		if (peer_of(fd, &peer) && (uint32_t)peer.pid == client_pid &&
		    (peer.uid == geteuid() || peer.uid == 0)) {
			*ret_socket = fd;
			return WS_OK;
		}
		close(fd);
	}
}

/* The socket of a listener of that user; -1: it is somebody else's, who is not sent a byte, or has
 * no time. Whoever asks, root too, is only answered by that user. */
static int meet_at(const char *name, size_t len, uint32_t uid)
{
	struct sockaddr_un address;
	struct ucred peer;
	const socklen_t n = meeting_address(name, len, &address);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, n) != 0 ||
	    !peer_of(fd, &peer) || peer.uid != uid || fcntl(fd, F_SETFL, 0) != 0) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

/* Each line of the system's list ends with the name of a socket, '@' for one without a file. Others
 * may have made names like ours: they are passed over. */
enum ws_status ws_cudbg_meet(uint32_t session, uint32_t uid, int *ret_socket, struct ws_error *err)
{
	char prefix[60], line[512]; /* a name has 107 bytes at most */
	size_t len = prefix_of((uint32_t)getpid(), session, prefix, sizeof prefix);
	FILE *list = fopen("/proc/net/unix", "re");
	int fd = -1;
	if (!list)
		return failed("the system's list of sockets", -1, err);
	while (fd < 0 && fgets(line, sizeof line, list)) {
		const char *name = strstr(line, " @");
		const char *end = line + strcspn(line, "\n");
		if (name && (size_t)(end - name) == 2 + len + (size_t)2 * SECRET_BYTES &&
		    memcmp(name + 2, prefix, len) == 0)
			fd = meet_at(name + 2, (size_t)(end - name) - 2, uid);
	}
	fclose(list);
	if (fd < 0)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"nobody of the program's user listens for this debugger");
	*ret_socket = fd;
	return WS_OK;
}

#else

static enum ws_status no_such_sockets(struct ws_error *err)
{
	return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "not on this system");
}

enum ws_status ws_cudbg_listen(uint32_t client_pid, uint32_t session, int *ret_listener,
			       struct ws_error *err)
{
	(void)client_pid;
	(void)session;
	(void)ret_listener;
	return no_such_sockets(err);
}

enum ws_status ws_cudbg_accept(int listener, uint32_t client_pid, int *ret_socket,
			       struct ws_error *err)
{
	(void)listener;
	(void)client_pid;
	(void)ret_socket;
	return no_such_sockets(err);
}

enum ws_status ws_cudbg_meet(uint32_t session, uint32_t uid, int *ret_socket, struct ws_error *err)
{
	(void)session;
	(void)uid;
	(void)ret_socket;
	return no_such_sockets(err);
}

#endif
