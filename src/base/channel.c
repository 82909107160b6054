/* SPDX-License-Identifier: Apache-2.0 */
#ifdef __linux__
#define _GNU_SOURCE /* MSG_CMSG_CLOEXEC */
#endif
#include "base/channel.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef MSG_CMSG_CLOEXEC
#define MSG_CMSG_CLOEXEC 0
#endif
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

enum { FIRST_BYTES = 1 << 20 };

/* ---- packets ---- */

union channel_control { /* one descriptor */
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

bool wsi_packet_send(int to, const void *bytes, size_t n, int fd)
{
	struct iovec part = { (void *)(uintptr_t)bytes, n }; /* POSIX has no const here */
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };
	union channel_control control = { 0 };
	if (fd >= 0) {
		packet.msg_control = control.bytes;
		packet.msg_controllen = sizeof control.bytes;
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
	}
	ssize_t sent;
	do
		sent = sendmsg(to, &packet, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)n;
}

bool wsi_packet_receive(int from, void *bytes, size_t n, int *ret_fd)
{
	struct iovec part = { bytes, n };
	union channel_control control = { 0 };
	struct msghdr packet = { .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof control.bytes };
	ssize_t got;
	do
		got = recvmsg(from, &packet, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	struct cmsghdr *header = got < 0 ? NULL : CMSG_FIRSTHDR(&packet);
	*ret_fd = -1;
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof *ret_fd))
		memcpy(ret_fd, CMSG_DATA(header), sizeof *ret_fd);
	return got == (ssize_t)n && !(packet.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
}

/* ---- streams ---- */

static bool is_socket(const struct wsi_channel *c)
{
	return c->in == c->out;
}

/* Waits until something can be read or sent; with `ms` -1 also for `stop`, which is false. */
static bool wait_for_channel(const struct wsi_channel *c, short what, int ms)
{
	struct pollfd fds[] = { { what == POLLIN ? c->in : c->out, what, 0 },
				{ ms < 0 ? c->stop : -1, POLLIN, 0 } };
	int n;
	do
		n = poll(fds, 2, ms);
	while (n < 0 && errno == EINTR);
	return n > 0 && !fds[1].revents;
}

/* Some bytes; `is_first`: of a message. A pipe that nobody has opened yet looks closed, so the
 * first are waited for. */
static ssize_t channel_receive(struct wsi_channel *c, void *to, size_t n, bool is_first)
{
	bool may_block = is_first && is_socket(c) && c->stop < 0;
	if (is_first && !may_block && !wait_for_channel(c, POLLIN, -1))
		return -1;
	for (;;) {
		ssize_t got = is_socket(c) ? recv(c->in, to, n, may_block ? 0 : MSG_DONTWAIT)
					   : read(c->in, to, n);
		if (got >= 0)
			return got;
		bool again = errno == EAGAIN || errno == EWOULDBLOCK;
		if (errno != EINTR && (!again || !wait_for_channel(c, POLLIN, WSI_PATIENCE_MS)))
			return -1;
	}
}

/* What is over is taken first; large pieces go where they belong at once. */
static bool channel_take(struct wsi_channel *c, uint8_t *to, size_t n, bool is_first)
{
	while (n > 0) {
		if (c->at == c->have) {
			bool direct = n >= sizeof c->bytes;
			ssize_t got = channel_receive(c, direct ? to : c->bytes,
						      direct ? n : sizeof c->bytes, is_first);
			if (got <= 0)
				return false;
			is_first = false;
			c->at = 0;
			c->have = direct ? 0 : (size_t)got;
			to += direct ? got : 0;
			n -= direct ? (size_t)got : 0;
		}
		size_t some = (size_t)wsi_min_u64(n, c->have - c->at);
		if (some)
			memcpy(to, c->bytes + c->at, some);
		c->at += some;
		to += some;
		n -= some;
	}
	return true;
}

bool wsi_channel_next(struct wsi_channel *c, void *ret_head, size_t n)
{
	return channel_take(c, ret_head, n, c->at == c->have);
}

bool wsi_channel_take(struct wsi_channel *c, void *ret_bytes, size_t n)
{
	return channel_take(c, ret_bytes, n, false);
}

/* Memory grows with what arrives: the number alone is only a promise. */
bool wsi_channel_body(struct wsi_channel *c, uint32_t n, uint8_t *small, size_t n_small,
		      uint8_t **ret_owned, struct ws_span *ret_body)
{
	*ret_owned = NULL;
	*ret_body = (struct ws_span){ small, n, 0 };
	if (n > WSI_CHANNEL_MOST)
		return false;
	if (n <= n_small)
		return wsi_channel_take(c, small, n);
	for (size_t have = 0, cap = FIRST_BYTES; have < n; have = cap, cap *= 2) {
		cap = (size_t)wsi_min_u64(cap, n);
		uint8_t *grown = wsi_realloc_array(*ret_owned, cap, 1);
		if (grown)
			*ret_owned = grown;
		if (!grown || !wsi_channel_take(c, grown + have, cap - have))
			return false;
	}
	ret_body->ptr = *ret_owned;
	return true;
}

/* A pipe that nobody reads any more answers with a signal, which is nobody's business. */
static ssize_t write_quietly(int fd, const void *bytes, size_t n)
{
	sigset_t pipe, pending, before;
	int signal;
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	ssize_t written = write(fd, bytes, n);
	int why = errno;
	bool was_blocked = sigismember(&before, SIGPIPE) == 1;
	if (written < 0 && why == EPIPE && !was_blocked && sigpending(&pending) == 0 &&
	    sigismember(&pending, SIGPIPE) == 1)
		sigwait(&pipe, &signal);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = why;
	return written;
}

static ssize_t send_some(struct wsi_channel *c, const struct wsi_channel_piece *pieces,
			 size_t n_pieces)
{
	struct iovec parts[16];
	if (!is_socket(c))
		return write_quietly(c->out, pieces->bytes, pieces->n);
	size_t n = (size_t)wsi_min_u64(n_pieces, WSI_COUNT(parts));
	for (size_t i = 0; i < n; i++)
		parts[i] = (struct iovec){ (void *)(uintptr_t)pieces[i].bytes, pieces[i].n };
	const struct msghdr message = { .msg_iov = parts, .msg_iovlen = n };
	return sendmsg(c->out, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool wsi_channel_send(struct wsi_channel *c, const struct wsi_channel_piece *pieces,
		      size_t n_pieces)
{
	struct wsi_channel_piece left[16];
	assert(n_pieces <= WSI_COUNT(left));
	memcpy(left, pieces, n_pieces * sizeof *left);
	for (size_t i = 0; i < n_pieces;) {
		if (!left[i].n) {
			i++;
			continue;
		}
		ssize_t sent = send_some(c, left + i, n_pieces - i);
		bool again = sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
		if (sent < 0 && errno != EINTR &&
		    (!again || !wait_for_channel(c, POLLOUT, WSI_PATIENCE_MS)))
			return false;
		for (size_t j = i; sent > 0; j++) {
			size_t some = (size_t)wsi_min_u64((uint64_t)sent, left[j].n);
			left[j].bytes = (const uint8_t *)left[j].bytes + some;
			left[j].n -= some;
			sent -= (ssize_t)some;
		}
	}
	return true;
}
