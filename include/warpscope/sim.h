/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The software GPU: executes real machine code (SASS) on the CPU, deterministically, and stops at
 * faults with the exceptions that hardware reports. A test double for debugging, not an
 * accelerator.
 *
 *     ws_sim_create
 *       ws_sim_load           cubins and fatbins
 *       ws_sim_alloc, ws_sim_write
 *       ws_sim_launch         puts a grid at the end of the queue
 *       ws_sim_run            executes, in the caller's thread, until nothing is left or it stops
 *       ws_sim_read
 *     ws_sim_destroy
 *
 * **Deterministic.** The same calls with the same seed and schedule give the same state, byte for
 * byte, on any machine. There are no threads inside and no globals.
 *
 * **Safe.** A kernel reaches device memory through checked accesses only. Whatever image, arguments
 * or instruction words it is given, the outcome is a status or an exception of the device. What it
 * cannot execute stops it with the exception WS_SIM_UNIMPLEMENTED, and `ws_sim_fault.text` names
 * the instruction.
 *
 * **Errors.** `cuda_result` of an error is what the driver would return (cuda_results.h). Its
 * message starts with the name of that ("CUDA_ERROR_INVALID_VALUE: ..."), then the reason.
 *
 * **Threads.** A device, with its snapshots, belongs to one thread at a time; only ws_sim_stop()
 * may be called from another thread or a signal handler.
 */
#ifndef WARPSCOPE_SIM_H
#define WARPSCOPE_SIM_H

#include <warpscope/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A device with its memory, modules and queue. */
struct ws_sim;

/** Which warp runs next, and for how long. */
enum ws_sim_schedule {
	WS_SIM_ROUND_ROBIN, /**< each in turn, for a fixed number of instructions */
	WS_SIM_OLDEST,      /**< the oldest that can run, as long as it can */
	WS_SIM_RANDOM,      /**< any, for a random time; lanes that diverged in any order */
	WS_SIM_ADVERSARIAL, /**< the one that came least far is kept waiting; a change at each
			       access to memory */
};

/**
 * Memory for variables that host and device share (`__managed__`): all 0, at an address of the
 * caller's choice that is free and a multiple of 256, until the device is destroyed. False: there
 * is none.
 */
typedef bool ws_sim_managed_fn(void *user, uint64_t len, uint64_t *ret_address, void **ret_bytes);

/**
 * Takes what kernels printed, from the first byte on, and returns how many bytes it took; the rest
 * stays. Called while the device stands, by the thread that stopped it: it must not wait, nor use
 * the device.
 */
typedef size_t ws_sim_print_fn(void *user, const uint8_t *text, size_t len);

/** How a device is made. Zero-filled with `size` set means the defaults. */
struct ws_sim_options {
	size_t size;        /**< sizeof(struct ws_sim_options), as the caller was compiled */
	const char *device; /**< "sm_90a": see ws_sim_device_name(); NULL: sm_90a */
	uint64_t seed;      /**< of random schedules */
	enum ws_sim_schedule schedule;
	uint32_t n_sms;       /**< 0: as many as the device has */
	uint32_t stack_bytes; /**< local memory of a thread, 0: what the kernel needs, 1024 at least
			       */
	uint64_t memory_bytes; /**< most that the device takes of the host's memory; 0: 1 GiB. All
				  in all: images and what is decoded of their code, buffers, what
				  kernels allocate and print, registers, shared and local memory
				  of what is resident. What does not fit is WS_LIMIT, and named.
				  Not counted: memory of ws_sim_map() and ws_sim_map_lazy(),
				  snapshots, a debugger's notes; those of a device that checks may
				  be as much again */
	uint64_t heap_bytes;   /**< most that kernels may allocate with malloc(); 0: 8 MiB */
	uint64_t print_bytes;  /**< room for what kernels print between two runs; 0: 1 MiB */
	uint32_t granularity;  /**< an access within so many bytes behind an allocation is no fault;
				  0: none, every access outside is one. A power of two */
	uint32_t late; /**< a bad access to memory surfaces so many warp instructions of the device
			  later, as on hardware, where the next one is 1; until then it reads zeros
			  and writes nothing. 0: at once, and registers are those that it used */
	bool check;    /**< finds what hardware does not tell: see ws_sim_findings(). Slower, and
			  snapshots are not available */
	ws_sim_managed_fn *managed; /**< NULL: `__managed__` variables are like others */
	void *managed_user;
	bool lazy; /**< code is loaded when it is first needed: see ws_sim_load_function() */
	ws_sim_print_fn *print; /**< called whenever a debugger stops the device, if the debugger
				   wants that (WS_WANT_PRINTF); NULL: no debugger can */
	void *print_user;
};

