/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of what is mapped in another process: those that its files export. */
#include "debug/host.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/exported.h"

enum { MOST_PATH = 4096, AUX_BASE = 7 };

/* A file that is mapped from its beginning on. */
struct mapped {
	uint64_t start;
	char path[MOST_PATH];
};

typedef bool is_wanted_fn(const struct mapped *mapped, const void *user);

static bool mapped_file_find(pid_t pid, is_wanted_fn *is_wanted, const void *user,
			     struct mapped *ret)
{
	char name[40], line[MOST_PATH + 200];
	bool found = false;
	snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
	FILE *maps = fopen(name, "re");
	while (maps && !found && fgets(line, sizeof line, maps)) {
		uint64_t offset;
		line[strcspn(line, "\n")] = '\0';
		int n = 0;
		if (sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64 " %*s %*s %n", &ret->start, &offset,
			   &n) < 2 ||
		    n == 0 || offset != 0 || line[n] != '/')
			continue;
		snprintf(ret->path, sizeof ret->path, "%s", line + n);
		found = is_wanted(ret, user);
	}
	if (maps)
		fclose(maps);
	return found;
}

static bool is_named(const struct mapped *mapped, const void *name)
{
	const char *slash = strrchr(mapped->path, '/');
	return strncmp(slash + 1, name, strlen(name)) == 0;
}

static bool is_at(const struct mapped *mapped, const void *address)
{
	return mapped->start == *(const uint64_t *)address;
}

/* The file as the process sees it. */
static uint64_t symbol_of(pid_t pid, const struct mapped *mapped, const char *name)
{
	char path[MOST_PATH + 40];
	struct stat about;
	uint64_t value = 0;
	snprintf(path, sizeof path, "/proc/%d/root%s", (int)pid, mapped->path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
		const size_t n = (size_t)about.st_size;
		void *bytes = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes != MAP_FAILED) {
			value = wsi_elf_exported((struct ws_span){ bytes, n, 0 }, name);
			munmap(bytes, n);
		}
	}
	close(fd);
	return value ? mapped->start + value : 0;
}

uint64_t wsi_host_symbol(const struct wsi_host *host, const char *library, const char *name)
{
	struct mapped mapped;
	pid_t pid = wsi_host_pid(host);
	return mapped_file_find(pid, is_named, library, &mapped) ? symbol_of(pid, &mapped, name)
								 : 0;
}

uint64_t wsi_host_loader_symbol(const struct wsi_host *host, const char *name)
{
	char path[40];
	uint64_t entry[2], base = 0;
	struct mapped mapped;
	pid_t pid = wsi_host_pid(host);
	snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
	FILE *auxv = fopen(path, "re");
	while (auxv && base == 0 && fread(entry, sizeof entry, 1, auxv) == 1)
		base = entry[0] == AUX_BASE ? entry[1] : 0;
	if (auxv)
		fclose(auxv);
	return base && mapped_file_find(pid, is_at, &base, &mapped) ? symbol_of(pid, &mapped, name)
								    : 0;
}
