/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills. Each is an op of the queue; those that are not asynchronous wait for it. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

/* ---- what the queue does ---- */

static CUresult transfer_rows(enum wire_op what, const struct copy_side *device,
			      const struct copy_side *host, uint64_t n_bytes, uint64_t n_rows)
{
	CUresult result = CUDA_SUCCESS;
	if (device->pitch == n_bytes && host->pitch == n_bytes) { /* rows without gaps are one */
		n_bytes *= n_rows;
		n_rows = 1;
	}
	for (uint64_t row = 0; row < n_rows && result == CUDA_SUCCESS; row++)
		for (uint64_t at = 0; at < n_bytes && result == CUDA_SUCCESS; at += WIRE_PIECE) {
			uint64_t n = n_bytes - at < WIRE_PIECE ? n_bytes - at : WIRE_PIECE;
			uint64_t word[WIRE_WORDS] = { device->at + row * device->pitch + at, n, n,
						      1 };
			char *bytes = (char *)(uintptr_t)host->at + row * host->pitch + at;
			result = what == WIRE_WRITE ? driver_work(what, word, bytes, n, NULL, 0)
						    : driver_work(what, word, NULL, 0, bytes, n);
		}
	return result;
}

static CUresult run_slice(const struct copy_side *to, const struct copy_side *from,
			  uint64_t n_bytes, uint64_t n_rows)
{
	if (to->is_host && from->is_host) {
		for (uint64_t i = 0; i < n_rows; i++)
			memmove((void *)(uintptr_t)(to->at + i * to->pitch),
				(const void *)(uintptr_t)(from->at + i * from->pitch), n_bytes);
		return CUDA_SUCCESS;
	}
	if (to->is_host)
		return transfer_rows(WIRE_READ, from, to, n_bytes, n_rows);
	if (from->is_host)
		return transfer_rows(WIRE_WRITE, to, from, n_bytes, n_rows);
	uint64_t word[WIRE_WORDS] = { to->at, to->pitch, from->at, from->pitch, n_bytes, n_rows };
	return driver_work(WIRE_COPY, word, NULL, 0, NULL, 0);
}

static CUresult run_box(struct driver_op *op)
{
	const struct box *box = op->host;
	struct copy_side to = box->to, from = box->from;
	CUresult result = CUDA_SUCCESS;
	for (uint64_t z = 0; z < box->n_slices && result == CUDA_SUCCESS; z++) {
		result = run_slice(&to, &from, box->n_bytes, box->n_rows);
		to.at += to.slice;
		from.at += from.slice;
	}
	return result;
}

static CUresult run_fill(struct driver_op *op)
{
	return driver_work(WIRE_FILL, op->word, NULL, 0, NULL, 0);
}

/* ---- copies ---- */

/* The op that moves a box; `keeps`: bytes of the host are taken now, as the program may change
 * them. */
static CUresult make_op(const struct box *box, bool keeps, struct driver_op *ret_op)
{
	uint64_t n_rows = box->n_rows * box->n_slices, n_kept = keeps ? box->n_bytes * n_rows : 0;
	if (box->n_bytes > SIZE_MAX / 2 / n_rows)
		return CUDA_ERROR_INVALID_VALUE;
	struct box *mine = malloc(sizeof *mine + n_kept);
	if (!mine)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*mine = *box;
	*ret_op = (struct driver_op){ .run = run_box,
				      .type = CU_NODE_MEMCPY,
				      .host = mine,
				      .n_host = sizeof *mine + n_kept };
	if (!keeps)
		return CUDA_SUCCESS;
	char *to = (char *)(mine + 1);
	mine->from = (struct copy_side){ .at = (uintptr_t)to,
					 .pitch = box->n_bytes,
					 .slice = box->n_bytes * box->n_rows,
					 .is_host = true };
	for (uint64_t i = 0; i < n_rows; i++)
		memcpy(to + i * box->n_bytes,
		       (const char *)(uintptr_t)(box->from.at + i / box->n_rows * box->from.slice +
						 i % box->n_rows * box->from.pitch),
		       box->n_bytes);
	return CUDA_SUCCESS;
}

