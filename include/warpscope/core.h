/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * GPU core dumps: the reader.
 *
 * The driver writes such a dump when a CUDA program fails (CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1). It
 * is one ELF file whose sections form a tree:
 *
 *     metadata, global memory,
 *     device -+- context -- module -- image (relocated, original)
 *             +- grid ----- parameters, constant banks
 *             +- SM -- block -+- shared memory
 *                             +- warp -+- uniform registers, convergence barriers
 *                                      +- lane -- registers, call stack, local memory
 *
 * Opening reads the section headers and the few table rows that give things their order; everything
 * else stays in the mapped file until it is needed. An open dump is a target: its state is read by
 * the functions of target.h. A dump is never trusted: only what is damaged is lost, and
 * ws_target_diagnostic() reports what was found. This header has what only a dump has: how to open
 * it, its sections, and whether it is sound.
 *
 * **Statuses** of a dump as a target: WS_ABSENT the dump does not have it; WS_EXCLUDED left out
 * when the dump was made (the message names the flag, or says that it is inferred, for drivers
 * before r565 did not record the flags); WS_TRUNCATED the file ends before it; WS_MALFORMED damaged
 * otherwise. If two rows have the same lane id (a damaged dump), the one whose position fits the
 * lane's number or the mask of valid lanes is used, otherwise the first.
 *
 * **Global memory.** The sections do not name a device: all devices share one address space here,
 * and `device_index` is ignored. Where ranges overlap, the one that begins last answers (of those
 * that begin together the shorter one, then the later one in the file), so that a range with a
 * damaged size hides no other. The last byte of the address space belongs to no range. Generic
 * addresses belong to the windows of the warp's context, whose sizes are guessed
 * (src/target/dump/resolve.c). The first call of ws_target_memory_range() walks all lanes.
 *
 * The format is described in docs/formats/coredump.md.
 */
#ifndef WARPSCOPE_CORE_H
#define WARPSCOPE_CORE_H

#include <warpscope/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * How to open. Zero-filled with `size` set means the defaults, and so does a NULL pointer.
 */
struct ws_core_options {
	size_t size; /**< sizeof(struct ws_core_options), as the caller was compiled */
	/** Limit on the unpacked size of a compressed file or a stream, bytes; 0: 64 GiB. */
	uint64_t max_unpacked_bytes;
	/**
	 * Called now and then while a compressed file or a stream is unpacked. `total_in` is 0 when
	 * it is not known. Returning false gives up (WS_LIMIT).
	 */
	bool (*progress)(void *user, uint64_t bytes_in, uint64_t total_in, uint64_t bytes_out);
	void *user; /**< passed to `progress` */
	/** How much of a packed file is stored unpacked, in memory up to 64 MiB, else in a file
	 * without a name; what is beyond is unpacked again where it is needed. 0: 1 GiB. */
	uint64_t max_stored_bytes;
};

/**
 * Opens a dump file.
 *
 * Only a file that is not a GPU core dump at all is refused; a damaged or truncated dump opens with
 * what is left. Time and memory are proportional to the number of sections: a few nanoseconds and
 * bytes each.
 *
 * @retval WS_IO           The file cannot be read (missing, refused, a directory); the message is
 *                         complete.
 * @retval WS_UNSUPPORTED  Not a GPU core dump; the message says what it is.
 * @retval WS_TRUNCATED    Too short to tell what it is.
 * @retval WS_LIMIT        It unpacks to more than allowed, or `progress` gave up.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_core_open(const char *path, const struct ws_core_options *options,
				   struct ws_target **ret_target, struct ws_error *err) WS_MUST_USE;

/**
 * Opens a dump that is in memory (unpacked). The bytes stay the caller's, must not change and
 * must outlive the result. `name` (may be NULL) is what ws_dump_facts.path will say.
 */
WS_API enum ws_status ws_core_open_memory(struct ws_span bytes, const char *name,
					  struct ws_target **ret_target,
					  struct ws_error *err) WS_MUST_USE;

/** Where the bytes of a dump come from that is no file to be mapped: one in a browser, a part of an
 * archive, something on another machine. */
struct ws_core_source {
	size_t size;      /**< sizeof(struct ws_core_source), as the caller was compiled */
	uint64_t n_bytes; /**< how many there are; also more than fit in memory */
	/**
	 * Copies up to `n` bytes from byte `off` on, which are all among them, and returns how
	 * many. If they are fewer, it is asked for the rest; 0: they cannot be read. Calls of one
	 * source do not overlap.
	 */
	size_t (*read)(void *user, uint64_t off, void *buffer, size_t n);
	void *user;            /**< passed to `read` until the target is closed */
	uint32_t window_bytes; /**< how many bytes are asked for at a time, at least; 0: 256 KiB */
};

/**
 * Opens a dump over a function that reads it, packed or not. In memory are its headers, the rows of
 * its tables, strings, images and a few windows; registers and memory are read when they are asked
 * for, and WS_IO says that they cannot be. `name` (may be NULL) is what ws_dump_facts.path will
 * say.
 *
 * Statuses are those of ws_core_open(); WS_IO: the headers cannot be read.
 */