/** Names of devices, in order; NULL past the last. Static storage. */
WS_API const char *ws_sim_device_name(size_t index);

/**
 * @retval WS_ARGUMENT  no such device, or an option out of range.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_sim_create(const struct ws_sim_options *options, struct ws_sim **ret_sim,
				    struct ws_error *err) WS_MUST_USE;
/** NULL is fine. */
WS_API void ws_sim_destroy(struct ws_sim *sim);

/** What a device has. */
struct ws_sim_limits {
	uint32_t sm;                        /**< 90 of sm_90a */
	uint32_t n_sms;                     /**< as many as it was made with */
	uint32_t n_warps, n_blocks, n_regs; /**< of an SM: warp slots, resident blocks, registers */
	uint32_t sm_shared_bytes;           /**< shared memory of an SM */
	uint32_t block_shared_bytes;        /**< what a block may have of it */
	uint32_t kept_shared_bytes;         /**< what the system takes for each block besides */
	uint64_t memory_bytes, heap_bytes, print_bytes; /**< as in its options, or the defaults */
};

WS_API void ws_sim_limits(const struct ws_sim *sim, struct ws_sim_limits *ret_limits);

/** What a block of a kernel needs. */
struct ws_sim_need {
	uint32_t threads;
	uint32_t n_regs;                      /**< of a thread, as the image says, or WS_UNKNOWN */
	uint32_t static_bytes, dynamic_bytes; /**< shared memory; static: as the image says */
};

/** How many such blocks an SM runs at once, by the rules of CUDA's occupancy calculator; 0: not
 * even one. */
WS_API uint32_t ws_sim_blocks_of_sm(const struct ws_sim_limits *limits,
				    const struct ws_sim_need *need);

/** The most threads of a block for which there are registers. */
WS_API uint32_t ws_sim_threads_of_block(const struct ws_sim_limits *limits, uint32_t n_regs);

/* ---- images ---- */

/**
 * Loads a cubin, or the images of a fatbin or program that fit the device best: its own
 * architecture, else the newest older one of the same generation. A program has one for each of its
 * sources. The bytes are copied.
 *
 * @param ret_module  Number of the module, or of the first of several in a row; may be NULL.
 * @retval WS_UNSUPPORTED  for another architecture, relocatable, or with a relocation that is not
 * known.
 * @retval WS_MALFORMED, WS_TRUNCATED, WS_NO_MEMORY
 */
WS_API enum ws_status ws_sim_load(struct ws_sim *sim, struct ws_span image, uint32_t *ret_module,
				  struct ws_error *err) WS_MUST_USE;

/**
 * Loads the code of a function on a device with options.lazy, as CUDA does (CUDA_MODULE_LOADING): a
 * module comes with its variables and the functions whose addresses they hold, any other function
 * when it is first needed, with the functions that it names. A launch does this by itself. Until
 * then the function is at no address: the image has none, no breakpoint can be set there, and who
 * jumps there has an invalid pc. What is loaded stays, also over ws_sim_restore(); places do not
 * depend on what was loaded when. Nothing happens where the function is loaded already.
 * @retval WS_ARGUMENT  no such module.
 * @retval WS_ABSENT    no such function in it.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_sim_load_function(struct ws_sim *sim, uint32_t module, const char *name,
					   struct ws_error *err) WS_MUST_USE;
/** Whether it is. @retval WS_ARGUMENT, WS_ABSENT  as above */
WS_API enum ws_status ws_sim_function_is_loaded(const struct ws_sim *sim, uint32_t module,
						const char *name, bool *ret_is_loaded,
						struct ws_error *err) WS_MUST_USE;

