/* SPDX-License-Identifier: Apache-2.0 */
/* How an evaluation is recorded: see condition.c. */
#ifndef WSI_VARS_CONDITION_H
#define WSI_VARS_CONDITION_H

#include "vars/vars.h"

enum { WSI_COND_STEPS = 64 };

/* A number that something is computed of. */
struct wsi_operand {
	uint16_t step;           /* that made its bits; 0: it is `number` */
	struct ws_number number; /* of the thread that is looked at */
	struct wsi_type_shape shape;
	uint32_t bit_off, bit_size;
};

enum wsi_cond_what {
	WSI_COND_REGISTER,
	WSI_COND_DIM,   /* `number`: component of threadIdx and the like */
	WSI_COND_LOAD,  /* `words` bytes */
	WSI_COND_ADD,   /* `by`, to an address */
	WSI_COND_SHIFT, /* to the right, by bits */
	WSI_COND_CAST,
	WSI_COND_BINARY,
};

/* Makes the first 8 bytes of a value, or the address of one in memory. */
struct wsi_cond_step {
	enum wsi_cond_what what;
	enum ws_reg_kind kind;
	uint32_t number, words;
	uint64_t by;
	struct ws_address at;
	enum wsi_operation operation;
	struct wsi_operand a, b;
	struct wsi_type_shape to;
};

struct wsi_condition_record {
	uint16_t n;
	bool lost; /* a value went into the result in a way that is not recorded */
	struct wsi_cond_step step[WSI_COND_STEPS];
};

/* The number that a value is, and which step makes it. */
enum ws_status wsi_vars_operand_of(struct ws_vars *vars, const struct ws_value *value,
				   struct wsi_operand *ret_operand,
				   struct ws_error *err) WS_MUST_USE;

/* Numbers of steps, for ws_value.source; 0 while nothing is recorded, or of constants alone. */
uint16_t wsi_record_load(struct ws_vars *vars, const struct ws_address *at, uint16_t address,
			 uint32_t size);
/* Of what lies some bytes behind: at an address, or in the bytes of a value. */
uint16_t wsi_record_part(struct ws_vars *vars, uint16_t of, uint64_t offset, bool is_address);
uint16_t wsi_record_cast(struct ws_vars *vars, const struct wsi_operand *from,
			 const struct wsi_type_shape *to);
uint16_t wsi_record_binary(struct ws_vars *vars, enum wsi_operation operation,
			   const struct wsi_operand *a, const struct wsi_operand *b,
			   const struct wsi_type_shape *to);

/* The number that two give. */
enum ws_status wsi_compute(enum wsi_operation operation, const struct ws_number *a,
			   const struct ws_number *b, bool no_sign, struct ws_number *ret_number,
			   struct ws_error *err) WS_MUST_USE;

#endif
