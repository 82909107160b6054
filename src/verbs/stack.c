/* SPDX-License-Identifier: Apache-2.0 */
/* The stack of a thread: its frames with their arguments and variables. */
#include <inttypes.h>
#include <string.h>

#include <warpscope/stack.h>
#include <warpscope/symbols.h>

#include "verbs/stack.h"

/* ---- frames ---- */

static bool frames_make(struct ws_stack *stack)
{
	size_t cap = 0;
	for (uint32_t level = 0; level < ws_vars_frames(stack->vars); level++) {
		const struct ws_frame *frame = ws_vars_frame(stack->vars, level);
		struct ws_line_pos chain[WS_CHAIN_MOST];
		size_t n = 0;
		if (frame->status != WS_OK ||
		    ws_cubin_line_find(frame->place.cubin, frame->place.section,
				       frame->place.sec_off, chain, WS_CHAIN_MOST, &n,
				       NULL) != WS_OK)
			n = 0;
		n = n < WS_CHAIN_MOST ? n : WS_CHAIN_MOST;
		for (size_t i = 0; i < n || i == 0; i++) {
			if (!wsi_grow(&stack->frames, &cap, stack->n_frames, sizeof *stack->frames,
				      UINT32_MAX))
				return false;
			struct ws_stack_frame *made = &stack->frames[stack->n_frames++];
			*made = (struct ws_stack_frame){ .level = level,
							 .nth = (uint32_t)i,
							 .inlined = i + 1 < n,
							 .has_position = n > 0 };
			if (n > 0)
				made->position = chain[i];
		}
	}
	return true;
}

enum ws_status ws_stack_open(struct ws_stack *stack, const struct ws_threads *threads,
			     struct ws_error *err)
{
	*stack = (struct ws_stack){ .threads = threads };
	if (!threads->have_focus)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no thread is in focus");
	enum ws_status st = ws_vars_create(threads->target, &stack->vars, err);
	if (st == WS_OK)
		st = ws_vars_look(stack->vars, &threads->focus, err);
	stack->room = wsi_zalloc(sizeof *stack->room);
	if (st == WS_OK && (!stack->room || !frames_make(stack)))
		st = wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "no memory for the stack");
	if (st == WS_OK)
		st = ws_stack_select(stack, 0, err);
	if (st != WS_OK)
		ws_stack_close(stack);
	return st;
}

void ws_stack_close(struct ws_stack *stack)
{
	ws_vars_destroy(stack->vars);
	wsi_free(stack->frames);
	if (stack->room)
		wsi_bytes_fini(&stack->room->text);
	wsi_free(stack->room);
	*stack = (struct ws_stack){ .n_frames = 0 };
}

/* Looks at a frame for a while; select() of `at` ends it. */
static enum ws_status visit(struct ws_stack *stack, size_t number, struct ws_error *err)
{
	const struct ws_stack_frame *frame = &stack->frames[number];
	return frame->inlined ? ws_vars_select_inlined(stack->vars, frame->level, frame->nth, err)
			      : ws_vars_select(stack->vars, frame->level, err);
}

enum ws_status ws_stack_select(struct ws_stack *stack, size_t number, struct ws_error *err)
{
	enum ws_status st = visit(stack, number, err);
	if (st == WS_OK)
		stack->at = number;
	return st;
}

/* ---- values ---- */

bool wsi_verbs_text_write(void *user, const char *bytes, size_t len)
{
	wsi_bytes_put(user, bytes, len);
	return true;
}

const char *wsi_stack_value_text(struct ws_stack *stack, const struct ws_value *value,
				 struct ws_value_format format, enum ws_status *ret_status)
{
	struct wsi_bytes *text = &stack->room->text;
	struct ws_out out;
	text->len = 0;
	ws_out_init(&out, wsi_verbs_text_write, text);
	*ret_status = ws_vars_print(stack->vars, value, format, &out);
	(void)!ws_out_flush(&out, NULL);
	wsi_bytes_zero(text, 1);
	text->failed |= *ret_status == WS_NO_MEMORY;
	return text->failed ? "" : (const char *)text->ptr;
}

enum ws_status wsi_stack_status(const struct ws_stack *stack, struct ws_error *err)
{
	return stack->room->text.failed
		       ? wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "no memory for a value")
		       : WS_OK;
}

