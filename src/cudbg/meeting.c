/* SPDX-License-Identifier: Apache-2.0 */
/* See meeting.h. */
#ifdef __linux__
#define _GNU_SOURCE /* struct ucred, accept4 */
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#endif
#include <errno.h>
#include <stdio.h>

#include <warpscope/meeting.h>

#include "base/base.h"

#ifdef __linux__

/* An address, and how long it is. */
static socklen_t name_of(uint32_t client_pid, uint32_t session, struct sockaddr_un *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->sun_family = AF_UNIX;
	int n = snprintf(ret->sun_path + 1, sizeof ret->sun_path - 1,
			 "warpscope-gpu/%" PRIu32 "/%" PRIu32, client_pid, session);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
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
	socklen_t n = name_of(client_pid, session, &name);
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

enum ws_status ws_cudbg_meet(uint32_t session, int *ret_socket, struct ws_error *err)
{
	struct sockaddr_un name;
	struct ucred peer;
	socklen_t n = name_of((uint32_t)getpid(), session, &name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&name, n) != 0)
		return failed("the software GPU of the program", fd, err);
	if (!peer_of(fd, &peer) || (peer.uid != geteuid() && geteuid() != 0)) {
		close(fd);
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"another user listens for this debugger");
	}
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

enum ws_status ws_cudbg_meet(uint32_t session, int *ret_socket, struct ws_error *err)
{
	(void)session;
	(void)ret_socket;
	return no_such_sockets(err);
}

#endif
