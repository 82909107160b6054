/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions that are asked often: one evaluation is recorded, and repeated for other lanes at the
 * same pc. What an expression computes depends on the pc and on types; values only go into it. So
 * the evaluator notes, beside each value, which step made it. Steps compute with the evaluator's
 * own functions.
 */
#include "vars/condition.h"

/* From now on evaluation is recorded in vars->record; NULL: no memory. */
static struct wsi_condition_record *record_begin(struct ws_vars *vars)
{
	return vars->record = wsi_zalloc(sizeof *vars->record);
}

void wsi_record_lose(struct ws_vars *vars)
{
	if (vars->record)
		vars->record->lost = true;
}

/* A new step; NULL: nothing is recorded, or there is no room. */
static struct wsi_cond_step *step_add(struct ws_vars *vars, enum wsi_cond_what what,
				      uint16_t *ret_number)
{
	struct wsi_condition_record *record = vars->record;
	*ret_number = 0;
	if (!record || record->lost)
		return NULL;
	if (record->n + 1 == WSI_COND_STEPS) {
		record->lost = true;
		return NULL;
	}
	*ret_number = ++record->n; /* the first has number 1 */
	record->step[record->n].what = what;
	return &record->step[record->n];
}

uint16_t wsi_record_register(struct ws_vars *vars, enum ws_reg_kind kind, uint32_t number,
			     uint32_t words)
{
	uint16_t at;
	struct wsi_cond_step *step = step_add(vars, WSI_COND_REGISTER, &at);
	if (step) {
		step->kind = kind;
		step->number = number;
		step->words = words;
	}
	return at;
}

uint16_t wsi_record_dim(struct ws_vars *vars, uint32_t which)
{
	uint16_t first = 0, at;
	for (uint32_t i = 0; i < 3; i++) {
		struct wsi_cond_step *step = step_add(vars, WSI_COND_DIM, &at);
		if (step)
			step->number = 3 * which + i;
		first = i == 0 ? at : first;
	}
	return first;
}

uint16_t wsi_record_load(struct ws_vars *vars, const struct ws_address *at, uint16_t address,
			 uint32_t size)
{
	uint16_t number;
	struct wsi_cond_step *step = step_add(vars, WSI_COND_LOAD, &number);
	if (step) {
		step->at = *at;
		step->a.step = address;
		step->words = size;
	}
	return number;
}

uint16_t wsi_record_part(struct ws_vars *vars, uint16_t of, uint64_t offset, bool is_address)
{
	uint16_t number;
	struct wsi_condition_record *record = vars->record;
	if (of == 0 || offset == 0 || !record || record->lost)
		return of;
	if (!is_address && record->step[of].what == WSI_COND_DIM && offset < 12)
		return (uint16_t)(of + offset / 4);
	struct wsi_cond_step *step =
		step_add(vars, is_address ? WSI_COND_ADD : WSI_COND_SHIFT, &number);
	if (step) {
		step->a.step = of;
		step->by = is_address ? offset : offset * 8;
	}
	return number;
}

uint16_t wsi_record_cast(struct ws_vars *vars, const struct wsi_operand *from,
			 const struct wsi_type_shape *to)
{
	uint16_t number = 0;
	struct wsi_cond_step *step = from->step ? step_add(vars, WSI_COND_CAST, &number) : NULL;
	if (step) {
		step->a = *from;
		step->to = *to;
	}
	return number;
}

uint16_t wsi_record_binary(struct ws_vars *vars, enum wsi_operation operation,
			   const struct wsi_operand *a, const struct wsi_operand *b,
			   const struct wsi_type_shape *to)
{
	uint16_t number = 0;
	struct wsi_cond_step *step =
		a->step || b->step ? step_add(vars, WSI_COND_BINARY, &number) : NULL;
	if (step) {
		step->operation = operation;
		step->a = *a;
		step->b = *b;
		step->to = *to;
	}
	return number;
}

/* ---- what was recorded ---- */

struct ws_condition {
	uint16_t n;
	struct wsi_operand result;
	struct ws_vtype type;        /* of the result */
	struct wsi_cond_step step[]; /* from 1 */
};

