/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a dump: sections, their headers and names. */
#include "write/writer.h"

#include "elf/elf.h"

/* How the driver calls sections: ".cudbg." WORD PATH, where each level of the tree adds LABEL and
 * the row number to the path [public doc: cudacoredump.h of the driver branches; measured: cuda-gdb
 * 12.4 opens files with these]. */
static const struct {
	const char *word;
	const char *label; /* of its rows; NULL: they add nothing */
} kind_names[WSI_N_KINDS] = {
	[WSI_KIND_MANAGED] = { "global", NULL },    [WSI_KIND_GLOBAL] = { "global", NULL },
	[WSI_KIND_LOCAL] = { "local", NULL },       [WSI_KIND_SHARED] = { "shared", NULL },
	[WSI_KIND_REGS] = { "regs", NULL },         [WSI_KIND_IMAGE] = { "elfimg", NULL },
	[WSI_KIND_RELOCATED] = { "relfimg", NULL }, [WSI_KIND_FRAMES] = { "bt", NULL },
	[WSI_KIND_DEVICE] = { "devtbl", ".dev" },   [WSI_KIND_CONTEXT] = { "ctxtbl", ".ctx" },
	[WSI_KIND_SM] = { "smtbl", ".sm" },         [WSI_KIND_GRID] = { "gridtbl", ".grid" },
	[WSI_KIND_BLOCK] = { "ctatbl", ".cta" },    [WSI_KIND_WARP] = { "wptbl", ".wp" },
	[WSI_KIND_LANE] = { "lntbl", ".ln" },       [WSI_KIND_MODULE] = { "modtbl", NULL },
	[WSI_KIND_PREDS] = { "pred", NULL },        [WSI_KIND_PARAM] = { "param", NULL },
	[WSI_KIND_UREGS] = { "uregs", NULL },       [WSI_KIND_UPREDS] = { "upred", NULL },
	[WSI_KIND_BANK] = { "cbankstbl", NULL },    [WSI_KIND_META] = { "meta", NULL },
	[WSI_KIND_BARRIERS] = { "cbu_bar", NULL },
};

enum {
	NAME_BYTES = 96,
	DUMP_ABI_VERSION = 7, /* NVIDIA's reader takes no other */
	ALIGNMENT = 8,
};

/* ---- opening and closing ---- */

enum ws_status ws_writer_open(const char *path, const struct ws_writer_options *options,
			      struct ws_writer **ret_writer, struct ws_error *err)
{
	struct ws_writer_options all = { .size = sizeof all };
	if (options)
		memcpy(&all, options, wsi_min_u64(options->size, sizeof all));
	uint32_t driver = all.driver ? all.driver : WS_WRITE_NEWEST;
	if (driver < WS_WRITE_OLDEST || driver > WS_WRITE_NEWEST)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"no layout of driver r%u is known, only r%d to r%d", driver,
				WS_WRITE_OLDEST, WS_WRITE_NEWEST);
	struct ws_writer *writer = wsi_zalloc(sizeof *writer);
	if (!writer)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a writer of dumps");
	writer->driver = driver;
	struct wsi_outfile_options file = { WSI_ELF_HEADER_BYTES, all.gzip, all.not_over };
	enum ws_status st = wsi_scratch_init(&writer->headers, err);
	if (st == WS_OK)
		st = wsi_scratch_init(&writer->names, err);
	if (st == WS_OK)
		st = wsi_scratch_init(&writer->texts, err);
	/* section 0 is written at the end; both tables of strings begin with the empty one */
	writer->n_sections = 1;
	if (st == WS_OK)
		st = wsi_scratch_append(&writer->names, "", 1, err);
	if (st == WS_OK)
		st = wsi_scratch_append(&writer->texts, "", 1, err);
	if (st == WS_OK)
		st = wsi_outfile_open(path, &file, &writer->file, err);
	if (st != WS_OK) {
		ws_writer_close(writer);
		return st;
	}
	*ret_writer = writer;
	return WS_OK;
}

void ws_writer_close(struct ws_writer *writer)
{
	if (!writer)
		return;
	wsi_outfile_close(writer->file);
	wsi_scratch_fini(&writer->headers);
	wsi_scratch_fini(&writer->names);
	wsi_scratch_fini(&writer->texts);
	wsi_free(writer);
}

/* Remembers a failure, so that what lacks something never gets its name. */
static enum ws_status keep(struct ws_writer *writer, enum ws_status status)
{
	if (status != WS_OK)
		writer->failed = true;
	return status;
}

/* ---- names and strings ---- */

static char *put_text(char *to, const char *text)
{
	size_t len = strlen(text);
	memcpy(to, text, len);
	return to + len;
}

static char *put_number(char *to, uint32_t number)
{
	char digits[10];
	unsigned n = 0;
	do
		digits[n++] = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	while (n > 0)
		*to++ = digits[--n];
	return to;
}

