/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page on a terminal goes through a pager, as in git. It is started before the sandbox is
 * entered, and is no part of it; it gets the page through a pipe. Behind the sandbox nobody can
 * wait for a process, so its end is that of another pipe, which it holds open and never uses
 * (docs/decisions/0051-command-line.md).
 */
#include "pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Verbs that answer with a page. The others make files, read a pipe, or are conversations. */
static const char *const with_pages[] = { "report", "info",  "mem",    "regs", "bt",    "locals",
					  "print",  "ptype", "whatis", "list", "check", "lines",
					  "disas",  "diff",  "triage", "log" };

static int pager_end = -1; /* to be read: ends with the pager; -1: there is none */
static pid_t pager_owner;  /* a child of ours does not wait for it */

/* Whether the first word of a shell's command is a program, or something that only a shell can
 * tell. */
static bool is_command(const char *command)
{
	char path[CLI_PROGRAM_BYTES];
	size_t len = strcspn(command, " \t");
	return strcspn(command, "/$'\"\\=;&|<>(){}*?`~") < len ||
	       cli_find_program(command, len, path);
}

/* What the user wants, or less(1) where it is; NULL: none. */
static const char *pager_choose(void)
{
	static const char *const names[] = { "WARPSCOPE_PAGER", "PAGER" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *command = getenv(names[i]);
		if (!command)
			continue;
		if (!*command || strcmp(command, "cat") == 0)
			return NULL;
		if (is_command(command))
			return command;
		cli_warn("there is no pager '%s', which %s names", command, names[i]);
		return NULL;
	}
	return is_command("less") ? "less" : NULL;
}

_Noreturn static void pager_become(const char *command, int page)
{
	dup2(page, STDIN_FILENO);
	close(page);
	/* colours; what fits the screen is left there; nothing is cleared */
	(void)!setenv("LESS", "FRX", 0);
	(void)!setenv("LV", "-c", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* Ctrl-C: the pager goes on with what it has, and keeps the terminal until its user leaves it. */
static void pager_interrupt(int number)
{
	cli_pager_end();
	signal(number, SIG_DFL);
	raise(number);
}

void cli_pager_start(const struct cli *cli, const char *verb)
{
	bool has_pages = false;
	int page[2], end[2];
	for (size_t i = 0; i < sizeof with_pages / sizeof with_pages[0]; i++)
		has_pages |= strcmp(with_pages[i], verb) == 0;
	const char *command =
		has_pages && cli->terminal && !cli_terminal_is_dumb() ? pager_choose() : NULL;
	if (!command || pipe(page) != 0)
		return;
	if (pipe(end) != 0) {
		close(page[0]);
		close(page[1]);
		return;
	}
	const pid_t pid = fork();
	if (pid == 0) {
		close(page[1]);
		close(end[0]);
		pager_become(command, page[0]);
	}
	close(page[0]);
	close(end[1]);
	if (pid > 0 && dup2(page[1], STDOUT_FILENO) >= 0) {
		pager_owner = getpid();
		pager_end = end[0];
		(void)!fcntl(pager_end, F_SETFD, FD_CLOEXEC);
		signal(SIGINT, pager_interrupt);
		(void)!atexit(cli_pager_end);
	}
	close(page[1]);
}

void cli_pager_end(void)
{
	char none;
	if (pager_end < 0 || getpid() != pager_owner)
		return;
	close(STDOUT_FILENO);
	while (read(pager_end, &none, 1) < 0 && errno == EINTR)
		continue;
	pager_end = -1;
}