enum ws_status ws_vars_condition(struct ws_vars *vars, const char *text,
				 struct ws_condition **ret_condition, struct ws_error *err)
{
	struct ws_value value;
	struct ws_condition *made = NULL;
	struct wsi_operand result = { 0 };
	struct wsi_condition_record *record = record_begin(vars);
	if (!record)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a condition");
	enum ws_status st = ws_vars_evaluate(vars, text, &value, err);
	/* what depends on no thread fails in all of them */
	const bool nowhere = st == WS_ARGUMENT && !record->lost && record->n == 0;
	if (st == WS_OK)
		st = wsi_vars_operand_of(vars, &value, &result, err);
	if (st == WS_OK && (record->lost || vars->selected != 0))
		st = wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
			      "the condition is not one of registers and memory alone");
	else if (st == WS_ARGUMENT && !nowhere)
		st = WS_UNSUPPORTED;
	vars->record = NULL;
	size_t bytes = sizeof *made + ((size_t)record->n + 1) * sizeof *made->step;
	if (st == WS_OK && !(made = wsi_zalloc(bytes)))
		st = wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a condition");
	if (made) {
		made->n = record->n;
		made->result = result;
		made->type = value.type;
		memcpy(made->step, record->step, bytes - sizeof *made);
		*ret_condition = made;
	}
	wsi_free(record);
	return st;
}

void ws_condition_free(struct ws_condition *condition)
{
	wsi_free(condition);
}

/* ---- asking it ---- */

struct lanes {
	const struct ws_arrival *arrival;
	uint64_t bits[WSI_COND_STEPS][WS_MAX_LANES];
	uint32_t unknown[WSI_COND_STEPS]; /* lanes for which a step cannot be told */
};

static bool is_known(const struct lanes *lanes, const struct wsi_operand *operand, unsigned lane)
{
	return operand->step == 0 || !(lanes->unknown[operand->step] >> lane & 1);
}

static struct ws_number operand_number_of(const struct lanes *lanes,
					  const struct wsi_operand *operand, unsigned lane)
{
	struct ws_number number = operand->number;
	uint8_t bytes[8];
	if (operand->step) {
		wsi_store_u64(bytes, lanes->bits[operand->step][lane]);
		(void)wsi_number_of(&operand->shape, bytes, operand->bit_off, operand->bit_size,
				    &number);
	}
	return number;
}

static bool is_true(const struct ws_number *number)
{
	return number->is_float ? number->real != 0 : number->whole != 0;
}

static uint64_t number_to_bits(const struct wsi_type_shape *shape, const struct ws_number *number)
{
	uint8_t bytes[8];
	wsi_number_bytes(shape, number, bytes);
	return wsi_load_u64(bytes);
}

static bool load_lanes(const struct lanes *lanes, const struct wsi_cond_step *step, unsigned lane,
		       uint64_t *ret_bits)
{
	struct ws_address at = step->at;
	uint8_t bytes[8] = { 0 };
	at.lane = lane;
	if (step->a.step)
		at.address = lanes->bits[step->a.step][lane];
	if (!lanes->arrival->read(lanes->arrival, &at, bytes, step->words))
		return false;
	*ret_bits = wsi_load_u64(bytes);
	return true;
}

/* && and || may be known by their left side alone. */
static bool binary_lanes(const struct lanes *lanes, const struct wsi_cond_step *step, unsigned lane,
			 uint64_t *ret_bits)
{
	struct ws_number x = operand_number_of(lanes, &step->a, lane), result;
	struct ws_number y = operand_number_of(lanes, &step->b, lane);
	bool decided = (step->operation == WSI_AND && !is_true(&x)) ||
		       (step->operation == WSI_OR && is_true(&x));
	if (!is_known(lanes, &step->a, lane) || (!decided && !is_known(lanes, &step->b, lane)) ||
	    wsi_compute(step->operation, &x, &y, wsi_vars_is_unsigned(&step->to), &result, NULL) !=
		    WS_OK)
		return false;
	*ret_bits = number_to_bits(&step->to, &result);
	return true;
}

