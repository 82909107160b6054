/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The word in memory that threads wait for: its address and owner, its value, and the value that
 * ends the wait. The address comes from the registers if they still hold it, else it is recomputed
 * from parameters and coordinates, as for an access that failed (explain.h).
 */
#include "explain/explain.h"
#include "objects/mbarrier.h"
#include "wait/wait.h"

enum { MAX_BY_REGISTERS = 32 /* parts whose addresses are read from registers */ };

static bool read_lane_register(struct wsi_build *build, uint32_t warp_index, uint32_t lane,
			       enum ws_reg_kind kind, uint32_t number, uint64_t *ret_value)
{
	uint32_t value = 0, n_read = 0;
	if (ws_target_registers(build->target, warp_index, lane, kind, number, 1, &value, &n_read,
				NULL) != WS_OK ||
	    n_read < 1)
		return false;
	if ((kind == WS_REG_R || kind == WS_REG_UR) && wsi_explain_is_replaced(build, &value, 1))
		return false;
	*ret_value = value;
	return true;
}

static bool read_constant_word(const struct wsi_waits *w, const struct wsi_part *part,
			       uint64_t offset, uint64_t *ret_value)
{
	const struct wsi_where *where = &w->build->groups[part->group].where;
	uint8_t bytes[4];
	size_t n;
	struct ws_address at = {
		.space = WS_SPACE_CONST,
		.device_index = where->device_index,
		.grid_index = where->grid_index,
		.warp_index = part->warp,
		.lane = WS_NONE,
		.address = offset,
	};
	if (ws_target_read_memory(w->build->target, &at, bytes, sizeof bytes, &n, NULL) != WS_OK ||
	    wsi_explain_memory_is_replaced(w->build, bytes, sizeof bytes))
		return false;
	*ret_value = wsi_load_le(bytes, sizeof bytes);
	return true;
}

bool wsi_wait_operand(const struct wsi_waits *w, const struct wsi_part *part, uint32_t lane,
		      const struct ws_operand *op, uint64_t *ret_value)
{
	struct wsi_build *build = w->build;
	uint32_t warp_index = part->warp;
	*ret_value = (uint64_t)op->value;
	switch (op->kind) {
	case WS_OPERAND_IMMEDIATE:
		return op->role != WS_ROLE_OFFSET ||
		       read_constant_word(w, part, *ret_value, ret_value);
	case WS_OPERAND_REG:
		*ret_value = 0;
		return op->number >= 255 ||
		       read_lane_register(build, warp_index, lane, WS_REG_R, op->number, ret_value);
	case WS_OPERAND_UREG:
		*ret_value = 0;
		return op->number >= 255 || read_lane_register(build, warp_index, lane, WS_REG_UR,
							       op->number, ret_value);
	case WS_OPERAND_BREG:
		return read_lane_register(build, warp_index, lane, WS_REG_BARRIER, op->number,
					  ret_value);
	case WS_OPERAND_PRED:
	case WS_OPERAND_UPRED:
	case WS_OPERAND_SCOREBOARD:
	case WS_OPERAND_FLOAT:
	case WS_OPERAND_TARGET:
	case WS_OPERAND_SPECIAL:
		break;
	}
	return false;
}

/* A wait whose word is being looked at. */
struct waited_word {
	struct wsi_waits *w;
	struct ws_report_wait *wait;
	const struct wsi_wait_code *code;
	struct wsi_fault fault;
	struct ws_report_frame frames[1 + WSI_MAX_PATH + WSI_MAX_STACK];
	struct wsi_scene scene;
	uint32_t lane;     /* whose address it is */
	uint32_t rank;     /* of the block whose shared memory it is, or WS_NONE */
	enum ws_status st; /* WS_NO_MEMORY, or WS_OK */
};

/* ---- the scene ---- */

