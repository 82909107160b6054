/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repairs tables whose section header is damaged.
 *
 * One damaged field (type, link, info, entry size) takes a table out of the tree, with everything
 * below it, although every row of it is still in the file. What the rest of the tree says is often
 * enough to put it back: a row that lacks a child (a hole), and a section without a place (a stray)
 * whose bytes read as rows of the kind that the hole wants. The header is corrected in a copy and
 * the index is made again from that, level by level.
 *
 * If something fits two places equally, the section's name decides, which the format derives from
 * the place; it is never read for anything else. What cannot be decided stays lost, and is reported
 * as lost.
 *
 * Cost: linear in the headers and in the bytes of the tables that are looked at; holes times strays
 * is bounded.
 */
#include <limits.h>

#include "target/dump/dump.h"

enum {
	LEAST_STRIDE = 8, /* of the tables that drivers write */
	MOST_STRIDE = 1024,
	MOST_STRAYS = 1u << 12,
	MOST_HOLES = 1u << 16,
	MOST_PAIRS = 1u << 24,
	MOST_NAMES = 1u << 16, /* compared */
};

/* A row that has no child of a kind. */
struct hole {
	uint32_t table; /* WS_NONE: the file, which has no device table */
	uint32_t row;
	uint8_t kind;
	bool filled;
};

struct mender {
	struct ws_core *core;
	struct hole *holes; /* owned */
	size_t n_holes, cap_holes;
	uint32_t *strays; /* owned: sections */
	size_t n_strays, cap_strays;
	const struct wsi_notes *before; /* to go back to; NULL: that was done */
	uint32_t n_mended, n_names;
	bool has_device;
	struct wsi_stride strides[WSI_N_KINDS][WSI_MAX_STRIDES]; /* those known; 0 ends */
};

/* ---- whether bytes are rows of a kind ---- */

/* Kinds of children that a row of a kind has for certain; 0 ends. */
static const uint8_t children_of[WSI_N_KINDS][4] = {
	[WSI_KIND_DEVICE] = { WSI_KIND_SM, WSI_KIND_CONTEXT, WSI_KIND_GRID },
	[WSI_KIND_CONTEXT] = { WSI_KIND_MODULE },
	[WSI_KIND_MODULE] = { WSI_KIND_RELOCATED },
	[WSI_KIND_SM] = { WSI_KIND_BLOCK },
	[WSI_KIND_BLOCK] = { WSI_KIND_WARP },
	[WSI_KIND_WARP] = { WSI_KIND_LANE },
};

/* Whether bytes are rows of this size, none twice. */
static bool rows_fit(const struct wsi_input *source, struct wsi_slice there, enum wsi_kind kind,
		     uint64_t stride)
{
	const struct wsi_kind_info *info = &wsi_kind_infos[kind];
	wsi_row_fits_fn *fits = wsi_row_fits(kind);
	if (!fits || stride < info->base_bytes || stride > UINT32_MAX || there.len % stride != 0 ||
	    there.len / stride > info->max_rows)
		return false;
	uint64_t before = UINT64_MAX;
	uint8_t scratch[MOST_STRIDE];
	size_t n = (size_t)wsi_min_u64(stride, MOST_STRIDE); /* no field lies beyond */
	for (uint64_t off = 0; off < there.len; off += stride) {
		struct ws_span in = { wsi_input_view(source, there.off + off, n, scratch), n, 0 };
		if (!in.ptr || !fits(in))
			return false;
		uint64_t id = info->id_bytes ? wsi_row_id(kind, in) : off;
		if (id == before)
			return false;
		before = id;
	}
	return true;
}

/* Whether a section holds what a child of this kind has; an image by its header. */
static bool section_fits(const struct mender *m, const struct wsi_shdr *shdr, enum wsi_kind kind,
			 uint64_t stride)
{
	struct wsi_shdr as = *shdr; /* whatever its type says, its bytes are looked at */
	const struct wsi_input *source = &m->core->source;
	struct wsi_slice there;
	as.type = WSI_SHT_PROGBITS;
	if (!wsi_elf_extent(&m->core->elf, &as, &there))
		return false;
	if (kind != WSI_KIND_RELOCATED)
		return rows_fit(source, there, kind, stride);
	uint8_t scratch[WSI_ELF_HEADER_BYTES];
	const uint8_t *at = there.len >= sizeof scratch
				    ? wsi_input_view(source, there.off, sizeof scratch, scratch)
				    : NULL;
	return at && wsi_load_u32(at) == 0x464c457f /* "\x7f" "ELF" */ &&
	       wsi_load_u16(at + 18) == WSI_EM_CUDA;
}