/** The image of a module as it was loaded: sections and symbols have device addresses, if they are
 * loaded, and relocations are applied. Valid until the device is destroyed. @retval WS_ARGUMENT */
WS_API enum ws_status ws_sim_module_image(const struct ws_sim *sim, uint32_t module,
					  struct ws_span *ret_image,
					  struct ws_error *err) WS_MUST_USE;

/** A variable of a module (`__device__`, `__constant__`, `__managed__`). @retval WS_ABSENT */
WS_API enum ws_status ws_sim_symbol(struct ws_sim *sim, uint32_t module, const char *name,
				    uint64_t *ret_address, uint64_t *ret_bytes,
				    struct ws_error *err) WS_MUST_USE;

/* ---- memory ---- */

/**
 * Allocates global memory, aligned to 256 bytes, with a guard behind it that no access may touch.
 * It reads as zeros until it is written. @retval WS_LIMIT  options.memory_bytes has no room.
 */
WS_API enum ws_status ws_sim_alloc(struct ws_sim *sim, uint64_t bytes, uint64_t *ret_address,
				   struct ws_error *err) WS_MUST_USE;
/** The same, of memory that the host and devices share by one address (cudaMallocManaged()). */
WS_API enum ws_status ws_sim_alloc_managed(struct ws_sim *sim, uint64_t bytes,
					   uint64_t *ret_address, struct ws_error *err) WS_MUST_USE;
/** @retval WS_ARGUMENT  not the start of an allocation. 0 is fine. */
WS_API enum ws_status ws_sim_free(struct ws_sim *sim, uint64_t address,
				  struct ws_error *err) WS_MUST_USE;
/** @retval WS_ARGUMENT  not all of it is allocated; nothing is written. */
WS_API enum ws_status ws_sim_write(struct ws_sim *sim, uint64_t address, const void *bytes,
				   size_t len, struct ws_error *err) WS_MUST_USE;
/** @retval WS_ARGUMENT  not all of it is allocated. */
WS_API enum ws_status ws_sim_read(struct ws_sim *sim, uint64_t address, void *ret_bytes, size_t len,
				  struct ws_error *err) WS_MUST_USE;

/**
 * Makes memory of the caller device memory, at an address of the caller's choice: pages shared with
 * another process, for instance. It must outlive the device.
 * @retval WS_ARGUMENT  the range is not free, or not aligned to 256 bytes.
 */
WS_API enum ws_status ws_sim_map(struct ws_sim *sim, uint64_t address, void *bytes, uint64_t len,
				 struct ws_error *err) WS_MUST_USE;

/** Fills `len` bytes from `address` on; false: they are not recorded, reading them is a fault. */
typedef bool ws_sim_fetch_fn(void *user, uint64_t address, void *ret_bytes, size_t len);

/** Device memory whose bytes are fetched when they are first needed, as from a dump.
 * @retval WS_ARGUMENT  as ws_sim_map() */
WS_API enum ws_status ws_sim_map_lazy(struct ws_sim *sim, uint64_t address, uint64_t len,
				      ws_sim_fetch_fn *fetch, void *user,
				      struct ws_error *err) WS_MUST_USE;

/* ---- tensor maps ---- */

enum {
	WS_SIM_TENSOR_MAP_BYTES = 128,
	WS_SIM_TENSOR_DIMS = 5,
};

