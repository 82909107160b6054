/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core dumps: what CUDA's environment variables and cuCoredumpSetAttribute() ask for.
 *
 * A variable that is set when the program begins stays above what the program sets. What a context
 * has of its own is above what is set for all.
 *
 * Dumps of faults are asked for here; those on request the agent makes by itself, and has a thread
 * of the driver (debug.c) call the program's functions before and after.
 */
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <warpscope/write.h>

/* CUcoredumpSettings. */
enum dump_attribute {
	ON_EXCEPTION = 1,
	TRIGGER_HOST,
	LIGHTWEIGHT,
	USER_TRIGGER,
	FILE_NAME,
	PIPE_NAME,
	FLAGS
};

enum {
	KNOWN_FLAGS = WS_WRITE_KNOWN_FLAGS | WS_WRITE_SKIP_ABORT,
	REQUEST_BYTES = 1 << 20 /* that are written at once, for readers that fill a buffer first */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct coredump common = {
	.file = "core_%t_%h_%p.nvcudmp",
	.pipe = "corepipe.cuda.%h.%p",
};
static unsigned fixed;     /* attributes that the environment has set, by number */
static int pipe_fd = -1;   /* open in this process, too: by it the pipe is found */
static bool has_host_dump; /* when the program is aborted */
static struct dump_listener {
	struct dump_listener *next;
	void (*call)(void *data, int process, CUdevice device); /* NULL: no more */
	void *data;
	bool is_made; /* it is told of dumps that are made; else of those that begin */
} * listeners;        /* they stay: a thread may be calling one that another takes away */

/* ---- the environment ---- */

static bool is_on(const char *name)
{
	const char *text = getenv(name);
	return text && strcmp(text, "1") == 0;
}

static void fix_name(enum dump_attribute attribute, const char *name, char to[COREDUMP_NAME])
{
	const char *text = getenv(name);
	if (!text || !*text)
		return;
	if (strlen(text) >= COREDUMP_NAME) {
		driver_say("CUDA_COREDUMP_FILE or CUDA_COREDUMP_PIPE has more than 1,023 "
			   "characters, and has no effect",
			   "");
		return;
	}
	memcpy(to, text, strlen(text) + 1);
	fixed |= 1u << attribute;
}

static void read_environment(void)
{
	struct ws_str unknown;
	const char *text = getenv("CUDA_COREDUMP_GENERATION_FLAGS"),
		   *host = getenv("CUDA_ENABLE_CPU_COREDUMP_ON_EXCEPTION");
	has_host_dump = !host || strcmp(host, "0") != 0;
	common.on_exception = is_on("CUDA_ENABLE_COREDUMP_ON_EXCEPTION");
	common.user_trigger = is_on("CUDA_ENABLE_USER_TRIGGERED_COREDUMP");
	if (common.on_exception)
		fixed |= 1u << ON_EXCEPTION;
	if (common.user_trigger)
		fixed |= 1u << USER_TRIGGER;
	fix_name(FILE_NAME, "CUDA_COREDUMP_FILE", common.file);
	fix_name(PIPE_NAME, "CUDA_COREDUMP_PIPE", common.pipe);
	common.flags = ws_write_flags_parse(text, &unknown);
	if (unknown.len)
		driver_say("CUDA_COREDUMP_GENERATION_FLAGS has words that are not known, and have "
			   "no effect",
			   "");
	if (text)
		fixed |= 1u << FLAGS;
	if (is_on("CUDA_ENABLE_LIGHTWEIGHT_COREDUMP"))
		driver_say("CUDA_ENABLE_LIGHTWEIGHT_COREDUMP has no effect from CUDA 13.0 on; "
			   "CUDA_COREDUMP_GENERATION_FLAGS has",
			   "");
}

/* ---- what holds ---- */

/* What holds in a context (NULL: what is set for all). Under lock. */
static struct coredump in_force(const struct context *context)
{
	struct coredump settings = common;
	if (!context)
		return settings;
	const struct coredump *own = &context->coredump;
	if (own->set & 1u << ON_EXCEPTION)
		settings.on_exception = own->on_exception;
	if (own->set & 1u << FILE_NAME)
		memcpy(settings.file, own->file, sizeof settings.file);
	if (own->set & 1u << FLAGS)
		settings.flags = own->flags;
	return settings;
}

static void abort_program(void)
{
	static const struct rlimit none;
	driver_say("the program is aborted, as the dump is written", "");
	if (!has_host_dump)
		(void)setrlimit(RLIMIT_CORE, &none);
	abort();
}

void coredump_fault(const struct context *context)
{
	char path[4096];
	pthread_mutex_lock(&lock);
	const struct coredump settings = in_force(context);
	pthread_mutex_unlock(&lock);
	uint64_t word[WIRE_WORDS] = { settings.flags & WS_WRITE_KNOWN_FLAGS };
	if (!settings.on_exception)
		return;
	if (!ws_write_name(settings.file, (int)getpid(), path, sizeof path)) {
		driver_say("the name of the dump is too long", "");
		return;
	}
	coredump_tell(false);
	if (driver_work(WIRE_DUMP, word, path, strlen(path), NULL, 0) != CUDA_SUCCESS)
		return;
	coredump_tell(true);
	if (!(settings.flags & WS_WRITE_SKIP_ABORT))
		abort_program();
}

/* ---- dumps on request ---- */

/* Makes the pipe, once, and tells the agent what to do when something is written there. Under lock.
 */
static void trigger_set(void)
{
	const struct coredump settings = in_force(NULL);
	uint64_t word[WIRE_WORDS] = { settings.flags, has_host_dump, listeners != NULL };
	char path[4096];
	int fd = -1;
	if (!driver.ready || !settings.user_trigger)
		return;
	if (pipe_fd < 0) {
		bool fits = ws_write_name(settings.pipe, (int)getpid(), path, sizeof path);
		if (fits && mkfifo(path, 0600) == 0)
			fd = pipe_fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
		if (fd >= 0) /* so that a request is written at once, and not taken for two */
			(void)fcntl(fd, F_SETPIPE_SZ, REQUEST_BYTES);
		if (pipe_fd < 0) {
			driver_say("the pipe for dumps on request could not be made: ",
				   fits ? strerror(errno) : "its name is too long");
			return;
		}
	}
	(void)driver_call(WIRE_TRIGGER, word, settings.file, strlen(settings.file), fd, NULL, NULL);
}

void coredump_begin(void)
{
	pthread_once(&once, read_environment);
	pthread_mutex_lock(&lock);
	trigger_set();
	pthread_mutex_unlock(&lock);
}

/* ---- attributes ---- */

/* Bytes of an attribute's value; 0: there is no such attribute. */
static size_t value_bytes(int attribute)
{
	switch ((enum dump_attribute)attribute) {
	case ON_EXCEPTION:
	case TRIGGER_HOST:
	case LIGHTWEIGHT:
	case USER_TRIGGER:
		return sizeof(bool);
	case FILE_NAME:
	case PIPE_NAME:
		return COREDUMP_NAME;
	case FLAGS:
		return sizeof(int);
	}
	return 0;
}

/* What both ways begin with. True: there is a value. */
static bool has_value(int attribute, const void *value, size_t *size, CUresult *ret_result)
{
	size_t n = value_bytes(attribute);
	*ret_result = n && size ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	if (*ret_result == CUDA_SUCCESS && !value)
		*size = n;
	pthread_once(&once, read_environment);
	return *ret_result == CUDA_SUCCESS && value;
}

static CUresult get_text(const char *text, void *ret_value, size_t size)
{
	if (strlen(text) >= size)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(ret_value, text, strlen(text) + 1);
	return CUDA_SUCCESS;
}

static CUresult get(const struct context *context, int attribute, void *ret_value, size_t *size)
{
	CUresult result;
	if (!has_value(attribute, ret_value, size, &result))
		return result;
	pthread_mutex_lock(&lock);
	const struct coredump settings = in_force(context);
	pthread_mutex_unlock(&lock);
	const int flags = (int)settings.flags;
	const bool is_set[] = {
		[ON_EXCEPTION] = settings.on_exception,
		[TRIGGER_HOST] = !(settings.flags & WS_WRITE_SKIP_ABORT),
		[LIGHTWEIGHT] = (settings.flags & WS_WRITE_LIGHTWEIGHT) == WS_WRITE_LIGHTWEIGHT,
		[USER_TRIGGER] = settings.user_trigger,
	};
	if (attribute == FILE_NAME || attribute == PIPE_NAME)
		return get_text(attribute == FILE_NAME ? settings.file : settings.pipe, ret_value,
				*size);
	if (*size < value_bytes(attribute))
		return CUDA_ERROR_INVALID_VALUE;
	if (attribute == FLAGS)
		memcpy(ret_value, &flags, sizeof flags);
	else
		memcpy(ret_value, &is_set[attribute], sizeof is_set[attribute]);
	return CUDA_SUCCESS;
}

static CUresult set_pattern_text(char to[COREDUMP_NAME], const char *text, size_t size)
{
	size_t n = strnlen(text, size);
	if (n == 0 || n >= COREDUMP_NAME)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(to, text, n);
	to[n] = '\0';
	return CUDA_SUCCESS;
}

/* Flags of which the program sets some begin as those that hold. */
static CUresult set_flags(struct coredump *to, uint32_t in_force, int attribute, const void *value,
			  size_t size)
{
	int flags = 0;
	bool on = false;
	if (size < value_bytes(attribute))
		return CUDA_ERROR_INVALID_VALUE;
	if (attribute == FLAGS)
		memcpy(&flags, value, sizeof flags);
	else
		memcpy(&on, value, sizeof on);
	if ((unsigned)flags & ~(unsigned)KNOWN_FLAGS)
		return CUDA_ERROR_INVALID_VALUE;
	if (attribute == FLAGS)
		to->flags = (uint32_t)flags;
	else if (attribute == LIGHTWEIGHT)
		to->flags = on ? in_force | WS_WRITE_LIGHTWEIGHT
			       : in_force & ~(uint32_t)WS_WRITE_LIGHTWEIGHT;
	else
		to->flags = on ? in_force & ~(uint32_t)WS_WRITE_SKIP_ABORT
			       : in_force | WS_WRITE_SKIP_ABORT;
	to->set |= 1u << FLAGS;
	return CUDA_SUCCESS;
}

static bool is_fixed(int attribute)
{
	bool is_flag = attribute == TRIGGER_HOST || attribute == LIGHTWEIGHT;
	return fixed & 1u << (is_flag ? FLAGS : attribute);
}

/* Under lock. */
static CUresult set_locked(struct context *context, int attribute, const void *value, size_t size)
{
	struct coredump *to = context ? &context->coredump : &common;
	bool on = false;
	if (is_fixed(attribute))
		return CUDA_ERROR_NOT_PERMITTED;
	if (context && (attribute == USER_TRIGGER || attribute == PIPE_NAME))
		return CUDA_ERROR_NOT_PERMITTED;
	if (attribute == PIPE_NAME && in_force(NULL).user_trigger)
		return CUDA_ERROR_NOT_PERMITTED;
	if (attribute == FILE_NAME || attribute == PIPE_NAME) {
		CUresult result =
			set_pattern_text(attribute == FILE_NAME ? to->file : to->pipe, value, size);
		if (result == CUDA_SUCCESS)
			to->set |= 1u << attribute;
		return result;
	}
	if (attribute != ON_EXCEPTION && attribute != USER_TRIGGER)
		return set_flags(to, in_force(context).flags, attribute, value, size);
	if (size < sizeof on)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&on, value, sizeof on);
	*(attribute == ON_EXCEPTION ? &to->on_exception : &to->user_trigger) = on;
	to->set |= 1u << attribute;
	return CUDA_SUCCESS;
}

