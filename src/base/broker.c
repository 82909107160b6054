/* SPDX-License-Identifier: Apache-2.0 */
#ifdef __linux__
#define _GNU_SOURCE /* realpath() */
#endif
#define WSI_BASE_SOURCE
#include "base/broker.h"

static int channel = -1; /* of the process that asks; -1: there is no broker */

bool wsi_broker_active(void)
{
	return channel >= 0;
}

#ifdef __linux__
#include "base/channel.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/place.h"
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

enum broker_op { OP_READ, OP_TEMPORARY, OP_FOLDER, OP_PLACE, OP_COMMIT, OP_DROP };

/* Both are sent whole, as one packet each. */
struct broker_request {
	enum broker_op op;
	bool has_source;
	char path[PATH_BYTES], source[PATH_BYTES];
};

struct broker_reply {
	enum ws_status status;
	struct ws_error err; /* when it is not WS_OK */
};

/* ---- the broker ---- */

struct broker {
	const struct wsi_broker_terms *terms;
	int channel;
	struct wsi_place place;
};

/* Whether `path` is `folder` or lies below; both without links. */
static bool is_path_below(const char *path, const char *folder)
{
	char real[PATH_BYTES];
	if (!realpath(folder, real))
		return false;
	size_t len = strlen(real);
	return strncmp(path, real, len) == 0 && (len == 1 || path[len] == '/' || path[len] == 0);
}

/* Whether what lies behind `fd` may be handed out. */
static bool may_hand_out(const struct broker *broker, int fd)
{
	const struct wsi_broker_terms *terms = broker->terms;
	char self[32], path[PATH_BYTES];
	struct stat about;
	ssize_t len = wsi_format(self, "/proc/self/fd/%d", fd)
			      ? readlink(self, path, sizeof path - 1)
			      : -1;
	if (len <= 0 || path[0] != '/' || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
		return false;
	path[len] = 0;
	if (wsi_regular_is_source(path))
		return true;
	for (size_t i = 0; i < terms->n_folders; i++) {
		if (is_path_below(path, terms->folders[i]))
			return true;
	}
	return terms->output_folder && is_path_below(path, terms->output_folder);
}

static int serve_read(const struct broker *broker, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && !may_hand_out(broker, fd)) {
		close(fd);
		errno = EACCES;
		return -1;
	}
	return fd;
}

/* The folder of the store need not exist, so what the user wrote is compared. */
static bool may_write(const struct broker *broker, const char *path)
{
	const struct wsi_broker_terms *terms = broker->terms;
	for (size_t i = 0; i < terms->n_outputs; i++) {
		if (strcmp(path, terms->outputs[i]) == 0)
			return true;
	}
	size_t len = terms->output_folder ? strlen(terms->output_folder) : 0;
	return len > 0 && strncmp(path, terms->output_folder, len) == 0 && path[len] == '/' &&
	       !strstr(path + len, "/..");
}

static int refused(struct broker_reply *reply, const char *path)
{
	errno = EACCES;
	reply->status = wsi_fail_errno(&reply->err, "%s", path);
	return -1;
}

/* Does it; the descriptor to hand out, or -1. `*ret_close`: it is not kept here. */
static int serve_broker_request(struct broker *broker, const struct broker_request *request,
				struct broker_reply *reply, bool *ret_close)
{
	const char *source = request->has_source ? request->source : NULL;
	int fd = -1;
	bool done = true;
	*ret_close = true;
	switch (request->op) {
	case OP_READ:
		fd = serve_read(broker, request->path);
		done = fd >= 0;
		break;
	case OP_TEMPORARY:
		fd = wsi_file_temporary();
		done = fd >= 0;
		break;
	case OP_FOLDER:
		if (!may_write(broker, request->path))
			return refused(reply, request->path);
		reply->status = wsi_folder_make_for(request->path, &reply->err);
		return -1;
	case OP_PLACE:
		wsi_place_close(&broker->place);
		if (!may_write(broker, request->path))
			return refused(reply, request->path);
		reply->status = wsi_place_open(request->path, source, &broker->place, &reply->err);
		*ret_close = false;
		return broker->place.fd;
	case OP_COMMIT:
		done = broker->place.fd >= 0 && wsi_place_commit(&broker->place);
		break;
	case OP_DROP:
		wsi_place_close(&broker->place);
		break;
	default:
		done = false;
		errno = EINVAL;
	}
	if (!done)
		reply->status = wsi_fail_errno(&reply->err, "%s", request->path);
	return fd;
}

