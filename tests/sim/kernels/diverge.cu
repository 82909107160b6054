// SPDX-License-Identifier: Apache-2.0
// Control flow: divergence, loops, calls, recursion.
#include "kernel.h"

KERNEL branches(u32 *out, const u32 *in, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 v = in[i], r;
	if (v & 1) {
		if (v & 2)
			r = v * 3;
		else if (v & 4)
			r = v + 100;
		else
			r = v ^ 0xff;
	} else {
		r = v / 3;
		if (v & 8) {
			r += 7;
			if (v & 16)
				r *= r;
		}
	}
	out[i] = r;
}

KERNEL loops(u32 *out, const u32 *in, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 sum = 0, rounds = in[i] % 40;
	for (u32 k = 0; k < rounds; k++) {
		if (k % 7 == 3)
			continue;
		for (u32 m = k; m < rounds; m += 2) {
			sum += k * m;
			if (sum % 11 == 5)
				break;
		}
		if (sum > 5000)
			break;
	}
	out[i] = sum;
}

KERNEL switches(u32 *out, const u32 *in, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 v = in[i], r = 1;
	for (int k = 0; k < 8; k++) {
		switch (v >> 4 * k & 15) {
		case 0: r += 17; break;
		case 1: r *= 3; break;
		case 2: r ^= 0x1234; break;
		case 3: r = r << 3 | r >> 29; // on to the next
		case 4: r -= v; break;
		case 5: r = ~r; break;
		case 6: r += r >> 5; break;
		case 7: r |= 1; break;
		case 9: r *= r; break;
		case 11: r %= 1000003; break;
		case 12: r += (u32)k; break;
		default: r ^= r >> 7; break;
		}
	}
	out[i] = r;
}

// Two ways into one loop: no structured statement has this shape.
KERNEL irreducible(u32 *out, const u32 *in, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 v = in[i], r = 0, k = 0;
	if (v & 1)
		goto second;
first:
	r = r * 5 + 1;
	if (r & 64)
		goto done;
second:
	r += v >> (k & 15) & 0xff;
	k++;
	if (k < 30 && r % 13 != 7)
		goto first;
done:
	out[i] = r ^ k << 24;
}

static __device__ __noinline__ u32 fibonacci(u32 n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

KERNEL recursion(u32 *out, int n)
{
	int i = thread_number();
	if (i < n)
		out[i] = fibonacci((u32)i % 13);
}

static __device__ __noinline__ u32 ackermann(u32 m, u32 n)
{
	if (m == 0)
		return n + 1;
	return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

KERNEL deep_recursion(u32 *out, int n)
{
	int i = thread_number();
	if (i < n)
		out[i] = ackermann((u32)i & 1 ? 2 : 1, (u32)i % 5);
}

typedef u32 (*Operation)(u32, u32);
static __device__ __noinline__ u32 op_add(u32 a, u32 b) { return a + b; }
static __device__ __noinline__ u32 op_mul(u32 a, u32 b) { return a * b; }
static __device__ __noinline__ u32 op_mix(u32 a, u32 b) { return (a ^ b) * 2654435761u; }
static __device__ __noinline__ u32 op_div(u32 a, u32 b) { return a / (b | 1); }
static __device__ Operation operations[4] = { op_add, op_mul, op_mix, op_div };

KERNEL indirect_calls(u32 *out, const u32 *in, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 r = 1;
	for (int k = 0; k < 6; k++)
		r = operations[in[i] >> 3 * k & 3](r, in[i] + (u32)k);
	out[i] = r;
}

struct Shape {
	u32 size;
	__device__ explicit Shape(u32 n) : size(n) {}
	__device__ virtual u32 area() const = 0;
	__device__ virtual u32 corners() const { return 0; }
};
struct Square : Shape {
	using Shape::Shape;
	__device__ u32 area() const override { return size * size; }
	__device__ u32 corners() const override { return 4; }
};
struct Line : Shape {
	using Shape::Shape;
	__device__ u32 area() const override { return size; }
};

KERNEL virtual_calls(u32 *out, const u32 *in, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	Square square(in[i] & 0xff);
	Line line(in[i] >> 8 & 0xff);
	const Shape *shape = in[i] & 1 ? (const Shape *)&square : &line;
	out[i] = shape->area() * 8 + shape->corners();
}

static __device__ __noinline__ bool costs(u32 *count, bool answer)
{
	(*count)++;
	return answer;
}

KERNEL short_circuit(u32 *out, const u32 *in, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 count = 0, v = in[i];
	bool r = (costs(&count, v & 1) && costs(&count, v & 2)) || (costs(&count, v & 4) && !costs(&count, v & 8));
	out[i] = count << 1 | (r ? 1 : 0);
}

KERNEL three_dimensions(u32 *out, int width, int height)
{
	u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
	    z = blockIdx.z * blockDim.z + threadIdx.z;
	out[(z * (u32)height + y) * (u32)width + x] = x + 100 * y + 10000 * z + gridDim.x * blockDim.y;
}