static void add_frame(struct waited_word *word, uint64_t pc, bool caller)
{
	struct ws_report_exception *e = &word->fault.e;
	word->frames[e->n_frames++] = (struct ws_report_frame){ .pc = pc, .caller = caller };
}

/* A thread as if it stood at what it reads: in the functions that lead there from the loop. */
static enum ws_status open_scene(struct waited_word *word, const struct wsi_part *part)
{
	const struct wsi_group *group = &word->w->build->groups[part->group];
	struct ws_report_exception *e = &word->fault.e;
	struct wsi_stack stack;
	wsi_part_stack(word->w, part, &stack);
	word->fault.where = group->where;
	word->fault.device_index = group->where.device_index;
	*e = (struct ws_report_exception){
		.blame = WS_BLAME_LANE,
		.at = word->wait->example,
		.kernel = word->wait->kernel,
		.pc_status = WS_OK,
		.errorpc_status = WS_OK,
		.pc = group->g.pc,
		.errorpc = word->code->pc,
		.lanes_active = part->lanes,
		.lanes_valid = part->lanes,
		.lanes_blamed = part->lanes,
		.frames = word->frames,
		.user_frame = WS_NONE,
		.pc_frames_from = WS_NONE,
	};
	add_frame(word, word->code->pc, false);
	for (uint32_t i = 0; i < word->code->n_path; i++)
		add_frame(word, word->code->path[i], true);
	for (uint32_t i = word->code->level; i < stack.n; i++)
		add_frame(word, stack.at[i].address, true);
	return wsi_scene_init(&word->scene, word->w->build, &word->fault);
}

/* ---- values ---- */

/* Whether a register still has, at an instruction that a lane comes to next, what it has now. */
static bool keeps(const struct wsi_scene *scene, uint32_t lane, uint64_t pc,
		  const struct ws_operand *op)
{
	struct ws_flow_written written;
	return scene->code.flow && scene->lanes >> lane & 1 &&
	       ws_flow_written(scene->code.flow, scene->lane[lane].pc, pc, &written, NULL) ==
		       WS_OK &&
	       !written.unknown_direct &&
	       ws_flow_registers_spare(&written.direct, op->kind, op->number,
				       op->count ? op->count : 1);
}

/* Whether an instruction leaves a register as it is, or moves another there, which it becomes. */
static bool step_back_register(const struct wsi_scene *scene, uint64_t pc, uint32_t *number)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	struct ws_insn insn;
	uint32_t from = WS_NONE, n_read = 0;
	bool writes = false;
	if (!wsi_code_insn(&scene->code, pc, &insn))
		return false;
	size_t n = ws_sass_operands(&insn, pc, ops, WSI_COUNT(ops));
	for (size_t i = 0; i < n; i++) {
		if (ops[i].kind != WS_OPERAND_REG)
			continue;
		if (ops[i].role == WS_ROLE_READ) {
			from = ops[i].number;
			n_read++;
		}
		writes |= (ops[i].role == WS_ROLE_WRITTEN || ops[i].role == WS_ROLE_UPDATED) &&
			  *number - ops[i].number < (ops[i].count ? ops[i].count : 4u);
	}
	if (!writes)
		return true;
	*number = from;
	return insn.operation == WS_OP_MOV && n_read == 1 && insn.guard == 7;
}

/* What a register will hold at an instruction that a lane comes to on the only way. */
static bool moved_value(const struct wsi_scene *scene, uint32_t lane, uint64_t pc, uint32_t number,
			uint64_t *ret_value)
{
	const struct ws_flow *flow = scene->code.flow;
	if (!flow || !(scene->lanes >> lane & 1) || scene->lane[lane].pc > pc ||
	    ws_flow_block_find(flow, scene->lane[lane].pc) != ws_flow_block_find(flow, pc))
		return false;
	while (pc > scene->lane[lane].pc) {
		pc -= WS_SASS_BYTES;
		if (!step_back_register(scene, pc, &number))
			return false;
	}
	return wsi_scene_register(scene, lane, WS_OPERAND_REG, number, 1, ret_value) == WS_OK;
}

