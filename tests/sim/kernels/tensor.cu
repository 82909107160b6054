// SPDX-License-Identifier: Apache-2.0
// Tensor cores, by the documented fragments of mma.sync and by wmma.
#include <mma.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "kernel.h"

using namespace nvcuda;

KERNEL wmma_half(float *c, const __half *a, const __half *b)
{
	wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
	wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
	wmma::fill_fragment(fc, 0.0f);
	for (int k = 0; k < 2; k++) {
		wmma::load_matrix_sync(fa, a + 16 * k, 32);
		wmma::load_matrix_sync(fb, b + 16 * k, 32);
		wmma::mma_sync(fc, fa, fb, fc);
	}
	wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

KERNEL wmma_half_sum(__half *c, const __half *a, const __half *b)
{
	wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
	wmma::fragment<wmma::accumulator, 16, 16, 16, __half> fc;
	wmma::fill_fragment(fc, __float2half(1.0f));
	wmma::load_matrix_sync(fa, a, 16);
	wmma::load_matrix_sync(fb, b, 16);
	wmma::mma_sync(fc, fa, fb, fc);
	wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

KERNEL wmma_bytes(int *c, const signed char *a, const signed char *b)
{
	wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> fb;
	wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
	wmma::fill_fragment(fc, 7);
	wmma::load_matrix_sync(fa, a, 16);
	wmma::load_matrix_sync(fb, b, 16);
	wmma::mma_sync(fc, fa, fb, fc);
	wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
KERNEL wmma_bf16(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b)
{
	wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> fb;
	wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
	wmma::fill_fragment(fc, 0.0f);
	wmma::load_matrix_sync(fa, a, 16);
	wmma::load_matrix_sync(fb, b, 16);
	wmma::mma_sync(fc, fa, fb, fc);
	wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

KERNEL wmma_tf32(float *c, const float *a, const float *b)
{
	wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> fb;
	wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
	wmma::fill_fragment(fc, 0.0f);
	wmma::load_matrix_sync(fa, a, 8);
	wmma::load_matrix_sync(fb, b, 8);
	for (int k = 0; k < fa.num_elements; k++)
		fa.x[k] = wmma::__float_to_tf32(fa.x[k]);
	for (int k = 0; k < fb.num_elements; k++)
		fb.x[k] = wmma::__float_to_tf32(fb.x[k]);
	wmma::mma_sync(fc, fa, fb, fc);
	wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

KERNEL wmma_double(double *c, const double *a, const double *b)
{
	wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> fb;
	wmma::fragment<wmma::accumulator, 8, 8, 4, double> fc;
	wmma::fill_fragment(fc, 0.5);
	wmma::load_matrix_sync(fa, a, 4);
	wmma::load_matrix_sync(fb, b, 4);
	wmma::mma_sync(fc, fa, fb, fc);
	wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
}
#endif

// m16n8k8, halves loaded by ldmatrix: rows of a as they lie, b from columns.
KERNEL mma_matrices(float *c, const __half *a, const __half *b)
{
	__shared__ __half tile_a[16 * 8], tile_b[8 * 8];
	int t = (int)threadIdx.x;
	for (int k = t; k < 16 * 8; k += 32)
		tile_a[k] = a[k];
	for (int k = t; k < 8 * 8; k += 32)
		tile_b[k] = b[k];
	__syncwarp();
	u32 ra[2], rb;
	u32 at = (u32)__cvta_generic_to_shared(&tile_a[(t & 15) * 8]);
	asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(ra[0]), "=r"(ra[1]) : "r"(at));
	at = (u32)__cvta_generic_to_shared(&tile_b[(t & 7) * 8]);
	asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(rb) : "r"(at));
	float d[4] = { 1, 2, 3, 4 };
	asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
	    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(ra[0]), "r"(ra[1]), "r"(rb));
	for (int k = 0; k < 4; k++)
		c[(t / 4 + (k / 2) * 8) * 8 + t % 4 * 2 + k % 2] = d[k];
}
