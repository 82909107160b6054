/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to break out of the sandbox: sandbox-tries FOLDER NAME, for tests/cli/test_sandbox.py.
 *
 * Enters it with FOLDER/in as input, FOLDER/out as output and FOLDER/store as a folder to write to,
 * makes one try, and prints "refused: WHY" or "let through". A try that is let through does no harm
 * outside FOLDER, whoever runs it. NAME "list" prints all names, and
 * which of them must be let through.
 */
#define _GNU_SOURCE
#include "base/broker.h"
#include "base/file.h"
#include "base/place.h"
#include "base/sandbox.h"

#undef abort
#undef exit
#undef printf
#undef strerror
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char at[4096]; /* FOLDER/NAME */

static pid_t victim; /* a process of the same user */

static void victim_start(void)
{
	pid_t parent = getpid();
	victim = fork();
	if (victim != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	while (getppid() == parent)
		pause();
	_exit(0);
}

static const char *in(const char *folder, const char *name)
{
	(void)wsi_format(at, "%s/%s", folder, name);
	return at;
}

static const char *in2(const char *folder, const char *name)
{
	static char other[4096];
	(void)wsi_format(other, "%s/%s", folder, name);
	return other;
}

static char **no_words(void)
{
	static char *none[] = { NULL };
	return none;
}

static void *thread_run(void *seen)
{
	*(bool *)seen = true;
	return NULL;
}

static bool thread_works(void)
{
	pthread_t thread;
	bool seen = false;
	if (pthread_create(&thread, NULL, thread_run, &seen) != 0)
		return false;
	pthread_join(thread, NULL);
	return seen;
}

static bool child_made(long pid)
{
	if (pid == 0)
		_exit(0);
	return pid > 0;
}

static bool output_written(const char *path)
{
	struct wsi_place place;
	if (wsi_place_open(path, NULL, &place, NULL) != WS_OK)
		return false;
	bool good = write(place.fd, "new", 3) == 3 && wsi_place_commit(&place);
	wsi_place_close(&place);
	return good;
}

/* In the way of processes without the 64-bit calls; the filter kills for it. */
static bool other_architecture(void)
{
#ifdef __x86_64__
	long pid;
	__asm__ volatile("int $0x80" : "=a"(pid) : "a"(20L /* getpid */) : "memory");
	return pid > 0;
#else
	raise(SIGSYS);
	return false;
#endif
}

static bool executable_memory(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return page != MAP_FAILED && mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
}

static bool memory_of(pid_t pid)
{
	char byte;
	struct iovec here = { &byte, 1 }, there = { at, 1 };
	return process_vm_readv(pid, &here, 1, &there, 1, 0) == 1;
}

static bool broker_breaks(const char *f)
{
	/* what the broker makes of it, the process does not learn; afterwards it may be gone */
	return wsi_broker_read("/etc/passwd") >= 0 || output_written(in(f, "new"));
}

/* Name; what succeeds when it is let through; whether it must be. */
#define TRIES(X)                                                                                  \
	X(read_input, open(in(f, "in"), O_RDONLY) >= 0, true)                                     \
	X(read_store, open(in(f, "store/kept"), O_RDONLY) >= 0, true)                             \
	X(thread, thread_works(), true)                                                           \
	X(memory_file, memfd_create("x", MFD_CLOEXEC) >= 0, true)                                 \
	X(temporary, wsi_file_temporary() >= 0, true)                                             \
	X(output, output_written(in(f, "out")), true)                                             \
	X(output_in_store, output_written(in(f, "store/new")), true)                              \
	X(broker_source, wsi_broker_read(in(f, "beside.cu")) >= 0, true)                          \
	X(broker_in_store, wsi_broker_read(in(f, "store/kept")) >= 0, true)                       \
	X(read_passwd, open("/etc/passwd", O_RDONLY) >= 0, false)                                 \
	X(read_beside, open(in(f, "beside"), O_RDONLY) >= 0, false)                               \
	X(read_link_in_store, open(in(f, "store/link"), O_RDONLY) >= 0, false)                    \
	X(read_up_from_store, open(in(f, "store/../beside"), O_RDONLY) >= 0, false)               \
	X(read_folder, open(f, O_RDONLY | O_DIRECTORY) >= 0, false)                               \
	X(read_own_memory, open("/proc/self/mem", O_RDONLY) >= 0, false)                          \
	X(write_input, open(in(f, "in"), O_WRONLY) >= 0, false)                                   \
	X(append_input, open(in(f, "in"), O_RDWR | O_APPEND) >= 0, false)                         \
	X(truncate_input, truncate(in(f, "in"), 0) == 0, false)                                   \
	X(write_output_by_name, open(in(f, "out"), O_WRONLY | O_CREAT, 0600) >= 0, false)         \
	X(write_new, open(in(f, "new"), O_WRONLY | O_CREAT, 0600) >= 0, false)                    \
	X(write_in_store, open(in(f, "store/other"), O_WRONLY | O_CREAT, 0600) >= 0, false)       \
	X(write_nameless, open(f, O_TMPFILE | O_RDWR, 0600) >= 0, false)                          \
	X(write_temporary, open("/var/tmp", O_TMPFILE | O_RDWR, 0600) >= 0, false)                \
	X(remove, unlink(in(f, "beside")) == 0, false)                                            \
	X(rename, rename(in(f, "beside"), in2(f, "new")) == 0, false)                             \
	X(hard_link, link(in(f, "beside"), in2(f, "new")) == 0, false)                            \
	X(link, symlink("/etc/passwd", in(f, "new")) == 0, false)                                 \
	X(folder, mkdir(in(f, "new"), 0700) == 0, false)                                          \
	X(fifo, mkfifo(in(f, "new"), 0600) == 0, false)                                           \
	X(mode, chmod(in(f, "in"), 0777) == 0, false)                                             \
	X(owner, chown(in(f, "in"), 1, 1) == 0, false)                                            \
	X(times, utimensat(AT_FDCWD, in(f, "in"), NULL, 0) == 0, false)                           \
	X(working_folder, chdir("/") == 0, false)                                                 \
	X(socket_inet, socket(AF_INET, SOCK_STREAM, 0) >= 0, false)                               \
	X(socket_inet6, socket(AF_INET6, SOCK_DGRAM, 0) >= 0, false)                              \
	X(socket_unix, socket(AF_UNIX, SOCK_STREAM, 0) >= 0, false)                               \
	X(socket_netlink, socket(AF_NETLINK, SOCK_RAW, 0) >= 0, false)                            \
	X(socket_pair, socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){ 0 }) == 0, false)            \
	X(bind, bind(0, (struct sockaddr *)at, 16) == 0 || errno == ENOTSOCK, false)              \
	X(connect, connect(0, (struct sockaddr *)at, 16) == 0 || errno == ENOTSOCK, false)        \
	X(listen, listen(0, 1) == 0 || errno == ENOTSOCK, false)                                  \
	X(execute, execve("/bin/true", no_words(), no_words()) == 0, false)                       \
	X(execute_file, fexecve(open(in(f, "in"), O_RDONLY), no_words(), no_words()) == 0, false) \
	X(fork, child_made(fork()), false)                                                        \
	X(fork_plainly, child_made(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)), false)               \
	X(clone3, syscall(435, at, 64) >= 0 || errno != ENOSYS, false)                            \
	X(executable_memory, executable_memory(), false)                                          \
	X(map_executable,                                                                         \
	  mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=          \
		  MAP_FAILED,                                                                     \
	  false)                                                                                  \
	X(trace_me, ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0, false)                            \
	X(trace_other, ptrace(PTRACE_ATTACH, victim, NULL, NULL) == 0, false)                     \
	X(memory_of_other, memory_of(victim), false)                                              \
	X(signal_other, kill(victim, 0) == 0, false)                                              \
	X(signal_thread_of_other, syscall(SYS_tgkill, victim, victim, 0) == 0, false)             \
	X(open_process, syscall(434, victim, 0) >= 0, false)                                      \
	X(io_uring, syscall(425, 4, at) >= 0 || errno != ENOSYS, false)                           \
	X(bpf, syscall(SYS_bpf, 0, at, 64) >= 0 || errno != ENOSYS, false)                        \
	X(perf, syscall(SYS_perf_event_open, at, 0, -1, -1, 0) >= 0 || errno != ENOSYS, false)    \
	X(user_faults, syscall(SYS_userfaultfd, 0) >= 0, false)                                   \
	X(keys, syscall(SYS_keyctl, 0, -3, 1) >= 0, false)                                        \
	X(namespace, unshare(CLONE_NEWUSER) == 0, false)                                          \
	X(mount, mount("none", f, "no-such-type", 0, "") == 0 || errno != ENOSYS, false)          \
	X(root, chroot("/no-such-folder") == 0 || errno != ENOSYS, false)                         \
	X(limits, setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 64, 64 }) == 0, false)               \
	X(process_settings, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0, false)                       \
	X(terminal_input, ioctl_terminal(), false)                                                \
	X(open_otherwise, syscall(437, AT_FDCWD, "/etc/passwd", at, 24) >= 0 || errno != ENOSYS,  \
	  false)                                                                                  \
	X(by_handle, syscall(SYS_open_by_handle_at, AT_FDCWD, at, 0) >= 0 || errno != ENOSYS,     \
	  false)                                                                                  \
	X(other_architecture, other_architecture(), false)                                        \
	X(broker_passwd, wsi_broker_read("/etc/passwd") >= 0, false)                              \
	X(broker_beside, wsi_broker_read(in(f, "beside")) >= 0, false)                            \
	X(broker_source_link, wsi_broker_read(in(f, "passwd.cu")) >= 0, false)                    \
	X(broker_link_in_store, wsi_broker_read(in(f, "store/link")) >= 0, false)                 \
	X(broker_up_from_store, wsi_broker_read(in(f, "store/../beside")) >= 0, false)            \
	X(broker_fifo, wsi_broker_read(in(f, "fifo.cu")) >= 0, false)                             \
	X(broker_device, wsi_broker_read("/dev/zero") >= 0, false)                                \
	X(broker_write_beside, output_written(in(f, "beside")), false)                            \
	X(broker_write_input, output_written(in(f, "in")), false)                                 \
	X(broker_write_up, output_written(in(f, "store/../beside")), false)                       \
	X(broker_folder_beside, wsi_broker_folder(in(f, "new/x"), NULL) == WS_OK, false)          \
	X(broker_noise, (broker_noise(), broker_breaks(f)), false)

