/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock and seccomp by the kernel's own interface; its headers may be older than the kernel, so
 * the numbers stand here.
 *
 *                    parent                                 child: broker
 *   files            reads the terms' inputs (Landlock)     whatever the user may,
 *                    opens nothing for writing (seccomp)    asked for by name, within the terms
 *   system calls     the list below (seccomp)               all
 *
 * Either of the two works alone: seccomp refuses to open for writing and to change names of files
 * where there is no Landlock; Landlock refuses it where there is no seccomp.
 */
#ifdef __linux__
#define _GNU_SOURCE /* O_PATH, syscall */
#endif
#define WSI_BASE_SOURCE
#include "base/sandbox.h"

#include "base/base.h"
#include "base/broker.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__)) && !defined(SANITIZED)
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

/* ---- Landlock ---- */

enum { /* the same numbers in every architecture */
       CALL_LANDLOCK_CREATE = 444,
       CALL_LANDLOCK_ADD = 445,
       CALL_LANDLOCK_RESTRICT = 446,
       LANDLOCK_VERSION_FLAG = 1,
       LANDLOCK_BELOW = 1, /* kind of rule */
};

#define LANDLOCK_READ_FILE (UINT64_C(1) << 2)
#define LANDLOCK_READ_FOLDER (UINT64_C(1) << 3)

struct landlock_set {
	uint64_t files, net, scoped;
};

struct landlock_below {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));

/* All that a version of Landlock can refuse. */
static struct landlock_set landlock_all(long version)
{
	struct landlock_set all = { .files = (UINT64_C(1) << 13) -
					     1 }; /* execute ... make symlink */
	if (version >= 2)
		all.files |= UINT64_C(1) << 13; /* move to another folder */
	if (version >= 3)
		all.files |= UINT64_C(1) << 14; /* truncate */
	if (version >= 4)
		all.net = 3; /* bind, connect */
	if (version >= 5)
		all.files |= UINT64_C(1) << 15; /* ioctl of devices */
	if (version >= 6)
		all.scoped = 3; /* abstract sockets, signals */
	return all;
}

static void landlock_allow(int set, const char *path)
{
	struct stat about;
	struct landlock_below rule = { .fd = open(path, O_PATH | O_CLOEXEC) };
	if (rule.fd < 0)
		return;
	if (fstat(rule.fd, &about) == 0) {
		rule.allowed = LANDLOCK_READ_FILE;
		if (S_ISDIR(about.st_mode))
			rule.allowed |= LANDLOCK_READ_FOLDER;
		(void)syscall(CALL_LANDLOCK_ADD, set, LANDLOCK_BELOW, &rule, 0);
	}
	close(rule.fd);
}

static bool landlock_enter(const struct wsi_sandbox_terms *terms)
{
	long version = syscall(CALL_LANDLOCK_CREATE, NULL, 0, LANDLOCK_VERSION_FLAG);
	if (version < 1)
		return false;
	struct landlock_set all = landlock_all(version);
	size_t size = version >= 6 ? sizeof all : version >= 4 ? 16 : 8;
	int set = (int)syscall(CALL_LANDLOCK_CREATE, &all, size, 0);
	if (set < 0)
		return false;
	for (size_t i = 0; i < terms->n_inputs; i++)
		landlock_allow(set, terms->inputs[i]);
	if (terms->output_folder)
		landlock_allow(set, terms->output_folder);
	bool good = syscall(CALL_LANDLOCK_RESTRICT, set, 0) == 0;
	close(set);
	return good;
}

/* ---- seccomp ---- */

/* One instruction of the kernel's filter machine, and a program of it. */
struct sandbox_step {
	uint16_t code;
	uint8_t if_true, if_false; /* steps to pass over */
	uint32_t k;
};

struct program {
	uint16_t n;
	const struct sandbox_step *steps;
};

enum {
	LOAD = 0x20,       /* accumulator = 32 bits of the call at k */
	JUMP_EQUAL = 0x15, /* ... == k */
	JUMP_ANY = 0x45,   /* ... & k */
	AND = 0x54,        /* accumulator &= k */
	RETURN = 0x06,

	CALL_NUMBER =
		0, /* in the data of a call: its number, architecture, low half of argument i */
	CALL_ARCH = 4,
#define CALL_ARGUMENT(i) (16 + 8 * (uint32_t)(i))

