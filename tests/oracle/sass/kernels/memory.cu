// Loads, stores, atomics and fences: state spaces, widths, cache hints, orders and scopes.

#define LD(ptx, type, c)                                                                            \
	{                                                                                           \
		type r;                                                                             \
		asm volatile(ptx " %0, [%1];" : "=" c(r) : "l"(p) : "memory");                      \
		sum += (unsigned long long)r;                                                       \
	}
#define LD2(ptx, type, c)                                                                           \
	{                                                                                           \
		type r, s;                                                                          \
		asm volatile(ptx " {%0, %1}, [%2];" : "=" c(r), "=" c(s) : "l"(p) : "memory");      \
		sum += (unsigned long long)r * s;                                                   \
	}
#define LD4(ptx, type, c)                                                                           \
	{                                                                                           \
		type r, s, t, u;                                                                    \
		asm volatile(ptx " {%0, %1, %2, %3}, [%4 + 16];"                                    \
			     : "=" c(r), "=" c(s), "=" c(t), "=" c(u)                               \
			     : "l"(p)                                                               \
			     : "memory");                                                           \
		sum += (unsigned long long)r * s + t * u;                                           \
	}
#define ST(ptx, c, v) asm volatile(ptx " [%0 + 8], %1;" ::"l"(p), c(v) : "memory");

__global__ void loads(char *p, unsigned long long *out)
{
	unsigned long long sum = 0;
	LD("ld.global.u8", unsigned short, "h")
	LD("ld.global.s8", short, "h")
	LD("ld.global.u16", unsigned short, "h")
	LD("ld.global.s16", int, "r")
	LD("ld.global.u32", unsigned, "r")
	LD("ld.global.u64", unsigned long long, "l")
	LD2("ld.global.v2.u32", unsigned, "r")
	LD2("ld.global.v2.u64", unsigned long long, "l")
	LD4("ld.global.v4.u32", unsigned, "r")
	LD("ld.global.nc.u32", unsigned, "r")
	LD4("ld.global.nc.v4.u32", unsigned, "r")
	LD("ld.global.ca.u32", unsigned, "r")
	LD("ld.global.cg.u32", unsigned, "r")
	LD("ld.global.cs.u32", unsigned, "r")
	LD("ld.global.lu.u32", unsigned, "r")
	LD("ld.global.cv.u32", unsigned, "r")
	LD("ld.volatile.global.u32", unsigned, "r")
	LD("ld.relaxed.cta.global.u32", unsigned, "r")
	LD("ld.relaxed.gpu.global.u32", unsigned, "r")
	LD("ld.relaxed.sys.global.u64", unsigned long long, "l")
	LD("ld.acquire.cta.global.u32", unsigned, "r")
	LD("ld.acquire.gpu.global.u32", unsigned, "r")
	LD("ld.acquire.sys.global.u32", unsigned, "r")
	LD("ld.u32", unsigned, "r")
	LD("ld.u8", unsigned short, "h")
	LD4("ld.v4.u32", unsigned, "r")
	LD("ld.volatile.u32", unsigned, "r")
	LD("ld.acquire.gpu.u32", unsigned, "r")
	LD("ld.mmio.relaxed.sys.global.u32", unsigned, "r")
	LD("ld.global.L1::evict_last.u32", unsigned, "r")
	LD("ld.global.L1::evict_first.u32", unsigned, "r")
	LD("ld.global.L1::no_allocate.u32", unsigned, "r")
	LD("ld.global.L1::evict_unchanged.u32", unsigned, "r")
	LD("ld.global.L2::64B.u32", unsigned, "r")
	LD("ld.global.L2::128B.u32", unsigned, "r")
#if __CUDA_ARCH__ >= 800
	LD("ld.global.L2::256B.u32", unsigned, "r")
	unsigned long long policy;
	asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 0.5;" : "=l"(policy));
	unsigned r;
	asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(r) : "l"(p), "l"(policy));
	sum += r;
	asm volatile("createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %0;" : "=l"(policy));
	asm volatile("st.global.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(p), "r"(r), "l"(policy));
	asm volatile("createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %0, [%1], %2, %3;"
		     : "=l"(policy)
		     : "l"(p), "r"(r), "r"(r + 7));
	asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(r) : "l"(p), "l"(policy));
	sum += r;
	asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(p));
	asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(p));
	asm volatile("discard.global.L2 [%0], 128;" ::"l"(p));
