/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills. Each is an op of the queue; those that are not asynchronous wait for it. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

/* One side of a copy: rows of memory of the device, or of the host. */
struct side {
	uint64_t at, pitch;
	bool is_host;
};

/* ---- what the queue does ---- */

/* word: the device's address, its pitch, bytes of a row, rows, the host's pitch. */
static enum cu_result transfer(struct op *op, enum wire_op what)
{
	const uint64_t n_bytes = op->word[2], n_rows = op->word[3], pitch = op->word[4];
	CUresult result = CUDA_SUCCESS;
	for (uint64_t row = 0; row < n_rows && result == CUDA_SUCCESS; row++)
		for (uint64_t at = 0; at < n_bytes && result == CUDA_SUCCESS; at += WIRE_PIECE) {
			uint64_t n = n_bytes - at < WIRE_PIECE ? n_bytes - at : WIRE_PIECE;
			uint64_t word[WIRE_WORDS] = { op->word[0] + row * op->word[1] + at, n, n,
						      1 };
			char *host = (char *)op->host + row * pitch + at;
			result = what == WIRE_WRITE ? driver_work(what, word, host, n, NULL, 0)
						    : driver_work(what, word, NULL, 0, host, n);
		}
	return result;
}

static enum cu_result run_write(struct op *op)
{
	return transfer(op, WIRE_WRITE);
}

static enum cu_result run_read(struct op *op)
{
	return transfer(op, WIRE_READ);
}

/* For the program's memory, which the queue must not free. */
static enum cu_result run_read_later(struct op *op)
{
	struct op real = *op;
	memcpy(&real.host, op->host, sizeof real.host);
	return transfer(&real, WIRE_READ);
}

static enum cu_result run_copy(struct op *op)
{
	return driver_work(WIRE_COPY, op->word, NULL, 0, NULL, 0);
}

static enum cu_result run_fill(struct op *op)
{
	return driver_work(WIRE_FILL, op->word, NULL, 0, NULL, 0);
}

/* ---- copies ---- */

/* Notes an op of a stream that nobody waits for. */
static CUresult later(const struct op *op, CUstream stream)
{
	uint64_t number = queue_add(op);
	return number ? stream_note(stream, number) : CUDA_ERROR_OUT_OF_MEMORY;
}

/* From the host later: its bytes are taken now, as the program may change them. */
static CUresult write_later(struct op *op, CUstream stream)
{
	uint64_t n_bytes = op->word[2], n_rows = op->word[3];
	char *bytes = n_bytes <= SIZE_MAX / n_rows ? malloc(n_bytes * n_rows) : NULL;
	if (!bytes)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (uint64_t i = 0; i < n_rows; i++)
		memcpy(bytes + i * n_bytes, (const char *)op->host + i * op->word[4], n_bytes);
	op->host = bytes;
	op->word[4] = n_bytes;
	return later(op, stream);
}

static CUresult read_later(struct op *op, CUstream stream)
{
	void **place = malloc(sizeof *place);
	if (!place)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*place = op->host;
	op->host = place;
	op->run = run_read_later;
	return later(op, stream);
}

static CUresult copy_host(const struct side *to, const struct side *from, uint64_t n_bytes,
			  uint64_t n_rows)
{
	CUresult result = queue_drain();
	for (uint64_t i = 0; i < n_rows && result == CUDA_SUCCESS; i++)
		memmove((void *)(uintptr_t)(to->at + i * to->pitch),
			(const void *)(uintptr_t)(from->at + i * from->pitch), n_bytes);
	return result;
}

static CUresult copy(const struct side *to, const struct side *from, uint64_t n_bytes,
		     uint64_t n_rows, bool waits, CUstream stream)
{
	CUresult result = driver_check();
	if (result == CUDA_SUCCESS)
		result = stream_check(stream);
	if (result != CUDA_SUCCESS || n_bytes == 0 || n_rows == 0)
		return result;
	if (to->is_host && from->is_host)
		return copy_host(to, from, n_bytes, n_rows);
	struct op op = { .word = { to->at, to->pitch, from->at, from->pitch, n_bytes, n_rows },
			 .run = run_copy };
	if (to->is_host || from->is_host) {
		const struct side *device = to->is_host ? from : to,
				  *host = to->is_host ? to : from;
		op = (struct op){ .run = to->is_host ? run_read : run_write,
				  .host = (void *)(uintptr_t)host->at,
				  .word = { device->at, device->pitch, n_bytes, n_rows,
					    host->pitch } };
	}
	if (waits)
		return queue_do(&op);
	if (from->is_host)
		return write_later(&op, stream);
	return to->is_host ? read_later(&op, stream) : later(&op, stream);
}

/* A place whose kind only its address tells. Memory that both see is taken as the device's. */
static struct side side_of(uint64_t at)
{
	struct range range;
	return (struct side){ .at = at, .is_host = !range_find(at, &range) };
}

static CUresult copy_line(struct side to, struct side from, size_t n_bytes, bool waits,
			  CUstream stream)
{
	return copy(&to, &from, n_bytes, 1, waits, stream);
}

static struct side host_side(const void *host)
{
	return (struct side){ .at = (uintptr_t)host, .is_host = true };
}

static struct side device_side(CUdeviceptr address)
{
	return (struct side){ .at = address };
}

CU_API(cuMemcpy)(CUdeviceptr to, CUdeviceptr from, size_t n)
{
	DONE(copy_line(side_of(to), side_of(from), n, true, NULL));
}