/* What an operand of an address was before an instruction; in a loop the lane may come to it on any
 * way. */
static bool base_value(const struct wsi_scene *scene, uint32_t lane, uint64_t pc,
		       const struct ws_operand *op, uint64_t *ret_value)
{
	uint64_t low, high = 0;
	if (keeps(scene, lane, pc, op))
		return wsi_scene_register(scene, lane, op->kind, op->number, op->count,
					  ret_value) == WS_OK;
	if (op->kind != WS_OPERAND_REG || !moved_value(scene, lane, pc, op->number, &low) ||
	    (op->count == 2 && !moved_value(scene, lane, pc, op->number + 1u, &high)))
		return false;
	*ret_value = low | high << 32;
	return true;
}

/* The value that an instruction of the function that reads will find in a register: what the
 * register holds, when nothing before it writes it, else computed again. */
static bool find_value(struct waited_word *word, uint64_t pc, const struct ws_operand *op,
		       uint64_t *ret_value)
{
	const struct wsi_scene *scene = &word->scene;
	uint32_t lane = word->lane;
	unsigned uses = 0;
	if (op->kind == WS_OPERAND_IMMEDIATE || op->number >= 255) {
		*ret_value = op->kind == WS_OPERAND_IMMEDIATE ? (uint64_t)op->value : 0;
		return true;
	}
	if (!scene->code.flow || (op->kind != WS_OPERAND_REG && op->kind != WS_OPERAND_UREG))
		return false;
	if (keeps(scene, lane, pc, op))
		return wsi_scene_register(scene, lane, op->kind, op->number, 1, ret_value) == WS_OK;
	struct ws_flow_slice *slice = wsi_zalloc(sizeof *slice);
	if (!slice)
		word->st = WS_NO_MEMORY;
	bool known = slice &&
		     ws_flow_slice(scene->code.flow, pc, op->kind, op->number, 32, slice, NULL) ==
			     WS_OK &&
		     wsi_eval(scene, slice, 0, lane, 0, ret_value, &uses);
	wsi_free(slice);
	return known;
}

/* A number of as many bytes, as one of 64 bits. */
static uint64_t widened(uint64_t value, uint32_t n_bytes, bool is_signed)
{
	if (n_bytes > 4)
		return value;
	return is_signed ? (uint64_t)(int32_t)(uint32_t)value : (uint32_t)value;
}

static bool is_met(const struct ws_report_wait *wait)
{
	uint64_t value = widened(wait->value, wait->value_bytes, wait->until_signed);
	uint64_t other = widened(wait->until_value, wait->value_bytes, wait->until_signed);
	bool less = wait->until_signed ? (int64_t)value < (int64_t)other : value < other;
	switch (wait->until) {
	case WS_FLOW_TEST_EQUAL:
		return value == other;
	case WS_FLOW_TEST_OTHER:
		return value != other;
	case WS_FLOW_TEST_LESS:
		return less;
	case WS_FLOW_TEST_AT_MOST:
		return less || value == other;
	case WS_FLOW_TEST_MORE:
		return !less && value != other;
	case WS_FLOW_TEST_AT_LEAST:
		return !less;
	case WS_FLOW_TEST_NONE:
		break;
	}
	return false;
}

/* Small numbers as people write them, others as memory shows them. */
static const char *word_number_text(struct wsi_build *build, const struct ws_report_wait *wait,
				    uint64_t value)
{
	enum { SMALL = 100000 };
	uint64_t number = widened(value, wait->value_bytes, wait->until_signed);
	if (wait->until_signed ? (int64_t)number > -SMALL && (int64_t)number < SMALL
			       : number < SMALL)
		return wsi_build_text(build, "%" PRId64, (int64_t)number);
	return wsi_build_text(build, "0x%" PRIx64, value);
}

