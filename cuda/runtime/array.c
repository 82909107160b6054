/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, boxes, textures and surfaces. */
#include "runtime.h"

#include <string.h>

struct channel_desc {
	int bits[4];
	int kind;
};

enum { KIND_SIGNED, KIND_UNSIGNED, KIND_FLOAT };

struct array_extent {
	size_t width, height, depth;
};

struct array_place {
	size_t x, y, z;
};

struct pitched {
	void *at;
	size_t pitch, width, height;
};

struct copy_params {
	CUarray from_array;
	struct array_place from_place;
	struct pitched from;
	CUarray to_array;
	struct array_place to_place;
	struct pitched to;
	struct array_extent extent;
	int direction;
};

/* ---- formats ---- */

static bool format_of(const struct channel_desc *channel, int *ret_format, unsigned *ret_n)
{
	static const struct {
		int kind, bits, format;
	} formats[] = {
		{ KIND_UNSIGNED, 8, CU_FORMAT_U8 },   { KIND_UNSIGNED, 16, CU_FORMAT_U16 },
		{ KIND_UNSIGNED, 32, CU_FORMAT_U32 }, { KIND_SIGNED, 8, CU_FORMAT_S8 },
		{ KIND_SIGNED, 16, CU_FORMAT_S16 },   { KIND_SIGNED, 32, CU_FORMAT_S32 },
		{ KIND_FLOAT, 16, CU_FORMAT_HALF },   { KIND_FLOAT, 32, CU_FORMAT_FLOAT },
	};
	unsigned n = 1;
	while (n < 4 && channel->bits[n] != 0 && channel->bits[n] == channel->bits[0])
		n++;
	for (unsigned i = n; i < 4; i++)
		if (channel->bits[i] != 0)
			return false;
	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
		if (formats[i].kind == channel->kind && formats[i].bits == channel->bits[0]) {
			*ret_format = formats[i].format;
			*ret_n = n;
			return true;
		}
	return false;
}

static void channel_of(int format, unsigned n, struct channel_desc *ret_channel)
{
	int bits = format == CU_FORMAT_U8 || format == CU_FORMAT_S8     ? 8
		   : format == CU_FORMAT_U16 || format == CU_FORMAT_S16 ? 16
		   : format == CU_FORMAT_HALF                           ? 16
									: 32;
	memset(ret_channel, 0, sizeof *ret_channel);
	for (unsigned i = 0; i < n && i < 4; i++)
		ret_channel->bits[i] = bits;
	ret_channel->kind = format >= CU_FORMAT_HALF ? KIND_FLOAT
			    : format >= CU_FORMAT_S8 ? KIND_SIGNED
						     : KIND_UNSIGNED;
}

RT_API_OF(struct channel_desc, cudaCreateChannelDesc)(int x, int y, int z, int w, int kind)
{
	return (struct channel_desc){ { x, y, z, w }, kind };
}

/* ---- arrays ---- */

static int make_array(CUarray *ret_array, const struct channel_desc *channel,
		      struct array_extent extent, unsigned flags)
{
	CUDA_ARRAY3D_DESCRIPTOR about = { .width = extent.width,
					  .height = extent.height,
					  .depth = extent.depth,
					  .flags = flags };
	int result = ret_array && channel ? rt_begin() : RT_INVALID_VALUE;
	if (result == RT_SUCCESS && !format_of(channel, &about.format, &about.n_channels))
		result = RT_INVALID_CHANNEL;
	return result == RT_SUCCESS ? (int)cuArray3DCreate_v2(ret_array, &about) : result;
}

RT_API(cudaMallocArray)
(CUarray *ret_array, const struct channel_desc *channel, size_t width, size_t height,
 unsigned flags)
{
	const struct array_extent extent = { width, height, 0 };
	return rt_done(make_array(ret_array, channel, extent, flags));
}

RT_API(cudaMalloc3DArray)
(CUarray *ret_array, const struct channel_desc *channel, struct array_extent extent, unsigned flags)
{
	return rt_done(make_array(ret_array, channel, extent, flags));
}

RT_API(cudaFreeArray)(CUarray array)
{
	RT_CALL(array ? cuArrayDestroy(array) : CUDA_SUCCESS);
}

RT_API(cudaArrayGetInfo)
(struct channel_desc *ret_channel, struct array_extent *ret_extent, unsigned *ret_flags,
 CUarray array)
{
	CUDA_ARRAY3D_DESCRIPTOR about;
	int result = rt_begin();
	if (result == RT_SUCCESS)
		result = (int)cuArray3DGetDescriptor_v2(&about, array);
	if (result != RT_SUCCESS)
		return rt_done(result);
	if (ret_channel)
		channel_of(about.format, about.n_channels, ret_channel);
	if (ret_extent)
		*ret_extent = (struct array_extent){ about.width, about.height, about.depth };
	if (ret_flags)
		*ret_flags = about.flags;
	return rt_done(RT_SUCCESS);
}