/* One step for one lane; false: it cannot be told. */
static bool run_condition_step(const struct lanes *lanes, const struct wsi_cond_step *step,
			       unsigned lane, uint64_t *ret_bits)
{
	struct ws_number number;
	if (step->what == WSI_COND_BINARY)
		return binary_lanes(lanes, step, lane, ret_bits);
	if (!is_known(lanes, &step->a, lane))
		return false;
	switch (step->what) {
	case WSI_COND_REGISTER:
		return lanes->arrival->reg(lanes->arrival, step->kind, step->number, step->words,
					   lane, ret_bits);
	case WSI_COND_DIM:
		*ret_bits = lanes->arrival->place(lanes->arrival, step->number / 3,
						  step->number % 3, lane);
		return true;
	case WSI_COND_LOAD:
		return load_lanes(lanes, step, lane, ret_bits);
	case WSI_COND_ADD:
		*ret_bits = lanes->bits[step->a.step][lane] + step->by;
		return true;
	case WSI_COND_SHIFT:
		*ret_bits = step->by < 64 ? lanes->bits[step->a.step][lane] >> step->by : 0;
		return true;
	case WSI_COND_CAST:
		number = operand_number_of(lanes, &step->a, lane);
		*ret_bits = number_to_bits(&step->to, &number);
		return true;
	case WSI_COND_BINARY:
		break;
	}
	return false;
}

static void run_all_steps(const struct ws_condition *c, const struct ws_arrival *arrival,
			  struct lanes *lanes)
{
	lanes->arrival = arrival;
	for (uint16_t i = 1; i <= c->n; i++) {
		lanes->unknown[i] = 0;
		for (uint32_t left = arrival->lanes; left; left &= left - 1) {
			unsigned lane = wsi_first_bit(left);
			lanes->bits[i][lane] = 0;
			if (!run_condition_step(lanes, &c->step[i], lane, &lanes->bits[i][lane]))
				lanes->unknown[i] |= 1u << lane;
		}
	}
}

uint32_t ws_condition_read(const struct ws_condition *c, const struct ws_arrival *arrival,
			   struct ws_lane_number ret_numbers[WS_MAX_LANES])
{
	const uint32_t width =
		c->result.bit_size ? c->result.bit_size : 8 * (uint32_t)c->result.shape.size;
	const uint64_t mask = width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
	struct lanes lanes;
	uint32_t known = 0;
	run_all_steps(c, arrival, &lanes);
	for (uint32_t left = arrival->lanes; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		struct ws_lane_number *to = &ret_numbers[lane];
		if (!is_known(&lanes, &c->result, lane))
			continue;
		to->number = operand_number_of(&lanes, &c->result, lane);
		to->bits = c->result.step
				   ? lanes.bits[c->result.step][lane] >> c->result.bit_off & mask
				   : number_to_bits(&c->result.shape, &to->number) & mask;
		known |= 1u << lane;
	}
	return known;
}

bool ws_condition_is_plain(const struct ws_condition *condition)
{
	const struct wsi_type_shape *shape = &condition->result.shape;
	struct wsi_type_shape target;
	if (shape->kind == WS_KIND_POINTER)
		return wsi_shape(&shape->target, &target, NULL) == WS_OK && target.size != 1;
	return shape->kind == WS_KIND_BASE || shape->kind == WS_KIND_ENUM;
}

struct ws_value ws_condition_value(const struct ws_condition *condition, uint64_t bits)
{
	struct ws_value value = { .kind = WS_VALUE_BYTES,
				  .type = condition->type,
				  .bit_size = condition->result.bit_size };
	wsi_store_u64(value.bytes, bits);
	return value;
}

uint32_t ws_condition_holds(const void *condition, const struct ws_arrival *arrival)
{
	const struct ws_condition *c = condition;
	struct lanes lanes;
	uint32_t holds = 0;
	run_all_steps(c, arrival, &lanes);
	for (uint32_t left = arrival->lanes; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		struct ws_number number = operand_number_of(&lanes, &c->result, lane);
		if (!is_known(&lanes, &c->result, lane) || is_true(&number))
			holds |= 1u << lane;
	}
	return holds;
}