/* "words 1 and 3 are ", "any of words 0 and 1 is ", "word 1 is ", "the value is ". */
static const char *subject_text(struct wsi_build *build, const struct ws_report_wait *wait)
{
	const char *text = NULL;
	uint32_t left = wait->until_words;
	unsigned n = wsi_count_bits(left);
	if (n == 0)
		return "the value is ";
	for (unsigned i = 0; left; left &= ~(1u << i++)) {
		if (!(left >> i & 1))
			continue;
		bool last = !(left & ~(1u << i));
		text = !text ? wsi_build_text(build, "%sword%s %u",
					      n > 1 && !wait->until_each ? "any of " : "",
					      n > 1 ? "s" : "", i)
			     : wsi_build_text(build, "%s%s%u", text, last ? " and " : ", ", i);
		if (!text)
			return NULL;
	}
	return wsi_build_text(build, "%s %s ", text, n > 1 && wait->until_each ? "are" : "is");
}

static const char *say_until(struct wsi_build *build, struct ws_report_wait *wait)
{
	static const char *const words[] = {
		[WS_FLOW_TEST_NONE] = "",
		[WS_FLOW_TEST_EQUAL] = "",
		[WS_FLOW_TEST_OTHER] = "other than ",
		[WS_FLOW_TEST_LESS] = "less than ",
		[WS_FLOW_TEST_AT_MOST] = "at most ",
		[WS_FLOW_TEST_MORE] = "more than ",
		[WS_FLOW_TEST_AT_LEAST] = "at least ",
	};
	bool known = wait->value_status == WS_OK && wait->value_bytes <= 8;
	const char *other = word_number_text(build, wait, wait->until_value);
	const char *value = known ? word_number_text(build, wait, wait->value) : "";
	const char *subject = subject_text(build, wait), *it = "it is ";
	wait->until_met = known && wait->value_bytes >= 4 && is_met(wait);
	if (wait->until_words & (wait->until_words - 1))
		it = wsi_build_text(build, "word %u is ", wait->until_word);
	if (!other || !value || !subject || !it)
		return NULL;
	return wsi_build_text(build, "the wait ends when %s%s%s%s%s%s%s", subject,
			      words[wait->until], other, known ? "; " : "", known ? it : "", value,
			      wait->until_met ? ", so it is about to end" : "");
}

/* What the word, or half of it, is compared with. */
static bool find_other(struct waited_word *word, const struct ws_flow_other *other,
		       uint64_t *ret_value)
{
	if (other->constant)
		return wsi_scene_memory(&word->scene, word->lane, WS_SPACE_CONST, other->bank,
					(uint64_t)other->with.value, 4, ret_value) == WS_OK;
	/* the compare lies in the loop's function */
	bool here = word->code->n_path == 0 || other->with.kind == WS_OPERAND_IMMEDIATE ||
		    other->with.number >= 255;
	return here && find_value(word, other->pc, &other->with, ret_value);
}

/* A number of the code's width, as one of 64 bits; whether it is one. */
static bool has_width(const struct wsi_wait_code *code, int64_t number)
{
	bool narrow = code->n_test_with == 1;
	return !narrow || (code->test_signed ? number == (int32_t)number
					     : number >= 0 && number <= UINT32_MAX);
}

/* `a` - `b` without wrapping; of unsigned numbers of 64 bits `b` is taken as a signed one. */
static bool minus(const struct wsi_wait_code *code, uint64_t a, int64_t b, uint64_t *ret)
{
	*ret = a - (uint64_t)b;
	if (code->n_test_with == 2 && !code->test_signed)
		return b >= 0 ? a >= (uint64_t)b : *ret > a;
	int64_t number =
		code->test_signed && code->n_test_with == 1 ? (int32_t)(uint32_t)a : (int64_t)a;
	return !__builtin_sub_overflow(number, b, &number) && has_width(code, number);
}

