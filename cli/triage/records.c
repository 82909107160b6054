/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of records. A record counts when its newline is there: one that was cut by a kill or a
 * full disk has none, and the next run removes it.
 */
#include "triage/triage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	READ_BYTES = 1 << 16,
	MAX_LINE_BYTES = 1 << 26, /* what is longer is no line of ours */
};

/* Whether a line is only that bracket. */
static bool is_bracket_alone(const char *line, const char *end, char bracket)
{
	while (end > line && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	return end - line == 1 && *line == bracket;
}

static char *end_of_line(char *at, char *end)
{
	return memchr(at, '\n', (size_t)(end - at));
}

/* The newline that ends what begins at `at`; NULL: it is not there yet. Other writers give the
 * outer brackets of a record lines of their own, and indent all between. */
static char *end_of_record(char *at, char *end)
{
	char *first = end_of_line(at, end);
	if (!first || !is_bracket_alone(at, first, '{'))
		return first;
	for (char *line = first + 1, *next; (next = end_of_line(line, end)); line = next + 1) {
		if (is_bracket_alone(line, next, '}'))
			return next;
		if (next > line && !strchr(" \t\"", *line))
			return first;
	}
	return NULL;
}

/* What is left at the end of a file, up to its last newline: that of lines without a record's end.
 */
static size_t last_newline(const char *bytes, size_t len)
{
	while (len > 0 && bytes[len - 1] != '\n')
		len--;
	return len;
}

static bool is_list_closed(const char *bytes, size_t len)
{
	while (len > 0 && (bytes[len - 1] == '\r' || bytes[len - 1] == ' '))
		len--;
	return len > 0 && bytes[len - 1] == '}';
}

/* The rest, which has no end. */
static enum ws_status take_rest(char *bytes, size_t len, bool last, triage_line_fn *each,
				void *user, struct ws_error *err)
{
	size_t whole = last_newline(bytes, len);
	if (last && is_list_closed(bytes + whole, len - whole))
		return each(user, bytes, len, err);
	return whole ? each(user, bytes, whole - 1, err) : WS_OK;
}

enum ws_status triage_each_record(int fd, bool last, triage_line_fn *each, void *user,
				  struct ws_error *err)
{
	char *buffer = cli_alloc(READ_BYTES, 1);
	size_t cap = READ_BYTES, have = 0;
	enum ws_status st = WS_OK;
	ssize_t n = lseek(fd, 0, SEEK_SET) == 0 ? 1 : -1;
	while (st == WS_OK && n > 0) {
		if (have == MAX_LINE_BYTES)
			have = 0;
		if (have == cap) {
			cap *= 2;
			buffer = cli_realloc(buffer, cap, 1);
		}
		n = read(fd, buffer + have, cap - have);
		if (n <= 0)
			break;
		have += (size_t)n;
		char *at = buffer, *end;
		while (st == WS_OK && (end = end_of_record(at, buffer + have))) {
			st = each(user, at, (size_t)(end - at), err);
			at = end + 1;
		}
		have = (size_t)(buffer + have - at);
		memmove(buffer, at, have);
	}
	if (st == WS_OK && n == 0)
		st = take_rest(buffer, have, last, each, user, err);
	free(buffer);
	if (n < 0) {
		*err = (struct ws_error){ .status = WS_IO,
					  .os_errno = errno,
					  .file_off = WS_NO_OFFSET };
		snprintf(err->message, sizeof err->message, "records: %s", strerror(errno));
		return WS_IO;
	}
	return st;
}

/* ---- what is done already ---- */

struct record_keys {
	struct triage_records *records;
	size_t cap;
	uint64_t n_others; /* lines that are no record */
};

static enum ws_status take_key(void *user, char *line, size_t len, struct ws_error *err)
{
	struct record_keys *keys = user;
	struct triage_records *records = keys->records;
	(void)err;
	records->end += (off_t)len + 1;
	cli_grow(&records->key, &keys->cap, records->n_keys, sizeof *records->key);
	if (ws_triage_record_key(line, len, records->key[records->n_keys]))
		records->n_keys++;
	else
		keys->n_others++;
	return WS_OK;
}

static int key_order(const void *left, const void *right)
{
	return strcmp(left, right);
}

bool triage_records_have(const struct triage_records *records, const char *key)
{
	return records->n_keys &&
	       bsearch(key, records->key, records->n_keys, sizeof *records->key, key_order);
}

void triage_records_note(struct triage_records *records, char (*key)[WS_TRIAGE_KEY_BYTES], size_t n)
{
	if (n == 0)
		return;
	records->key = cli_realloc(records->key, records->n_keys + n, sizeof *records->key);
	memcpy(records->key + records->n_keys, key, n * sizeof *key);
	records->n_keys += n;
	qsort(records->key, records->n_keys, sizeof *records->key, key_order);
}

/* ---- the file ---- */

static int refuse_records(struct triage_records *records, const char *why)
{
	cli_warn("%s: %s", records->path, why);
	triage_records_close(records);
	return CLI_NO_ANSWER;
}

int triage_records_open(const char *path, struct triage_records *records)
{
	/* Of this process alone: a worker that outlives it by a moment does not hold it. */
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct stat at;
	struct ws_error err;
	*records = (struct triage_records){ .fd = -1, .path = path };
	if (!path) {
		FILE *spool = tmpfile();
		records->fd = spool ? dup(fileno(spool)) : -1;
		if (spool)
			fclose(spool);
		if (records->fd < 0)
			cli_warn("cannot make a file for the records: %s", strerror(errno));
		return records->fd < 0 ? CLI_NO_ANSWER : CLI_ANSWERED;
	}
	records->fd =
		open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	if (records->fd < 0 && errno == ELOOP)
		return refuse_records(records, "is a link: name the file itself");
	if (records->fd < 0 || fstat(records->fd, &at) != 0)
		return refuse_records(records, strerror(errno));
	if (!S_ISREG(at.st_mode))
		return refuse_records(records, "is not a regular file");
	if (fcntl(records->fd, F_SETLK, &all) != 0)
		return refuse_records(records, "another triage writes it");
	struct record_keys keys = { .records = records };
	if (triage_each_record(records->fd, false, take_key, &keys, &err) != WS_OK)
		return refuse_records(records, err.message);
	if (keys.n_others && records->n_keys == 0)
		return refuse_records(records, "holds something other than records");
	if (records->end == 0 && at.st_size > WS_TRIAGE_RECORD_BYTES)
		return refuse_records(records, "holds something other than records");
	if (records->end < at.st_size && ftruncate(records->fd, records->end) != 0)
		return refuse_records(records, strerror(errno));
	if (records->n_keys)
		qsort(records->key, records->n_keys, sizeof *records->key, key_order);
	return CLI_ANSWERED;
}

static int write_bytes(struct triage_records *records, const char *bytes, size_t len)
{
	if (len == 0)
		return CLI_ANSWERED;
	if (ws_write_fd(&records->fd, bytes, len)) {
		records->end += (off_t)len;
		return CLI_ANSWERED;
	}
	cli_warn("%s: %s; what is there is whole, and another run goes on from it",
		 records->path ? records->path : "a file for the records", strerror(errno));
	off_t end = lseek(records->fd, 0, SEEK_END);
	size_t n = end > records->end ? (size_t)(end - records->end) : 0;
	while (n > 0 && (n > len || bytes[n - 1] != '\n'))
		n--;
	records->end += (off_t)n;
	(void)!ftruncate(records->fd, records->end); /* the next run does it else */
	return CLI_NO_ANSWER;
}

int triage_records_append(struct triage_records *records, const char *line, size_t len)
{
	cli_bytes_write(&records->held, line, len);
	return records->held.len < READ_BYTES ? CLI_ANSWERED : triage_records_end(records);
}

int triage_records_flush(struct triage_records *records)
{
	return records->path ? triage_records_end(records) : CLI_ANSWERED;
}

int triage_records_end(struct triage_records *records)
{
	size_t len = records->held.len;
	records->held.len = 0;
	return write_bytes(records, records->held.ptr, len);
}

void triage_records_close(struct triage_records *records)
{
	if (records->fd >= 0)
		close(records->fd);
	free(records->key);
	free(records->held.ptr);
	*records = (struct triage_records){ .fd = -1 };
}