/* In a word why a value is not there, when printing it gave `st`; NULL: it is. */
static const char *why_value_missing(const struct ws_value *value, enum ws_status st)
{
	switch (value->kind) {
	case WS_VALUE_BYTES:
	case WS_VALUE_MEMORY:
		return st == WS_OK ? NULL : ws_missing_word(st);
	case WS_VALUE_GONE:
		return "optimized out";
	case WS_VALUE_NOT_HERE:
		return "not live";
	case WS_VALUE_NOT_SAVED:
		return "not saved";
	case WS_VALUE_MISSING:
		return ws_missing_word(value->status);
	}
	return NULL;
}

void wsi_stack_value_json(struct ws_stack *stack, const struct ws_value *value,
			  struct ws_value_format format, struct ws_json *json)
{
	char type[512];
	enum ws_status st;
	const char *text = wsi_stack_value_text(stack, value, format, &st);
	const char *why = why_value_missing(value, st);
	ws_vars_spell(stack->vars, &value->type, type, sizeof type);
	ws_json_key_text(json, "type", type);
	ws_json_key_text(json, "value", why ? NULL : text);
	if (why)
		ws_json_key_text(json, "value_why", why);
}

void wsi_verbs_json_begin(const struct ws_threads *threads, const char *schema,
			  struct ws_json *json, struct ws_out *out)
{
	ws_json_begin(json, out, schema);
	ws_json_key(json, "focus");
	ws_threads_focus_json(threads, json);
}

/* ---- variables ---- */

static size_t list_read(struct ws_stack *stack, enum ws_status *ret_status, struct ws_error *err)
{
	size_t n = 0;
	*ret_status = ws_vars_list(stack->vars, stack->room->list, WS_VARS_MAX_LIST, &n, err);
	return *ret_status == WS_OK ? n : 0;
}

static bool is_wanted(const struct ws_stack *stack, const struct ws_variable_value *one)
{
	char type[512];
	if (!stack->wants)
		return true;
	ws_vars_spell(stack->vars, &one->value.type, type, sizeof type);
	return stack->wants(stack->wants_user, one->variable.name, type);
}

static void variable_show(struct ws_stack *stack, const struct ws_variable_value *one,
			  struct ws_out *out, struct ws_json *json)
{
	const struct ws_value_format format = { 0 };
	if (json) {
		ws_json_object(json);
		ws_json_key_str(json, "name", one->variable.name);
		wsi_stack_value_json(stack, &one->value, format, json);
		ws_json_key_u64(json, "line", one->variable.line);
		ws_json_key_u64(json, "block", one->variable.depth);
		ws_json_end(json);
		return;
	}
	ws_out_escaped(out, one->variable.name);
	ws_out_text(out, " = ");
	(void)ws_vars_print(stack->vars, &one->value, format, out);
	ws_out_text(out, "\n");
}

size_t wsi_stack_list(struct ws_stack *stack, bool params, struct ws_out *out, struct ws_json *json,
		      enum ws_status *ret_status, struct ws_error *err)
{
	const struct ws_variable_value *list = stack->room->list;
	size_t n = list_read(stack, ret_status, err), shown = 0;
	uint32_t deepest = 0;
	for (size_t i = 0; i < n; i++)
		deepest = list[i].variable.depth > deepest ? list[i].variable.depth : deepest;
	for (uint32_t left = deepest + 1; left > 0; left--) { /* inner blocks first, as gdb */
		for (size_t i = 0; i < n; i++) {
			const struct ws_dwarf_variable *variable = &list[i].variable;
			if (variable->depth != left - 1 || variable->is_param != params ||
			    !variable->name.len || !is_wanted(stack, &list[i]))
				continue;
			shown++;
			variable_show(stack, &list[i], out, json);
		}
	}
	return shown;
}

enum ws_status wsi_stack_params(struct ws_stack *stack, size_t *ret_n, struct ws_error *err)
{
	*ret_n = 0;
	enum ws_status st =
		ws_vars_params(stack->vars, stack->room->params, WSI_MOST_PARAMS, ret_n, err);
	*ret_n = st == WS_OK ? wsi_min_u64(*ret_n, WSI_MOST_PARAMS) : 0;
	return st;
}