static CUresult copy_through_boxes(const struct box *box, bool waits, CUstream stream)
{
	CUresult result = stream_check(stream);
	if (result != CUDA_SUCCESS || box->n_bytes == 0 || box->n_rows == 0 || box->n_slices == 0)
		return result;
	bool captures = stream_captures(stream), keeps = box->from.is_host && !captures;
	struct driver_op op = { .run = run_box, .host = (void *)(uintptr_t)box };
	if (waits || (keeps && box->to.is_host))
		return queue_do(&op);
	result = make_op(box, keeps, &op);
	return result == CUDA_SUCCESS ? stream_add(stream, &op) : result;
}

/* A place of the host. Memory that both see is taken as the device's: the program may change it
 * until the copy is made. */
static struct copy_side host_side(uint64_t at)
{
	struct driver_range range;
	return (struct copy_side){ .at = at, .is_host = !range_find(at, &range) };
}

static struct copy_side device_side(CUdeviceptr address)
{
	return (struct copy_side){ .at = address };
}

static CUresult copy_line(struct copy_side to, struct copy_side from, size_t n_bytes, bool waits,
			  CUstream stream)
{
	const struct box box = { to, from, n_bytes, 1, 1 };
	return copy_through_boxes(&box, waits, stream);
}

CU_API(cuMemcpy)(CUdeviceptr to, CUdeviceptr from, size_t n)
{
	DONE(copy_line(host_side(to), host_side(from), n, true, NULL));
}

CU_API(cuMemcpyAsync)(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream stream)
{
	DONE(copy_line(host_side(to), host_side(from), n, false, stream));
}

CU_API(cuMemcpyHtoD_v2)(CUdeviceptr to, const void *from, size_t n)
{
	DONE(copy_line(device_side(to), host_side((uintptr_t)from), n, true, NULL));
}

CU_API(cuMemcpyHtoDAsync_v2)(CUdeviceptr to, const void *from, size_t n, CUstream stream)
{
	DONE(copy_line(device_side(to), host_side((uintptr_t)from), n, false, stream));
}

CU_API(cuMemcpyDtoH_v2)(void *to, CUdeviceptr from, size_t n)
{
	DONE(copy_line(host_side((uintptr_t)to), device_side(from), n, true, NULL));
}

CU_API(cuMemcpyDtoHAsync_v2)(void *to, CUdeviceptr from, size_t n, CUstream stream)
{
	DONE(copy_line(host_side((uintptr_t)to), device_side(from), n, false, stream));
}

CU_API(cuMemcpyDtoD_v2)(CUdeviceptr to, CUdeviceptr from, size_t n)
{
	DONE(copy_line(device_side(to), device_side(from), n, true, NULL));
}

CU_API(cuMemcpyDtoDAsync_v2)(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream stream)
{
	DONE(copy_line(device_side(to), device_side(from), n, false, stream));
}

CU_API(cuMemcpyPeer)
(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t n)
{
	(void)to_context, (void)from_context;
	DONE(copy_line(device_side(to), device_side(from), n, true, NULL));
}

CU_API(cuMemcpyPeerAsync)
(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t n,
 CUstream stream)
{
	(void)to_context, (void)from_context;
	DONE(copy_line(device_side(to), device_side(from), n, false, stream));
}

/* ---- boxes ---- */

/* A corner of one side of a box: what it is, where, and the offset in it. */
struct corner {
	unsigned type;
	const void *host;
	CUdeviceptr device;
	const struct array *array;
	size_t x, y, z, pitch, height, lod;
};

