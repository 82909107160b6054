/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dump of any target: the tree is walked once, from global memory and the devices down, and every
 * part goes straight into its section. What is kept at a time is one table: the rows of one device,
 * one SM or one block.
 */
#include <warpscope/core.h>
#include <warpscope/doubt.h>

#include "base/sort.h"
#include "target/internal.h"
#include "write/job.h"

/* Rows of one table, with the list indices that they come from. */
struct target_rows {
	void *at;        /* owned */
	uint32_t *index; /* owned */
	uint32_t n;
};

static void written_rows_fini(struct target_rows *rows)
{
	wsi_free(rows->at);
	wsi_free(rows->index);
	*rows = (struct target_rows){ 0 };
}

static enum ws_status rows_init(struct wsi_write_job *job, struct target_rows *rows, uint32_t cap,
				size_t size)
{
	*rows = (struct target_rows){ .at = wsi_zalloc_array(cap, size),
				      .index = wsi_zalloc_array(cap, sizeof *rows->index) };
	if (rows->at && rows->index)
		return WS_OK;
	written_rows_fini(rows);
	return wsi_fail(job->err, WS_NO_MEMORY, WS_NO_OFFSET, "%u rows", cap);
}

/* Outcome of reading an element: one that is damaged is passed over. */
static enum ws_status passed_over(enum ws_status status)
{
	return wsi_is_missing(status) ? WS_OK : status;
}

static void row_edit(const struct wsi_write_job *job, enum wsi_kind kind, void *row)
{
	if (job->edit && job->edit->row)
		job->edit->row(kind, row);
}

/* What reading a row came to; the new dump has to tell of its loss. */
static enum ws_status row_read(struct wsi_write_job *job, enum ws_status status, enum wsi_kind kind)
{
	enum ws_hides hides = wsi_kind_infos[kind].hides;
	if (wsi_is_missing(status) && job->hides < hides)
		job->hides = hides;
	return passed_over(status);
}

/*
 * static enum ws_status grids_read(job, owner_index, ret_rows): the elements of one owner that are
 * kept. Lists are sorted by owner: its elements begin at or behind job->next.grids (behind, when
 * owners were left out), which moves to their end.
 */
