/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that put what they are asked for into a graph instead of doing it. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

struct capture {
	struct capture *next; /* of all */
	uint64_t id;
	struct graph *graph;           /* owned */
	struct driver_stream *begun;   /* where it ends, too */
	struct driver_stream **others; /* owned; those that joined */
	size_t n_others;
	bool is_spoilt;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct capture *captures;
static _Thread_local int thread_mode;

/* ---- under lock ---- */

static struct capture *capture_find(uint64_t id)
{
	struct capture *capture = captures;
	while (capture && capture->id != id)
		capture = capture->next;
	return capture;
}

/* What comes before the next op: only `nodes`, or those besides. */
static CUresult set_ends(CUgraphNode **ends, size_t *n_ends, const CUgraphNode *nodes, size_t n,
			 bool besides)
{
	size_t old = besides ? *n_ends : 0;
	CUgraphNode *list = calloc(old + n + 1, sizeof *list);
	if (!list)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (size_t i = 0; i < old; i++)
		list[i] = (*ends)[i];
	size_t n_list = old;
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;
		while (k < n_list && list[k] != nodes[i])
			k++;
		list[k] = nodes[i];
		n_list += k == n_list;
	}
	free(*ends);
	*ends = list;
	*n_ends = n_list;
	return CUDA_SUCCESS;
}

static void leave(struct driver_stream *stream)
{
	free(stream->ends);
	stream->ends = NULL;
	stream->n_ends = 0;
	stream->capture = NULL;
}

static CUresult join_capture(struct capture *capture, struct driver_stream *stream)
{
	void *grown =
		realloc(capture->others, (capture->n_others + 1) * sizeof(struct driver_stream *));
	if (!grown)
		return CUDA_ERROR_OUT_OF_MEMORY;
	capture->others = grown;
	capture->others[capture->n_others++] = stream;
	stream->capture = capture;
	return CUDA_SUCCESS;
}

/* Whether the stream where it began comes after all that was captured. */
static bool is_joined(const struct capture *capture)
{
	for (size_t i = 0; i < capture->graph->n; i++) {
		const struct node *node = capture->graph->nodes[i];
		bool ends = false;
		for (size_t k = 0; k < capture->begun->n_ends && !ends; k++)
			ends = capture->begun->ends[k] == node;
		if (!ends && node_is_last(node))
			return false;
	}
	return true;
}

static void end(struct capture *capture)
{
	for (struct capture **at = &captures; *at; at = &(*at)->next)
		if (*at == capture) {
			*at = capture->next;
			break;
		}
	for (size_t i = 0; i < capture->n_others; i++)
		leave(capture->others[i]);
	leave(capture->begun);
	free(capture->others);
	free(capture);
}

/* ---- what streams do ---- */

CUresult capture_add(struct driver_stream *stream, const struct driver_op *op)
{
	CUgraphNode node;
	pthread_mutex_lock(&lock);
	struct capture *capture = stream->capture;
	CUresult result = capture->is_spoilt ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
	if (result == CUDA_SUCCESS) {
		result = graph_add(capture->graph, &node, stream->ends, stream->n_ends, op);
		if (result == CUDA_SUCCESS)
			result = set_ends(&stream->ends, &stream->n_ends, &node, 1, false);
	} else {
		free(op->host);
	}
	pthread_mutex_unlock(&lock);
	return result;
}

CUresult capture_record(struct driver_stream *stream, struct event *event)
{
	pthread_mutex_lock(&lock);
	event->capture = stream->capture->id;
	CUresult result =
		set_ends(&event->ends, &event->n_ends, stream->ends, stream->n_ends, false);
	pthread_mutex_unlock(&lock);
	return result;
}

CUresult capture_wait(struct driver_stream *stream, const struct event *event)
{
	pthread_mutex_lock(&lock);
	struct capture *capture = capture_find(event->capture);
	CUresult result = CUDA_SUCCESS;
	if (!capture)
		result = stream->capture ? CUDA_ERROR_STREAM_CAPTURE_ISOLATION
					 : CUDA_SUCCESS; /* what it was recorded in is over */
	else if (!stream->capture)
		result = join_capture(capture, stream);
	else if (stream->capture != capture)
		result = CUDA_ERROR_STREAM_CAPTURE_MERGE;
	if (result == CUDA_SUCCESS && capture)
		result = set_ends(&stream->ends, &stream->n_ends, event->ends, event->n_ends, true);
	if (result != CUDA_SUCCESS && stream->capture)
		stream->capture->is_spoilt = true;
	pthread_mutex_unlock(&lock);
	return result;
}

void capture_forget(struct event *event)
{
	free(event->ends);
	event->ends = NULL;
	event->n_ends = 0;
	event->capture = 0;
}