enum ws_status wsi_stack_variables_text(struct ws_stack *stack, size_t number, struct ws_out *out,
					struct ws_error *err)
{
	struct wsi_bytes *text = &stack->room->text;
	struct ws_out lines;
	enum ws_status listed, st = visit(stack, number, err);
	if (st != WS_OK)
		return st;
	text->len = 0;
	ws_out_init(&lines, wsi_verbs_text_write, text);
	if (wsi_stack_list(stack, false, &lines, NULL, &listed, NULL) == 0 &&
	    (listed == WS_OK || !stack->frames[number].inlined))
		ws_out_text(&lines,
			    listed == WS_OK ? "No locals.\n" : "No symbol table info available.\n");
	(void)!ws_out_flush(&lines, NULL);
	for (const char *at = (char *)text->ptr, *last = at + text->len, *end; at < last;
	     at = end + 1) {
		end = memchr(at, '\n', (size_t)(last - at));
		end = end ? end : last;
		ws_out_text(out, "        ");
		ws_out_escaped(out, (struct ws_str){ at, (size_t)(end - at) });
		ws_out_text(out, "\n");
	}
	(void)!visit(stack, stack->at, NULL);
	return wsi_stack_status(stack, err);
}

/* ---- arguments ---- */

/* A list of arguments. */
struct arguments {
	struct ws_stack *stack;
	struct ws_out *out;
	const char *before; /* the next one */
};

/* `cut`: of a pointer no more than the address. */
static void argument_text(struct arguments *arguments, struct ws_str name,
			  const struct ws_value *value, char letter, bool cut)
{
	const struct ws_value_format format = { .letter = letter, .is_flat = true };
	const enum ws_stack_arguments which = arguments->stack->arguments;
	struct ws_out *out = arguments->out;
	enum ws_status st;
	const char *text = wsi_stack_value_text(arguments->stack, value, format, &st);
	const bool is_word = *text != '{' && *text != '@';
	const bool is_shown =
		which == WS_ARGUMENTS_ALL || (which == WS_ARGUMENTS_SCALARS && is_word);
	const bool is_cut = is_shown && cut && strncmp(text, "0x", 2) == 0;
	ws_out_printf(out, "%s", arguments->before);
	ws_out_escaped(out, name);
	ws_out_text(out, "=");
	ws_out_escaped(out, (struct ws_str){ is_shown ? text : "...", is_cut ? strcspn(text, " ")
								      : is_shown ? strlen(text)
										 : 3 });
	arguments->before = ", ";
}

/* Of a kernel that was not compiled with -G, if the target has their values. */
static void params_text(struct arguments *arguments)
{
	const struct ws_kernel_param *list = arguments->stack->room->params;
	size_t n;
	if (wsi_stack_params(arguments->stack, &n, NULL) != WS_OK || n == 0 ||
	    list[0].value.kind == WS_VALUE_MISSING)
		return;
	for (size_t i = 0; i < n; i++)
		argument_text(arguments, ws_str_of(list[i].name), &list[i].value,
			      list[i].type.len ? 0 : 'x', false);
}

static void arguments_text(struct ws_stack *stack, enum ws_arguments_form form, bool inlined,
			   struct ws_out *out)
{
	static const char *const open[] = { " (", "(", " " }, *const end[] = { ")", ")", "" };
	const bool presence = stack->arguments == WS_ARGUMENTS_PRESENCE;
	const struct ws_variable_value *list = stack->room->list;
	struct arguments arguments = { stack, out, "" };
	enum ws_status st;
	size_t n = list_read(stack, &st, NULL), i = 0;
	while (i < n && !list[i].variable.is_param)
		i++;
	if (inlined && i == n)
		return;
	ws_out_printf(out, "%s", open[form]);
	if (presence && i < n)
		ws_out_text(out, "...");
	for (; !presence && i < n; i++)
		if (list[i].variable.is_param)
			argument_text(&arguments, list[i].variable.name, &list[i].value, 0,
				      form == WS_ARGUMENTS_IN_TABLE);
	if (st != WS_OK && !presence)
		params_text(&arguments);
	ws_out_printf(out, "%s", end[form]);
}

enum ws_status ws_stack_arguments_text(struct ws_stack *stack, enum ws_arguments_form form,
				       struct ws_out *out, struct ws_error *err)
{
	arguments_text(stack, form, stack->frames[stack->at].inlined, out);
	return wsi_stack_status(stack, err);
}

/* ---- a frame ---- */

