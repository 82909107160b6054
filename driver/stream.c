/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events, functions of the host. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The streams that are no handles. */
static struct stream usual = { .magic = MAGIC_STREAM };

static struct stream *stream_of(CUstream stream)
{
	if (!stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD)
		return &usual;
	return IS(stream, MAGIC_STREAM) ? stream : NULL;
}

CUresult stream_check(CUstream stream)
{
	CUresult result = driver_check();
	return result != CUDA_SUCCESS || stream_of(stream) ? result : CUDA_ERROR_INVALID_HANDLE;
}

bool stream_captures(CUstream stream)
{
	(void)stream;
	return false;
}

CUresult stream_add(CUstream stream, const struct op *op)
{
	struct stream *s = stream_of(stream);
	if (!s) {
		free(op->host);
		return CUDA_ERROR_INVALID_HANDLE;
	}
	uint64_t number = queue_add(op);
	if (number == 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	s->last = number;
	return CUDA_SUCCESS;
}

static CUresult create(CUstream *ret_stream, unsigned flags, int priority)
{
	CUresult result = ret_stream && flags <= 1 ? driver_check() : CUDA_ERROR_INVALID_VALUE;
	struct stream *stream = result == CUDA_SUCCESS ? calloc(1, sizeof *stream) : NULL;
	if (result == CUDA_SUCCESS && !stream)
		result = CUDA_ERROR_OUT_OF_MEMORY;
	if (result != CUDA_SUCCESS)
		return result;
	stream->magic = MAGIC_STREAM;
	stream->flags = flags;
	stream->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
	stream->id = atomic_fetch_add(&driver.ids, 1) + 1;
	*ret_stream = stream;
	return CUDA_SUCCESS;
}

CU_API(cuStreamCreate)(CUstream *ret_stream, unsigned flags)
{
	DONE(create(ret_stream, flags, 0));
}

CU_API(cuStreamCreateWithPriority)(CUstream *ret_stream, unsigned flags, int priority)
{
	DONE(create(ret_stream, flags, priority));
}

CU_API(cuStreamDestroy_v2)(CUstream stream)
{
	if (!stream || !stream_of(stream) || stream_of(stream) == &usual)
		DONE(CUDA_ERROR_INVALID_HANDLE);
	stream->magic = MAGIC_GONE;
	free(stream); /* what it does is in the queue, and is done */
	DONE(CUDA_SUCCESS);
}

CU_API(cuStreamQuery)(CUstream stream)
{
	CUresult result = stream_check(stream);
	if (result != CUDA_SUCCESS)
		DONE(result);
	if (!queue_is_done(stream_of(stream)->last))
		DONE(CUDA_ERROR_NOT_READY);
	result = queue_failure();
	DONE(result == CUDA_SUCCESS ? driver_check() : result);
}

CU_API(cuStreamSynchronize)(CUstream stream)
{
	CUresult result = stream_check(stream);
	if (result != CUDA_SUCCESS)
		DONE(result);
	queue_wait(stream_of(stream)->last);
	result = queue_failure();
	DONE(result == CUDA_SUCCESS ? driver_check() : result);
}

CU_API(cuStreamWaitEvent)(CUstream stream, CUevent event, unsigned flags)
{
	(void)flags;
	if (!IS(event, MAGIC_EVENT)) /* it comes before what the stream does next, in any case */
		DONE(CUDA_ERROR_INVALID_HANDLE);
	DONE(stream_check(stream));
}

/* `*ret = value`, of a stream. */
#define OF_STREAM(ret, value)                                                               \
	do {                                                                                \
		CUresult checked = (ret) ? stream_check(stream) : CUDA_ERROR_INVALID_VALUE; \
		if (checked == CUDA_SUCCESS)                                                \
			*(ret) = (value);                                                   \
		DONE(checked);                                                              \
	} while (0)

CU_API(cuStreamGetFlags)(CUstream stream, unsigned *ret_flags)
{
	OF_STREAM(ret_flags, stream_of(stream)->flags);
}

CU_API(cuStreamGetPriority)(CUstream stream, int *ret_priority)
{
	OF_STREAM(ret_priority, stream_of(stream)->priority);
}

CU_API(cuStreamGetCtx)(CUstream stream, CUcontext *ret_context)
{
	OF_STREAM(ret_context, driver_context());
}

CU_API(cuStreamGetId)(CUstream stream, unsigned long long *ret_id)
{
	OF_STREAM(ret_id, stream_of(stream)->id);
}

CU_API(cuStreamGetDevice)(CUstream stream, CUdevice *ret_device)
{
	OF_STREAM(ret_device, 0);
}

CU_API(cuStreamIsCapturing)(CUstream stream, int *ret_status)
{
	OF_STREAM(ret_status, 0);
}

/* ---- functions of the host ---- */

struct callback {
	void (*old)(CUstream stream, CUresult status, void *data);
	CUstream stream;
	void *data;
};

/* Another thread: a function of the host may not call the API, but it may wait for other threads.
 */
static enum cu_result run_call(struct op *op)
{
	struct callback callback;
	memcpy(&callback, op->host, sizeof callback);
	if (callback.old)
		callback.old(callback.stream, CUDA_SUCCESS, callback.data);
	else
		op->call(callback.data);
	return CUDA_SUCCESS;
}

static CUresult call(CUstream stream, void (*function)(void *), const struct callback *callback)
{
	CUresult result = stream_check(stream);
	if (result == CUDA_SUCCESS && !function && !callback->old)
		result = CUDA_ERROR_INVALID_VALUE;
	if (result != CUDA_SUCCESS)
		return result;
	struct op op = {
		.run = run_call, .is_call = true, .call = function, .host = malloc(sizeof *callback)
	};
	if (!op.host)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(op.host, callback, sizeof *callback);
	return stream_add(stream, &op);
}

CU_API(cuLaunchHostFunc)(CUstream stream, void (*function)(void *), void *data)
{
	const struct callback callback = { .data = data };
	DONE(call(stream, function, &callback));
}

CU_API(cuStreamAddCallback)
(CUstream stream, void (*function)(CUstream, CUresult, void *), void *data, unsigned flags)
{
	const struct callback callback = { function, stream, data };
	DONE(flags == 0 ? call(stream, NULL, &callback) : CUDA_ERROR_INVALID_VALUE);
}

/* ---- events ---- */

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

CU_API(cuEventCreate)(CUevent *ret_event, unsigned flags)
{
	CUresult result = ret_event ? driver_check() : CUDA_ERROR_INVALID_VALUE;
	struct event *event = result == CUDA_SUCCESS ? calloc(1, sizeof *event) : NULL;
	if (result == CUDA_SUCCESS && !event)
		result = CUDA_ERROR_OUT_OF_MEMORY;
	if (result == CUDA_SUCCESS) {
		event->magic = MAGIC_EVENT;
		event->flags = flags;
		*ret_event = event;
	}
	DONE(result);
}

static enum cu_result run_record(struct op *op)
{
	atomic_store(&op->event->time, now());
	return CUDA_SUCCESS;
}

static enum cu_result run_nothing(struct op *op)
{
	(void)op; /* the queue frees what it has */
	return CUDA_SUCCESS;
}

CU_API(cuEventDestroy_v2)(CUevent event)
{
	if (!IS(event, MAGIC_EVENT))
		DONE(CUDA_ERROR_INVALID_HANDLE);
	event->magic = MAGIC_GONE;
	const struct op op = { .run = run_nothing, .host = event }; /* behind what records it */
	DONE(queue_add(&op) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CU_API(cuEventRecord)(CUevent event, CUstream stream)
{
	CUresult result = stream_check(stream);
	if (result == CUDA_SUCCESS && !IS(event, MAGIC_EVENT))
		result = CUDA_ERROR_INVALID_HANDLE;
	if (result != CUDA_SUCCESS)
		DONE(result);
	const struct op op = { .run = run_record, .event = event };
	result = stream_add(stream, &op);
	if (result == CUDA_SUCCESS)
		event->op = stream_of(stream)->last;
	DONE(result);
}

CU_API(cuEventRecordWithFlags)(CUevent event, CUstream stream, unsigned flags)
{
	(void)flags;
	return cuEventRecord(event, stream);
}

CU_API(cuEventQuery)(CUevent event)
{
	CUresult result = IS(event, MAGIC_EVENT) ? driver_check() : CUDA_ERROR_INVALID_HANDLE;
	if (result == CUDA_SUCCESS && !queue_is_done(event->op))
		result = CUDA_ERROR_NOT_READY;
	DONE(result);
}

CU_API(cuEventSynchronize)(CUevent event)
{
	CUresult result = IS(event, MAGIC_EVENT) ? driver_check() : CUDA_ERROR_INVALID_HANDLE;
	if (result != CUDA_SUCCESS)
		DONE(result);
	queue_wait(event->op);
	result = queue_failure();
	DONE(result == CUDA_SUCCESS ? driver_check() : result);
}

CU_API(cuEventElapsedTime)(float *ret_ms, CUevent start, CUevent end)
{
	CUresult result = ret_ms ? driver_check() : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS &&
	    (!IS(start, MAGIC_EVENT) || !IS(end, MAGIC_EVENT) || start->op == 0 || end->op == 0 ||
	     (start->flags | end->flags) & CU_EVENT_DISABLE_TIMING))
		result = CUDA_ERROR_INVALID_HANDLE;
	if (result == CUDA_SUCCESS && !(queue_is_done(start->op) && queue_is_done(end->op)))
		result = CUDA_ERROR_NOT_READY;
	if (result == CUDA_SUCCESS)
		*ret_ms = (float)((atomic_load(&end->time) - atomic_load(&start->time)) * 1e3);
	DONE(result);
}

CU_API(cuEventElapsedTime_v2)(float *ret_ms, CUevent start, CUevent end)
{
	return cuEventElapsedTime(ret_ms, start, end);
}
