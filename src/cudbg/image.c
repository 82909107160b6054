/* SPDX-License-Identifier: Apache-2.0 */
/* Images, the functions in them, code; a dump of it all. */
#include "cudbg-functions.h"

#include <time.h>

#include <warpscope/cubin.h>
#include <warpscope/sass.h>
#include <warpscope/write.h>

#include "cubin/cubin.h"

/* ---- images ---- */

CUDBGResult wsi_cudbg_getElfImage(struct wsi_cudbg *s, struct wsi_cudbg_at *at, bool relocated,
				  void **elfImage, uint64_t *size)
{
	struct ws_grid grid;
	struct ws_module module;
	struct ws_error err;
	CUDBGResult result = wsi_cudbg_grid_of(s, at, &grid);
	if (result != CUDBG_SUCCESS)
		return result;
	if (grid.module_index == WS_NONE)
		return wsi_cudbg_fail(s, CUDBG_ERROR_MISSING_DATA,
				      "grid %" PRId64 " belongs to module 0x%" PRIx64
				      ", which is not known",
				      grid.id, grid.module_handle);
	enum ws_status st = ws_target_module(s->target, grid.module_index, &module, &err);
	if (st != WS_OK)
		return wsi_cudbg_row_status(s, st, &err);
	st = relocated ? module.relocated_status : module.original_status;
	if (st != WS_OK)
		return wsi_cudbg_held_status(s, st, NULL);
	struct ws_span bytes = relocated ? module.relocated : module.original;
	*elfImage = (void *)(uintptr_t)bytes.ptr; /* the API has no const here; clients read */
	*size = bytes.len;
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_getElfImage32(struct wsi_cudbg *s, struct wsi_cudbg_at *at, bool relocated,
				    void **elfImage, uint32_t *size)
{
	uint64_t full;
	CUDBGResult result = wsi_cudbg_getElfImage(s, at, relocated, elfImage, &full);
	if (result == CUDBG_SUCCESS)
		*size = (uint32_t)full;
	return result;
}

/* The image with a handle on a device; of several the one loaded last. */
static CUDBGResult find_module(struct wsi_cudbg *s, const struct wsi_cudbg_at *at, uint64_t handle,
			       uint32_t *ret_index, struct ws_module *ret_module)
{
	struct ws_counts counts;
	ws_target_counts(s->target, &counts);
	for (uint32_t i = counts.modules; i-- > 0;) {
		struct ws_module module;
		struct ws_error err;
		enum ws_status st = ws_target_module(s->target, i, &module, &err);
		if (st != WS_OK)
			return wsi_cudbg_row_status(s, st, &err);
		if (module.device_index != at->device->index || module.handle != handle)
			continue;
		*ret_index = i;
		*ret_module = module;
		return CUDBG_SUCCESS;
	}
	if (at->device->running) /* one that has come since the last stop is not known yet */
		return wsi_cudbg_runs(s, at);
	return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS,
			      "device %u has no image with handle 0x%" PRIx64, at->dev, handle);
}

CUDBGResult wsi_cudbg_getElfImageByHandle(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					  uint64_t handle, CUDBGElfImageType type, void *elfImage,
					  uint64_t size)
{
	struct ws_module module;
	struct wsi_told_image told;
	uint32_t index;
	if (type != CUDBG_ELF_IMAGE_TYPE_NONRELOCATED && type != CUDBG_ELF_IMAGE_TYPE_RELOCATED)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS, "there is no image type %u",
				      (unsigned)type);
	bool relocated = type == CUDBG_ELF_IMAGE_TYPE_RELOCATED;
	struct ws_span bytes;
	if (at->device->running && wsi_cudbg_told_image(s, at->dev, handle, &told)) {
		bytes = relocated ? told.relocated : told.original;
	} else {
		CUDBGResult result = find_module(s, at, handle, &index, &module);
		if (result != CUDBG_SUCCESS)
			return result;
		enum ws_status st = relocated ? module.relocated_status : module.original_status;
		if (st != WS_OK)
			return wsi_cudbg_held_status(s, st, NULL);
		bytes = relocated ? module.relocated : module.original;
	}
	if (size < bytes.len)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS,
				      "the image has %zu bytes, there is room for %" PRIu64,
				      bytes.len, size);
	if (bytes.len)
		memcpy(elfImage, bytes.ptr, bytes.len);
	return CUDBG_SUCCESS;
}

