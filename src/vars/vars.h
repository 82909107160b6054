/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share.
 *
 *   thread  -> frames, and where each has its registers   stack.c
 *   name    -> a variable or a function                   names.c
 *   a variable -> its place, its bytes                    read.c
 *   type    -> what it is, its members, its name          type.c
 *   bytes  <-> numbers, and values of them                number.c, value.c
 *   text    -> a value                                    eval.c, dollar.c, operate.c
 *   value   -> text                                       format.c
 *   text    -> a condition that an engine asks            condition.c
 *   type    -> its members as text                        describe.c
 */
#ifndef WSI_VARS_H
#define WSI_VARS_H

#include <warpscope/vars.h>

#include "base/base.h"
#include "base/reader.h"

/* Where a register of a frame is. */
enum wsi_home {
	WSI_HOME_LOST,
	WSI_HOME_LIVE,  /* in the register itself */
	WSI_HOME_LOCAL, /* saved, at `where` of local memory */
	WSI_HOME_VALUE, /* it is `where` */
};

struct wsi_homes {
	uint8_t kind[256]; /* enum wsi_home */
	uint32_t where[256];
};

/* Call frames of code that was looked at, since many threads stand at few places. */
struct wsi_known_cfi {
	uint64_t pc; /* 0: none */
	enum ws_status status;
	struct ws_cfi cfi;
};

enum { WSI_KNOWN_CFIS = 16 };

#define WSI_OUTERMOST UINT32_MAX

struct ws_vars {
	const struct ws_target *target; /* borrowed */
	bool has_thread;
	bool has_code; /* no thread, but a frame of the code where one may be */
	struct ws_value_style style;
	bool is_stripped; /* the dump lost values: places of variables, too */
	struct ws_focus focus;
	struct ws_lane lane;
	struct ws_frame *frames; /* owned */
	uint32_t n_frames, cap_frames, n_left_out;
	uint32_t n_hidden;                 /* the innermost ones, of system calls */
	struct ws_return_address *callers; /* owned; WS_VARS_MAX_FRAMES */
	uint32_t selected;                 /* of `frames` */
	uint32_t position; /* in its code; WSI_OUTERMOST: the function that has it */
	bool have_homes;   /* `homes` are those of `homes_level` */
	uint32_t homes_level;
	struct wsi_homes homes;
	struct ws_cubin_set *cubins;    /* borrowed from the target */
	uint64_t generation;            /* of the target, that `known` is of */
	struct wsi_known_cfi *known;    /* owned; WSI_KNOWN_CFIS */
	struct ws_dwarf_variable *list; /* owned; WS_VARS_MAX_LIST */
	struct wsi_params *params;      /* owned; of the kernel that was asked for last, or NULL */
	struct wsi_condition_record *record; /* of the evaluation that is under way, or NULL */
	ws_vars_name_fn *find_name;          /* or NULL */
	void *names_user;
};

/* ---- stack.c ---- */

/* Looks at the code at a pc, without a thread. */
enum ws_status wsi_vars_look_at_code(struct ws_vars *vars, uint64_t pc, struct ws_error *err);

/* A register of the frame that is looked at. */
enum ws_value_kind wsi_vars_register(struct ws_vars *vars, uint32_t number, uint32_t *ret_word,
				     enum ws_status *ret_status);
/* The canonical frame address of the frame that is looked at; false: not known. */
bool wsi_vars_cfa(struct ws_vars *vars, uint64_t *ret_cfa);

/* ---- type.c ---- */

/* Numbers that have fewer than 32 bits, and structures of their own. */
enum wsi_small_float {
	WSI_FLOAT_IEEE, /* by its size */
	WSI_FLOAT_HALF,
	WSI_FLOAT_BF16,
	WSI_FLOAT_E4M3,
	WSI_FLOAT_E5M2,
	WSI_FLOAT_E8M0,
	WSI_FLOAT_E3M2,
	WSI_FLOAT_E2M3,
	WSI_FLOAT_E2M1,
};

/* What a type is. */
struct wsi_type_shape {
	enum ws_type_kind kind; /* without those that only dress another */
	uint32_t encoding;      /* enum ws_type_encoding */
	enum wsi_small_float small;
	uint64_t size;  /* or WS_SIZE_UNKNOWN */
	uint64_t plain; /* in its debug information */
	struct ws_str name;
	struct ws_vtype target; /* pointed to, or the element */
	uint64_t count;         /* of an array */
	enum ws_space space;    /* of a pointer or reference */
};

enum wsi_c_type {
	WSI_C_VOID,
	WSI_C_BOOL,
	WSI_C_CHAR,
	WSI_C_INT,
	WSI_C_UINT,
	WSI_C_LONG,
	WSI_C_ULONG,
	WSI_C_FLOAT,
	WSI_C_DOUBLE,
	WSI_C_DIM3,
	WSI_C_FUNCTION,
};

struct wsi_type_member {
	struct ws_str name; /* empty: unnamed, or a base class */
	struct ws_vtype type;
	uint64_t offset;
	uint32_t bit_off, bit_size;
	bool is_base;
};

