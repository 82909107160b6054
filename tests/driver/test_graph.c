/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs, captured streams and managed variables of a program of the runtime API.
 * usage: test_graph FATBIN
 *
 * Kernels: tests/sim/kernels/graph.cu.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rt.h"

static char use_both, plus, times;
static unsigned *both, (*list)[4]; /* where the managed variables are */
static void **image;

static cudaError_t launch(char *kernel, unsigned threads, void **args, cudaStream_t stream)
{
	const dim3 grid = { 1, 1, 1 }, block = { threads, 1, 1 };
	return cudaLaunchKernel(kernel, grid, block, args, 0, stream);
}

/* ---- managed variables ---- */

static void host_and_device_share_variables(void **state)
{
	unsigned by = 2, value = 100;
	void *args[] = { &by };
	struct cudaPointerAttributes about;
	(void)state;
	assert_true(__cudaInitModule(image));
	assert_non_null(both);
	assert_int_equal(*both, 5);
	*both = 6;
	(*list)[3] = 40;
	OK(launch(&use_both, 4, args, NULL));
	OK(cudaDeviceSynchronize());
	assert_int_equal(*both, 6 + 2 * 3);
	assert_int_equal((*list)[3], 43);
	assert_int_equal((*list)[1], 1);
	OK(cudaPointerGetAttributes(&about, both));
	assert_int_equal(about.type, cudaMemoryTypeManaged);
	/* it is a symbol, too: of its own name, and of the variable that the name stands for */
	OK(cudaMemcpyToSymbol(both, &value, 4, 0, cudaMemcpyHostToDevice));
	assert_int_equal(*both, 100);
	OK(cudaMemcpyFromSymbol(&value, &both, 4, 0, cudaMemcpyDeviceToHost));
	assert_int_equal(value, 100);
	assert_int_equal(cudaFree(both), cudaErrorInvalidValue);
	(void)cudaGetLastError();
	*both = 7; /* it is still there */
}

static void a_reset_makes_them_anew(void **state)
{
	unsigned by = 1;
	void *args[] = { &by };
	(void)state;
	unsigned *before = both;
	*both = 50;
	OK(cudaDeviceReset());
	OK(launch(&use_both, 4, args, NULL));
	OK(cudaDeviceSynchronize());
	assert_ptr_equal(both, before); /* what was there is free again */
	assert_int_equal(*both, 5 + 3);
	assert_int_equal((*list)[3], 3);
}

/* Whether a core of this process leaves out the page at an address. */
static bool is_left_out(const void *address)
{
	char line[512];
	bool is_here = false, is_out = false, was_found = false;
	FILE *maps = fopen("/proc/self/smaps", "r");
	assert_non_null(maps);
	while (fgets(line, sizeof line, maps)) {
		unsigned long long start, end;
		if (sscanf(line, "%llx-%llx ", &start, &end) == 2)
			is_here = (uintptr_t)address - start < end - start;
		was_found |= is_here;
		if (is_here && strncmp(line, "VmFlags:", 8) == 0)
			is_out = strstr(line, " dd") != NULL;
	}
	fclose(maps);
	assert_true(was_found);
	return is_out;
}

static void a_core_has_the_variables_but_not_the_room(void **state)
{
	(void)state;
	assert_false(is_left_out(both));
	assert_false(is_left_out(list));
	assert_true(is_left_out((char *)both + (512 << 20)));
}

/* ---- graphs ---- */

static void *words(void)
{
	void *at;
	OK(cudaMalloc(&at, 32 * 4));
	OK(cudaMemset(at, 0, 32 * 4));
	return at;
}

static unsigned last_of(const void *at)
{
	unsigned out[32];
	OK(cudaMemcpy(out, at, sizeof out, cudaMemcpyDeviceToHost));
	return out[31];
}

