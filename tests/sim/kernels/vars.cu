// Variables of every kind with planted values, in five frames: tests/cli/test_vars.py and tests/oracle/variables.py
// say what they hold where the innermost function fails. What is computed behind the fault keeps them alive.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

struct Base {
	int id;
	short tag;
};

struct Other {
	double weight;
};

struct Vec {
	float x, y, z;
};

enum Color { RED, GREEN = 5, BLUE };
enum class Mode : unsigned char { OFF, ON };

union Word {
	int i;
	float f;
	unsigned char bytes[4];
};

struct Flags {
	unsigned a : 3, b : 7;
	int c : 5;
	bool d : 1;
	unsigned e : 2;
};

template <typename T, int N> struct Box : Base, Other {
	T data[N];
	T *first;
	Flags flags;
	Word word;
	Mode mode;
	struct {
		int inner;
		char letter;
	} anonymous;
};

namespace ns {
struct Node {
	int value;
	Node *next;
};
typedef unsigned long long Big;
} // namespace ns

__constant__ int table[4] = { 10, 20, 30, 40 };
__constant__ Vec axis = { 0.5f, 0.25f, -1 };
__device__ float scale = 2.5f;
__device__ Vec origin = { 1, 2, 3 };
__device__ int grid[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
__device__ char title[16] = "warpscope";
__device__ ns::Node second = { 22, 0 };
__device__ Color paint = BLUE;
__managed__ int counter = 7;

struct Counter {
	int count;
	int step;
	__device__ __noinline__ int bump(int by, volatile int *fault)
	{
		int before = count;
		count += by * step;
		*fault = before; // the fault
		return count + before + by;
	}
};

__device__ __noinline__ int numbers(long long big, double real, Counter *counters, volatile int *fault)
{
	signed char tiny = -5;
	unsigned char byte = 200;
	short small = -1234;
	unsigned short wide = 65000;
	int whole = -100000;
	unsigned natural = 4000000000u;
	ns::Big huge = 0x123456789abcdef0ull;
	float single = 1.5f;
	double twice = -0.1;
	bool yes = counters->step > 0, no = counters->step > 100;
	char letter = 'W';
	float infinite = single / (twice + 0.1 == 0 ? 0.0f : 1.0f);
	int result = counters[0].bump(3, fault);
	return result + tiny + byte + small + wide + whole + (int)natural + (int)(huge >> 20) + (int)single + (int)twice + yes + no +
	       letter + (int)infinite + (int)(big >> 20) + (int)real;
}

__device__ __noinline__ int shapes(Box<double, 3> &box, Box<double, 3> copy, const Vec *vec, Color color, volatile int *fault)
{
	__shared__ int tile[8];
	Counter counters[2] = { { 4, 10 }, { 5, 20 } };
	Vec local = { 1.25f, -2.5f, 3.75f };
	float4 quad = make_float4(1, 2, 3, 4);
	int2 pair = make_int2(-7, 8);
	uchar4 pixel = make_uchar4(1, 2, 3, 255);
	__half half;
	__half2 halves;
	__nv_bfloat16 brain;
	__nv_fp8_e4m3 eight;
	eight.__x = 0x38; // 1
	__nv_fp8_e5m2 five;
	five.__x = 0xbc; // -1
	*(unsigned short *)&half = 0x3e00; // 1.5; conversions are not what is tested
	*(unsigned *)&halves = 0xc0003800; // 0.5, -2
	*(unsigned short *)&brain = 0xc060; // -3.5
	Mode mode = Mode::ON;
	Word word;
	word.f = 1;
	int same[20] = { 0 };
	int steps[12];
	char text[8] = "tile";
	ns::Node node = { 11, &second };
	for (int i = 0; i < 12; i++)
		steps[i] = i * i;
	for (int i = 0; i < 8; i++)
		tile[i] = 100 + i;
	same[19] = 1;
	int result = numbers(-5000000000ll, 6.25, counters, fault);
	return result + tile[threadIdx.x % 8] + counters[1].count + (int)local.x + (int)quad.x + pair.x + pixel.x +
	       *(short *)&half + *(int *)&halves + *(short *)&brain + eight.__x + five.__x + (int)mode +
	       word.i + same[result & 15] + steps[result & 7] + text[1] + node.value + (int)vec->x + (int)box.data[0] +
	       (int)copy.data[1] + color;
}

__device__ __noinline__ int nested(int depth, Box<double, 3> &box, const Vec *vec, volatile int *fault)
{
	int here = depth * 11;
	if (depth < 2) {
		int deeper = here + 1;
		int result = nested(depth + 1, box, vec, fault);
		return result + deeper;
	}
	return shapes(box, box, vec, GREEN, fault) + here;
}

__global__ void vars(int *out, float f, Vec given, int n, volatile int *fault)
{
	__shared__ double sums[4];
	Box<double, 3> box;
	int index = blockIdx.x * blockDim.x + threadIdx.x;
	box.id = 42;
	box.tag = 7;
	box.weight = 0.75;
	box.data[0] = 1.5;
	box.data[1] = 2.5;
	box.data[2] = -3;
	box.first = box.data;
	box.flags.a = 5;
	box.flags.b = 99;
	box.flags.c = -4;
	box.flags.d = true;
	box.word.i = 0x3f800000;
	box.mode = Mode::OFF;
	box.anonymous.inner = index;
	box.anonymous.letter = '\n';
	sums[threadIdx.x % 4] = f;
	int odd = index == 9 ? -1 : 3;
	int result = nested(n, box, &given, fault);
	out[index] = result + (int)sums[1] + table[index % 4] + (int)axis.x + (int)scale + (int)origin.x + grid[1][index % 3] +
		     title[2] + counter + paint + odd;
}
