/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events. */
#include "runtime.h"

RT_API(cudaStreamCreate)(CUstream *ret_stream)
{
	RT_CALL(cuStreamCreate(ret_stream, 0));
}

RT_API(cudaStreamCreateWithFlags)(CUstream *ret_stream, unsigned flags)
{
	RT_CALL(cuStreamCreate(ret_stream, flags));
}

RT_API(cudaStreamCreateWithPriority)(CUstream *ret_stream, unsigned flags, int priority)
{
	RT_CALL(cuStreamCreateWithPriority(ret_stream, flags, priority));
}

RT_API(cudaStreamDestroy)(CUstream stream)
{
	RT_CALL(cuStreamDestroy_v2(stream));
}

RT_API(cudaStreamSynchronize)(CUstream stream)
{
	RT_CALL(cuStreamSynchronize(stream));
}

RT_API(cudaStreamQuery)(CUstream stream)
{
	RT_CALL(cuStreamQuery(stream));
}

RT_API(cudaStreamWaitEvent)(CUstream stream, CUevent event, unsigned flags)
{
	RT_CALL(cuStreamWaitEvent(stream, event, flags));
}

RT_API(cudaStreamGetFlags)(CUstream stream, unsigned *ret_flags)
{
	RT_CALL(cuStreamGetFlags(stream, ret_flags));
}

RT_API(cudaStreamGetPriority)(CUstream stream, int *ret_priority)
{
	RT_CALL(cuStreamGetPriority(stream, ret_priority));
}

RT_API(cudaStreamGetId)(CUstream stream, unsigned long long *ret_id)
{
	RT_CALL(cuStreamGetId(stream, ret_id));
}

RT_API(cudaStreamIsCapturing)(CUstream stream, int *ret_status)
{
	RT_CALL(cuStreamIsCapturing(stream, ret_status));
}

RT_API(cudaStreamAddCallback)
(CUstream stream, void (*function)(CUstream, CUresult, void *), void *data, unsigned flags)
{
	RT_CALL(cuStreamAddCallback(stream, function, data, flags));
}

RT_API(cudaLaunchHostFunc)(CUstream stream, void (*function)(void *), void *data)
{
	RT_CALL(cuLaunchHostFunc(stream, function, data));
}

RT_API(cudaEventCreate)(CUevent *ret_event)
{
	RT_CALL(cuEventCreate(ret_event, 0));
}

RT_API(cudaEventCreateWithFlags)(CUevent *ret_event, unsigned flags)
{
	RT_CALL(cuEventCreate(ret_event, flags));
}

RT_API(cudaEventDestroy)(CUevent event)
{
	RT_CALL(cuEventDestroy_v2(event));
}

RT_API(cudaEventRecord)(CUevent event, CUstream stream)
{
	RT_CALL(cuEventRecord(event, stream));
}

RT_API(cudaEventRecordWithFlags)(CUevent event, CUstream stream, unsigned flags)
{
	RT_CALL(cuEventRecordWithFlags(event, stream, flags));
}

RT_API(cudaEventQuery)(CUevent event)
{
	RT_CALL(cuEventQuery(event));
}

RT_API(cudaEventSynchronize)(CUevent event)
{
	RT_CALL(cuEventSynchronize(event));
}

RT_API(cudaEventElapsedTime)(float *ret_ms, CUevent start, CUevent end)
{
	RT_CALL(cuEventElapsedTime(ret_ms, start, end));
}