_Noreturn static void broker_run(struct broker *broker)
{
	static struct broker_request request;
	int none;
	/* a key pressed is meant for the parent; the end of that one ends this one */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	while (wsi_packet_receive(broker->channel, &request, sizeof request, &none)) {
		struct broker_reply reply = { .status = WS_OK };
		bool close_it;
		request.path[PATH_BYTES - 1] = request.source[PATH_BYTES - 1] = 0;
		if (none >= 0)
			close(none);
		int fd = serve_broker_request(broker, &request, &reply, &close_it);
		bool sent = wsi_packet_send(broker->channel, &reply, sizeof reply, fd);
		if (fd >= 0 && close_it)
			close(fd);
		if (!sent)
			break;
	}
	wsi_place_close(&broker->place);
	_exit(0);
}

/* Whoever waits for the end of the program's output is not to wait for the broker. In a root folder
 * without devices, a pipe that only the broker holds takes the place of /dev/null. */
static bool broker_outputs_detach(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), ends[2];
	if (null < 0 && pipe(ends) == 0)
		null = ends[1];
	bool good = null >= 0;
	for (int output = 1; output <= 2; output++)
		good = good && dup2(null, output) >= 0;
	return good; /* `null` stays open as long as the broker runs */
}

bool wsi_broker_start(const struct wsi_broker_terms *terms)
{
	int pair[2];
	if (channel >= 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return false;
	pid_t pid = fork();
	if (pid == 0) {
		close(pair[0]);
		struct broker broker = { .terms = terms,
					 .channel = pair[1],
					 .place = { .fd = -1 } };
		if (!broker_outputs_detach())
			_exit(1);
		broker_run(&broker);
	}
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return false;
	}
	channel = pair[0];
	return true;
}

/* ---- who asks ---- */

static bool ask_broker(enum broker_op op, const char *path, const char *source,
		       struct broker_reply *ret_reply, int *ret_fd)
{
	struct broker_request request = { .op = op, .has_source = source != NULL };
	*ret_fd = -1;
	errno = ENAMETOOLONG;
	if (!wsi_format(request.path, "%s", path ? path : "") ||
	    !wsi_format(request.source, "%s", source ? source : ""))
		return false;
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&one_at_a_time);
	bool good = wsi_packet_send(channel, &request, sizeof request, -1) &&
		    wsi_packet_receive(channel, ret_reply, sizeof *ret_reply, ret_fd);
	pthread_mutex_unlock(&one_at_a_time);
	if (!good)
		errno = EPIPE; /* it is gone */
	return good;
}

static int ask_fd(enum broker_op op, const char *path)
{
	struct broker_reply reply;
	int fd;
	if (!ask_broker(op, path, NULL, &reply, &fd))
		return -1;
	if (reply.status != WS_OK)
		errno = reply.err.os_errno;
	return fd;
}

int wsi_broker_read(const char *path)
{
	return ask_fd(OP_READ, path);
}

int wsi_broker_temporary(void)
{
	return ask_fd(OP_TEMPORARY, NULL);
}

static enum ws_status ask_status(enum broker_op op, const char *path, const char *source,
				 int *ret_fd, struct ws_error *err)
{
	struct broker_reply reply;
	if (!ask_broker(op, path, source, &reply, ret_fd))
		return wsi_fail_errno(err, "%s", path ? path : "the output");
	if (reply.status == WS_OK)
		return WS_OK;
	errno = reply.err.os_errno;
	if (err)
		*err = reply.err;
	return reply.status;
}

enum ws_status wsi_broker_folder(const char *path, struct ws_error *err)
{
	int none;
	return ask_status(OP_FOLDER, path, NULL, &none, err);
}

enum ws_status wsi_broker_place(const char *path, const char *source, int *ret_fd,
				struct ws_error *err)
{
	return ask_status(OP_PLACE, path, source, ret_fd, err);
}

bool wsi_broker_commit(void)
{
	int none;
	return ask_status(OP_COMMIT, NULL, NULL, &none, NULL) == WS_OK;
}

void wsi_broker_drop(void)
{
	int none;
	(void)ask_status(OP_DROP, NULL, NULL, &none, NULL);
}
#else
bool wsi_broker_start(const struct wsi_broker_terms *terms)
{
	(void)terms;
	return false;
}

int wsi_broker_read(const char *path)
{
	(void)path;
	return -1;
}

int wsi_broker_temporary(void)
{
	return -1;
}

enum ws_status wsi_broker_folder(const char *path, struct ws_error *err)
{
	return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "%s", path);
}

enum ws_status wsi_broker_place(const char *path, const char *source, int *ret_fd,
				struct ws_error *err)
{
	(void)source;
	*ret_fd = -1;
	return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "%s", path);
}

bool wsi_broker_commit(void)
{
	return false;
}

void wsi_broker_drop(void)
{
}
#endif
