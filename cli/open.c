/* SPDX-License-Identifier: Apache-2.0 */
/* Opening what the command line names: what all verbs share of it. */
#include "cli.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <warpscope/core.h>
#include <warpscope/image.h>
#include <warpscope/provider.h>

struct open_progress {
	bool shown;
	uint64_t next; /* bytes unpacked at which to say something */
};

static bool show_progress(void *user, uint64_t bytes_in, uint64_t total_in, uint64_t bytes_out)
{
	struct open_progress *progress = user;
	const uint64_t step = UINT64_C(64) << 20;
	if (bytes_out < progress->next)
		return true;
	progress->next = bytes_out + step;
	progress->shown = true;
	if (total_in)
		cli_note("\runpacking: %" PRIu64 "%%, %" PRIu64 " MiB ", bytes_in * 100 / total_in,
			 bytes_out >> 20);
	else
		cli_note("\runpacking: %" PRIu64 " MiB ", bytes_out >> 20);
	return true;
}

static void say_dump_damage(const char *path, const struct ws_target *target)
{
	struct ws_diagnostic first, more;
	if (ws_target_diagnostic(target, 0, &first, NULL) != WS_OK)
		return;
	bool several = first.repeats || ws_target_diagnostic(target, 1, &more, NULL) == WS_OK;
	cli_warn("%s: %s%s", path, first.message,
		 several ? " (and more; see: warpscope check)" : "");
}

/* Through a provider of the debugger API; ours opens the dump that WARPSCOPE_CORE names. */
static int open_through(const char *api_lib, const char *path, struct ws_target **ret_target)
{
	struct ws_error err;
	if (strcmp(path, "-") != 0 && setenv("WARPSCOPE_CORE", path, 1) != 0)
		cli_out_of_memory();
	return ws_target_open_provider(api_lib, ret_target, &err) == WS_OK
		       ? CLI_ANSWERED
		       : cli_fail(api_lib, &err);
}

