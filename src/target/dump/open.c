/* SPDX-License-Identifier: Apache-2.0 */
#include "target/dump/dump.h"

/* Section headers: how many there are, and whether that is what the file claims. */
static void section_headers_read(struct ws_core *core)
{
	struct wsi_elf *elf = &core->elf;
	bool whole = elf->n_present > 0 && elf->n_present == elf->n_sections;
	if (!whole) {
		core->headers_lost = true;
	}
	if (elf->n_present > 1) {
		if (!whole)
			wsi_core_note(core, WSI_TOPIC_HEADERS, WS_HIDES_FAULT, core->source.size,
				      "%" PRIu64 " of %" PRIu64
				      " section headers are missing: the file ends inside them",
				      elf->n_sections - elf->n_present, elf->n_sections);
	} else if (!wsi_core_headers_salvage(core)) {
		if (elf->shoff >= core->source.size)
			wsi_core_note(
				core, WSI_TOPIC_HEADERS, WS_HIDES_FAULT, 40,
				"the section headers are missing: they should be at 0x%" PRIx64
				", the file has 0x%" PRIx64 " bytes",
				elf->shoff, core->source.size);
		else
			wsi_core_note(core, WSI_TOPIC_HEADERS, WS_HIDES_FAULT, 40,
				      "the file has no section headers");
	}
	uint64_t n = elf->n_present, more = whole && n > 1 ? wsi_core_headers_extend(core) : 0;
	if (more)
		wsi_core_note(core, WSI_TOPIC_HEADERS, WS_HIDES_NOTHING, 60,
			      "the file claims %" PRIu64 " section headers, but %" PRIu64
			      " more follow and are used",
			      n, more);
	core->n_sections = (uint32_t)wsi_min_u64(elf->n_present, UINT32_MAX - 1);
	core->claimed = elf->headers;
}

/*
 * How much of a file that must be unpacked is needed: enough to say what it is, when that is no
 * dump; else up to the end of the last section. Section headers come first in dumps, so that is
 * known soon, and bytes behind it are in no answer.
 */
static uint64_t needs(const struct wsi_input *so_far)
{
	enum { HOST_CORE = 4 << 20, MAGIC = 4 }; /* its notes and strings are looked into */
	struct wsi_elf elf;
	uint8_t scratch[MAGIC];
	if (so_far->size < MAGIC)
		return MAGIC;
	const uint8_t *at = wsi_input_view(so_far, 0, MAGIC, scratch);
	if (!at || !wsi_core_has_magic((struct ws_span){ at, MAGIC, 0 }))
		return 512;
	if (so_far->size < WSI_ELF_HEADER_BYTES)
		return WSI_ELF_HEADER_BYTES;
	if (wsi_elf_open_input(so_far, &elf, NULL) != WS_OK)
		return UINT64_MAX;
	if (elf.osabi != WSI_ELFOSABI_CUDA && elf.machine != WSI_EM_CUDA)
		return HOST_CORE;
	if (elf.shoff == 0) /* what there is, is found by its content */
		return UINT64_MAX;
	uint64_t end = wsi_add_sat(elf.shoff, elf.shentsize);
	if (end > so_far->size)
		return end;
	if (elf.n_sections > UINT64_MAX / elf.shentsize)
		return UINT64_MAX;
	end = wsi_add_sat(elf.shoff, elf.n_sections * elf.shentsize);
	if (end > so_far->size)
		return end;
	if (elf.n_present <= 1) /* likewise */
		return UINT64_MAX;
	return wsi_elf_end(&elf);
}

/* What unpacking found out. A compressed stream that ends early is a cut dump. */
static void packing_note(struct ws_core *core)
{
	const struct wsi_file *file = &core->file;
	if (file->is_cut || file->is_damaged)
		wsi_core_note(core, WSI_TOPIC_FILE, WS_HIDES_FAULT, WS_NO_OFFSET,
			      "the %s data %s at its byte %" PRIu64 ": %" PRIu64
			      " bytes could be unpacked",
			      file->packing, file->is_cut ? "ends early" : "is damaged",
			      file->packed_off, file->source.size);
	if (file->has_rest)
		wsi_core_note(core, WSI_TOPIC_FILE, WS_HIDES_NOTHING, WS_NO_OFFSET,
			      "something else follows the %s data at its byte %" PRIu64
			      "; it is ignored",
			      file->packing, file->packed_off);
}

