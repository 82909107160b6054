/* SPDX-License-Identifier: Apache-2.0 */
#define WSI_BASE_SOURCE
#include "base/folder.h"

#include "base/broker.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

struct folder_names {
	char **name; /* owned, each too */
	size_t n, cap;
};

static void names_fini(struct folder_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		wsi_free(names->name[i]);
	wsi_free(names->name);
}

static int name_order(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static enum ws_status names_read(const char *path, struct folder_names *ret_names,
				 struct ws_error *err)
{
	DIR *dir = opendir(path);
	if (!dir)
		return wsi_fail_errno(err, "%s", path);
	struct folder_names names = { 0 };
	enum ws_status st = WS_OK;
	for (struct dirent *entry; st == WS_OK && (entry = readdir(dir));) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		char *name = wsi_strdup(entry->d_name);
		if (name && wsi_grow(&names.name, &names.cap, names.n, sizeof *names.name,
				     SIZE_MAX / sizeof *names.name)) {
			names.name[names.n++] = name;
		} else {
			wsi_free(name);
			st = wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "names in %s", path);
		}
	}
	closedir(dir);
	if (st != WS_OK) {
		names_fini(&names);
		return st;
	}
	if (names.n > 1)
		qsort(names.name, names.n, sizeof *names.name, name_order);
	*ret_names = names;
	return WS_OK;
}

static char *path_join(const char *folder, const char *name)
{
	size_t len = strlen(folder), size = len + strlen(name) + 2;
	char *path = wsi_zalloc(size);
	if (path)
		snprintf(path, size, "%s%s%s", folder, len && folder[len - 1] == '/' ? "" : "/",
			 name);
	return path;
}

static enum ws_status folder_walk(const char *path, unsigned depth, wsi_folder_take_fn *take,
				  void *user, struct ws_error *err)
{
	struct folder_names names = { 0 };
	enum ws_status st = names_read(path, &names, err);
	if (st != WS_OK)
		return st == WS_IO && depth > 0 ? WS_OK : st;
	for (size_t i = 0; i < names.n && st == WS_OK; i++) {
		struct stat at, behind;
		char *inner = path_join(path, names.name[i]);
		if (!inner)
			st = wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a path in %s", path);
		else if (lstat(inner, &at) == 0 && S_ISDIR(at.st_mode))
			st = depth + 1 < WSI_FOLDER_DEPTH
				     ? folder_walk(inner, depth + 1, take, user, err)
				     : WS_OK;
		else if (stat(inner, &behind) == 0 && S_ISREG(behind.st_mode))
			st = take(user, inner, err);
		wsi_free(inner);
	}
	names_fini(&names);
	return st;
}

enum ws_status wsi_folder_walk(const char *path, wsi_folder_take_fn *take, void *user,
			       struct ws_error *err)
{
	return folder_walk(path, 0, take, user, err);
}

bool wsi_folder_exists(const char *path)
{
	struct stat at;
	return stat(path, &at) == 0 && S_ISDIR(at.st_mode);
}

enum ws_status wsi_folder_make_for(const char *file_path, struct ws_error *err)
{
	if (wsi_broker_active())
		return wsi_broker_folder(file_path, err);
	char *path = wsi_strdup(file_path);
	if (!path)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "the path %s", file_path);
	enum ws_status st = WS_OK;
	for (char *slash = strchr(path + 1, '/'); slash && st == WS_OK;
	     slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(path, 0777) != 0 && errno != EEXIST)
			st = wsi_fail_errno(err, "%s", path);
		*slash = '/';
	}
	wsi_free(path);
	return st;
}