	SECCOMP_FILTER = 1,     /* operation of seccomp() */
	SECCOMP_SPEC_ALLOW = 4, /* do not slow the process down */
	MODE_FILTER = 2,        /* of prctl() */
};

#define ALLOW UINT32_C(0x7fff0000)
#define KILL UINT32_C(0x80000000)
#define FAIL(error) (UINT32_C(0x00050000) | (error))

#ifdef __x86_64__
#define ARCH UINT32_C(0xc000003e)
#define OTHER_NUMBERS UINT32_C(0x40000000) /* of x32 */
#else
#define ARCH UINT32_C(0xc00000b7)
#define OTHER_NUMBERS UINT32_C(0x40000000)
#endif

/* Calls that only work on what is open, on memory and on the process's own threads. */
static const uint16_t allowed[] = {
	SYS_read,
	SYS_write,
	SYS_readv,
	SYS_writev,
	SYS_pread64,
	SYS_pwrite64,
	SYS_lseek,
	SYS_close,
	SYS_fstat,
	SYS_newfstatat,
	SYS_statx,
	SYS_statfs,
	SYS_fstatfs,
	SYS_getdents64,
	SYS_readlinkat,
	SYS_faccessat,
	SYS_getcwd,
	SYS_dup,
	SYS_dup3,
	SYS_ftruncate,
	SYS_fallocate,
	SYS_fadvise64,
	SYS_fsync,
	SYS_fdatasync,
	SYS_memfd_create,
	SYS_sendmsg,
	SYS_recvmsg,
	SYS_ppoll,
	SYS_munmap,
	SYS_mremap,
	SYS_madvise,
	SYS_brk,
	SYS_futex,
	SYS_set_robust_list,
	SYS_get_robust_list,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_sigaltstack,
	SYS_restart_syscall,
	SYS_sched_yield,
	SYS_sched_getaffinity,
	SYS_getpid,
	SYS_gettid,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_getrandom,
	SYS_getrusage,
	SYS_uname,
	SYS_sysinfo,
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_clock_nanosleep,
	SYS_nanosleep,
	SYS_gettimeofday,
	SYS_exit,
	SYS_exit_group,
#ifdef SYS_faccessat2
	SYS_faccessat2,
#endif
#ifdef SYS_rseq
	SYS_rseq,
#endif
#ifdef SYS_membarrier
	SYS_membarrier,
#endif
#ifdef SYS_stat /* the older names, which newer architectures lack */
	SYS_stat,
	SYS_lstat,
	SYS_access,
	SYS_readlink,
	SYS_dup2,
	SYS_poll,
	SYS_time,
#endif
};

/* Calls that are allowed by one argument. Its low half is what counts: each is an int, or flags of
 * which no high one is known to clone(). */
struct by_argument {
	uint16_t call;
	uint8_t argument;
	enum { ONLY, NONE_OF, ALL_OF } rule;
	uint32_t value;
};

enum {
	WRITING = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND,
	/* memory, files, handlers, one process: a thread */
	THREAD = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000,
};

static const struct by_argument by_argument[] = {
#ifdef SYS_open
	{ SYS_open, 1, NONE_OF, WRITING },
#endif
	{ SYS_openat, 2, NONE_OF, WRITING },
	{ SYS_mmap, 2, NONE_OF, PROT_EXEC },
	{ SYS_mprotect, 2, NONE_OF, PROT_EXEC },
	{ SYS_clone, 0, ALL_OF, THREAD },
	{ SYS_ioctl, 1, ONLY, TCGETS },
	{ SYS_ioctl, 1, ONLY, 0x802c542a /* TCGETS2, for isatty() of a newer libc */ },
	{ SYS_ioctl, 1, ONLY, TIOCGWINSZ },
	{ SYS_ioctl, 1, ONLY, TCSETS }, /* a line editor */
	{ SYS_ioctl, 1, ONLY, TCSETSW },
	{ SYS_fcntl, 1, ONLY, F_GETFD },
	{ SYS_fcntl, 1, ONLY, F_SETFD },
	{ SYS_fcntl, 1, ONLY, F_GETFL },
	{ SYS_fcntl, 1, ONLY, F_SETFL },
	{ SYS_fcntl, 1, ONLY, F_DUPFD_CLOEXEC },
	{ SYS_prlimit64, 2, ONLY, 0 }, /* to ask */
};

