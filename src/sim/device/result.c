/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/device/result.h"

static const char *result_name(enum ws_cuda_result result)
{
	switch (result) {
#define X(number, name, text) \
	case WS_##name:       \
		return #name;
		WS_CUDA_RESULT_LIST(X)
#undef X
	}
	return "";
}

static enum ws_status result_status(enum ws_cuda_result result)
{
	return result == WS_CUDA_ERROR_OUT_OF_MEMORY       ? WS_NO_MEMORY
	       : result == WS_CUDA_ERROR_NOT_FOUND         ? WS_ABSENT
	       : result == WS_CUDA_ERROR_INVALID_IMAGE     ? WS_MALFORMED
	       : result == WS_CUDA_ERROR_NO_BINARY_FOR_GPU ? WS_UNSUPPORTED
	       : result == WS_CUDA_ERROR_NOT_SUPPORTED     ? WS_UNSUPPORTED
							   : WS_ARGUMENT;
}

enum ws_status wsi_cuda_context(struct ws_error *err, enum ws_status status,
				enum ws_cuda_result result)
{
	if (status == WS_NO_MEMORY)
		result = WS_CUDA_ERROR_OUT_OF_MEMORY;
	if (err && status != WS_OK)
		err->cuda_result = (int)result;
	return wsi_context(err, status, "%s", result_name(result));
}

enum ws_status wsi_cuda_fail(struct ws_error *err, enum ws_cuda_result result, const char *format,
			     ...)
{
	char why[sizeof err->message];
	va_list args;
	va_start(args, format);
	vsnprintf(why, sizeof why, format, args);
	va_end(args);
	return wsi_cuda_context(err, wsi_fail(err, result_status(result), WS_NO_OFFSET, "%s", why),
				result);
}

enum ws_status wsi_cuda_no_memory(struct ws_error *err)
{
	const enum ws_cuda_result result = WS_CUDA_ERROR_OUT_OF_MEMORY;
	enum ws_status st = wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "%s", result_name(result));
	if (err)
		err->cuda_result = (int)result;
	return st;
}
