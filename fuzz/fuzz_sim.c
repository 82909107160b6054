/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The software GPU on any code and any image. The first byte chooses the device, and whether what
 * follows the second is a whole image or instructions of a kernel; the second chooses the schedule
 * and the block. With bit 6 of the first byte, twelve bytes more say how each kernel is launched,
 * whatever that is. With bit 6 of the second byte code is loaded when it is needed, with bit 5 bad
 * accesses surface late. Beyond not crashing: a run ends, after as many instructions as it was
 * given at most, and twice the same gives the same; so does, with bit 7 of the second byte, a
 * device that checks.
 */
#include "fuzz.h"

#include <warpscope/assemble.h>
#include <warpscope/cubin.h>
#include <warpscope/sass.h>
#include <warpscope/sim.h>

enum { MAX_WORDS = 64, LIMIT = 4000, BUFFER = 4096, LAUNCH = 12 };
enum { LATE = 0x20, LAZY = 0x40, CHECK = 0x80 }; /* bits of the second byte */

static const uint8_t *asked; /* bytes of a launch, or NULL */

/* What a run leaves behind. */
struct trace {
	enum ws_sim_outcome outcome;
	bool failed; /* for want of memory, of which a device that checks needs more */
	uint64_t instructions;
	struct ws_sim_fault fault;
	uint8_t bytes[BUFFER];
};

/* A cubin with one kernel, `k`, of these instructions. */
static uint8_t *make_image(const char *arch, const uint8_t *words, size_t n, size_t *ret_len)
{
	static const char head[] = ".kernel k\n.regs 40\n.param p 8\n";
	static const char insn[] = "\tNOP\n", tail[] = ".end\n";
	char text[sizeof head + sizeof tail + MAX_WORDS * (sizeof insn - 1)];
	struct ws_assemble_options options = { .arch = arch };
	struct ws_assembly *assembly;
	struct ws_cubin *cubin;
	const struct ws_function *functions;
	struct ws_span code;
	size_t n_functions, len = sizeof head - 1;
	memcpy(text, head, len);
	for (size_t i = 0; i < n; i++, len += sizeof insn - 1)
		memcpy(text + len, insn, sizeof insn - 1);
	memcpy(text + len, tail, sizeof tail - 1);
	len += sizeof tail - 1;
	if (ws_assemble((struct ws_str){ text, len }, &options, &assembly, NULL) != WS_OK)
		return NULL;
	struct ws_span image = ws_assembly_image(assembly);
	uint8_t *copy = wsi_zalloc(image.len);
	FUZZ_CHECK(copy && ws_cubin_open(image, &cubin, NULL) == WS_OK);
	FUZZ_CHECK(ws_cubin_functions(cubin, &functions, &n_functions, NULL) == WS_OK);
	FUZZ_CHECK(n_functions == 1 && ws_cubin_code(cubin, functions, &code, NULL) == WS_OK);
	memcpy(copy, image.ptr, image.len);
	if (n) /* else the code is nowhere */
		memcpy(copy + (code.ptr - image.ptr), words, n * WS_SASS_BYTES);
	*ret_len = image.len;
	ws_cubin_close(cubin);
	ws_assembly_destroy(assembly);
	return copy;
}

/* 0 to 15, or much more. */
static uint32_t number_of(uint8_t byte)
{
	return byte & 0xf0 ? (uint32_t)byte << (byte >> 4) << 8 : byte;
}

static void ask(struct ws_sim_launch *launch)
{
	if (!asked)
		return;
	launch->grid = (struct ws_dim3){ number_of(asked[0]), asked[1], number_of(asked[2]) };
	launch->block = (struct ws_dim3){ number_of(asked[3]), asked[4], asked[5] };
	launch->cluster = (struct ws_dim3){ asked[6], asked[7] & 3, asked[7] >> 4 };
	launch->preferred_cluster = (struct ws_dim3){ asked[8], asked[9] & 3, asked[9] >> 4 };
	launch->shared_bytes = number_of(asked[10]);
	launch->cooperative = asked[11] & 1;
	launch->module += asked[11] >> 7;
}

/* A function that is not there yet comes when it is asked for, and the image stays one. */
static void check_loading(struct ws_sim *sim, uint32_t module, const char *name, bool lazy)
{
	bool is_loaded;
	struct ws_span image;
	struct ws_cubin *cubin;
	if (ws_sim_function_is_loaded(sim, module, name, &is_loaded, NULL) != WS_OK)
		return;
	FUZZ_CHECK(is_loaded || lazy);
	FUZZ_CHECK(ws_sim_load_function(sim, module, name, NULL) == WS_OK);
	FUZZ_CHECK(ws_sim_function_is_loaded(sim, module, name, &is_loaded, NULL) == WS_OK &&
		   is_loaded);
	FUZZ_CHECK(ws_sim_module_image(sim, module, &image, NULL) == WS_OK);
	FUZZ_CHECK(ws_cubin_open(image, &cubin, NULL) == WS_OK);
	ws_cubin_close(cubin);
}

