/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug information: the time and memory until every function can be found, and that of naming the
 * parameters of one. Prints lines "KEY VALUE" for dwarf.py.
 *
 *   bench_dwarf CUBIN
 */
#include "bench.h"

#include <warpscope/cubin.h>
#include <warpscope/image.h>

enum { N_QUESTIONS = 20000, MAX_PARAMS = 16 };

static size_t name_params(const struct ws_dwarf *dwarf, size_t index)
{
	struct ws_dwarf_param params[MAX_PARAMS];
	const struct ws_dwarf_function *function;
	struct ws_error err;
	char text[256];
	size_t n = 0, bytes = 0;
	must(ws_dwarf_find_function(dwarf, ws_dwarf_function_at(dwarf, index)->name, &function,
				    &err),
	     &err);
	must(ws_dwarf_params(dwarf, function, params, MAX_PARAMS, &n, &err), &err);
	for (size_t i = 0; i < n && i < MAX_PARAMS; i++) {
		(void)!ws_dwarf_spell(dwarf, params[i].type, text, sizeof text);
		bytes += strlen(text);
	}
	return bytes;
}

int main(int argc, char **argv)
{
	struct ws_image_file *file;
	struct ws_cubin *cubin;
	const struct ws_dwarf *dwarf;
	struct ws_error err;
	struct ws_span bytes;
	volatile uint64_t sum = 0;
	if (argc != 2) {
		fputs("usage: bench_dwarf CUBIN\n", stderr);
		return 2;
	}
	must(ws_image_file_open(argv[1], &file, &err), &err);
	must(ws_image_file_cubin(file, 0, &cubin, &err), &err);
	must(ws_image_file_bytes(file, 0, &bytes, &err), &err);
	for (size_t i = 0; i < bytes.len; i += 4096) /* pages of the file are no memory of ours */
		sum += bytes.ptr[i];
	double memory = peak_mib(), start = now();
	must(ws_cubin_dwarf(cubin, &dwarf, &err), &err);
	size_t n = ws_dwarf_function_count(dwarf);
	printf("seconds %.6f\nmib %.2f\nfunctions %zu\n", now() - start, peak_mib() - memory, n);
	start = now();
	for (size_t i = 0; n && i < N_QUESTIONS; i++)
		sum += name_params(dwarf, i * 7919 % n);
	printf("microseconds %.3f\n", (now() - start) * 1e6 / N_QUESTIONS);
	ws_image_file_close(file);
	return 0;
}
