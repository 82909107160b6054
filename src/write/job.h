/* SPDX-License-Identifier: Apache-2.0 */
/* A target on its way into a dump: what every part of it needs. */
#ifndef WSI_WRITE_JOB_H
#define WSI_WRITE_JOB_H

#include "base/interval.h"
#include "write/select.h"
#include "write/writer.h"

struct wsi_addresses {
	struct wsi_segments segments; /* owned: of all ranges, id 0 */
};

/* What is done to the contents on their way. NULL members leave them as they are. */
struct wsi_edit {
	void *user;
	void (*registers)(void *user, enum ws_reg_kind kind, uint32_t *values, uint32_t n);
	/* memory: whole 8-byte words at aligned addresses but for the ends of a stretch */
	void (*memory)(void *user, uint64_t address, uint8_t *bytes, size_t n);
	/* an image; what it returns must stay until the next call; without a pointer it is left out
	 */
	enum ws_status (*image)(void *user, struct ws_span bytes, struct ws_span *ret_bytes,
				struct ws_error *err);
	/* the structure of state.h that stands for a row of a table of this kind */
	void (*row)(enum wsi_kind kind, void *row);
};

enum { WSI_JOB_BUFFER = 256 * 1024, WSI_MAX_REGISTERS = 4096 };

struct wsi_write_job {
	const struct ws_target *target;
	const struct ws_core *core; /* under the target, or NULL */
	struct ws_writer *writer;
	struct ws_counts counts;
	struct ws_counts next; /* elements written or passed over so far */
	uint32_t flags;
	uint32_t stripped; /* ws_strip_flags: what the selection and the edit take away */
	const struct wsi_selection *selection;
	const struct wsi_edit *edit;
	const struct ws_write_keep *keeps;
	size_t n_keeps;
	enum ws_hides hides;    /* of what is lost of the target */
	const uint32_t *halves; /* for WSI_HALVES_NOTE; borrowed */
	uint32_t n_halves;
	struct ws_span map;    /* for WSI_MAP_NOTE; borrowed */
	uint64_t memory_bytes; /* written so far */
	uint8_t *buffer;       /* owned: WSI_JOB_BUFFER bytes */
	uint32_t *registers;   /* owned: WSI_MAX_REGISTERS of them */
	/* of ws_target_memory_range(): where each space begins, and the end */
	uint32_t first_range[WS_SPACE_CODE + 1];
	struct wsi_addresses banks, kept, contested; /* addresses of global memory */
	struct ws_error *err;
};

/* Whether something that was asked for is not there, as opposed to a failure. */
static inline bool wsi_is_missing(enum ws_status status)
{
	return status == WS_ABSENT || status == WS_EXCLUDED || status == WS_UNSUPPORTED ||
	       status == WS_MALFORMED || status == WS_TRUNCATED;
}

/* ---- memory (memory.c) ---- */

/* Finds the ranges; call first. */
enum ws_status wsi_job_memory_init(struct wsi_write_job *job) WS_MUST_USE;
void wsi_job_memory_fini(struct wsi_write_job *job);
/* Number of the first range that is not before this owner's; see wsi_job_range(). */
uint32_t wsi_job_first_range(const struct wsi_write_job *job, enum ws_space space, uint32_t owner);
/* A range when it is of that space and owner (block, warp, grid). */
bool wsi_job_range(const struct wsi_write_job *job, uint32_t number, enum ws_space space,
		   uint32_t owner, struct ws_memory_range *ret_range);
/* All of global memory that is wanted. */
enum ws_status wsi_job_global(struct wsi_write_job *job) WS_MUST_USE;
/* What is wanted of memory with an owner; `warp_index` is used to read shared memory. */
enum ws_status wsi_job_owned(struct wsi_write_job *job, const struct ws_memory_range *range,
			     uint32_t warp_index, const struct ws_write_table *parent,
			     uint32_t row) WS_MUST_USE;

/* ---- the whole (target.c) ---- */

/* Layout and metadata for a target: ws_write_options.driver, .flags, .timestamp. */
struct wsi_origin {
	uint32_t driver;
	struct ws_dump_facts facts; /* have_metadata: to be written */
	const char *path;           /* of the dump; NULL: none */
	char generator[64];
};

enum ws_status wsi_write_origin_of(const struct ws_target *target,
				   const struct ws_write_options *options,
				   struct wsi_origin *ret_origin, struct ws_error *err) WS_MUST_USE;

/* Writes the target as a dump called `path`; target, flags, selection, edit, keeps and err of `job`
 * have been filled. */
enum ws_status wsi_job_write(struct wsi_write_job *job, const char *path,
			     const struct wsi_origin *origin) WS_MUST_USE;

#endif