static bool ioctl_terminal(void)
{
	return syscall(SYS_ioctl, 0, 0x5412 /* TIOCSTI */, "x") == 0 || errno != ENOSYS;
}

/* Packets that are none, to every descriptor. */
static void broker_noise(void)
{
	static char noise[16384];
	memset(noise, 0x41, sizeof noise);
	for (int fd = 3; fd < 32; fd++) {
		for (size_t n = 0; n <= sizeof noise; n = n * 3 + 1) {
			struct iovec part = { noise, n };
			struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };
			(void)!sendmsg(fd, &packet, MSG_NOSIGNAL | MSG_DONTWAIT);
		}
	}
}

static bool try(const char *name, const char *f)
{
#define X(id, result, must)           \
	if (strcmp(name, #id) == 0) { \
		errno = 0;            \
		return result;        \
	}
	TRIES(X)
#undef X
	return false;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[2], "list") == 0) {
#define X(id, result, must) printf("%s %s\n", #id, must ? "through" : "refused");
		TRIES(X)
#undef X
		return 0;
	}
	if (argc != 3)
		return 2;
	char input[4096], output[4096], store[4096], beside[4096];
	const char *inputs[] = { input, beside }, *outputs[] = { output, beside }; /* one counts */
	(void)wsi_format(input, "%s/in", argv[1]);
	(void)wsi_format(output, "%s/out", argv[1]);
	(void)wsi_format(beside, "%s/beside", argv[1]);
	(void)wsi_format(store, "%s/store", argv[1]);
	victim_start();
	struct wsi_sandbox_terms terms = { inputs, 1, outputs, 1, store };
	struct wsi_sandbox_state state = wsi_sandbox_enter(&terms);
	if (!state.has_files || !state.has_calls) {
		printf("not sandboxed: %s\n", state.why);
		return 0;
	}
	if (try(argv[2], argv[1]))
		printf("let through\n");
	else
		printf("refused: %s\n", strerror(errno));
	return 0;
}