/* The mangled name of its function: of an inlined one too; NULL in it: not known. */
static struct ws_str name_of(const struct ws_stack *stack, size_t number)
{
	const struct ws_stack_frame *shown = &stack->frames[number];
	const struct ws_frame *frame = ws_vars_frame(stack->vars, shown->level);
	if (shown->inlined)
		return ws_str_of(shown->position.function);
	return frame->status == WS_OK && frame->place.function ? frame->place.function->name
							       : (struct ws_str){ NULL, 0 };
}

bool ws_stack_is_function(const struct ws_stack *stack, size_t number, const char *name)
{
	const struct ws_function function = { .name = name_of(stack, number) };
	return function.name.ptr && ws_name_is(&function, name);
}

void ws_stack_name_text(const struct ws_stack *stack, size_t number, struct ws_out *out)
{
	ws_name_text(out, name_of(stack, number), false);
}

/* "<<<(8,1,1),(32,1,1)>>>" behind the name of a kernel. */
static void launch_text(const struct ws_stack *stack, const struct ws_frame *frame,
			struct ws_out *out)
{
	const uint32_t grid = stack->threads->focus.grid_index;
	const bool is_kernel =
		frame->status == WS_OK && frame->place.function && frame->place.function->is_kernel;
	if (!is_kernel || grid >= stack->threads->counts.grids)
		return;
	const struct ws_dim3 *blocks = &stack->threads->grids[grid].grid_dim;
	const struct ws_dim3 *threads = &stack->threads->grids[grid].block_dim;
	ws_out_printf(out, "<<<(%u,%u,%u),(%u,%u,%u)>>>", blocks->x, blocks->y, blocks->z,
		      threads->x, threads->y, threads->z);
}

enum ws_status ws_stack_frame_text(struct ws_stack *stack, size_t number, bool place,
				   struct ws_out *out, struct ws_error *err)
{
	const struct ws_stack_frame *shown = &stack->frames[number];
	const struct ws_frame *frame = ws_vars_frame(stack->vars, shown->level);
	enum ws_status st = visit(stack, number, err);
	if (st != WS_OK)
		return st;
	if (place)
		ws_out_printf(out, "#%-3zu", number);
	if (place && !shown->inlined)
		ws_out_printf(out, "0x%016" PRIx64 " in ", frame->pc);
	ws_stack_name_text(stack, number, out);
	if (!shown->inlined)
		launch_text(stack, frame, out);
	arguments_text(stack, WS_ARGUMENTS_IN_FRAME, shown->inlined, out);
	if (shown->has_position) {
		ws_out_text(out, " at ");
		ws_position_text(out, &shown->position, false);
	}
	ws_out_text(out, shown->inlined ? " (inlined)\n" : "\n");
	(void)!visit(stack, stack->at, NULL);
	return wsi_stack_status(stack, err);
}

enum ws_status ws_stack_frame_json(struct ws_stack *stack, size_t number, bool full,
				   struct ws_json *json, struct ws_error *err)
{
	const struct ws_stack_frame *shown = &stack->frames[number];
	const struct ws_frame *frame = ws_vars_frame(stack->vars, shown->level);
	const struct ws_str name = name_of(stack, number);
	enum ws_status listed, st = visit(stack, number, err);
	if (st != WS_OK)
		return st;
	ws_json_object(json);
	ws_json_key_u64(json, "level", number);
	ws_json_key_hex(json, "pc", frame->pc);
	if (shown->inlined)
		ws_function_json(json, shown->position.function);
	else if (name.ptr)
		ws_name_json(json, name);
	else {
		const enum ws_status why = frame->status == WS_OK ? WS_ABSENT : frame->status;
		ws_json_missing(json, "function", why);
		ws_json_missing(json, "function_mangled", why);
	}
	ws_path_json(json, shown->has_position ? shown->position.file : NULL);
	if (ws_json_key_given(json, "line", shown->has_position ? WS_OK : WS_ABSENT))
		ws_json_u64(json, shown->position.line);
	ws_json_key_bool(json, "inlined", shown->inlined);
	ws_json_key_array(json, "args");
	(void)wsi_stack_list(stack, true, NULL, json, &listed, NULL);
	ws_json_end(json);
	if (full) {
		ws_json_key_array(json, "locals");
		(void)wsi_stack_list(stack, false, NULL, json, &listed, NULL);
		ws_json_end(json);
	}
	ws_json_end(json);
	(void)!visit(stack, stack->at, NULL);
	return wsi_stack_status(stack, err);
}
