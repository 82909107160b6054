/* SPDX-License-Identifier: Apache-2.0 */
/* What the files share that read an expression. */
#ifndef WSI_VARS_PARSE_H
#define WSI_VARS_PARSE_H

#include "vars/vars.h"

struct wsi_parser {
	struct ws_vars *vars;
	const char *at;
	unsigned depth;
	unsigned idle; /* read but not computed: the other side of ?:, && and || */
	enum ws_status status;
	struct ws_error err;
};

/* Keeps the first failure; the value is one of no meaning. */
struct ws_value wsi_parse_fail(struct wsi_parser *p, const char *format, ...) WS_PRINTF(2, 3);
/* The same, of what was computed; else the value. */
struct ws_value wsi_parse_checked(struct wsi_parser *p, enum ws_status st,
				  const struct ws_value *value, const struct ws_error *err);
/* Takes a text if it is next. */
bool wsi_parse_take(struct wsi_parser *p, const char *text);
/* CONDITION ? A : B, or what binds tighter. */
struct ws_value wsi_parse_expression(struct wsi_parser *p);
/* What is behind a '$' that was taken. */
struct ws_value wsi_parse_dollar(struct wsi_parser *p);

#endif
