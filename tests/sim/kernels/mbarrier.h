// SPDX-License-Identifier: Apache-2.0
// Barriers in memory, one PTX instruction each.
#pragma once
#include "kernel.h"

__device__ static inline u32 shared_address(const void *p)
{
	return (u32)__cvta_generic_to_shared(p);
}

__device__ static inline void mbarrier_init(u64 *b, u32 n)
{
	asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(n)
		     : "memory");
}

__device__ static inline u64 mbarrier_arrive(u64 *b)
{
	u64 state;
	asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
		     : "=l"(state)
		     : "r"(shared_address(b))
		     : "memory");
	return state;
}

__device__ static inline u64 mbarrier_arrive_drop(u64 *b)
{
	u64 state;
	asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];"
		     : "=l"(state)
		     : "r"(shared_address(b))
		     : "memory");
	return state;
}

__device__ static inline u64 mbarrier_arrive_many(u64 *b, u32 n)
{
	u64 state;
	asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;"
		     : "=l"(state)
		     : "r"(shared_address(b)), "r"(n)
		     : "memory");
	return state;
}

__device__ static inline u64 mbarrier_arrive_drop_many(u64 *b, u32 n)
{
	u64 state;
	asm volatile("mbarrier.arrive_drop.noComplete.shared.b64 %0, [%1], %2;"
		     : "=l"(state)
		     : "r"(shared_address(b)), "r"(n)
		     : "memory");
	return state;
}

__device__ static inline u32 mbarrier_pending(u64 state)
{
	u32 n;
	asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(state));
	return n;
}

__device__ static inline bool mbarrier_test(u64 *b, u64 state)
{
	u32 done;
	asm volatile(
		"{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
		: "=r"(done)
		: "r"(shared_address(b)), "l"(state)
		: "memory");
	return done;
}

__device__ static inline bool mbarrier_test_parity(u64 *b, u32 parity)
{
	u32 done;
	asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 "
		     "%0, 1, 0, p;}"
		     : "=r"(done)
		     : "r"(shared_address(b)), "r"(parity)
		     : "memory");
	return done;
}

__device__ static inline void mbarrier_inval(u64 *b)
{
	asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(shared_address(b)) : "memory");
}

// From sm_90 on.

__device__ static inline void mbarrier_wait(u64 *b, u32 parity)
{
	u32 done;
	do
		asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; "
			     "selp.u32 %0, 1, 0, p;}"
			     : "=r"(done)
			     : "r"(shared_address(b)), "r"(parity)
			     : "memory");
	while (!done);
}

__device__ static inline u64 mbarrier_arrive_n(u64 *b, u32 n)
{
	u64 state;
	asm volatile("mbarrier.arrive.shared.b64 %0, [%1], %2;"
		     : "=l"(state)
		     : "r"(shared_address(b)), "r"(n)
		     : "memory");
	return state;
}

__device__ static inline u64 mbarrier_arrive_drop_n(u64 *b, u32 n)
{
	u64 state;
	asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1], %2;"
		     : "=l"(state)
		     : "r"(shared_address(b)), "r"(n)
		     : "memory");
	return state;
}

__device__ static inline u64 mbarrier_arrive_expect(u64 *b, u32 bytes)
{
	u64 state;
	asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], %2;"
		     : "=l"(state)
		     : "r"(shared_address(b)), "r"(bytes)
		     : "memory");
	return state;
}

__device__ static inline void mbarrier_expect(u64 *b, u32 bytes)
{
	asm volatile("mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], %1;" ::"r"(shared_address(b)),
		     "r"(bytes)
		     : "memory");
}

__device__ static inline void mbarrier_complete(u64 *b, u32 bytes)
{
	asm volatile(
		"mbarrier.complete_tx.relaxed.cta.shared.b64 [%0], %1;" ::"r"(shared_address(b)),
		"r"(bytes)
		: "memory");
}

// Address of the same place in another block of the cluster.
__device__ static inline u32 peer_address(const void *p, u32 rank)
{
	u32 address;
	asm("mapa.shared::cluster.u32 %0, %1, %2;"
	    : "=r"(address)
	    : "r"(shared_address(p)), "r"(rank));
	return address;
}

__device__ static inline void mbarrier_arrive_peer(u32 address, u32 n)
{
	asm volatile(
		"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(address),
		"r"(n)
		: "memory");
}

__device__ static inline void cluster_sync()
{
	asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

__device__ static inline void proxy_fence()
{
	asm volatile("fence.proxy.async;" ::: "memory");
}