/* A node that adds to all words, or multiplies them. */
static cudaGraphNode_t add_kernel(cudaGraph_t graph, cudaGraphNode_t before, char *kernel, void *at,
				  unsigned by)
{
	void *args[] = { &at, &by };
	struct cudaKernelNodeParams params = { .func = kernel, .kernelParams = args };
	cudaGraphNode_t node;
	params.gridDim = (dim3){ 1, 1, 1 };
	params.blockDim = (dim3){ 32, 1, 1 };
	OK(cudaGraphAddKernelNode(&node, graph, before ? &before : NULL, before ? 1 : 0, &params));
	return node;
}

static cudaError_t order(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to)
{
#ifdef USE_CUDA_12
	return cudaGraphAddDependencies(graph, &from, &to, 1);
#else
	return cudaGraphAddDependencies(graph, &from, &to, NULL, 1);
#endif
}

static void count(void *data)
{
	++*(unsigned *)data;
}

static void nodes_are_done_in_order(void **state)
{
	void *at = words();
	unsigned calls = 0, out[32] = { 0 };
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaGraphNode_t set, get, call, nodes[8];
	const struct cudaMemsetParams ones = {
		.dst = at, .value = 1, .elementSize = 4, .width = 32, .height = 1
	};
	const struct cudaHostNodeParams counts = { count, &calls };
	struct cudaKernelNodeParams params;
	size_t n = 8;
	enum cudaGraphNodeType type;
	(void)state;
	OK(cudaGraphCreate(&graph, 0));
	cudaGraphNode_t second = add_kernel(graph, NULL, &times, at, 3); /* made first */
	cudaGraphNode_t first = add_kernel(graph, NULL, &plus, at, 5);
	OK(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &ones));
	OK(order(graph, set, first));
	OK(order(graph, first, second));
	OK(cudaGraphAddMemcpyNode1D(&get, graph, &second, 1, out, at, sizeof out,
				    cudaMemcpyDeviceToHost));
	OK(cudaGraphAddHostNode(&call, graph, &get, 1, &counts));
	OK(cudaGraphGetNodes(graph, nodes, &n));
	assert_int_equal(n, 5);
	assert_null(nodes[5]);
	n = 8;
	OK(cudaGraphGetRootNodes(graph, nodes, &n));
	assert_true(n == 1 && nodes[0] == set);
	OK(cudaGraphNodeGetType(call, &type));
	assert_int_equal(type, cudaGraphNodeTypeHost);
	OK(cudaGraphKernelNodeGetParams(first, &params));
	assert_true(params.func == &plus && params.blockDim.x == 32);
	assert_int_equal(*(unsigned *)params.kernelParams[1], 5);

	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphDestroy(graph)); /* it is a copy */
	for (int i = 0; i < 3; i++)
		OK(cudaGraphLaunch(exec, NULL));
	OK(cudaDeviceSynchronize());
	assert_int_equal(out[31], (1 + 5) * 3);
	assert_int_equal(calls, 3);
	OK(cudaGraphExecDestroy(exec));
	OK(cudaFree(at));
}

