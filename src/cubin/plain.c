/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What compilers put into names beside what a person wrote, taken out of mangled names. All of it
 * differs between builds or runs of one source [measured]:
 *
 *   Numba (numba-cuda 0.30.4)   oob B2v11 B106cw51cXTL...   a count of what the process compiled
 *                               before and a packed list of options, as two ABI tags
 *   nvcc 13.0                   35_INTERNAL_1519c828_8_debug_cu_calls   around what is static
 *                               32_GLOBAL__N__24598d58_4_a_cu_main      an unnamed namespace
 *   Warp 1.19.0                 oob_1a2b3c4d_cuda_kernel_forward        a hash of the source
 *
 * cuTile 1.7.0 puts what a kernel was compiled for behind its name, as C++ does with template
 * arguments: gathers_Kt1_A1f32_1t1_I128. Short names are without it.
 *
 * ABI tags of C++ libraries are others and stay: `[abi:cxx11]`, libc++'s `[abi:v160006]`.
 */
#include "cubin/internal.h"

static size_t digits_len(struct ws_str text)
{
	size_t n = 0;
	while (n < text.len && wsi_is_digit(text.ptr[n]))
		n++;
	return n;
}

/* An identifier with its length in front at `text`; its bytes with the length, 0: none. */
static size_t identifier_at(struct ws_str text, struct ws_str *ret_identifier)
{
	const size_t digits = digits_len(text);
	size_t len = 0;
	if (digits == 0 || digits > 4)
		return 0;
	for (size_t i = 0; i < digits; i++)
		len = len * 10 + (size_t)(text.ptr[i] - '0');
	if (len > text.len - digits)
		return 0;
	*ret_identifier = (struct ws_str){ text.ptr + digits, len };
	return digits + len;
}

/* Length of the two tags that Numba gives a function, at `text`. */
static size_t numba_tags_len(struct ws_str text)
{
	struct ws_str count, options;
	if (!wsi_str_begins(text, "B"))
		return 0;
	const size_t first = identifier_at(wsi_str_skip(text, 1), &count);
	struct ws_str rest = wsi_str_skip(text, 1 + first);
	if (first == 0 || !wsi_str_begins(count, "v") ||
	    1 + digits_len(wsi_str_skip(count, 1)) != count.len || !wsi_str_begins(rest, "B"))
		return 0;
	const size_t second = identifier_at(wsi_str_skip(rest, 1), &options);
	return second && wsi_str_begins(options, "cw") ? 1 + first + 1 + second : 0;
}

static bool is_hash(const char *text)
{
	size_t n = 0;
	while (n < 8 && text[n] && strchr("0123456789abcdef", text[n]))
		n++;
	return n == 8;
}

/* `_INTERNAL_`, a hash of eight hexadecimal digits, `_` and more. */
static bool is_internal(struct ws_str identifier)
{
	const size_t start = sizeof "_INTERNAL_" - 1;
	return wsi_str_begins(identifier, "_INTERNAL_") && identifier.len > start + 8 &&
	       is_hash(identifier.ptr + start) && identifier.ptr[start + 8] == '_';
}

/* What stands for the identifier at `text` instead, with its length; NULL: the identifier. */
static const char *substitute(struct ws_str text, const char *internal, size_t *ret_len)
{
	struct ws_str identifier;
	*ret_len = identifier_at(text, &identifier);
	if (*ret_len == 0)
		return NULL;
	if (is_internal(identifier))
		return internal;
	/* what a shorter one has is no hash; the plain name is never longer */
	return wsi_str_begins(identifier, "_GLOBAL__N_") && identifier.len > 12 ? "12_GLOBAL__N_1"
										: NULL;
}

/* Where the hash is in the name of a kernel of Warp, of two: the value, or its derivative. */
static size_t warp_hash_at(struct ws_str name, const char *ending)
{
	const size_t tail = strlen(ending), hash = sizeof "_12345678" - 1;
	if (name.len <= hash + tail || memcmp(name.ptr + name.len - tail, ending, tail) != 0)
		return 0;
	const size_t at = name.len - tail - hash;
	return name.ptr[at] == '_' && is_hash(name.ptr + at + 1) ? at : 0;
}

/* A name that is not mangled: a kernel of Warp, or as it is. */
static size_t unmangled_plain(struct ws_str name, char *ret_text)
{
	static const char backward[] = "_cuda_kernel_backward";
	const size_t forward_at = warp_hash_at(name, "_cuda_kernel_forward");
	const size_t backward_at = warp_hash_at(name, backward);
	const size_t n = forward_at ? forward_at : backward_at ? backward_at : name.len;
	if (n)
		memcpy(ret_text, name.ptr, n);
	if (!backward_at)
		return n;
	memcpy(ret_text + n, backward, sizeof backward - 1);
	return n + sizeof backward - 1;
}

size_t wsi_name_cutile_len(struct ws_str name)
{
	static const char start[] = "_Kt";
	const size_t len = sizeof start - 1;
	for (size_t i = 0; i < name.len; i++) {
		if (!wsi_is_alphanumeric(name.ptr[i]) && name.ptr[i] != '_')
			return 0;
	}
	for (size_t at = name.len; at > 0; at--) {
		struct ws_str rest = wsi_str_skip(name, at);
		const size_t digits =
			wsi_str_begins(rest, start) ? digits_len(wsi_str_skip(rest, len)) : 0;
		if (digits && wsi_str_begins(wsi_str_skip(rest, len + digits), "_"))
			return at;
	}
	return 0;
}

bool wsi_name_is_numba(struct ws_str name)
{
	bool found = false;
	for (; name.len && !found; name = wsi_str_skip(name, 1))
		found = numba_tags_len(name) > 0;
	return found;
}

size_t wsi_name_plain(struct ws_str name, const char *internal, char *ret_text)
{
	size_t n = 0;
	bool in_number = false;
	if (!wsi_str_begins(name, "_Z"))
		return unmangled_plain(name, ret_text);
	while (name.len) {
		size_t len = numba_tags_len(name);
		const char *other = len ? "" : NULL;
		if (!other && !in_number)
			other = substitute(name, internal, &len);
		in_number = !other && wsi_is_digit(name.ptr[0]);
		const size_t n_out = other ? strlen(other) : 1;
		memcpy(ret_text + n, other ? other : name.ptr, n_out);
		n += n_out;
		name = wsi_str_skip(name, other ? len : 1);
	}
	return n;
}
