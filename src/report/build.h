/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report under construction. The steps, in order, with the file of each:
 *
 *   report.c   kernels, devices, diagnostics; calls the others
 *   scan.c     one walk over SMs, warps and lanes: faults and groups, by pc only
 *   map.c      who is where on the GPU, for pictures
 *   frames.c   pc -> function, inline chain, callers; each distinct pc once
 *   types.c    names and types of parameters, where the code was compiled with -G
 *   source.c   files of frames: library or not, where they are here, their lines
 *   explain/   what an exception's instruction did
 *   wait/      who waits for what
 *   explain/allocation.c  what a memory snapshot tells about addresses
 *   image.c    how the code was built
 *   signature.c  one line that names the bug
 *   verdict.c  the sentence, what is missing, what to try next
 *
 * Everything that ends up in the report lies in the arena; growing lists are on the heap until they
 * are done. A step fails only for lack of memory: what the target cannot give becomes a status in
 * the model.
 */
#ifndef WSI_REPORT_BUILD_H
#define WSI_REPORT_BUILD_H

#include <warpscope/cubin.h>
#include <warpscope/doubt.h>
#include <warpscope/line.h>
#include <warpscope/report.h>
#include <warpscope/store.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/dim3.h"
#include "base/map.h"
#include "base/regular.h"

/* Where a pc is to be looked up: address spaces belong to contexts. WS_NONE: any, unknown. */
struct wsi_where {
	uint32_t device_index, context_index, module_index, grid_index;
};

/* Names of a function, made once. */
struct wsi_name {
	struct ws_str full, brief, mangled;
};

/* A source file, judged once and looked for once. */
struct wsi_source_file {
	const struct ws_line_file *file; /* borrowed from a module */
	struct ws_str path;              /* as compiled in */
	bool library;
	bool searched;
	struct wsi_regular *here; /* the file on this machine, or NULL */
	const char *why;          /* then: what was found may not be shown, or NULL */
	bool changed, other_time;
};

/* An exception with what only its construction needs. */
struct wsi_fault {
	struct ws_report_exception e;
	struct wsi_where where;
	uint32_t device_index, sm_index;
	uint32_t last_warp_index, last_sm_index; /* counted last */
};

struct wsi_group {
	struct ws_report_group g;
	struct wsi_where where;
	bool is_host_pc; /* pc of the classic back end that no function is known for */
	uint32_t last_warp_index;
	uint32_t found; /* in the order of the walk */
};

/* Formal parameters of a function, read once. */
struct wsi_frame_formals {
	enum ws_status status;
	const struct ws_report_formal *at;
	uint32_t n;
};

struct wsi_build {
	const struct ws_target *target;
	struct ws_report_options options;
	struct ws_report *report;
	struct wsi_arena *arena;     /* of the report */
	struct ws_borrow_pool *pool; /* of the report; NULL without debug images */
	struct ws_cubin_set *cubins; /* the target's; module indices are image indices */
	bool code_lost;              /* an image is not there as it was loaded, or none is */
	struct ws_counts counts;
	struct ws_span snapshot; /* a memory snapshot, if one was asked for */
	bool classic;
	uint32_t *kernel_of_grid; /* arena: index into kernels by grid index */
	struct ws_report_device *devices;
	struct ws_report_kernel *kernels;
	struct ws_report_warp *map_warps; /* arena: the map's warps */

	/* owned until wsi_build_fini() */
	struct wsi_fault *faults;
	size_t n_faults, cap_faults;
	struct wsi_group *groups;
	size_t n_groups, cap_groups;
	struct wsi_fault calm; /* first thread of a target without exceptions */
	bool have_calm;
	bool sms_untold; /* of an SM nobody says whether it had an exception that no thread has */
	struct ws_diagnostic *diagnostics;
	size_t n_diagnostics, cap_diagnostics;
	struct ws_report_missing *missing;
	size_t n_missing, cap_missing;
	const char **next;
	size_t n_next, cap_next;
	uint32_t n_ranges;    /* ranges of global memory; WS_NONE: not counted yet */
	struct wsi_map cache; /* names and files by their address */
	struct wsi_name *names;
	size_t n_names, cap_names;
	struct wsi_source_file *files;
	size_t n_files, cap_files;
	struct wsi_frame_formals *formals;
	size_t n_formals, cap_formals;
	uint32_t n_types;  /* that were looked at */
	uint32_t n_looked; /* names of paths that were looked up for sources */
	char *name_buffer; /* of WSI_NAME_BUFFER bytes */
};

