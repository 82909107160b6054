/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPSCOPE_CLI_PAGER_H
#define WARPSCOPE_CLI_PAGER_H

struct cli;

/* Starts the pager of the user, if standard output is a terminal and the verb answers with a page:
 * what is printed goes there. Before the sandbox is entered. */
void cli_pager_start(const struct cli *cli, const char *verb);
/* Waits until the user has left it; nothing can be printed any more. Without one, does nothing. */
void cli_pager_end(void);

#endif
