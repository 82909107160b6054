/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, by libiberty, within bounds. Other names (those of Triton's kernels) stay as they are.
 *
 * Four kinds of hostile name and what holds them: deep nesting, by libiberty's own recursion limit;
 * output that doubles with each substitution, by leaving the printer as soon as the caller's buffer
 * is full (it allocates nothing, so nothing is lost); very long names, by a limit; and long but
 * honest names (libiberty's limit also refuses everything above 1,024 bytes, which templates
 * exceed), by a thread with a stack in proportion to the name.
 */
#include "cubin/internal.h"

enum {
	SHORT_NAME = 1024, /* what libiberty takes with its recursion limit on */
	LONGEST_NAME = 16384,
	STACK_FLOOR = 1 << 20,
	STACK_PER_BYTE = 2048, /* of the name; measured: 1 KiB for the worst nesting */
};

/* Stands for a namespace that is not shown, so that substitutions are counted as they were. */
static const char INTERNAL[] = "1\x01";

#if WSI_HAVE_DEMANGLE
#include <libiberty/demangle.h>
#include <setjmp.h>

struct demangling {
	const char *mangled; /* terminated */
	int options;
	char *text;
	size_t size, len;
	size_t n_colons; /* that may follow what stood for a namespace, and are not shown */
	bool done;
	jmp_buf full;
};

static void text_take(const char *piece, size_t len, void *user)
{
	struct demangling *d = user;
	for (size_t i = 0; i < len; i++) {
		if (piece[i] == INTERNAL[1]) {
			d->n_colons = 2;
		} else if (d->n_colons && piece[i] == ':') {
			d->n_colons--;
		} else {
			d->n_colons = 0;
			if (d->len == d->size - 1)
				longjmp(d->full, 1);
			d->text[d->len++] = piece[i];
		}
	}
}

static void *demangling_run(void *user)
{
	struct demangling *d = user;
	if (setjmp(d->full) == 0)
		d->done = cplus_demangle_v3_callback(d->mangled, d->options, text_take, d) != 0;
	else
		d->done = true; /* cut: what fits is there */
	return NULL;
}

#ifdef __EMSCRIPTEN__
/* Calls a function; false: the stack was used up (page/library.js). */
extern bool page_try(void *(*run)(void *user), void *user);
#endif

static void demangling_run_on_stack(struct demangling *d, size_t stack_bytes)
{
#ifdef __EMSCRIPTEN__ /* no threads, but one can come back from the end of the stack */
	(void)stack_bytes;
	if (!page_try(demangling_run, d))
		d->done = false;
#else
	pthread_attr_t attributes;
	pthread_t thread;
	if (pthread_attr_init(&attributes) != 0)
		return;
	if (pthread_attr_setstacksize(&attributes, stack_bytes) == 0 &&
	    pthread_create(&thread, &attributes, demangling_run, d) == 0)
		pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
#endif
}

static bool is_mangled(struct ws_str name)
{
	return name.len >= 3 && name.len <= LONGEST_NAME && name.ptr[0] == '_' &&
	       name.ptr[1] == 'Z';
}

/* `plain`: without what compilers add. */
static bool demangle(struct ws_str mangled, bool with_params, bool plain, char *ret_text,
		     size_t size)
{
	if (!is_mangled(mangled) || size < 2)
		return false;
	char small[SHORT_NAME + 1];
	wsi_scoped_free char *large = NULL;
	char *name = small;
	if (mangled.len > SHORT_NAME) {
		name = large = wsi_zalloc(mangled.len + 1);
		if (!large)
			return false;
	}
	if (plain)
		mangled.len = wsi_name_plain(mangled, INTERNAL, name);
	else
		memcpy(name, mangled.ptr, mangled.len);
	name[mangled.len] = 0;
	struct demangling d = {
		.mangled = name,
		.options = with_params ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS,
		.text = ret_text,
		.size = size,
	};
	if (mangled.len <= SHORT_NAME) {
		demangling_run(&d);
	} else {
		d.options |= DMGL_NO_RECURSE_LIMIT;
		demangling_run_on_stack(&d, STACK_FLOOR + mangled.len * STACK_PER_BYTE);
	}
	ret_text[d.len] = 0;
	return d.done;
}
#else
static bool is_mangled(struct ws_str name)
{
	(void)name;
	return false;
}

static bool demangle(struct ws_str mangled, bool with_params, bool plain, char *ret_text,
		     size_t size)
{
	(void)mangled;
	(void)with_params;
	(void)plain;
	(void)ret_text;
	(void)size;
	return false;
}
#endif

static void copy_name(struct ws_str text, char *ret_text, size_t size)
{
	if (size == 0)
		return;
	size_t n = text.len < size - 1 ? text.len : size - 1;
	if (n > 0)
		memcpy(ret_text, text.ptr, n);
	ret_text[n] = 0;
}

/* Names that are no C++ names are those of Warp's kernels, or have nothing added. */
static void copy_plain(struct ws_str name, char *ret_text, size_t size)
{
	char text[SHORT_NAME];
	if (!wsi_str_begins(name, "_Z") && name.len <= sizeof text)
		name = (struct ws_str){ text, wsi_name_plain(name, INTERNAL, text) };
	copy_name(name, ret_text, size);
}

bool wsi_demangle_all(struct ws_str mangled, bool with_params, char *ret_text, size_t size)
{
	if (demangle(mangled, with_params, false, ret_text, size))
		return true;
	copy_name(mangled, ret_text, size);
	return false;
}

bool ws_demangle(struct ws_str mangled, char *ret_text, size_t size)
{
	if (demangle(mangled, true, true, ret_text, size))
		return true;
	copy_plain(mangled, ret_text, size);
	return false;
}

bool ws_demangle_kernel(struct ws_str mangled, char *ret_text, size_t size)
{
	if (demangle(mangled, false, true, ret_text, size))
		return true;
	copy_plain(mangled, ret_text, size);
	return false;
}

static bool is_word(char c)
{
	return wsi_is_alphanumeric(c) || c == '_';
}

/* Length of "operator<<" and the like at `at`, whose angle brackets open nothing; else 0. */
static size_t operator_len(const char *text, size_t at)
{
	static const char word[] = "operator";
	size_t len = sizeof word - 1;
	if ((at > 0 && is_word(text[at - 1])) || strncmp(text + at, word, len) != 0)
		return 0;
	size_t end = at + len;
	while (text[end] && strchr("<>=-", text[end]))
		end++;
	return end - at;
}

/*
 * Takes template arguments out of a C++ name, in place. libiberty puts every comparison among the
 * arguments in parentheses, so brackets inside parentheses there are skipped with them.
 */
static void arguments_strip(char *text)
{
	size_t to = 0, depth = 0, parens = 0, n;
	for (size_t from = 0; text[from]; from += n) {
		n = operator_len(text, from);
		if (n == 0 && text[from] == '-' && text[from + 1] == '>')
			n = 2;
		if (n > 0 && depth > 0)
			continue;
		char c = n > 0 ? 0 : text[from];
		n = n > 0 ? n : 1;
		if (depth > 0 && c == '(') {
			parens++;
		} else if (parens > 0) {
			parens -= c == ')';
		} else if (c == '<') {
			depth++;
		} else if (c == '>' && depth > 0) {
			depth--;
		} else if (depth == 0) {
			memmove(text + to, text + from, n);
			to += n;
		}
	}
	text[to] = 0;
}

bool ws_demangle_short(struct ws_str mangled, char *ret_text, size_t size)
{
	const size_t cutile = wsi_name_cutile_len(mangled);
	if (cutile) {
		copy_name((struct ws_str){ mangled.ptr, cutile }, ret_text, size);
		return true;
	}
	/* the whole name is decoded first: what is stripped may be longer than the buffer */
	wsi_scoped_free char *whole =
		is_mangled(mangled) ? wsi_realloc_array(NULL, 2 * LONGEST_NAME, 1) : NULL;
	if (!whole || !demangle(mangled, false, true, whole, 2 * LONGEST_NAME)) {
		copy_plain(mangled, ret_text, size);
		return false;
	}
	arguments_strip(whole);
	const char *scope = wsi_name_is_numba(mangled) ? strrchr(whole, ':') : NULL;
	copy_name(ws_str_of(scope ? scope + 1 : whole), ret_text, size);
	return true;
}