RT_API(cudaGetChannelDesc)(struct channel_desc *ret_channel, CUarray array)
{
	return ret_channel ? cudaArrayGetInfo(ret_channel, NULL, NULL, array)
			   : rt_done(RT_INVALID_VALUE);
}

/* Bytes of a texel. */
static size_t texel_bytes(CUarray array)
{
	CUDA_ARRAY3D_DESCRIPTOR about;
	struct channel_desc channel;
	if (cuArray3DGetDescriptor_v2(&about, array) != CUDA_SUCCESS)
		return 1; /* the copy will tell */
	channel_of(about.format, about.n_channels, &channel);
	return (size_t)channel.bits[0] / 8 * about.n_channels;
}

/* ---- boxes ---- */

RT_API(cudaMalloc3D)(struct pitched *ret, struct array_extent extent)
{
	CUdeviceptr at = 0;
	size_t pitch = 0;
	int result = ret ? rt_begin() : RT_INVALID_VALUE;
	size_t rows = 0;
	if (result == RT_SUCCESS && __builtin_mul_overflow(extent.height, extent.depth, &rows))
		result = RT_INVALID_VALUE;
	if (result == RT_SUCCESS)
		result = (int)cuMemAllocPitch_v2(&at, &pitch, extent.width, rows, 4);
	if (result == RT_SUCCESS)
		*ret = (struct pitched){ (void *)(uintptr_t)at, pitch, extent.width,
					 extent.height };
	return rt_done(result);
}

/* Whether a box lies in what `to` describes; its slices are then apart, so that what is too deep
 * leaves the memory. */
static int check_box(const struct pitched *to, const struct array_extent *extent)
{
	int result = rt_begin();
	bool rows = extent->height > 1 || extent->depth > 1;
	if (result == RT_SUCCESS && ((rows && to->pitch < extent->width) ||
				     (extent->depth > 1 && to->height < extent->height)))
		result = RT_INVALID_VALUE;
	return result;
}

/* How many slices it has to set. */
static size_t slices_of(const struct array_extent *extent)
{
	return extent->width && extent->height ? extent->depth : 0;
}

RT_API(cudaMemset3D)(struct pitched to, int value, struct array_extent extent)
{
	int result = check_box(&to, &extent);
	for (size_t z = 0; z < slices_of(&extent) && result == RT_SUCCESS; z++)
		result = (int)cuMemsetD2D8_v2((uintptr_t)to.at + z * to.height * to.pitch, to.pitch,
					      (unsigned char)value, extent.width, extent.height);
	return rt_done(result);
}

RT_API(cudaMemset3DAsync)
(struct pitched to, int value, struct array_extent extent, CUstream stream)
{
	int result = check_box(&to, &extent);
	for (size_t z = 0; z < slices_of(&extent) && result == RT_SUCCESS; z++)
		result = (int)cuMemsetD2D8Async((uintptr_t)to.at + z * to.height * to.pitch,
						to.pitch, (unsigned char)value, extent.width,
						extent.height, stream);
	return rt_done(result);
}

/* Widths of a copy that an array takes part in are texels. */
int rt_box(const void *params, CUDA_MEMCPY3D *ret_box)
{
	const struct copy_params *p = params;
	if (!p || p->direction < 0 || p->direction > 4)
		return p ? RT_INVALID_DIRECTION : RT_INVALID_VALUE;
	size_t from_texel = p->from_array ? texel_bytes(p->from_array) : 1;
	size_t to_texel = p->to_array ? texel_bytes(p->to_array) : 1;
	*ret_box = (CUDA_MEMCPY3D){
		.src_x = p->from_place.x * from_texel,
		.src_y = p->from_place.y,
		.src_z = p->from_place.z,
		.src_type = p->from_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED,
		.src_device = (uintptr_t)p->from.at,
		.src_array = p->from_array,
		.src_pitch = p->from.pitch,
		.src_height = p->from.height,
		.dst_x = p->to_place.x * to_texel,
		.dst_y = p->to_place.y,
		.dst_z = p->to_place.z,
		.dst_type = p->to_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED,
		.dst_device = (uintptr_t)p->to.at,
		.dst_array = p->to_array,
		.dst_pitch = p->to.pitch,
		.dst_height = p->to.height,
		.width = p->extent.width * (p->from_array ? from_texel : to_texel),
		.height = p->extent.height,
		.depth = p->extent.depth,
	};
	return RT_SUCCESS;
}