static bool is_directory(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The name of the newest dump in a folder, by the suffix that the driver gives; NULL: none. Owned
 * by the caller. */
static char *newest_dump_in_folder(const char *folder)
{
	static const char suffix[] = ".nvcudmp";
	char *newest = NULL;
	struct timespec when = { 0 };
	DIR *dir = opendir(folder);
	for (const struct dirent *entry; dir && (entry = readdir(dir));) {
		struct stat st;
		const char *end = strstr(entry->d_name, suffix);
		if (!end || fstatat(dirfd(dir), entry->d_name, &st, 0) != 0 || !S_ISREG(st.st_mode))
			continue;
		if (newest &&
		    (st.st_mtim.tv_sec < when.tv_sec ||
		     (st.st_mtim.tv_sec == when.tv_sec && strcmp(entry->d_name, newest) < 0)))
			continue;
		free(newest);
		newest = strdup(entry->d_name);
		when = st.st_mtim;
	}
	if (dir)
		closedir(dir);
	return newest;
}

int cli_open_fail(const char *path, const struct ws_error *err)
{
	char advice[400] = "; name a file in it";
	if (!is_directory(path))
		return cli_fail(path, err);
	char *newest = newest_dump_in_folder(path);
	size_t len = strlen(path);
	if (newest)
		snprintf(advice, sizeof advice,
			 "; name a file in it, such as its newest dump: %s%s%s", path,
			 len && path[len - 1] == '/' ? "" : "/", newest);
	free(newest);
	return cli_fail_advise(path, err, advice);
}

/* No dump: says what it is, and which verbs read it, or what is wrong with the GPU code in it. */
static int refuse_file(const char *path, const struct ws_error *err)
{
	struct ws_image_file *images;
	struct ws_error inside = { .status = WS_OK };
	struct stat about;
	char advice[sizeof inside.message + 64];
	if (strstr(err->message, "this is text"))
		return cli_fail_advise(path, err, "; if it is a log: warpscope log LOG");
	if (err->status != WS_UNSUPPORTED || stat(path, &about) != 0 || !S_ISREG(about.st_mode))
		return cli_open_fail(path, err);
	enum ws_status st = ws_image_file_open(path, &images, &inside);
	if (st != WS_OK && st != WS_MALFORMED && st != WS_TRUNCATED)
		return cli_open_fail(path, err);
	snprintf(advice, sizeof advice, "; GPU code in it cannot be read: %s", inside.message);
	if (st == WS_OK) {
		ws_image_file_close(images);
		snprintf(advice, sizeof advice,
			 "; these verbs read it: info, lines, symbolize, disas, store");
	}
	return cli_fail_advise(path, err, advice);
}

static int target_open(struct cli *cli, const char *path, struct ws_target **ret_target,
		       int (*fail)(const char *path, const struct ws_error *err))
{
	if (cli->live) {
		*ret_target = cli->live;
		return CLI_ANSWERED;
	}
	if (cli->api_lib) {
		cli->input_bytes = UINT64_MAX; /* nobody knows */
		return open_through(cli->api_lib, path, ret_target);
	}
	struct open_progress progress = { .next = UINT64_C(64) << 20 };
	bool shows = isatty(STDERR_FILENO) && !cli_terminal_is_dumb();
	struct ws_core_options options = { .size = sizeof options,
					   .max_unpacked_bytes = cli->size_limit,
					   .progress = shows ? show_progress : NULL,
					   .user = &progress };
	struct ws_error err;
	enum ws_status st = ws_core_open(path, &options, ret_target, &err);
	if (progress.shown)
		cli_note("\r\033[K");
	if (st != WS_OK)
		return fail(path, &err);
	struct ws_dump_facts facts;
	if (ws_target_dump_facts(*ret_target, &facts, NULL) == WS_OK)
		cli->input_bytes += facts.bytes;
	say_dump_damage(path, *ret_target);
	return CLI_ANSWERED;
}

int cli_target_open(struct cli *cli, const char *path, struct ws_target **ret_target)
{
	return target_open(cli, path, ret_target, refuse_file);
}

void cli_target_close(const struct cli *cli, struct ws_target *target)
{
	if (!cli || target != cli->live)
		ws_target_close(target);
}

static int refuse_any(const char *path, const struct ws_error *err)
{
	if (err->status != WS_UNSUPPORTED)
		return cli_open_fail(path, err);
	return cli_fail_advise(path, err,
			       "; this verb also reads cubins, fatbins, programs, libraries, "
			       "objects and archives");
}

int cli_target_open_last(struct cli *cli, const char *path, struct ws_target **ret_target)
{
	return target_open(cli, path, ret_target, refuse_any);
}

void *cli_file_read(const char *path, size_t most, size_t *ret_len)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
	size_t len = 0, cap = 1 << 16, n = file != NULL;
	char *bytes = file ? cli_alloc(cap, 1) : NULL;
	while (n > 0 && len <= most) {
		n = fread(bytes + len, 1, cap - len - 1, file);
		len += n;
		if (len == cap - 1) {
			cap *= 2;
			bytes = cli_realloc(bytes, cap, 1);
		}
	}
	if (!file || ferror(file)) {
		cli_warn("%s: %s", path, strerror(errno));
		free(bytes);
		bytes = NULL;
	}
	if (file && file != stdin)
		fclose(file);
	if (bytes)
		bytes[len] = '\0';
	*ret_len = len;
	return bytes;
}

bool cli_find_program(const char *name, size_t len, char ret_path[CLI_PROGRAM_BYTES])
{
	const char *folders = getenv("PATH");
	for (size_t n; folders && *folders; folders += n + (folders[n] == ':')) {
		n = strcspn(folders, ":");
		int size = snprintf(ret_path, CLI_PROGRAM_BYTES, "%.*s/%.*s", (int)n, folders,
				    (int)len, name);
		if (size > 0 && size < CLI_PROGRAM_BYTES && access(ret_path, X_OK) == 0)
			return true;
	}
	return false;
}
