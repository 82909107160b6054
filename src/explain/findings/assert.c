/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a failed assertion. assert() calls the system function __assertfail with these
 * arguments
 *
 *   R4:R5 message   R6:R7 file   R8 line   R10:R11 function   R12:R13 bytes of a character
 *
 * [measured: nvcc 13.0, sm_80, sm_90, sm_100, -O3 and -G; the declaration of __assertfail in the
 * toolkit's crt/device_functions.h names the same parameters in this order]. By the time of the
 * dump the callee has used these registers for other things, but the code before the call shows
 * where each value came from: addresses of string constants, by way of constant bank 4 or as
 * numbers in the code. The strings lie in the initialised data of the module's image.
 */
#include "explain/explain.h"

enum {
	MESSAGE_REG = 4,
	FILE_REG = 6,
	LINE_REG = 8,
	FUNCTION_REG = 10,
	MAX_STRING = 1000,
	MAX_LINE = 1 << 24,
};

/* A value that the code hands to the call, for one lane. */
static bool argument(struct wsi_scene *call, uint64_t call_pc, uint32_t lane, unsigned number,
		     unsigned bits, uint64_t *ret_value)
{
	unsigned uses = 0;
	if (!call->code.flow)
		return false;
	if (!call->slice && !(call->slice = wsi_zalloc(sizeof *call->slice))) {
		call->found.no_memory = true;
		return false;
	}
	enum ws_status st = ws_flow_slice(call->code.flow, call_pc, WS_OPERAND_REG, number, bits,
					  call->slice, NULL);
	call->found.no_memory |= st == WS_NO_MEMORY;
	return st == WS_OK && wsi_eval(call, call->slice, 0, lane, 0, ret_value, &uses);
}

/* A string of the image's initialised data at a device address. */
static bool string_of_image(struct ws_cubin *cubin, uint64_t address, struct ws_str *ret_text)
{
	struct ws_section section;
	struct ws_span bytes;
	const struct ws_variable *variable = wsi_variable_at(cubin, WS_SPACE_GLOBAL, 0, address);
	if (!variable || ws_cubin_section(cubin, variable->section, &section, NULL) != WS_OK ||
	    !ws_span_sub(section.bytes, variable->offset + (address - variable->gpu_va), 1, &bytes))
		return false;
	uint64_t start = variable->offset + (address - variable->gpu_va);
	uint64_t left = wsi_min_u64(section.bytes.len - start, MAX_STRING);
	if (!ws_span_sub(section.bytes, start, left, &bytes))
		return false;
	const uint8_t *end = memchr(bytes.ptr, 0, bytes.len);
	*ret_text = (struct ws_str){ (const char *)bytes.ptr,
				     end ? (size_t)(end - bytes.ptr) : bytes.len };
	return end || bytes.len == MAX_STRING;
}

/* Pages promise to hold no contents of memory: strings come from the image only. */
static bool string_argument(struct wsi_scene *call, uint64_t call_pc, uint32_t lane,
			    unsigned number, struct ws_str *ret_text)
{
	uint64_t address;
	return argument(call, call_pc, lane, number, 64, &address) && address &&
	       string_of_image(call->code.place.cubin, address, ret_text);
}

static const char *why_lost(const struct wsi_scene *call)
{
	if (!call->code.flow)
		return "the code that calls the assertion is of an architecture without an "
		       "instruction table";
	return "the code before the call does not show which strings it is given, or the image "
	       "does not hold them";
}

/* Why no call is found on the stack. */
static const char *why_no_call(const struct wsi_build *build)
{
	struct ws_module module;
	for (uint32_t i = 0; ws_target_module(build->target, i, &module, NULL) == WS_OK; i++)
		if (module.relocated_status != WS_OK)
			return "the relocated image of the module, which has the addresses of code "
			       "and strings, is not in the dump";
	return build->report->dump_status == WS_OK
		       ? "no call in this dump's code is on the stack"
		       : "no call in this device's code is on the stack";
}

/* Reads what there is; the scene is that of the call. */
static void read_assert_text(struct wsi_scene *call, struct ws_report_assertion *assertion)
{
	uint32_t lane = wsi_scene_lane(call);
	uint64_t line = 0, pc = assertion->call_pc;
	bool known = string_argument(call, pc, lane, MESSAGE_REG, &assertion->message);
	known |= string_argument(call, pc, lane, FILE_REG, &assertion->file);
	known |= string_argument(call, pc, lane, FUNCTION_REG, &assertion->function);
	if (!known) { /* a line alone could be any number */
		assertion->why = why_lost(call);
		return;
	}
	if (argument(call, pc, lane, LINE_REG, 32, &line) && line && line < MAX_LINE)
		assertion->line = (uint32_t)line;
	assertion->claim = (struct ws_report_claim){
		"the text is what the code hands to the system call",
		"the code before the call, and the initialised data of the image",
		WS_CONFIDENCE_CERTAIN,
	};
}

/* Whether the image of the call has variables, which can be looked at. */
static void find_variables(struct wsi_scene *scene, const struct wsi_scene *call)
{
	const struct ws_dwarf *dwarf;
	if (ws_cubin_dwarf(call->code.place.cubin, &dwarf, NULL) == WS_OK)
		wsi_fact(scene, WSI_FACT_VARIABLES, "the image has debug information");
}

enum ws_status wsi_find_assertion(struct wsi_scene *scene)
{
	struct ws_report_assertion *assertion = &scene->e->assertion;
	struct wsi_scene call;
	enum ws_status st = wsi_scene_at_call(scene, &call, &assertion->call_pc);
	assertion->status = WS_OK;
	scene->e->access_why = NULL; /* it is not about memory */
	if (st == WS_OK) {
		read_assert_text(&call, assertion);
		find_variables(scene, &call);
		if (wsi_find_condition(scene, &call, assertion->call_pc) != WS_OK)
			call.found.no_memory = true;
	} else {
		assertion->why =
			st == WS_ABSENT ? why_no_call(scene->build) : "the call stack is not known";
	}
	scene->found.no_memory |= call.found.no_memory;
	wsi_scene_fini(&call);
	return st == WS_NO_MEMORY ? st : WS_OK;
}
