/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long does an instruction take to decode, and to print?
 *
 * Input: the code of a cubin, repeated to 64 MiB. The floor is a memcpy of the same bytes.
 */
#include "bench.h"

#include <warpscope/cubin.h>
#include <warpscope/sass.h>

enum { TOTAL = 64 << 20, LIMIT = 25 };

/* The code of all functions of a cubin. */
static uint8_t *read_words(const char *path, size_t *ret_len, unsigned *ret_sm)
{
	struct ws_error err = { .status = WS_IO };
	FILE *file = fopen(path, "rb");
	uint8_t *image = malloc(TOTAL), *words = malloc(TOTAL);
	if (!file || !image || !words)
		exit(1);
	struct ws_span span = { image, fread(image, 1, TOTAL, file), 0 };
	fclose(file);
	struct ws_cubin *cubin;
	const struct ws_function *functions;
	size_t n;
	must(ws_cubin_open(span, &cubin, &err), &err);
	must(ws_cubin_functions(cubin, &functions, &n, &err), &err);
	*ret_len = 0;
	for (size_t i = 0; i < n; i++) {
		struct ws_span code;
		if (functions[i].is_inner ||
		    ws_cubin_code(cubin, &functions[i], &code, NULL) != WS_OK)
			continue;
		size_t whole = code.len / WS_SASS_BYTES * WS_SASS_BYTES;
		memcpy(words + *ret_len, code.ptr, whole);
		*ret_len += whole;
	}
	struct ws_cubin_facts facts;
	ws_cubin_facts(cubin, &facts);
	*ret_sm = facts.sm;
	ws_cubin_close(cubin);
	free(image);
	return words;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: bench-sass CUBIN\n");
		return 2;
	}
	size_t len;
	unsigned sm;
	uint8_t *words = read_words(argv[1], &len, &sm), *copy = malloc(TOTAL);
	if (len == 0 || !copy)
		return 1;
	for (size_t at = len; at < TOTAL; at += len)
		memcpy(words + at, words, at + len <= TOTAL ? len : TOTAL - at);
	memset(copy, 1, TOTAL);
	const size_t n = TOTAL / WS_SASS_BYTES;
	struct times t;
	double print[RUNS];
	uint64_t sum = 0;
	for (unsigned run = 0; run < RUNS; run++) {
		double start = now();
		memcpy(copy, words, TOTAL);
		t.floor[run] = now() - start;
		sum += copy[run * 4096];
		start = now();
		for (size_t i = 0; i < n; i++) {
			struct ws_insn insn;
			ws_sass_decode(sm, words + i * WS_SASS_BYTES, &insn);
			sum += insn.operation;
		}
		t.ours[run] = now() - start;
		start = now();
		for (size_t i = 0; i < n / 16; i++) {
			struct ws_insn insn;
			char text[WS_SASS_TEXT_MAX];
			ws_sass_decode(sm, words + i * WS_SASS_BYTES, &insn);
			sum += ws_sass_format(&insn, i * WS_SASS_BYTES, NULL, text, sizeof text);
		}
		print[run] = (now() - start) * 16;
	}
	printf("%zu instructions of sm_%u\n", n, sm);
	print_ratio("decode", &t, LIMIT, 1e9 / (double)n, "ns");
	printf("  %-10s %.1f ns with decoding\n", "print", 1e9 * best(print) / (double)n);
	free(words);
	free(copy);
	return sum == 42;
}
