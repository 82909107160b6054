/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>

static void must(enum ws_status st, const struct ws_error *err)
{
	if (st == WS_OK)
		return;
	fprintf(stderr, "device: %s\n", err->message);
	abort();
}

static void *read_file(const char *path, size_t *ret_n)
{
	enum { MAX = 1 << 20 };
	FILE *file = fopen(path, "rb");
	void *bytes = malloc(MAX);
	if (!file || !bytes)
		abort();
	*ret_n = fread(bytes, 1, MAX, file);
	fclose(file);
	return bytes;
}

void device_make(struct device *d, const struct ws_sim_options *options, const char *fatbin)
{
	struct ws_error err;
	size_t n;
	void *bytes = read_file(fatbin, &n);
	*d = (struct device){ .sim = NULL };
	must(ws_sim_create(options, &d->sim, &err), &err);
	must(ws_sim_load(d->sim, (struct ws_span){ bytes, n, 0 }, &d->module, &err), &err);
	free(bytes);
	must(ws_sim_alloc(d->sim, DEVICE_WORDS * sizeof(uint32_t), &d->out, &err), &err);
	must(ws_sim_alloc(d->sim, DEVICE_WORDS * sizeof(uint32_t), &d->in, &err), &err);
}

void device_open(struct device *d, const char *fatbin, uint32_t n_sms)
{
	const struct ws_sim_options options = { .size = sizeof options, .n_sms = n_sms };
	device_make(d, &options, fatbin);
}

void device_launch(struct device *d, const char *kernel, unsigned blocks, unsigned threads,
		   const uint64_t *args, size_t n_args)
{
	enum { MAX_ARGS = 8 };
	const void *pointers[MAX_ARGS];
	struct ws_error err;
	for (size_t i = 0; i < n_args; i++)
		pointers[i] = &args[i];
	const struct ws_sim_launch launch = {
		.size = sizeof launch,
		.module = d->module,
		.kernel = kernel,
		.grid = { blocks, 1, 1 },
		.block = { threads, 1, 1 },
		.args = pointers,
		.n_args = n_args,
	};
	must(ws_sim_launch(d->sim, &launch, &err), &err);
}

uint64_t device_launch_later(struct device *d, const char *kernel, unsigned blocks,
			     unsigned threads, const uint64_t *args, size_t n_args)
{
	struct ws_error err;
	uint64_t event;
	bool stands = !ws_target_running(d->target, 0);
	ws_sim_host_begin(d->target, stands);
	device_launch(d, kernel, blocks, threads, args, n_args);
	must(ws_sim_host_end(d->target, stands, &event, &err), &err);
	return event;
}

void device_debug(struct device *d)
{
	struct ws_error err;
	must(ws_sim_target_live(d->sim, &d->target, &err), &err);
}

uint32_t device_word(struct device *d, uint64_t address)
{
	struct ws_error err;
	uint32_t word;
	bool stands = !ws_target_running(d->target, 0);
	ws_sim_host_begin(d->target, stands);
	must(ws_sim_read(d->sim, address, &word, sizeof word, &err), &err);
	must(ws_sim_host_end(d->target, stands, NULL, &err), &err);
	return word;
}

void device_close(struct device *d)
{
	ws_target_close(d->target);
	ws_sim_destroy(d->sim);
	*d = (struct device){ .sim = NULL };
}
