/* SPDX-License-Identifier: Apache-2.0 */
/* A mutex that is held until the end of a block, whichever way the block is left. */
#ifndef WSI_LOCK_H
#define WSI_LOCK_H

#include <pthread.h>

static inline pthread_mutex_t *wsi_lock(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
	return mutex;
}

static inline void wsi_unlock(pthread_mutex_t **held)
{
	pthread_mutex_unlock(*held);
}

/* Once a block, among its declarations. */
#define wsi_hold(mutex) \
	__attribute__((cleanup(wsi_unlock), unused)) pthread_mutex_t *held = wsi_lock(mutex)

#endif
