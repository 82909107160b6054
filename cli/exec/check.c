/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Before the program starts: whether dumps can be made, and what is known to keep them from being
 * made. What cannot work is refused; all else is said, and the program starts.
 */
#define _GNU_SOURCE /* realpath */
#include "exec/exec.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <warpscope/core.h>

/* ---- the folder ---- */

/* The job, as launchers name it, so that all of its ranks share a folder; or this run. */
static void job_name(const struct exec *exec, char *ret_name, size_t size)
{
	bool is_mpi = getenv("OMPI_COMM_WORLD_RANK") != NULL;
	const char *slurm = getenv("SLURM_JOB_ID");
	/* on the first node mpirun starts its ranks outside of a step */
	const char *step = is_mpi ? NULL : getenv("SLURM_STEP_ID");
	const char *run = getenv(is_mpi ? "PMIX_NAMESPACE" : "TORCHELASTIC_RUN_ID");
	time_t now = time(NULL);
	struct tm tm = { 0 };
	if (run && strcmp(run, "none") == 0)
		run = NULL;
	gmtime_r(&now, &tm);
	if (exec->args->job)
		snprintf(ret_name, size, "%s", exec->args->job);
	else if (slurm || run)
		snprintf(ret_name, size, "job-%.80s%s%.20s%s%.100s", slurm ? slurm : "",
			 slurm && step ? "." : "", slurm && step ? step : "",
			 slurm && run ? "-" : "", run ? run : "");
	else
		snprintf(ret_name, size, "run-%04d%02d%02dT%02d%02d%02dZ-%.100s-%d",
			 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
			 tm.tm_sec, exec->host, (int)getpid());
	for (char *c = ret_name; *c; c++) /* it is one name in a folder, and part of a pattern */
		if (!isalnum((unsigned char)*c) && !strchr("-_.", *c))
			*c = '_';
	if (ret_name[0] == '.')
		ret_name[0] = '_';
}

static int refuse(const char *path, const char *why)
{
	cli_warn("%s: %s", path, why);
	return CLI_NO_ANSWER;
}

/* Makes a folder that only its owner may read, as dumps hold what was in memory; one that is there
 * stays as it is. */
static bool folder_make(const char *path)
{
	return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* Whether files and, for requests, pipes can be made there. */
static int folder_try(const struct exec *exec, bool needs_pipe)
{
	char path[EXEC_PATH_BYTES + EXEC_HOST_BYTES + 32];
	struct stat at;
	snprintf(path, sizeof path, "%s/.try-%s-%d", exec->folder, exec->host, (int)getpid());
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || !ws_write_fd(&fd, "", 1)) {
		int status = refuse(exec->folder, strerror(errno));
		if (fd >= 0)
			close(fd);
		(void)!unlink(path);
		return status;
	}
	close(fd);
	(void)!unlink(path);
	if (needs_pipe && mkfifo(path, 0600) != 0)
		return refuse(exec->folder, "the file system has no named pipes, which dumps on "
					    "request need; choose another folder (--dumps)");
	if (needs_pipe)
		(void)!unlink(path);
	if (stat(exec->folder, &at) == 0 && (at.st_mode & 077))
		cli_say("warpscope exec: %s: other users can read this folder, and dumps may hold "
			"memory contents (mode %03o)\n",
			exec->folder, (unsigned)at.st_mode & 0777);
	return CLI_ANSWERED;
}

static int folder_check(struct exec *exec, bool needs_pipe)
{
	const char *dumps = exec->args->dumps;
	char job[EXEC_HOST_BYTES];
	struct exec_variables set;
	if (!folder_make(dumps))
		return refuse(dumps, strerror(errno));
	char *real = realpath(dumps, NULL);
	if (!real)
		return refuse(dumps, strerror(errno));
	job_name(exec, job, sizeof job);
	int len = snprintf(exec->folder, sizeof exec->folder, "%s/%s", real, job);
	free(real);
	if (len < 0 || (size_t)len >= sizeof exec->folder ||
	    !exec_variables_make(exec->args->kind, exec->folder, exec->part, NULL, &set))
		return refuse(dumps, "its path is too long; CUDA takes at most 1,023 characters");
	if (strpbrk(exec->folder, "%\n"))
		return refuse(exec->folder,
			      "CUDA does not take % or a line end in a path literally");
	if (!folder_make(exec->folder))
		return refuse(exec->folder, strerror(errno));
	return folder_try(exec, needs_pipe);
}

/* ---- room ---- */

static unsigned gpu_count(void)
{
	unsigned n = 0;
	DIR *dir = opendir("/dev");
	for (const struct dirent *entry; dir && (entry = readdir(dir));) {
		uint64_t number;
		n += strncmp(entry->d_name, "nvidia", 6) == 0 &&
		     cli_number(entry->d_name + 6, &number);
	}
	if (dir)
		closedir(dir);
	return n;
}