#endif
#if __CUDA_ARCH__ >= 1000
	LD4("ld.global.v4.u64", unsigned long long, "l")
	asm volatile("st.global.v4.b64 [%0], {%1, %1, %1, %1};" ::"l"(p), "l"(sum));
	asm volatile("st.global.v8.b32 [%0], {%1, %1, %1, %1, %1, %1, %1, %1};" ::"l"(p), "r"((int)sum));
#endif
	asm volatile("prefetch.global.L1 [%0];" ::"l"(p));
	asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
	asm volatile("prefetch.L2 [%0];" ::"l"(p));
	asm volatile("prefetchu.L1 [%0];" ::"l"(p));
	*out = sum;
}

__global__ void stores(char *p, int v, long long w)
{
	ST("st.global.u8", "r", v)
	ST("st.global.u16", "r", v)
	ST("st.global.u32", "r", v)
	ST("st.global.u64", "l", w)
	asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(p), "r"(v));
	ST("st.global.wb.u32", "r", v)
	ST("st.global.cg.u32", "r", v)
	ST("st.global.cs.u32", "r", v)
	ST("st.global.wt.u32", "r", v)
	ST("st.volatile.global.u32", "r", v)
	ST("st.relaxed.cta.global.u32", "r", v)
	ST("st.relaxed.gpu.global.u32", "r", v)
	ST("st.release.gpu.global.u32", "r", v)
	ST("st.release.sys.global.u64", "l", w)
	ST("st.release.cta.u32", "r", v)
	ST("st.u8", "r", v)
	ST("st.u32", "r", v)
	ST("st.u64", "l", w)
	ST("st.mmio.relaxed.sys.global.u32", "r", v)
	ST("st.global.L1::no_allocate.u32", "r", v)
	ST("st.global.L1::evict_last.u32", "r", v)
}

__global__ void fences(int *p)
{
	asm volatile("membar.cta;" ::: "memory");
	*p = 1;
	asm volatile("membar.gl;" ::: "memory");
	*p = 2;
	asm volatile("membar.sys;" ::: "memory");
	*p = 3;
	asm volatile("fence.sc.cta;" ::: "memory");
	*p = 4;
	asm volatile("fence.sc.gpu;" ::: "memory");
	*p = 5;
	asm volatile("fence.sc.sys;" ::: "memory");
	*p = 6;
	asm volatile("fence.acq_rel.gpu;" ::: "memory");
#if __CUDA_ARCH__ >= 900
	asm volatile("fence.acq_rel.cluster;" ::: "memory");
	asm volatile("fence.sc.cluster;" ::: "memory");
	asm volatile("fence.proxy.alias;" ::: "memory");
	asm volatile("fence.proxy.async;" ::: "memory");
	asm volatile("fence.proxy.async.global;" ::: "memory");
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
	asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
	asm volatile("fence.proxy.tensormap::generic.acquire.sys [%0], 128;" ::"l"(p) : "memory");
#endif
}

template <class T> __device__ void atomics(T *p, T v)
{
	v = atomicAdd(p, v);
	atomicAdd(p + 1, v);
	v = atomicExch(p, v);
	v = atomicCAS(p, v, v + 1);
}
template <class T> __device__ void integer_atomics(T *p, T v)
{
	atomics(p, v);
	v = atomicMin(p, v);
	v = atomicMax(p, v);
	v = atomicAnd(p, v);
	v = atomicOr(p, v);
	v = atomicXor(p, v);
	atomicMin(p, v);
	atomicMax(p, v);
	atomicAnd(p, v);
	atomicOr(p, v);
	atomicXor(p, v);
	v = atomicAdd_system(p, v);
	v = atomicAdd_block(p, v);
	*p = v;
}