WS_API enum ws_status ws_core_open_source(const struct ws_core_source *source, const char *name,
					  const struct ws_core_options *options,
					  struct ws_target **ret_target,
					  struct ws_error *err) WS_MUST_USE;

/** What is below a target that is a dump. */
struct ws_core;

/**
 * The dump under a target, for what only a dump has; NULL for every other back end. Valid until the
 * target is closed.
 */
WS_API const struct ws_core *ws_target_core(const struct ws_target *target);

/**
 * What CUDA_COREDUMP_GENERATION_FLAGS calls the lowest bit of `flag` (ws_dump_facts.flags); NULL
 * for one without a name, and for 0.
 */
WS_API const char *ws_dump_flag_text(uint32_t flag);

/* ---- sections */

/** A section of the file, as its header says. */
struct ws_core_section {
	struct ws_str name;  /**< empty when the name table does not hold it */
	uint32_t type;       /**< sh_type */
	const char *words;   /**< what it is, e.g. "lane table"; NULL: not known to this version */
	uint64_t header_off; /**< file offset of the header */
	uint64_t address;    /**< sh_addr: memory sections */
	uint64_t file_off, size; /**< as claimed */
	uint32_t link, info;
	uint64_t stride;  /**< sh_entsize */
	uint64_t rows;    /**< whole rows that are in the file; 0 for what is no table */
	uint64_t present; /**< bytes of it that are in the file */
};

/** Number of section headers that are in the file. */
WS_API uint32_t ws_core_n_sections(const struct ws_core *core);
WS_API enum ws_status ws_core_section(const struct ws_core *core, uint32_t index,
				      struct ws_core_section *ret_section,
				      struct ws_error *err) WS_MUST_USE;

/** Its bytes that are in the file, until the target is closed. */
WS_API enum ws_status ws_core_section_bytes(const struct ws_core *core, uint32_t index,
					    struct ws_span *ret_bytes,
					    struct ws_error *err) WS_MUST_USE;

/* ---- checking and salvage */

/** What ws_core_check() looks at: X(NAME, word). */
#define WS_CHECK_LIST(X)          \
	X(FILE, "file")           \
	X(HEADER, "header")       \
	X(NAME, "name")           \
	X(TYPE, "type")           \
	X(EXTENT, "extent")       \
	X(LINK, "link")           \
	X(STRIDE, "stride")       \
	X(ID, "id")               \
	X(REFERENCE, "reference") \
	X(VALUE, "value")         \
	X(COUNT, "count")         \
	X(TEXT, "text")           \
	X(MEMORY, "memory")       \
	X(IMAGE, "image")

enum ws_check_rule {
#define X(NAME, word) WS_CHECK_##NAME,
	WS_CHECK_LIST(X)
#undef X
		WS_N_CHECKS
};

/** Word of a rule. Static storage. */
WS_API const char *ws_check_rule_word(enum ws_check_rule rule);

/** Something in a dump that contradicts the format or the rest of the dump. */
struct ws_finding {
	enum ws_check_rule rule;
	uint32_t section;  /**< 0: the file as a whole */
	uint64_t file_off; /**< of the field or the bytes, or WS_NO_OFFSET */
	/** It contradicts other rows or headers, so what the dump says is in doubt. Else something
	 * is missing, or is only a name, a text or memory. */
	bool contradicts;
	char message[200]; /**< one plain sentence, no newline */
};

/** What ws_core_check() looked at and found. */
struct ws_check_summary {
	uint64_t sections, rows, leaves; /**< looked at */
	uint64_t findings;
	uint64_t by_rule[WS_N_CHECKS];
};

/**
 * Checks every section, link, row, size, range, string and id of a dump against the file and the
 * other tables, and calls `each` for every finding (in the order of the file, then of the tree).
 * Returning false from it stops. A sound dump has no findings.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_core_check(const struct ws_core *core,
				    bool (*each)(void *user, const struct ws_finding *finding),
				    void *user, struct ws_check_summary *ret_summary,
				    struct ws_error *err) WS_MUST_USE;

/** How certain it is that something found without a header is what it looks like. */
enum ws_sureness {
	WS_POSSIBLE, /**< a few rows fit */
	WS_LIKELY,   /**< many rows fit */
	WS_SURE,     /**< it identifies itself */
};

/** Something recognised in a file whose section headers are lost. */
struct ws_salvaged {
	const char *what; /**< "image", "lane table", "SM table". Static storage */
	uint64_t file_off;
	uint64_t present;      /**< bytes of it that are in the file */
	uint64_t size;         /**< as it says itself, or as far as its shape goes on */
	uint32_t rows, stride; /**< of a table; else 0 */
	enum ws_sureness sureness;
	/** Rows of a table that hold an exception of a known number; the first such number, and the
	 * pc of the first lane that has one. */
	uint32_t n_exceptions, exception;
	uint64_t exception_pc;
};

/**
 * What a dump without section headers still shows by its content: images by their own headers,
 * tables by the shape of their rows. Dumps that have their headers have nothing here. `index` from
 * 0, in the order of the file; WS_ABSENT past the last. The first call reads the whole file.
 */
WS_API enum ws_status ws_core_salvaged(const struct ws_core *core, uint32_t index,
				       struct ws_salvaged *ret_salvaged,
				       struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
