/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope exec --software-gpu: the program finds our driver in place of the vendor's. */
#include "exec/exec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of the driver and its agent, beside this program: installed, or as it was built. */
static bool gpu_folder(char ret_folder[EXEC_PATH_BYTES])
{
	static const char *const places[] = { "/../" WARPSCOPE_LIBDIR "/warpscope/software-gpu",
					      "/driver" };
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
		cli_warn("the driver of the software GPU is not installed beside this program");
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
