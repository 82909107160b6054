/* SPDX-License-Identifier: Apache-2.0 */
/* Work in the order in which it was asked for, done by one thread. */
#include "driver.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1024 /* ops that wait; who asks for more waits, too */ };

static struct {
	pthread_mutex_t lock;
	pthread_cond_t cond; /* something was added, or done */
	bool has_thread;
	struct op *first, **end;
	uint64_t added, done;
	CUresult failure; /* of an op that nobody waits for; told once */
} queue = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.cond = PTHREAD_COND_INITIALIZER,
	.end = &queue.first,
};

static void *work(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&queue.lock);
	for (;;) {
		while (!queue.first)
			pthread_cond_wait(&queue.cond, &queue.lock);
		struct op *op = queue.first;
		pthread_mutex_unlock(&queue.lock);
		int failure = atomic_load(&driver.failure);
		CUresult result = failure ? (CUresult)failure : op->run(op);
		pthread_mutex_lock(&queue.lock);
		queue.first = op->next;
		if (!queue.first)
			queue.end = &queue.first;
		queue.done = op->number;
		op->result = result;
		if (op->owned) {
			queue.failure = queue.failure ? queue.failure : result;
			free(op->host);
			free(op);
		}
		pthread_cond_broadcast(&queue.cond);
	}
	return NULL;
}

/* Under lock. All signals are the program's. */
static bool start(void)
{
	sigset_t all, before;
	pthread_t thread;
	if (queue.has_thread)
		return true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	queue.has_thread = pthread_create(&thread, NULL, work, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (queue.has_thread)
		pthread_detach(thread);
	return queue.has_thread;
}

/* Under lock. */
static uint64_t append(struct op *op)
{
	op->next = NULL;
	op->number = ++queue.added;
	*queue.end = op;
	queue.end = &op->next;
	pthread_cond_broadcast(&queue.cond);
	return op->number;
}

uint64_t queue_add(const struct op *op)
{
	struct op *copy = malloc(sizeof *copy);
	uint64_t number = 0;
	if (copy) {
		*copy = *op;
		copy->owned = true;
		pthread_mutex_lock(&queue.lock);
		while (queue.added - queue.done >= MOST)
			pthread_cond_wait(&queue.cond, &queue.lock);
		number = start() ? append(copy) : 0;
		pthread_mutex_unlock(&queue.lock);
	}
	if (number == 0) {
		free(op->host);
		free(copy);
	}
	return number;
}

CUresult queue_do(struct op *op)
{
	pthread_mutex_lock(&queue.lock);
	bool ok = start();
	if (ok)
		append(op);
	while (ok && queue.done < op->number)
		pthread_cond_wait(&queue.cond, &queue.lock);
	pthread_mutex_unlock(&queue.lock);
	return ok ? op->result : CUDA_ERROR_OUT_OF_MEMORY;
}

bool queue_is_done(uint64_t number)
{
	pthread_mutex_lock(&queue.lock);
	bool done = queue.done >= number;
	pthread_mutex_unlock(&queue.lock);
	return done;
}

void queue_wait(uint64_t number)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.done < number)
		pthread_cond_wait(&queue.cond, &queue.lock);
	pthread_mutex_unlock(&queue.lock);
}

CUresult queue_failure(void)
{
	pthread_mutex_lock(&queue.lock);
	CUresult failure = queue.failure;
	queue.failure = CUDA_SUCCESS;
	pthread_mutex_unlock(&queue.lock);
	return failure;
}

CUresult queue_drain(void)
{
	pthread_mutex_lock(&queue.lock);
	uint64_t all = queue.added;
	pthread_mutex_unlock(&queue.lock);
	queue_wait(all);
	return queue_failure();
}