/* Path of a row: that of its table's parent row, then its own label and number. */
static char *put_path(char *to, const struct ws_write_table *table, uint32_t row)
{
	to = put_text(to, table->path);
	if (kind_names[table->kind].label)
		to = put_number(put_text(to, kind_names[table->kind].label), row);
	return to;
}

static size_t section_name(struct ws_writer *writer, const struct wsi_section *section,
			   char name[NAME_BYTES])
{
	char *to = put_text(name, ".cudbg.");
	to = put_text(to, kind_names[section->kind].word);
	if (section->parent) {
		to = put_path(to, section->parent, section->row);
	} else if (section->kind == WSI_KIND_GLOBAL || section->kind == WSI_KIND_MANAGED) {
		*to++ = '.';
		to = put_number(to, writer->n_globals++);
	}
	*to = 0;
	return (size_t)(to - name);
}

void wsi_section_as_table(const struct ws_writer *writer, const struct wsi_section *section,
			  uint32_t n_rows, struct ws_write_table *ret_table)
{
	if (!ret_table)
		return;
	*ret_table = (struct ws_write_table){ .kind = section->kind,
					      .section = writer->n_sections - 1,
					      .n_rows = n_rows };
	if (section->parent)
		*put_path(ret_table->path, section->parent, section->row) = 0;
}

enum ws_status wsi_writer_text(struct ws_writer *writer, struct ws_str text, uint64_t *ret_offset,
			       struct ws_error *err)
{
	*ret_offset = 0;
	if (text.len == 0)
		return WS_OK;
	uint32_t hash = 2166136261u; /* FNV-1a */
	for (size_t i = 0; i < text.len; i++)
		hash = (hash ^ (uint8_t)text.ptr[i]) * 16777619u;
	struct wsi_text_slot *slot = &writer->text_cache[hash % WSI_TEXT_CACHE];
	if (slot->len == text.len && memcmp(slot->bytes, text.ptr, text.len) == 0) {
		*ret_offset = slot->offset;
		return WS_OK;
	}
	uint64_t offset = writer->texts.stream.total;
	enum ws_status st = wsi_scratch_append(&writer->texts, text.ptr, text.len, err);
	if (st == WS_OK)
		st = wsi_scratch_append(&writer->texts, "", 1, err);
	if (st != WS_OK)
		return keep(writer, st);
	if (text.len <= sizeof slot->bytes && offset <= UINT32_MAX) {
		slot->offset = (uint32_t)offset;
		slot->len = (uint32_t)text.len;
		memcpy(slot->bytes, text.ptr, text.len);
	}
	*ret_offset = offset;
	return WS_OK;
}

/* ---- sections ---- */

static void header_fill(uint8_t header[64], const struct wsi_shdr *shdr)
{
	wsi_store_u32(header, shdr->name);
	wsi_store_u32(header + 4, shdr->type);
	wsi_store_u64(header + 8, shdr->flags);
	wsi_store_u64(header + 16, shdr->addr);
	wsi_store_u64(header + 24, shdr->offset);
	wsi_store_u64(header + 32, shdr->size);
	wsi_store_u32(header + 40, shdr->link);
	wsi_store_u32(header + 44, shdr->info);
	wsi_store_u64(header + 48, shdr->addralign);
	wsi_store_u64(header + 56, shdr->entsize);
}

static enum ws_status align(struct ws_writer *writer, struct ws_error *err)
{
	static const uint8_t zeros[ALIGNMENT];
	return wsi_outfile_append(writer->file, zeros,
				  (size_t)(-wsi_outfile_size(writer->file) % ALIGNMENT), err);
}

/* Adds the header of the next section; its data begins where the file ends now. */
static enum ws_status section_add(struct ws_writer *writer, const char *name, size_t name_len,
				  struct wsi_shdr *shdr, struct ws_error *err)
{
	if (writer->n_sections > UINT32_MAX - 8)
		return wsi_fail(err, WS_LIMIT, WS_NO_OFFSET, "more sections than ELF can number");
	enum ws_status st = align(writer, err);
	/* names past what sh_name can tell are empty: they mean nothing to a reader */
	uint64_t name_off = writer->names.stream.total;
	if (st == WS_OK && name_off <= UINT32_MAX - NAME_BYTES) {
		shdr->name = (uint32_t)name_off;
		st = wsi_scratch_append(&writer->names, name, name_len + 1, err);
	}
	if (st != WS_OK)
		return st;
	shdr->offset = writer->section_off = wsi_outfile_size(writer->file);
	shdr->addralign = ALIGNMENT;
	header_fill(writer->header, shdr);
	writer->n_sections++;
	writer->in_section = true;
	return WS_OK;
}

static enum ws_status parent_check(const struct wsi_section *section, struct ws_error *err)
{
	const struct wsi_kind_info *info = &wsi_kind_infos[section->kind];
	if (info->parent == WSI_KIND_NONE)
		return WS_OK;
	if (!section->parent || section->parent->kind != (uint32_t)info->parent)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "the parent of %s must be a %s",
				info->words, wsi_kind_infos[info->parent].words);
	if (section->row >= section->parent->n_rows)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "no row %u in the %s, which has %u",
				section->row, wsi_kind_infos[info->parent].words,
				section->parent->n_rows);
	return WS_OK;
}

