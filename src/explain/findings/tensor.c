/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the state shows about tensor maps and tensor memory.
 *
 * A copy by the tensor memory accelerator (UTMALDG and similar) takes the address of a tensor map
 * from a pair of uniform registers. A map that is a parameter of the kernel (__grid_constant__)
 * lies in constant bank 0; its generic address is computed from a word of that bank, which a dump
 * need not have as memory, so it is read from the parameters if the code shows that it is one.
 *
 * An address of tensor memory has the lane in its upper and the column in its lower 16 bits; there
 * are 128 lanes and 512 columns [public doc: PTX ISA, tensor memory addressing].
 */
#include "explain/explain.h"

#include "objects/tensormap.h"
#include "sass/bank.h"

enum {
	MAX_BACK = 32, /* instructions looked at before the pc */
	MAP_ALIGN = 64,
	TILE_ALIGN = 128,
	TMEM_LANES = 128,
	TMEM_COLUMNS = 512,
	COLUMNS_PER_BIT = 32,
	TMEM_BITS = TMEM_COLUMNS / COLUMNS_PER_BIT,
	ALLOCATED_WORD = 0x54, /* offset in shared memory */
	BOX_UNIT = 16,         /* bytes that the inner box must be a multiple of */
};

/* ---- the instruction ---- */

/* An instruction with what it names. */
struct found_insn {
	uint64_t pc;
	struct ws_insn insn;
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	size_t n_ops;
	bool blamed; /* at the error PC */
};

/* Which instructions are looked for. */
typedef bool wanted(const struct ws_insn *insn);

static bool has_map(const struct ws_insn *insn)
{
	return ws_sass_category(insn->operation) == WS_CATEGORY_TENSOR_MAP;
}

static bool is_ldtm(const struct ws_insn *insn)
{
	return insn->operation == WS_OP_LDTM;
}

static bool is_sttm(const struct ws_insn *insn)
{
	return insn->operation == WS_OP_STTM;
}

static bool is_any(const struct ws_insn *insn)
{
	return insn->known;
}

static bool insn_take(const struct wsi_scene *scene, uint64_t pc, wanted *is,
		      struct found_insn *ret)
{
	if (!wsi_code_insn(&scene->code, pc, &ret->insn) || !ret->insn.known || !is(&ret->insn))
		return false;
	ret->pc = pc;
	ret->n_ops = ws_sass_operands(&ret->insn, pc, ret->ops, WSI_COUNT(ret->ops));
	return true;
}

/* The one at the error PC, else the last one before the pc. */
static bool find_insn(const struct wsi_scene *scene, wanted *is, struct found_insn *ret)
{
	const struct ws_report_exception *e = scene->e;
	if (e->errorpc_status == WS_OK && insn_take(scene, e->errorpc, is, ret)) {
		ret->blamed = true;
		return true;
	}
	ret->blamed = false;
	for (uint64_t back = 0; e->pc_status == WS_OK && back <= MAX_BACK &&
				e->pc - scene->code.base_pc >= back * WS_SASS_BYTES;
	     back++) {
		if (insn_take(scene, e->pc - back * WS_SASS_BYTES, is, ret))
			return true;
	}
	return false;
}

/* How sure it is that a uniform register holds what the instruction used. */
static enum ws_confidence trust(const struct wsi_scene *scene, const struct found_insn *found,
				unsigned number, unsigned count)
{
	return found->blamed ? wsi_trust(scene, found->pc, WS_OPERAND_UREG, number, count)
			     : WS_CONFIDENCE_POSSIBLE;
}

/* ---- the tensor map ---- */

/* A tensor map under judgement. */
struct map_view {
	struct found_insn insn;
	uint64_t address;
	enum ws_confidence sure; /* of the address */
	enum ws_status status;   /* of the bytes */
	bool is_param;
	uint32_t param_offset; /* from the start of the parameters */
	uint8_t bytes[WSI_TENSOR_MAP_BYTES];
};