enum { MAX_STEPS = 2 * WSI_COUNT(allowed) + 6 * WSI_COUNT(by_argument) + 16 };

struct sandbox_filter {
	struct sandbox_step steps[MAX_STEPS];
	uint16_t n;
};

static void add(struct sandbox_filter *f, uint16_t code, uint32_t k, uint8_t if_true,
		uint8_t if_false)
{
	assert(f->n < MAX_STEPS);
	f->steps[f->n++] = (struct sandbox_step){ code, if_true, if_false, k };
}

static void add_by_argument(struct sandbox_filter *f, const struct by_argument *by)
{
	add(f, JUMP_EQUAL, by->call, 0, by->rule == ALL_OF ? 5 : 4); /* past the whole block */
	add(f, LOAD, CALL_ARGUMENT(by->argument), 0, 0);
	switch (by->rule) {
	case ONLY:
		add(f, JUMP_EQUAL, by->value, 0, 1);
		break;
	case NONE_OF:
		add(f, JUMP_ANY, by->value, 1, 0);
		break;
	case ALL_OF:
		add(f, AND, by->value, 0, 0);
		add(f, JUMP_EQUAL, by->value, 0, 1);
		break;
	}
	add(f, RETURN, ALLOW, 0, 0);
	add(f, LOAD, CALL_NUMBER, 0, 0);
}

static void filter_make(struct sandbox_filter *f)
{
	f->n = 0;
	add(f, LOAD, CALL_ARCH, 0, 0);
	add(f, JUMP_EQUAL, ARCH, 1, 0);
	add(f, RETURN, KILL, 0, 0);
	add(f, LOAD, CALL_NUMBER, 0, 0);
	add(f, JUMP_ANY, OTHER_NUMBERS, 0, 1);
	add(f, RETURN, KILL, 0, 0);
	for (size_t i = 0; i < WSI_COUNT(allowed); i++) {
		add(f, JUMP_EQUAL, allowed[i], 0, 1);
		add(f, RETURN, ALLOW, 0, 0);
	}
	for (size_t i = 0; i < WSI_COUNT(by_argument); i++)
		add_by_argument(f, &by_argument[i]);
	/* abort() */
	add(f, JUMP_EQUAL, SYS_tgkill, 0, 3);
	add(f, LOAD, CALL_ARGUMENT(0), 0, 0);
	add(f, JUMP_EQUAL, (uint32_t)getpid(), 0, 1);
	add(f, RETURN, ALLOW, 0, 0);
	/* as on a kernel that has no such call: a libc then does without the newest ones */
	add(f, RETURN, FAIL(ENOSYS), 0, 0);
}

static bool seccomp_enter(void)
{
	static struct sandbox_filter filter;
	filter_make(&filter);
	struct program program = { filter.n, filter.steps };
	return syscall(SYS_seccomp, SECCOMP_FILTER, SECCOMP_SPEC_ALLOW, &program) == 0 ||
	       prctl(PR_SET_SECCOMP, MODE_FILTER, &program, 0, 0) == 0;
}

/* ---- together ---- */

struct wsi_sandbox_state wsi_sandbox_enter(const struct wsi_sandbox_terms *terms)
{
	struct wsi_sandbox_state state = { .why = NULL };
	struct wsi_broker_terms broker = { terms->inputs, terms->n_inputs, terms->outputs,
					   terms->n_outputs, terms->output_folder };
	if (!wsi_broker_start(&broker)) {
		state.why = "no second process";
		return state;
	}
	bool may = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
	state.has_files = may && landlock_enter(terms);
	state.has_calls = may && seccomp_enter();
	if (!state.has_files || !state.has_calls)
		state.why = "not in this kernel";
	return state;
}
#else
struct wsi_sandbox_state wsi_sandbox_enter(const struct wsi_sandbox_terms *terms)
{
	(void)terms;
	struct wsi_sandbox_state state = { .why = "not on this system" };
#ifdef SANITIZED
	state.why = "not in a build with a sanitizer, which needs more";
#endif
	return state;
}
#endif
