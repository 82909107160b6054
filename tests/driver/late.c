/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that loads the driver by itself. usage: late MODE
 *
 * late: when a line comes. soon: at once, and begins to use it when a line comes. abort: ends so.
 * close: closes it again while its threads run, as NVIDIA's static runtime does.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *load(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver)
		exit(2);
	return driver;
}

int main(int argc, char **argv)
{
	union {
		void *object;
		int (*function)(unsigned flags);
	} init;
	char line[80];
	const char *mode = argc == 2 ? argv[1] : "";
	void *driver = strcmp(mode, "late") != 0 ? load() : NULL;
	printf("up\n");
	fflush(stdout);
	if (strcmp(mode, "abort") != 0 && strcmp(mode, "close") != 0 &&
	    !fgets(line, sizeof line, stdin))
		return 1;
	init.object = dlsym(driver ? driver : load(), "cuInit");
	printf("%d\n", init.function(0));
	fflush(stdout);
	if (strcmp(mode, "abort") == 0)
		abort();
	if (strcmp(mode, "close") == 0)
		return dlclose(driver) || init.function(0); /* its threads need its code as well */
	return !fgets(line, sizeof line, stdin);
}
