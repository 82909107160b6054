/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void job_fail(struct job *j, const char *format, ...)
{
	if (j->failed)
		return;
	j->failed = true;
	va_list args;
	va_start(args, format);
	vsnprintf(j->why, sizeof j->why, format, args);
	va_end(args);
}

uint32_t job_random(struct job *j)
{
	j->random += UINT64_C(0x9e3779b97f4a7c15);
	uint64_t z = j->random;
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(z >> 32);
}

void *job_buffer(struct job *j, size_t bytes)
{
	struct job_buffer *buffer = &j->buffer[j->n_buffers];
	struct ws_error err = { 0 };
	assert(j->n_buffers < JOB_BUFFERS);
	buffer->host = calloc(1, bytes);
	assert(buffer->host);
	buffer->bytes = bytes;
	j->n_buffers++;
	if (ws_sim_alloc(j->sim, bytes, &buffer->device, &err) != WS_OK)
		job_fail(j, "alloc: %s", err.message);
	return buffer->host;
}

void job_drop(struct job *j, size_t n)
{
	struct ws_error err = { 0 };
	while (j->n_buffers > n) {
		struct job_buffer *buffer = &j->buffer[--j->n_buffers];
		free(buffer->host);
		if (ws_sim_free(j->sim, buffer->device, &err) != WS_OK)
			job_fail(j, "free: %s", err.message);
	}
}

uint32_t *job_words(struct job *j, size_t n)
{
	uint32_t *words = job_buffer(j, n * 4);
	for (size_t i = 0; i < n; i++)
		words[i] = job_random(j);
	return words;
}

uint64_t *job_wide(struct job *j, size_t n)
{
	uint64_t *words = job_buffer(j, n * 8);
	for (size_t i = 0; i < n; i++)
		words[i] = (uint64_t)job_random(j) << 32 | job_random(j);
	return words;
}

float *job_floats(struct job *j, size_t n)
{
	static const float special[] = { 0.0f, -0.0f,  INFINITY, -INFINITY,
					 NAN,  1e-40f, -1e-45f,  3.4e38f,
					 1.0f, -1.0f,  0.5f,     1.17549435e-38f };
	float *numbers = job_buffer(j, n * 4);
	for (size_t i = 0; i < n; i++) {
		uint32_t bits = job_random(j), kind = job_random(j) % 16;
		if (kind == 0)
			numbers[i] = special[bits % (sizeof special / sizeof *special)];
		else if (kind < 4)
			memcpy(&numbers[i], &bits, 4);
		else
			numbers[i] = ldexpf((float)(int32_t)bits, (int)(job_random(j) % 48) - 48);
	}
	return numbers;
}

double *job_doubles(struct job *j, size_t n)
{
	static const double special[] = { 0.0,    -0.0,    INFINITY, -INFINITY, NAN,
					  1e-310, 1.7e308, 1.0,      -1.0 };
	double *numbers = job_buffer(j, n * 8);
	for (size_t i = 0; i < n; i++) {
		uint64_t bits = (uint64_t)job_random(j) << 32 | job_random(j);
		uint32_t kind = job_random(j) % 16;
		if (kind == 0)
			numbers[i] = special[bits % (sizeof special / sizeof *special)];
		else if (kind < 4)
			memcpy(&numbers[i], &bits, 8);
		else
			numbers[i] = ldexp((double)(int64_t)bits, (int)(job_random(j) % 80) - 90);
	}
	return numbers;
}

float *job_plain_floats(struct job *j, size_t n)
{
	float *numbers = job_buffer(j, n * 4);
	for (size_t i = 0; i < n; i++)
		numbers[i] = ldexpf((float)((int32_t)job_random(j) >> 8), -21);
	return numbers;
}

/* ---- launches ---- */