/* ---- functions ---- */

/* A function with a section and an address of its own: what a loader loads by itself. */
static bool is_loaded(const struct ws_function *function)
{
	return function->section && !function->is_inner && function->gpu_va;
}

/* Functions of an image; none for one that cannot be read. */
static enum ws_status functions_of(struct wsi_cudbg *s, uint32_t index,
				   const struct ws_function **ret_functions, size_t *ret_n,
				   struct ws_error *err)
{
	struct ws_cubin *cubin;
	*ret_n = 0;
	enum ws_status st = ws_cubin_set_cubin(s->cubins, index, &cubin, err);
	if (st == WS_OK)
		st = ws_cubin_functions(cubin, ret_functions, ret_n, err);
	return st;
}

/* Takes each function that is loaded, in an order that later ones do not change; false ends it. */
typedef bool take_loaded(void *user, uint32_t section, uint64_t address);

static enum ws_status each_loaded(struct wsi_cudbg *s, uint32_t index,
				  const struct ws_module *module, take_loaded *take, void *user,
				  struct ws_error *err)
{
	const struct ws_function *functions = NULL;
	struct ws_cubin *cubin;
	size_t n = 0;
	enum ws_status st = functions_of(s, index, &functions, &n, err);
	for (size_t i = 0; i < n && st == WS_OK && !module->loaded; i++)
		if (is_loaded(&functions[i]) &&
		    !take(user, functions[i].section, functions[i].gpu_va))
			return WS_OK;
	if (st == WS_OK && module->loaded)
		st = ws_cubin_set_cubin(s->cubins, index, &cubin, err);
	for (uint32_t i = 0; i < module->n_loaded && st == WS_OK && module->loaded; i++) {
		struct ws_section section;
		st = ws_cubin_section(cubin, module->loaded[i], &section, err);
		if (st == WS_OK && !take(user, module->loaded[i], section.gpu_va))
			return WS_OK;
	}
	return st;
}

static bool count_one(void *user, uint32_t section, uint64_t address)
{
	(void)section, (void)address;
	++*(uint32_t *)user;
	return true;
}

uint32_t wsi_cudbg_count_loaded(struct wsi_cudbg *s, uint32_t index, const struct ws_module *module)
{
	uint32_t count = 0;
	return each_loaded(s, index, module, count_one, &count, NULL) == WS_OK ? count : 0;
}

struct loaded_list {
	CUDBGLoadedFunctionInfo *info;
	uint32_t first, n, seen;
};

static bool list_relocation(void *user, uint32_t section, uint64_t address)
{
	struct loaded_list *list = user;
	if (list->seen >= list->first && list->seen - list->first < list->n)
		list->info[list->seen - list->first] =
			(CUDBGLoadedFunctionInfo){ .sectionIndex = section, .address = address };
	list->seen++;
	return true;
}

CUDBGResult wsi_cudbg_getLoadedFunctionInfo(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					    uint64_t handle, CUDBGLoadedFunctionInfo *info,
					    uint32_t startIndex, uint32_t numEntries)
{
	struct loaded_list list = { .info = info, .first = startIndex, .n = numEntries };
	struct ws_module module;
	uint32_t index;
	CUDBGResult result = find_module(s, at, handle, &index, &module);
	if (result != CUDBG_SUCCESS)
		return result;
	struct ws_error err;
	enum ws_status st = each_loaded(s, index, &module, list_relocation, &list, &err);
	if (st != WS_OK)
		return wsi_cudbg_status(s, st, &err);
	if (startIndex > list.seen)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS,
				      "%u functions are loaded, index %u is past the last",
				      list.seen, startIndex);
	return CUDBG_SUCCESS;
}

