/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * GPU core dumps: the writer.
 *
 * There are two ways: ws_write_target() makes a dump of anything that can be debugged, and
 * `ws_writer` builds one piece by piece, as the driver would:
 *
 *     ws_writer_open
 *     ws_writer_memory_begin / _append / _end     global memory (WS_SPACE_GLOBAL)
 *     ws_writer_devices                           all devices: gives a table
 *       for each device, in this order:
 *       ws_writer_contexts -- for each: ws_writer_modules -- for each: ws_writer_image
 *       ws_writer_grids ----- for each: parameters (WS_SPACE_PARAM), ws_writer_banks
 *       ws_writer_sms ------- for each: ws_writer_blocks
 *         for each block: shared memory, ws_writer_warps
 *           for each warp: ws_writer_words (uniform registers, ...), ws_writer_lanes
 *             for each lane: local memory, ws_writer_words, ws_writer_frames
 *     ws_writer_metadata
 *     ws_writer_commit, ws_writer_close
 *
 * This is the order of sections that the driver's log shows [public: progress logs in several
 * reports]; the names are the driver's too (docs/formats/coredump.md). The order is not enforced,
 * except that a parent must come before its children. Rows of a table are given in one call;
 * everything else streams. Memory use does not grow with the dump.
 *
 * **Layouts.** Drivers have only ever added fields and kinds of section. The writer takes the
 * driver branch whose layout is wanted (346 ... 615) and leaves out what that branch did not have
 * yet. What the caller's rows do not have (`have`) is not made up: that table then has the rows of
 * the last branch without it.
 *
 * **All or nothing.** ws_writer_commit() gives the file its name. A failure before that leaves an
 * existing file of that name unchanged, and nothing else: on Linux the file has no name until then;
 * elsewhere a process that is killed leaves PATH.XXXXXX.
 *
 * **Deterministic.** The same calls give the same bytes. **Threads.** One writer belongs to one
 * thread at a time; a thread of its own does the writing and packing, with all signals blocked.
 *
 * **Statuses**, everywhere below: WS_IO no space, no permission, no such folder; WS_NO_MEMORY;
 * WS_LIMIT more than the format can hold; WS_ARGUMENT an invalid parent. After a failure only
 * ws_writer_close() is useful.
 */
#ifndef WARPSCOPE_WRITE_H
#define WARPSCOPE_WRITE_H

#include <warpscope/state.h>
#include <warpscope/target.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	WS_WRITE_OLDEST = 346, /**< first driver branch with dumps */
	WS_WRITE_NEWEST = 615, /**< newest layout known */
};

/* ---- building ---- */

/** A dump being written. */
struct ws_writer;

/** How to write. Zero-filled with `size` set means the defaults, and so does a NULL pointer. */
struct ws_writer_options {
	size_t size;        /**< sizeof(struct ws_writer_options), as the caller was compiled */
	uint32_t driver;    /**< branch whose layout to write; 0: WS_WRITE_NEWEST */
	bool gzip;          /**< pack the whole file, as drivers since r590 can */
	const char *source; /**< as in ws_file_replace() */
};

/**
 * A table that was written: the parent of what comes next. Passed by value; treat the fields as
 * private.
 */
struct ws_write_table {
	uint32_t kind, section, n_rows;
	char path[64]; /**< of its parent row, as it appears in names */
};

/**
 * Starts a dump that will be named `path`.
 *
 * @retval WS_ARGUMENT     The driver branch does not exist, or the output is the input.
 * @retval WS_UNSUPPORTED  Something that is not a regular file has that name.
 */
WS_API enum ws_status ws_writer_open(const char *path, const struct ws_writer_options *options,
				     struct ws_writer **ret_writer,
				     struct ws_error *err) WS_MUST_USE;
/** Makes the dump say that something is missing in it, like a truncated one (`complete` of
 * ws_dump_facts), and what cannot be known without that. May be called at any time before the
 * commit. */
WS_API void ws_writer_incomplete(struct ws_writer *writer, enum ws_hides hides);
/** Makes the dump say what was removed (`left_out` and `stripped` of ws_dump_facts). May be called
 * at any time before the commit. */
WS_API void ws_writer_stripped(struct ws_writer *writer, uint32_t left_out, uint32_t stripped);
/** Completes the file and gives it its name. */
WS_API enum ws_status ws_writer_commit(struct ws_writer *writer, struct ws_error *err) WS_MUST_USE;
/** Closes; without a commit nothing remains of the file. NULL is fine. */
WS_API void ws_writer_close(struct ws_writer *writer);

/**
 * Tables. `n` rows, in the order in which they will be numbered; 0 rows make an empty table, which
 * is usual in dumps. `*ret_table` (may be NULL) is the parent for what belongs to the rows. Indices
 * in the rows (`device_index`, ...) are ignored: `parent` and `row` say where a table belongs. For
 * a kind of table that the layout does not have yet the result is WS_UNSUPPORTED, and nothing is
 * written.
 */