static CUresult side_make(const struct corner *c, size_t width, size_t height,
			  struct copy_side *ret_side)
{
	uint64_t pitch = c->pitch ? c->pitch : c->x + width;
	uint64_t rows = c->height ? c->height : c->y + height;
	switch (c->type) {
	case CU_MEMORYTYPE_HOST:
		*ret_side = host_side((uintptr_t)c->host);
		break;
	case CU_MEMORYTYPE_DEVICE:
		*ret_side = device_side(c->device);
		break;
	case CU_MEMORYTYPE_UNIFIED:
		*ret_side = host_side(c->device);
		break;
	case CU_MEMORYTYPE_ARRAY:
		if (!IS(c->array, MAGIC_ARRAY))
			return CUDA_ERROR_INVALID_HANDLE;
		pitch = c->array->row_bytes;
		rows = c->array->n_rows;
		if (c->y > rows || height > rows - c->y || c->z > c->array->n_slices)
			return CUDA_ERROR_INVALID_VALUE;
		*ret_side = device_side(c->array->address);
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	if (c->lod != 0 || c->x > pitch || width > pitch - c->x)
		return CUDA_ERROR_INVALID_VALUE;
	ret_side->pitch = pitch;
	ret_side->slice = rows * pitch;
	ret_side->at += (c->z * rows + c->y) * pitch + c->x;
	return CUDA_SUCCESS;
}

static CUresult box_make(const CUDA_MEMCPY3D *c, struct box *ret_box)
{
	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	const struct corner from = { c->src_type,   c->src_host, c->src_device, c->src_array,
				     c->src_x,      c->src_y,    c->src_z,      c->src_pitch,
				     c->src_height, c->src_lod };
	const struct corner to = { c->dst_type,   c->dst_host, c->dst_device, c->dst_array,
				   c->dst_x,      c->dst_y,    c->dst_z,      c->dst_pitch,
				   c->dst_height, c->dst_lod };
	*ret_box = (struct box){ .n_bytes = c->width, .n_rows = c->height, .n_slices = c->depth };
	CUresult result = side_make(&from, c->width, c->height, &ret_box->from);
	return result == CUDA_SUCCESS ? side_make(&to, c->width, c->height, &ret_box->to) : result;
}

CUresult copy_op(const CUDA_MEMCPY3D *c, struct driver_op *ret_op)
{
	struct box box;
	CUresult result = box_make(c, &box);
	if (result == CUDA_SUCCESS && (c->height == 0 || c->depth == 0))
		result = CUDA_ERROR_INVALID_VALUE;
	return result == CUDA_SUCCESS ? make_op(&box, false, ret_op) : result;
}

static CUresult copy_box(const CUDA_MEMCPY3D *c, bool waits, CUstream stream)
{
	struct box box;
	CUresult result = box_make(c, &box);
	return result == CUDA_SUCCESS ? copy_through_boxes(&box, waits, stream) : result;
}

static CUresult copy_rectangle(const CUDA_MEMCPY2D *c, bool waits, CUstream stream)
{
	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	const CUDA_MEMCPY3D box = {
		.src_x = c->src_x,
		.src_y = c->src_y,
		.src_type = c->src_type,
		.src_host = c->src_host,
		.src_device = c->src_device,
		.src_array = c->src_array,
		.src_pitch = c->src_pitch,
		.dst_x = c->dst_x,
		.dst_y = c->dst_y,
		.dst_type = c->dst_type,
		.dst_host = c->dst_host,
		.dst_device = c->dst_device,
		.dst_array = c->dst_array,
		.dst_pitch = c->dst_pitch,
		.width = c->width,
		.height = c->height,
		.depth = 1,
	};
	return copy_box(&box, waits, stream);
}

CU_API(cuMemcpy2D_v2)(const CUDA_MEMCPY2D *c)
{
	DONE(copy_rectangle(c, true, NULL));
}

CU_API(cuMemcpy2DUnaligned_v2)(const CUDA_MEMCPY2D *c)
{
	DONE(copy_rectangle(c, true, NULL));
}

CU_API(cuMemcpy2DAsync_v2)(const CUDA_MEMCPY2D *c, CUstream stream)
{
	DONE(copy_rectangle(c, false, stream));
}

CU_API(cuMemcpy3D_v2)(const CUDA_MEMCPY3D *c)
{
	DONE(copy_box(c, true, NULL));
}

CU_API(cuMemcpy3DAsync_v2)(const CUDA_MEMCPY3D *c, CUstream stream)
{
	DONE(copy_box(c, false, stream));
}

/* ---- bytes of arrays ---- */

/* From a byte of an array of one dimension on. */
static CUresult array_side(CUarray array, size_t offset, size_t n, struct copy_side *ret_side)
{
	if (!IS(array, MAGIC_ARRAY))
		return CUDA_ERROR_INVALID_HANDLE;
	if (offset > array->row_bytes || n > array->row_bytes - offset)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_side = device_side(array->address + offset);
	return CUDA_SUCCESS;
}

static CUresult copy_to_array(CUarray to, size_t offset, struct copy_side from, size_t n,
			      bool waits, CUstream stream)
{
	struct copy_side side;
	CUresult result = array_side(to, offset, n, &side);
	return result == CUDA_SUCCESS ? copy_line(side, from, n, waits, stream) : result;
}

static CUresult copy_from_array(struct copy_side to, CUarray from, size_t offset, size_t n,
				bool waits, CUstream stream)
{
	struct copy_side side;
	CUresult result = array_side(from, offset, n, &side);
	return result == CUDA_SUCCESS ? copy_line(to, side, n, waits, stream) : result;
}

CU_API(cuMemcpyHtoA_v2)(CUarray to, size_t offset, const void *from, size_t n)
{
	DONE(copy_to_array(to, offset, host_side((uintptr_t)from), n, true, NULL));
}

CU_API(cuMemcpyHtoAAsync_v2)
(CUarray to, size_t offset, const void *from, size_t n, CUstream stream)
{
	DONE(copy_to_array(to, offset, host_side((uintptr_t)from), n, false, stream));
}

CU_API(cuMemcpyDtoA_v2)(CUarray to, size_t offset, CUdeviceptr from, size_t n)
{
	DONE(copy_to_array(to, offset, device_side(from), n, true, NULL));
}

CU_API(cuMemcpyAtoH_v2)(void *to, CUarray from, size_t offset, size_t n)
{
	DONE(copy_from_array(host_side((uintptr_t)to), from, offset, n, true, NULL));
}

CU_API(cuMemcpyAtoHAsync_v2)(void *to, CUarray from, size_t offset, size_t n, CUstream stream)
{
	DONE(copy_from_array(host_side((uintptr_t)to), from, offset, n, false, stream));
}

CU_API(cuMemcpyAtoD_v2)(CUdeviceptr to, CUarray from, size_t offset, size_t n)
{
	DONE(copy_from_array(device_side(to), from, offset, n, true, NULL));
}

CU_API(cuMemcpyAtoA_v2)
(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t n)
{
	struct copy_side side;
	CUresult result = array_side(from, from_offset, n, &side);
	DONE(result == CUDA_SUCCESS ? copy_to_array(to, to_offset, side, n, true, NULL) : result);
}

/* ---- fills ---- */

CUresult fill_op(CUdeviceptr at, size_t pitch, unsigned value, unsigned size, size_t width,
		 size_t height, struct driver_op *ret_op)
{
	if ((size != 1 && size != 2 && size != 4) || at % size != 0 || width > SIZE_MAX / 8)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_op = (struct driver_op){ .run = run_fill,
				      .type = CU_NODE_MEMSET,
				      .word = { at, pitch, value, size, width, height } };
	return CUDA_SUCCESS;
}

static CUresult device_fill(CUdeviceptr at, size_t pitch, unsigned value, unsigned size,
			    size_t width, size_t height, bool waits, CUstream stream)
{
	struct driver_op op;
	CUresult result = stream_check(stream);
	if (result == CUDA_SUCCESS)
		result = fill_op(at, pitch, value, size, width, height, &op);
	if (result != CUDA_SUCCESS || width == 0 || height == 0)
		return result;
	return waits ? queue_do(&op) : stream_add(stream, &op);
}

#define FILL(name, type, size)                                                                   \
	CU_API(cuMemsetD##name##_v2)(CUdeviceptr at, type value, size_t n)                       \
	{                                                                                        \
		DONE(device_fill(at, 0, value, size, n, 1, true, NULL));                         \
	}                                                                                        \
	CU_API(cuMemsetD##name##Async)(CUdeviceptr at, type value, size_t n, CUstream stream)    \
	{                                                                                        \
		DONE(device_fill(at, 0, value, size, n, 1, false, stream));                      \
	}                                                                                        \
	CU_API(cuMemsetD2D##name##_v2)                                                           \
	(CUdeviceptr at, size_t pitch, type value, size_t width, size_t height)                  \
	{                                                                                        \
		DONE(device_fill(at, pitch, value, size, width, height, true, NULL));            \
	}                                                                                        \
	CU_API(cuMemsetD2D##name##Async)                                                         \
	(CUdeviceptr at, size_t pitch, type value, size_t width, size_t height, CUstream stream) \
	{                                                                                        \
		DONE(device_fill(at, pitch, value, size, width, height, false, stream));         \
	}

FILL(8, unsigned char, 1)
FILL(16, unsigned short, 2)
FILL(32, unsigned, 4)
