/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope exec --software-gpu: the program finds our driver in place of the vendor's. */
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/exported.h"

/* The folder of the driver and its agent, beside this program: installed, or as it was built. */
static bool gpu_folder(char ret_folder[EXEC_PATH_BYTES])
{
	static const char *const places[] = { "/../" WARPSCOPE_LIBDIR "/warpscope/software-gpu",
					      "/cuda" };
	char self[EXEC_PATH_BYTES];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n <= 0)
		return false;
	self[n] = '\0';
	char *slash = strrchr(self, '/');
	size_t len = slash ? (size_t)(slash - self) : 0;
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		char driver[EXEC_PATH_BYTES + 32];
		int folder_len =
			snprintf(ret_folder, EXEC_PATH_BYTES, "%.*s%s", (int)len, self, places[i]);
		snprintf(driver, sizeof driver, "%s/libcuda.so.1", ret_folder);
		if (folder_len > 0 && folder_len < EXEC_PATH_BYTES && access(driver, R_OK) == 0)
			return true;
	}
	return false;
}

bool exec_gpu_set(const char *arch)
{
	char folder[EXEC_PATH_BYTES];
	const char *more = getenv("LD_LIBRARY_PATH");
	if (!gpu_folder(folder)) {
		cli_warn("the driver of the software GPU is not installed beside this program, as "
			 "`make install` does; the static program comes without it");
		return false;
	}
	size_t size = strlen(folder) + (more ? strlen(more) : 0) + 2;
	char *path = cli_alloc(size, 1);
	snprintf(path, size, "%s%s%s", folder, more && *more ? ":" : "", more ? more : "");
	bool ok = setenv("LD_LIBRARY_PATH", path, 1) == 0 &&
		  (!arch || setenv("WARPSCOPE_SOFTWARE_GPU", arch, 1) == 0);
	free(path);
	if (!ok)
		cli_out_of_memory();
	return true;
}

/* ---- which runtime a program has ---- */

/* Opens a program as execvp() finds it; -1: it does not. */
static int open_program(const char *program)
{
	char path[CLI_PROGRAM_BYTES];
	if (!strchr(program, '/') && getenv("PATH")) {
		if (!cli_find_program(program, strlen(program), path))
			return -1;
		program = path;
	}
	return open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static bool file_has_text(struct ws_span file, const char *text)
{
	const size_t n = strlen(text);
	const uint8_t *at = file.ptr, *end = file.ptr + file.len;
	while (at && (size_t)(end - at) >= n && memcmp(at, text, n) != 0)
		at = memchr(at + 1, text[0], (size_t)(end - at) - 1);
	return at && (size_t)(end - at) >= n;
}

/* It has images of kernels, names the runtime's errors, and no library does that for it. */
static bool has_own_runtime(struct ws_span file)
{
	return wsi_elf_has_section(file, ".nv_fatbin") && !wsi_elf_needs(file, "libcudart.so") &&
	       !wsi_elf_needs(file, "libcuda.so") &&
	       file_has_text(file, "cudaErrorNoKernelImageForDevice") &&
	       file_has_text(file, "libcuda.so.1");
}

bool exec_gpu_is_foreign(const char *program)
{
	struct stat at;
	bool is_foreign = false;
	int fd = open_program(program);
	if (fd < 0)
		return false;
	if (fstat(fd, &at) == 0 && S_ISREG(at.st_mode) && at.st_size > 0) {
		const size_t len = (size_t)at.st_size;
		uint8_t *bytes = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes != MAP_FAILED) {
			is_foreign = has_own_runtime((struct ws_span){ bytes, len, 0 });
			munmap(bytes, len);
		}
	}
	close(fd);
	return is_foreign;
}
