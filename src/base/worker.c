/* SPDX-License-Identifier: Apache-2.0 */
#define WSI_BASE_SOURCE
#include "base/worker.h"

#include <errno.h>
#include <signal.h>

void wsi_worker_init(struct wsi_worker *worker,
		     bool (*run)(void *user, const uint8_t *bytes, size_t n), void *user)
{
	*worker = (struct wsi_worker){ .run = run, .user = user };
}

static void *worker_work(void *user)
{
	struct wsi_worker *worker = user;
	pthread_mutex_lock(&worker->lock);
	for (;;) {
		while (worker->n_pieces == 0 && !worker->quit)
			pthread_cond_wait(&worker->changed, &worker->lock);
		if (worker->n_pieces == 0)
			break;
		struct wsi_worker_piece piece = worker->piece[worker->first];
		if (!worker->failed) {
			pthread_mutex_unlock(&worker->lock);
			int failed = worker->run(worker->user, piece.bytes, piece.n) ? 0 : errno;
			pthread_mutex_lock(&worker->lock);
			worker->failed = failed;
		}
		worker->first = (worker->first + 1) % WSI_WORKER_PIECES;
		worker->n_pieces--;
		pthread_cond_signal(&worker->changed);
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

/* Signals are for the threads of the caller. */
static bool thread_start(struct wsi_worker *worker)
{
	sigset_t all, old;
	if (pthread_mutex_init(&worker->lock, NULL) != 0)
		return false;
	if (pthread_cond_init(&worker->changed, NULL) != 0) {
		pthread_mutex_destroy(&worker->lock);
		return false;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int status = pthread_create(&worker->thread, NULL, worker_work, worker);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (status == 0)
		return true;
	pthread_cond_destroy(&worker->changed);
	pthread_mutex_destroy(&worker->lock);
	return false;
}

bool wsi_worker_wait(struct wsi_worker *worker, unsigned most)
{
	int failed;
	if (worker->has_thread) {
		pthread_mutex_lock(&worker->lock);
		while (worker->n_pieces > most)
			pthread_cond_wait(&worker->changed, &worker->lock);
		failed = worker->failed;
		pthread_mutex_unlock(&worker->lock);
	} else {
		failed = worker->failed;
	}
	errno = failed;
	return failed == 0;
}

void wsi_worker_give(struct wsi_worker *worker, const uint8_t *bytes, size_t n)
{
	worker->has_thread = worker->has_thread || thread_start(worker);
	if (!worker->has_thread) {
		if (!worker->run(worker->user, bytes, n))
			worker->failed = errno;
		return;
	}
	pthread_mutex_lock(&worker->lock);
	unsigned at = (worker->first + worker->n_pieces) % WSI_WORKER_PIECES;
	assert(worker->n_pieces < WSI_WORKER_PIECES);
	worker->piece[at] = (struct wsi_worker_piece){ bytes, n };
	worker->n_pieces++;
	pthread_cond_signal(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
}

void wsi_worker_fini(struct wsi_worker *worker)
{
	if (!worker->has_thread)
		return;
	pthread_mutex_lock(&worker->lock);
	worker->quit = true;
	pthread_cond_signal(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
	pthread_join(worker->thread, NULL);
	pthread_cond_destroy(&worker->changed);
	pthread_mutex_destroy(&worker->lock);
	worker->has_thread = false;
}