WS_API enum ws_status ws_writer_devices(struct ws_writer *writer, const struct ws_device *rows,
					uint32_t n, struct ws_write_table *ret_table,
					struct ws_error *err) WS_MUST_USE;
/** @param device_id  goes into each row */
WS_API enum ws_status ws_writer_contexts(struct ws_writer *writer,
					 const struct ws_write_table *devices, uint32_t row,
					 uint32_t device_id, const struct ws_context *rows,
					 uint32_t n, struct ws_write_table *ret_table,
					 struct ws_error *err) WS_MUST_USE;
/** Only the handles are taken; ws_writer_image() adds the images. */
WS_API enum ws_status ws_writer_modules(struct ws_writer *writer,
					const struct ws_write_table *contexts, uint32_t row,
					const struct ws_module *rows, uint32_t n,
					struct ws_write_table *ret_table,
					struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_writer_grids(struct ws_writer *writer,
				      const struct ws_write_table *devices, uint32_t row,
				      const struct ws_grid *rows, uint32_t n,
				      struct ws_write_table *ret_table,
				      struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_writer_sms(struct ws_writer *writer, const struct ws_write_table *devices,
				    uint32_t row, const struct ws_sm *rows, uint32_t n,
				    struct ws_write_table *ret_table,
				    struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_writer_blocks(struct ws_writer *writer, const struct ws_write_table *sms,
				       uint32_t row, const struct ws_block *rows, uint32_t n,
				       struct ws_write_table *ret_table,
				       struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_writer_warps(struct ws_writer *writer, const struct ws_write_table *blocks,
				      uint32_t row, const struct ws_warp *rows, uint32_t n,
				      struct ws_write_table *ret_table,
				      struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_writer_lanes(struct ws_writer *writer, const struct ws_write_table *warps,
				      uint32_t row, const struct ws_lane *rows, uint32_t n,
				      struct ws_write_table *ret_table,
				      struct ws_error *err) WS_MUST_USE;
/** Return addresses of a lane, innermost first. */
WS_API enum ws_status ws_writer_frames(struct ws_writer *writer, const struct ws_write_table *lanes,
				       uint32_t row, const struct ws_return_address *rows,
				       uint32_t n, struct ws_error *err) WS_MUST_USE;

/** Since r550. */
WS_API enum ws_status ws_writer_banks(struct ws_writer *writer, const struct ws_write_table *grids,
				      uint32_t row, const struct ws_bank *rows, uint32_t n,
				      struct ws_error *err) WS_MUST_USE;

/** The metadata, since r565: `have_metadata` of `facts`, and the fields that depend on it, are
 * used. */
WS_API enum ws_status ws_writer_metadata(struct ws_writer *writer,
					 const struct ws_dump_facts *facts,
					 struct ws_error *err) WS_MUST_USE;

/** One form of an image of a module. */
WS_API enum ws_status ws_writer_image(struct ws_writer *writer,
				      const struct ws_write_table *modules, uint32_t row,
				      bool relocated, struct ws_span bytes,
				      struct ws_error *err) WS_MUST_USE;

/**
 * Registers, starting with number 0, of a lane (WS_REG_R, WS_REG_P: `parent` is the lanes' table)
 * or of a warp. WS_UNSUPPORTED: the layout does not have that kind yet.
 */
WS_API enum ws_status ws_writer_words(struct ws_writer *writer, const struct ws_write_table *parent,
				      uint32_t row, enum ws_reg_kind kind, const uint32_t *values,
				      uint32_t n, struct ws_error *err) WS_MUST_USE;

/** Where a range of memory belongs. */
struct ws_write_memory {
	enum ws_space space;                 /**< global, shared, local or param */
	bool managed;                        /**< global: managed memory */
	uint64_t start;                      /**< global, local: address of the first byte */
	const struct ws_write_table *parent; /**< blocks (shared), lanes (local), grids (param) */
	uint32_t row;                        /**< of `parent` */
};

/** A range of memory: begin, its bytes in as many pieces as wanted, end. */
WS_API enum ws_status ws_writer_memory_begin(struct ws_writer *writer,
					     const struct ws_write_memory *where,
					     struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_writer_memory_append(struct ws_writer *writer, const void *bytes,
					      size_t len, struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_writer_memory_end(struct ws_writer *writer,
					   struct ws_error *err) WS_MUST_USE;

/* ---- a dump of a target ---- */

/**
 * Memory to keep in spite of a SKIP flag: `len` bytes from `address` on. Shared memory, local
 * memory and parameters: of every block, lane and grid that is written. Shared memory and
 * parameters have no start address in a dump, so all before `address` is kept with it.
 */
struct ws_write_keep {
	enum ws_space space; /**< global, shared, local, param or const */
	uint32_t bank;       /**< const */
	uint64_t address, len;
};

/** How. Zero-filled with `size` set means the defaults, and so does a NULL pointer. */
struct ws_write_options {
	size_t size;     /**< sizeof(struct ws_write_options), as the caller was compiled */
	uint32_t driver; /**< layout; 0: that of the dump the target comes from, else the newest */
	uint32_t flags;  /**< ws_write_flags */
	const struct ws_write_keep *keep; /**< `n_keep` of them; borrowed during the call */
	size_t n_keep;
	uint32_t timestamp; /**< for a target that is not a dump: seconds since 1970; 0: none */
};

/**
 * Writes everything that is known about a target as a dump. A target over a provider of the API has
 * the provider write it, if it can: it knows which memory there is. A dump that is rewritten keeps
 * every answer; its metadata is kept, except that `flags` are added to its flags. All devices must
 * be stopped.
 *
 * If only the beginning of a memory range or an image is there, that beginning is written. A dump
 * written from an incomplete or damaged one, or from a target that does not report everything, says
 * so, and says what cannot be known because of that: the new dump gets the same verdict. A row with
 * impossible values is written with impossible values. Memory use does not grow with the dump,
 * except for a few bytes for each warp and constant bank.
 *
 * @retval WS_ARGUMENT  Unknown flags or driver; the output is the input.
 * @retval WS_RUNNING   A device is running.
 * @return also what reading the target may return
 */
WS_API enum ws_status ws_write_target(const struct ws_target *target, const char *path,
				      const struct ws_write_options *options,
				      struct ws_error *err) WS_MUST_USE;

/* ---- what CUDA's environment variables ask for ---- */

/**
 * Flags that CUDA_COREDUMP_GENERATION_FLAGS names, also WS_WRITE_SKIP_ABORT.
 * @param text         Words with commas between them; NULL: none.
 * @param ret_unknown  The first word that is none of them, a part of `text`; empty: all are known.
 */
WS_API uint32_t ws_write_flags_parse(const char *text, struct ws_str *ret_unknown);

/**
 * The name of a dump by a pattern of CUDA_COREDUMP_FILE: %h is the host's name, %p the process, %t
 * the time in seconds; NULL or "" is the default of CUDA 13, in the working directory.
 * @return false if the name is longer than `size` - 1; `ret_path` has then no meaning.
 */
WS_API bool ws_write_name(const char *pattern, int pid, char *ret_path, size_t size);

/* ---- a dump to share ---- */

/*
 * With any of the last three flags of ws_strip_flags, images hold only what a fixed list names
 * (docs/trust.md). Everything else is left out, because it may hold what was to be removed.
 */

/** Classes of 32-bit values (a pointer takes two). */
enum ws_value_class {
	WS_VALUE_ZERO,    /**< stays 0 */
	WS_VALUE_SMALL,   /**< -65536 ... 65535: becomes 1 */
	WS_VALUE_FLOAT,   /**< a float of ordinary size (2^-40 ... 2^40): becomes 1.0f */
	WS_VALUE_POINTER, /**< its upper half is that of a known address: stays, so it still shows
			     the allocation and the offset in it */
	WS_VALUE_OTHER,   /**< becomes 0xbaadf00d */
	WS_N_VALUE_CLASSES,
};

/** Options of ws_strip(). Zero-filled with `size` set means the defaults. */
struct ws_strip_options {
	size_t size; /**< sizeof(struct ws_strip_options), as the caller was compiled */
	struct ws_write_options write;
	uint32_t strip; /**< ws_strip_flags */
	/** WS_STRIP_VALUES: numbers that stay as they are wherever they
	 * stand in registers and kept memory, because the verdict names them; borrowed during the
	 * call. */
	const uint32_t *numbers;
	size_t n_numbers;
	/** Called for the name of each enumerator that stays in the debug information of an image,
	 * as often as it stands there; NULL: nobody asks. `name` is valid during the call. */
	void (*enumerator)(void *user, struct ws_str name);
	void *user;
};

/** What was removed. */
struct ws_stripped {
	struct ws_counts before, after;           /**< devices and SMs never change */
	uint64_t memory_bytes, memory_bytes_kept; /**< global, shared, local, param */
	uint64_t original_images, original_bytes; /**< images as compiled, left out */
	uint64_t values[WS_N_VALUE_CLASSES];      /**< words seen, by class */
	uint64_t constant_bytes;                  /**< in images, zeroed */
	uint64_t ptx_bytes, paths;                /**< blanked; paths with replaced folder names */
	uint64_t sections, section_bytes;         /**< of images, left out: no rule keeps them */
	uint64_t unreadable_images;               /**< left out: their contents are not known */
	uint64_t numbers;       /**< words that stay because the verdict names them */
	uint64_t memory_ranges; /**< of global memory whose addresses and sizes stay */
};

/**
 * Writes a smaller dump of a target that is safe to share: docs/trust.md says what stays.
 * Everything that ws_write_target() promises applies.
 */
WS_API enum ws_status ws_strip(const struct ws_target *target, const char *path,
			       const struct ws_strip_options *options,
			       struct ws_stripped *ret_stripped, struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
