/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events, functions of the host. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The streams that are no handles. */
static struct driver_stream usual = { .magic = MAGIC_STREAM };
static _Thread_local struct driver_stream per_thread = { .magic = MAGIC_STREAM };

struct driver_stream *stream_of(CUstream stream)
{
	if (stream == CU_STREAM_PER_THREAD)
		return &per_thread;
	if (!stream || stream == CU_STREAM_LEGACY)
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
	const struct driver_stream *s = stream_of(stream);
	return s && s->capture;
}

CUresult stream_add(CUstream stream, const struct driver_op *op)
{
	struct driver_stream *s = stream_of(stream);
	if (!s) {
		free(op->host);
		return CUDA_ERROR_INVALID_HANDLE;
	}
	if (s->capture)
		return capture_add(s, op);
	uint64_t number = queue_add(op);
	if (number == 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	s->last = number;
	return CUDA_SUCCESS;
}

void stream_wait(CUstream stream)
{
	queue_wait(stream_of(stream)->last);
}

static CUresult stream_create(CUstream *ret_stream, unsigned flags, int priority)
{
	CUresult result = ret_stream && flags <= 1 ? driver_check() : CUDA_ERROR_INVALID_VALUE;
	struct driver_stream *stream = result == CUDA_SUCCESS ? calloc(1, sizeof *stream) : NULL;
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
	DONE(stream_create(ret_stream, flags, 0));
}

CU_API(cuStreamCreateWithPriority)(CUstream *ret_stream, unsigned flags, int priority)
{
	DONE(stream_create(ret_stream, flags, priority));
}

CU_API(cuStreamDestroy_v2)(CUstream stream)
{
	if (!stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD ||
	    !stream_of(stream))
		DONE(CUDA_ERROR_INVALID_HANDLE);
	if (stream->capture)
		DONE(capture_spoil(stream));
	stream->magic = MAGIC_GONE;
	free(stream->ends);
	free(stream); /* what it does is in the queue, and is done */
	DONE(CUDA_SUCCESS);
}

CU_API(cuStreamQuery)(CUstream stream)
{
	CUresult result = stream_check(stream);
	if (result == CUDA_SUCCESS && stream_captures(stream))
		result = capture_spoil(stream_of(stream));
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
	if (result == CUDA_SUCCESS && stream_captures(stream))
		result = capture_spoil(stream_of(stream));
	if (result != CUDA_SUCCESS)
		DONE(result);
	stream_wait(stream);
	result = queue_failure();
	DONE(result == CUDA_SUCCESS ? driver_check() : result);
}

CU_API(cuStreamWaitEvent)(CUstream stream, CUevent event, unsigned flags)
{
	(void)flags;
	CUresult result = IS(event, MAGIC_EVENT) ? stream_check(stream) : CUDA_ERROR_INVALID_HANDLE;
	/* else it comes before what the stream does next, in any case */
	if (result == CUDA_SUCCESS && (event->capture != 0 || stream_captures(stream)))
		result = capture_wait(stream_of(stream), event);
	DONE(result);
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

/* ---- functions of the host ---- */

struct callback {
	void (*old)(CUstream stream, CUresult status, void *data);
	CUstream stream;
	void *data;
};

/* Another thread: a function of the host may not call the API, but it may wait for other threads.
 */
static CUresult run_host_function(struct driver_op *op)
{
	struct callback callback;
	memcpy(&callback, op->host, sizeof callback);
	if (callback.old)
		callback.old(callback.stream, CUDA_SUCCESS, callback.data);
	else
		op->call(callback.data);
	return CUDA_SUCCESS;
}

static CUresult make_call(void (*function)(void *), const struct callback *callback,
			  struct driver_op *ret_op)
{
	if (!function && !callback->old)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_op = (struct driver_op){ .run = run_host_function,
				      .type = CU_NODE_HOST,
				      .is_call = true,
				      .call = function,
				      .host = malloc(sizeof *callback),
				      .n_host = sizeof *callback };
	if (!ret_op->host)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(ret_op->host, callback, sizeof *callback);
	return CUDA_SUCCESS;
}

CUresult call_op(void (*function)(void *), void *data, struct driver_op *ret_op)
{
	const struct callback callback = { .data = data };
	return make_call(function, &callback, ret_op);
}

static CUresult call_host_function(CUstream stream, void (*function)(void *),
				   const struct callback *callback)
{
	struct driver_op op;
	CUresult result = stream_check(stream);
	if (result == CUDA_SUCCESS)
		result = make_call(function, callback, &op);
	return result == CUDA_SUCCESS ? stream_add(stream, &op) : result;
}

CU_API(cuLaunchHostFunc)(CUstream stream, void (*function)(void *), void *data)
{
	const struct callback callback = { .data = data };
	DONE(call_host_function(stream, function, &callback));
}

CU_API(cuStreamAddCallback)
(CUstream stream, void (*function)(CUstream, CUresult, void *), void *data, unsigned flags)
{
	const struct callback callback = { function, stream, data };
	DONE(flags == 0 ? call_host_function(stream, NULL, &callback) : CUDA_ERROR_INVALID_VALUE);
}

/* ---- events ---- */

static double stream_now(void)
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

static CUresult run_record(struct driver_op *op)
{
	atomic_store(&op->event->time, stream_now());
	return CUDA_SUCCESS;
}

CUresult record_op(CUevent event, struct driver_op *ret_op)
{
	*ret_op = (struct driver_op){ .run = run_record,
				      .type = CU_NODE_EVENT_RECORD,
				      .event = event };
	return IS(event, MAGIC_EVENT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult run_nothing(struct driver_op *op)
{
	(void)op; /* the queue frees what it has */
	return CUDA_SUCCESS;
}

CU_API(cuEventDestroy_v2)(CUevent event)
{
	if (!IS(event, MAGIC_EVENT))
		DONE(CUDA_ERROR_INVALID_HANDLE);
	capture_forget(event);
	event->magic = MAGIC_GONE;
	const struct driver_op op = { .run = run_nothing,
				      .host = event }; /* behind what records it */
	DONE(queue_add(&op) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CU_API(cuEventRecord)(CUevent event, CUstream stream)
{
	CUresult result = stream_check(stream);
	struct driver_op op;
	if (result == CUDA_SUCCESS)
		result = record_op(event, &op);
	if (result == CUDA_SUCCESS && stream_captures(stream))
		DONE(capture_record(stream_of(stream), event));
	if (result != CUDA_SUCCESS)
		DONE(result);
	capture_forget(event);
	result = stream_add(stream, &op);
	if (result == CUDA_SUCCESS)
		event->op = stream_of(stream)->last;
	DONE(result);
}

CU_API(cuEventRecordWithFlags)(CUevent event, CUstream stream, unsigned flags)
{
	(void)flags;
	DONE_BY(cuEventRecord(event, stream));
}

CU_API(cuEventQuery)(CUevent event)
{
	CUresult result = IS(event, MAGIC_EVENT) ? driver_check() : CUDA_ERROR_INVALID_HANDLE;
	if (result == CUDA_SUCCESS && event->capture != 0)
		result = CUDA_ERROR_CAPTURED_EVENT;
	if (result == CUDA_SUCCESS && !queue_is_done(event->op))
		result = CUDA_ERROR_NOT_READY;
	DONE(result);
}

CU_API(cuEventSynchronize)(CUevent event)
{
	CUresult result = IS(event, MAGIC_EVENT) ? driver_check() : CUDA_ERROR_INVALID_HANDLE;
	if (result == CUDA_SUCCESS && event->capture != 0)
		result = CUDA_ERROR_CAPTURED_EVENT;
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
	DONE_BY(cuEventElapsedTime(ret_ms, start, end));
}
