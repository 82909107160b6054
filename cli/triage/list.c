/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that the command line means: files, folders with all below, patterns that no shell has
 * expanded, and names on standard input. The list is written to a file without a name, so that a
 * hundred thousand names take no memory.
 */
#ifdef __linux__
#define _DEFAULT_SOURCE /* DT_REG */
#endif
#include "triage/triage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DEPTH = 32 }; /* of folders in folders */

struct path_listing {
	const struct triage_args *args;
	struct triage_list *list;
	struct ws_out out;
	int fd;
};

/* Which shard a path belongs to: by its name alone, so that all agree whatever order they see. */
static bool is_shard_ours(const struct triage_args *args, const char *path)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	if (args->n_shards == 0)
		return true;
	for (const char *c = path; *c; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	hash ^= hash >> 32;
	return hash % args->n_shards == args->shard;
}

static void put_listed_path(struct path_listing *l, const char *path, bool is_named)
{
	if (!is_shard_ours(l->args, path))
		return;
	ws_out_bytes(&l->out, is_named ? "n" : "f", 1);
	ws_out_bytes(&l->out, path, strlen(path) + 1);
	l->list->n++;
}

/* What the sandbox lets be read; the same as last time is not kept again. */
static void may_read_path(struct triage_list *list, const char *path, size_t len)
{
	if (list->folders.n) {
		const char *last = list->folders.item[list->folders.n - 1];
		if (strlen(last) == len && memcmp(last, path, len) == 0)
			return;
	}
	cli_words_add(&list->folders, cli_copy(path, len));
}

static char *join_path(const char *folder, const char *name)
{
	size_t n = strlen(folder), more = strlen(name);
	char *path = cli_alloc(n + more + 2, 1);
	memcpy(path, folder, n);
	if (n && folder[n - 1] != '/')
		path[n++] = '/';
	memcpy(path + n, name, more);
	return path;
}

/* Takes a record that exec kept, "exec_....jsonl", and no dump. */
static bool take_ranks(struct triage_list *list, const char *path)
{
	enum { MOST = 1 << 16 };
	static const char start[] = "exec_", end[] = ".jsonl";
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t len = strlen(name);
	if (strncmp(name, start, sizeof start - 1) != 0 || len < sizeof end ||
	    strcmp(name + len - (sizeof end - 1), end) != 0)
		return false;
	if (list->ranks.n < MOST)
		cli_words_add(&list->ranks, cli_copy(path, strlen(path)));
	return true;
}

static void take_file(struct path_listing *l, const char *path)
{
	if (!take_ranks(l->list, path))
		put_listed_path(l, path, false);
}

/* The records beside a file that was named; those of one folder once, as names of one folder come
 * together. */
static void beside(struct triage_list *list, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash + 1 - path) : 0;
	if (list->beside && strlen(list->beside) == len && memcmp(list->beside, path, len) == 0)
		return;
	free(list->beside);
	list->beside = cli_copy(path, len);
	DIR *dir = opendir(len ? list->beside : ".");
	for (const struct dirent *entry; dir && (entry = readdir(dir));) {
		char *inner = join_path(list->beside, entry->d_name);
		(void)!take_ranks(list, inner);
		free(inner);
	}
	if (dir)
		closedir(dir);
}

/* What some folders say of a file without a look at it. */
static bool is_regular(const struct dirent *entry)
{
#ifdef DT_REG
	return entry->d_type == DT_REG;
#else
	(void)entry;
	return false;
#endif
}

/* Regular files, and links to them, but not with --watch, for which others put files there; links
 * to folders are not followed. */
static bool list_walk(struct path_listing *l, const char *path, unsigned depth)
{
	DIR *dir = opendir(path);
	for (const struct dirent *entry; dir && (entry = readdir(dir));) {
		struct stat at;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		char *inner = join_path(path, entry->d_name);
		if (is_regular(entry))
			take_file(l, inner);
		else if (lstat(inner, &at) != 0)
			; /* it went meanwhile */
		else if (S_ISDIR(at.st_mode) && depth + 1 < MAX_DEPTH)
			(void)!list_walk(l, inner, depth + 1);
		else if (S_ISREG(at.st_mode))
			take_file(l, inner);
		else if (S_ISLNK(at.st_mode) && !l->args->watch && stat(inner, &at) == 0 &&
			 S_ISREG(at.st_mode)) {
			may_read_path(l->list, inner, strlen(inner)); /* what it leads to */
			take_file(l, inner);
		}
		free(inner);
	}
	if (dir)
		closedir(dir);
	return dir != NULL;
}

static int take_path(struct path_listing *l, const char *path);