/* Where the last sections end, as far as the file goes: writers put them last. */
static uint64_t last_end(const struct wsi_elf *elf)
{
	enum { LOOK = 64 };
	uint64_t end = elf->shoff + elf->headers.len;
	for (uint64_t i = elf->n_present > LOOK ? elf->n_present - LOOK : 1; i < elf->n_present;
	     i++) {
		struct wsi_shdr shdr = wsi_elf_shdr(elf, i);
		if (shdr.type != WSI_SHT_NOBITS)
			end = wsi_max_u64(end, wsi_add_sat(shdr.offset, shdr.size));
	}
	return end;
}

/* Where another dump begins behind this one: files, or members of a packed file, that were put
 * together. 0: nowhere near. */
static uint64_t another_find(const struct ws_core *core)
{
	enum { NEAR = 1 << 20 };
	static const uint8_t magic[] = "\177ELF\002\001\001";
	const struct wsi_elf *elf = &core->elf;
	struct ws_span rest;
	if (elf->n_present < 2 || last_end(elf) >= core->source.size)
		return 0;
	uint64_t end = wsi_elf_end(elf);
	if (end >= core->source.size ||
	    wsi_input_hold(&core->source, wsi_input_clip(&core->source, end, NEAR), &rest, NULL) !=
		    WS_OK)
		return 0;
	for (uint64_t at = 0; at + WSI_ELF_HEADER_BYTES <= rest.len; at++)
		if (memcmp(rest.ptr + at, magic, sizeof magic - 1) == 0 &&
		    wsi_at_u16(rest, at + 16) == WSI_ET_CORE &&
		    wsi_at_u16(rest, at + 18) == WSI_EM_CUDA)
			return end + at;
	return 0;
}

/* What follows behind the dump. */
static void rest_note(struct ws_core *core)
{
	uint64_t another = another_find(core);
	if (another)
		wsi_core_note(core, WSI_TOPIC_FILE, WS_HIDES_NOTHING, another,
			      "another dump begins at 0x%" PRIx64
			      ": only the first one of the file is read",
			      another);
	else if (core->file.is_enough)
		wsi_core_note(core, WSI_TOPIC_FILE, WS_HIDES_NOTHING, WS_NO_OFFSET,
			      "more follows after the last section; nothing beyond %" PRIu64
			      " bytes was unpacked",
			      core->source.size);
}

static enum ws_status opened(struct ws_core *core, struct ws_error *err)
{
	core->facts.bytes = core->source.size;
	enum ws_status st = wsi_core_identify(core, err);
	if (st != WS_OK)
		return st;
	section_headers_read(core);
	rest_note(core);
	st = wsi_core_index(core, err);
	if (st == WS_OK)
		st = wsi_core_tree(core, err);
	core->target.counts = (struct ws_counts){
		.devices = core->devices.n,
		.contexts = core->contexts.n,
		.modules = core->modules.n + core->n_lone_images,
		.grids = core->grids.n,
		.sms = core->sms.n,
		.blocks = core->blocks.n,
		.warps = core->warps.n,
	};
	if (st == WS_OK)
		st = wsi_core_judge(core, err);
	if (st == WS_OK)
		st = wsi_core_globals(core, err);
	if (st == WS_OK && core->n_sections == 0)
		wsi_core_salvage_note(core);
	if (st == WS_OK)
		wsi_core_facts_read(core);
	uint64_t lost = wsi_input_lost(&core->source);
	if (lost != WS_NO_OFFSET)
		wsi_core_note(core, WSI_TOPIC_FILE, WS_HIDES_FAULT, lost,
			      "some of the file cannot be read, first at 0x%" PRIx64, lost);
	return st;
}

static void core_close(struct ws_target *target)
{
	struct ws_core *core = target->state;
	wsi_core_tree_fini(core);
	wsi_core_ranges_fini(core);
	wsi_core_index_fini(core);
	wsi_free(core->mended);
	wsi_arena_fini(&core->arena);
	wsi_file_close(&core->file);
	wsi_free(core);
}

