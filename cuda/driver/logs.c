/* SPDX-License-Identifier: Apache-2.0 */
/* The log of errors: the newest are kept, and told to who asked for that. */
#define _GNU_SOURCE /* gettid */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { KEPT = 100, LINE = 256 /* the buffer that the API documents */ };

struct listener {
	struct listener *next;
	void (*call)(void *data, int level, char *message, size_t length);
	void *data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char kept[KEPT][LINE]; /* with a newline, by number */
static unsigned n_all;
static struct listener *listeners;    /* owned */
static _Thread_local bool is_telling; /* errors of a listener are not told */

/* ---- adding ---- */

/* Under lock: to the file that the environment names, if it does. */
static void write_line(const char *line)
{
	static FILE *file;
	static bool is_open;
	const char *path = getenv("CUDA_LOG_FILE");
	if (!is_open && path && *path)
		file = strcmp(path, "stdout") == 0   ? stdout
		       : strcmp(path, "stderr") == 0 ? stderr
						     : fopen(path, "ae");
	is_open = true;
	if (!file)
		return;
	fwrite(line, 1, strlen(line), file);
	fflush(file);
}

void log_error(int result, const char *function, const char *name)
{
	char message[LINE / 2], line[LINE];
	struct timespec now;
	struct tm at;
	if (is_telling || result == CUDA_ERROR_NOT_READY)
		return;
	is_telling = true;
	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &at);
	int n = snprintf(message, sizeof message, "Returning %d (%s) from %s", result,
			 name ? name : "?", function);
	n = n < (int)sizeof message ? n : (int)sizeof message - 1;
	snprintf(line, sizeof line, "[%02d:%02d:%02d.%03d][%d][CUDA][E] %s\n", at.tm_hour,
		 at.tm_min, at.tm_sec, (int)(now.tv_nsec / 1000000), (int)gettid(), message);
	pthread_mutex_lock(&lock);
	memcpy(kept[n_all++ % KEPT], line, sizeof line);
	write_line(line);
	for (struct listener *l = listeners, *next; l; l = next) {
		next = l->next;
		pthread_mutex_unlock(&lock); /* it may ask for the log */
		l->call(l->data, 0, message, (size_t)n);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	is_telling = false;
}

/* ---- the program's calls ---- */

CU_API(cuLogsRegisterCallback)
(void (*call)(void *data, int level, char *message, size_t length), void *data,
 struct listener **ret_listener)
{
	struct listener *one = call ? malloc(sizeof *one) : NULL;
	if (!one)
		DONE(call ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE);
	pthread_mutex_lock(&lock);
	*one = (struct listener){ listeners, call, data };
	listeners = one;
	pthread_mutex_unlock(&lock);
	if (ret_listener)
		*ret_listener = one;
	DONE(CUDA_SUCCESS);
}

/* It stays in memory: another thread may be calling it. */
CU_API(cuLogsUnregisterCallback)(struct listener *listener)
{
	static struct listener *gone;
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	for (struct listener **at = &listeners; *at; at = &(*at)->next)
		if (*at == listener) {
			struct listener *rest = listener->next;
			*at = rest;
			listener->next = gone;
			gone = listener;
			result = CUDA_SUCCESS;
			break;
		}
	pthread_mutex_unlock(&lock);
	DONE(result);
}

CU_API(cuLogsCurrent)(unsigned *ret_iterator, unsigned flags)
{
	if (!ret_iterator || flags != 0)
		DONE(CUDA_ERROR_INVALID_VALUE);
	pthread_mutex_lock(&lock);
	*ret_iterator = n_all;
	pthread_mutex_unlock(&lock);
	DONE(CUDA_SUCCESS);
}

static const char *line_of(unsigned i)
{
	return kept[i % KEPT];
}

/* Under lock: the first line to give, from an iterator on; whether older ones are lost. */
static unsigned first_line(const unsigned *iterator, bool *ret_lost)
{
	unsigned oldest = n_all > KEPT ? n_all - KEPT : 0;
	unsigned first = iterator && *iterator <= n_all ? *iterator : 0;
	*ret_lost = first < oldest;
	return *ret_lost ? oldest : first;
}

static const char lost_line[] = "(older messages of the log are not here)\n";

CU_API(cuLogsDumpToFile)(unsigned *iterator, const char *path, unsigned flags)
{
	bool is_lost;
	FILE *file = path && flags == 0 ? fopen(path, "we") : NULL;
	if (!file)
		DONE(CUDA_ERROR_INVALID_VALUE);
	pthread_mutex_lock(&lock);
	unsigned i = first_line(iterator, &is_lost);
	if (is_lost)
		fwrite(lost_line, 1, strlen(lost_line), file);
	for (; i < n_all; i++)
		fwrite(line_of(i), 1, strlen(line_of(i)), file);
	if (iterator)
		*iterator = n_all;
	pthread_mutex_unlock(&lock);
	DONE(fclose(file) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

/* Under lock: as many of the newest lines as there is room for. */
static CUresult put_lines(unsigned *iterator, char *to, size_t *size)
{
	bool is_lost;
	unsigned first = first_line(iterator, &is_lost), i;
	size_t n = 0, room = *size;
	for (i = n_all; i > first && n + strlen(line_of(i - 1)) < room; i--)
		n += strlen(line_of(i - 1));
	while ((is_lost || i > first) && i < n_all && n + sizeof lost_line > room)
		n -= strlen(line_of(i++)); /* the note needs its place */
	is_lost = is_lost || i > first;
	*size = 0;
	if (n_all == first || i == n_all) {
		if (room > 0)
			*to = '\0';
		return n_all == first ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	}
	char *at = to;
	if (is_lost)
		at = stpcpy(at, lost_line);
	for (; i < n_all; i++)
		at = stpcpy(at, line_of(i));
	*size = (size_t)(at - to);
	if (iterator)
		*iterator = n_all;
	return CUDA_SUCCESS;
}

CU_API(cuLogsDumpToMemory)(unsigned *iterator, char *buffer, size_t *size, unsigned flags)
{
	if (!buffer || !size || flags != 0)
		DONE(CUDA_ERROR_INVALID_VALUE);
	pthread_mutex_lock(&lock);
	CUresult result = put_lines(iterator, buffer, size);
	pthread_mutex_unlock(&lock);
	DONE(result);
}
