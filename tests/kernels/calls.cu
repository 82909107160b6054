// Real calls: no function here may be inlined. Built -G (every function has its own section) and -O3 -lineinfo
// (callees live inside the kernel's section).

struct Cursor {
	char const *base;
	int step;
};

__device__ __noinline__ int read_word(char const *at)
{
	int const *word = (int const *)at;
	int value = *word; // @mark read_word
	return value;
}

__device__ __noinline__ int sum_row(Cursor cursor, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++) {
		char const *at = cursor.base + i * cursor.step;
		sum += read_word(at); // @mark sum_row
	}
	return sum;
}

__device__ __noinline__ int fold(Cursor cursor, int rows)
{
	int total = 0;
	for (int r = 0; r < rows; r++) {
		total += sum_row(cursor, r + 1); // @mark fold
		cursor.base += cursor.step * (r + 1);
	}
	return total;
}

// step is in bytes and must be a multiple of 4.
__global__ void checksum(char const *bytes, int step, int rows, int *out)
{
	Cursor cursor = {bytes + threadIdx.x * 4, step};
	int total = fold(cursor, rows); // @mark checksum
	out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}
