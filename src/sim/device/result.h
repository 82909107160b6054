/* SPDX-License-Identifier: Apache-2.0 */
/* A call fails: what a CUDA program is told of it, as data and as the message's first word. */
#ifndef WSI_SIM_RESULT_H
#define WSI_SIM_RESULT_H

#include <warpscope/cuda_results.h>

#include "base/base.h"

/* An error of the status that the result has. */
enum ws_status wsi_cuda_fail(struct ws_error *err, enum ws_cuda_result result, const char *format,
			     ...) WS_PRINTF(3, 4);

/* CUDA_ERROR_OUT_OF_MEMORY, and no word more. */
enum ws_status wsi_cuda_no_memory(struct ws_error *err);

/* Of an error that was made. Where the host has no memory that is the result, whatever was done. */
enum ws_status wsi_cuda_context(struct ws_error *err, enum ws_status status,
				enum ws_cuda_result result);

#endif