/** Types of elements, with the numbers that PTX gives them (tensormap.replace, .elemtype). */
enum ws_sim_tensor_type {
	WS_SIM_TENSOR_U8,
	WS_SIM_TENSOR_U16,
	WS_SIM_TENSOR_U32,
	WS_SIM_TENSOR_S32,
	WS_SIM_TENSOR_U64,
	WS_SIM_TENSOR_S64,
	WS_SIM_TENSOR_F16,
	WS_SIM_TENSOR_F32,
	WS_SIM_TENSOR_F32_FTZ,
	WS_SIM_TENSOR_F64,
	WS_SIM_TENSOR_BF16,
};

/** Order of 16-byte pieces in shared memory, with the numbers of PTX (.swizzle_mode). */
enum ws_sim_tensor_swizzle {
	WS_SIM_SWIZZLE_NONE,
	WS_SIM_SWIZZLE_32B,
	WS_SIM_SWIZZLE_64B,
	WS_SIM_SWIZZLE_128B,
};

/** A tensor in global memory and the box of it that one copy moves, as for the driver's function
 * that encodes tensor maps for tiles. What is left 0 is chosen: an element stride of 1. */
struct ws_sim_tensor {
	size_t size; /**< sizeof(struct ws_sim_tensor), as the caller was compiled */
	uint64_t address;
	enum ws_sim_tensor_type type;
	uint32_t n_dims;                              /**< 1 to 5; the innermost comes first */
	uint64_t dims[WS_SIM_TENSOR_DIMS];            /**< elements, up to 2^32 */
	uint64_t strides[WS_SIM_TENSOR_DIMS - 1];     /**< bytes, of dimension 1 on */
	uint32_t box[WS_SIM_TENSOR_DIMS];             /**< elements, 1 to 256 */
	uint32_t element_strides[WS_SIM_TENSOR_DIMS]; /**< 1 to 8 */
	enum ws_sim_tensor_swizzle swizzle;
	/**
	 * For copies by .im2col, of 3 to 5 dimensions: channels, W, H, D and the number of the
	 * image. `box` is not looked at, but these: a copy takes `channels` of each of `pixels`,
	 * one after the other along W, H, D and images, inside of `lower[i]` to `dims[i + 1] - 1 +
	 * upper[i]` (W, H, D), and reads each beside it by the offsets of the instruction.
	 */
	bool im2col;
	int32_t lower[WS_SIM_TENSOR_DIMS - 2], upper[WS_SIM_TENSOR_DIMS - 2];
	uint32_t channels, pixels; /**< 1 to 256, 1 to 1024 */
};

/**
 * Makes a tensor map for kernels of a software GPU. Its fields are where code that nvcc makes of
 * PTX's tensormap.replace puts them on sm_90a, sm_100a and sm_120a; bits of which that says nothing
 * are 0, and the software GPU does not look at them, so that it is no map for hardware.
 * @retval WS_ARGUMENT  what the driver refuses, too.
 */
WS_API enum ws_status ws_sim_tensor_map(const struct ws_sim_tensor *tensor,
					uint8_t ret_map[WS_SIM_TENSOR_MAP_BYTES],
					struct ws_error *err) WS_MUST_USE;

/* ---- textures and surfaces ---- */

/** Type of a texel's components. */
enum ws_sim_texel {
	WS_SIM_TEXEL_U8,
	WS_SIM_TEXEL_S8,
	WS_SIM_TEXEL_U16,
	WS_SIM_TEXEL_S16,
	WS_SIM_TEXEL_U32,
	WS_SIM_TEXEL_S32,
	WS_SIM_TEXEL_F16,
	WS_SIM_TEXEL_F32,
};

/** What an image is; which CUDA functions read it. */
enum ws_sim_shape {
	WS_SIM_IMAGE_1D,           /**< tex1D, tex1Dfetch */
	WS_SIM_IMAGE_2D,           /**< tex2D */
	WS_SIM_IMAGE_3D,           /**< tex3D */
	WS_SIM_IMAGE_1D_LAYERED,   /**< tex1DLayered */
	WS_SIM_IMAGE_2D_LAYERED,   /**< tex2DLayered */
	WS_SIM_IMAGE_CUBE,         /**< texCubemap: 6 faces */
	WS_SIM_IMAGE_CUBE_LAYERED, /**< texCubemapLayered: 6 faces for each layer */
};

