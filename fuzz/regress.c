/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over the files of the folders given. Prints TAP. */
#include <dirent.h>

#include "fuzz.h"

#undef malloc

static bool run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return false;
	fseek(file, 0, SEEK_END);
	long size = ftell(file);
	rewind(file);
	/* a block of exactly this size, so that checkers see reads beyond it */
	uint8_t *data = size >= 0 ? malloc((size_t)size + (size == 0)) : NULL;
	bool ok = data && fread(data, 1, (size_t)size, file) == (size_t)size;
	fclose(file);
	if (ok)
		LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
	return ok;
}

static unsigned run_folder(const char *folder, unsigned n_tests, unsigned *n_failed)
{
	DIR *dir = opendir(folder);
	if (!dir) {
		printf("not ok %u - %s cannot be read\n", ++n_tests, folder);
		++*n_failed;
		return n_tests;
	}
	struct dirent *entry;
	while ((entry = readdir(dir))) {
		char path[4096];
		if (entry->d_name[0] == '.' || !wsi_format(path, "%s/%s", folder, entry->d_name))
			continue;
		bool ok = run_file(path);
		printf("%s %u - %s\n", ok ? "ok" : "not ok", ++n_tests, entry->d_name);
		*n_failed += !ok;
	}
	closedir(dir);
	return n_tests;
}

int main(int argc, char **argv)
{
	unsigned n_tests = 0, n_failed = 0;
	for (int i = 1; i < argc; i++)
		n_tests = run_folder(argv[i], n_tests, &n_failed);
	printf("1..%u\n", n_tests);
	return n_failed != 0;
}