enum ws_status wsi_section_begin(struct ws_writer *writer, const struct wsi_section *section,
				 struct ws_error *err)
{
	const struct wsi_kind_info *info = &wsi_kind_infos[section->kind];
	if (writer->in_section)
		return keep(writer, wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
					     "a %s begins inside another section", info->words));
	if (!wsi_writer_has(writer, section->kind))
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"the layout of r%u has no %s, which came with r%u", writer->driver,
				info->words, info->since);
	enum ws_status st = parent_check(section, err);
	if (st != WS_OK)
		return keep(writer, st);
	char name[NAME_BYTES];
	size_t name_len = section_name(writer, section, name);
	struct wsi_shdr shdr = {
		.type = WSI_CUDBG_SHT_BASE + (uint32_t)section->kind,
		.addr = section->address,
		.link = section->parent ? section->parent->section : 0,
		.info = section->parent ? section->row : 0,
		.entsize = section->entry_bytes,
	};
	return keep(writer, section_add(writer, name, name_len, &shdr, err));
}

enum ws_status wsi_section_append(struct ws_writer *writer, const void *bytes, size_t n,
				  struct ws_error *err)
{
	return keep(writer, wsi_outfile_append(writer->file, bytes, n, err));
}

enum ws_status wsi_section_end(struct ws_writer *writer, struct ws_error *err)
{
	writer->in_section = false;
	wsi_store_u64(writer->header + 32, wsi_outfile_size(writer->file) - writer->section_off);
	return keep(writer, wsi_scratch_append(&writer->headers, writer->header,
					       sizeof writer->header, err));
}

/* ---- the end ---- */

static enum ws_status strings_add(struct ws_writer *writer, const char *name,
				  struct wsi_scratch *from, struct ws_error *err)
{
	struct wsi_shdr shdr = { .type = WSI_SHT_STRTAB };
	enum ws_status st = section_add(writer, name, strlen(name), &shdr, err);
	if (st == WS_OK)
		st = wsi_outfile_append_scratch(writer->file, from, err);
	return st == WS_OK ? wsi_section_end(writer, err) : st;
}

/* Section 0 holds the number of sections and the index of their names, whatever they are: so the
 * driver writes it too, in small dumps as well [public: a 13.6 MB dump in an issue]. */
static enum ws_status headers_add(struct ws_writer *writer, uint64_t *ret_off, struct ws_error *err)
{
	struct wsi_shdr first = { .size = writer->n_sections, .link = writer->n_sections - 1 };
	uint8_t header[64];
	header_fill(header, &first);
	enum ws_status st = align(writer, err);
	*ret_off = wsi_outfile_size(writer->file);
	if (st == WS_OK)
		st = wsi_outfile_append(writer->file, header, sizeof header, err);
	if (st == WS_OK)
		st = wsi_outfile_append_scratch(writer->file, &writer->headers, err);
	return st;
}

static void elf_header_fill(uint8_t head[WSI_ELF_HEADER_BYTES], uint64_t headers_off)
{
	memset(head, 0, WSI_ELF_HEADER_BYTES);
	memcpy(head,
	       "\x7f"
	       "ELF\2\1\1",
	       7); /* 64 bits, little endian, version 1 */
	head[7] = WSI_ELFOSABI_CUDA;
	head[8] = DUMP_ABI_VERSION;
	wsi_store_u16(head + 16, WSI_ET_CORE);
	wsi_store_u16(head + 18, WSI_EM_CUDA);
	wsi_store_u32(head + 20, 1);
	wsi_store_u64(head + 40, headers_off);
	wsi_store_u16(head + 52, WSI_ELF_HEADER_BYTES);
	wsi_store_u16(head + 58, WSI_SHDR_BYTES);
	wsi_store_u16(head + 62, WSI_SHN_XINDEX); /* e_shnum stays 0: see section 0 */
}

enum ws_status ws_writer_commit(struct ws_writer *writer, struct ws_error *err)
{
	if (writer->failed || writer->in_section)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "the dump is not whole: %s",
				writer->failed ? "an earlier call failed" : "a section is open");
	uint64_t headers_off;
	enum ws_status st = strings_add(writer, ".strtab", &writer->texts, err);
	if (st == WS_OK)
		st = strings_add(writer, ".shstrtab", &writer->names, err);
	if (st == WS_OK)
		st = headers_add(writer, &headers_off, err);
	if (st != WS_OK)
		return keep(writer, st);
	uint8_t head[WSI_ELF_HEADER_BYTES];
	elf_header_fill(head, headers_off);
	writer->failed = true; /* committed once */
	return wsi_outfile_commit(writer->file, head, err);
}
