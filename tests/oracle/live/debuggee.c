/* SPDX-License-Identifier: Apache-2.0 */
/* A program that loads a CUDA driver: what live.py has cuda-gdb run. */
#include <dlfcn.h>

int main(void)
{
	void *library = dlopen("./libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	union {
		void *object;
		int (*function)(unsigned);
	} init = { library ? dlsym(library, "cuInit") : 0 };
	return init.object ? init.function(0) : 1;
}