enum { WSI_MAX_MEMBERS = 1024, WSI_MAX_NAME = 200 /* bytes of a type's name in an expression */ };

static inline bool wsi_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* The word at the start of a text; empty: there is none. */
static inline struct ws_str wsi_word_at(const char *at)
{
	size_t n = 0;
	while (wsi_is_word(at[n]))
		n++;
	return (struct ws_str){ at, n };
}

/* The space of enum ws_sass_space as targets have it; global for none. */
enum ws_space wsi_space_of(unsigned space);
struct ws_vtype wsi_c_type(enum wsi_c_type type);
/* A type of C by its words, as "unsigned char"; false: none. */
bool wsi_c_type_find(struct ws_str words, struct ws_vtype *ret_type);
/* The words of a type of C, one space between each; 0 bytes: none. */
size_t wsi_c_words(const char *at, char words[WSI_MAX_NAME], const char **ret_end);
/* A name with its template arguments, without spaces but between words; 0: none. */
size_t wsi_template_name(const char *at, char name[WSI_MAX_NAME], const char **ret_end);
struct ws_vtype wsi_vars_dwarf_vtype(const struct ws_dwarf *dwarf, uint64_t type);
/* Adds a pointer or an array; false: too many. */
bool wsi_vtype_point(struct ws_vtype *type, enum ws_space space) WS_MUST_USE;
/* To the generic space, which the text that asks for it did not say. */
bool wsi_vtype_point_bare(struct ws_vtype *type) WS_MUST_USE;
bool wsi_vtype_repeat(struct ws_vtype *type, uint64_t count) WS_MUST_USE;
enum ws_status wsi_shape(const struct ws_vtype *type, struct wsi_type_shape *ret_shape,
			 struct ws_error *err) WS_MUST_USE;
/* Members of a structure; the first `cap` go to `ret_members`. */
enum ws_status wsi_members(const struct wsi_type_shape *shape, const struct ws_vtype *type,
			   struct wsi_type_member *ret_members, size_t cap, size_t *ret_n,
			   struct ws_error *err) WS_MUST_USE;
/* A type of debug information by its name. */
bool wsi_type_find(const struct ws_dwarf *dwarf, struct ws_str name, struct ws_vtype *ret_type);
/* The space that pointers of an address class lead to. */
enum ws_space wsi_space_of_class(uint32_t address_class);
/* A space by the word behind @, and back. */
bool wsi_space_find(struct ws_str word, enum ws_space *ret_space);
const char *wsi_space_name(enum ws_space space);
bool wsi_vars_is_scalar(const struct wsi_type_shape *shape);
bool wsi_vars_is_float(const struct wsi_type_shape *shape);

/* ---- number.c ---- */

/* False: the type is no number. */
bool wsi_number_of(const struct wsi_type_shape *shape, const uint8_t *bytes, uint32_t bit_off,
		   uint32_t bit_size, struct ws_number *ret_number);
/* The bytes of a number of a type, at most 8. */
void wsi_number_bytes(const struct wsi_type_shape *shape, const struct ws_number *number,
		      uint8_t ret_bytes[8]);
struct ws_number wsi_whole(int64_t number);
bool wsi_vars_is_unsigned(const struct wsi_type_shape *shape);

/* ---- read.c ---- */

/* `n` bytes from byte `offset` of a value that is there. */
enum ws_status wsi_value_read(struct ws_vars *vars, const struct ws_value *value, uint64_t offset,
			      void *buffer, size_t n, struct ws_error *err) WS_MUST_USE;
/* A variable of the frame by its name: of several the innermost. WS_ABSENT */
enum ws_status wsi_vars_local_find(struct ws_vars *vars, struct ws_str name,
				   struct ws_value *ret_value, struct ws_error *err) WS_MUST_USE;
/* A variable that is no function's. */
enum ws_status wsi_vars_global_value(struct ws_vars *vars, const struct ws_dwarf *dwarf,
				     const struct ws_dwarf_named *named, struct ws_value *ret_value,
				     struct ws_error *err) WS_MUST_USE;
/* Debug information of the code of the frame. */
enum ws_status wsi_vars_dwarf(struct ws_vars *vars, const struct ws_dwarf **ret_dwarf,
			      const struct ws_dwarf_function **ret_function,
			      struct ws_error *err) WS_MUST_USE;
struct ws_address wsi_address(const struct ws_vars *vars, enum ws_space space, uint64_t address);

/* ---- names.c ---- */

/* A variable by its name: of the frame unless `is_global`, or of the image. WS_ABSENT */
enum ws_status wsi_vars_variable_find(struct ws_vars *vars, struct ws_str name, bool is_global,
				      struct ws_value *ret_value, struct ws_error *err) WS_MUST_USE;
/* A variable of a function that the thread is in. WS_ABSENT: there is no such function;
 * WS_ARGUMENT: the thread is not in it, or it has no such variable there. */
enum ws_status wsi_function_variable(struct ws_vars *vars, struct ws_str function,
				     struct ws_str name, struct ws_value *ret_value,
				     struct ws_error *err) WS_MUST_USE;