/* Whether the map's address was made of the word with the address of the parameters. */
static void see_param(struct wsi_scene *scene, struct map_view *view, unsigned number)
{
	uint64_t base;
	uint32_t word = wsi_bank0(scene->code.sm)->params;
	bool found = false;
	if (!scene->code.flow || scene->code.sm < 90 ||
	    (!scene->slice && !(scene->slice = wsi_zalloc(sizeof *scene->slice)))) {
		return;
	}
	scene->have_slice = false;
	if (ws_flow_slice(scene->code.flow, view->insn.pc, WS_OPERAND_UREG, number, 64,
			  scene->slice, NULL) != WS_OK)
		return;
	for (size_t i = 0; i < scene->slice->n; i++) {
		const struct ws_flow_node *node = &scene->slice->node[i];
		found |= node->op == WS_FLOW_CONSTANT && node->number == 0 && node->value == word &&
			 node->n_args == 0;
	}
	if (!found || wsi_scene_memory(scene, 0, WS_SPACE_CONST, 0, word, 8, &base) != WS_OK ||
	    view->address - base > UINT16_MAX)
		return;
	view->is_param = true;
	view->param_offset = (uint32_t)(view->address - base);
}

static void read_map_view(const struct wsi_scene *scene, struct map_view *view)
{
	struct ws_address at = { .space = WS_SPACE_GENERIC,
				 .device_index = scene->where.device_index,
				 .grid_index = scene->grid_index,
				 .warp_index = scene->e->at.warp_index,
				 .lane = wsi_scene_lane(scene),
				 .address = view->address };
	size_t n = 0;
	if (view->is_param && scene->e->kernel != WS_NONE) {
		at.space = WS_SPACE_PARAM;
		at.address = (uint64_t)scene->build->kernels[scene->e->kernel].params_offset +
			     view->param_offset;
	}
	view->status = ws_target_read_memory(scene->build->target, &at, view->bytes,
					     sizeof view->bytes, &n, NULL);
	if (wsi_explain_memory_is_replaced(scene->build, view->bytes, sizeof view->bytes))
		view->status = WS_EXCLUDED;
}

static void find_map_address(struct wsi_scene *scene, const struct map_view *view)
{
	char where[80] = "";
	if (view->is_param)
		wsi_format(where, ", byte %u of the kernel's parameters", view->param_offset);
	wsi_found(scene, view->sure, "the uniform registers of the instruction",
		  "the tensor map of `%s` is at 0x%" PRIx64 "%s",
		  wsi_code_text(scene->build, &view->insn.insn, view->insn.pc), view->address,
		  where);
	if (view->address % MAP_ALIGN)
		wsi_fact(scene, WSI_FACT_MAP_ODD,
			 wsi_found(scene, view->sure, "its address",
				   "0x%" PRIx64 " is not a multiple of 64, which a tensor map's "
				   "address must be",
				   view->address));
	if (view->status == WS_ABSENT)
		wsi_fact(scene, WSI_FACT_MAP_LOST,
			 wsi_found(scene, WS_CONFIDENCE_POSSIBLE, "the list of known memory",
				   "it is in no known memory: it is a parameter or constant "
				   "whose bank was not recorded, or its address is wrong"));
	else if (view->status != WS_OK)
		wsi_fact(scene, view->is_param ? WSI_FACT_NO_PARAMS : WSI_FACT_NO_MEMORY,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the list of known memory",
				   "its bytes are %s", wsi_lost_words(view->status)));
}

/* "1024 x 512": the sizes of the dimensions that there are. */
static void sizes_text(char *text, size_t size, const struct wsi_tensor_map *map, bool box)
{
	size_t len = 0;
	for (uint32_t i = 0; i < map->rank && i < WSI_TENSOR_MAP_RANK && len < size; i++) {
		int n = snprintf(text + len, size - len, "%s%" PRIu64, i ? " x " : "",
				 box ? map->box[i] : map->dim[i]);
		len += n > 0 ? (size_t)n : 0;
	}
}

static void wrong(struct wsi_scene *scene, const char *text)
{
	wsi_fact(scene, WSI_FACT_MAP_WRONG, text);
}

