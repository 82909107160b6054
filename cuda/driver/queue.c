/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work in the order in which it was asked for. Whoever waits for some of it does it, and everything
 * before it, in its own thread; an op that finds nothing before it is done at once, and a launch
 * sent. What nobody waits for, and functions of the host, are done by a thread of the queue. That
 * thread is not woken up for each op: while there is work it looks every millisecond.
 */
#include "driver.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	MOST = 1024,       /* ops that wait; who asks for more waits, too */
	LOOK_NS = 1000000, /* from one look of the thread to the next */
	LOOKS = 100,       /* without work, before it sleeps */
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t done_cond; /* somebody is done with what is first */
	pthread_cond_t look_cond; /* the thread should look now */
	bool has_thread;
	bool sleeps;    /* the thread looks only when it is told to */
	bool is_called; /* ... is told to do what there is */
	bool is_busy;   /* somebody does what is first */
	struct driver_op *first, **end;
	uint64_t added, done;
	CUresult failure; /* of an op that nobody waits for; told once */
} queue = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.done_cond = PTHREAD_COND_INITIALIZER,
	.end = &queue.first,
};

/* ---- under lock ---- */

/* Does what is first. */
static void do_first(void)
{
	struct driver_op *op = queue.first;
	queue.is_busy = true;
	pthread_mutex_unlock(&queue.lock);
	int failure = atomic_load(&driver.failure);
	CUresult result = failure ? (CUresult)failure : op->run(op);
	pthread_mutex_lock(&queue.lock);
	queue.is_busy = false;
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
	pthread_cond_broadcast(&queue.done_cond);
}

/* The thread is to do what there is, at once. */
static void call_thread(void)
{
	queue.is_called = true;
	pthread_cond_signal(&queue.look_cond);
}

/* Waits until `n` ops are done. */
static void wait_for_ops(uint64_t n)
{
	while (queue.done < n) {
		if (!queue.is_busy && !queue.first->is_call) {
			do_first();
			continue;
		}
		if (!queue.is_busy)
			call_thread();
		pthread_cond_wait(&queue.done_cond, &queue.lock);
	}
}

/* ---- the thread ---- */

/* Waits for a while, or until it is called. */
static void look_later(unsigned *looks)
{
	struct timespec next;
	if (*looks >= LOOKS) {
		queue.sleeps = true;
		pthread_cond_wait(&queue.look_cond, &queue.lock);
		queue.sleeps = false;
		*looks = 0;
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &next);
	next.tv_nsec += LOOK_NS;
	next.tv_sec += next.tv_nsec / 1000000000;
	next.tv_nsec %= 1000000000;
	(void)pthread_cond_timedwait(&queue.look_cond, &queue.lock, &next);
	++*looks;
}

static void *queue_work(void *unused)
{
	uint64_t seen = 0; /* the op that was first at the last look */
	unsigned looks = 0;
	(void)unused;
	pthread_mutex_lock(&queue.lock);
	for (;;) {
		bool is_due = queue.first && (queue.is_called || queue.first->number == seen);
		if (!queue.first)
			queue.is_called = false;
		if (is_due && !queue.is_busy) {
			do_first();
			seen = queue.done + 1; /* and what comes behind it */
			looks = 0;
			continue;
		}
		seen = queue.first ? queue.first->number : 0;
		looks = queue.first ? 0 : looks;
		look_later(&looks);
	}
	return NULL;
}

/* Under lock. All signals are the program's. */
static bool start_queue(void)
{
	sigset_t all, before;
	pthread_t thread;
	pthread_condattr_t monotonic;
	if (queue.has_thread)
		return true;
	if (pthread_condattr_init(&monotonic) != 0)
		return false;
	bool ok = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0 &&
		  pthread_cond_init(&queue.look_cond, &monotonic) == 0;
	(void)pthread_condattr_destroy(&monotonic);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	queue.has_thread = ok && pthread_create(&thread, NULL, queue_work, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (queue.has_thread)
		pthread_detach(thread);
	return queue.has_thread;
}

/* ---- what is asked for ---- */

/* Under lock. */
static uint64_t queue_append(struct driver_op *op)
{
	op->next = NULL;
	op->number = ++queue.added;
	*queue.end = op;
	queue.end = &op->next;
	return op->number;
}

/* Under lock: begins an op that has nothing before it. A launch is sent, and others are done. */
static void queue_begin(struct driver_op *op)
{
	if (queue.first == op && op->send && atomic_load(&driver.failure) == CUDA_SUCCESS) {
		queue.is_busy = true;
		pthread_mutex_unlock(&queue.lock);
		op->send(op);
		pthread_mutex_lock(&queue.lock);
		queue.is_busy = false;
		pthread_cond_broadcast(&queue.done_cond);
	} else if (queue.first == op && !op->is_call) {
		do_first();
	}
	if (queue.first && queue.sleeps)
		pthread_cond_signal(&queue.look_cond);
}

uint64_t queue_add(const struct driver_op *op)
{
	struct driver_op *copy = malloc(sizeof *copy);
	uint64_t number = 0;
	if (copy) {
		*copy = *op;
		copy->owned = true;
		pthread_mutex_lock(&queue.lock);
		if (queue.added >= MOST)
			wait_for_ops(queue.added - MOST + 1);
		number = start_queue() ? queue_append(copy) : 0;
		if (number)
			queue_begin(copy);
		pthread_mutex_unlock(&queue.lock);
	}
	if (number == 0) {
		free(op->host);
		free(copy);
	}
	return number;
}

CUresult queue_do(struct driver_op *op)
{
	pthread_mutex_lock(&queue.lock);
	wait_for_ops(queue_append(op));
	pthread_mutex_unlock(&queue.lock);
	return op->result;
}

bool queue_is_done(uint64_t number)
{
	pthread_mutex_lock(&queue.lock);
	bool done = queue.done >= number;
	if (!done && !queue.is_busy) /* who asks may ask again and again */
		call_thread();
	pthread_mutex_unlock(&queue.lock);
	return done;
}

void queue_wait(uint64_t number)
{
	pthread_mutex_lock(&queue.lock);
	wait_for_ops(number);
	pthread_mutex_unlock(&queue.lock);
}

size_t queue_threads(void)
{
	pthread_mutex_lock(&queue.lock);
	size_t n = queue.has_thread ? 1 : 0;
	pthread_mutex_unlock(&queue.lock);
	return n;
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
	wait_for_ops(queue.added);
	pthread_mutex_unlock(&queue.lock);
	return queue_failure();
}
