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

static void *work(void *user)
{
	struct wsi_worker *worker = user;
	pthread_mutex_lock(&worker->lock);
	for (;;) {
		while (!worker->bytes && !worker->quit)
			pthread_cond_wait(&worker->changed, &worker->lock);
		if (!worker->bytes)
			break;
		pthread_mutex_unlock(&worker->lock);
		int failed = worker->run(worker->user, worker->bytes, worker->n) ? 0 : errno;
		pthread_mutex_lock(&worker->lock);
		worker->bytes = NULL;
		worker->failed = worker->failed ? worker->failed : failed;
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
	int status = pthread_create(&worker->thread, NULL, work, worker);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (status == 0)
		return true;
	pthread_cond_destroy(&worker->changed);
	pthread_mutex_destroy(&worker->lock);
	return false;
}

bool wsi_worker_wait(struct wsi_worker *worker)
{
	if (worker->has_thread) {
		pthread_mutex_lock(&worker->lock);
		while (worker->bytes)
			pthread_cond_wait(&worker->changed, &worker->lock);
		pthread_mutex_unlock(&worker->lock);
	}
	errno = worker->failed;
	return worker->failed == 0;
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
	worker->bytes = bytes;
	worker->n = n;
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