/** What a coordinate outside of a texture means, with the numbers of cudaTextureAddressMode. */
enum ws_sim_address_mode {
	WS_SIM_ADDRESS_WRAP,
	WS_SIM_ADDRESS_CLAMP,
	WS_SIM_ADDRESS_MIRROR,
	WS_SIM_ADDRESS_BORDER, /**< the border's color is there */
};

/** Texels in global memory, x first, then rows, then slices (depth, layers or faces). */
struct ws_sim_image {
	uint64_t address; /**< of the first texel; a multiple of a texel's bytes */
	enum ws_sim_shape shape;
	enum ws_sim_texel texel;
	uint32_t n_components;         /**< 1, 2 or 4 */
	uint32_t width, height, depth; /**< texels, up to 2^27; what the shape lacks is 0 */
	uint32_t n_layers;             /**< of layered shapes, up to 2048 */
	uint64_t row_bytes;   /**< from a row to the next, a multiple of a texel's; 0: no gap */
	uint64_t slice_bytes; /**< from a slice to the next, as well; 0: no gap */
};

/** A texture object: an image, and how it is read. */
struct ws_sim_texture {
	size_t size; /**< sizeof(struct ws_sim_texture), as the caller was compiled */
	struct ws_sim_image image;
	enum ws_sim_address_mode mode[3]; /**< of x, y and z. Wrap and mirror are for normalized
					     coordinates; without them they are clamp, as in CUDA */
	bool linear; /**< linear filter, for results of floating point; else the nearest texel */
	bool normalized; /**< coordinates from 0 to 1 */
	bool as_float;   /**< 8 and 16 bit integers are read as 0 to 1, signed ones as -1 to 1 */
	float border[4]; /**< for results of floating point; else all 0 */
};

/**
 * Makes a texture object over memory that stays the caller's, and must be allocated whenever a
 * kernel reads there. Handles work on all architectures and live as long as the device.
 * @param ret_handle  What kernels take as cudaTextureObject_t.
 * @retval WS_ARGUMENT  what CUDA refuses, too; an image that is not all in one allocation.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_sim_texture(struct ws_sim *sim, const struct ws_sim_texture *texture,
				     uint64_t *ret_handle, struct ws_error *err) WS_MUST_USE;
/** Makes a surface object; its handle is what kernels take as cudaSurfaceObject_t. Fails as
 * ws_sim_texture(). */
WS_API enum ws_status ws_sim_surface(struct ws_sim *sim, const struct ws_sim_image *image,
				     uint64_t *ret_handle, struct ws_error *err) WS_MUST_USE;

/* ---- launches ---- */

/** What to launch. */
struct ws_sim_launch {
	size_t size; /**< sizeof(struct ws_sim_launch), as the caller was compiled */
	uint32_t module;
	const char *kernel; /**< mangled name */
	struct ws_dim3 grid, block;
	struct ws_dim3 cluster;  /**< all 0: none, or what the kernel was built with */
	uint32_t shared_bytes;   /**< dynamic shared memory of a block */
	const void *const *args; /**< one pointer for each parameter, to as many bytes as it has */
	size_t n_args;
	bool cooperative;  /**< all blocks must fit at once */
	uint32_t host_tid; /**< for debuggers: the host's thread that launches; 0: not told */
	const uint64_t *host_stack; /**< the same: its return addresses, innermost first */
	size_t n_host_stack;        /**< those past WS_SIM_HOST_STACK are left out */
	bool is_system; /**< for debuggers: a kernel of the driver, not of the program */
	struct ws_dim3 preferred_cluster; /**< all 0: none. Where so many blocks fit at once they
					     form one cluster, elsewhere several of `cluster`. A
					     multiple of that in each dimension, at most 16 blocks,
					     and the grid is one of it. Before sm_100, where
					     hardware has none, code is told of the regular size */
};

enum {
	WS_SIM_HOST_STACK = 32,
};