static bool copy_buffers(struct job *j, bool to_device)
{
	struct ws_error err = { 0 };
	for (size_t i = 0; i < j->n_buffers; i++) {
		struct job_buffer *b = &j->buffer[i];
		enum ws_status status =
			to_device ? ws_sim_write(j->sim, b->device, b->host, b->bytes, &err)
				  : ws_sim_read(j->sim, b->device, b->host, b->bytes, &err);
		if (status != WS_OK)
			job_fail(j, "copy: %s", err.message);
	}
	return !j->failed;
}

uint64_t job_device(struct job *j, const void *host)
{
	for (size_t i = 0; i < j->n_buffers; i++)
		if (j->buffer[i].host == host)
			return j->buffer[i].device;
	job_fail(j, "argument is no buffer");
	return 0;
}

static enum ws_sim_outcome launch(struct job *j, struct ws_sim_launch *what, const char *types,
				  va_list list)
{
	uint64_t value[JOB_ARGS] = { 0 };
	const void *args[JOB_ARGS];
	size_t n = strlen(types);
	enum ws_sim_outcome outcome = WS_SIM_DONE;
	struct ws_error err = { 0 };
	assert(n <= JOB_ARGS);
	for (size_t i = 0; i < n; i++) {
		args[i] = &value[i];
		if (types[i] == 'p')
			value[i] = job_device(j, va_arg(list, const void *));
		else if (types[i] == 'i')
			value[i] = va_arg(list, uint32_t);
		else
			args[i] = va_arg(list, const void *);
	}
	what->size = sizeof *what;
	what->module = j->module;
	what->args = args;
	what->n_args = n;
	if (j->failed || !copy_buffers(j, true))
		return outcome;
	if (ws_sim_launch(j->sim, what, &err) != WS_OK)
		job_fail(j, "launch: %s", err.message);
	else if (j->rewinds)
		outcome = rewind_run(j);
	else if (ws_sim_run(j->sim, 20 * 1000 * 1000, &outcome, &err) != WS_OK)
		job_fail(j, "run: %s", err.message);
	return outcome;
}

static void add_results(struct job *j)
{
	for (size_t i = 0; i < j->n_buffers; i++)
		for (size_t k = 0; k < j->buffer[i].bytes; k++) {
			j->results ^= ((const uint8_t *)j->buffer[i].host)[k];
			j->results *= UINT64_C(0x100000001b3);
		}
}

/* A launch that must come to its end. */
static void launch_well(struct job *j, struct ws_sim_launch *what, const char *types, va_list list)
{
	static const char *const words[] = { "done", "too many instructions", "stopped", "fault",
					     "stuck" };
	enum ws_sim_outcome outcome = launch(j, what, types, list);
	struct ws_sim_fault fault;
	if (j->failed)
		return;
	if (outcome == WS_SIM_FAULTED && ws_sim_fault(j->sim, &fault))
		job_fail(j, "%s: exception %u at 0x%llx (pc 0x%llx): %.160s", what->kernel,
			 fault.exception, (unsigned long long)fault.error_pc,
			 (unsigned long long)fault.pc, fault.text);
	else if (outcome != WS_SIM_DONE)
		job_fail(j, "%s: %s", what->kernel, words[outcome]);
	else if (copy_buffers(j, false))
		add_results(j);
}

void job_launch(struct job *j, const char *kernel, unsigned blocks, unsigned threads,
		const char *types, ...)
{
	va_list list;
	va_start(list, types);
	launch_well(j,
		    &(struct ws_sim_launch){ .kernel = kernel,
					     .grid = { blocks, 1, 1 },
					     .block = { threads, 1, 1 } },
		    types, list);
	va_end(list);
}

void job_launch_cooperative(struct job *j, const char *kernel, unsigned blocks, unsigned threads,
			    const char *types, ...)
{
	va_list list;
	va_start(list, types);
	launch_well(j,
		    &(struct ws_sim_launch){ .kernel = kernel,
					     .grid = { blocks, 1, 1 },
					     .block = { threads, 1, 1 },
					     .cooperative = true },
		    types, list);
	va_end(list);
}