enum {
	WSI_NAME_BUFFER = 1 << 17, /* C++ names are cut there */
	WSI_BRIEF_NAME = 100,      /* characters of a short name */
};

/* doubt.c */

enum ws_status wsi_diagnose_doubt(struct wsi_build *build,
				  const struct ws_doubt *doubt) WS_MUST_USE;
/* What is wrong with a grid, noted. */
enum ws_status wsi_report_grid_doubts(struct wsi_build *build,
				      const struct ws_grid *grid) WS_MUST_USE;

/* scan.c */
enum ws_status wsi_scan(struct wsi_build *build) WS_MUST_USE;

/* map.c */

/* Before the walk: SMs, blocks, and room for the warps, which the walk fills. */
enum ws_status wsi_report_map_start(struct wsi_build *build) WS_MUST_USE;
/* After the groups have their final order. */
enum ws_status wsi_report_map_finish(struct wsi_build *build) WS_MUST_USE;

/* frames.c */

/* Where the lines of a function come from. */
struct wsi_lines {
	struct ws_cubin *cubin;
	uint32_t section;
	const char *borrowed_from; /* NULL: the module's own */
};

/* The module to ask for the lines of a place: its own, or an equal build among the debug images.
 * `ret_borrowed` (may be NULL) tells what the debug images had. */
struct wsi_lines wsi_report_lines_of(struct wsi_build *build, const struct ws_place *place,
				     struct ws_borrowed *ret_borrowed);

/* Frames being collected, on the heap. */
struct wsi_frames {
	struct ws_report_frame *at;
	size_t n, cap;
};

/*
 * Appends the frames of the code at `pc`: the chain of inlined calls, or one frame that says why
 * there is none. For a caller `pc` is the return address.
 */
enum ws_status wsi_frames_at(struct wsi_build *build, const struct wsi_where *where, uint64_t pc,
			     bool caller, struct wsi_frames *frames,
			     struct ws_place *ret_place) WS_MUST_USE;
/* Index of the first frame that is the user's, or WS_NONE. */
uint32_t wsi_frames_user(const struct ws_report_frame *frames, size_t n);
enum ws_status wsi_frames_of_fault(struct wsi_build *build, struct wsi_fault *fault) WS_MUST_USE;
enum ws_status wsi_frames_of_group(struct wsi_build *build, struct wsi_group *group,
				   struct wsi_frames *scratch) WS_MUST_USE;
/* Names of a mangled name; NULL when memory is out. */
const struct wsi_name *wsi_report_name_of(struct wsi_build *build, struct ws_str mangled);

/* types.c */

/*
 * Gives the parameters of a kernel, in the order of ordinals, their names, types, values and
 * fields. `place` is the kernel's code, `layout` what the image says of them. WS_ABSENT: no debug
 * information; WS_UNSUPPORTED: it does not fit the layout. Nothing is changed when it fails.
 */
enum ws_status wsi_types_of_kernel(struct wsi_build *build, const struct ws_place *place,
				   const struct ws_param *layout, size_t n,
				   struct ws_report_param *params,
				   struct ws_error *err) WS_MUST_USE;
/* Path of the field at a byte of a kernel's parameter, which was given its type; or empty. */
struct ws_str wsi_types_field(struct wsi_build *build, const struct ws_place *place,
			      uint32_t ordinal, uint32_t offset);
/* Fills the formal parameters of a frame. */
enum ws_status wsi_types_of_frame(struct wsi_build *build, const struct ws_place *place,
				  struct ws_report_frame *frame) WS_MUST_USE;

