// Bugs of our own, of kinds that public reports had: they were written after the program was mended, to see that it had learnt the
// kind and not the case.
#include <cstdint>

extern "C" {

__global__ void put(uint64_t *told, void *buffer) { *told = (uint64_t)buffer; }

// Labels of one signed byte, where -100 stands for "ignore".
__global__ void ignored_label(const float *scores, const signed char *labels, float *picked, int stride, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		picked[i] = scores[labels[i] * stride + i];
}

// Numbers of 16 bits choose a page; one slot was never written.
__global__ void page_of_short(const float *pages, const unsigned short *table, float *out, int page)
{
	int slot = blockIdx.x;
	unsigned short which = table[slot];
	out[slot * blockDim.x + threadIdx.x] = pages[which * page + threadIdx.x];
}

// A cursor in bytes goes through a file of more than 2 GiB.
__global__ void cursor_in_bytes(const unsigned char *file, int *sum, int start, int record, unsigned rounds)
{
	int at = start, found = 0;
#pragma unroll 1
	for (unsigned i = 0; i < rounds; i++) {
		found += file[at] == 10;
		at += record;
	}
	sum[threadIdx.x] = found;
}

// Both halves of a pair are counters that the producer raises; it raises only the first.
__global__ void pair_of_counters(const ulonglong2 *pair, int *out, unsigned long long least)
{
	unsigned long long a, b;
	do {
		asm volatile("ld.volatile.global.v2.u64 {%0,%1}, [%2];" : "=l"(a), "=l"(b) : "l"(pair) : "memory");
	} while (a < least || b < least);
	out[threadIdx.x] = (int)(a + b);
}

// A queue has room when the consumer's counter is not more than its size behind.
__global__ void queue_is_full(const volatile unsigned *taken, int *out, unsigned put_so_far, unsigned size)
{
	while (*taken + 16 < put_so_far)
		;
	out[threadIdx.x] = (int)size;
}

// Ticket lock: the turn is read by an atomic operation that adds nothing.
__global__ void ticket_lock(int *turn, int *out, int ticket)
{
	while (atomicAdd(turn, 0) != ticket)
		;
	out[threadIdx.x] = 1;
}

// The first variable in shared memory is a flag that one warp waits for, and the one that would set it has left.
__global__ void flag_in_shared(const int *in, int *out, int n)
{
	__shared__ volatile int flag;
	if (threadIdx.x == 0)
		flag = 0;
	__syncthreads();
	if (threadIdx.x >= 32) {
		while (flag != 3)
			;
		out[threadIdx.x - 32] = in[threadIdx.x - 32];
	} else if (in[threadIdx.x] < n) {
		return;
	}
	flag = 3;
}

// The peer's tail does not come; the receiver gives up when a time is over.
__global__ void receiver_gives_up(const volatile int *tail, int *out, int expected, unsigned long long patience)
{
	unsigned long long start, now;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
	while (tail[blockIdx.x] < expected) {
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
		if (now - start > patience)
			__trap();
	}
	out[threadIdx.x] = 1;
}

// It waits for a message, and traps when the message is an error: nothing timed out.
__global__ void message_is_an_error(const volatile int *message, int *out, int wanted)
{
	int is;
	while ((is = message[0]) != wanted)
		if (is == -1)
			__trap();
	out[threadIdx.x] = is;
}

} // extern "C"
