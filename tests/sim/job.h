/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel run on the software GPU and its results held against plain C. A case makes buffers,
 * which have a copy on the device, launches one or more kernels of its file and compares.
 */
#ifndef WS_TEST_SIM_JOB_H
#define WS_TEST_SIM_JOB_H

#include <warpscope/sim.h>

#include <string.h>

enum { JOB_BUFFERS = 12, JOB_ARGS = 12 };

struct job {
	struct ws_sim *sim;
	uint32_t module;
	uint64_t random; /* state of the generator: the same numbers in every run of a case */
	struct job_buffer {
		void *host;
		size_t bytes;
		uint64_t device;
	} buffer[JOB_BUFFERS];
	size_t n_buffers;
	bool rewinds;     /* launches go by rewind_run() */
	uint64_t results; /* a hash of what all launches left in the buffers */
	bool failed;
	char why[400]; /* the first failure */
};

enum { JOB_ONLY = 1000 };

struct job_case {
	const char *file, *kernel; /* fatbin and what the case is about */
	void (*run)(struct job *j);
	unsigned min_sm; /* with JOB_ONLY: on this architecture only */
	/* Why its buffers are not the same on all architectures and under every schedule; NULL:
	 * they are, bit for bit, approximations too. */
	const char *varies;
};

/* Each list ends with an entry without a file. */
extern const struct job_case job_child[], job_texture[], job_integer[], job_float[], job_half[],
	job_memory[], job_shared[], job_warp[], job_atomics[], job_diverge[], job_whole[],
	job_tensor[], job_service[], job_async[], job_cluster[], job_grid[], job_bulk[],
	job_group[], job_tcgen[], job_sparse[], job_scaled[], job_cancel[];

/* Runs what was launched in pieces, going back to snapshots: each piece must end as before. */
enum ws_sim_outcome rewind_run(struct job *j);

void job_fail(struct job *j, const char *format, ...) WS_PRINTF(2, 3);

/* Buffers live until the case is over; those of numbers are filled with random ones. */
void *job_buffer(struct job *j, size_t bytes);
uint32_t *job_words(struct job *j, size_t n);
uint64_t *job_wide(struct job *j, size_t n);
/* Of ordinary size, and now and then zero, infinite, not a number, denormal. */
float *job_floats(struct job *j, size_t n);
double *job_doubles(struct job *j, size_t n);
/* Ordinary numbers between -4 and 4 only. */
float *job_plain_floats(struct job *j, size_t n);
uint32_t job_random(struct job *j);
/* Lets go all buffers but the first `n`. */
void job_drop(struct job *j, size_t n);

/* Address of a buffer on the device. */
uint64_t job_device(struct job *j, const void *host);

/*
 * Launches and waits. `types` has a letter for each argument: p a buffer (its host pointer), i
 * uint32_t, s a structure (pointer to it). Buffers are copied to the device before and back after.
 */
void job_launch(struct job *j, const char *kernel, unsigned blocks, unsigned threads,
		const char *types, ...);
void job_launch_3d(struct job *j, const char *kernel, struct ws_dim3 grid, struct ws_dim3 block,
		   unsigned shared_bytes, const char *types, ...);
/* In clusters, and preferably in larger ones. */
void job_launch_clusters(struct job *j, const char *kernel, struct ws_dim3 grid,
			 struct ws_dim3 cluster, struct ws_dim3 preferred, const char *types, ...);
/* All blocks are resident at once, and may wait for each other. */
void job_launch_cooperative(struct job *j, const char *kernel, unsigned blocks, unsigned threads,
			    const char *types, ...);
/* As job_launch_3d(), for kernels that fail; the device's fault then tells. */
enum ws_sim_outcome job_launch_bad(struct job *j, const char *kernel, unsigned blocks,
				   unsigned threads, const char *types, ...);
/* Sets a variable of the module. */
void job_set(struct job *j, const char *name, const void *bytes, size_t len);

/* Comparisons: the first difference is told. */
void job_same(struct job *j, const uint32_t *got, const uint32_t *want, size_t n);
void job_same_wide(struct job *j, const uint64_t *got, const uint64_t *want, size_t n);
/* Equal bits; any NaN equals any. */
void job_same_floats(struct job *j, const float *got, const float *want, size_t n);
void job_same_doubles(struct job *j, const double *got, const double *want, size_t n);
/* |got - want| <= relative * |want| + absolute; NaN and infinities as they are. */
void job_near(struct job *j, const float *got, const float *want, size_t n, double relative,
	      double absolute);

#endif
