/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomics of system scope on pages that the device shares with the host (a memfd): threads of the
 * host and kernels change the same words at once, and nothing is lost. Under ThreadSanitizer, too.
 */
#define _GNU_SOURCE
#include "device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 2, WARPS = 4, TURNS = 0x7d0, PAGE = 1 << 16 };

enum { DEVICE = WARPS * 32 * TURNS, MOST = 1 << 22 };

struct words {
	uint32_t sum, most, least, all, any, taken, swaps, unused;
	uint64_t long_sum, long_swaps, long_most;
	uint32_t real; /* a float */
};

static struct words *shared;
static pthread_barrier_t begin;
static atomic_bool is_over; /* on the device */

struct worker {
	pthread_t thread;
	unsigned number;
	uint32_t turns, taken;
};

#define ATOMIC(op, word, value) (void)__atomic_##op(&shared->word, value, __ATOMIC_SEQ_CST)

/* The same by a loop of compare and swap, which must see what the device does. */
static void swap_up(uint32_t *word)
{
	uint32_t old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
	while (!__atomic_compare_exchange_n(word, &old, old + 1, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST))
		;
}

static void swap_up_long(uint64_t *word)
{
	uint64_t old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
	while (!__atomic_compare_exchange_n(word, &old, old + 1, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST))
		;
}

static void add_real(uint32_t *word)
{
	uint32_t old = __atomic_load_n(word, __ATOMIC_SEQ_CST), now;
	float value;
	do {
		memcpy(&value, &old, sizeof value);
		value += 1;
		memcpy(&now, &value, sizeof now);
	} while (!__atomic_compare_exchange_n(word, &old, now, false, __ATOMIC_SEQ_CST,
					      __ATOMIC_SEQ_CST));
}

/* Puts a 1 there, and counts the ones that it takes. */
static void *host(void *data)
{
	struct worker *own = data;
	const unsigned me = own->number;
	pthread_barrier_wait(&begin);
	for (; own->turns < MOST && !atomic_load(&is_over); own->turns++) {
		ATOMIC(fetch_add, sum, 1);
		ATOMIC(fetch_add, long_sum, UINT64_C(0x100000001));
		ATOMIC(fetch_or, any, 1u << me);
		ATOMIC(fetch_and, all, ~(1u << me));
		swap_up(&shared->swaps);
		swap_up_long(&shared->long_swaps);
		own->taken += __atomic_exchange_n(&shared->taken, 1, __ATOMIC_SEQ_CST);
		if (own->turns % 8 == 0)
			add_real(&shared->real);
	}
	return NULL;
}

/* Each thread adds, swaps and so on as those of the host do; who takes a 1 counts it behind the
 * page's words. */