static CUresult set(struct context *context, int attribute, const void *value, size_t *size)
{
	CUresult result;
	if (!has_value(attribute, value, size, &result))
		return result;
	pthread_mutex_lock(&lock);
	result = set_locked(context, attribute, value, *size);
	if (result == CUDA_SUCCESS && !context)
		trigger_set();
	pthread_mutex_unlock(&lock);
	return result;
}

/* ---- functions that are told of dumps ---- */

void coredump_tell(bool is_made)
{
	pthread_mutex_lock(&lock);
	for (const struct dump_listener *l = listeners; l; l = l->next) {
		const struct dump_listener now = *l;
		if (!now.call || now.is_made != is_made)
			continue;
		pthread_mutex_unlock(&lock); /* it may ask for attributes */
		now.call(now.data, (int)getpid(), 0);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
}

static CUresult add_listener(bool is_made, void (*call)(void *, int, CUdevice), void *data,
			     struct dump_listener **ret_listener)
{
	struct dump_listener *one = call && ret_listener ? malloc(sizeof *one) : NULL;
	if (!one)
		return call && ret_listener ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
	pthread_once(&once, read_environment);
	pthread_mutex_lock(&lock);
	const bool is_first = !listeners;
	*one = (struct dump_listener){ listeners, call, data, is_made };
	listeners = one;
	if (is_first)
		trigger_set();
	pthread_mutex_unlock(&lock);
	*ret_listener = one;
	return CUDA_SUCCESS;
}

static CUresult remove_listener(bool is_made, const struct dump_listener *listener)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	for (struct dump_listener *l = listeners; l; l = l->next)
		if (l == listener && l->call && l->is_made == is_made) {
			l->call = NULL;
			result = CUDA_SUCCESS;
		}
	pthread_mutex_unlock(&lock);
	return result;
}