/* ---- addresses and symbols ---- */

CUDBGResult wsi_cudbg_isDeviceCodeAddress(struct wsi_cudbg *s, uintptr_t addr,
					  bool *isDeviceAddress)
{
	struct ws_place place;
	struct ws_error err = { .status = WS_OK };
	enum ws_status st = ws_cubin_set_find_address(s->cubins, addr, NULL, &place, &err);
	if (st != WS_OK && st != WS_ABSENT)
		return wsi_cudbg_status(s, st, &err);
	*isDeviceAddress = st == WS_OK && place.function;
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_lookupDeviceCodeSymbol(struct wsi_cudbg *s, char *symName, bool *symFound,
					     uintptr_t *symAddr)
{
	struct ws_place place;
	struct ws_error err = { .status = WS_OK };
	enum ws_status st =
		ws_cubin_set_find_function(s->cubins, ws_str_of(symName), NULL, &place, &err);
	if (st != WS_OK && st != WS_ABSENT)
		return wsi_cudbg_status(s, st, &err);
	*symFound = st == WS_OK && place.function->gpu_va;
	*symAddr = *symFound ? (uintptr_t)place.function->gpu_va : 0;
	return CUDBG_SUCCESS;
}

/*
 * The registers that hold a register of PTX, lowest bits first: numbers as the register map has
 * them, with the class of each in bits 24 to 31. Where not all its parts are live it is in none.
 */
static CUDBGResult find_ptx_register(struct wsi_cudbg *s, const struct ws_cubin_hint *hint,
				     uint64_t pc, const char *reg, uint32_t *buf, uint32_t sz,
				     uint32_t *numPhysRegs, CUDBGRegClass *regClass)
{
	struct ws_reg_piece pieces[WS_REG_MAX_PIECES];
	struct ws_place place;
	struct ws_error err = { .status = WS_OK };
	enum ws_regmap_answer answer = WS_REGMAP_NO_FUNCTION;
	size_t n = 0;
	enum ws_status st = ws_cubin_set_find_address(s->cubins, pc, hint, &place, &err);
	if (st != WS_OK && st != WS_ABSENT)
		return wsi_cudbg_status(s, st, &err);
	if (st == WS_OK && place.function)
		answer = wsi_cubin_find_register(place.cubin, place.function->name, ws_str_of(reg),
						 place.rel_pc, pieces, &n);
	if (answer == WS_REGMAP_NO_FUNCTION)
		return wsi_cudbg_fail(s, CUDBG_ERROR_UNKNOWN_FUNCTION,
				      "there is no function with a register map at 0x%" PRIx64, pc);
	if (answer == WS_REGMAP_NO_REGISTER)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS,
				      "the function at 0x%" PRIx64 " has no register %s", pc, reg);
	n = n && n == pieces[0].n_parts ? n : 0;
	if (n > sz)
		return wsi_cudbg_fail(s, CUDBG_ERROR_BUFFER_TOO_SMALL,
				      "%s is in %zu registers, there is room for %u", reg, n, sz);
	for (size_t i = 0; i < n; i++)
		buf[i] = pieces[i].number;
	*numPhysRegs = (uint32_t)n;
	*regClass = n ? (CUDBGRegClass)pieces[0].reg_class : REG_CLASS_INVALID;
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_getPhysicalRegister30(struct wsi_cudbg *s, uint64_t pc, char *reg,
					    uint32_t *buf, uint32_t sz, uint32_t *numPhysRegs,
					    CUDBGRegClass *regClass)
{
	return find_ptx_register(s, NULL, pc, reg, buf, sz, numPhysRegs, regClass);
}

static struct ws_cubin_hint on_device(const struct wsi_cudbg_at *at)
{
	return (struct ws_cubin_hint){ WS_NONE, at->device->index, WS_NONE };
}

CUDBGResult wsi_cudbg_getPhysicalRegister40(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					    uint64_t pc, char *reg, uint32_t *buf, uint32_t sz,
					    uint32_t *numPhysRegs, CUDBGRegClass *regClass)
{
	const struct ws_cubin_hint hint = on_device(at);
	return find_ptx_register(s, &hint, pc, reg, buf, sz, numPhysRegs, regClass);
}

bool wsi_cudbg_device_of_code(struct wsi_cudbg *s, uint64_t addr, uint32_t *ret_dev)
{
	struct ws_place place;
	if (ws_cubin_set_find_address(s->cubins, addr, NULL, &place, NULL) != WS_OK)
		return false;
	uint32_t index = wsi_cubin_set_entry(s->cubins, place.module_index)->device_index;
	for (uint32_t dev = 0; dev < s->stock->n_devices; dev++)
		if (s->stock->device[dev].present && s->stock->device[dev].index == index) {
			*ret_dev = dev;
			return true;
		}
	return false;
}

/* Whether code of a device lies at an address, and where in its function. */
static CUDBGResult find_code(struct wsi_cudbg *s, const struct wsi_cudbg_at *at, uint64_t addr,
			     struct ws_place *ret_place)
{
	const struct ws_cubin_hint hint = on_device(at);
	struct ws_error err = { .status = WS_OK };
	enum ws_status st = ws_cubin_set_find_address(s->cubins, addr, &hint, ret_place, &err);
	if (st == WS_ABSENT)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ADDRESS,
				      "device %u has no code at 0x%" PRIx64, at->dev, addr);
	return st == WS_OK ? CUDBG_SUCCESS : wsi_cudbg_status(s, st, &err);
}

