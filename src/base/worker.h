/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second thread that takes one piece of work after the other from the first: writing and packing
 * of what was made go on while more is made. If no thread can be started, the first does it all.
 */
#ifndef WSI_WORKER_H
#define WSI_WORKER_H

#include <pthread.h>

#include "base/base.h"

/* So many wait that neither thread stands when the other one is slow for a moment. */
enum { WSI_WORKER_PIECES = 4 };

struct wsi_worker_piece {
	const uint8_t *bytes;
	size_t n;
};

struct wsi_worker {
	bool (*run)(void *user, const uint8_t *bytes, size_t n); /* false: see errno */
	void *user;
	bool has_thread;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* under `lock` */
	struct wsi_worker_piece piece[WSI_WORKER_PIECES]; /* a ring; the first is being worked on */
	unsigned first, n_pieces;
	int failed; /* errno of the first failure; 0: none. What waits then is not done */
	bool quit;
};

/* Fills the worker; the thread comes with the first piece. */
void wsi_worker_init(struct wsi_worker *worker,
		     bool (*run)(void *user, const uint8_t *bytes, size_t n), void *user);
/* Waits until at most `most` pieces are left. False: some piece failed; see errno. */
bool wsi_worker_wait(struct wsi_worker *worker, unsigned most) WS_MUST_USE;
/* Hands over a piece, which must stay as it is until it is done: they are done in their order. Call
 * after a wait for less than WSI_WORKER_PIECES. */
void wsi_worker_give(struct wsi_worker *worker, const uint8_t *bytes, size_t n);
/* Waits and ends the thread. A zeroed worker is fine. */
void wsi_worker_fini(struct wsi_worker *worker);

#endif
