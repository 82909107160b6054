/* SPDX-License-Identifier: Apache-2.0 */
/* A software GPU that runs kernels of tests/sim under a debugger: what tests of it share. */
#ifndef DEVICE_H
#define DEVICE_H

#include <warpscope/sim_target.h>

enum { DEVICE_WORDS = 1024 };

struct device {
	struct ws_sim *sim;
	struct ws_target *target; /* NULL before device_debug() */
	uint32_t module;
	uint64_t out, in; /* device memory: DEVICE_WORDS words each, all 0 */
};

/* Makes a device with kernels of a fatbin. Aborts when something fails, as all here. */
void device_make(struct device *d, const struct ws_sim_options *options, const char *fatbin);
/* One of sm_90a. */
void device_open(struct device *d, const char *fatbin, uint32_t n_sms);
/* Queues a kernel; each argument is a number of at most 8 bytes. */
void device_launch(struct device *d, const char *kernel, unsigned blocks, unsigned threads,
		   const uint64_t *args, size_t n_args);
/* The same by a host program while a debugger is there; returns what it may wait for. */
uint64_t device_launch_later(struct device *d, const char *kernel, unsigned blocks,
			     unsigned threads, const uint64_t *args, size_t n_args);
/* Brings a debugger to it. */
void device_debug(struct device *d);
/* A word of the device's memory, by the host program while it runs or nothing does. */
uint32_t device_word(struct device *d, uint64_t address);
void device_close(struct device *d);

#endif
