/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The assembler over any text. What it accepts is an image that the module reader opens without
 * damage, and the same text gives the same bytes.
 */
#include "fuzz.h"

#include <warpscope/assemble.h>
#include <warpscope/cubin.h>

static uint32_t n_reports;

static void count(void *user, uint32_t line, uint32_t column, const char *message)
{
	(void)user;
	FUZZ_CHECK(line > 0 && column > 0 && message[0] != '\0');
	n_reports++;
}

int fuzz_target(const uint8_t *data, size_t size)
{
	struct ws_str source = { (const char *)data, size };
	struct ws_assemble_options options = { .report = count };
	struct ws_assembly *assembly = NULL, *again = NULL;
	n_reports = 0;
	enum ws_status st = ws_assemble(source, &options, &assembly, NULL);
	FUZZ_CHECK((st == WS_OK) == (n_reports == 0));
	if (st != WS_OK)
		return 0;
	struct ws_cubin *cubin;
	const struct ws_function *functions;
	size_t n;
	struct ws_span image = ws_assembly_image(assembly);
	FUZZ_CHECK(ws_cubin_open(image, &cubin, NULL) == WS_OK);
	FUZZ_CHECK(ws_cubin_functions(cubin, &functions, &n, NULL) == WS_OK);
	FUZZ_CHECK(!ws_cubin_damage(cubin, NULL));
	ws_cubin_close(cubin);
	FUZZ_CHECK(ws_assemble(source, NULL, &again, NULL) == WS_OK);
	struct ws_span second = ws_assembly_image(again);
	FUZZ_CHECK(second.len == image.len && memcmp(second.ptr, image.ptr, image.len) == 0);
	ws_assembly_destroy(again);
	ws_assembly_destroy(assembly);
	return 0;
}