#define DEFINE_READ(kind, KIND, type, owner, kept)                                          \
	static bool kind##_is_before(const struct wsi_write_job *job, uint32_t index,       \
				     uint32_t end)                                          \
	{                                                                                   \
		type one;                                                                   \
		return index < job->counts.kind##s &&                                       \
		       (ws_target_##kind(job->target, index, &one, NULL) != WS_OK ||        \
			one.owner < end);                                                   \
	}                                                                                   \
	static enum ws_status kind##s_read(struct wsi_write_job *job, uint32_t owner_index, \
					   struct target_rows *ret_rows)                    \
	{                                                                                   \
		uint32_t *next = &job->next.kind##s;                                        \
		while (kind##_is_before(job, *next, owner_index))                           \
			++*next;                                                            \
		uint32_t end = *next;                                                       \
		while (kind##_is_before(job, end, owner_index + 1))                         \
			end++;                                                              \
		enum ws_status st = rows_init(job, ret_rows, end - *next, sizeof(type));    \
		for (; *next < end && st == WS_OK; ++*next) {                               \
			type *row = (type *)ret_rows->at + ret_rows->n;                     \
			if (!wsi_selected(kept, *next))                                     \
				continue;                                                   \
			st = ws_target_##kind(job->target, *next, row, job->err);           \
			if (st == WS_OK) {                                                  \
				row_edit(job, KIND, row);                                   \
				ret_rows->index[ret_rows->n++] = *next;                     \
			}                                                                   \
			st = row_read(job, st, KIND);                                       \
		}                                                                           \
		return st;                                                                  \
	}

DEFINE_READ(context, WSI_KIND_CONTEXT, struct ws_context, device_index, job->selection->contexts)
DEFINE_READ(module, WSI_KIND_MODULE, struct ws_module, context_index, job->selection->modules)
DEFINE_READ(grid, WSI_KIND_GRID, struct ws_grid, device_index, job->selection->grids)
DEFINE_READ(sm, WSI_KIND_SM, struct ws_sm, device_index, (const bool *)NULL)
DEFINE_READ(block, WSI_KIND_BLOCK, struct ws_block, sm_index, job->selection->blocks)

/* ---- lanes ---- */

static enum ws_status registers_write(struct wsi_write_job *job, uint32_t warp_index, uint32_t lane,
				      enum ws_reg_kind kind, const struct ws_write_table *parent,
				      uint32_t row)
{
	uint32_t n = 0;
	enum ws_status st = ws_target_registers(job->target, warp_index, lane, kind, 0,
						WSI_MAX_REGISTERS, job->registers, &n, NULL);
	if (st != WS_OK)
		return passed_over(st);
	if (job->edit && job->edit->registers)
		job->edit->registers(job->edit->user, kind, job->registers, n);
	return passed_over(
		ws_writer_words(job->writer, parent, row, kind, job->registers, n, job->err));
}

static enum ws_status frames_write(struct wsi_write_job *job, uint32_t warp_index, uint32_t lane,
				   const struct ws_write_table *lanes, uint32_t row)
{
	enum { USUAL = 32 };
	struct ws_return_address few[USUAL];
	uint32_t n = 0;
	enum ws_status st =
		ws_target_call_stack(job->target, warp_index, lane, few, USUAL, &n, NULL);
	if (st != WS_OK || n == 0)
		return passed_over(st);
	if (n <= USUAL)
		return ws_writer_frames(job->writer, lanes, row, few, n, job->err);
	wsi_scoped_free struct ws_return_address *many = wsi_zalloc_array(n, sizeof *many);
	if (!many)
		return wsi_fail(job->err, WS_NO_MEMORY, WS_NO_OFFSET, "%u frames", n);
	st = ws_target_call_stack(job->target, warp_index, lane, many, n, &n, job->err);
	return st == WS_OK ? ws_writer_frames(job->writer, lanes, row, many, n, job->err)
			   : passed_over(st);
}

static enum ws_status lane_write(struct wsi_write_job *job, uint32_t warp_index, uint32_t lane,
				 uint32_t *range_number, const struct ws_write_table *lanes,
				 uint32_t row)
{
	struct ws_memory_range range;
	enum ws_status st = WS_OK;
	bool found;
	/* ranges and lanes are both in the order of lane ids */
	while ((found = wsi_job_range(job, *range_number, WS_SPACE_LOCAL, warp_index, &range)) &&
	       range.lane < lane)
		++*range_number;
	if (found && range.lane == lane)
		st = wsi_job_owned(job, &range, warp_index, lanes, row);
	if (st == WS_OK)
		st = registers_write(job, warp_index, lane, WS_REG_R, lanes, row);
	if (st == WS_OK)
		st = registers_write(job, warp_index, lane, WS_REG_P, lanes, row);
	return st == WS_OK ? frames_write(job, warp_index, lane, lanes, row) : st;
}

static enum ws_status lanes_write(struct wsi_write_job *job, uint32_t warp_index,
				  const struct ws_write_table *warps, uint32_t row)
{
	struct ws_lane lanes[WS_MAX_LANES];
	struct ws_write_table table;
	uint32_t n = 0;
	enum ws_status st = ws_target_lanes(job->target, warp_index, lanes, &n, job->err);
	if (st != WS_OK)
		return row_read(job, st, WSI_KIND_LANE);
	for (uint32_t i = 0; i < n; i++) {
		if (lanes[i].damaged && ws_exception_possible(lanes[i].exception)) {
			/* what it contradicts may not be written: its row has to tell that */
			lanes[i].exception = WS_EXCEPTION_DOUBTED | (lanes[i].exception & 0xff);
			job->hides = WS_HIDES_FAULT;
		}
		row_edit(job, WSI_KIND_LANE, &lanes[i]);
	}
	st = ws_writer_lanes(job->writer, warps, row, lanes, n, &table, job->err);
	uint32_t range = wsi_job_first_range(job, WS_SPACE_LOCAL, warp_index);
	for (uint32_t i = 0; i < n && st == WS_OK; i++)
		st = lane_write(job, warp_index, lanes[i].id, &range, &table, i);
	return st;
}

/* ---- blocks and warps ---- */

static enum ws_status warp_write(struct wsi_write_job *job, uint32_t warp_index,
				 const struct ws_write_table *warps, uint32_t row)
{
	static const enum ws_reg_kind kinds[] = { WS_REG_UR, WS_REG_UP, WS_REG_BARRIER };
	enum ws_status st = WS_OK;
	for (size_t i = 0; i < WSI_COUNT(kinds) && st == WS_OK; i++)
		st = registers_write(job, warp_index, WS_NONE, kinds[i], warps, row);
	return st == WS_OK ? lanes_write(job, warp_index, warps, row) : st;
}

/* The warps of a block: `keyed` has those of its SM, by block. */
static enum ws_status warps_write(struct wsi_write_job *job, const struct wsi_keyed *keyed,
				  uint32_t n, const struct ws_write_table *blocks, uint32_t row)
{
	struct target_rows warps;
	struct ws_write_table table;
	enum ws_status st = rows_init(job, &warps, n, sizeof(struct ws_warp));
	for (uint32_t i = 0; i < n && st == WS_OK; i++) {
		struct ws_warp *warp = (struct ws_warp *)warps.at + warps.n;
		if (!wsi_selected(job->selection->warps, keyed[i].value))
			continue;
		st = ws_target_warp(job->target, keyed[i].value, warp, job->err);
		if (st == WS_OK) {
			row_edit(job, WSI_KIND_WARP, warp);
			warps.index[warps.n++] = keyed[i].value;
			if (!(warp->have & WS_WARP_BROKEN))
				job->hides = WS_HIDES_FAULT; /* rows cannot tell that */
		}
		st = row_read(job, st, WSI_KIND_WARP);
	}
	if (st == WS_OK)
		st = ws_writer_warps(job->writer, blocks, row, warps.at, warps.n, &table, job->err);
	for (uint32_t i = 0; i < warps.n && st == WS_OK; i++)
		st = warp_write(job, warps.index[i], &table, i);
	written_rows_fini(&warps);
	return st;
}

static enum ws_status block_write(struct wsi_write_job *job, uint32_t block_index,
				  const struct wsi_keyed *warps, uint32_t n,
				  const struct ws_write_table *blocks, uint32_t row)
{
	struct ws_memory_range range;
	uint32_t number = wsi_job_first_range(job, WS_SPACE_SHARED, block_index);
	enum ws_status st = WS_OK;
	if (wsi_job_range(job, number, WS_SPACE_SHARED, block_index, &range))
		st = wsi_job_owned(job, &range, n ? warps[0].value : WS_NONE, blocks, row);
	return st == WS_OK ? warps_write(job, warps, n, blocks, row) : st;
}

/* Warps of an SM in the order of their blocks, else of ids. */
static enum ws_status warps_by_block(struct wsi_write_job *job, const struct ws_sm *sm,
				     struct wsi_keyed *ret_warps)
{
	for (uint32_t i = 0; i < sm->n_warps; i++) {
		struct ws_warp warp = { .block_index = WS_NONE };
		uint32_t index = sm->first_warp_index + i;
		enum ws_status st = ws_target_warp(job->target, index, &warp, job->err);
		if (row_read(job, st, WSI_KIND_WARP) != WS_OK)
			return st;
		ret_warps[i] = (struct wsi_keyed){ warp.block_index, index };
	}
	if (!wsi_sort_keyed(ret_warps, sm->n_warps))
		return wsi_fail(job->err, WS_NO_MEMORY, WS_NO_OFFSET, "%u warps", sm->n_warps);
	return WS_OK;
}

/* What contradicts where a block is may not be written: then its row has to tell that by itself. */
static void blocks_displace(struct target_rows *blocks)
{
	struct ws_block *block = blocks->at;
	for (uint32_t i = 0; i < blocks->n; i++)
		if (block[i].damaged)
			block[i].idx = (struct ws_dim3){ UINT32_MAX, UINT32_MAX, UINT32_MAX };
}

static enum ws_status sm_write(struct wsi_write_job *job, uint32_t sm_index,
			       const struct ws_write_table *sms, uint32_t row)
{
	struct ws_sm sm;
	struct target_rows blocks = { 0 };
	struct ws_write_table table;
	enum ws_status st = ws_target_sm(job->target, sm_index, &sm, job->err);
	if (st != WS_OK)
		return st;
	wsi_scoped_free struct wsi_keyed *warps = wsi_zalloc_array(sm.n_warps, sizeof *warps);
	if (!warps)
		return wsi_fail(job->err, WS_NO_MEMORY, WS_NO_OFFSET, "%u warps", sm.n_warps);
	st = warps_by_block(job, &sm, warps);
	if (st == WS_OK)
		st = blocks_read(job, sm_index, &blocks);
	blocks_displace(&blocks);
	if (st == WS_OK)
		st = ws_writer_blocks(job->writer, sms, row, blocks.at, blocks.n, &table, job->err);
	uint32_t next = 0;
	for (uint32_t i = 0; i < blocks.n && st == WS_OK; i++) {
		while (next < sm.n_warps && warps[next].key < blocks.index[i])
			next++;
		uint32_t first = next;
		while (next < sm.n_warps && warps[next].key == blocks.index[i])
			next++;
		st = block_write(job, blocks.index[i], warps + first, next - first, &table, i);
	}
	written_rows_fini(&blocks);
	return st;
}

/* ---- what a device has ---- */

static enum ws_status image_write(struct wsi_write_job *job, uint32_t index, bool relocated,
				  struct ws_span bytes, const struct ws_write_table *modules,
				  uint32_t row)
{
	enum ws_status st = WS_OK;
	if (job->edit && job->edit->image)
		st = job->edit->image(job->edit->user, bytes, &bytes, job->err);
	if (st != WS_OK)
		return wsi_context(job->err, st, "image %u", index);
	return bytes.ptr ? ws_writer_image(job->writer, modules, row, relocated, bytes, job->err)
			 : WS_OK;
}

/* A form of an image that can be written: all of it, or what a cut left. */
static bool has_form(enum ws_status status, struct ws_span bytes)
{
	return status == WS_OK || (status == WS_TRUNCATED && bytes.len > 0);
}

static enum ws_status modules_write(struct wsi_write_job *job, uint32_t context_index,
				    const struct ws_write_table *contexts, uint32_t row)
{
	struct target_rows modules;
	struct ws_write_table table;
	enum ws_status st = modules_read(job, context_index, &modules);
	if (st == WS_OK)
		st = ws_writer_modules(job->writer, contexts, row, modules.at, modules.n, &table,
				       job->err);
	for (uint32_t i = 0; i < modules.n && st == WS_OK; i++) {
		const struct ws_module *module = (const struct ws_module *)modules.at + i;
		if (has_form(module->relocated_status, module->relocated))
			st = image_write(job, modules.index[i], true, module->relocated, &table, i);
		if (st == WS_OK && !(job->flags & WS_WRITE_SKIP_IMAGES) &&
		    has_form(module->original_status, module->original))
			st = image_write(job, modules.index[i], false, module->original, &table, i);
	}
	written_rows_fini(&modules);
	return st;
}

static enum ws_status contexts_write(struct wsi_write_job *job, uint32_t device_index,
				     uint32_t device_id, const struct ws_write_table *devices,
				     uint32_t row)
{
	struct target_rows contexts;
	struct ws_write_table table;
	enum ws_status st = contexts_read(job, device_index, &contexts);
	if (st == WS_OK)
		st = ws_writer_contexts(job->writer, devices, row, device_id, contexts.at,
					contexts.n, &table, job->err);
	for (uint32_t i = 0; i < contexts.n && st == WS_OK; i++)
		st = modules_write(job, contexts.index[i], &table, i);
	written_rows_fini(&contexts);
	return st;
}

static enum ws_status banks_write(struct wsi_write_job *job, uint32_t grid_index,
				  const struct ws_write_table *grids, uint32_t row)
{
	uint32_t first = wsi_job_first_range(job, WS_SPACE_CONST, grid_index), end = first;
	struct ws_memory_range range;
	while (wsi_job_range(job, end, WS_SPACE_CONST, grid_index, &range))
		end++;
	if (first == end)
		return WS_OK;
	wsi_scoped_free struct ws_bank *banks = wsi_zalloc_array(end - first, sizeof *banks);
	if (!banks)
		return wsi_fail(job->err, WS_NO_MEMORY, WS_NO_OFFSET, "%u constant banks",
				end - first);
	for (uint32_t i = first; i < end; i++) {
		if (wsi_job_range(job, i, WS_SPACE_CONST, grid_index, &range))
			banks[i - first] =
				(struct ws_bank){ range.start,
						  (uint32_t)wsi_min_u64(range.size, UINT32_MAX),
						  range.bank };
	}
	return passed_over(ws_writer_banks(job->writer, grids, row, banks, end - first, job->err));
}

static enum ws_status grids_write(struct wsi_write_job *job, uint32_t device_index,
				  const struct ws_write_table *devices, uint32_t row)
{
	struct target_rows grids;
	struct ws_write_table table;
	enum ws_status st = grids_read(job, device_index, &grids);
	if (st == WS_OK)
		st = ws_writer_grids(job->writer, devices, row, grids.at, grids.n, &table,
				     job->err);
	for (uint32_t i = 0; i < grids.n && st == WS_OK; i++) {
		struct ws_memory_range range;
		uint32_t number = wsi_job_first_range(job, WS_SPACE_PARAM, grids.index[i]);
		if (wsi_job_range(job, number, WS_SPACE_PARAM, grids.index[i], &range))
			st = wsi_job_owned(job, &range, WS_NONE, &table, i);
		if (st == WS_OK)
			st = banks_write(job, grids.index[i], &table, i);
	}
	written_rows_fini(&grids);
	return st;
}

static enum ws_status sms_write(struct wsi_write_job *job, uint32_t device_index,
				const struct ws_write_table *devices, uint32_t row)
{
	struct target_rows sms;
	struct ws_write_table table;
	enum ws_status st = sms_read(job, device_index, &sms);
	if (st == WS_OK)
		st = ws_writer_sms(job->writer, devices, row, sms.at, sms.n, &table, job->err);
	for (uint32_t i = 0; i < sms.n && st == WS_OK; i++)
		st = sm_write(job, sms.index[i], &table, i);
	written_rows_fini(&sms);
	return st;
}

static enum ws_status devices_write(struct wsi_write_job *job)
{
	uint32_t n = job->counts.devices;
	wsi_scoped_free struct ws_device *devices = wsi_zalloc_array(n, sizeof *devices);
	struct ws_write_table table;
	if (!devices)
		return wsi_fail(job->err, WS_NO_MEMORY, WS_NO_OFFSET, "%u devices", n);
	enum ws_status st = WS_OK;
	for (uint32_t i = 0; i < n && st == WS_OK; i++) {
		st = ws_target_device(job->target, i, &devices[i], job->err);
		if (st == WS_OK)
			row_edit(job, WSI_KIND_DEVICE, &devices[i]);
	}
	if (st == WS_OK)
		st = ws_writer_devices(job->writer, devices, n, &table, job->err);
	for (uint32_t i = 0; i < n && st == WS_OK; i++) {
		st = contexts_write(job, i, devices[i].id, &table, i);
		if (st == WS_OK)
			st = grids_write(job, i, &table, i);
		if (st == WS_OK)
			st = sms_write(job, i, &table, i);
	}
	return st;
}

/* ---- the whole ---- */

/* What is lost before anything is read. */
static void loss_find(struct wsi_write_job *job)
{
	struct ws_diagnostic diagnostic;
	for (uint32_t i = 0; ws_target_diagnostic(job->target, i, &diagnostic, NULL) == WS_OK; i++)
		if (job->hides < diagnostic.hides)
			job->hides = diagnostic.hides;
}

static enum ws_status job_run(struct wsi_write_job *job)
{
	ws_target_counts(job->target, &job->counts);
	loss_find(job);
	job->core = ws_target_core(job->target);
	job->buffer = wsi_zalloc(WSI_JOB_BUFFER);
	job->registers = wsi_zalloc_array(WSI_MAX_REGISTERS, sizeof *job->registers);
	enum ws_status st = job->buffer && job->registers
				    ? wsi_job_memory_init(job)
				    : wsi_fail(job->err, WS_NO_MEMORY, WS_NO_OFFSET, "a buffer");
	if (st == WS_OK)
		st = wsi_job_global(job);
	if (st == WS_OK)
		st = devices_write(job);
	wsi_job_memory_fini(job);
	wsi_free(job->buffer);
	wsi_free(job->registers);
	return st;
}

/* "r590" -> 590; the newest when that says nothing. */
static uint32_t driver_of_layout(const char *layout)
{
	char *end;
	unsigned long driver = layout && layout[0] == 'r' ? strtoul(layout + 1, &end, 10) : 0;
	return driver >= WS_WRITE_OLDEST && driver <= WS_WRITE_NEWEST ? (uint32_t)driver
								      : WS_WRITE_NEWEST;
}

enum ws_status wsi_write_origin_of(const struct ws_target *target,
				   const struct ws_write_options *options,
				   struct wsi_origin *ret_origin, struct ws_error *err)
{
	struct wsi_origin *origin = ret_origin;
	memset(origin, 0, sizeof *origin);
	if (options->flags & ~(uint32_t)WS_WRITE_KNOWN_FLAGS)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"no such flags: 0x%x (known are 0x%x)", options->flags,
				WS_WRITE_KNOWN_FLAGS);
	uint32_t flags = options->flags;
	enum ws_status st = ws_target_dump_facts(target, &origin->facts, NULL);
	if (st == WS_OK) {
		origin->path = origin->facts.path;
		flags |= origin->facts.flags & ~(uint32_t)WS_WRITE_GZIP;
		origin->facts.have_flags = origin->facts.have_flags || flags;
	} else {
		(void)wsi_format(origin->generator, "warpscope %s", ws_version());
		origin->facts = (struct ws_dump_facts){ .have_metadata = true,
							.have_flags = true,
							.have_time = options->timestamp != 0,
							.timestamp = options->timestamp,
							.generator = ws_str_of(origin->generator) };
	}
	origin->facts.flags = flags;
	origin->driver = options->driver ? options->driver : driver_of_layout(origin->facts.layout);
	return WS_OK;
}

static enum ws_status standing_check(const struct ws_target *target, struct ws_error *err)
{
	struct ws_counts counts;
	ws_target_counts(target, &counts);
	for (uint32_t i = 0; i < counts.devices; i++) {
		if (ws_target_running(target, i))
			return wsi_fail(err, WS_RUNNING, WS_NO_OFFSET, "device %u is running", i);
	}
	return WS_OK;
}

enum { MOST_MORE = 64 << 20 }; /* bytes that a small dump may grow by */

enum ws_status wsi_job_write(struct wsi_write_job *job, const char *path,
			     const struct wsi_origin *origin)
{
	struct ws_writer_options options = { .size = sizeof options,
					     .driver = origin->driver,
					     .gzip = job->flags & WS_WRITE_GZIP,
					     .source = origin->path };
	enum ws_status st = standing_check(job->target, job->err);
	if (st == WS_OK)
		st = ws_writer_open(path, &options, &job->writer, job->err);
	if (st != WS_OK)
		return st;
	if (origin->path) /* sections that share bytes would each be written out */
		job->writer->most_bytes =
			wsi_min_u64(origin->facts.bytes, UINT64_MAX / 16) * 8 + MOST_MORE;
	job->writer->halves = job->halves;
	job->writer->n_halves = job->n_halves;
	job->writer->map = job->map;
	ws_writer_stripped(job->writer,
			   origin->facts.left_out | (job->flags & ~(uint32_t)WS_WRITE_GZIP),
			   origin->facts.stripped | job->stripped);
	st = job_run(job);
	uint64_t n = 0;
	/* what is left out may be what contradicts the rest */
	bool odd = job->hides || job->stripped || (origin->path && !origin->facts.complete);
	if (odd && wsi_target_contradictions(job->target, &n, NULL) == WS_OK && n > 0)
		job->writer->in_doubt = true;
	if (origin->facts.cut || job->hides || job->writer->in_doubt)
		ws_writer_incomplete(job->writer, job->hides);
	if (st == WS_OK && origin->facts.have_metadata)
		st = passed_over(ws_writer_metadata(job->writer, &origin->facts, job->err));
	if (st == WS_OK)
		st = ws_writer_commit(job->writer, job->err);
	ws_writer_close(job->writer);
	return st;
}

enum ws_status ws_write_target(const struct ws_target *target, const char *path,
			       const struct ws_write_options *options, struct ws_error *err)
{
	struct ws_strip_options all = { .size = sizeof all };
	struct ws_stripped nothing;
	if (options)
		memcpy(&all.write, options, wsi_min_u64(options->size, sizeof all.write));
	if (!all.write.driver && !all.write.n_keep) {
		enum ws_status st = wsi_target_write_dump(target, path, all.write.flags, err);
		if (st != WS_UNSUPPORTED)
			return st;
	}
	return ws_strip(target, path, &all, &nothing, err);
}