/* ---- corrections ---- */

/* What the index noted is about headers as they were: what is mended gets a note of its own. */
static bool mender_begin(struct mender *m)
{
	struct ws_core *core = m->core;
	if (!core->mended) {
		core->mended = wsi_zalloc(core->elf.headers.len);
		if (!core->mended)
			return false;
		memcpy(core->mended, core->elf.headers.ptr, core->elf.headers.len);
		core->elf.headers.ptr = core->mended;
	}
	if (m->before) {
		core->notes = *m->before;
		if (core->notes.last)
			core->notes.last->next = NULL;
		m->before = NULL;
	}
	m->n_mended++;
	return true;
}

static void put_mended(struct mender *m, uint32_t section, unsigned field, uint64_t value,
		       unsigned bytes)
{
	uint8_t *at = m->core->mended + (uint64_t)section * m->core->elf.shentsize + field;
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t header_off(const struct mender *m, uint32_t section)
{
	return wsi_elf_shdr_off(&m->core->elf, section);
}

static void mend_stride(struct mender *m, uint32_t section, const struct wsi_shdr *shdr,
			enum wsi_kind kind, uint64_t stride)
{
	if (!mender_begin(m))
		return;
	put_mended(m, section, WSI_SH_ENTSIZE, stride, 8);
	wsi_core_note(m->core, WSI_TOPIC_MENDED, WS_HIDES_NOTHING,
		      header_off(m, section) + WSI_SH_ENTSIZE,
		      "%s (section %u): its entry size %" PRIu64
		      " is damaged; it is read in rows of %" PRIu64 " bytes",
		      wsi_kind_infos[kind].words, section, shdr->entsize, stride);
}

static void mend_place(struct mender *m, uint32_t section, const struct wsi_shdr *shdr,
		       struct hole *hole)
{
	const struct ws_core *core = m->core;
	const struct wsi_kind_info *info = &wsi_kind_infos[hole->kind];
	uint32_t parent = hole->table == WS_NONE ? 0 : core->tables[hole->table].section;
	bool type_wrong = shdr->type != WSI_CUDBG_SHT_BASE + hole->kind;
	bool link_wrong = shdr->link != parent;
	if (!mender_begin(m))
		return;
	hole->filled = true;
	put_mended(m, section, WSI_SH_TYPE, WSI_CUDBG_SHT_BASE + hole->kind, 4);
	put_mended(m, section, WSI_SH_LINK, parent, 4);
	put_mended(m, section, WSI_SH_INFO, hole->row, 4);
	uint64_t at = header_off(m, section) + (type_wrong   ? WSI_SH_TYPE
						: link_wrong ? WSI_SH_LINK
							     : WSI_SH_INFO);
	const char *what = type_wrong ? "type" : link_wrong ? "link" : "info";
	uint32_t was = type_wrong ? shdr->type : link_wrong ? shdr->link : shdr->info;
	if (hole->table == WS_NONE)
		wsi_core_note(m->core, WSI_TOPIC_MENDED, WS_HIDES_NOTHING, at,
			      "section %u is taken for the %s: its %s 0x%x is damaged", section,
			      info->words, what, was);
	else
		wsi_core_note(m->core, WSI_TOPIC_MENDED, WS_HIDES_NOTHING, at,
			      "section %u is taken for the %s of row %u of section %u: its %s 0x%x "
			      "is damaged",
			      section, info->words, hole->row, parent, what, was);
}

/* ---- names ---- */

bool wsi_core_name_fits(const struct ws_core *core, const struct wsi_shdr *shdr, enum wsi_kind kind,
			uint32_t table, uint32_t row)
{
	if (table >= core->n_tables)
		return false;
	enum wsi_kind above = (enum wsi_kind)core->tables[table].kind;
	struct wsi_shdr parent = wsi_elf_shdr(&core->elf, core->tables[table].section);
	uint8_t scratch[2][WSI_NAME_BYTES];
	struct ws_str name = wsi_core_name_head(core, shdr, scratch[0]),
		      its = wsi_core_name_head(core, &parent, scratch[1]);
	size_t cut = wsi_kind_start_len(above);
	const char *label = wsi_kind_infos[above].label;
	char number[24] = "", wanted[200];
	if (its.len < cut || name.len > 120 || its.len > 120)
		return false;
	if (label[0])
		(void)snprintf(number, sizeof number, "%s%u", label, row);
	int len =
		snprintf(wanted, sizeof wanted, "%.*s%.*s%s", (int)wsi_kind_start_len(kind),
			 wsi_kind_infos[kind].prefix, (int)(its.len - cut), its.ptr + cut, number);
	return len > 0 && ws_str_equal(name, ws_str_of(wanted));
}

static bool name_fits_hole(struct mender *m, const struct wsi_shdr *shdr, const struct hole *hole)
{
	if (hole->table == WS_NONE || m->n_names++ >= MOST_NAMES)
		return false;
	return wsi_core_name_fits(m->core, shdr, (enum wsi_kind)hole->kind, hole->table, hole->row);
}

/* ---- holes ---- */

static bool row_lacks(const struct ws_core *core, struct wsi_ref ref, enum wsi_kind child)
{
	if (wsi_core_slot(core, ref, child))
		return false;
	return child != WSI_KIND_LANE ||
	       wsi_at_u32(wsi_core_row(core, ref), WSI_AT_warp_valid_lanes) != 0;
}

static void hole_add(struct mender *m, uint32_t table, uint32_t row, enum wsi_kind kind)
{
	if (m->n_holes < MOST_HOLES &&
	    wsi_grow(&m->holes, &m->cap_holes, m->n_holes, sizeof *m->holes, MOST_HOLES))
		m->holes[m->n_holes++] = (struct hole){ table, row, (uint8_t)kind, false };
}

/* Whether a table is in the tree: its parent's row has it and no rival. */
static bool table_is_placed(const struct ws_core *core, uint32_t table)
{
	enum wsi_kind kind = (enum wsi_kind)core->tables[table].kind;
	struct wsi_shdr shdr = wsi_elf_shdr(&core->elf, core->tables[table].section);
	struct wsi_ref above;
	return wsi_kind_infos[kind].parent == WSI_KIND_NONE ||
	       (wsi_core_parent_row(core, &shdr, kind, &above) &&
		wsi_core_slot(core, above, kind) == table + 1);
}

static void holes_find(struct mender *m)
{
	const struct ws_core *core = m->core;
	for (uint32_t t = 0; t < core->n_tables; t++) {
		enum wsi_kind kind = (enum wsi_kind)core->tables[t].kind;
		m->has_device = m->has_device || kind == WSI_KIND_DEVICE;
		if (children_of[kind][0] && !table_is_placed(core, t))
			continue;
		for (const uint8_t *child = children_of[kind]; *child; child++)
			for (uint32_t row = 0; row < core->tables[t].n_rows; row++)
				if (row_lacks(core, (struct wsi_ref){ t, row },
					      (enum wsi_kind) * child))
					hole_add(m, t, row, (enum wsi_kind) * child);
	}
	if (!m->has_device)
		hole_add(m, WS_NONE, 0, WSI_KIND_DEVICE);
	if (!core->meta_section)
		hole_add(m, WS_NONE, 0, WSI_KIND_META);
}

enum wsi_kind wsi_core_kind_meant(const struct ws_core *core, const struct wsi_shdr *shdr)
{
	enum wsi_kind typed = wsi_kind_of(shdr->type);
	uint32_t t = wsi_core_table_of(core, shdr->link);
	enum wsi_kind above = t == WS_NONE ? WSI_KIND_NONE : (enum wsi_kind)core->tables[t].kind;
	uint8_t scratch[WSI_NAME_BYTES];
	struct ws_str name = wsi_core_name_head(core, shdr, scratch);
	for (unsigned k = 1; k < WSI_N_KINDS; k++) {
		const struct wsi_kind_info *info = &wsi_kind_infos[k];
		bool placed =
			info->parent == WSI_KIND_NONE ? shdr->link == 0 : info->parent == above;
		if (info->prefix[0] && wsi_str_begins(name, info->prefix) && (k == typed || placed))
			return (enum wsi_kind)k;
	}
	return WSI_KIND_NONE;
}

bool wsi_core_could_tell(const struct ws_core *core, const struct wsi_shdr *shdr)
{
	enum wsi_kind kind = wsi_kind_of(shdr->type), meant = wsi_core_kind_meant(core, shdr);
	uint32_t t = wsi_core_table_of(core, shdr->link);
	if (meant != WSI_KIND_NONE)
		return wsi_kind_tells(meant);
	if (wsi_kind_tells(kind))
		return true;
	if (t == WS_NONE || shdr->info >= core->tables[t].n_rows ||
	    (kind != WSI_KIND_NONE && shdr->entsize < LEAST_STRIDE))
		return false;
	for (const uint8_t *child = children_of[core->tables[t].kind]; *child; child++)
		if (wsi_kind_tells((enum wsi_kind) * child) &&
		    row_lacks(core, (struct wsi_ref){ t, shdr->info }, (enum wsi_kind) * child))
			return true;
	return false;
}

/* ---- strays ---- */

/* Whether a section has a place: in the tree, beside it, or none to have. */
static bool is_placed(const struct mender *m, uint32_t section, const struct wsi_shdr *shdr)
{
	const struct ws_core *core = m->core;
	enum wsi_kind kind = wsi_kind_of(shdr->type);
	bool rooted = shdr->link == 0 && shdr->info == 0;
	if (!m->has_device && shdr->entsize >= wsi_kind_infos[WSI_KIND_DEVICE].base_bytes && rooted)
		return false;
	if (kind == WSI_KIND_NONE) /* strings, notes, what later drivers add */
		return rooted && shdr->entsize < LEAST_STRIDE &&
		       (shdr->type != WSI_SHT_NULL || shdr->size != 0);
	uint32_t number = wsi_core_table_of(core, section);
	if (wsi_kind_infos[kind].n_slots && number == WS_NONE)
		return shdr->size == 0;
	if (wsi_kind_infos[kind].parent == WSI_KIND_NONE)
		return rooted || (kind == WSI_KIND_DEVICE && core->kind_counts[kind] == 1);
	struct wsi_ref above;
	if (!wsi_core_parent_row(core, shdr, kind, &above) ||
	    wsi_core_holder(core, wsi_core_slot(core, above, kind), kind) != section)
		return false;
	/* registers and memory have no rows of that size: a table that came by a leaf's type */
	return wsi_kind_infos[kind].base_bytes ||
	       shdr->entsize < wsi_kind_infos[WSI_KIND_WARP].base_bytes ||
	       !wsi_core_could_tell(
		       core,
		       &(struct wsi_shdr){ .type = 0, .link = shdr->link, .info = shdr->info });
}

static void strays_find(struct mender *m)
{
	bool any = m->core->doubtful || m->core->kind_counts[WSI_KIND_DEVICE] != 1;
	for (uint32_t i = 1; i < m->core->n_sections && any && m->n_strays < MOST_STRAYS; i++) {
		struct wsi_shdr shdr = wsi_elf_shdr(&m->core->elf, i);
		if (is_placed(m, i, &shdr))
			continue;
		if (wsi_grow(&m->strays, &m->cap_strays, m->n_strays, sizeof *m->strays,
			     MOST_STRAYS))
			m->strays[m->n_strays++] = i;
	}
}

/* ---- entry sizes ---- */

/* Which branches write rows of a size: from `*ret_first` to before `*ret_end`. */
static bool branches_of(const struct mender *m, enum wsi_kind kind, uint64_t stride,
			unsigned *ret_first, unsigned *ret_end)
{
	const struct wsi_stride *known = m->strides[kind];
	while (known->bytes && known->bytes != stride)
		known++;
	if (!known->bytes)
		return false;
	*ret_first = known->since;
	while (known->since == *ret_first)
		known++;
	*ret_end = known->bytes ? known->since : UINT_MAX;
	return true;
}

/* Whether the driver that wrote the other tables writes rows of this size. */
static bool in_layout(const struct mender *m, enum wsi_kind kind, uint64_t stride)
{
	unsigned first, end, its_first, its_end;
	if (!branches_of(m, kind, stride, &first, &end))
		return false;
	for (unsigned other = 1; other < WSI_N_KINDS; other++) {
		const struct wsi_habit *habit = &m->core->habits[other];
		if (other == kind || habit->votes == 0 ||
		    !branches_of(m, (enum wsi_kind)other, habit->stride, &its_first, &its_end))
			continue;
		first = its_first > first ? its_first : first;
		end = its_end < end ? its_end : end;
	}
	return first < end;
}

/* How many rows the row above a table says that it has: SMs of a device, valid lanes of a warp. 0:
 * it does not say. */
static uint64_t parent_rows_of(const struct mender *m, const struct wsi_shdr *shdr,
			       enum wsi_kind kind)
{
	struct wsi_ref above;
	if ((kind != WSI_KIND_SM && kind != WSI_KIND_LANE) ||
	    !wsi_core_parent_row(m->core, shdr, kind, &above))
		return 0;
	struct ws_span in = wsi_core_row(m->core, above);
	if (kind == WSI_KIND_SM)
		return wsi_at_u32(in, WSI_AT_device_n_sms);
	return (uint64_t)__builtin_popcount(wsi_at_u32(in, WSI_AT_warp_valid_lanes));
}

/* The stride that the rows of a section fit best: what others of the kind have, what is claimed, or
 * what drivers write. 0: none. */
static uint64_t stride_of(const struct mender *m, const struct wsi_shdr *shdr, enum wsi_kind kind)
{
	const struct wsi_habit *habit = &m->core->habits[kind];
	bool alone = habit->n < 2 || (habit->n == 2 && habit->votes == 0);
	unsigned first, end;
	if (kind == WSI_KIND_RELOCATED)
		return shdr->entsize;
	if (!alone && section_fits(m, shdr, kind, habit->stride))
		return habit->stride;
	bool claimed_fits = section_fits(m, shdr, kind, shdr->entsize);
	bool claimed_known = branches_of(m, kind, shdr->entsize, &first, &end);
	uint64_t n_rows = parent_rows_of(m, shdr, kind), each = n_rows ? shdr->size / n_rows : 0;
	bool several = !claimed_known && each != 0 && shdr->entsize > each &&
		       shdr->entsize % each == 0; /* rows are claimed to be one */
	if (n_rows > 1 && (!claimed_fits || several) &&
	    (kind == WSI_KIND_SM || in_layout(m, kind, each)) && section_fits(m, shdr, kind, each))
		return each;
	if (claimed_known && shdr->size % shdr->entsize == 0 && in_layout(m, kind, shdr->entsize))
		return shdr->entsize; /* where rows do not fit, they are damaged */
	for (const struct wsi_stride *known = m->strides[kind]; known->bytes; known++) {
		uint64_t stride = known->bytes;
		/* of two rows, every second one may look like a table too */
		bool hides = kind != WSI_KIND_MODULE && !claimed_known && shdr->entsize > stride &&
			     shdr->entsize % stride == 0;
		if ((!claimed_fits || hides) && in_layout(m, kind, stride) &&
		    section_fits(m, shdr, kind, stride))
			return stride;
	}
	if (claimed_fits)
		return shdr->entsize;
	if (shdr->entsize >= wsi_kind_infos[kind].base_bytes && shdr->size % shdr->entsize == 0)
		return 0; /* a row of it is damaged */
	/* one row of a driver to come */
	return shdr->size <= MOST_STRIDE && section_fits(m, shdr, kind, shdr->size) ? shdr->size
										    : 0;
}

static void stride_check(struct mender *m, uint32_t section)
{
	struct wsi_shdr shdr = wsi_elf_shdr(&m->core->elf, section);
	enum wsi_kind kind = wsi_kind_of(shdr.type);
	const struct wsi_habit *habit = &m->core->habits[kind];
	bool usual = habit->n > 2 && habit->votes > 0 && shdr.entsize == habit->stride &&
		     shdr.entsize != 0 && shdr.size % shdr.entsize == 0;
	bool has_parent = wsi_kind_infos[kind].parent == WSI_KIND_NONE ||
			  wsi_core_parent(m->core, &shdr, kind);
	if (!wsi_row_fits(kind) || shdr.size == 0 || usual || !has_parent)
		return;
	uint64_t stride = stride_of(m, &shdr, kind);
	if (stride && stride != shdr.entsize)
		mend_stride(m, section, &shdr, kind, stride);
}

/* Tables that can be read lie in a list; those that cannot were found doubtful. */
static void strides_mend(struct mender *m)
{
	const struct ws_core *core = m->core;
	for (uint32_t t = 0; t < core->n_tables && !core->doubtful; t++)
		stride_check(m, core->tables[t].section);
	for (uint32_t i = 1; i < core->n_sections && core->doubtful; i++)
		stride_check(m, i);
}

/* ---- places ---- */

/* How many of the fields that give a section its place would have to be wrong. */
static unsigned wrong_fields(const struct mender *m, const struct wsi_shdr *shdr,
			     const struct hole *hole)
{
	uint32_t parent = hole->table == WS_NONE ? 0 : m->core->tables[hole->table].section;
	return (shdr->type != WSI_CUDBG_SHT_BASE + hole->kind ? 1u : 0u) +
	       (shdr->link != parent ? 1u : 0u) + (shdr->info != hole->row ? 1u : 0u);
}

/* The lanes of a table are those that the warp says are valid. */
static bool lanes_fit(const struct mender *m, const struct wsi_shdr *shdr, const struct hole *hole)
{
	if (hole->kind != WSI_KIND_LANE)
		return true;
	struct wsi_ref ref = { hole->table, hole->row };
	uint32_t valid = wsi_at_u32(wsi_core_row(m->core, ref), WSI_AT_warp_valid_lanes);
	return shdr->size / shdr->entsize >= (uint64_t)__builtin_popcount(valid);
}

/* The hole that a stray belongs in, or NULL: the one for which the fewest fields are wrong; among
 * equals the one that it is named for. */
static struct hole *hole_for(struct mender *m, const struct wsi_shdr *shdr)
{
	struct hole *best = NULL;
	unsigned least = 2; /* one field is damaged, two if the name tells so */
	bool tie = false, named = false;
	for (size_t i = 0; i < m->n_holes; i++) {
		struct hole *hole = &m->holes[i];
		unsigned wrong = wrong_fields(m, shdr, hole);
		if (hole->filled || wrong > least || wrong == 0)
			continue;
		if (wrong == least && named && !name_fits_hole(m, shdr, hole))
			continue;
		/* with a wrong entry size as well it would be two damages: what is of another kind
		 * could pass for anything */
		if (stride_of(m, shdr, (enum wsi_kind)hole->kind) != shdr->entsize ||
		    !section_fits(m, shdr, (enum wsi_kind)hole->kind, shdr->entsize) ||
		    !lanes_fit(m, shdr, hole))
			continue;
		bool its_name = name_fits_hole(m, shdr, hole);
		if (wrong == 2 && !its_name)
			continue;
		tie = best && wrong == least && its_name == named;
		if (!best || wrong < least || its_name) {
			best = hole;
			named = its_name;
		}
		least = wrong;
	}
	return tie && !named ? NULL : best;
}

static void places_mend(struct mender *m)
{
	uint64_t pairs = 0;
	for (size_t i = 0; i < m->n_strays; i++) {
		uint32_t section = m->strays[i];
		struct wsi_shdr shdr = wsi_elf_shdr(&m->core->elf, section);
		pairs += m->n_holes;
		if (pairs > MOST_PAIRS)
			return;
		struct hole *hole = shdr.size ? hole_for(m, &shdr) : NULL;
		if (hole)
			mend_place(m, section, &shdr, hole);
	}
}

/* SMs without blocks have no block table in many dumps: such a table with a damaged info finds a
 * place where it is not missed. Its name tells. */
static void blocks_mend(struct mender *m)
{
	struct ws_core *core = m->core;
	for (uint32_t t = 0; t < core->n_tables; t++) {
		if (core->tables[t].kind != WSI_KIND_BLOCK)
			continue;
		uint32_t section = core->tables[t].section;
		struct wsi_shdr shdr = wsi_elf_shdr(&core->elf, section);
		uint32_t above = wsi_core_table_of(core, shdr.link);
		if (above == WS_NONE || shdr.info >= core->tables[above].n_rows ||
		    m->n_names++ >= MOST_NAMES ||
		    wsi_core_name_fits(core, &shdr, WSI_KIND_BLOCK, above, shdr.info))
			continue;
		for (size_t h = 0; h < m->n_holes; h++) {
			struct hole *hole = &m->holes[h];
			if (hole->kind == WSI_KIND_BLOCK && !hole->filled &&
			    name_fits_hole(m, &shdr, hole)) {
				mend_place(m, section, &shdr, hole);
				break;
			}
		}
	}
}

static void mender_fini(struct mender *m)
{
	wsi_free(m->holes);
	wsi_free(m->strays);
}

uint32_t wsi_core_mend(struct ws_core *core, const struct wsi_notes *before)
{
	struct mender m = { .core = core, .before = before };
	for (unsigned kind = 1; kind < WSI_N_KINDS; kind++)
		(void)wsi_kind_strides((enum wsi_kind)kind, m.strides[kind]);
	strides_mend(&m);
	if (m.n_mended == 0) {
		holes_find(&m);
		strays_find(&m);
		places_mend(&m);
		blocks_mend(&m);
	}
	mender_fini(&m);
	return m.n_mended;
}

/* ---- what stays lost ---- */

/* Whether SMs without blocks have a block table too, as drivers write it: one of this SM table has.
 */
static bool empty_tables_exist(const struct ws_core *core, uint32_t sm_table)
{
	for (uint32_t row = 0; row < core->tables[sm_table].n_rows; row++) {
		const struct wsi_table *blocks = wsi_core_child_table(
			core, (struct wsi_ref){ sm_table, row }, WSI_KIND_BLOCK);
		if (blocks && blocks->n_rows == 0)
			return true;
	}
	return false;
}

static void hole_note(struct ws_core *core, const struct hole *hole)
{
	const struct wsi_kind_info *info = &wsi_kind_infos[hole->kind];
	enum ws_hides hides = wsi_kind_infos[hole->kind].hides;
	if (hole->table == WS_NONE) {
		wsi_core_note(core, WSI_TOPIC_LOST, hides, WS_NO_OFFSET, "there is no %s",
			      info->words);
		return;
	}
	const struct wsi_table *table = &core->tables[hole->table];
	wsi_core_note(core, WSI_TOPIC_LOST, hides, table->off + (uint64_t)hole->row * table->stride,
		      "row %u of the %s (section %u) has no %s", hole->row,
		      wsi_kind_infos[table->kind].words, table->section, info->words);
}

void wsi_core_lost(struct ws_core *core)
{
	struct mender m = { .core = core };
	holes_find(&m);
	strays_find(&m);
	bool lacks = m.n_holes >= MOST_HOLES; /* a table that could tell of an exception */
	for (size_t i = 0; i < m.n_holes; i++)
		lacks = lacks || wsi_kind_tells((enum wsi_kind)m.holes[i].kind);
	for (size_t i = 0; i < m.n_strays && core->n_sections; i++) {
		struct wsi_shdr shdr = wsi_elf_shdr(&core->elf, m.strays[i]);
		enum wsi_kind kind = wsi_kind_of(shdr.type);
		if (kind != WSI_KIND_NONE && wsi_kind_infos[kind].parent != WSI_KIND_NONE)
			continue; /* the index said so */
		/* where its parent is not known either it may have been anything that has rows */
		bool no_parent = lacks && wsi_core_kind_meant(core, &shdr) == WSI_KIND_NONE &&
				 wsi_core_table_of(core, shdr.link) == WS_NONE &&
				 (shdr.entsize >= LEAST_STRIDE || shdr.type == WSI_SHT_NULL);
		bool tells = no_parent || wsi_core_could_tell(core, &shdr);
		bool later = shdr.type > WSI_CUDBG_SHT_BASE && kind == WSI_KIND_NONE;
		if (!later || tells)
			wsi_core_note(core, WSI_TOPIC_STRAY,
				      tells ? WS_HIDES_FAULT : WS_HIDES_NOTHING,
				      header_off(&m, m.strays[i]) + WSI_SH_TYPE,
				      "section %u of type 0x%x cannot be placed: its kind is lost",
				      m.strays[i], shdr.type);
	}
	uint32_t asked = WS_NONE;
	bool all_sms = false; /* have a block table, below the SM table `asked` */
	for (size_t i = 0; i < m.n_holes; i++) {
		const struct hole *hole = &m.holes[i];
		if (hole->kind == WSI_KIND_BLOCK && hole->table != asked) {
			asked = hole->table;
			all_sms = empty_tables_exist(core, asked);
		}
		bool optional = hole->kind == WSI_KIND_CONTEXT || hole->kind == WSI_KIND_GRID ||
				hole->kind == WSI_KIND_MODULE || hole->kind == WSI_KIND_META ||
				(hole->kind == WSI_KIND_BLOCK && !all_sms);
		if (!optional && core->n_sections)
			hole_note(core, hole);
	}
	mender_fini(&m);
}
