/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program over any file: the first byte chooses a command line, the rest is the file. Beyond
 * what every target is held to: the exit status is one of the table, what strip writes opens again,
 * and nothing is printed without end.
 */
#define _XOPEN_SOURCE 700 /* nftw */
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

#undef abort
#undef exit

int cli_main(int argc, char **argv);
_Noreturn void fuzz_exit(int status);
const char *__asan_default_options(void);

static const char *const commands[] = {
	"report in",
	"report --format html --all in",
	"report --format md --full-names in",
	"report --format json --all in",
	"report --no-source --debug-image in in",
	"check in",
	"check --json in",
	"lines in",
	"lines --json --full-names in",
	"lines --raw in",
	"lines --pc 0x10 in",
	"lines --source a.cu:3 in",
	"symbolize in kernel+0x10 0x7f0000001040 _Z6kernelv",
	"disas in",
	"disas --source --hex --control in",
	"disas --asm in",
	"disas --cfg in",
	"disas --json in",
	"info in devices",
	"info in contexts",
	"info in modules",
	"info in kernels",
	"info in sms device any",
	"info in blocks kernel any",
	"info in clusters",
	"info --json in warps device any sm any",
	"info --wide in lanes device any sm any warp any",
	"info in threads kernel any",
	"info in barriers",
	"info in exceptions",
	"info in memory",
	"info --json in sections",
	"info in metadata",
	"info in where 0x7f0000001040",
	"regs in device any sm any warp any lane any",
	"mem in global:0x7f0000005000 /16xw",
	"mem in shared:0 /8xg",
	"mem in generic:0x7f0000001040 /4xw",
	"diff in in",
	"extract in image 0 -o out",
	"extract in ptx 0 -o out",
	"extract in section 2 -o out",
	"extract in memory global:0x7f0000005000+64 -o out",
	"strip in --for-issue -o out",
	"strip in --lightweight --layout r346 -o out",
	"strip in --redact --drop-paths --keep fault -o out",
	"strip in -o out",
	"store --store kept add in",
	"store --store kept find in",
	"as in -o out",
	"trace diff in in",
	"bt in",
	"bt --json --limit 9 in",
	"locals in",
	"locals --json --frame 1 in",
	"print in *at",
	"print --lanes in threadIdx.x",
	"print --json in $R4",
	"print --lanes in total kernel any",
	"list in",
	"list --json in *0x7f0000001040",
	"ptype in *at",
	"ptype --json in cursor",
	"info in line",
	"info --json in line *0x7f0000001040",
	"info in symbol 0x7f0000001040",
	"info --json in source",
	"info --json in scope kernel",
	"info in types",
	"info --json in variables",
	"info in sources",
	"info in functions k",
	"info in address at",
	"whatis in *(int(*)[2])at",
	"info --json in frame",
	"ptype in (int[2][3])0",
	"info in",
	"info --json --wide in",
	"log in",
	"log --json in",
};

static char folder[] = "/tmp/warpscope-fuzz.XXXXXX";
static jmp_buf ended;

void fuzz_exit(int status)
{
	longjmp(ended, status + 1);
}

/* What a program leaves to the system when it exits early is no leak. */
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *at)
{
	(void)about;
	(void)kind;
	(void)at;
	return remove(path);
}

static void remove_folder(void)
{
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void start(void)
{
	static bool started;
	if (started)
		return;
	started = true;
	FUZZ_CHECK(mkdtemp(folder) && chdir(folder) == 0);
	atexit(remove_folder);
}

/* Its words, in argv. Static, as are they: setjmp() is near. */
static char *argv[20];

static int split(const char *command)
{
	static char words[200];
	static char name[] = "warpscope";
	int argc = 1;
	argv[0] = name;
	snprintf(words, sizeof words, "%s", command);
	for (char *rest = words; *rest && argc < 19;) {
		argv[argc++] = rest;
		rest += strcspn(rest, " ");
		if (*rest)
			*rest++ = 0;
	}
	argv[argc] = NULL;
	return argc;
}

/* Its exit status; what it prints on either output is counted in *ret_printed. */
static int run(const char *command, uint64_t *ret_printed)
{
	int kept[2];
	fflush(NULL);
	int sink = open("printed", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
	FUZZ_CHECK(sink >= 0);
	for (int fd = 1; fd <= 2; fd++) {
		kept[fd - 1] = dup(fd);
		dup2(sink, fd);
	}
	setenv("WARPSCOPE_SANDBOX", "off", 1); /* one process runs many command lines */
	optind = 0;
	int jumped = setjmp(ended);
	int status = jumped ? jumped - 1 : cli_main(split(command), argv);
	fflush(NULL);
	*ret_printed = (uint64_t)lseek(sink, 0, SEEK_END);
	for (int fd = 1; fd <= 2; fd++) {
		dup2(kept[fd - 1], fd);
		close(kept[fd - 1]);
	}
	close(sink);
	return status;
}

int fuzz_target(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	start();
	const char *command = commands[data[0] % WSI_COUNT(commands)];
	FILE *file = fopen("in", "wb");
	FUZZ_CHECK(file && fwrite(data + 1, 1, size - 1, file) == size - 1 && fclose(file) == 0);
	remove("out");
	nftw("kept", remove_one, 8, FTW_DEPTH | FTW_PHYS);
	uint64_t printed;
	int status = run(command, &printed);
	FUZZ_CHECK(status == 0 || status == 1 || (status >= 10 && status <= 12));
	fuzz_check_printed(printed, size);
	if (status == 0 && strncmp(command, "strip", 5) == 0) {
		status = run("check out", &printed);
		FUZZ_CHECK(status == 0 || status == 10);
		FUZZ_CHECK(run("report out", &printed) != 1);
	}
	return 0;
}