CU_API(cuCoredumpRegisterStartCallback)
(void (*call)(void *data, int process, CUdevice device), void *data,
 struct dump_listener **ret_listener)
{
	DONE(add_listener(false, call, data, ret_listener));
}

CU_API(cuCoredumpRegisterCompleteCallback)
(void (*call)(void *data, int process, CUdevice device), void *data,
 struct dump_listener **ret_listener)
{
	DONE(add_listener(true, call, data, ret_listener));
}

CU_API(cuCoredumpDeregisterStartCallback)(struct dump_listener *listener)
{
	DONE(remove_listener(false, listener));
}

CU_API(cuCoredumpDeregisterCompleteCallback)(struct dump_listener *listener)
{
	DONE(remove_listener(true, listener));
}

/* ---- the program's calls ---- */

enum { WANTS_DUMP = 0x20, WANTS_TRIGGER = 0x40 /* and a dump */ };

void coredump_of_flags(struct context *context, unsigned flags)
{
	const bool on = true;
	size_t size = sizeof on;
	if (flags & (WANTS_DUMP | WANTS_TRIGGER))
		(void)set(context, ON_EXCEPTION, &on, &size);
	if (flags & WANTS_TRIGGER)
		(void)set(NULL, USER_TRIGGER, &on, &size);
}

CU_API(cuCoredumpGetAttribute)(int attribute, void *ret_value, size_t *size)
{
	CUresult result = driver_check();
	DONE(result == CUDA_SUCCESS ? get(driver_context(), attribute, ret_value, size) : result);
}

CU_API(cuCoredumpGetAttributeGlobal)(int attribute, void *ret_value, size_t *size)
{
	DONE(get(NULL, attribute, ret_value, size));
}

CU_API(cuCoredumpSetAttribute)(int attribute, void *value, size_t *size)
{
	CUresult result = driver_check();
	DONE(result == CUDA_SUCCESS ? set(driver_context(), attribute, value, size) : result);
}

CU_API(cuCoredumpSetAttributeGlobal)(int attribute, void *value, size_t *size)
{
	DONE(set(NULL, attribute, value, size));
}