/* What cuTensorMapEncodeTiled would refuse [public doc: CUDA driver API, tensor map objects]. */
static void check_map_encoding(struct wsi_scene *scene, const struct wsi_tensor_map *map)
{
	static const char evidence[] = "its bytes";
	static const uint32_t swizzles[] = { 0, 32, 64, 128 };
	uint32_t width = wsi_tensor_map_element_bytes(map);
	uint64_t inner = (uint64_t)map->box[0] * width;
	uint32_t align = map->interleave == 2 ? 32 : 16;
	if (map->rank > WSI_TENSOR_MAP_RANK)
		wrong(scene, wsi_found(scene, WS_CONFIDENCE_LIKELY, evidence,
				       "it has %u dimensions; the maximum is 5", map->rank));
	if (width == 0)
		wrong(scene, wsi_found(scene, WS_CONFIDENCE_LIKELY, evidence,
				       "its element type, %u, is not a known one", map->element));
	if (map->interleave > 2)
		wrong(scene, wsi_found(scene, WS_CONFIDENCE_LIKELY, evidence,
				       "its interleaving mode does not exist"));
	if (map->address % align)
		wrong(scene, wsi_found(scene, WS_CONFIDENCE_LIKELY, evidence,
				       "the tensor's address 0x%" PRIx64
				       " is not a multiple of %u, as it must be",
				       map->address, align));
	if (width && map->interleave == 0 && inner % BOX_UNIT)
		wrong(scene, wsi_found(scene, WS_CONFIDENCE_LIKELY, evidence,
				       "a row of its box has %" PRIu64
				       " bytes, which must be a multiple of 16",
				       inner));
	if (width && map->interleave == 0 && map->swizzle && !map->other_swizzle &&
	    inner > swizzles[map->swizzle])
		wrong(scene, wsi_found(scene, WS_CONFIDENCE_LIKELY, evidence,
				       "a row of its box has %" PRIu64
				       " bytes, more than its swizzle of %u bytes allows",
				       inner, swizzles[map->swizzle]));
}

/* The whole tensor against the memory that its address lies in. */
static void check_extent(struct wsi_scene *scene, const struct wsi_tensor_map *map)
{
	static const char evidence[] = "its bytes, and the list of known memory";
	struct wsi_range range;
	uint64_t width = wsi_tensor_map_element_bytes(map), bytes = map->dim[0] * width;
	if (wsi_global_is_mapped(scene, map->address, 1) == WSI_MAPPED_NO) {
		wsi_fact(scene, WSI_FACT_MAP_PAST,
			 wsi_found(scene, WS_CONFIDENCE_LIKELY, evidence,
				   "the tensor's address 0x%" PRIx64 " is in no known memory",
				   map->address));
		return;
	}
	if (!wsi_range_at(scene->build, map->address, &range) || !width || map->interleave ||
	    map->rank > WSI_TENSOR_MAP_RANK)
		return;
	for (uint32_t i = 1; i < map->rank; i++)
		bytes += (map->dim[i] - 1) * map->stride[i - 1]; /* below 2^73: may wrap */
	uint64_t left = range.start + range.size - map->address;
	if (bytes > left)
		wsi_fact(scene, WSI_FACT_MAP_PAST,
			 wsi_found(scene, WS_CONFIDENCE_LIKELY, evidence,
				   "the tensor reaches %" PRIu64
				   " bytes past the end of the %" PRIu64 " bytes at 0x%" PRIx64
				   " that it starts in",
				   bytes - left, range.size, range.start));
}

static void find_map_content(struct wsi_scene *scene, const struct map_view *view)
{
	static const char *const swizzles[] = { "no swizzle", "swizzle 32B", "swizzle 64B",
						"swizzle 128B" };
	struct wsi_tensor_map map;
	char dims[120] = "", box[120] = "";
	wsi_tensor_map_decode(view->bytes, &map);
	if (map.all_zero) {
		wsi_fact(scene, WSI_FACT_MAP_ZERO,
			 wsi_found(scene, view->sure, "its bytes",
				   "all of its 128 bytes are 0: it was never filled in"));
		return;
	}
	const char *element = wsi_tensor_map_element(&map);
	sizes_text(dims, sizeof dims, &map, false);
	sizes_text(box, sizeof box, &map, true);
	wsi_found(scene, WS_CONFIDENCE_LIKELY,
		  "its bytes, by the layout that the compiler uses for tensormap.replace",
		  "it describes %s elements of type %s at 0x%" PRIx64 ", in boxes of %s, %s%s",
		  dims, element ? element : "?", map.address, box,
		  map.other_swizzle ? "a later swizzle" : swizzles[map.swizzle],
		  map.interleave ? ", interleaved" : "");
	check_map_encoding(scene, &map);
	check_extent(scene, &map);
}

