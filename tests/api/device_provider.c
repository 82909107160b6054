/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A provider of the debugger API whose device runs, as a driver is one: a shared library that makes
 * a software GPU with a kernel queued when it is asked for its table.
 *
 *     warpscope debug --api-lib FILE:device_api
 *
 * The environment says what: WARPSCOPE_TEST_IMAGE, WARPSCOPE_TEST_KERNEL, whose arguments are two
 * buffers of DEVICE_WORDS words, WARPSCOPE_TEST_THREADS in one block.
 */
#include <stdlib.h>

#include <warpscope/cudbg.h>

#include "target/device.h"

WS_API CUDBGResult device_api(uint32_t major, uint32_t minor, uint32_t revision, CUDBGAPI *api);

static struct device device;
static CUDBGAPI table;

CUDBGResult device_api(uint32_t major, uint32_t minor, uint32_t revision, CUDBGAPI *api)
{
	const char *image = getenv("WARPSCOPE_TEST_IMAGE"),
		   *kernel = getenv("WARPSCOPE_TEST_KERNEL"),
		   *threads = getenv("WARPSCOPE_TEST_THREADS");
	(void)major;
	(void)minor;
	(void)revision;
	if (!image || !kernel || !threads || table)
		return CUDBG_ERROR_INVALID_ARGS;
	device_open(&device, image, 0);
	const uint64_t args[] = { device.out, device.in };
	device_launch(&device, kernel, 1, (unsigned)atoi(threads), args, 2);
	device_debug(&device);
	if (ws_cudbg_api(device.target, &table, NULL) != WS_OK)
		return CUDBG_ERROR_INTERNAL;
	*api = table;
	return CUDBG_SUCCESS;
}

/* When it is unloaded, or the program ends. */
static void __attribute__((destructor)) end(void)
{
	ws_cudbg_release(table);
	if (device.sim)
		device_close(&device);
}
