// SPDX-License-Identifier: Apache-2.0
// One small program per fault: build with -DCASE=n (see run.sh and README.md). Each build holds only its own kernel, so that
// a dump holds one small cubin. CASE 15 needs -rdc=true and -lcudadevrt.
#include <assert.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define OOB ((unsigned *)0x7f0000000000ull)

#if CASE == 1   // illegal address: one lane of block 1
__global__ void oob(unsigned *p, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = i * 3 + n;
    p[i] = v;
    __syncthreads();
    if (blockIdx.x == 1 && threadIdx.x == 37) OOB[v] = v;
    p[i] = v + 1;
}
#define LAUNCH oob<<<3, 64>>>(d, 7)
#elif CASE == 2 // misaligned load
__global__ void misaligned(unsigned *p, unsigned n) {
    unsigned i = threadIdx.x;
    unsigned *q = (unsigned *)((char *)p + i * 4 + (i == 9 ? 2 : 0));
    p[i] = *(volatile unsigned *)q + n;
}
#define LAUNCH misaligned<<<2, 32>>>(d, 7)
#elif CASE == 3 // device assert
__device__ __noinline__ void check(int v, int limit) { assert(v < limit); }
__global__ void asserting(unsigned *p, unsigned n) { check(threadIdx.x, blockIdx.x == 2 ? 3 : 1000); p[threadIdx.x] = n; }
#define LAUNCH asserting<<<4, 32>>>(d, 7)
#elif CASE == 4 // trap on a divergent set of lanes
__global__ void trapping(unsigned *p, unsigned n) {
    unsigned i = threadIdx.x, s = 0;
    if (i & 1) { for (unsigned k = 0; k < i; k++) s += p[k]; if (s + n != ~0u) asm volatile("trap;"); }
    p[i] = s;
}
#define LAUNCH trapping<<<2, 48>>>(d, 7)
#elif CASE == 5 // device stack overflow
__device__ __noinline__ unsigned deep(unsigned n, volatile unsigned *p) {
    unsigned a[24]; for (int i = 0; i < 24; i++) a[i] = n + p[i & 7];
    unsigned r = n > 1000000 ? 0 : deep(n + 1, p);
    return r + a[n % 24];
}
__global__ void overflow(unsigned *p, unsigned n) { p[threadIdx.x] = deep(n, p); }
#define LAUNCH overflow<<<1, 32>>>(d, 7)
#elif CASE == 6 // hang: half a block waits at a barrier, another block spins
__device__ volatile int flag;
__global__ void hanging(unsigned *p, unsigned n) {
    __shared__ unsigned s[64];
    s[threadIdx.x] = threadIdx.x * 11 + n;
    __syncthreads();
    if (blockIdx.x == 0) {
        if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");
        else while (!flag) { }
        __syncthreads();
    } else while (!flag) p[threadIdx.x + 64]++;
    p[threadIdx.x] = s[63 - threadIdx.x];
}
#define LAUNCH hanging<<<2, 64>>>(d, 7)
#elif CASE == 7 // cluster: remote shared address outside the block's window
__global__ void __cluster_dims__(4, 1, 1) cluster_oob(unsigned *p, unsigned n) {
    __shared__ unsigned s[32];
    cg::cluster_group c = cg::this_cluster();
    s[threadIdx.x] = c.block_rank() * 100 + threadIdx.x; c.sync();
    unsigned *r = c.map_shared_rank(s, (c.block_rank() + 1) & 3);
    unsigned v = r[threadIdx.x];
    if (c.block_rank() == 2 && threadIdx.x == 5) v += r[0x30000 + n];
    p[blockIdx.x * 32 + threadIdx.x] = v; c.sync();
}
#define LAUNCH cluster_oob<<<8, 32>>>(d, 7)
#elif CASE == 8 // cluster: the target block has left
__global__ void __cluster_dims__(2, 1, 1) cluster_gone(unsigned *p, unsigned n) {
    __shared__ unsigned s[32];
    cg::cluster_group c = cg::this_cluster();
    s[threadIdx.x] = n; c.sync();
    if (c.block_rank() == 1) return;
    unsigned *r = c.map_shared_rank(s, 1);
    long long t = clock64(); while (clock64() - t < 2000000) { }
    p[threadIdx.x] = r[threadIdx.x];
}
#define LAUNCH cluster_gone<<<2, 32>>>(d, 7)
#elif CASE == 10 // a call stack five deep, divergent
__device__ __noinline__ unsigned f5(unsigned *p, unsigned a) { if (a == 1234) OOB[a] = 1; return p[a & 15] + a; }
__device__ __noinline__ unsigned f4(unsigned *p, unsigned a, unsigned b) { unsigned l4[6]; for (int i = 0; i < 6; i++) l4[i] = a * i + b; return f5(p, b == 21 ? 1234 : a) + l4[a % 6]; }
__device__ __noinline__ unsigned f3(unsigned *p, unsigned a) { unsigned keep3 = a ^ 0x55; return (threadIdx.x & 3) == 1 ? f4(p, a, threadIdx.x) + keep3 : f4(p, keep3, 2) - 1; }
__device__ __noinline__ unsigned f2(unsigned *p, unsigned a) { float keep2 = a * 0.5f; unsigned r = f3(p, a + 1); return r + (unsigned)keep2; }
__device__ __noinline__ unsigned f1(unsigned *p, unsigned a) { double keep1 = a + 0.25; unsigned r = f2(p, a * 2); return r + (unsigned)keep1; }
__global__ void frames(unsigned *p, unsigned n) { unsigned top = n + threadIdx.x; p[threadIdx.x] = f1(p, top); }
#define LAUNCH frames<<<1, 32>>>(d, 7)
#elif CASE == 11 // variables of every storage, then a trap
struct Inner { short s; double d; }; struct Rec { int a; float b[3]; Inner in; unsigned bits : 5; char tag[4]; };
enum Colour { RED = 1, GREEN = 7 };
__device__ int g_counter = 41; __device__ Rec g_rec = {5, {1.5f, 2.5f, 3.5f}, {-3, 6.25}, 9, "xyz"};
__constant__ float c_table[4] = {0.125f, 0.25f, 0.5f, 1.f};
__device__ __managed__ int m_value = 77;
__global__ void vars(unsigned *p, unsigned n, Rec rec, const float *fp, Colour col) {
    __shared__ int sh[40]; extern __shared__ short dyn[];
    int loc[8]; unsigned long long big = 0x1122334455667788ull; bool yes = n > 3; char ch = 'q'; float f = n * 0.75f; double dd = f * 3.0; short neg = -12; int *ptr = &loc[3];
    sh[threadIdx.x] = threadIdx.x * 5; if (threadIdx.x < 16) dyn[threadIdx.x] = (short)(1000 + threadIdx.x);
    for (int i = 0; i < 8; i++) loc[i] = i * 9 + (int)threadIdx.x;
    __syncthreads();
    rec.a += g_counter + m_value; rec.b[1] += c_table[2];
    { int inner_scope = rec.a * 2; Colour other = GREEN; p[threadIdx.x] = inner_scope + other + col + neg + ch + yes + *ptr + (unsigned)(f + dd + big);
      if (threadIdx.x == 17) { asm volatile("trap;"); p[0] = inner_scope; } }
    p[threadIdx.x + 40] = loc[n & 7] + sh[39 - threadIdx.x] + dyn[3] + rec.in.s + (unsigned)fp[0];
}
#define LAUNCH { Rec r = {11, {9.f, 8.f, 7.f}, {4, 2.5}, 3, "abc"}; vars<<<2, 40, 64>>>(d, 7, r, (float *)d, RED); }
#elif CASE == 12 // shared address out of range
__global__ void shared_oob(unsigned *p, unsigned n) { extern __shared__ unsigned s[]; s[threadIdx.x] = n; __syncthreads(); p[threadIdx.x] = s[threadIdx.x * (threadIdx.x == 30 ? 4000 : 1) ]; }
#define LAUNCH shared_oob<<<1, 32, 128>>>(d, 7)
#elif CASE == 13 // local address out of range
__global__ void local_oob(unsigned *p, unsigned n) { unsigned a[16]; for (int i = 0; i < 16; i++) a[i] = i + n; if (threadIdx.x == 4) ((volatile unsigned *)a)[0x4000000 + n] = 1; p[threadIdx.x] = a[n & 15]; }
#define LAUNCH local_oob<<<1, 32>>>(d, 7)
#elif CASE == 14 // call through a bad pointer
typedef unsigned (*fn)(unsigned);
__global__ void bad_pc(unsigned *p, unsigned n, unsigned long long a) { fn f = (fn)(a + n); p[threadIdx.x] = f(n); }
#define LAUNCH bad_pc<<<1, 32>>>(d, 0, 0x123456780ull)
#elif CASE == 15 // a kernel launched from the device faults; its parent is done
__global__ void child(unsigned *p, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = n;
    if (i == 40) OOB[i] = n;
}
__global__ void parent(unsigned *p, unsigned n) {
    if (threadIdx.x == 0) child<<<2, 32>>>(p, n + 1);
    p[threadIdx.x + 100] = n;
}
#define LAUNCH parent<<<1, 32>>>(d, 7)
#elif CASE == 16 // breakpoint instruction, no debugger
__global__ void brk(unsigned *p, unsigned n) { p[threadIdx.x] = n; asm volatile("brkpt;"); p[threadIdx.x] = n + 1; }
#define LAUNCH brk<<<1, 64>>>(d, 7)
#elif CASE == 17 // many blocks on every SM, one traps
__global__ void wide(unsigned *p, unsigned n) { unsigned v = blockIdx.x * 1000 + threadIdx.x; long long t = clock64(); while (clock64() - t < 40000000) v = v * 3 + 1; if (blockIdx.x == 100 && threadIdx.x == 0) asm volatile("trap;"); p[0] = v; }
#define LAUNCH wide<<<264, 96>>>(d, 7)
#elif CASE == 19 // a bulk tensor copy (TMA) with a descriptor that is none
struct alignas(64) Descriptor { unsigned long long word[16]; };
__global__ void tma(const __grid_constant__ Descriptor descriptor, unsigned *p) {
    __shared__ alignas(128) unsigned tile[32];
    __shared__ alignas(8) unsigned long long barrier;
    unsigned to = (unsigned)__cvta_generic_to_shared(tile), done = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(done));
        asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::"r"(to),
                     "l"(&descriptor), "r"(0), "r"(done) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(done) : "memory");
    }
    __syncthreads();
    unsigned ready = 0;
    for (int tries = 0; tries < 100000 && !ready; tries++)
        asm volatile("{ .reg .pred q; mbarrier.try_wait.parity.shared::cta.b64 q, [%1], 0; selp.u32 %0, 1, 0, q; }"
                     : "=r"(ready) : "r"(done) : "memory");
    p[threadIdx.x] = tile[threadIdx.x & 31] + ready;
}
#define LAUNCH { Descriptor bad; memset(&bad, 0xa5, sizeof bad); tma<<<1, 32>>>(bad, d); }
#elif CASE == 21 // a fault in the second kernel of a CUDA graph
__global__ void first_node(unsigned *p, unsigned n) { p[threadIdx.x] = n; }
__global__ void second_node(unsigned *p, unsigned n) { if (threadIdx.x == 11) OOB[p[threadIdx.x]] = n; p[threadIdx.x] += n; }
static void graph(unsigned *d) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    first_node<<<1, 32, 0, stream>>>(d, 7);
    second_node<<<1, 32, 0, stream>>>(d, 8);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, stream);
}
#define LAUNCH graph(d)
#elif CASE == 22 // one kernel that takes whatever value is stored: for a patched instruction (patch-cubin.py)
__global__ void patched(unsigned *p, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = n;
    __syncthreads();
    p[i + 64] = p[i ^ 1] * 3;
}
#define LAUNCH patched<<<2, 32>>>(d, 7)
#elif CASE == 20 // no fault: for the live sessions
__device__ __noinline__ unsigned mix(unsigned a, unsigned b) { unsigned t = a * 2654435761u; t ^= b; return t; }
__global__ void work(unsigned *p, unsigned n) {
    __shared__ unsigned s[64];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = mix(i, n);
    __syncthreads();
    unsigned acc = 0;
    for (int k = 0; k < 4; k++) acc += s[(threadIdx.x + k) & 63];
    p[i] = acc;
}
__global__ void second(unsigned *p, unsigned n) { p[threadIdx.x] += n; }
#define LAUNCH work<<<4, 64>>>(d, 7); second<<<1, 32>>>(d, 1)
#endif

