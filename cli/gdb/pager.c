/* SPDX-License-Identifier: Apache-2.0 */
/* The output of commands, a screen at a time. */
#include "gdb/gdb.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Lets the user read what the screen shows. */
static void wait_for_reader(struct gdb_pager *p)
{
	static const char words[] =
		"--Type <RET> for more, q to quit, c to continue without paging--";
	int to = STDOUT_FILENO;
	char first = 0, typed = 0;
	(void)!ws_write_fd(&to, words, sizeof words - 1);
	bool more = true;
	while (typed != '\n' && (more = read(STDIN_FILENO, &typed, 1) == 1))
		first = first ? first : typed;
	p->skips = first == 'q' || !more;
	p->whole = first == 'c';
	p->row = 0;
}

/* Takes the output of commands. */
static bool page(void *user, const char *bytes, size_t len)
{
	struct gdb_pager *p = user;
	unsigned columns = p->cli->columns;
	int to = STDOUT_FILENO;
	bool good = true;
	while (len > 0 && good && !p->skips) {
		const char *end = memchr(bytes, '\n', len);
		size_t n = end ? (size_t)(end - bytes) + 1 : len;
		if (!p->whole && p->row + 1 >= p->rows)
			wait_for_reader(p);
		if (p->skips)
			break;
		good = ws_write_fd(&to, bytes, n);
		p->row += (end ? 1 : 0) + (columns ? (unsigned)((n - 1) / columns) : 0);
		bytes += n;
		len -= n;
	}
	return good;
}

unsigned gdb_pager_rows(void)
{
	struct winsize size;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

void gdb_pager_begin(struct gdb_pager *p, struct cli *cli, unsigned rows)
{
	p->cli = cli;
	p->row = 0;
	p->skips = p->whole = false;
	p->rows = rows;
	p->cli->page = p->rows > 1 ? page : NULL;
	p->cli->page_user = p;
}

void gdb_pager_end(struct gdb_pager *p)
{
	cli_flush(p->cli);
	p->cli->page = NULL;
}

void gdb_write(struct cli *cli, const char *bytes, size_t len)
{
	int to = STDOUT_FILENO;
	(void)!(cli->page ? cli->page(cli->page_user, bytes, len) : ws_write_fd(&to, bytes, len));
}