/* The pair of uniform registers with the map's address, and where the tile goes. */
static void find_tile(struct wsi_scene *scene, const struct found_insn *found, uint32_t lane)
{
	bool load = found->insn.operation == WS_OP_UTMALDG;
	for (size_t i = 0; i < found->n_ops && load; i++) {
		const struct ws_operand *op = &found->ops[i];
		uint64_t value;
		if (op->kind != WS_OPERAND_UREG || op->place != 0 ||
		    wsi_scene_register(scene, lane, WS_OPERAND_UREG, op->number, 1, &value) !=
			    WS_OK)
			continue;
		if (value % TILE_ALIGN)
			wsi_fact(scene, WSI_FACT_TILE_ODD,
				 wsi_found(scene, trust(scene, found, op->number, 1),
					   "the uniform registers of the instruction",
					   "the tile's address in shared memory, 0x%" PRIx64
					   ", is not a multiple of 128, as it must be",
					   value));
		return;
	}
}

/* What the uniform registers of another instruction hold: descriptors of matrices, modes. */
static enum ws_status find_descriptors(struct wsi_scene *scene, uint32_t lane)
{
	struct found_insn found;
	char text[400] = "";
	size_t len = 0;
	if (lane == WS_NONE || scene->e->errorpc_status != WS_OK ||
	    !insn_take(scene, scene->e->errorpc, is_any, &found))
		return WS_OK;
	for (size_t i = 0; i < found.n_ops && len + 60 < sizeof text; i++) {
		const struct ws_operand *op = &found.ops[i];
		uint64_t value;
		if (op->kind != WS_OPERAND_UREG || op->role == WS_ROLE_WRITTEN ||
		    ws_operand_is_fixed(op->kind, op->number) ||
		    wsi_scene_register(scene, lane, WS_OPERAND_UREG, op->number,
				       op->count ? op->count : 1u, &value) != WS_OK)
			continue;
		int n = snprintf(text + len, sizeof text - len, "%sUR%u%s = 0x%" PRIx64,
				 len ? ", " : "", op->number, op->count > 1 ? ".64" : "", value);
		len += n > 0 ? (size_t)n : 0;
	}
	if (len)
		wsi_found(scene, WS_CONFIDENCE_POSSIBLE,
			  "the uniform registers, which may have been written since",
			  "its operands for the whole warp are %s", text);
	return WS_OK;
}

static enum ws_status find_map(struct wsi_scene *scene)
{
	struct map_view view = { .status = WS_ABSENT };
	const struct ws_operand *pair = NULL;
	uint32_t lane = wsi_scene_lane(scene);
	if (!find_insn(scene, has_map, &view.insn)) {
		if (scene->e->kind->family == WS_FAMILY_INSTRUCTION)
			return find_descriptors(scene, lane);
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the code at errorpc and before the pc",
			  "no instruction with a tensor map is nearby: which map was used is not "
			  "known");
		return WS_OK;
	}
	for (size_t i = 0; i < view.insn.n_ops; i++) {
		const struct ws_operand *op = &view.insn.ops[i];
		if (op->kind == WS_OPERAND_UREG && op->count == 2)
			pair = op;
	}
	if (!pair || lane == WS_NONE ||
	    wsi_scene_register(scene, lane, WS_OPERAND_UREG, pair->number, 2, &view.address) !=
		    WS_OK) {
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the list of registers",
			  "the uniform registers with the address of the tensor map are not "
			  "recorded");
		return WS_OK;
	}
	view.sure = trust(scene, &view.insn, pair->number, 2);
	see_param(scene, &view, pair->number);
	read_map_view(scene, &view);
	find_map_address(scene, &view);
	if (view.status == WS_OK)
		find_map_content(scene, &view);
	find_tile(scene, &view.insn, lane);
	return WS_OK;
}

/* ---- tensor memory ---- */