RT_API(cudaMemcpy3D)(const struct copy_params *params)
{
	CUDA_MEMCPY3D box;
	int result = rt_begin();
	if (result == RT_SUCCESS)
		result = rt_box(params, &box);
	return rt_done(result == RT_SUCCESS ? (int)cuMemcpy3D_v2(&box) : result);
}

RT_API(cudaMemcpy3DAsync)(const struct copy_params *params, CUstream stream)
{
	CUDA_MEMCPY3D box;
	int result = rt_begin();
	if (result == RT_SUCCESS)
		result = rt_box(params, &box);
	return rt_done(result == RT_SUCCESS ? (int)cuMemcpy3DAsync_v2(&box, stream) : result);
}

/* ---- rows to and from arrays ---- */

/* Rows of memory at a place of an array; offsets and widths are bytes. */
static int copy_rows(CUarray array, bool to_array, size_t x, size_t y, const void *at, size_t pitch,
		     size_t width, size_t height, bool waits, CUstream stream)
{
	CUDA_MEMCPY2D c = { .width = width, .height = height };
	int result = rt_begin();
	if (result != RT_SUCCESS || width == 0 || height == 0)
		return result;
	if (to_array) {
		c.dst_type = CU_MEMORYTYPE_ARRAY;
		c.dst_array = array;
		c.dst_x = x;
		c.dst_y = y;
		c.src_type = CU_MEMORYTYPE_UNIFIED;
		c.src_device = (uintptr_t)at;
		c.src_pitch = pitch;
	} else {
		c.src_type = CU_MEMORYTYPE_ARRAY;
		c.src_array = array;
		c.src_x = x;
		c.src_y = y;
		c.dst_type = CU_MEMORYTYPE_UNIFIED;
		c.dst_device = (uintptr_t)at;
		c.dst_pitch = pitch;
	}
	return (int)(waits ? cuMemcpy2D_v2(&c) : cuMemcpy2DAsync_v2(&c, stream));
}

RT_API(cudaMemcpy2DToArray)
(CUarray to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
 int direction)
{
	(void)direction; /* addresses tell */
	return rt_done(copy_rows(to, true, x, y, from, pitch, width, height, true, NULL));
}

RT_API(cudaMemcpy2DToArrayAsync)
(CUarray to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
 int direction, CUstream stream)
{
	(void)direction;
	return rt_done(copy_rows(to, true, x, y, from, pitch, width, height, false, stream));
}

RT_API(cudaMemcpy2DFromArray)
(void *to, size_t pitch, CUarray from, size_t x, size_t y, size_t width, size_t height,
 int direction)
{
	(void)direction;
	return rt_done(copy_rows(from, false, x, y, to, pitch, width, height, true, NULL));
}

RT_API(cudaMemcpy2DFromArrayAsync)
(void *to, size_t pitch, CUarray from, size_t x, size_t y, size_t width, size_t height,
 int direction, CUstream stream)
{
	(void)direction;
	return rt_done(copy_rows(from, false, x, y, to, pitch, width, height, false, stream));
}

/* Bytes that begin in a row and go on in the next ones. */
static int copy_array_bytes(CUarray array, bool to_array, size_t x, size_t y, const char *at,
			    size_t n, bool waits, CUstream stream)
{
	CUDA_ARRAY3D_DESCRIPTOR about;
	int result = rt_begin();
	if (result == RT_SUCCESS)
		result = (int)cuArray3DGetDescriptor_v2(&about, array);
	if (result != RT_SUCCESS)
		return result;
	size_t row = about.width * texel_bytes(array);
	while (n > 0 && result == RT_SUCCESS) {
		size_t first = x < row ? row - x : 0;
		size_t width = x > 0 || n < row ? (n < first ? n : first) : row;
		size_t height = width == row ? n / row : 1;
		if (width == 0)
			return RT_INVALID_VALUE;
		result = copy_rows(array, to_array, x, y, at, width, width, height, waits, stream);
		at += width * height;
		n -= width * height;
		x = 0;
		y += height;
	}
	return result;
}

RT_API(cudaMemcpyToArray)
(CUarray to, size_t x, size_t y, const void *from, size_t n, int direction)
{
	(void)direction;
	return rt_done(copy_array_bytes(to, true, x, y, from, n, true, NULL));
}

RT_API(cudaMemcpyToArrayAsync)
(CUarray to, size_t x, size_t y, const void *from, size_t n, int direction, CUstream stream)
{
	(void)direction;
	return rt_done(copy_array_bytes(to, true, x, y, from, n, false, stream));
}

RT_API(cudaMemcpyFromArray)
(void *to, CUarray from, size_t x, size_t y, size_t n, int direction)
{
	(void)direction;
	return rt_done(copy_array_bytes(from, false, x, y, to, n, true, NULL));
}

