/* SPDX-License-Identifier: Apache-2.0 */
/* Checking a dump: the ELF header, the section headers, and where the bytes lie. */
#include "target/dump/check.h"

#include "base/sort.h"

const char *ws_check_rule_word(enum ws_check_rule rule)
{
	static const char *const words[WS_N_CHECKS] = {
#define X(NAME, word) word,
		WS_CHECK_LIST(X)
#undef X
	};
	return (unsigned)rule < WS_N_CHECKS ? words[rule] : "?";
}

static void finding_add(struct wsi_checker *c, struct ws_finding *finding, const char *format,
			va_list args)
{
	if (c->stopped)
		return;
	(void)vsnprintf(finding->message, sizeof finding->message, format, args);
	c->summary.findings++;
	c->summary.by_rule[finding->rule]++;
	c->stopped = !c->each(c->user, finding);
}

void wsi_finding(struct wsi_checker *c, enum ws_check_rule rule, uint32_t section,
		 uint64_t file_off, const char *format, ...)
{
	static const bool contradicts[WS_N_CHECKS] = {
		[WS_CHECK_FILE] = true,   [WS_CHECK_NAME] = true,      [WS_CHECK_TYPE] = true,
		[WS_CHECK_EXTENT] = true, [WS_CHECK_LINK] = true,      [WS_CHECK_STRIDE] = true,
		[WS_CHECK_ID] = true,     [WS_CHECK_REFERENCE] = true, [WS_CHECK_VALUE] = true,
		[WS_CHECK_IMAGE] = true,  [WS_CHECK_COUNT] = true,
	};
	struct ws_finding finding = { .rule = rule,
				      .section = section,
				      .file_off = file_off,
				      .contradicts = contradicts[rule] };
	va_list args;
	va_start(args, format);
	finding_add(c, &finding, format, args);
	va_end(args);
}

void wsi_loss(struct wsi_checker *c, enum ws_check_rule rule, uint32_t section, uint64_t file_off,
	      const char *format, ...)
{
	struct ws_finding finding = { .rule = rule, .section = section, .file_off = file_off };
	va_list args;
	va_start(args, format);
	finding_add(c, &finding, format, args);
	va_end(args);
}

static void check_file(struct wsi_checker *c)
{
	const struct ws_core *core = c->core;
	const struct wsi_elf *elf = &core->elf;
	/* what opening found out about the file as a whole, and what it mended or missed; what it
	 * says of single sections is found again, for all of them */
	static const struct {
		enum wsi_dump_topic topic;
		enum ws_check_rule rule;
		bool loss;
	} taken[] = { { WSI_TOPIC_FILE, WS_CHECK_FILE, true },
		      { WSI_TOPIC_WRITTEN, WS_CHECK_FILE, true },
		      { WSI_TOPIC_HEADERS, WS_CHECK_FILE, true },
		      { WSI_TOPIC_MENDED, WS_CHECK_LINK, true },
		      { WSI_TOPIC_STRAY, WS_CHECK_TYPE, false },
		      { WSI_TOPIC_STRTAB, WS_CHECK_NAME, true },
		      { WSI_TOPIC_LOST, WS_CHECK_COUNT, true } };
	for (const struct wsi_diag *d = core->notes.first; d; d = d->next)
		for (size_t i = 0; i < WSI_COUNT(taken); i++)
			if (d->topic == taken[i].topic) {
				bool loss = taken[i].loss && !(d->topic == WSI_TOPIC_WRITTEN &&
							       core->written_in_doubt);
				(loss ? wsi_loss : wsi_finding)(c, taken[i].rule, 0,
								d->shown.file_off, "%s",
								d->shown.message);
			}
	if (core->n_sections == 0)
		return;
	if (elf->osabi != WSI_ELFOSABI_CUDA)
		wsi_finding(c, WS_CHECK_HEADER, 0, 7, "OSABI is 0x%x; dumps have 0x%x", elf->osabi,
			    WSI_ELFOSABI_CUDA);
	if (elf->abi_version != 7)
		wsi_finding(c, WS_CHECK_HEADER, 0, 8,
			    "ABI version is %u; other readers accept 7 only", elf->abi_version);
	if (elf->version != 1)
		wsi_finding(c, WS_CHECK_HEADER, 0, 20, "ELF version is %u, not 1", elf->version);
	if (elf->shentsize != WSI_SHDR_BYTES)
		wsi_finding(c, WS_CHECK_HEADER, 0, 58, "section headers of %u bytes, not %d",
			    elf->shentsize, WSI_SHDR_BYTES);
	if (c->names.len == 0)
		wsi_loss(c, WS_CHECK_NAME, 0, 62,
			 "the table of section names is missing or empty (section %" PRIu64 ")",
			 elf->shstrndx);
	else if (c->names.ptr[c->names.len - 1] != 0)
		wsi_loss(c, WS_CHECK_NAME, (uint32_t)elf->shstrndx, c->names.origin + c->names.len,
			 "the table of section names does not end with a NUL");
}