static void check_room(const struct exec *exec)
{
	const uint64_t gib = UINT64_C(1) << 30;
	unsigned gpus = exec->args->software_gpu ? 1 : gpu_count();
	bool large = exec->args->kind == EXEC_FULL && !exec->args->software_gpu;
	uint64_t each = large ? 80 * gib : gib; /* the software GPU has 1 GiB (--memory of run) */
	uint64_t need = each * (gpus ? gpus : 1);
	struct statvfs at;
	struct rlimit limit;
	if (statvfs(exec->folder, &at) == 0 && (uint64_t)at.f_bavail * at.f_frsize < need)
		cli_say("warpscope exec: %s: %" PRIu64
			" MiB are free; dumps of %u GPU%s may take %" PRIu64 " GiB%s\n",
			exec->folder, (uint64_t)at.f_bavail * at.f_frsize >> 20, gpus ? gpus : 1,
			gpus > 1 ? "s" : "", need / gib,
			large ? ", or more: as much as their memory holds" : "");
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    limit.rlim_cur < each)
		cli_say("warpscope exec: files may have at most %" PRIu64
			" bytes here (ulimit -f): "
			"larger dumps will be cut\n",
			(uint64_t)limit.rlim_cur);
}

/* ---- variables ---- */

static void check_variables(void)
{
	static const struct {
		const char *name, *words;
	} known[] = {
		{ "CUDA_ENABLE_LIGHTWEIGHT_COREDUMP",
		  "CUDA 13.0 removed it; what is left out is chosen with --for" },
		{ "CUDA_DEVICE_WAITS_ON_EXCEPTION",
		  "a fault then waits for a debugger, and leaves no dump" },
		{ "CUDA_INJECTION64_PATH", "a tool that is loaded this way may prevent dumps" },
		{ "CUDA_MPS_PIPE_DIRECTORY",
		  "under MPS a fault of one client makes all clients of that server dump" },
	};
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		const char *value = getenv(known[i].name);
		if (value && *value && strcmp(value, "0") != 0)
			cli_say("warpscope exec: %s is set: %s\n", known[i].name, known[i].words);
	}
}

/* Slurm's own service starts the tasks of srun: they are not below exec. */
static void check_launcher(const struct exec_args *args)
{
	const char *slash = strrchr(args->program[0], '/');
	if (strcmp(slash ? slash + 1 : args->program[0], "srun") == 0)
		cli_say("warpscope exec: it does not see the tasks of srun: their ranks are not "
			"recorded%s; better: srun warpscope exec PROGRAM\n",
			args->on_hang.given ? ", and --on-hang does not find them" : "");
}

/* Words of the user's own flags that no driver is known to have. */
static void check_flags(void)
{
	const char *at = getenv("CUDA_COREDUMP_GENERATION_FLAGS");
	while (at && *at) {
		size_t n = strcspn(at, ",");
		bool known = n == 0;
		for (uint32_t flag = 1; flag && !known; flag <<= 1) {
			const char *text = ws_dump_flag_text(flag);
			known = text && strlen(text) == n && memcmp(text, at, n) == 0;
		}
		if (!known)
			cli_say("warpscope exec: CUDA_COREDUMP_GENERATION_FLAGS: no known driver "
				"takes '%.*s'\n",
				(int)n, at);
		at += n + (at[n] == ',');
	}
}

/* ---- other tools ---- */

/* The parent and the name of a process; 0: there is none. */
static pid_t parent_process_of(pid_t pid, char ret_name[64])
{
	size_t len;
	int parent = 0;
	char *text = exec_proc_read(pid, "stat", 4096, &len);
	const char *open = text ? strchr(text, '(') : NULL, *end = text ? strrchr(text, ')') : NULL;
	if (open && end && end > open) {
		snprintf(ret_name, 64, "%.*s", (int)(end - open - 1), open + 1);
		if (sscanf(end, ") %*c %d", &parent) != 1)
			parent = 0;
	}
	free(text);
	return parent;
}

/* Only one tool can be attached to a GPU's process, and the driver's dump is one. */
static void check_tools(void)
{
	static const char *const tools[] = { "cuda-gdb", "compute-saniti", "nsys", "ncu",
					     "nvprof" };
	char name[64] = "";
	size_t len;
	for (pid_t pid = getpid(); pid > 0; pid = parent_process_of(pid, name)) {
		for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
			if (strncmp(name, tools[i], strlen(tools[i])) == 0)
				cli_say("warpscope exec: it runs under %s: no dump is made while a "
					"debugger or profiler is attached\n",
					name);
		name[0] = '\0';
	}
	char *status = exec_proc_read(getpid(), "status", 1 << 16, &len);
	const char *tracer = status ? strstr(status, "\nTracerPid:\t") : NULL;
	if (tracer && tracer[12] != '0')
		cli_say("warpscope exec: a debugger is attached (process %d): it may prevent "
			"dumps\n",
			atoi(tracer + 12));
	free(status);
}

int exec_check(struct exec *exec)
{
	bool on_request = exec->args->kind == EXEC_HANG || exec->args->kind == EXEC_FULL;
	int status = folder_check(exec, on_request);
	if (status != CLI_ANSWERED)
		return status;
	check_room(exec);
	check_variables();
	check_flags();
	check_launcher(exec->args);
	check_tools();
	if (!exec_proc_works())
		cli_say("warpscope exec: /proc does not belong to this container: ranks are not "
			"recorded, and what is left running is not ended\n");
	return CLI_ANSWERED;
}