/* All kernels of the module, one after the other. */
static void launch_all(struct ws_sim *sim, struct ws_span image, uint32_t module, uint8_t how,
		       uint64_t buffer, struct trace *ret)
{
	struct ws_cubin *cubin;
	const struct ws_function *functions;
	size_t n;
	if (ws_cubin_open(image, &cubin, NULL) != WS_OK)
		return;
	if (ws_cubin_functions(cubin, &functions, &n, NULL) != WS_OK)
		n = 0;
	uint8_t value[4096] = { 0 };
	const void *args[8];
	for (size_t i = 0; i < WSI_COUNT(args); i++)
		args[i] = value;
	memcpy(value, &buffer, sizeof buffer);
	for (size_t i = 0; i < n && i < 4; i++) {
		char name[64];
		if (!functions[i].is_kernel || functions[i].symbol.len >= sizeof name)
			continue;
		memcpy(name, functions[i].symbol.ptr, functions[i].symbol.len);
		name[functions[i].symbol.len] = '\0';
		for (size_t k = 0; k < WSI_COUNT(args); k++) {
			struct ws_sim_launch launch = {
				.size = sizeof launch,
				.module = module,
				.kernel = name,
				.grid = { 1u + (how >> 5 & 1), 1, 1 },
				.block = { 1u + 13 * (how >> 2 & 7), 1, 1 },
				.args = args,
				.n_args = k,
			};
			ask(&launch);
			if (ws_sim_launch(sim, &launch, NULL) != WS_OK)
				continue;
			ret->failed |= ws_sim_run(sim, LIMIT, &ret->outcome, NULL) != WS_OK;
			if (ret->failed)
				break;
		}
		check_loading(sim, module, name, how & LAZY);
	}
	ws_cubin_close(cubin);
}

static void run(const char *device, uint8_t how, bool check, struct ws_span image,
		struct trace *ret)
{
	struct ws_sim_options options = {
		.size = sizeof options,
		.device = device,
		.seed = how,
		.schedule = (enum ws_sim_schedule)(how & 3),
		.n_sms = 1,
		.memory_bytes = 8 << 20,
		.heap_bytes = 1 << 16,
		.print_bytes = 1 << 12,
		.lazy = how & LAZY,
		.late = how & LATE ? how >> 2 & 7 : 0,
		.check = check,
	};
	struct ws_sim *sim;
	uint64_t buffer;
	uint32_t module;
	*ret = (struct trace){ .outcome = WS_SIM_DONE };
	FUZZ_CHECK(ws_sim_create(&options, &sim, NULL) == WS_OK);
	FUZZ_CHECK(ws_sim_alloc(sim, BUFFER, &buffer, NULL) == WS_OK);
	if (ws_sim_load(sim, image, &module, NULL) == WS_OK)
		launch_all(sim, image, module, how, buffer, ret);
	ret->instructions = ws_sim_instructions(sim);
	(void)ws_sim_fault(sim, &ret->fault);
	FUZZ_CHECK(ws_sim_read(sim, buffer, ret->bytes, BUFFER, NULL) == WS_OK);
	ws_sim_destroy(sim);
}

static bool is_same(const struct trace *a, const struct trace *b)
{
	return a->instructions == b->instructions && a->outcome == b->outcome &&
	       memcmp(&a->fault, &b->fault, sizeof a->fault) == 0 &&
	       memcmp(a->bytes, b->bytes, BUFFER) == 0;
}

int fuzz_target(const uint8_t *data, size_t size)
{
	static struct trace first, second;
	if (size < 2)
		return 0;
	const char *device = ws_sim_device_name((data[0] & 0xbf) % 7);
	struct ws_span image = { data + 2, size - 2, 0 };
	asked = data[0] & 0x40 && image.len >= LAUNCH ? image.ptr : NULL;
	if (asked) {
		image.ptr += LAUNCH;
		image.len -= LAUNCH;
	}
	uint8_t *made = NULL;
	if (!(data[0] & 0x80)) {
		size_t n = image.len / WS_SASS_BYTES;
		made = make_image(device, image.ptr, n < MAX_WORDS ? n : MAX_WORDS, &image.len);
		image.ptr = made;
		if (!made)
			return 0;
	}
	run(device, data[1], false, image, &first);
	run(device, data[1], data[1] & CHECK, image, &second);
	if (!(data[1] & CHECK) || (!first.failed && !second.failed))
		FUZZ_CHECK(is_same(&first, &second));
	wsi_free(made);
	return 0;
}