/* What the code adds to the word before it compares. */
static int64_t plus_of(const struct wsi_wait_code *code)
{
	return code->n_test_with == 1 ? (int32_t)(uint32_t)code->test_plus
				      : (int64_t)code->test_plus;
}

/* Whether a comparison of the sum is one of the word: always if it is for equality, else where the
 * sum does not wrap. */
static bool solves(const struct wsi_wait_code *code, uint64_t number, int64_t plus, uint64_t *ret)
{
	bool equality = code->test == WS_FLOW_TEST_EQUAL || code->test == WS_FLOW_TEST_OTHER;
	bool found = minus(code, number, plus, ret) || equality;
	*ret &= code->n_test_with == 1 ? UINT32_MAX : UINT64_MAX;
	return found;
}

/* What the word has to be. */
static void find_until(struct waited_word *word)
{
	const struct wsi_wait_code *code = word->code;
	struct ws_report_wait *wait = word->wait;
	uint64_t half[2] = { 0, 0 };
	wait->until = code->test;
	wait->until_signed = code->test_signed;
	if (code->test == WS_FLOW_TEST_NONE)
		return;
	wait->until_plus = code->test_plus;
	wait->until_each = code->test_each;
	if (code->n_test_words > 1)
		wait->until_words = code->test_words;
	for (unsigned i = 0; i < code->n_test_with; i++)
		if (!find_other(word, &code->test_with[i], &half[i]))
			return;
	uint64_t other = (half[0] & UINT32_MAX) | half[1] << 32;
	if (solves(code, other, plus_of(code), &wait->until_value))
		wait->until_status = WS_OK;
}

/* ---- the value ---- */

static void read_word_value(struct waited_word *word, uint64_t start, uint32_t number)
{
	struct ws_report_wait *wait = word->wait;
	wait->until_word = number;
	wait->address = start + (uint64_t)number * wait->value_bytes;
	wait->value_status = wsi_scene_memory(&word->scene, word->lane, wait->space, 0,
					      wait->address, wait->value_bytes, &wait->value);
}

/* Of several words the first that decides: one that holds the wait up, or if any is enough one that
 * ends it; else the first. */
static void find_deciding_word(struct waited_word *word)
{
	struct ws_report_wait *wait = word->wait;
	const struct wsi_wait_code *code = word->code;
	uint64_t start = wait->address, sum;
	uint32_t first = wait->until_words ? wsi_first_bit(wait->until_words) : 0;
	bool found = !wait->until_words;
	if (code->n_test_words > 1 && code->test != WS_FLOW_TEST_NONE)
		wait->value_bytes /= code->n_test_words;
	if (wait->value_bytes == 0 || wait->value_bytes > 8)
		return;
	for (uint32_t i = first; i < 32 && !found; i++) {
		if (!(wait->until_words >> i & 1))
			continue;
		read_word_value(word, start, i);
		found = wait->value_status == WS_OK && wait->until_status == WS_OK &&
			is_met(wait) != wait->until_each;
	}
	if (!found || !wait->until_words)
		read_word_value(word, start, first);
	if (wait->value_status == WS_OK && wait->until_status == WS_OK && wait->until_plus &&
	    !solves(code, wait->value, -plus_of(code), &sum))
		wait->until_status = WS_ABSENT; /* the sum wraps */
	if (wait->until_status == WS_OK) {
		wait->needs = say_until(word->w->build, wait);
		word->st = wait->needs ? WS_OK : WS_NO_MEMORY;
	}
}

/* ---- barrier objects ---- */

