/* SPDX-License-Identifier: Apache-2.0 */
/* A third-party client of the driver's debugger library, written from the
 * manual's attach section and the public header only.  It starts a program that
 * sets the cudbg* variables of its own driver copy and stops (SELFSET in
 * faults.cu), so no ptrace is needed; then it initializes the API, lets the
 * program run, prints every event, plants a breakpoint at each kernel entry,
 * reads some state, steps a few instructions and resumes.
 *   drive PROGRAM [args]          KEEP=dir to keep the ELF images */
#include <cudadebugger.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if CUDBG_API_VERSION_REVISION >= 140
#define STEP singleStepWarp65
#else
#define STEP singleStepWarp
#endif
static CUDBGAPI api;
static int wake[2];
static const char *keep;
static double t0;
static int stops;
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}
#define LOG(...) \
	(printf("[%8.3f] ", now() - t0), printf(__VA_ARGS__), putchar('\n'), fflush(stdout))
#define TRY(x)                                                           \
	({                                                               \
		CUDBGResult r_ = (x);                                    \
		if (r_)                                                  \
			LOG("   %s -> %s", #x, cudbgGetErrorString(r_)); \
		r_;                                                      \
	})
static void on_event(void *u)
{
	(void)u;
	char c = 1;
	if (write(wake[1], &c, 1) < 0)
		return;
}
static void image(uint32_t dev, uint64_t h, uint64_t size, int reloc)
{
	char *b = malloc(size ? size : 1), f[300];
	if (TRY(api->getElfImageByHandle(dev, h,
					 reloc ? CUDBG_ELF_IMAGE_TYPE_RELOCATED
					       : CUDBG_ELF_IMAGE_TYPE_NONRELOCATED,
					 b, size))) {
		free(b);
		return;
	}
	if (keep) {
		snprintf(f, sizeof f, "%s/elf.%llx.%s", keep, (unsigned long long)h,
			 reloc ? "reloc" : "nonreloc");
		int d = open(f, O_CREAT | O_WRONLY | O_TRUNC, 0644);
		if (d >= 0) {
			if (write(d, b, size) < 0)
				LOG("write");
			close(d);
		}
	}
	Elf64_Ehdr *e = (Elf64_Ehdr *)b;
	Elf64_Shdr *s = (Elf64_Shdr *)(b + e->e_shoff);
	LOG("   image %s type %x abi %x flags %x sections %d",
	    reloc ? "relocated" : "non-relocated", e->e_type, e->e_ident[8], e->e_flags,
	    e->e_shnum);
	if (reloc)
		for (int i = 0; i < e->e_shnum; i++)
			if (s[i].sh_type == SHT_SYMTAB) {
				Elf64_Sym *y = (Elf64_Sym *)(b + s[i].sh_offset);
				char *n = b + s[s[i].sh_link].sh_offset;
				for (uint64_t k = 0; k < s[i].sh_size / sizeof *y; k++)
					if ((y[k].st_info & 15) == STT_FUNC) {
						LOG("   func %s value %llx size %llu other %x",
						    n + y[k].st_name,
						    (unsigned long long)y[k].st_value,
						    (unsigned long long)y[k].st_size,
						    y[k].st_other);
						if ((y[k].st_other & 0x10) && y[k].st_value) {
							uint64_t a = y[k].st_value, adj = a;
							TRY(api->getAdjustedCodeAddress(
								dev, a, &adj,
								CUDBG_ADJ_CURRENT_ADDRESS));
							LOG("   breakpoint %llx (adjusted %llx) -> "
							    "%d",
							    (unsigned long long)a,
							    (unsigned long long)adj,
							    TRY(api->setBreakpoint(dev, adj)));
						}
					}
			}
	free(b);
}
static void state(uint32_t dev)
{
	uint32_t ns = 0, nw = 0, nl = 0;
	api->getNumSMs(dev, &ns);
	api->getNumWarps(dev, &nw);
	api->getNumLanes(dev, &nl);
	LOG("   device %u: %u SMs %u warps %u lanes", dev, ns, nw, nl);
	int shown = 0;
	for (uint32_t sm = 0; sm < ns; sm++) {
		uint64_t v = 0, br = 0;
		if (api->readValidWarps(dev, sm, &v) || !v)
			continue;
		TRY(api->readBrokenWarps(dev, sm, &br));
		for (uint32_t w = 0; w < nw && shown < 24; w++)
			if (v >> w & 1) {
				uint32_t vl = 0, al = 0;
				uint64_t g = 0, pc = 0;
				CuDim3 bi = { 0 };
				CUDBGException_t ex = 0;
				api->readValidLanes(dev, sm, w, &vl);
				api->readActiveLanes(dev, sm, w, &al);
				api->readGridId(dev, sm, w, &g);
				api->readBlockIdx(dev, sm, w, &bi);
				uint32_t l = vl ? __builtin_ctz(vl) : 0;
				api->readVirtualPC(dev, sm, w, l, &pc);
				api->readLaneException(dev, sm, w, l, &ex);
				uint32_t r[8] = { 0 };
				for (int i = 0; i < 8; i++)
					api->readRegister(dev, sm, w, l, i, &r[i]);
				LOG("   sm %u warp %u%s grid %lld block %u valid %08x active %08x "
				    "pc %llx exc %d R0-7 %x %x %x %x %x %x %x %x",
				    sm, w, br >> w & 1 ? " broken" : "", (long long)g, bi.x, vl, al,
				    (unsigned long long)pc, (int)ex, r[0], r[1], r[2], r[3], r[4],
				    r[5], r[6], r[7]);
				shown++;
				if ((br >> w & 1) && stops < 2)
					for (int i = 0; i < 5; i++) {
						uint64_t m = 0, p2 = 0;
						if (TRY(api->STEP(dev, sm, w, 1, &m)))
							break;
						api->readVirtualPC(dev, sm, w, l, &p2);
						LOG("     step -> pc %llx mask %llx",
						    (unsigned long long)p2, (unsigned long long)m);
					}
			}
	}
}
static void drain(int queue)
{
	for (int any = 0;; any++) {
		CUDBGEvent e;
		memset(&e, 0, sizeof e);
		CUDBGResult r = api->getNextEvent(
			queue ? CUDBG_EVENT_QUEUE_TYPE_ASYNC : CUDBG_EVENT_QUEUE_TYPE_SYNC, &e);
		if (r || e.kind == CUDBG_EVENT_INVALID) {
			if (r && r != CUDBG_ERROR_NO_EVENT_AVAILABLE)
				LOG("getNextEvent %s", cudbgGetErrorString(r));
			if (any && !queue)
				TRY(api->acknowledgeSyncEvents());
			return;
		}
		LOG("EVENT %s kind %d", queue ? "async" : "sync", (int)e.kind);
		switch ((int)e.kind) {
		case CUDBG_EVENT_ELF_IMAGE_LOADED:
			LOG("  elf dev %u ctx %llx module %llx handle %llx size %llu props %x",
			    e.cases.elfImageLoaded.dev,
			    (unsigned long long)e.cases.elfImageLoaded.context,
			    (unsigned long long)e.cases.elfImageLoaded.module,
			    (unsigned long long)e.cases.elfImageLoaded.handle,
			    (unsigned long long)e.cases.elfImageLoaded.size,
			    e.cases.elfImageLoaded.properties);
			image(e.cases.elfImageLoaded.dev, e.cases.elfImageLoaded.handle,
			      e.cases.elfImageLoaded.size, 1);
			image(e.cases.elfImageLoaded.dev, e.cases.elfImageLoaded.handle,
			      e.cases.elfImageLoaded.size, 0);
			break;
		case CUDBG_EVENT_KERNEL_READY:
			LOG("  ready grid %lld entry %llx dim %u,%u block %u,%u tid %u type %d "
			    "origin %d",
			    (long long)e.cases.kernelReady.gridId,
			    (unsigned long long)e.cases.kernelReady.functionEntry,
			    e.cases.kernelReady.gridDim.x, e.cases.kernelReady.gridDim.y,
			    e.cases.kernelReady.blockDim.x, e.cases.kernelReady.blockDim.y,
			    e.cases.kernelReady.tid, (int)e.cases.kernelReady.type,
			    (int)e.cases.kernelReady.origin);
			break;
		case CUDBG_EVENT_KERNEL_FINISHED:
			LOG("  finished grid %lld", (long long)e.cases.kernelFinished.gridId);
			break;
		case CUDBG_EVENT_CTX_CREATE:
			LOG("  ctx %llx tid %u", (unsigned long long)e.cases.contextCreate.context,
			    e.cases.contextCreate.tid);
			break;
		case CUDBG_EVENT_INTERNAL_ERROR:
			LOG("  internal error %s",
			    cudbgGetErrorString(e.cases.internalError.errorType));
			break;
		case 0xe: {
			uint32_t nd = 0;
			api->getNumDevices(&nd);
			stops++;
			LOG("  all devices suspended (stop %d), %u devices", stops, nd);
			for (uint32_t d = 0; d < nd; d++)
				state(d);
			TRY(api->acknowledgeSyncEvents());
			for (uint32_t d = 0; d < nd; d++)
				LOG("  resume -> %d", TRY(api->resumeDevice(d)));
			return;
		}
		}
	}
}
int main(int c, char **v)
{
	uint32_t ma = 0, mi = 0, rev = 0;
	int st;
	char set[64];
	t0 = now();
	keep = getenv("KEEP");
	if (c < 2 || pipe(wake))
		return 9;
	void *h = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	if (!h) {
		LOG("%s", dlerror());
		return 9;
	}
	CUDBGResult (*getver)(uint32_t *, uint32_t *, uint32_t *) = dlsym(h, "cudbgGetAPIVersion"),
							       (*getapi)(uint32_t, uint32_t,
									 uint32_t, CUDBGAPI *) =
								       dlsym(h, "cudbgGetAPI");
	if (!getver || !getapi) {
		LOG("no entry points");
		return 9;
	}
	TRY(getver(&ma, &mi, &rev));
	LOG("driver debugger API %u.%u.%u, header %d.%d.%d", ma, mi, rev, CUDBG_API_VERSION_MAJOR,
	    CUDBG_API_VERSION_MINOR, CUDBG_API_VERSION_REVISION);
	if (ma > CUDBG_API_VERSION_MAJOR || rev > CUDBG_API_VERSION_REVISION) {
		ma = CUDBG_API_VERSION_MAJOR;
		mi = CUDBG_API_VERSION_MINOR;
		rev = CUDBG_API_VERSION_REVISION;
	}
	unsigned caps = getenv("CAPS") ? (unsigned)strtoul(getenv("CAPS"), 0, 0)
				       : 2 | 8; /* suspend events, no context push/pop */
	pid_t me = getpid(), pid = fork();
	if (!pid) {
		snprintf(set, sizeof set, "%u %u %u", (unsigned)me, rev, caps);
		setenv("SELFSET", set, 1);
		execv(v[1], v + 1);
		_exit(127);
	}
	waitpid(pid, &st, WUNTRACED);
	LOG("program %d stopped %x", (int)pid, st);
	uint32_t *p;
	if ((p = dlsym(h, "cudbgApiClientPid")))
		*p = me;
	if ((p = dlsym(h, "cudbgApiClientRevision")))
		*p = rev;
	if ((p = dlsym(h, "cudbgSessionId")))
		*p = 0;
	if (TRY(getapi(ma, mi, rev, &api))) {
		kill(pid, SIGKILL);
		return 1;
	}
	for (int i = 0; i < 30; i++) {
		CUDBGResult r = api->initialize();
		LOG("initialize -> %s", cudbgGetErrorString(r));
		if (!r)
			break;
		if (i == 0)
			kill(pid, SIGCONT);
		usleep(100000);
	}
#if CUDBG_API_VERSION_REVISION >= 144
	CUDBGCapabilityFlags f = 0;
	TRY(api->getSupportedDebuggerCapabilities(&f));
	LOG("capabilities asked %x, supported %x", caps, (unsigned)f);
#endif
	TRY(api->setNotifyNewEventCallback31(on_event, NULL));
	kill(pid, SIGCONT);
	for (double end = now() + 40; now() < end;) {
		struct pollfd q = { wake[0], POLLIN, 0 };
		char b[64];
		if (poll(&q, 1, 200) > 0) {
			if (read(wake[0], b, sizeof b) < 0)
				break;
			drain(0);
			drain(1);
		}
		if (waitpid(pid, &st, WNOHANG) == pid) {
			LOG("program ended %x", st);
			break;
		}
	}
	LOG("finalize -> %d", TRY(api->finalize()));
	kill(pid, SIGKILL);
	return 0;
}