static void an_executable_graph_changes(void **state)
{
	void *at = words();
	unsigned by = 100;
	void *args[] = { &at, &by };
	struct cudaKernelNodeParams params = { .func = &plus, .kernelParams = args };
	cudaGraphExecUpdateResultInfo info;
	cudaGraph_t graph, other, loose, parent;
	cudaGraphNode_t child;
	cudaGraphExec_t exec;
	(void)state;
	OK(cudaGraphCreate(&graph, 0));
	cudaGraphNode_t first = add_kernel(graph, NULL, &plus, at, 1);
	cudaGraphNode_t second = add_kernel(graph, first, &times, at, 2);
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphLaunch(exec, NULL));
	assert_int_equal(last_of(at), 2);
	params.gridDim = (dim3){ 1, 1, 1 };
	params.blockDim = (dim3){ 32, 1, 1 };
	OK(cudaGraphExecKernelNodeSetParams(exec, first, &params));
	OK(cudaGraphLaunch(exec, NULL));
	assert_int_equal(last_of(at), (2 + 100) * 2);
	OK(cudaGraphNodeSetEnabled(exec, second, 0));
	OK(cudaGraphLaunch(exec, NULL));
	assert_int_equal(last_of(at), 204 + 100);
	OK(cudaGraphNodeSetEnabled(exec, second, 1));

	OK(cudaGraphCreate(&other, 0)); /* of the same form */
	cudaGraphNode_t third = add_kernel(other, NULL, &times, at, 0);
	third = add_kernel(other, third, &plus, at, 7);
	OK(cudaGraphExecUpdate(exec, other, &info));
	assert_int_equal(info.result, 0);
	OK(cudaGraphLaunch(exec, NULL));
	assert_int_equal(last_of(at), 7);
	add_kernel(other, third, &plus, at, 7);
	assert_int_equal(cudaGraphExecUpdate(exec, other, &info), cudaErrorGraphExecUpdateFailure);
	assert_int_equal(info.result, cudaGraphExecUpdateErrorTopologyChanged);
	OK(cudaGraphCreate(&loose, 0)); /* as many nodes, without an edge */
	add_kernel(loose, NULL, &plus, at, 1);
	add_kernel(loose, NULL, &plus, at, 1);
	assert_int_equal(cudaGraphExecUpdate(exec, loose, &info), cudaErrorGraphExecUpdateFailure);
	OK(cudaGraphDestroy(loose));
	OK(cudaGraphExecDestroy(exec));

	OK(cudaGraphCreate(&parent, 0)); /* it has `graph` twice */
	OK(cudaGraphAddChildGraphNode(&child, parent, NULL, 0, graph));
	cudaGraphNode_t fourth = add_kernel(parent, child, &plus, at, 1);
	OK(cudaGraphAddChildGraphNode(&child, parent, &fourth, 1, graph));
	OK(cudaGraphInstantiate(&exec, parent, 0));
	OK(cudaGraphLaunch(exec, NULL));
	assert_int_equal(last_of(at), ((7 + 1) * 2 + 1 + 1) * 2);
	OK(cudaGraphExecDestroy(exec));

	OK(order(graph, second, first));
	assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);
	(void)cudaGetLastError();
	OK(cudaGraphDestroy(graph));
	OK(cudaGraphDestroy(other));
	OK(cudaGraphDestroy(parent));
	OK(cudaFree(at));
}

/* ---- captures ---- */

static void streams_are_captured(void **state)
{
	void *at = words(), *more = words();
	unsigned in[32] = { 0 }, out = 0, by = 3, calls = 0;
	void *args[] = { &at, &by }, *others[] = { &more, &by };
	cudaStream_t stream, side;
	cudaEvent_t forked, joined;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	size_t n = 0;
	enum cudaStreamCaptureStatus status;
	(void)state;
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
	OK(cudaEventCreate(&forked));
	OK(cudaEventCreate(&joined));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaMemcpyAsync(at, in, sizeof in, cudaMemcpyHostToDevice, stream));
	OK(cudaEventRecord(forked, stream));
	OK(cudaStreamWaitEvent(side, forked, 0));
	OK(cudaStreamIsCapturing(side, &status));
	assert_int_equal(status, cudaStreamCaptureStatusActive);
	assert_int_equal(cudaEventQuery(forked), cudaErrorCapturedEvent);
	OK(launch(&plus, 32, others, side));
	OK(cudaEventRecord(joined, side));
	OK(launch(&plus, 32, args, stream));
	OK(launch(&times, 32, args, stream));
	OK(cudaStreamWaitEvent(stream, joined, 0));
	OK(cudaMemcpyAsync(&out, at, 4, cudaMemcpyDeviceToHost, stream));
	OK(cudaLaunchHostFunc(stream, count, &calls));
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaStreamIsCapturing(side, &status));
	assert_int_equal(status, 0);
	OK(cudaGraphGetNodes(graph, NULL, &n));
	assert_int_equal(n, 6);
	assert_int_equal(last_of(more), 0); /* nothing was done */
	OK(cudaGraphInstantiate(&exec, graph, 0));
	in[0] = 7; /* it is read when it is copied */
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	assert_int_equal(out, (7 + 3) * 3);
	assert_int_equal(last_of(more), 6);
	assert_int_equal(calls, 2);
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	OK(cudaEventDestroy(forked));
	OK(cudaEventDestroy(joined));
	OK(cudaStreamDestroy(side));
	OK(cudaStreamDestroy(stream));
	OK(cudaFree(at));
	OK(cudaFree(more));
}