static void decode_object(struct waited_word *word)
{
	struct ws_report_object *object = &word->wait->object;
	struct wsi_barrier barrier;
	uint64_t phase;
	wsi_barrier_decode(word->scene.code.sm, word->wait->value, &barrier);
	if (!barrier.in_use)
		return;
	object->status = WS_OK;
	object->parity = (uint8_t)barrier.phase;
	object->pending = barrier.pending;
	object->expected = barrier.expected;
	object->pending_bytes = barrier.bytes;
	object->phase_status = WS_ABSENT;
	if (!find_value(word, word->code->phase_pc, &word->code->phase, &phase))
		return;
	object->phase_status = WS_OK;
	object->phase = phase >> 31 & 1;
	object->over = object->phase != object->parity;
}

static const char *say_object(struct wsi_build *build, const struct ws_report_object *object)
{
	char bytes[100] = "";
	if (object->over)
		return "the awaited phase is over: the wait is about to end";
	if (object->pending_bytes)
		wsi_format(bytes, "%s%u bytes of asynchronous copies",
			   object->pending ? ", and " : "", object->pending_bytes);
	const char *arrivals = object->expected == 1 ? "arrival" : "arrivals";
	if (!object->pending && *bytes)
		return wsi_build_text(build, "%s are missing, but no arrivals", bytes);
	return wsi_build_text(build, "%u of %u %s %s missing%s", object->pending, object->expected,
			      arrivals, object->pending == 1 ? "is" : "are", bytes);
}

/* ---- the address ---- */

/* The address that a lane is about to read, from registers that keep their values until then, or
 * that are moved there. */
static bool next_address(const struct wsi_scene *scene, uint32_t lane, uint64_t *ret_address)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	struct ws_insn insn;
	uint64_t pc = scene->e->errorpc, part;
	bool any = false;
	*ret_address = 0;
	if (!wsi_code_insn(&scene->code, pc, &insn))
		return false;
	size_t n = ws_sass_operands(&insn, pc, ops, WSI_COUNT(ops));
	for (size_t i = 0; i < n; i++) {
		if (ops[i].role == WS_ROLE_OFFSET) {
			*ret_address += (uint64_t)ops[i].value;
			any = true;
		}
		if (ops[i].role != WS_ROLE_ADDRESS_BASE)
			continue;
		if (ops[i].scale != 1 || !base_value(scene, lane, pc, &ops[i], &part))
			return false;
		*ret_address += part;
		any = true;
	}
	return any;
}

/* The address that a lane of the scene's warp reads, in its space: that of the registers while they
 * hold it, else computed again. Nothing changes while threads wait, so memory may be used. */
static bool lane_word_address(const struct wsi_scene *scene, uint32_t lane,
			      enum ws_space *ret_space, uint64_t *ret_address, uint32_t *ret_rank)
{
	const struct ws_report_access *access = scene->e->accesses;
	unsigned uses = 0;
	*ret_rank = access->rank;
	*ret_space = access->space;
	*ret_address = access->address[lane];
	if (access->lanes_known >> lane & 1)
		return true;
	if (!next_address(scene, lane, ret_address) &&
	    (!scene->have_slice || !wsi_eval(scene, scene->slice, 0, lane, 0, ret_address, &uses)))
		return false;
	if (access->generic)
		*ret_space = wsi_scene_resolve(scene, *ret_address, ret_address, ret_rank);
	else if (*ret_space != WS_SPACE_GLOBAL)
		*ret_address &= UINT32_MAX;
	if (*ret_space == WS_SPACE_SHARED && !access->generic)
		wsi_scene_take_rank(scene, ret_address);
	return true;
}

/* The lanes of a part that look at another address than the example, or at one not known. */
static bool part_differs(struct waited_word *word, const struct wsi_part *part, bool by_eval)
{
	struct wsi_scene *scene = &word->scene;
	bool any = false;
	wsi_scene_aim(scene, part->warp);
	if (!by_eval)
		word->st = wsi_access_find(scene);
	if (word->st != WS_OK || (!by_eval && scene->e->n_accesses == 0))
		return true;
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++) {
		uint64_t address = 0;
		enum ws_space space = word->wait->space;
		uint32_t rank;
		unsigned uses = 0;
		if (!(part->lanes >> lane & 1) ||
		    !(by_eval ? wsi_eval(scene, scene->slice, 0, lane, 0, &address, &uses)
			      : lane_word_address(scene, lane, &space, &address, &rank)))
			continue;
		any = true;
		if (space != word->wait->space || address != word->wait->address)
			return true;
	}
	return !any;
}

