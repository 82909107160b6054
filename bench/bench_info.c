/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-info WARPSCOPE DUMP...: how fast the whole program prints its tables, as a multiple of the
 * floor of opening (floor/), which touches the rows of all lanes too. Ours is the CPU time of a
 * process of its own, start and end included; its output is thrown away.
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "floor/floor.h"

/* User and system time of all children that have ended, in seconds. */
static double children_time(void)
{
	struct rusage usage;
	getrusage(RUSAGE_CHILDREN, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static double run(char *const *argv)
{
	double before = children_time();
	pid_t child = fork();
	if (child == 0) {
		int null = open("/dev/null", O_WRONLY);
		if (null >= 0 && dup2(null, STDOUT_FILENO) >= 0)
			execv(argv[0], argv);
		_exit(127);
	}
	int status;
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
		fprintf(stderr, "bench: %s %s failed\n", argv[0], argv[1]);
		exit(1);
	}
	return children_time() - before;
}

static void bench(const char *what, const char *path, char *const *argv, double limit)
{
	struct times times;
	for (int i = 0; i < RUNS; i++) {
		times.floor[i] = floor_open_time(path);
		times.ours[i] = run(argv);
	}
	print_ratio(what, &times, limit, 1e3, "ms");
}

int main(int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		char info[] = "info", threads[] = "threads", off[] = "--coalescing=off",
		     sm[] = "sm", any[] = "any", warps[] = "warps";
		printf("%s:\n", argv[i]);
		bench("threads", argv[i], (char *[]){ argv[1], info, argv[i], threads, NULL }, 6);
		bench("each", argv[i], (char *[]){ argv[1], info, argv[i], off, threads, NULL },
		      60);
		bench("warps", argv[i], (char *[]){ argv[1], info, argv[i], warps, sm, any, NULL },
		      6);
	}
	return 0;
}