static void bad_captures_are_told(void **state)
{
	void *at = words();
	unsigned by = 1;
	void *args[] = { &at, &by };
	cudaStream_t stream, side;
	cudaEvent_t event;
	cudaGraph_t graph;
	enum cudaStreamCaptureStatus status;
	(void)state;
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
	OK(cudaEventCreate(&event));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	assert_int_equal(cudaFreeAsync(at, stream), cudaErrorStreamCaptureUnsupported);
	OK(cudaStreamIsCapturing(stream, &status));
	assert_int_equal(status, cudaStreamCaptureStatusInvalidated);
	assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	assert_int_equal(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
	assert_int_equal(launch(&plus, 32, args, stream), cudaErrorStreamCaptureInvalidated);
	assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
	assert_null(graph);

	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaEventRecord(event, stream));
	OK(cudaStreamWaitEvent(side, event, 0));
	OK(launch(&plus, 32, args, side)); /* the stream does not wait for this */
	assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);
	OK(launch(&plus, 32, args, side)); /* it is a usual stream again */
	OK(cudaStreamSynchronize(side));
	assert_int_equal(last_of(at), 1);
	(void)cudaGetLastError();
	OK(cudaEventDestroy(event));
	OK(cudaStreamDestroy(side));
	OK(cudaStreamDestroy(stream));
	OK(cudaFree(at));
}

/* A function of the host fills what is copied next. */
static void pinned_memory_is_read_in_its_turn(void **state)
{
	void *at = words(), *host;
	cudaStream_t stream;
	(void)state;
	OK(cudaMallocHost(&host, 4));
	*(unsigned *)host = 1;
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaLaunchHostFunc(stream, count, host));
	OK(cudaMemcpyAsync((unsigned *)at + 31, host, 4, cudaMemcpyHostToDevice, stream));
	OK(cudaStreamSynchronize(stream));
	assert_int_equal(last_of(at), 2);
	OK(cudaStreamDestroy(stream));
	OK(cudaFreeHost(host));
	OK(cudaFree(at));
}

int main(int argc, char **argv)
{
	static const struct kernel_name kernels[] = { { &use_both, "use_both" },
						      { &plus, "plus" },
						      { &times, "times" } };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_and_device_share_variables),
		cmocka_unit_test(a_core_has_the_variables_but_not_the_room),
		cmocka_unit_test(a_reset_makes_them_anew),
		cmocka_unit_test(nodes_are_done_in_order),
		cmocka_unit_test(an_executable_graph_changes),
		cmocka_unit_test(streams_are_captured),
		cmocka_unit_test(bad_captures_are_told),
		cmocka_unit_test(pinned_memory_is_read_in_its_turn),
	};
	if (argc != 2)
		return 2;
	image = register_image(argv[1], kernels, N_OF(kernels));
	__cudaRegisterManagedVar(image, (void **)&both, NULL, "both", 0, 4, 0, 0);
	__cudaRegisterManagedVar(image, (void **)&list, NULL, "list", 0, 16, 0, 0);
	__cudaRegisterFatBinaryEnd(image);
	return cmocka_run_group_tests_name("graphs and managed variables", tests, NULL, NULL);
}
