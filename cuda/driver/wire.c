/* SPDX-License-Identifier: Apache-2.0 */
/* See wire.h. */
#define _GNU_SOURCE /* MSG_CMSG_CLOEXEC */
#include "wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

union wire_control { /* one descriptor */
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static void attach_descriptor(struct msghdr *message, union wire_control *control, int fd)
{
	message->msg_control = control->bytes;
	message->msg_controllen = sizeof control->bytes;
	control->header.cmsg_level = SOL_SOCKET;
	control->header.cmsg_type = SCM_RIGHTS;
	control->header.cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(&control->header), &fd, sizeof fd);
}

/* Leaves out the first `n` bytes of what is to be sent. */
static void skip_sent(struct msghdr *message, size_t n)
{
	while (message->msg_iovlen > 0 && n >= message->msg_iov->iov_len) {
		n -= message->msg_iov->iov_len;
		message->msg_iov++;
		message->msg_iovlen--;
	}
	if (message->msg_iovlen > 0) {
		message->msg_iov->iov_base = (char *)message->msg_iov->iov_base + n;
		message->msg_iov->iov_len -= n;
	}
}

bool wire_send(int socket, const void *header, size_t n_header, const void *bytes, size_t n_bytes,
	       int fd)
{
	struct iovec parts[2] = { { (void *)(uintptr_t)header, n_header },
				  { (void *)(uintptr_t)bytes, n_bytes } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = n_bytes > 0 ? 2 : 1 };
	union wire_control control = { 0 };
	if (fd >= 0)
		attach_descriptor(&message, &control, fd);
	while (message.msg_iovlen > 0) {
		ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
		if (sent < 0 && errno != EINTR)
			return false;
		if (sent <= 0)
			continue;
		message.msg_control = NULL;
		message.msg_controllen = 0;
		skip_sent(&message, (size_t)sent);
	}
	return true;
}

static void message_take(struct msghdr *message, int *ret_fd)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);
	int fd;
	if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
	    header->cmsg_len != CMSG_LEN(sizeof fd))
		return;
	memcpy(&fd, CMSG_DATA(header), sizeof fd);
	if (*ret_fd >= 0)
		close(*ret_fd);
	*ret_fd = fd;
}

bool wire_receive(int socket, void *ret_bytes, size_t n, int *ret_fd)
{
	char *to = ret_bytes;
	if (ret_fd)
		*ret_fd = -1;
	while (n > 0) {
		union wire_control control = { 0 };
		struct iovec part = { to, n };
		struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
		if (ret_fd) {
			message.msg_control = control.bytes;
			message.msg_controllen = sizeof control.bytes;
		}
		ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
		if (got < 0 && errno == EINTR)
			continue;
		if (got > 0 && ret_fd)
			message_take(&message, ret_fd);
		if (got <= 0)
			return false;
		to += got;
		n -= (size_t)got;
	}
	return true;
}