static void check_name(struct wsi_checker *c, uint32_t section, const struct wsi_shdr *shdr,
		       enum wsi_kind kind, uint64_t at)
{
	struct ws_str name = { 0 };
	const char *prefix = wsi_kind_infos[kind].prefix;
	if (c->names.len == 0)
		return; /* said once for all */
	if (!wsi_span_cstr(c->names, shdr->name, &name))
		wsi_loss(c, WS_CHECK_NAME, section, at, "its name is outside the name table");
	else if (prefix[0] && !wsi_str_begins(name, prefix))
		wsi_finding(c, WS_CHECK_NAME, section, at, "a %s whose name does not begin with %s",
			    wsi_kind_infos[kind].words, prefix);
}

static void check_stride(struct wsi_checker *c, uint32_t section, const struct wsi_shdr *shdr,
			 enum wsi_kind kind, uint64_t at)
{
	const struct wsi_kind_info *info = &wsi_kind_infos[kind];
	if (info->base_bytes) {
		if (shdr->entsize < info->base_bytes || shdr->entsize > UINT32_MAX)
			wsi_finding(c, WS_CHECK_STRIDE, section, at + WSI_SH_ENTSIZE,
				    "rows of %" PRIu64 " bytes; a %s needs %u", shdr->entsize,
				    info->words, info->base_bytes);
		else if (shdr->size % shdr->entsize)
			wsi_finding(c, WS_CHECK_STRIDE, section, at + WSI_SH_SIZE,
				    "%" PRIu64 " byte%s not a multiple of the %" PRIu64
				    "-byte rows",
				    shdr->size, shdr->size == 1 ? " is" : "s are", shdr->entsize);
		else if (shdr->size / shdr->entsize > info->max_rows)
			wsi_finding(c, WS_CHECK_COUNT, section, at + WSI_SH_SIZE,
				    "%" PRIu64 " rows; no machine has more than %u",
				    shdr->size / shdr->entsize, info->max_rows);
		else if (kind == WSI_KIND_META && shdr->size == 0)
			wsi_finding(c, WS_CHECK_STRIDE, section, at + WSI_SH_SIZE,
				    "it is empty; metadata has %u bytes or more", info->base_bytes);
		return;
	}
	bool words = kind == WSI_KIND_REGS || kind == WSI_KIND_PREDS || kind == WSI_KIND_UREGS ||
		     kind == WSI_KIND_UPREDS || kind == WSI_KIND_BARRIERS;
	if (words && shdr->size % 4)
		wsi_finding(c, WS_CHECK_STRIDE, section, at + WSI_SH_SIZE,
			    "%" PRIu64 " byte%s of %s %s not a multiple of 4", shdr->size,
			    shdr->size == 1 ? "" : "s", info->words,
			    shdr->size == 1 ? "is" : "are");
}

/* Whether opening put a field of a section header right, so that nothing is contradicted any more.
 */
static bool is_mended(const struct wsi_checker *c, uint32_t section, const struct wsi_shdr *shdr)
{
	struct wsi_shdr now = wsi_elf_shdr(&c->core->elf, section);
	return now.type != shdr->type || now.link != shdr->link || now.info != shdr->info ||
	       now.entsize != shdr->entsize;
}

