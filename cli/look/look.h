/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs share that show a stack and its variables: bt, locals, print. */
#ifndef WARPSCOPE_CLI_VARS_H
#define WARPSCOPE_CLI_VARS_H

#include <warpscope/vars.h>

#include "names.h"
#include "pattern.h"
#include "session.h"

/* A frame as it is numbered for people: an inlined function has a number of its own. */
struct shown_frame {
	uint32_t level; /* of the frame of machine code that it is in */
	uint32_t nth;   /* of the positions there, 0: the innermost */
	bool inlined;
	bool has_position;
	struct ws_line_pos position;
};

/* A thread that is looked at. */
struct look {
	struct session session;
	struct ws_vars *vars;       /* owned */
	struct shown_frame *frames; /* owned */
	size_t n_frames, cap_frames;
	size_t at; /* the frame that is looked at */
	enum cli_frame_arguments arguments;
	const struct pattern *names, *types; /* of what look_list() takes; NULL: all. Borrowed */
};

/* Looks at the thread that words name, else at that of the prompt or of the report, and at frame
 * `number`, else at that of the prompt. An exit status; CLI_ANSWERED is success. */
int look_open(struct look *look, struct cli *cli, const char *path, int argc, char **argv,
	      struct cli_given number);
void look_close(struct look *look);

/* Looks at another of the frames. */
enum ws_status look_select(struct look *look, size_t number, struct ws_error *err);

/* "#1  0x00007c0000001c30 in inner (depth=2) at v.cu:30" */
void look_print_frame(struct look *look, size_t number, struct ws_out *out);
/* The name of its function. */
void look_print_name(const struct look *look, size_t number, struct ws_out *out);
/* Its part behind "in". */
void look_print_call(struct look *look, size_t number, struct ws_out *out);
/* Whether the frame is of a function that a user names. */
bool look_is_function(const struct look *look, size_t number, const char *name);
/* Its variables, a line each. */
void look_print_variables(struct look *look, size_t number, struct ws_out *out);
/* The frame as an object; `full`: with its variables. */
void look_json_frame(struct look *look, size_t number, bool full, struct ws_json *json);

/* Parameters or variables of the frame that is looked at: a line each, or objects of the array that
 * is open. Returns how many; `*ret_status`: why there are none. */
size_t look_list(struct look *look, bool params, struct ws_out *out, struct ws_json *json,
		 enum ws_status *ret_status, struct ws_error *err);

/* Of a kernel that was not compiled with -G: parameters, and what registers hold. Lines, or objects
 * of the array that is open. Returns how many; `*ret_status`: why there are none. */
size_t look_list_params(struct look *look, struct ws_out *out, struct ws_json *json,
			enum ws_status *ret_status, struct ws_error *err);
size_t look_list_held(struct look *look, struct ws_out *out, struct ws_json *json);

/* A value as text; free() it. `*ret_status`: whether it is there, as ws_vars_print(). */
char *look_text(struct ws_vars *vars, const struct ws_value *value, struct ws_value_format format,
		enum ws_status *ret_status);
/* Keys "type", "value", "value_why". */
void look_json_value(struct look *look, const struct ws_value *value, struct ws_value_format format,
		     struct ws_json *json);

/* The arguments of the frame that is looked at; those of a kernel also without -G. */
enum look_arguments {
	LOOK_IN_FRAME, /* " (depth=2, v=...)" */
	LOOK_INLINED,  /* the same of a function that is inlined, if it has any */
	LOOK_IN_TABLE, /* the same without the space and the texts that pointers lead to */
	LOOK_BARE,     /* " depth=2, v=..." */
};
void look_print_arguments(struct ws_vars *vars, enum look_arguments how,
			  enum cli_frame_arguments which, struct ws_out *out);

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
void look_use_style(struct look *look, const struct look_style *given);

/* "/x" and what follows; false, when told: no format. */
bool look_format(const char **text, struct ws_value_format *ret_format);

#endif