/* A dump as a target: members are in the file of their subject. */
static const struct ws_target_ops core_ops = {
	.name = "core",
	.close = core_close,
	.device = wsi_core_device,
	.context = wsi_core_context,
	.module = wsi_core_module,
	.grid = wsi_core_grid,
	.sm = wsi_core_sm,
	.block = wsi_core_block,
	.warp = wsi_core_warp,
	.lanes = wsi_core_lanes,
	.lane = wsi_core_lane,
	.call_stack = wsi_core_call_stack,
	.registers = wsi_core_registers,
	.read_memory = wsi_core_read_memory,
	.memory_range = wsi_core_memory_range,
	.dump_facts = wsi_core_dump_facts,
	.diagnostic = wsi_core_diagnostic,
	.contradictions = wsi_core_contradictions,
};

const struct ws_core *ws_target_core(const struct ws_target *target)
{
	return target->ops == &core_ops ? wsi_core_of(target) : NULL;
}

static enum ws_status core_create(const char *name, struct ws_core **ret_core, struct ws_error *err)
{
	struct ws_core *core = wsi_zalloc(sizeof *core);
	if (!core)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "handle of a dump");
	enum ws_status st = ws_target_init(&core->target, &core_ops, core, err);
	if (st != WS_OK) {
		wsi_free(core);
		return st;
	}
	core->facts.complete = true; /* until something is noted */
	core->facts.path = wsi_arena_str(&core->arena, name, strlen(name));
	if (!core->facts.path) {
		ws_target_close(&core->target);
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "name of a dump");
	}
	*ret_core = core;
	return WS_OK;
}

/* Of an opened dump what the caller gets, or nothing. */
static enum ws_status finish_open(struct ws_core *core, enum ws_status st,
				  struct ws_target **ret_target, struct ws_error *err)
{
	if (st == WS_OK) {
		if (core->file.source.size) /* else the bytes are the caller's */
			core->source = core->file.source;
		packing_note(core);
		st = opened(core, err);
	}
	if (st == WS_OK)
		*ret_target = &core->target;
	else
		ws_target_close(&core->target);
	return st;
}

static struct wsi_file_options file_options_of(const struct ws_core_options *options)
{
	struct wsi_file_options of = { .needs = needs, .in_windows = true };
	if (options) {
		of.max_unpacked_bytes = options->max_unpacked_bytes;
		of.max_stored_bytes = options->max_stored_bytes;
		of.progress = options->progress;
		of.user = options->user;
	}
	return of;
}

enum ws_status ws_core_open(const char *path, const struct ws_core_options *options,
			    struct ws_target **ret_target, struct ws_error *err)
{
	struct wsi_file_options file_options = file_options_of(options);
	struct ws_core *core;
	enum ws_status st = core_create(path, &core, err);
	if (st != WS_OK)
		return st;
	st = wsi_file_open_any(path, &file_options, &core->file, err);
	return finish_open(core, st, ret_target, err);
}

enum ws_status ws_core_open_source(const struct ws_core_source *source, const char *name,
				   const struct ws_core_options *options,
				   struct ws_target **ret_target, struct ws_error *err)
{
	struct wsi_window_options windows = { .read = source->read,
					      .user = source->user,
					      .size = source->n_bytes,
					      .window_bytes = source->window_bytes };
	struct wsi_file_options file_options = file_options_of(options);
	struct wsi_input from = { 0 };
	struct ws_core *core;
	enum ws_status st = core_create(name ? name : "", &core, err);
	if (st != WS_OK)
		return st;
	st = wsi_input_open(&windows, &from, err);
	if (st == WS_OK)
		st = wsi_file_open_input(&from, core->facts.path, &file_options, &core->file, err);
	return finish_open(core, st, ret_target, err);
}

enum ws_status ws_core_open_memory(struct ws_span bytes, const char *name,
				   struct ws_target **ret_target, struct ws_error *err)
{
	struct ws_core *core;
	enum ws_status st = core_create(name ? name : "", &core, err);
	if (st != WS_OK)
		return st;
	bytes.origin = 0;
	core->source = wsi_input_of(bytes);
	return finish_open(core, st, ret_target, err);
}