void job_launch_3d(struct job *j, const char *kernel, struct ws_dim3 grid, struct ws_dim3 block,
		   unsigned shared_bytes, const char *types, ...)
{
	va_list list;
	va_start(list, types);
	launch_well(j,
		    &(struct ws_sim_launch){ .kernel = kernel,
					     .grid = grid,
					     .block = block,
					     .shared_bytes = shared_bytes },
		    types, list);
	va_end(list);
}

void job_launch_clusters(struct job *j, const char *kernel, struct ws_dim3 grid,
			 struct ws_dim3 cluster, struct ws_dim3 preferred, const char *types, ...)
{
	va_list list;
	va_start(list, types);
	launch_well(j,
		    &(struct ws_sim_launch){ .kernel = kernel,
					     .grid = grid,
					     .block = { 1, 1, 1 },
					     .cluster = cluster,
					     .preferred_cluster = preferred },
		    types, list);
	va_end(list);
}

enum ws_sim_outcome job_launch_bad(struct job *j, const char *kernel, unsigned blocks,
				   unsigned threads, const char *types, ...)
{
	va_list list;
	va_start(list, types);
	enum ws_sim_outcome outcome = launch(j,
					     &(struct ws_sim_launch){ .kernel = kernel,
								      .grid = { blocks, 1, 1 },
								      .block = { threads, 1, 1 } },
					     types, list);
	va_end(list);
	return outcome;
}

void job_set(struct job *j, const char *name, const void *bytes, size_t len)
{
	uint64_t address, size;
	struct ws_error err = { 0 };
	if (ws_sim_symbol(j->sim, j->module, name, &address, &size, &err) != WS_OK)
		job_fail(j, "symbol %s: %s", name, err.message);
	else if (size < len)
		job_fail(j, "symbol %s has %llu bytes", name, (unsigned long long)size);
	else if (ws_sim_write(j->sim, address, bytes, len, &err) != WS_OK)
		job_fail(j, "symbol %s: %s", name, err.message);
}

/* ---- comparisons ---- */

void job_same(struct job *j, const uint32_t *got, const uint32_t *want, size_t n)
{
	for (size_t i = 0; i < n && !j->failed; i++)
		if (got[i] != want[i])
			job_fail(j, "word %zu is 0x%x, not 0x%x", i, got[i], want[i]);
}

void job_same_wide(struct job *j, const uint64_t *got, const uint64_t *want, size_t n)
{
	for (size_t i = 0; i < n && !j->failed; i++)
		if (got[i] != want[i])
			job_fail(j, "number %zu is 0x%llx, not 0x%llx", i,
				 (unsigned long long)got[i], (unsigned long long)want[i]);
}

void job_same_floats(struct job *j, const float *got, const float *want, size_t n)
{
	for (size_t i = 0; i < n && !j->failed; i++)
		if (memcmp(&got[i], &want[i], 4) != 0 && !(isnan(got[i]) && isnan(want[i])))
			job_fail(j, "number %zu is %a, not %a", i, (double)got[i], (double)want[i]);
}

void job_same_doubles(struct job *j, const double *got, const double *want, size_t n)
{
	for (size_t i = 0; i < n && !j->failed; i++)
		if (memcmp(&got[i], &want[i], 8) != 0 && !(isnan(got[i]) && isnan(want[i])))
			job_fail(j, "number %zu is %a, not %a", i, got[i], want[i]);
}

void job_near(struct job *j, const float *got, const float *want, size_t n, double relative,
	      double absolute)
{
	for (size_t i = 0; i < n && !j->failed; i++) {
		double x = (double)got[i], y = (double)want[i];
		if (isnan(x) && isnan(y))
			continue;
		if (!(x == y || fabs(x - y) <= relative * fabs(y) + absolute))
			job_fail(j, "number %zu is %a, not %a", i, x, y);
	}
}