static int take_pattern(struct path_listing *l, const char *pattern)
{
	glob_t found;
	if (glob(pattern, 0, NULL, &found) != 0) {
		cli_warn("%s: %s", pattern, strerror(ENOENT));
		return CLI_NO_ANSWER;
	}
	int status = CLI_ANSWERED;
	for (size_t i = 0; i < found.gl_pathc && status == CLI_ANSWERED; i++)
		status = take_path(l, found.gl_pathv[i]);
	globfree(&found);
	return status;
}

static int take_path(struct path_listing *l, const char *path)
{
	struct stat at;
	if (stat(path, &at) != 0) {
		if (errno == ENOENT && strpbrk(path, "*?[") && lstat(path, &at) != 0)
			return take_pattern(l, path);
		put_listed_path(l, path, true); /* its row says why it cannot be read */
		return CLI_ANSWERED;
	}
	may_read_path(l->list, path, strlen(path));
	if (!S_ISDIR(at.st_mode)) {
		beside(l->list, path);
		put_listed_path(l, path, true);
		return CLI_ANSWERED;
	}
	if (list_walk(l, path, 0))
		return CLI_ANSWERED;
	cli_warn("%s: %s", path, strerror(errno));
	return CLI_NO_ANSWER;
}

/* Names on standard input, a line each. Their folders may be read. */
static int take_stdin(struct path_listing *l)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	int end = l->args->is_null ? '\0' : '\n';
	while ((len = getdelim(&line, &cap, end, stdin)) > 0) {
		if (line[len - 1] == end)
			line[--len] = '\0';
		if (len == 0)
			continue;
		const char *slash = strrchr(line, '/');
		if (slash)
			may_read_path(l->list, line, (size_t)(slash - line) + 1);
		else
			may_read_path(l->list, ".", 1);
		beside(l->list, line);
		put_listed_path(l, line, true);
	}
	free(line);
	return CLI_ANSWERED;
}

int triage_list_make(const struct triage_args *args, struct triage_list *list)
{
	struct ws_error err;
	*list = (struct triage_list){ .spool = tmpfile() };
	if (!list->spool) {
		cli_warn("cannot make a file for the names: %s", strerror(errno));
		return CLI_NO_ANSWER;
	}
	struct path_listing l = { .args = args, .list = list, .fd = fileno(list->spool) };
	ws_out_init(&l.out, ws_write_fd, &l.fd);
	int status = CLI_ANSWERED;
	for (int i = 0; i < args->n_paths && status == CLI_ANSWERED; i++)
		status = strcmp(args->paths[i], "-") == 0 ? take_stdin(&l)
							  : take_path(&l, args->paths[i]);
	if (status == CLI_ANSWERED && ws_out_flush(&l.out, &err) != WS_OK)
		status = cli_fail("a file for the names", &err);
	rewind(list->spool);
	return status;
}

bool triage_list_next(struct triage_list *list, const char **ret_path, bool *ret_is_named)
{
	static char *path; /* one list at a time */
	static size_t cap;
	if (getdelim(&path, &cap, '\0', list->spool) <= 1) {
		free(path);
		path = NULL;
		cap = 0;
		return false;
	}
	*ret_is_named = path[0] == 'n';
	*ret_path = path + 1;
	return true;
}

int triage_list_keep(struct triage_list *list, bool (*wanted)(void *user, const char *path),
		     void *user)
{
	FILE *spool = tmpfile();
	int fd = spool ? fileno(spool) : -1;
	struct ws_out out;
	struct ws_error err;
	const char *path;
	bool is_named;
	if (!spool) {
		cli_warn("cannot make a file for the names: %s", strerror(errno));
		return CLI_NO_ANSWER;
	}
	ws_out_init(&out, ws_write_fd, &fd);
	list->n = 0;
	while (triage_list_next(list, &path, &is_named)) {
		if (!wanted(user, path))
			continue;
		ws_out_bytes(&out, is_named ? "n" : "f", 1);
		ws_out_bytes(&out, path, strlen(path) + 1);
		list->n++;
	}
	fclose(list->spool);
	list->spool = spool;
	return ws_out_flush(&out, &err) == WS_OK && fseek(spool, 0, SEEK_SET) == 0
		       ? CLI_ANSWERED
		       : cli_fail("a file for the names", &err);
}

void triage_list_fini(struct triage_list *list)
{
	for (size_t i = 0; i < list->folders.n; i++)
		free((char *)(uintptr_t)list->folders.item[i]);
	free(list->folders.item);
	for (size_t i = 0; i < list->ranks.n; i++)
		free((char *)(uintptr_t)list->ranks.item[i]);
	free(list->ranks.item);
	free(list->beside);
	if (list->spool)
		fclose(list->spool);
}