static void compare_addresses(struct waited_word *word, uint32_t number)
{
	struct wsi_waits *w = word->w;
	uint64_t again = 0;
	unsigned uses = 0;
	bool by_eval = word->wait->space == WS_SPACE_GLOBAL && word->scene.have_slice &&
		       wsi_eval(&word->scene, word->scene.slice, 0, word->lane, 0, &again, &uses) &&
		       again == word->wait->address;
	uint32_t n = 0, most = by_eval ? WSI_MAX_ADDRESSES : MAX_BY_REGISTERS;
	for (size_t i = 0; i < w->n_parts && n < most && word->wait->one_address; i++) {
		if (w->parts[i].wait != number)
			continue;
		n++;
		word->wait->one_address = !part_differs(word, &w->parts[i], by_eval);
	}
	wsi_scene_aim(&word->scene, word->wait->example.warp_index);
}

/* The first lane whose address is known: that of the example, where it is. */
static bool find_lane(struct waited_word *word)
{
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++) {
		if (word->fault.e.lanes_active >> lane & 1 &&
		    lane_word_address(&word->scene, lane, &word->wait->space, &word->wait->address,
				      &word->rank)) {
			word->lane = lane;
			return true;
		}
	}
	return false;
}

static enum ws_status look_at_word(struct waited_word *word, uint32_t number)
{
	struct ws_report_wait *wait = word->wait;
	const struct ws_report_exception *e = &word->fault.e;
	enum ws_status st = wsi_access_find(&word->scene);
	if (st != WS_OK || e->n_accesses == 0)
		return st;
	wait->space = e->accesses->space;
	wait->owner = e->accesses->owner;
	if (!find_lane(word))
		return WS_OK;
	wait->address_status = WS_OK;
	uint32_t width = e->accesses->width;
	bool object = wait->kind == WS_WAIT_MBARRIER;
	compare_addresses(word, number);
	wait->value_bytes = object ? 8 : width;
	wait->value_status = WS_ABSENT;
	if (wait->space == WS_SPACE_SHARED && !wsi_scene_is_own(&word->scene, word->rank))
		return WS_OK;
	wait->address += (uint64_t)(int64_t)word->code->object_off;
	if (!object) {
		find_until(word);
		find_deciding_word(word);
		return WS_OK;
	}
	read_word_value(word, wait->address, 0);
	if (wait->value_status != WS_OK)
		return WS_OK;
	decode_object(word);
	if (wait->object.status != WS_OK)
		return WS_OK;
	wait->needs = say_object(word->w->build, &wait->object);
	return wait->needs ? WS_OK : WS_NO_MEMORY;
}

enum ws_status wsi_wait_words(struct wsi_waits *w)
{
	enum ws_status st = WS_OK;
	uint32_t n = 0;
	for (uint32_t i = 0; i < w->n_list && n < WSI_MAX_WORDS && st == WS_OK; i++) {
		const struct wsi_part *part = &w->parts[w->first_part[i]];
		const struct wsi_wait_code *code = &w->code[part->group];
		if (!wsi_wait_reads_word(code->kind))
			continue;
		n++;
		struct waited_word *word = wsi_zalloc(sizeof *word);
		if (!word)
			return WS_NO_MEMORY;
		word->w = w;
		word->wait = &w->list[i];
		word->code = code;
		st = open_scene(word, part);
		if (st == WS_OK)
			st = look_at_word(word, i);
		if (st == WS_OK)
			st = word->st;
		wsi_scene_fini(&word->scene);
		wsi_free(word);
	}
	return st;
}
