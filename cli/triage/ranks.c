/* SPDX-License-Identifier: Apache-2.0 */
/* The records that `warpscope exec` left beside dumps. Only workers read them, in their sandbox. */
#include "triage/triage.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum ws_status take_line(void *user, char *line, size_t len, struct ws_error *err)
{
	return ws_triage_processes_add(user, line, len, err);
}

/* One that cannot be read costs what it would tell. */
static void take_process_file(struct ws_triage_processes *processes, const char *path)
{
	struct ws_error err;
	struct stat at;
	int fd = open(path,
		      O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK); /* exec makes no links */
	if (fd >= 0 && fstat(fd, &at) == 0 && S_ISREG(at.st_mode))
		(void)!triage_each_record(fd, true, take_line, processes, &err);
	if (fd >= 0)
		close(fd);
}

struct ws_triage_processes *triage_ranks(const struct triage_list *list, const char *path)
{
	static struct ws_triage_processes *processes; /* of the last folder */
	static char *folder;
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash + 1 - path) : 0;
	if (folder && strlen(folder) == len && memcmp(folder, path, len) == 0)
		return processes;
	free(folder);
	folder = cli_copy(path, len);
	ws_triage_processes_destroy(processes);
	processes = NULL;
	for (size_t i = 0; i < list->ranks.n; i++) {
		const char *one = list->ranks.item[i];
		if (strncmp(one, folder, len) != 0 || strchr(one + len, '/'))
			continue;
		if (!processes && ws_triage_processes_create(&processes, NULL) != WS_OK)
			break;
		take_process_file(processes, one);
	}
	return processes;
}
