/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve DUMP FOLDER whole|each: answers a cuda-gdb whose pipes are in FOLDER out of a dump, as the
 * driver of a process that stopped there would. What a dump cannot play is played here: it can be
 * stopped and resumed, and tells what there is in the queue that the debugger reads before it looks
 * at devices. "each": as a driver that does not tell the state of a whole device.
 */
#include <stdio.h>
#include <string.h>

#include <warpscope/core.h>
#include <warpscope/cudbg.h>

static CUDBGAPI dump;

static CUDBGResult nothing_runs(uint32_t dev)
{
	(void)dev;
	return CUDBG_SUCCESS;
}

static CUDBGResult either_queue(CUDBGEventQueueType type, CUDBGEvent *event)
{
	CUDBGResult result = dump->getNextEvent(type, event);
	if (result != CUDBG_ERROR_NO_EVENT_AVAILABLE)
		return result;
	return dump->getNextEvent(type == CUDBG_EVENT_QUEUE_TYPE_SYNC ? CUDBG_EVENT_QUEUE_TYPE_ASYNC
								      : CUDBG_EVENT_QUEUE_TYPE_SYNC,
				  event);
}

int main(int argc, char **argv)
{
	struct ws_target *target;
	struct ws_error err;
	if (argc != 4 || ws_core_open(argv[1], NULL, &target, &err) != WS_OK ||
	    ws_cudbg_api(target, &dump, &err) != WS_OK)
		return 2;
	ws_cudbg_ask(dump, 12, 4); /* a changed table is not known to be ours */
	struct CUDBGAPI_st table = *dump;
	table.suspendDevice = nothing_runs;
	table.resumeDevice = nothing_runs;
	table.getNextEvent = either_queue;
	/* it would stop threads that the dump names */
	table.setNotifyNewEventCallback = NULL;
	table.setNotifyNewEventCallback31 = NULL;
	if (strcmp(argv[3], "each") == 0)
		table.getDeviceInfoSizes = NULL;
	const struct ws_provider provider = { .api = &table, .major = UINT32_MAX };
	const struct ws_rpc_client client = { .folder = argv[2], .stop = -1, .program = -1 };
	enum ws_status st = ws_cudbg_serve_rpc(&provider, &client, &err);
	if (st != WS_OK)
		fprintf(stderr, "%s: %s\n", ws_status_name(st), err.message);
	ws_cudbg_release(dump);
	ws_target_close(target);
	return st != WS_OK;
}