/**
 * Puts a grid at the end of the queue; grids run one after the other. What a grid launches itself
 * comes before the next one of the queue (docs/software-gpu.md).
 * @retval WS_ABSENT    no such kernel in the module.
 * @retval WS_ARGUMENT  dimensions, shared memory or arguments that the kernel or the device cannot
 *                      take.
 */
WS_API enum ws_status ws_sim_launch(struct ws_sim *sim, const struct ws_sim_launch *launch,
				    struct ws_error *err) WS_MUST_USE;

/** Why ws_sim_run() came back. */
enum ws_sim_outcome {
	WS_SIM_DONE,    /**< nothing is left to execute */
	WS_SIM_LIMIT,   /**< as many instructions as asked for */
	WS_SIM_STOPPED, /**< ws_sim_stop() */
	WS_SIM_FAULTED, /**< see ws_sim_fault(); the device can be read, not run on */
	WS_SIM_STUCK,   /**< nobody can go on: all that is left waits for each other */
};

/**
 * Executes what was launched, in the caller's thread.
 * @param max_instructions  warp instructions to execute at most; 0: no limit.
 * @retval WS_LIMIT      options.memory_bytes has no room for what a kernel needs.
 * @retval WS_NO_MEMORY  the host has none.
 */
WS_API enum ws_status ws_sim_run(struct ws_sim *sim, uint64_t max_instructions,
				 enum ws_sim_outcome *ret_outcome,
				 struct ws_error *err) WS_MUST_USE;

enum {
	/** Instructions that are executed at most behind a call of ws_sim_stop(). */
	WS_SIM_STOP_INSTRUCTIONS = 1 << 14,
};

/**
 * Makes the run in progress, or the next one, return soon: when the device has executed at most
 * WS_SIM_STOP_INSTRUCTIONS more. Instructions that do much (copies of blocks of bytes, tiles of
 * tensors, products of matrices by groups of warps) count for more: behind the work of copying 1
 * MiB the first of them is the last. What goes on later is the same as without a stop.
 */
WS_API void ws_sim_stop(struct ws_sim *sim);

/** Warp instructions executed since the device was made. */
WS_API uint64_t ws_sim_instructions(const struct ws_sim *sim);

/* ---- what hardware does not tell ---- */

/** The words in parentheses are those of NVIDIA's compute-sanitizer. */
enum ws_sim_finding_kind {
	WS_SIM_RACE_RAW,           /**< racecheck: read-after-write hazard */
	WS_SIM_RACE_WAR,           /**< racecheck: write-after-read hazard */
	WS_SIM_RACE_WAW,           /**< racecheck: write-after-write hazard */
	WS_SIM_UNINITIALIZED,      /**< initcheck: a read of what nobody wrote; of a register,
				      predicate or local memory: it decides something */
	WS_SIM_DIVERGENT_BARRIER,  /**< synccheck: threads of a block at different barrier
				      instructions.  Compilers copy code: a mistake only if their
				      lines differ */
	WS_SIM_MISSING_AT_BARRIER, /**< threads wait at a barrier that others never reach */
	WS_SIM_OUT_OF_BOUNDS,      /**< memcheck: through a pointer into one allocation or variable
				      another one is accessed; or what lies behind one, see
				      options.granularity */
	WS_SIM_OVERFLOW,           /**< (no tool of theirs) an address made of a signed product that
				      did not fit in 32 bits */
};

enum ws_sim_space {
	WS_SIM_SPACE_NONE,
	WS_SIM_SPACE_GLOBAL,
	WS_SIM_SPACE_SHARED,    /**< `address` is an offset in the block */
	WS_SIM_SPACE_LOCAL,     /**< `address` is an offset in the thread's */
	WS_SIM_SPACE_REGISTER,  /**< `address` is its number */
	WS_SIM_SPACE_PREDICATE, /**< the same */
};

/** A thread at an instruction. */
struct ws_sim_party {
	uint64_t pc;
	struct ws_dim3 block, thread;
	bool is_atomic; /**< an atomic, or a strong access (volatile and so on) */
};