// SELFSTOP=1: load the driver library, then stop, so that a client can write
// the cudbg* variables before cuInit.  SELFSET="pid revision capabilities":
// set them here instead (no ptrace needed), then stop.
static void put(void *h, const char *n, unsigned v) { unsigned *p = (unsigned *)dlsym(h, n); printf("%s %p\n", n, (void *)p); if (p) *p = v; }
static void selfstop() {
    const char *s = getenv("SELFSET"); unsigned pid, rev, caps; if (!s && !getenv("SELFSTOP")) return;
    void *h = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL); if (!h) { printf("no driver\n"); return; }
    if (s && sscanf(s, "%u %u %u", &pid, &rev, &caps) == 3) {
        put(h, "cudbgApiClientPid", pid); put(h, "cudbgApiClientRevision", rev); put(h, "cudbgSessionId", 0);
        put(h, "cudbgDebuggerCapabilities", caps); put(h, "cudbgIpcFlag", 1);
    }
    fflush(stdout); raise(SIGSTOP);
}

int main() {
    unsigned *d = 0; cudaError_t e;
    selfstop();
    if ((e = cudaMalloc(&d, 1 << 16))) { printf("malloc: %s\n", cudaGetErrorName(e)); return 2; }
    cudaMemset(d, 1, 1 << 16);
#if CASE == 5
    cudaDeviceSetLimit(cudaLimitStackSize, 1024);
#endif
    LAUNCH;
    e = cudaDeviceSynchronize();
    printf("case %d: %s\n", CASE, cudaGetErrorName(e));
    return e ? 1 : 0;
}