/* Bytes of an instruction; dumps that do not say are of GPUs with 16. */
static uint32_t instruction_bytes(const struct wsi_cudbg_at *at)
{
	uint32_t bytes = at->device->device.instruction_bytes;
	return bytes == 8 || bytes == 16 ? bytes : 16;
}

CUDBGResult wsi_cudbg_getAdjustedCodeAddress(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					     uint64_t address, uint64_t *adjustedAddress,
					     CUDBGAdjAddrAction adjAction)
{
	struct ws_place place, other;
	uint32_t step = instruction_bytes(at);
	CUDBGResult result = find_code(s, at, address, &place);
	if (result != CUDBG_SUCCESS)
		return result;
	uint64_t at_it = address - place.sec_off % step; /* sections are aligned */
	switch (adjAction) {
	case CUDBG_ADJ_CURRENT_ADDRESS:
		*adjustedAddress = at_it;
		return CUDBG_SUCCESS;
	case CUDBG_ADJ_PREVIOUS_ADDRESS:
		at_it -= step;
		break;
	case CUDBG_ADJ_NEXT_ADDRESS:
		at_it += step;
		break;
	default:
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS, "there is no action %u",
				      (unsigned)adjAction);
	}
	result = find_code(s, at, at_it, &other);
	if (result == CUDBG_SUCCESS)
		*adjustedAddress = at_it;
	return result;
}

/* Text of the instruction at an address, as ws_sass_format() has it; targets of branches are device
 * addresses. */