CUresult capture_spoil(struct driver_stream *stream)
{
	pthread_mutex_lock(&lock);
	stream->capture->is_spoilt = true;
	pthread_mutex_unlock(&lock);
	return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/* ---- the program's calls ---- */

static CUresult capture_begin(CUstream handle, int mode)
{
	CUresult result = mode >= 0 && mode <= 2 ? stream_check(handle) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS && (!handle || handle == CU_STREAM_LEGACY))
		result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (result == CUDA_SUCCESS && stream_captures(handle))
		result = CUDA_ERROR_ILLEGAL_STATE;
	if (result != CUDA_SUCCESS)
		return result;
	struct capture *capture = calloc(1, sizeof *capture);
	struct graph *graph = graph_create();
	if (!capture || !graph) {
		free(capture);
		graph_destroy(graph);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	capture->id = atomic_fetch_add(&driver.ids, 1) + 1;
	capture->graph = graph;
	capture->begun = stream_of(handle);
	pthread_mutex_lock(&lock);
	capture->next = captures;
	captures = capture;
	capture->begun->capture = capture;
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

CU_API(cuStreamBeginCapture_v2)(CUstream stream, int mode)
{
	DONE(capture_begin(stream, mode));
}

CU_API(cuStreamBeginCapture)(CUstream stream)
{
	DONE(capture_begin(stream, 0));
}

CU_API(cuStreamEndCapture)(CUstream handle, CUgraph *ret_graph)
{
	CUresult result = ret_graph ? stream_check(handle) : CUDA_ERROR_INVALID_VALUE;
	if (result != CUDA_SUCCESS)
		DONE(result);
	pthread_mutex_lock(&lock);
	struct driver_stream *stream = stream_of(handle);
	struct capture *capture = stream->capture;
	*ret_graph = NULL;
	if (!capture)
		result = CUDA_ERROR_ILLEGAL_STATE;
	else if (capture->begun != stream)
		result = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	else if (capture->is_spoilt)
		result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	else if (!is_joined(capture))
		result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
	if (result == CUDA_SUCCESS)
		*ret_graph = capture->graph;
	else if (capture)
		graph_destroy(capture->begun == stream ? capture->graph : NULL);
	if (capture && capture->begun == stream)
		end(capture);
	pthread_mutex_unlock(&lock);
	DONE(result);
}

static CUresult tell_capture(CUstream handle, int *ret_status, unsigned long long *ret_id,
			     CUgraph *ret_graph, const CUgraphNode **ret_nodes, size_t *ret_n)
{
	CUresult result = ret_status ? stream_check(handle) : CUDA_ERROR_INVALID_VALUE;
	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&lock);
	const struct driver_stream *stream = stream_of(handle);
	const struct capture *capture = stream->capture;
	*ret_status = !capture             ? CU_CAPTURE_NONE
		      : capture->is_spoilt ? CU_CAPTURE_INVALIDATED
					   : CU_CAPTURE_ACTIVE;
	if (*ret_status == CU_CAPTURE_ACTIVE) {
		if (ret_id)
			*ret_id = capture->id;
		if (ret_graph)
			*ret_graph = capture->graph;
		if (ret_nodes)
			*ret_nodes = stream->ends;
		if (ret_n)
			*ret_n = stream->n_ends;
	}
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

CU_API(cuStreamIsCapturing)(CUstream stream, int *ret_status)
{
	DONE(tell_capture(stream, ret_status, NULL, NULL, NULL, NULL));
}

CU_API(cuStreamGetCaptureInfo)(CUstream stream, int *ret_status, unsigned long long *ret_id)
{
	DONE(tell_capture(stream, ret_status, ret_id, NULL, NULL, NULL));
}

CU_API(cuStreamGetCaptureInfo_v2)
(CUstream stream, int *ret_status, unsigned long long *ret_id, CUgraph *ret_graph,
 const CUgraphNode **ret_nodes, size_t *ret_n)
{
	DONE(tell_capture(stream, ret_status, ret_id, ret_graph, ret_nodes, ret_n));
}

CU_API(cuStreamGetCaptureInfo_v3)
(CUstream stream, int *ret_status, unsigned long long *ret_id, CUgraph *ret_graph,
 const CUgraphNode **ret_nodes, const CUgraphEdgeData **ret_edges, size_t *ret_n)
{
	if (ret_edges)
		*ret_edges = NULL; /* all are usual ones */
	DONE(tell_capture(stream, ret_status, ret_id, ret_graph, ret_nodes, ret_n));
}

static CUresult update_capture(CUstream handle, const CUgraphNode *nodes, size_t n, unsigned flags)
{
	CUresult result =
		flags <= 1 && (n == 0 || nodes) ? stream_check(handle) : CUDA_ERROR_INVALID_VALUE;
	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&lock);
	struct driver_stream *stream = stream_of(handle);
	if (!stream->capture)
		result = CUDA_ERROR_ILLEGAL_STATE;
	for (size_t i = 0; i < n && result == CUDA_SUCCESS; i++)
		if (!IS(nodes[i], MAGIC_NODE) || nodes[i]->graph != stream->capture->graph)
			result = CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS) /* 1: instead of what there is */
		result = set_ends(&stream->ends, &stream->n_ends, nodes, n, flags == 0);
	pthread_mutex_unlock(&lock);
	return result;
}

CU_API(cuStreamUpdateCaptureDependencies)
(CUstream stream, CUgraphNode *nodes, size_t n, unsigned flags)
{
	DONE(update_capture(stream, nodes, n, flags));
}

CU_API(cuStreamUpdateCaptureDependencies_v2)
(CUstream stream, CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t n, unsigned flags)
{
	DONE(edges ? CUDA_ERROR_NOT_SUPPORTED : update_capture(stream, nodes, n, flags));
}

/* Whether calls that wait are refused while something captures: they are not, here. */
CU_API(cuThreadExchangeStreamCaptureMode)(int *mode)
{
	if (!mode || *mode < 0 || *mode > 2)
		DONE(CUDA_ERROR_INVALID_VALUE);
	int old = thread_mode;
	thread_mode = *mode;
	*mode = old;
	DONE(CUDA_SUCCESS);
}