CU_API(cuMemcpyAsync)(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream stream)
{
	DONE(copy_line(side_of(to), side_of(from), n, false, stream));
}

CU_API(cuMemcpyHtoD_v2)(CUdeviceptr to, const void *from, size_t n)
{
	DONE(copy_line(device_side(to), host_side(from), n, true, NULL));
}

CU_API(cuMemcpyHtoDAsync_v2)(CUdeviceptr to, const void *from, size_t n, CUstream stream)
{
	DONE(copy_line(device_side(to), host_side(from), n, false, stream));
}

CU_API(cuMemcpyDtoH_v2)(void *to, CUdeviceptr from, size_t n)
{
	DONE(copy_line(host_side(to), device_side(from), n, true, NULL));
}

CU_API(cuMemcpyDtoHAsync_v2)(void *to, CUdeviceptr from, size_t n, CUstream stream)
{
	DONE(copy_line(host_side(to), device_side(from), n, false, stream));
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

/* A side of a copy of rows; INVALID_VALUE: there are no arrays. */
static CUresult side_make(unsigned type, const void *host, CUdeviceptr device, uint64_t offset,
			  uint64_t pitch, struct side *ret_side)
{
	*ret_side = (struct side){ .pitch = pitch };
	switch (type) {
	case CU_MEMORYTYPE_HOST:
		ret_side->at = (uintptr_t)host + offset;
		ret_side->is_host = true;
		return CUDA_SUCCESS;
	case CU_MEMORYTYPE_DEVICE:
		ret_side->at = device + offset;
		return CUDA_SUCCESS;
	case CU_MEMORYTYPE_UNIFIED:
		ret_side->is_host = side_of(device).is_host;
		ret_side->at = device + offset;
		return CUDA_SUCCESS;
	case CU_MEMORYTYPE_ARRAY:
		return CUDA_ERROR_NOT_SUPPORTED;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

static CUresult copy_box(const CUDA_MEMCPY3D *c, bool waits, CUstream stream)
{
	struct side to, from;
	if (!c || c->src_lod != 0 || c->dst_lod != 0)
		return CUDA_ERROR_INVALID_VALUE;
	uint64_t src_pitch = c->src_pitch ? c->src_pitch : c->src_x + c->width;
	uint64_t dst_pitch = c->dst_pitch ? c->dst_pitch : c->dst_x + c->width;
	uint64_t src_height = c->src_height ? c->src_height : c->src_y + c->height;
	uint64_t dst_height = c->dst_height ? c->dst_height : c->dst_y + c->height;
	if (c->src_x + c->width > src_pitch || c->dst_x + c->width > dst_pitch)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = CUDA_SUCCESS;
	for (size_t z = 0; z < c->depth && result == CUDA_SUCCESS; z++) {
		uint64_t src = ((c->src_z + z) * src_height + c->src_y) * src_pitch + c->src_x;
		uint64_t dst = ((c->dst_z + z) * dst_height + c->dst_y) * dst_pitch + c->dst_x;
		result = side_make(c->src_type, c->src_host, c->src_device, src, src_pitch, &from);
		if (result == CUDA_SUCCESS)
			result = side_make(c->dst_type, c->dst_host, c->dst_device, dst, dst_pitch,
					   &to);
		if (result == CUDA_SUCCESS)
			result = copy(&to, &from, c->width, c->height, waits, stream);
	}
	return result;
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
		.src_pitch = c->src_pitch,
		.dst_x = c->dst_x,
		.dst_y = c->dst_y,
		.dst_type = c->dst_type,
		.dst_host = c->dst_host,
		.dst_device = c->dst_device,
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

/* ---- fills ---- */

static CUresult fill(CUdeviceptr at, size_t pitch, unsigned value, unsigned size, size_t width,
		     size_t height, bool waits, CUstream stream)
{
	CUresult result = driver_check();
	if (result == CUDA_SUCCESS)
		result = stream_check(stream);
	if (result == CUDA_SUCCESS && (at % size != 0 || width > SIZE_MAX / 8))
		result = CUDA_ERROR_INVALID_VALUE;
	if (result != CUDA_SUCCESS || width == 0 || height == 0)
		return result;
	struct op op = { .run = run_fill, .word = { at, pitch, value, size, width, height } };
	return waits ? queue_do(&op) : later(&op, stream);
}

#define FILL(name, type, size)                                                                   \
	CU_API(cuMemsetD##name##_v2)(CUdeviceptr at, type value, size_t n)                       \
	{                                                                                        \
		DONE(fill(at, 0, value, size, n, 1, true, NULL));                                \
	}                                                                                        \
	CU_API(cuMemsetD##name##Async)(CUdeviceptr at, type value, size_t n, CUstream stream)    \
	{                                                                                        \
		DONE(fill(at, 0, value, size, n, 1, false, stream));                             \
	}                                                                                        \
	CU_API(cuMemsetD2D##name##_v2)                                                           \
	(CUdeviceptr at, size_t pitch, type value, size_t width, size_t height)                  \
	{                                                                                        \
		DONE(fill(at, pitch, value, size, width, height, true, NULL));                   \
	}                                                                                        \
	CU_API(cuMemsetD2D##name##Async)                                                         \
	(CUdeviceptr at, size_t pitch, type value, size_t width, size_t height, CUstream stream) \
	{                                                                                        \
		DONE(fill(at, pitch, value, size, width, height, false, stream));                \
	}

FILL(8, unsigned char, 1)
FILL(16, unsigned short, 2)
FILL(32, unsigned, 4)