RT_API(cudaMemcpyFromArrayAsync)
(void *to, CUarray from, size_t x, size_t y, size_t n, int direction, CUstream stream)
{
	(void)direction;
	return rt_done(copy_array_bytes(from, false, x, y, to, n, false, stream));
}

RT_API(cudaMemcpy2DArrayToArray)
(CUarray to, size_t to_x, size_t to_y, CUarray from, size_t from_x, size_t from_y, size_t width,
 size_t height, int direction)
{
	const CUDA_MEMCPY2D c = { .src_type = CU_MEMORYTYPE_ARRAY,
				  .src_array = from,
				  .src_x = from_x,
				  .src_y = from_y,
				  .dst_type = CU_MEMORYTYPE_ARRAY,
				  .dst_array = to,
				  .dst_x = to_x,
				  .dst_y = to_y,
				  .width = width,
				  .height = height };
	(void)direction;
	RT_CALL(cuMemcpy2D_v2(&c));
}

/* ---- textures and surfaces ---- */

struct resource {
	int type; /* as the driver numbers them */
	union {
		CUarray array;
		struct {
			void *at;
			struct channel_desc channel;
			size_t n_bytes;
		} linear;
		struct {
			void *at;
			struct channel_desc channel;
			size_t width, height, pitch;
		} plane;
	} res;
};

struct texture {
	int mode[3], filter, as_float, is_srgb;
	float border[4];
	int is_normalized;
	unsigned anisotropy;
	int mipmap_filter;
	float mipmap_bias, mipmap_least, mipmap_greatest;
	int not_trilinear, is_seamless;
};

static int resource_of(const struct resource *from, CUDA_RESOURCE_DESC *ret)
{
	bool known = true;
	if (!from)
		return RT_INVALID_VALUE;
	memset(ret, 0, sizeof *ret);
	ret->type = from->type;
	switch (from->type) {
	case CU_RESOURCE_LINEAR:
		ret->res.linear.address = (uintptr_t)from->res.linear.at;
		ret->res.linear.n_bytes = from->res.linear.n_bytes;
		known = format_of(&from->res.linear.channel, &ret->res.linear.format,
				  &ret->res.linear.n_channels);
		break;
	case CU_RESOURCE_PITCH2D:
		ret->res.plane.address = (uintptr_t)from->res.plane.at;
		ret->res.plane.width = from->res.plane.width;
		ret->res.plane.height = from->res.plane.height;
		ret->res.plane.pitch = from->res.plane.pitch;
		known = format_of(&from->res.plane.channel, &ret->res.plane.format,
				  &ret->res.plane.n_channels);
		break;
	default:
		ret->res.array = from->res.array;
	}
	return known ? RT_SUCCESS : RT_INVALID_CHANNEL;
}

RT_API(cudaCreateTextureObject)
(unsigned long long *ret_handle, const struct resource *resource, const struct texture *texture,
 const void *view)
{
	CUDA_RESOURCE_DESC r;
	int result = texture ? rt_begin() : RT_INVALID_VALUE;
	if (result == RT_SUCCESS)
		result = resource_of(resource, &r);
	if (result != RT_SUCCESS)
		return rt_done(result);
	CUDA_TEXTURE_DESC t = {
		.filter = texture->filter,
		.flags = (texture->as_float ? 0u : CU_TEXTURE_AS_INTEGER) |
			 (texture->is_normalized ? CU_TEXTURE_NORMALIZED : 0u) |
			 (texture->is_srgb ? CU_TEXTURE_SRGB : 0u),
		.anisotropy = texture->anisotropy,
		.mipmap_filter = texture->mipmap_filter,
		.mipmap_bias = texture->mipmap_bias,
		.mipmap_least = texture->mipmap_least,
		.mipmap_greatest = texture->mipmap_greatest,
	};
	memcpy(t.mode, texture->mode, sizeof t.mode);
	memcpy(t.border, texture->border, sizeof t.border);
	return rt_done((int)cuTexObjectCreate(ret_handle, &r, &t, view));
}

RT_API(cudaDestroyTextureObject)(unsigned long long handle)
{
	RT_CALL(cuTexObjectDestroy(handle));
}

RT_API(cudaCreateSurfaceObject)(unsigned long long *ret_handle, const struct resource *resource)
{
	CUDA_RESOURCE_DESC r;
	int result = rt_begin();
	if (result == RT_SUCCESS)
		result = resource_of(resource, &r);
	return rt_done(result == RT_SUCCESS ? (int)cuSurfObjectCreate(ret_handle, &r) : result);
}

RT_API(cudaDestroySurfaceObject)(unsigned long long handle)
{
	RT_CALL(cuSurfObjectDestroy(handle));
}