/* A variable of the unit that was compiled of a file, "name.cu" or with its folders. WS_ABSENT */
enum ws_status wsi_vars_file_variable(struct ws_vars *vars, struct ws_str file, struct ws_str name,
				      struct ws_value *ret_value) WS_MUST_USE;
/* A function by its name, of several with one name that of the frame; false: there is none. */
bool wsi_function_find(struct ws_vars *vars, struct ws_str name, struct ws_value *ret_value);

/* ---- params.c ---- */

enum { WSI_MAX_PARAMS = 4096 };

/* What an image without debug information tells of a kernel's parameters. */
struct wsi_params {
	const struct ws_function *of;
	uint32_t n;
	struct ws_kernel_param *param; /* n, by offset; their values are not filled in */
	char *signature;               /* that their types lie in */
};

/* Those of the kernel that is looked at. WS_ABSENT: it is no kernel, or was compiled with -G. */
enum ws_status wsi_params_of(struct ws_vars *vars, const struct wsi_params **ret_params,
			     struct ws_error *err) WS_MUST_USE;
void wsi_params_free(struct wsi_params *params);
/* A parameter by its name: WS_ABSENT. */
enum ws_status wsi_param_find(struct ws_vars *vars, struct ws_str name, struct ws_value *ret_value,
			      struct ws_error *err) WS_MUST_USE;

/* ---- format.c ---- */

/* Those in a scope have mangled names. */
void wsi_print_enumerator(struct ws_str name, struct ws_out *out);

/* ---- value.c ---- */

/* Of a C type that two words hold. */
struct ws_value wsi_value_words(enum wsi_c_type type, const uint32_t words[2]);

/* ---- operate.c: what expressions do to values ---- */

struct ws_value wsi_value_number(const struct ws_vtype *type, const struct ws_number *number);
struct ws_value wsi_value_int(int64_t number);
enum ws_status wsi_dereference(struct ws_vars *vars, const struct ws_value *pointer,
			       struct ws_value *ret_value, struct ws_error *err) WS_MUST_USE;
enum ws_status wsi_address_of(struct ws_vars *vars, const struct ws_value *value,
			      struct ws_value *ret_value, struct ws_error *err) WS_MUST_USE;
/* A member, also of what a pointer or reference leads to. */
enum ws_status wsi_value_member(struct ws_vars *vars, const struct ws_value *value,
				struct ws_str name, struct ws_value *ret_value,
				struct ws_error *err) WS_MUST_USE;
/* `n` elements from `first` on; n 0: one, as itself. */
enum ws_status wsi_elements(struct ws_vars *vars, const struct ws_value *value, int64_t first,
			    uint64_t n, struct ws_value *ret_value,
			    struct ws_error *err) WS_MUST_USE;
enum ws_status wsi_cast(struct ws_vars *vars, const struct ws_value *value,
			const struct ws_vtype *type, struct ws_value *ret_value,
			struct ws_error *err) WS_MUST_USE;
/* What a reference leads to; other values as they are. */
enum ws_status wsi_follow(struct ws_vars *vars, struct ws_value *value,
			  struct ws_error *err) WS_MUST_USE;

enum wsi_operation {
	WSI_OR,
	WSI_AND,
	WSI_BITOR,
	WSI_XOR,
	WSI_BITAND,
	WSI_EQ,
	WSI_NE,
	WSI_LE,
	WSI_GE,
	WSI_LT,
	WSI_GT,
	WSI_SHL,
	WSI_SHR,
	WSI_ADD,
	WSI_SUB,
	WSI_MUL,
	WSI_DIV,
	WSI_MOD
};

enum ws_status wsi_binary(struct ws_vars *vars, enum wsi_operation operation,
			  const struct ws_value *a, const struct ws_value *b,
			  struct ws_value *ret_value, struct ws_error *err) WS_MUST_USE;

/* ---- condition.c: steps of an evaluation that is recorded, see condition.h ---- */

/* The value of a register. */
uint16_t wsi_record_register(struct ws_vars *vars, enum ws_reg_kind kind, uint32_t number,
			     uint32_t words);
/* Three of them: .x, .y and .z of the `which`-th (enum ws_arrival_dim). */
uint16_t wsi_record_dim(struct ws_vars *vars, uint32_t which);
/* What was just computed of a value that differs between threads cannot be recorded. */
void wsi_record_lose(struct ws_vars *vars);

/*
 * Whether an expression is one in code where no thread is yet: it is read, and its names are looked
 * up where the instruction at `pc` is, but nothing is computed. Looks at no thread afterwards.
 * @retval WS_ARGUMENT  it is not understood, or names what is not there.
 */
enum ws_status wsi_vars_check(struct ws_vars *vars, uint64_t pc, const char *text,
			      struct ws_error *err) WS_MUST_USE;

/* Asks `find` for such names from now on; NULL: there are none. */
void wsi_vars_names(struct ws_vars *vars, ws_vars_name_fn *find, void *user);

/* An array of numbers of C's type unsigned int; of 0, or more than 8, no value. */
struct ws_value wsi_value_uints(const uint32_t *numbers, uint32_t n);
/* The frame that it looks at. */
uint32_t wsi_vars_selected(const struct ws_vars *vars);

#endif