static const char kernel[] =
	".arch sm_80\n.kernel k\n.param page 8\n.regs 40\n"
	"MOV R2, c[0x0][`(page)]\nMOV R3, c[0x0][`(page+4)]\nMOV R4, RZ\nMOV R5, 0x1\nMOV R6, 0x1\n"
	"MOV R7, 0x1\nMOV R20, 0x100\nMOV R21, 0xfffffeff\nMOV R22, 0x3f800000\nS2R R23, "
	"SR_LANEID\n"
	"S2R R24, SR_TID.X\nISETP.EQ.AND P1, PT, R23, RZ, PT\nMOV R25, RZ\nMOV R26, R24\nMOV R27, "
	"0x7\n"
	"again: ATOMG.E.ADD.STRONG.SYS PT, R8, [R2.64], R5\n"
	"RED.E.MAX.STRONG.SYS [R2.64+0x4], R24\n"
	"RED.E.MIN.STRONG.SYS [R2.64+0x8], R24\n"
	"RED.E.AND.STRONG.SYS [R2.64+0xc], R21\n"
	"RED.E.OR.STRONG.SYS [R2.64+0x10], R20\n"
	"ATOMG.E.EXCH.STRONG.SYS PT, R18, [R2.64+0x14], RZ\nIADD3 R25, R25, R18, RZ\n"
	"RED.E.ADD.64.STRONG.SYS [R2.64+0x20], R6\n"
	"RED.E.MAX.64.STRONG.SYS [R2.64+0x30], R26\n"
	"@P1 RED.E.ADD.F32.FTZ.RN.STRONG.SYS [R2.64+0x38], R22\n"
	"MOV R10, RZ\n"
	"swap: IADD3 R11, R10, 0x1, RZ\n"
	"ATOMG.E.CAS.STRONG.SYS PT, R12, [R2+0x18], R10, R11\n"
	"ISETP.NE.AND P0, PT, R12, R10, PT\nMOV R10, R12\n@P0 BRA `(swap)\n"
	"MOV R12, RZ\nMOV R13, RZ\n"
	"long: IADD3 R14, P2, R12, 0x1, RZ\nIADD3.X R15, R13, RZ, RZ, P2, !PT\n"
	"ATOMG.E.CAS.64.STRONG.SYS PT, R16, [R2+0x28], R12, R14\n"
	"ISETP.NE.AND P0, PT, R16, R12, PT\nISETP.NE.OR P0, PT, R17, R13, P0\n"
	"MOV R12, R16\nMOV R13, R17\n@P0 BRA `(long)\n"
	"IADD3 R4, R4, 0x1, RZ\nISETP.LT.AND P0, PT, R4, 0x7d0, PT\n@P0 BRA `(again)\n"
	"RED.E.ADD.STRONG.SYS [R2.64+0x40], R25\nEXIT\n.end\n";

static void nothing_is_lost_between_host_and_device(void **state)
{
	const uint64_t where = 0x60000000;
	struct worker workers[THREADS] = { 0 };
	uint32_t taken = 0, turns = 0, reals = WARPS * TURNS;
	(void)state;
	int fd = memfd_create("page", MFD_CLOEXEC);
	assert_true(fd >= 0 && ftruncate(fd, PAGE) == 0);
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	void *other = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(shared != MAP_FAILED && other != MAP_FAILED);
	*shared = (struct words){ .least = 1000, .all = UINT32_MAX };
	struct ws_sim *sim = device_of("sm_80");
	assert_int_equal(ws_sim_map(sim, where, other, PAGE, NULL), WS_OK);
	const void *const args[] = { &where };
	const struct ws_sim_launch launch =
		launch_of(load_text(sim, kernel), (struct ws_dim3){ WARPS * 32, 1, 1 }, args);
	assert_int_equal(ws_sim_launch(sim, &launch, NULL), WS_OK);
	assert_int_equal(pthread_barrier_init(&begin, NULL, THREADS + 1), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i].number = i;
		assert_int_equal(pthread_create(&workers[i].thread, NULL, host, &workers[i]), 0);
	}
	pthread_barrier_wait(&begin);
	assert_int_equal(run_all(sim), WS_SIM_DONE);
	atomic_store(&is_over, true);
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
		taken += workers[i].taken;
		turns += workers[i].turns;
		reals += (workers[i].turns + 7) / 8;
	}
	const uint32_t *device_took = (const uint32_t *)(const void *)((uint8_t *)shared + 0x40);
	float real;
	memcpy(&real, &shared->real, sizeof real);
	assert_int_equal(shared->sum, DEVICE + turns);
	assert_int_equal(shared->long_sum, (UINT64_C(0x100000001) * (DEVICE + turns)));
	assert_int_equal(shared->swaps, DEVICE + turns);
	assert_int_equal(shared->long_swaps, DEVICE + turns);
	/* each 1 of the host was taken by somebody, or is still there */
	assert_int_equal(taken + *device_took + shared->taken, turns);
	assert_true(reals < 1 << 24 && real == (float)reals);
	assert_true(shared->most == WARPS * 32 - 1 && shared->least == 0);
	assert_int_equal(shared->long_most, UINT64_C(0x700000000) + WARPS * 32 - 1);
	assert_true(shared->any == 0x103 && shared->all == ~UINT32_C(0x103));
	ws_sim_destroy(sim);
	munmap(shared, PAGE);
	munmap(other, PAGE);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost_between_host_and_device),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