static void check_link(struct wsi_checker *c, uint32_t section, const struct wsi_shdr *shdr,
		       enum wsi_kind kind, uint64_t at)
{
	const struct ws_core *core = c->core;
	const struct wsi_kind_info *info = &wsi_kind_infos[kind];
	bool mended = is_mended(c, section, shdr);
	if (info->parent == WSI_KIND_NONE) {
		if (shdr->link || shdr->info)
			(mended ? wsi_loss : wsi_finding)(
				c, WS_CHECK_LINK, section, at + WSI_SH_LINK,
				"a %s has no parent, but this one names row %u of section %u",
				info->words, shdr->info, shdr->link);
		return;
	}
	const struct wsi_table *table = wsi_core_parent(core, shdr, kind);
	struct wsi_ref row;
	if (!table) {
		bool cut = core->headers_lost && shdr->link >= core->n_sections;
		(mended || cut ? wsi_loss
			       : wsi_finding)(c, WS_CHECK_LINK, section, at + WSI_SH_LINK,
					      "its parent, section %u, is not a readable %s",
					      shdr->link, wsi_kind_infos[info->parent].words);
		return;
	}
	if (!wsi_core_parent_row(core, shdr, kind, &row)) {
		struct wsi_slice there;
		bool cut = !wsi_core_extent(core, table->section, &there);
		(mended || cut ? wsi_loss : wsi_finding)(
			c, WS_CHECK_LINK, section, at + WSI_SH_INFO,
			"belongs to row %u of section %u, which has %u row%s", shdr->info,
			shdr->link, table->n_rows, table->n_rows == 1 ? "" : "s");
		return;
	}
	uint32_t holder = wsi_core_holder(core, wsi_core_slot(core, row, kind), kind);
	if (holder && holder != section)
		(mended ? wsi_loss
			: wsi_finding)(c, WS_CHECK_LINK, section, at + WSI_SH_LINK,
				       "row %u of section %u has another %s already: section %u",
				       shdr->info, shdr->link, info->words, holder);
}

static void check_section(struct wsi_checker *c, uint32_t section)
{
	const struct ws_core *core = c->core;
	struct wsi_shdr shdr = wsi_elf_shdr(&c->claimed, section);
	enum wsi_kind kind = wsi_kind_of(shdr.type);
	uint64_t at = wsi_elf_shdr_off(&core->elf, section);
	struct wsi_slice there;
	c->summary.sections++;
	check_name(c, section, &shdr, kind, at);
	if (shdr.type != WSI_SHT_NULL && !wsi_elf_extent(&core->elf, &shdr, &there))
		wsi_loss(c, WS_CHECK_EXTENT, section, at + WSI_SH_OFFSET,
			 "%" PRIu64 " of its %" PRIu64
			 " bytes are in the file, which ends at 0x%" PRIx64,
			 there.len, shdr.size, core->source.size);
	if (kind == WSI_KIND_NONE) {
		if (shdr.type >= WSI_CUDBG_SHT_BASE)
			wsi_finding(c, WS_CHECK_TYPE, section, at + WSI_SH_TYPE,
				    "unknown type 0x%x", shdr.type);
		return;
	}
	if (!wsi_kind_infos[kind].n_slots)
		c->summary.leaves++;
	check_stride(c, section, &shdr, kind, at);
	check_link(c, section, &shdr, kind, at);
}

