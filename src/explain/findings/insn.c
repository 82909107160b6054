/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the state shows about an instruction that could not be executed: what its bytes are, whether
 * they are still those of the cubin, for which architecture they were made, and which registers
 * they name.
 */
#include "explain/explain.h"

enum { MAX_RELOCS = 1 << 16 };

/* ---- the bytes ---- */

/* Whether the loader writes into the instruction at an offset. */
static bool is_insn_relocated(const struct ws_cubin *cubin, uint32_t section, uint64_t sec_off)
{
	struct ws_reloc *relocs;
	size_t n = 0;
	bool found = true; /* when it cannot be told */
	if (ws_cubin_relocs(cubin, section, NULL, 0, &n, NULL) != WS_OK || n > MAX_RELOCS)
		return found;
	if (n == 0)
		return false;
	if (!(relocs = wsi_zalloc_array(n, sizeof *relocs)))
		return found;
	if (ws_cubin_relocs(cubin, section, relocs, n, &n, NULL) == WS_OK) {
		found = false;
		for (size_t i = 0; i < n; i++)
			found |= relocs[i].sec_off == sec_off;
	}
	wsi_free(relocs);
	return found;
}

/* The same instruction in the cubin as it was in the file. */
static bool original_insn(struct ws_cubin *original, const struct ws_place *place,
			  struct ws_span *ret_bytes, bool *ret_relocated)
{
	const struct ws_function *owner;
	struct ws_place there;
	if (!place->owner ||
	    ws_cubin_find_function(original, place->owner->name, &owner, NULL) != WS_OK ||
	    ws_cubin_find_offset(original, owner->section, place->sec_off, &there, NULL) != WS_OK ||
	    ws_cubin_bytes_at(&there, ret_bytes, NULL) != WS_OK || ret_bytes->len < WS_SASS_BYTES)
		return false;
	*ret_relocated = is_insn_relocated(original, owner->section, place->sec_off);
	return true;
}

static void compare_code_bytes(struct wsi_scene *scene, struct ws_cubin *original,
			       const struct ws_place *place)
{
	struct ws_span now, then;
	bool relocated;
	if (!original_insn(original, place, &then, &relocated) ||
	    ws_cubin_bytes_at(place, &now, NULL) != WS_OK || now.len < WS_SASS_BYTES)
		return;
	if (memcmp(now.ptr, then.ptr, WS_SASS_BYTES) == 0)
		wsi_fact(scene, WSI_FACT_CODE_SAME,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN, "both images of the module",
				   "the loaded image has the same bytes there as the cubin"));
	else if (!relocated)
		wsi_fact(scene, WSI_FACT_CODE_CHANGED,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN, "both images of the module",
				   "the loaded image has other bytes there than the cubin, where "
				   "the loader changes nothing"));
}

/* Loaded image against cubin, where the dump has both. */
static enum ws_status find_change(struct wsi_scene *scene, const struct ws_place *place)
{
	struct ws_cubin *original;
	struct ws_module module;
	if (ws_target_module(scene->build->target, place->module_index, &module, NULL) != WS_OK)
		return WS_OK;
	if (module.original_status != WS_OK || module.relocated_status != WS_OK) {
		enum ws_status why = module.original_status != WS_OK ? module.original_status
								     : module.relocated_status;
		const char *text = wsi_found(
			scene, WS_CONFIDENCE_CERTAIN, "the images of the module",
			"the %s of the module is %s: whether the code was changed cannot be told",
			module.original_status != WS_OK ? "cubin" : "loaded image",
			wsi_lost_words(why));
		if (why == WS_EXCLUDED)
			wsi_fact(scene, WSI_FACT_NO_IMAGE, text);
		return WS_OK;
	}
	enum ws_status st = ws_cubin_open(module.original, &original, NULL);
	if (st != WS_OK)
		return st == WS_NO_MEMORY ? st : WS_OK;
	compare_code_bytes(scene, original, place);
	ws_cubin_close(original);
	return WS_OK;
}

static enum ws_status find_bytes(struct wsi_scene *scene, const struct ws_place *place)
{
	const struct ws_report_exception *e = scene->e;
	struct ws_span bytes;
	struct ws_insn insn;
	char raw[3 * WS_SASS_BYTES + 1] = "";
	uint64_t off = e->errorpc - scene->code.base_pc;
	if (off >= scene->code.bytes.len)
		return WS_OK;
	if (off % WS_SASS_BYTES) {
		wsi_fact(scene, WSI_FACT_PC_ODD,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN, "errorpc",
				   "errorpc is %u byte%s past an instruction boundary",
				   (unsigned)(off % WS_SASS_BYTES),
				   off % WS_SASS_BYTES == 1 ? "" : "s"));
		return WS_OK;
	}
	if (!wsi_code_insn(&scene->code, e->errorpc, &insn) ||
	    !ws_span_sub(scene->code.bytes, off, WS_SASS_BYTES, &bytes))
		return WS_OK;
	for (size_t i = 0; i < WS_SASS_BYTES; i++)
		(void)snprintf(raw + 3 * i, 4, "%02x ", bytes.ptr[i]);
	raw[sizeof raw - 2] = 0;
	if (insn.known) {
		const char *text = wsi_code_text(scene->build, &insn, e->errorpc);
		if (!text)
			return WS_NO_MEMORY;
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the code of the loaded image",
			  "the bytes at errorpc are a known instruction, `%s`", text);
	} else {
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the code of the loaded image",
			  "the bytes at errorpc are not a known instruction of sm_%u: %s",
			  scene->code.sm, raw);
	}
	return find_change(scene, place);
}

/* ---- the architecture ---- */