__global__ void atomic_kernel(int *i, unsigned *u, unsigned long long *l, float *f, double *d, int v)
{
	__shared__ int si[32];
	__shared__ unsigned su[32];
	__shared__ unsigned long long sl[32];
	__shared__ float sf[32];
	__shared__ double sd[32];
	si[threadIdx.x] = v;
	su[threadIdx.x] = v;
	sl[threadIdx.x] = v;
	sf[threadIdx.x] = v;
	sd[threadIdx.x] = v;
	__syncthreads();
	integer_atomics(i, v);
	integer_atomics(u, (unsigned)v);
	integer_atomics(l, (unsigned long long)v);
	integer_atomics(si + v, v);
	integer_atomics(su + v, (unsigned)v);
	integer_atomics(sl + v, (unsigned long long)v);
	*u = atomicInc(u, v) + atomicDec(u, v) + atomicInc(su + v, v) + atomicDec(su + v, v);
	atomicInc(su + 1, 1);
	*f = atomicAdd(f, 1.0f) + atomicExch(f, 2.0f) + atomicAdd(sf + v, 1.0f) + atomicExch(sf, 3.0f);
	atomicAdd(f + 1, 2.0f);
	*d = atomicAdd(d, 1.0) + atomicAdd(sd + v, 1.0);
	atomicAdd(d + 1, 2.0);
	int *generic = v > 3 ? si : i;
	integer_atomics(generic, v);
	float *fg = v > 3 ? sf : f;
	*fg = atomicAdd(fg, 1.5f);
	asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(u), "r"(v));
	asm volatile("atom.global.add.noftz.f16x2 %0, [%1], %2;" : "=r"(v) : "l"(u), "r"(v));
	asm volatile("atom.global.cas.b16 %0, [%1], %2, %3;" : "=h"(*(short *)&v) : "l"(u), "h"((short)v), "h"((short)9));
	asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(v) : "l"(u), "r"(v));
	asm volatile("atom.relaxed.cta.global.max.s64 %0, [%1], %2;" : "=l"(*l) : "l"(u), "l"(*l));
#if __CUDA_ARCH__ >= 900
	asm volatile("red.global.add.noftz.bf16x2 [%0], %1;" ::"l"(u), "r"(v));
	asm volatile("red.global.v4.f32.add [%0], {%1, %1, %1, %1};" ::"l"(u), "f"(*f));
	asm volatile("red.global.v2.f32.add [%0], {%1, %1};" ::"l"(u), "f"(*f));
	asm volatile("red.global.v4.f16x2.add.noftz [%0], {%1, %1, %1, %1};" ::"l"(u), "r"(v));
	asm volatile("atom.global.v4.f32.add {%0, %0, %0, %0}, [%1], {%2, %2, %2, %2};" : "=f"(*f) : "l"(u), "f"(*f));
	asm volatile("{.reg .b128 t, a; mov.b128 a, {%1, %1}; atom.global.exch.b128 t, [%0], a; atom.global.cas.b128 t, [%0], a, t; mov.b128 {%1, _}, t;}" ::"l"(l), "l"(*l));
#endif
}

__constant__ int table[100];
__constant__ unsigned char bytes[100];
__constant__ double4 wide[10];
__global__ void constants(int *out, int i)
{
	out[0] = table[i] + table[3] + bytes[i] + (int)wide[i].x + (int)wide[i].w;
	out[1] = ((signed char *)bytes)[i * 3] + ((short *)table)[i] + ((unsigned short *)table)[i * 5];
	out[2] = table[threadIdx.x] * bytes[threadIdx.x * 7];
	long long *p = (long long *)table;
	out[3] = (int)p[threadIdx.x * 3];
}

__global__ void local_arrays(int *out, int i, int n)
{
	int a[64];
	short b[33];
	char c[17];
	long long d[9];
	int4 e[5];
	for (int k = 0; k < n; k++) {
		a[(k * i) & 63] = k;
		b[k % 33] = (short)k;
		c[k % 17] = (char)k;
		d[k % 9] = k;
		e[k % 5] = make_int4(k, k, k, k);
	}
	out[0] = a[i] + b[i] + c[i] + (int)d[i] + e[i].x + e[i].w + (int)((unsigned char *)c)[i + 1];
}

__global__ void shared_widths(int *out, int i)
{
	__shared__ char bytes[4096];
	extern __shared__ int4 dynamic[];
	bytes[i] = (char)i;
	((short *)bytes)[i] = (short)i;
	((long long *)bytes)[i] = i;
	((int4 *)bytes)[threadIdx.x] = make_int4(i, 1, 2, 3);
	__syncthreads();
	out[0] = bytes[i + 5] + ((unsigned char *)bytes)[i + 9] + ((short *)bytes)[i + 5] + ((unsigned short *)bytes)[threadIdx.x];
	out[1] = (int)((long long *)bytes)[threadIdx.x] + ((int4 *)bytes)[threadIdx.x].z + dynamic[i].y;
	out[2] = ((int *)bytes)[threadIdx.x] + ((volatile int *)bytes)[3];
	out[3] = (int)__isShared(out) + (int)__isLocal(out) + (int)__isGlobal(out) + (int)__isConstant(out);
}