/** Something found: the first time of `count` between these two instructions. */
struct ws_sim_finding {
	enum ws_sim_finding_kind kind;
	enum ws_sim_space space;
	uint64_t address; /**< of a barrier: its number */
	uint64_t count;
	uint64_t grid; /**< number of the launch */
	struct ws_sim_party who;
	bool has_other;
	struct ws_sim_party other; /**< who accessed it before; who is missing; where this thread
				      first read what nobody wrote, or multiplied */
	uint64_t base, base_bytes; /**< out of bounds: the allocation or variable that the
				      pointer is of */
	int64_t factor[2], addend; /**< overflow: factor[0] * factor[1] + addend does not fit; where
				      the product alone does not, `addend` is 0 */
};

/**
 * What a device with options.check has found, in the order of its first appearance.
 *
 * A race is two accesses to the same bytes by different threads, one of them a write that changes
 * them, of which at most one is an atomic or another strong access, with no order between them.
 * Orders are: one thread's program; lanes that run together; barriers of warps, blocks and
 * clusters; a fence, then a strong write that the other has seen; the end of a grid. Findings are
 * never made up by the order in which a schedule runs threads, and where something had to be
 * forgotten none is told; another schedule or seed may find more.
 *
 * @return their number; `*ret_findings` is valid until the device runs or is destroyed.
 */
WS_API size_t ws_sim_findings(const struct ws_sim *sim, const struct ws_sim_finding **ret_findings);
/** Accesses and findings for which there was no room: options.memory_bytes of notes, 1,000
 * findings. */
WS_API uint64_t ws_sim_unchecked(const struct ws_sim *sim);

/** Whether anybody has written something. */
enum ws_sim_known {
	WS_SIM_NOT_RECORDED,  /**< the device does not check, or had no room for it */
	WS_SIM_NEVER_WRITTEN, /**< nor what it was computed from */
	WS_SIM_WRITTEN,
};

/** A register, a predicate, or a byte of memory. */
struct ws_sim_place {
	size_t size; /**< sizeof(struct ws_sim_place), as the caller was compiled */
	enum ws_sim_space space;
	uint32_t sm, warp, lane; /**< not for global memory; shared memory: any lane */
	uint64_t address;        /**< or the number of the register */
};

/** What is known of a place, on a device that does not run. @retval WS_ARGUMENT  no such place. */
WS_API enum ws_status ws_sim_known(struct ws_sim *sim, const struct ws_sim_place *place,
				   enum ws_sim_known *ret_known, struct ws_error *err) WS_MUST_USE;

/* ---- snapshots ---- */

/** All that runs on a device, as it was: memory, blocks, warps, the queue, random numbers, what was
 * printed, the fault. */
struct ws_sim_snapshot;

/**
 * Keeps the state of a device that does not run. Global memory is not copied: pages are shared with
 * the device until one of the two changes (64 KiB each, and once per snapshot the table of a
 * region, 8 bytes a page). The time is that of copying what is resident (registers, local and
 * shared memory) and one entry for each allocation. Free it with ws_sim_snapshot_free() before the
 * device is destroyed.
 *
 * - Memory of ws_sim_map() belongs to the caller and is not kept: a restored device sees it as it
 *   is then. It must outlive the snapshots that were taken while it was mapped.
 * - Of ws_sim_map_lazy(), what was fetched is kept; the rest is fetched when it is needed, which
 *   must give the same bytes whenever that is.
 *
 * @retval WS_UNSUPPORTED  the device checks (options.check).
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_sim_snapshot(struct ws_sim *sim, struct ws_sim_snapshot **ret_snapshot,
				      struct ws_error *err) WS_MUST_USE;
/**
 * Puts a device back to a snapshot of it; the same calls then give the same states once more, byte
 * for byte. A snapshot can be restored any number of times, older and newer ones in any order. What
 * ws_sim_printed() and targets of this device gave is no longer valid. After a failure the device
 * is as it was.
 * @retval WS_ARGUMENT     the snapshot is another device's.
 * @retval WS_UNSUPPORTED  modules were loaded, or textures or surfaces made, since.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_sim_restore(struct ws_sim *sim, const struct ws_sim_snapshot *snapshot,
				     struct ws_error *err) WS_MUST_USE;
/** Bytes that a snapshot holds now, at most: pages that several snapshots share count in each. */
WS_API uint64_t ws_sim_snapshot_bytes(const struct ws_sim_snapshot *snapshot);
/** NULL is fine. */
WS_API void ws_sim_snapshot_free(struct ws_sim_snapshot *snapshot);

