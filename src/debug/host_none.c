/* SPDX-License-Identifier: Apache-2.0 */
/* See host.h: where no process can be controlled, none is started and none is found. */
#include "debug/host.h"

#include <errno.h>

struct wsi_host *wsi_host_start(char *const argv[])
{
	(void)argv;
	errno = ENOSYS;
	return NULL;
}

struct wsi_host *wsi_host_attach(pid_t pid)
{
	(void)pid;
	errno = ENOSYS;
	return NULL;
}

/* As there is no host, nobody calls these. */

void wsi_host_keep(struct wsi_host *host)
{
	(void)host;
}

void wsi_host_leave(struct wsi_host *host, bool kills)
{
	(void)host;
	(void)kills;
}

pid_t wsi_host_pid(const struct wsi_host *host)
{
	(void)host;
	return 0;
}

uid_t wsi_host_uid(const struct wsi_host *host)
{
	(void)host;
	return 0;
}

void wsi_host_go(struct wsi_host *host)
{
	(void)host;
}

struct wsi_host_news wsi_host_look(struct wsi_host *host)
{
	(void)host;
	return (struct wsi_host_news){ .event = WSI_HOST_ENDED };
}

bool wsi_host_halt(struct wsi_host *host)
{
	(void)host;
	return false;
}

bool wsi_host_mark(struct wsi_host *host, uint64_t place)
{
	(void)host;
	(void)place;
	return false;
}

void wsi_host_unmark(struct wsi_host *host, uint64_t place)
{
	(void)host;
	(void)place;
}

bool wsi_host_read(const struct wsi_host *host, uint64_t address, void *ret_bytes, size_t n)
{
	(void)host;
	(void)address;
	(void)ret_bytes;
	(void)n;
	return false;
}

bool wsi_host_write(const struct wsi_host *host, uint64_t address, const void *bytes, size_t n)
{
	(void)host;
	(void)address;
	(void)bytes;
	(void)n;
	return false;
}

bool wsi_host_call(struct wsi_host *host, uint64_t function, uint64_t argument)
{
	(void)host;
	(void)function;
	(void)argument;
	return false;
}
