/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of `warpscope run`: made from a description, read back. */
#include "run/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 1 << 30 };

/* Of a buffer that nobody fills; what it takes of the host is bounded by --memory. */
#define MAX_LEFT (UINT64_C(1) << 40)

void *run_file_read(const char *path, size_t *ret_len)
{
	char *bytes = cli_file_read(path, MAX_FILE, ret_len);
	if (!bytes || *ret_len <= MAX_FILE)
		return bytes;
	cli_warn("%s: more than 1 GiB", path);
	free(bytes);
	return NULL;
}

/* What a buffer is made of. */
struct contents {
	const char *verb; /* whose words are wrong */
	const struct run_type *type;
	uint64_t count;
	uint8_t *bytes; /* owned; NULL: as the device has it, zeros that nobody wrote */
};

/* A number of the type that is an index, or random. */
static void number_store(const struct run_type *type, uint64_t number, uint8_t *bytes)
{
	float narrow = (float)number;
	double wide = (double)number;
	if (type->kind != 'f')
		for (unsigned i = 0; i < type->bytes; i++)
			bytes[i] = (uint8_t)(number >> 8 * i);
	else if (type->bytes == 4)
		memcpy(bytes, &narrow, 4);
	else
		memcpy(bytes, &wide, 8);
}

/* splitmix64; floating-point numbers get 0 to 1. */
static void random_store(const struct run_type *type, uint64_t index, uint8_t *bytes)
{
	uint64_t z = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	float narrow = (float)(z >> 40) / 16777216.0f;
	double wide = (double)(z >> 11) / 9007199254740992.0;
	if (type->kind != 'f')
		number_store(type, z, bytes);
	else if (type->bytes == 4)
		memcpy(bytes, &narrow, 4);
	else
		memcpy(bytes, &wide, 8);
}

static bool buffer_fill(const struct contents *contents, const char *how)
{
	uint8_t value[8] = { 0 };
	unsigned size = contents->type->bytes;
	bool by_index = strcmp(how, "index") == 0, by_chance = strcmp(how, "random") == 0;
	if (!by_index && !by_chance && strcmp(how, "zeros") != 0 &&
	    !run_value_parse(contents->type, how, value))
		return false;
	for (uint64_t i = 0; i < contents->count; i++) {
		uint8_t *at = contents->bytes + i * size;
		if (by_index)
			number_store(contents->type, i, at);
		else if (by_chance)
			random_store(contents->type, i, at);
		else
			memcpy(at, value, size);
	}
	return true;
}

/* TYPE[COUNT] or TYPE[COUNT]:FILL */
static int generate(const char *text, const char *bracket, struct contents *ret)
{
	char digits[24] = "";
	const char *end = strchr(bracket, ']');
	size_t n = end ? (size_t)(end - bracket) - 1 : sizeof digits;
	if (n >= sizeof digits)
		return cli_usage(ret->verb, "a count is missing in '%s'", text);
	memcpy(digits, bracket + 1, n);
	uint64_t most = end[1] ? (uint64_t)MAX_FILE : MAX_LEFT;
	if (!cli_number(digits, &ret->count) || ret->count == 0 ||
	    ret->count > most / ret->type->bytes)
		return cli_usage(ret->verb, "'%s' is not a count", digits);
	if (!end[1])
		return CLI_ANSWERED;
	if (end[1] != ':')
		return cli_usage(ret->verb, "':' and a filling are expected after ']', not '%s'",
				 end + 1);
	ret->bytes = cli_alloc((size_t)ret->count, ret->type->bytes);
	const char *how = end + 2;
	if (buffer_fill(ret, how))
		return CLI_ANSWERED;
	return cli_usage(ret->verb,
			 "a filling is zeros, index, random or a number of the type, not "
			 "'%s'",
			 how);
}

static int contents_parse(const char *text, struct contents *ret)
{
	size_t n = strcspn(text, "[@"), len;
	ret->type = run_type_find(text, n);
	if (!ret->type)
		return cli_usage(ret->verb,
				 "'%.*s' is not a type; there are u8, s8, u16, s16, u32, s32, "
				 "u64, s64, f32, f64",
				 (int)n, text);
	if (text[n] == '[')
		return generate(text, text + n, ret);
	if (text[n] != '@')
		return cli_usage(ret->verb,
				 "a buffer is TYPE[COUNT], TYPE[COUNT]:FILLING or "
				 "TYPE@FILE, not '%s'",
				 text);
	ret->bytes = run_file_read(text + n + 1, &len);
	if (!ret->bytes)
		return CLI_NO_ANSWER;
	ret->count = len / ret->type->bytes;
	if (ret->count > 0 && len % ret->type->bytes == 0)
		return CLI_ANSWERED;
	cli_warn("%s: %zu bytes are not a whole number of %s", text + n + 1, len, ret->type->name);
	return CLI_NO_ANSWER;
}

bool run_buffer_add(struct run_buffers *buffers, struct ws_sim *sim, const char *text)
{
	struct contents contents = { .verb = buffers->cli->verb };
	struct ws_error err;
	const char *equals = strchr(text, '=');
	size_t n = equals ? (size_t)(equals - text) : 0;
	uint64_t address = 0;
	if (n == 0 || run_buffer_find(buffers, text, n)) {
		cli_usage(buffers->cli->verb,
			  n ? "there are two buffers '%.*s'"
			    : "--buffer takes NAME=TYPE[COUNT], not '%.*s'",
			  n ? (int)n : (int)strlen(text), text);
		return false;
	}
	bool ok = contents_parse(equals + 1, &contents) == CLI_ANSWERED;
	uint64_t bytes = ok ? contents.count * contents.type->bytes : 0;
	if (ok && (ws_sim_alloc(sim, bytes, &address, &err) != WS_OK ||
		   (contents.bytes &&
		    ws_sim_write(sim, address, contents.bytes, (size_t)bytes, &err) != WS_OK))) {
		run_fail(text, &err);
		ok = false;
	}
	free(contents.bytes);
	if (!ok)
		return false;
	cli_grow(&buffers->item, &buffers->cap, buffers->n, sizeof *buffers->item);
	buffers->item[buffers->n++] =
		(struct run_buffer){ cli_copy(text, n), contents.type, contents.count, address };
	return true;
}

const struct run_buffer *run_buffer_find(const struct run_buffers *buffers, const char *text,
					 size_t len)
{
	for (size_t i = 0; i < buffers->n; i++)
		if (strlen(buffers->item[i].name) == len &&
		    memcmp(buffers->item[i].name, text, len) == 0)
			return &buffers->item[i];
	return NULL;
}

uint8_t *run_buffer_read(const struct run_buffer *buffer, struct ws_sim *sim)
{
	struct ws_error err;
	size_t len = (size_t)buffer->count * buffer->type->bytes;
	uint8_t *bytes = cli_alloc(len, 1);
	if (ws_sim_read(sim, buffer->address, bytes, len, &err) == WS_OK)
		return bytes;
	cli_fail(buffer->name, &err);
	free(bytes);
	return NULL;
}

void run_buffers_fini(struct run_buffers *buffers)
{
	for (size_t i = 0; i < buffers->n; i++)
		free(buffers->item[i].name);
	free(buffers->item);
	*buffers = (struct run_buffers){ 0 };
}
