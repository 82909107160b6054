/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long from a device address to its module and function, among 3,000 functions in 10 modules?
 *
 * The floor is a plain binary search over one sorted table {start, size, number} of the same 3,000
 * functions, in the same run over the same random addresses.
 */
#include "bench.h"

#include <warpscope/cubin.h>

enum {
	N_MODULES = 10,
	N_FUNCTIONS = 300, /* of each module, in a section of its own each */
	CODE_BYTES = 256,
	N_ALL = N_MODULES * N_FUNCTIONS,
	N_QUERIES = 1 << 16,
};

static void put(uint8_t *at, uint64_t value, unsigned n_bytes)
{
	for (unsigned i = 0; i < n_bytes; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t address_of(unsigned cubin, unsigned function)
{
	return 0x7f0000000000 + cubin * 0x1000000ull + function * 2ull * CODE_BYTES;
}

/* A relocated image: null section, symbols, strings, and one code section for each function. */
static struct ws_span image_make(unsigned cubin)
{
	enum { N_SECTIONS = 3 + N_FUNCTIONS, NAME = 16 };
	size_t names_at = 64, symbols_at = names_at + (N_FUNCTIONS + 1) * NAME;
	size_t code_at = symbols_at + 24 * (N_FUNCTIONS + 1);
	size_t headers_at = code_at + (size_t)N_FUNCTIONS * CODE_BYTES;
	size_t size = headers_at + 64 * (size_t)N_SECTIONS;
	uint8_t *image = calloc(1, size);
	if (!image)
		exit(1);
	memcpy(image, "\177ELF\2\1\1\101\10", 9);
	put(image + 16, 2, 2);
	put(image + 18, 190, 2);
	put(image + 40, headers_at, 8);
	put(image + 48, 0x5a04, 4);
	put(image + 58, 64, 2);
	put(image + 60, N_SECTIONS, 2);
	uint8_t *header = image + headers_at + 64; /* .symtab */
	put(header + 4, 2, 4);
	put(header + 24, symbols_at, 8);
	put(header + 32, 24 * (N_FUNCTIONS + 1), 8);
	put(header + 40, 2, 4);
	header += 64; /* .strtab */
	put(header + 4, 3, 4);
	put(header + 24, names_at, 8);
	put(header + 32, symbols_at - names_at, 8);
	for (unsigned i = 0; i < N_FUNCTIONS; i++) {
		uint8_t *symbol = image + symbols_at + 24 * (i + 1);
		header += 64;
		put(header + 4, 1, 4);
		put(header + 8, 6, 8);
		put(header + 16, address_of(cubin, i), 8);
		put(header + 24, code_at + (size_t)i * CODE_BYTES, 8);
		put(header + 32, CODE_BYTES, 8);
		put(header + 44, i + 1, 4);
		snprintf((char *)image + names_at + NAME * (i + 1), NAME, "f%u_%u", cubin, i);
		put(symbol, NAME * (i + 1), 4);
		symbol[4] = 0x12; /* global function */
		symbol[5] = 0x10; /* kernel */
		put(symbol + 6, 3 + i, 2);
		put(symbol + 8, address_of(cubin, i), 8);
		put(symbol + 16, CODE_BYTES, 8);
	}
	return (struct ws_span){ image, size, 0 };
}

static struct {
	uint64_t start, size;
	uint32_t number;
} table[N_ALL];
static uint64_t queries[N_QUERIES];
static uint32_t query_module[N_QUERIES];

static size_t floor_find(uint64_t address)
{
	size_t low = 0, n = N_ALL;
	while (n > 1) {
		size_t half = n / 2;
		low += half * (table[low + half].start <= address);
		n -= half;
	}
	if (address - table[low].start >= table[low].size)
		exit(1);
	return table[low].number;
}

static double run_floor(void)
{
	size_t sum = 0;
	double start = now();
	for (size_t i = 0; i < N_QUERIES; i++)
		sum += floor_find(queries[i]);
	double seconds = now() - start;
	return sum == 0 ? 0 : seconds; /* the sum keeps the loop from being left out */
}

static double run_set(struct ws_cubin_set *set, int hinted)
{
	double start = now();
	for (size_t i = 0; i < N_QUERIES; i++) {
		struct ws_cubin_hint hint = { query_module[i], WS_NONE, WS_NONE };
		struct ws_place place;
		if (ws_cubin_set_find_address(set, queries[i], hinted ? &hint : NULL, &place,
					      NULL) != WS_OK ||
		    !place.function || place.module_index != query_module[i])
			exit(1);
	}
	return now() - start;
}

int main(void)
{
	struct ws_cubin_set *set;
	struct ws_span images[N_MODULES];
	if (ws_cubin_set_create(&set, NULL) != WS_OK)
		return 1;
	for (unsigned m = 0; m < N_MODULES; m++) {
		images[m] = image_make(m);
		struct ws_cubin_entry entry = { m + 1, 0, 0, images[m], { 0 }, 0 };
		if (ws_cubin_set_add(set, &entry, NULL) != WS_OK)
			return 1;
		for (unsigned i = 0; i < N_FUNCTIONS; i++) {
			unsigned f = m * N_FUNCTIONS + i;
			table[f].start = address_of(m, i);
			table[f].size = CODE_BYTES;
			table[f].number = f;
		}
	}
	uint64_t seed = 1;
	for (size_t i = 0; i < N_QUERIES; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		unsigned f = (unsigned)((seed >> 33) % N_ALL);
		query_module[i] = f / N_FUNCTIONS;
		queries[i] = table[f].start + (seed >> 50) % CODE_BYTES;
	}
	struct ws_place place;
	struct ws_cubin_hint hint = { 0, WS_NONE, WS_NONE };
	double t0 = now();
	if (ws_cubin_set_find_address(set, table[5].start, &hint, &place, NULL) != WS_OK)
		return 1;
	double t1 = now(); /* one image opened */
	if (ws_cubin_set_find_address(set, table[N_ALL - 1].start, NULL, &place, NULL) != WS_OK)
		return 1;
	double t2 = now(); /* all opened, index made */
	struct times times;
	double hinted[RUNS];
	run_set(set, 0); /* makes the symbols of every image */
	for (unsigned i = 0; i < RUNS; i++) {
		times.ours[i] = run_set(set, 0);
		hinted[i] = run_set(set, 1);
		times.floor[i] = run_floor();
	}
	printf("%d functions in %d modules: opening one takes %.0f us, indexing all %.0f us\n",
	       N_ALL, N_MODULES, (t1 - t0) * 1e6, (t2 - t1) * 1e6);
	print_ratio("place", &times, 3, 1e9 / N_QUERIES, "ns");
	printf("  %-10s %.1f ns with a hint\n", "", best(hinted) * 1e9 / N_QUERIES);
	ws_cubin_set_destroy(set);
	for (unsigned m = 0; m < N_MODULES; m++)
		free((void *)(uintptr_t)images[m].ptr);
	return 0;
}