/* source.c */
struct wsi_source_file *wsi_report_source_of(struct wsi_build *build,
					     const struct ws_line_file *file);
/* Reads the lines around a frame's line. */
enum ws_status wsi_report_source_read(struct wsi_build *build,
				      struct ws_report_frame *frame) WS_MUST_USE;

/* tuned.c */

/* The names of `struct ws_report_tuned`'s options, as Triton writes them. */
extern const char *const wsi_report_tuned_options[WS_TUNED_OPTIONS];
/* What the kernel of a place was compiled with, into `image`. WS_NO_MEMORY. */
enum ws_status wsi_report_tuned(struct wsi_build *build, const struct ws_place *place,
				struct ws_report_image *image) WS_MUST_USE;

/* image.c */
enum ws_status wsi_image(struct wsi_build *build) WS_MUST_USE;

/* signature.c, after the verdict */
enum ws_status wsi_signature(struct wsi_build *build) WS_MUST_USE;

/* verdict.c */
enum ws_status wsi_verdict(struct wsi_build *build) WS_MUST_USE;

/* report.c */

/* Adds to the report's diagnostics; of one kind of thing only the first is kept. */
enum ws_status wsi_diagnose(struct wsi_build *build, const char *what, enum ws_hides hides,
			    const struct ws_error *err) WS_MUST_USE;
/* What the first diagnostic says that hides `least` or more; NULL when none does. */
const char *wsi_first_loss(const struct wsi_build *build, enum ws_hides least);
/* Formatted text in the arena, or NULL; cut at 1,000 bytes. */
const char *wsi_build_text(struct wsi_build *build, const char *format, ...) WS_PRINTF(2, 3);
/* A name of the input as it stands in a sentence: between backquotes; one in it becomes \x60, what
 * is longer than 200 bytes is cut. Text in the arena, or "``" when memory is out. */
const char *wsi_build_name(struct wsi_build *build, struct ws_str name);
struct wsi_where wsi_where_of_grid(const struct wsi_build *build, uint32_t device_index,
				   uint32_t grid_index);

/* What an access does, in words: "loads from", "atomically updates in". */
extern const struct wsi_direction {
	const char *name;       /* ws_direction_text() */
	const char *manner;     /* "", or an adverb with its space */
	const char *verb, *tie; /* the tie stands before the memory */
} wsi_directions[];
/* Whether who is in this state can never arrive where others wait. */
bool wsi_never_comes(enum ws_absentee_state state);
/* How many instructions lie between errorpc and the pc. */
uint64_t wsi_pc_distance(const struct ws_report *report, const struct ws_report_exception *e);

/* ---- the steps in folders of their own ---- */

enum {
	WSI_MAX_EXPLAINED = 16, /* exceptions looked at that closely */
};

/* explain/explain.c: one exception. */
enum ws_status wsi_explain(struct wsi_build *build, struct wsi_fault *fault) WS_MUST_USE;
/* explain/params.c: parameters of kernels. */
enum ws_status wsi_explain_params(struct wsi_build *build) WS_MUST_USE;
/* wait/wait.c */
enum ws_status wsi_waits(struct wsi_build *build) WS_MUST_USE;
/* explain/allocation.c: after all addresses are known. */
enum ws_status wsi_allocations(struct wsi_build *build) WS_MUST_USE;

/* What the report is about, in a sentence: of a target that is no file, the device itself. */
static inline const char *wsi_noun(const struct ws_report *report)
{
	return report->dump_status == WS_OK ? "dump" : "device";
}

/*
 * Whether pages show the values of an operand: those of addresses, descriptors and guards that were
 * not written since. What an instruction stores or computes with, and what was written to a
 * register later, may be users' data; only the model and the JSON have it.
 */
bool wsi_operand_is_shown(const struct ws_report_operand *operand);

/* The finished report closes its target, too, when it is destroyed. */
void wsi_report_own(const struct ws_report *report, struct ws_target *target);

#endif