static CUDBGResult instruction_text(struct wsi_cudbg *s, const struct wsi_cudbg_at *at,
				    uint64_t addr, const struct ws_place *place, char *text,
				    size_t *ret_len)
{
	const struct ws_address from = {
		.space = WS_SPACE_CODE,
		.device_index = at->device->index,
		.grid_index = WS_NONE,
		.warp_index = WS_NONE,
		.lane = WS_NONE,
		.address = addr,
	};
	struct ws_cubin_facts facts;
	struct ws_insn insn;
	struct ws_error err;
	uint8_t bytes[WS_SASS_BYTES];
	size_t n;
	ws_cubin_facts(place->cubin, &facts);
	if (!ws_sass_supports(facts.sm))
		return wsi_cudbg_fail(s, CUDBG_ERROR_NOT_SUPPORTED,
				      "there is no disassembler for sm_%u", facts.sm);
	enum ws_status st = ws_target_read_memory(s->target, &from, bytes, sizeof bytes, &n, &err);
	if (st == WS_ABSENT)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ADDRESS, "%s", err.message);
	if (st != WS_OK)
		return wsi_cudbg_row_status(s, st, &err);
	ws_sass_decode(facts.sm, bytes, &insn);
	*ret_len = ws_sass_format(&insn, addr, NULL, text, WS_SASS_TEXT_MAX);
	return CUDBG_SUCCESS;
}

CUDBGResult wsi_cudbg_disassemble(struct wsi_cudbg *s, struct wsi_cudbg_at *at, uint64_t addr,
				  uint32_t *instSize, char *buf, uint32_t sz)
{
	struct ws_place place;
	char text[WS_SASS_TEXT_MAX];
	size_t len = 0;
	if (!buf && sz)
		return wsi_cudbg_null(s, "buf");
	CUDBGResult result = find_code(s, at, addr, &place);
	if (result != CUDBG_SUCCESS)
		return result;
	if (place.sec_off % instruction_bytes(at))
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ADDRESS,
				      "0x%" PRIx64 " is inside an instruction", addr);
	if (buf) {
		result = instruction_text(s, at, addr, &place, text, &len);
		if (result != CUDBG_SUCCESS)
			return result;
		if (sz <= len)
			return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS,
					      "the text needs %zu bytes, there are %u", len + 1,
					      sz);
		memcpy(buf, text, len + 1);
	}
	*instSize = instruction_bytes(at);
	return CUDBG_SUCCESS;
}

/* ---- dumps ---- */

_Static_assert((unsigned)WS_WRITE_KNOWN_FLAGS ==
		       ((unsigned)CUDBG_COREDUMP_LIGHTWEIGHT_FLAGS | CUDBG_COREDUMP_GZIP_COMPRESS |
			CUDBG_COREDUMP_FAULTED_CONTEXTS_ONLY),
	       "the writer's flags are the API's");

enum { SKIP_ABORT = 1u << 4 }; /* of headers before 12.5 */

/*
 * The flags as their client means them: before 12.6 constant banks went with global memory, before
 * 12.5 one flag was accepted that did nothing. [public doc: manual 1.5, 1.6]
 */
static uint32_t flags_of_client(const struct wsi_cudbg *s, CUDBGCoredumpGenerationFlags asked)
{
	uint32_t flags = (uint32_t)asked;
	if (wsi_cudbg_asked_before(s, 12, 6) && (flags & CUDBG_COREDUMP_SKIP_GLOBAL_MEMORY))
		flags |= CUDBG_COREDUMP_SKIP_CONSTBANK_MEMORY;
	if (wsi_cudbg_asked_before(s, 12, 5))
		flags &= ~(uint32_t)SKIP_ABORT;
	return flags;
}

CUDBGResult wsi_cudbg_generateCoredump(struct wsi_cudbg *s, const char *filename,
				       CUDBGCoredumpGenerationFlags flags)
{
	const struct ws_write_options options = {
		.size = sizeof options,
		.flags = flags_of_client(s, flags),
		.timestamp = (uint32_t)time(NULL),
	};
	struct ws_error err;
	if (!*filename)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS, "the name of the file is empty");
	enum ws_status st = ws_write_target(s->target, filename, &options, &err);
	if (st == WS_OK)
		return CUDBG_SUCCESS;
	return st == WS_ARGUMENT || st == WS_UNSUPPORTED ? wsi_cudbg_status(s, st, &err)
							 : wsi_cudbg_row_status(s, st, &err);
}