/* No two sections may share bytes, nor may one lie over the headers. */
static enum ws_status check_overlaps(struct wsi_checker *c, struct ws_error *err)
{
	const struct ws_core *core = c->core;
	size_t n = 0;
	wsi_scoped_free struct wsi_keyed *items =
		wsi_zalloc_array((size_t)core->n_sections + 1, sizeof *items);
	if (!items)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "list of sections");
	items[n++] = (struct wsi_keyed){ core->elf.shoff, 0 }; /* the headers themselves */
	for (uint32_t i = 1; i < core->n_sections; i++) {
		struct wsi_shdr shdr = wsi_elf_shdr(&core->elf, i);
		struct wsi_slice there;
		if (shdr.type == WSI_SHT_NULL || shdr.type == WSI_SHT_NOBITS ||
		    !wsi_elf_extent(&core->elf, &shdr, &there) || there.len == 0)
			continue;
		items[n++] = (struct wsi_keyed){ shdr.offset, i };
	}
	if (!wsi_sort_keyed(items, n))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "list of sections");
	uint64_t end = WSI_ELF_HEADER_BYTES; /* of what came before */
	uint32_t holder = 0;
	for (size_t i = 0; i < n && !c->stopped; i++) {
		uint32_t section = items[i].value;
		uint64_t size =
			section ? wsi_elf_shdr(&core->elf, section).size : core->elf.headers.len;
		if (items[i].key < end && size && section)
			wsi_finding(c, WS_CHECK_EXTENT, section,
				    wsi_elf_shdr_off(&core->elf, section) + WSI_SH_OFFSET,
				    holder ? "shares bytes from 0x%" PRIx64 " on with section %u"
					   : "overlaps the headers of the file at 0x%" PRIx64,
				    items[i].key, holder);
		if (wsi_add_sat(items[i].key, size) > end) {
			end = wsi_add_sat(items[i].key, size);
			holder = section;
		}
	}
	return WS_OK;
}

static void check_memory(struct wsi_checker *c)
{
	const struct ws_core *core = c->core;
	uint64_t end = 0;
	uint32_t holder = 0;
	for (uint32_t i = 0; i < core->n_globals; i++) {
		struct wsi_shdr shdr = wsi_elf_shdr(&core->elf, core->globals[i]);
		uint64_t at = wsi_elf_shdr_off(&core->elf, core->globals[i]) + WSI_SH_ADDR;
		if (shdr.addr + shdr.size < shdr.addr && shdr.addr + shdr.size != 0)
			wsi_finding(c, WS_CHECK_MEMORY, core->globals[i], at,
				    "0x%" PRIx64 " bytes from 0x%" PRIx64
				    " on go past the end of the address space",
				    shdr.size, shdr.addr);
		if (i > 0 && shdr.addr < end)
			wsi_finding(c, WS_CHECK_MEMORY, core->globals[i], at,
				    "address 0x%" PRIx64 " is in section %u too", shdr.addr,
				    holder);
		if (wsi_add_sat(shdr.addr, shdr.size) > end) {
			end = wsi_add_sat(shdr.addr, shdr.size);
			holder = core->globals[i];
		}
	}
}

enum ws_status ws_core_check(const struct ws_core *core,
			     bool (*each)(void *user, const struct ws_finding *finding), void *user,
			     struct ws_check_summary *ret_summary, struct ws_error *err)
{
	struct wsi_checker c = { .core = core, .claimed = core->elf, .each = each, .user = user };
	c.names = wsi_core_names(core);
	c.claimed.headers = core->claimed;
	check_file(&c);
	for (uint32_t i = 1; i < core->n_sections && !c.stopped; i++)
		check_section(&c, i);
	enum ws_status st = check_overlaps(&c, err);
	if (st != WS_OK)
		return st;
	check_memory(&c);
	wsi_core_check_rows(&c);
	*ret_summary = c.summary;
	return WS_OK;
}

struct contradictions {
	uint64_t n, names;
};

static bool contradiction_count(void *user, const struct ws_finding *finding)
{
	struct contradictions *found = user;
	found->n += finding->contradicts && finding->rule != WS_CHECK_NAME;
	found->names += finding->contradicts && finding->rule == WS_CHECK_NAME;
	return true;
}

enum ws_status wsi_core_contradictions(const struct ws_target *target, uint64_t *ret_n,
				       struct ws_error *err)
{
	struct ws_check_summary summary;
	struct contradictions found = { 0 };
	enum ws_status st =
		ws_core_check(wsi_core_of(target), contradiction_count, &found, &summary, err);
	if (st == WS_OK) /* one wrong name is a damaged name; several are those of other sections */
		*ret_n = found.n + (found.names > 1 ? found.names : 0);
	return st;
}
