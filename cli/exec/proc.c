/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc says of processes. All of it may be gone a moment later. */
#include "exec/exec.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The path of a file in /proc; names are short. */
static const char *path_of(pid_t pid, const char *name, char path[64])
{
	snprintf(path, 64, "/proc/%d/%s", (int)pid, name);
	return path;
}

bool exec_proc_works(void)
{
	char self[32];
	ssize_t n = readlink("/proc/self", self, sizeof self - 1);
	if (n <= 0)
		return false;
	self[n] = '\0';
	return atoi(self) == (int)getpid();
}

void exec_proc_forget(char *text, size_t len)
{
	volatile char *at = text; /* or the compiler leaves it out, as nobody reads it again */
	for (size_t i = 0; i < len; i++)
		at[i] = '\0';
	free(text);
}

char *exec_proc_read(pid_t pid, const char *name, size_t most, size_t *ret_len)
{
	char path[64];
	size_t cap = 4096, len = 0;
	int fd = open(path_of(pid, name, path), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	char *text = cli_alloc(cap + 1, 1);
	for (;;) {
		ssize_t n = read(fd, text + len, cap - len);
		if (n <= 0)
			break;
		len += (size_t)n;
		if (len >= most)
			break;
		if (len == cap) {
			char *more = cli_alloc(2 * cap + 1, 1);
			memcpy(more, text, len);
			exec_proc_forget(text, len);
			text = more;
			cap *= 2;
		}
	}
	close(fd);
	text[len] = '\0';
	*ret_len = len;
	return text;
}

const char *exec_proc_variable(const char *environment, size_t len, const char *name)
{
	size_t n = strlen(name);
	for (size_t at = 0; at < len; at += strlen(environment + at) + 1)
		if (strncmp(environment + at, name, n) == 0 && environment[at + n] == '=')
			return environment + at + n + 1;
	return NULL;
}

/* ---- processes ---- */

/* "PID (NAME) STATE PPID ...", where the name may hold anything; false: it has ended. */
static bool process_read(pid_t pid, struct exec_process *ret_process)
{
	size_t len;
	char *text = exec_proc_read(pid, "stat", 4096, &len), state = 'Z';
	const char *at = text ? strrchr(text, ')') : NULL;
	int parent = 0;
	uint64_t started = 0;
	bool good = at && sscanf(at,
				 ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
				 "%*d %*d %*d %*d %" SCNu64,
				 &state, &parent, &started) == 3;
	free(text);
	*ret_process = (struct exec_process){ .pid = pid, .parent = parent, .started = started };
	return good && state != 'Z' && state != 'X';
}

static int pid_order(const void *left, const void *right)
{
	const struct exec_process *a = left, *b = right;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

static bool parent_is_below(const struct exec_processes *all, pid_t parent, pid_t root)
{
	struct exec_process key = { .pid = parent };
	const struct exec_process *found =
		parent == root ? NULL
			       : bsearch(&key, all->item, all->n, sizeof *all->item, pid_order);
	return parent == root || (found && found->is_below);
}

void exec_proc_below(pid_t root, struct exec_processes *ret_below)
{
	struct exec_processes all = { 0 };
	DIR *dir = opendir("/proc");
	for (const struct dirent *entry; dir && (entry = readdir(dir));) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		cli_grow(&all.item, &all.cap, all.n, sizeof *all.item);
		all.n += process_read((pid_t)atoi(entry->d_name), &all.item[all.n]);
	}
	if (dir)
		closedir(dir);
	if (all.n)
		qsort(all.item, all.n, sizeof *all.item, pid_order);
	/* once for each generation */
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < all.n; i++) {
			struct exec_process *one = &all.item[i];
			if (one->is_below || one->pid == root ||
			    !parent_is_below(&all, one->parent, root))
				continue;
			one->is_below = changed = true;
		}
	}
	size_t n = 0;
	for (size_t i = 0; i < all.n; i++)
		if (all.item[i].is_below)
			all.item[n++] = all.item[i];
	all.n = n;
	*ret_below = all;
}

bool exec_proc_files(pid_t pid, exec_file_fn *each, void *user)
{
	char path[64], inner[96], target[4096];
	DIR *dir = opendir(path_of(pid, "fd", path));
	if (!dir)
		return false;
	for (const struct dirent *entry; (entry = readdir(dir));) {
		snprintf(inner, sizeof inner, "%s/%.20s", path, entry->d_name);
		ssize_t n = readlink(inner, target, sizeof target - 1);
		if (n <= 0)
			continue;
		target[n] = '\0';
		if (!each(user, atoi(entry->d_name), target))
			break;
	}
	closedir(dir);
	return true;
}

void exec_proc_kill_below(void)
{
	enum { ROUNDS = 500 };
	const struct timespec pause = { .tv_nsec = 20000000 };
	for (int i = 0; i < ROUNDS; i++) {
		struct exec_processes below;
		exec_proc_below(getpid(), &below);
		for (size_t k = 0; k < below.n; k++)
			kill(below.item[k].pid, SIGKILL);
		free(below.item);
		pid_t ended;
		while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (ended < 0 && errno == ECHILD)
			return; /* there is nobody, not even one that /proc does not show */
		nanosleep(&pause, NULL);
	}
}

/* ---- this process ---- */

void exec_host(char ret_host[EXEC_HOST_BYTES])
{
	memset(ret_host, 0, EXEC_HOST_BYTES);
	if (gethostname(ret_host, EXEC_HOST_BYTES - 1) != 0 || !ret_host[0])
		snprintf(ret_host, EXEC_HOST_BYTES, "localhost");
}