static void find_column(struct wsi_scene *scene)
{
	struct found_insn found;
	uint32_t lane = wsi_scene_lane(scene);
	uint64_t value;
	if (lane == WS_NONE ||
	    (!find_insn(scene, is_ldtm, &found) && !find_insn(scene, is_sttm, &found)))
		return;
	for (size_t i = 0; i < found.n_ops; i++) {
		const struct ws_operand *op = &found.ops[i];
		if (op->kind != WS_OPERAND_UREG || op->role != WS_ROLE_ADDRESS_BASE ||
		    wsi_scene_register(scene, lane, WS_OPERAND_UREG, op->number, 1, &value) !=
			    WS_OK)
			continue;
		for (size_t k = 0; k < found.n_ops; k++) {
			if (found.ops[k].role == WS_ROLE_OFFSET)
				value += (uint64_t)found.ops[k].value;
		}
		uint32_t row = (uint32_t)(value >> 16 & 0xffff), column = value & 0xffff;
		const char *text =
			wsi_found(scene, trust(scene, &found, op->number, 1),
				  "the uniform register of the instruction",
				  "`%s` addresses lane %u, column %u of tensor memory",
				  wsi_code_text(scene->build, &found.insn, found.pc), row, column);
		if (row >= TMEM_LANES || column >= TMEM_COLUMNS)
			wsi_fact(scene, WSI_FACT_COLUMN_BEYOND, text);
		return;
	}
}

/*
 * The columns that the block has allocated, as code with the compiler's checks keeps them: a bit
 * for 32 columns, in the system's part of shared memory [measured: nvcc 13.0, sm_100a].
 */
static void find_allocated(struct wsi_scene *scene)
{
	const struct ws_function *functions;
	uint64_t mask;
	size_t n;
	bool checked = false;
	if (ws_cubin_functions(scene->code.place.cubin, &functions, &n, NULL) != WS_OK)
		return;
	for (size_t i = 0; i < n && !checked; i++)
		checked = wsi_explain_is_guard_rail(functions[i].name);
	if (!checked ||
	    wsi_scene_memory(scene, 0, WS_SPACE_SHARED, 0, ALLOCATED_WORD, 4, &mask) != WS_OK)
		return;
	char list[200] = "none";
	size_t len = 0;
	for (unsigned i = 0; i < TMEM_BITS; i++) {
		unsigned end = i;
		if (!(mask >> i & 1))
			continue;
		while (end + 1 < TMEM_BITS && mask >> (end + 1) & 1)
			end++;
		int more = snprintf(list + len, sizeof list - len, "%s%u to %u", len ? ", " : "",
				    i * COLUMNS_PER_BIT, (end + 1) * COLUMNS_PER_BIT - 1);
		len += more > 0 && len + (size_t)more < sizeof list ? (size_t)more : 0;
		i = end;
	}
	wsi_found(scene, WS_CONFIDENCE_LIKELY,
		  "the word in which the compiler's checks keep it, in shared memory",
		  "columns of tensor memory that the block has allocated: %s", list);
}

/* Allocations and releases that the function's code has. */
static void find_allocations(struct wsi_scene *scene)
{
	uint32_t takes = 0, gives = 0;
	for (uint64_t off = 0; off + WS_SASS_BYTES <= scene->code.bytes.len; off += WS_SASS_BYTES) {
		uint64_t pc = scene->code.base_pc + off;
		struct ws_insn insn;
		if (!wsi_code_insn(&scene->code, pc, &insn) || !insn.known ||
		    insn.operation != WS_OP_UTCATOMSWS)
			continue;
		takes += ws_sass_has(&insn, WS_MOD_FIND_AND_SET);
		gives += ws_sass_has(&insn, WS_MOD_AND);
	}
	if (!takes && !gives)
		return;
	const char *text = wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the code of the function",
				     "its code has %u instruction%s that allocate%s tensor memory "
				     "and %u that release%s it",
				     takes, takes == 1 ? "" : "s", takes == 1 ? "s" : "", gives,
				     gives == 1 ? "s" : "");
	if (takes && !gives)
		wsi_fact(scene, WSI_FACT_NO_RELEASE, text);
}

enum ws_status wsi_find_tensor(struct wsi_scene *scene)
{
	uint32_t code = scene->e->kind->code;
	if (!scene->code.place.cubin)
		return WS_OK;
	if (code == CUDBG_EXCEPTION_WARP_TMEM_ACCESS_CHECK ||
	    code == CUDBG_EXCEPTION_WARP_TMEM_LEAK) {
		find_column(scene);
		find_allocated(scene);
		find_allocations(scene);
		return WS_OK;
	}
	return find_map(scene);
}
