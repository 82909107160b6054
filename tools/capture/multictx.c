/* SPDX-License-Identifier: Apache-2.0 */
/* Two contexts on one device: the first runs a kernel that never ends, the
 * second faults.  argv: hanging.cubin faulting.cubin.  With CAPI set, the
 * coredump control functions are exercised first (no environment needed). */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define CK(x)                                                \
	do {                                                 \
		CUresult e_ = (x);                           \
		const char *n_ = "?";                        \
		cuGetErrorName(e_, &n_);                     \
		printf("%-58.58s %d %s\n", #x, (int)e_, n_); \
	} while (0)
static void *slurp(const char *f)
{
	FILE *p = fopen(f, "rb");
	if (!p)
		exit(9);
	fseek(p, 0, SEEK_END);
	long n = ftell(p);
	rewind(p);
	char *b = malloc(n + 1);
	if (fread(b, 1, n, p) != (size_t)n)
		exit(9);
	b[n] = 0;
	fclose(p);
	return b;
}
static void show(int global)
{
	for (int a = 1; a < CU_COREDUMP_MAX; a++) {
		size_t z = 0;
		char b[1200] = { 0 };
		CUresult r = global ? cuCoredumpGetAttributeGlobal(a, NULL, &z)
				    : cuCoredumpGetAttribute(a, NULL, &z);
		size_t want = z;
		if (z > sizeof b)
			z = sizeof b;
		CUresult q = global ? cuCoredumpGetAttributeGlobal(a, b, &z)
				    : cuCoredumpGetAttribute(a, b, &z);
		printf("attr %d global %d: size query %d -> %zu, read %d, value ", a, global,
		       (int)r, want, (int)q);
		if (a == CU_COREDUMP_FILE || a == CU_COREDUMP_PIPE)
			printf("\"%s\"\n", b);
		else
			printf("%02x%02x%02x%02x\n", (unsigned char)b[0], (unsigned char)b[1],
			       (unsigned char)b[2], (unsigned char)b[3]);
	}
}
static CUfunction get(const char *cubin, CUmodule *m)
{
	CUfunction f = 0;
	unsigned n = 0;
	CK(cuModuleLoadData(m, slurp(cubin)));
	CK(cuModuleGetFunctionCount(&n, *m));
	CUfunction fs[8];
	if (n > 8)
		n = 8;
	CK(cuModuleEnumerateFunctions(fs, n, *m));
	for (unsigned i = 0; i < n; i++) {
		const char *s = "?";
		cuFuncGetName(&s, fs[i]);
		printf("  function %s\n", s);
		if (!f)
			f = fs[i];
	}
	return f;
}
int main(int c, char **v)
{
	CUdevice d;
	CUcontext a, b;
	CUmodule ma, mb;
	CUdeviceptr pa, pb;
	unsigned n = 7;
	setvbuf(stdout, 0, _IOLBF, 0);
	if (c < 3)
		return 9;
	CK(cuInit(0));
	if (getenv("CAPI")) {
		_Bool on = 1;
		size_t z = sizeof on;
		int fl = CU_COREDUMP_SKIP_CONSTBANK_MEMORY | CU_COREDUMP_SKIP_ABORT;
		size_t zf = sizeof fl;
		show(1);
		const char *f = getenv("CAPI");
		size_t zn = strlen(f) + 1;
		CK(cuCoredumpSetAttributeGlobal(CU_COREDUMP_FILE, (void *)f, &zn));
		CK(cuCoredumpSetAttributeGlobal(CU_COREDUMP_GENERATION_FLAGS, &fl, &zf));
		CK(cuCoredumpSetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &on, &z));
		show(1);
	}
	CK(cuDeviceGet(&d, 0));
	CK(cuCtxCreate(&a, NULL, 0, d));
	CUfunction fa = get(v[1], &ma);
	CK(cuMemAlloc(&pa, 65536));
	if (getenv("CAPI"))
		show(0);
	void *ra[] = { &pa, &n }, *rb[] = { &pb, &n };
	if (!getenv("CAPI"))
		CK(cuLaunchKernel(fa, 2, 1, 1, 64, 1, 1, 0, 0, ra, 0));
	CK(cuCtxCreate(&b, NULL, 0, d));
	CUfunction fb = get(v[2], &mb);
	CK(cuMemAlloc(&pb, 65536));
	CK(cuLaunchKernel(fb, 3, 1, 1, 64, 1, 1, 0, 0, rb, 0));
	CK(cuCtxSynchronize());
	fflush(stdout);
	_Exit(0);
}