/** Exception code of an instruction that the software GPU cannot execute: no CUDBGException_t. */
#define WS_SIM_UNIMPLEMENTED 0x57530001u
/** A trap (`__trap()`, a breakpoint instruction): the API has no exception for it. */
#define WS_SIM_TRAP 0x57530002u

/** What stopped the device. */
struct ws_sim_fault {
	uint32_t exception; /**< CUDBGException_t, WS_SIM_UNIMPLEMENTED or WS_SIM_TRAP */
	uint32_t sm, warp;  /**< where: SM and warp slot; warp UINT32_MAX: it has exited since */
	uint32_t lanes;     /**< lanes to blame that have not exited since, a mask */
	struct ws_dim3 block;
	uint32_t thread;   /**< of the first of these lanes, its number in the block */
	uint64_t grid;     /**< number of the launch, from 1 */
	uint64_t error_pc; /**< the instruction to blame */
	uint64_t pc;       /**< where the first of these lanes is: there, or later */
	bool has_address;
	uint64_t address; /**< of the first of these lanes */
	bool has_target;  /**< it concerns another block of the cluster: */
	struct ws_dim3 target;
	char text[160]; /**< one sentence part */
};

/** False when there is none. */
WS_API bool ws_sim_fault(const struct ws_sim *sim, struct ws_sim_fault *ret_fault);

/** How grave a record of the log is. */
enum ws_sim_log_level {
	WS_SIM_LOG_ERROR,
	WS_SIM_LOG_WARNING,
};

/**
 * Adds a record to the log that a debugger of the device reads (sim_target.h); without one nobody
 * would read it, and it is dropped. What is past 255 bytes is cut off. Launches that fail do this
 * by themselves.
 * @param host_tid  thread of the host program that it is about; 0: not known
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_sim_log(struct ws_sim *sim, enum ws_sim_log_level level, uint32_t host_tid,
				 const char *text, struct ws_error *err) WS_MUST_USE;

/** What debuggers are to see of threads in place of what is so. */
struct ws_sim_guise {
	size_t size;       /**< sizeof(struct ws_sim_guise), as the caller was compiled */
	uint32_t sm, warp; /**< SM and warp slot */
	uint32_t lanes;    /**< a mask */
	uint32_t state;    /**< CUDBGCbuThreadState; 0: what it is */
	uint32_t scope;    /**< CUDBGBarrierScope of the barrier that they wait at; 0: what it is */
	bool collective;   /**< they are part of a collective operation */
};

/**
 * Has debuggers see threads in a state that no kernel brings them into here, until their warp
 * executes anything: to try what debuggers make of it. What hardware means by such states is a
 * guess [guess]; decision 62 lists states and scopes that kernels come to by themselves.
 * @retval WS_ABSENT    no such warp, or not all of these threads are there.
 * @retval WS_ARGUMENT  no such state or scope.
 */
WS_API enum ws_status ws_sim_pretend(struct ws_sim *sim, const struct ws_sim_guise *guise,
				     struct ws_error *err) WS_MUST_USE;

/** What kernels printed since ws_sim_clear_printed(); valid until the device runs or is destroyed.
 */
WS_API struct ws_span ws_sim_printed(const struct ws_sim *sim);
WS_API void ws_sim_clear_printed(struct ws_sim *sim);

#ifdef __cplusplus
}
#endif
#endif