static void find_architecture(struct wsi_scene *scene)
{
	const struct wsi_build *build = scene->build;
	uint32_t index = scene->where.device_index;
	struct ws_cubin_facts facts;
	char variant[2] = "";
	ws_cubin_facts(scene->code.place.cubin, &facts);
	if (index >= build->report->n_devices || build->devices[index].status != WS_OK ||
	    facts.sm == 0)
		return;
	const struct ws_device *device = &build->devices[index].state;
	variant[0] = facts.variant;
	const char *text =
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the header of the image, the device table",
			  "the code was made for sm_%u%s; the device is sm_%u%u", facts.sm, variant,
			  device->sm_major, device->sm_minor);
	bool runs = facts.sm / 10 == device->sm_major && facts.sm % 10 <= device->sm_minor;
	/* variants run on their own architecture only [public doc: PTX ISA, .target] */
	if (facts.variant == 'a')
		runs = facts.sm == device->sm_major * 10 + device->sm_minor;
	wsi_fact(scene, runs ? WSI_FACT_ARCH_RUNS : WSI_FACT_ARCH_DIFFERS, text);
}

/* ---- its registers ---- */

static const char *operand_name_of(struct wsi_scene *scene, const struct ws_operand *op)
{
	return op->count > 1 ? wsi_build_text(scene->build, "R%u to R%u", op->number,
					      op->number + op->count - 1u)
			     : wsi_build_text(scene->build, "R%u", op->number);
}

/* Registers of the warp, or of the launch where the warp does not say. */
static bool allocated(const struct wsi_scene *scene, uint32_t *ret_n)
{
	const struct ws_report_exception *e = scene->e;
	const struct ws_grid *grid =
		e->kernel == WS_NONE ? NULL : &scene->build->kernels[e->kernel].grid;
	if (scene->have_warp && scene->warp.have & WS_WARP_N_REGS)
		*ret_n = scene->warp.n_regs;
	else if (grid && grid->have & WS_GRID_N_REGS)
		*ret_n = grid->n_regs;
	else
		return false;
	return *ret_n > 0;
}

static void find_registers(struct wsi_scene *scene, const struct ws_operand *ops, size_t n)
{
	const struct ws_operand *highest = NULL;
	uint32_t n_regs;
	for (size_t i = 0; i < n; i++) {
		if (ops[i].kind != WS_OPERAND_REG || ops[i].number >= 255)
			continue;
		if (!highest || ops[i].number + ops[i].count > highest->number + highest->count)
			highest = &ops[i];
		unsigned align = ops[i].count >= 4 ? 4 : ops[i].count ? ops[i].count : 1;
		if ((align != 2 && align != 4) || ops[i].number % align == 0)
			continue;
		wsi_fact(scene, WSI_FACT_REGISTER_ODD,
			 wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the code at errorpc",
				   "the instruction uses %s as one operand: its first register is "
				   "not a multiple of %u",
				   operand_name_of(scene, &ops[i]), align));
	}
	if (!highest || !allocated(scene, &n_regs))
		return;
	bool beyond = highest->number + wsi_max_u64(highest->count, 1) > n_regs;
	const char *text = wsi_found(scene, WS_CONFIDENCE_CERTAIN,
				     "the code at errorpc, and the warp's number of registers",
				     "the instruction uses %s; the warp has %u registers, R0 to "
				     "R%u",
				     operand_name_of(scene, highest), n_regs, n_regs - 1);
	if (beyond)
		wsi_fact(scene, WSI_FACT_REGISTER_BEYOND, text);
}

/* Warps that gave registers back: fewer than the launch gave them. */
static void find_given_back(struct wsi_scene *scene)
{
	const struct ws_report_exception *e = scene->e;
	const struct ws_grid *grid =
		e->kernel == WS_NONE ? NULL : &scene->build->kernels[e->kernel].grid;
	if (!grid || !(grid->have & WS_GRID_N_REGS) || !scene->have_warp ||
	    !(scene->warp.have & WS_WARP_N_REGS) || scene->warp.n_regs >= grid->n_regs)
		return;
	wsi_fact(scene, WSI_FACT_SETMAXNREG,
		 wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the warp's and the grid's rows",
			   "the launch gave each thread %u registers; this warp has %u left: it "
			   "released some (setmaxnreg)",
			   grid->n_regs, scene->warp.n_regs));
}

enum ws_status wsi_find_instruction(struct wsi_scene *scene)
{
	const struct ws_report_exception *e = scene->e;
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	struct ws_insn insn;
	if (!scene->code.place.cubin)
		return wsi_find_jump(scene);
	bool known = e->errorpc_status == WS_OK && wsi_code_insn(&scene->code, e->errorpc, &insn) &&
		     insn.known;
	size_t n = known ? ws_sass_operands(&insn, e->errorpc, ops, WSI_COUNT(ops)) : 0;
	enum ws_status st = known ? wsi_find_operands(scene, &insn, ops, n) : WS_OK;
	if (st != WS_OK)
		return st;
	find_architecture(scene);
	if (e->errorpc_status != WS_OK)
		return WS_OK;
	struct ws_place place = scene->code.place;
	st = find_bytes(scene, &place);
	if (st != WS_OK || !known)
		return st;
	if (e->kind->code == CUDBG_EXCEPTION_WARP_OUT_OF_RANGE_REGISTER ||
	    e->kind->code == CUDBG_EXCEPTION_WARP_MISALIGNED_REG ||
	    e->kind->code == CUDBG_EXCEPTION_WARP_ILLEGAL_INSTRUCTION) {
		find_registers(scene, ops, n);
		find_given_back(scene);
	}
	return e->kind->code == CUDBG_EXCEPTION_WARP_ILLEGAL_INSTR_PARAM ? wsi_find_tensor(scene)
									 : WS_OK;
}
