/* SPDX-License-Identifier: Apache-2.0 */
/* A thread of what the command line names, and its stack. */
#ifndef WARPSCOPE_CLI_LOOK_H
#define WARPSCOPE_CLI_LOOK_H

#include <warpscope/verbs.h>

#include "session.h"

struct frame_look {
	struct cli_session session;
	struct ws_stack stack;
};

/* Looks at the thread that words name, else at that of the prompt or of the report, and at frame
 * `number`, else at that of the prompt. An exit status; CLI_ANSWERED is success. look_close() in
 * any case. */
int look_open(struct frame_look *look, struct cli *cli, const char *path, int argc, char **argv,
	      struct cli_given number);
void look_close(struct frame_look *look);
/* The line of a frame, as ws_stack_frame_text(). */
void look_print_frame(struct frame_look *look, size_t number, bool place);

/* Options of the verbs that print values: all but what is given is as at the prompt. */
struct look_style {
	struct cli_given elements, repeats;
	bool pretty;
};
#define LOOK_STYLE_OPTIONS(type, member)                                            \
	{ "elements", 0, CLI_NUMBER, .at = offsetof(type, member.elements) },       \
		{ "repeats", 0, CLI_NUMBER, .at = offsetof(type, member.repeats) }, \
	{                                                                           \
		"pretty", 0, CLI_FLAG, .at = offsetof(type, member.pretty)          \
	}
void look_use_style(struct frame_look *look, const struct look_style *given);

/* "/x" and what follows; false, when told: no format. */
bool look_format(const char **text, struct ws_value_format *ret_format);

#endif
