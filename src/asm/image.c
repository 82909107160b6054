/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The third step: the ELF file, laid out as linked images of nvcc 13.0 are (ABI version 8), or as
 * its objects, which have no program headers:
 *
 *   header | names | symbols | notes | .nv.info... | relocations | constants | code
 *          | initial data | section headers | program headers
 *
 * All sections start at address 0; symbols count from their section. Symbol numbers are needed
 * inside sections (.nv.info, relocations) and section numbers inside symbols, so the sections are
 * numbered first, then the symbols, and contents are made last.
 */
#include "asm/asm.h"
#include "elf/cubin.h"
#include "elf/elf.h"

enum {
	PHDR_BYTES = 56,
	PT_LOAD = 1,
	PT_PHDR = 6,
	PF_X = 1,
	PF_W = 2,
	PF_R = 4,
	STB_SHIFT = 4,
	CODE_ALIGNMENT = 128,
};

struct section {
	struct wsi_shdr header; /* offset and size are filled in when the section is written */
	struct wsi_bytes bytes; /* NOBITS: none, header.size is the size */
};

struct asm_image {
	struct wsi_asm *a;
	struct section *sections; /* owned */
	size_t n, cap;
	uint32_t n_symbols, n_local;
	uint32_t shstrtab, strtab, symtab, tkinfo, cuinfo, info, compat, callgraph, action;
	uint32_t area[WSI_ASM_N_AREAS], area_rela[WSI_ASM_N_AREAS];
	uint32_t first_loaded, first_writable, first_unwritten; /* sections of the segments */
	struct wsi_bytes *out;
};

static struct wsi_bytes *bytes_of(struct asm_image *m, uint32_t section)
{
	return &m->sections[section].bytes;
}

/* ---- numbers of sections ---- */

static uint32_t add_section(struct asm_image *m, const char *prefix, struct ws_str suffix,
			    uint32_t type, uint64_t flags, uint64_t alignment)
{
	if (!wsi_asm_grow(m->a, &m->sections, &m->cap, m->n, sizeof *m->sections))
		return 0;
	struct section *section = &m->sections[m->n];
	*section = (struct section){
		.header = { .type = type, .flags = flags, .addralign = alignment }
	};
	if (m->n > 0) { /* section 1 has the names */
		struct wsi_bytes *names = m->n == 1 ? &section->bytes : bytes_of(m, 1);
		if (m->n == 1)
			wsi_bytes_number(names, 0, 1);
		section->header.name = (uint32_t)names->len;
		wsi_bytes_put(names, prefix, strlen(prefix));
		wsi_bytes_string(names, suffix);
	}
	return (uint32_t)m->n++;
}

static uint32_t add_plain(struct asm_image *m, const char *name, uint32_t type, uint64_t flags,
			  uint64_t alignment)
{
	return add_section(m, name, (struct ws_str){ "", 0 }, type, flags, alignment);
}

static void number_descriptions(struct asm_image *m)
{
	struct wsi_asm *a = m->a;
	add_plain(m, "", WSI_SHT_NULL, 0, 0);
	m->shstrtab = add_plain(m, ".shstrtab", WSI_SHT_STRTAB, 0, 1);
	m->strtab = add_plain(m, ".strtab", WSI_SHT_STRTAB, 0, 1);
	m->symtab = add_plain(m, ".symtab", WSI_SHT_SYMTAB, 0, 8);
	m->tkinfo = add_plain(m, ".note.nv.tkinfo", WSI_SHT_NOTE, WSI_SHF_NV_TKINFO, 4);
	m->cuinfo = add_plain(m, ".note.nv.cuinfo", WSI_SHT_NOTE,
			      WSI_SHF_NV_CUINFO | (a->sm >= 90 ? WSI_SHF_INFO_LINK : 0u), 4);
	m->info = add_plain(m, ".nv.info", WSI_SHT_NV_INFO, 0, 4);
	if (a->sm >= 90)
		m->compat = add_plain(m, ".nv.compat", WSI_SHT_NV_COMPAT, 0, 4);
	for (size_t i = 0; i < a->n_functions; i++)
		a->functions[i].info = add_section(m, ".nv.info.", a->functions[i].symbol_name,
						   WSI_SHT_NV_INFO, WSI_SHF_INFO_LINK, 4);
	m->callgraph = add_plain(m, ".nv.callgraph", WSI_SHT_NV_CALLGRAPH, 0, 4);
	if (a->sm < 90)
		m->action = add_plain(m, ".nv.rel.action", WSI_SHT_NV_REL_ACTION, 0, 8);
	for (size_t i = 0; i < a->n_functions; i++)
		if (a->functions[i].n_relocs)
			a->functions[i].rela =
				add_section(m, ".rela.text.", a->functions[i].symbol_name,
					    WSI_SHT_RELA, WSI_SHF_INFO_LINK, 8);
	for (size_t i = 0; i < a->n_functions; i++)
		if (a->functions[i].n_bank_relocs)
			a->functions[i].bank_rela =
				add_section(m, ".rela.nv.constant0.", a->functions[i].symbol_name,
					    WSI_SHT_RELA, WSI_SHF_INFO_LINK, 8);
	if (a->areas[WSI_ASM_CONSTANT].n_relocs)
		m->area_rela[WSI_ASM_CONSTANT] =
			add_plain(m, ".rela.nv.constant3", WSI_SHT_RELA, WSI_SHF_INFO_LINK, 8);
	if (a->areas[WSI_ASM_INIT].n_relocs)
		m->area_rela[WSI_ASM_INIT] =
			add_plain(m, ".rela.nv.global.init", WSI_SHT_RELA, WSI_SHF_INFO_LINK, 8);
}

static void number_area(struct asm_image *m, enum wsi_asm_area area, const char *name,
			uint32_t type, uint64_t flags)
{
	const struct wsi_asm_area_data *data = &m->a->areas[area];
	if (data->alignment)
		m->area[area] = add_plain(m, name, type, flags, data->alignment);
}

/* The type of a section of data: objects have the tool's own. */
static uint32_t data_type(const struct asm_image *m, uint32_t in_image, uint32_t in_object)
{
	return m->a->is_object ? in_object : in_image;
}

static void number_contents(struct asm_image *m)
{
	struct wsi_asm *a = m->a;
	m->first_loaded = (uint32_t)m->n;
	number_area(m, WSI_ASM_CONSTANT, ".nv.constant3",
		    data_type(m, WSI_SHT_PROGBITS, WSI_SHT_NV_CONSTANT0_REL + 3), WSI_SHF_ALLOC);
	for (size_t i = 0; i < a->n_functions; i++)
		if (a->functions[i].is_kernel)
			a->functions[i].constant0 = add_section(
				m, ".nv.constant0.", a->functions[i].symbol_name,
				data_type(m, WSI_SHT_PROGBITS, WSI_SHT_NV_CONSTANT0_REL),
				WSI_SHF_ALLOC | WSI_SHF_INFO_LINK, 4);
	for (size_t i = 0; i < a->n_functions; i++)
		a->functions[i].text =
			add_section(m, ".text.", a->functions[i].symbol_name, WSI_SHT_PROGBITS,
				    WSI_SHF_ALLOC | WSI_SHF_EXECINSTR, CODE_ALIGNMENT);
	m->first_writable = (uint32_t)m->n;
	number_area(m, WSI_ASM_INIT, ".nv.global.init",
		    data_type(m, WSI_SHT_PROGBITS, WSI_SHT_NV_INIT_REL),
		    WSI_SHF_WRITE | WSI_SHF_ALLOC);
	m->first_unwritten = (uint32_t)m->n;
	for (size_t i = 0; i < a->n_functions; i++)
		if (a->functions[i].shared_bytes)
			a->functions[i].shared =
				add_section(m, ".nv.shared.", a->functions[i].symbol_name,
					    data_type(m, WSI_SHT_NOBITS, WSI_SHT_NV_SHARED_REL),
					    WSI_SHF_WRITE | WSI_SHF_ALLOC | WSI_SHF_INFO_LINK, 16);
	number_area(m, WSI_ASM_ZERO, ".nv.global",
		    data_type(m, WSI_SHT_NOBITS, WSI_SHT_NV_GLOBAL_REL),
		    WSI_SHF_WRITE | WSI_SHF_ALLOC);
}

/* ---- symbols ---- */

static uint32_t add_symbol(struct asm_image *m, struct ws_str name, unsigned binding, unsigned type,
			   unsigned other, uint32_t section, uint64_t value, uint64_t size)
{
	struct wsi_bytes *table = bytes_of(m, m->symtab), *strings = bytes_of(m, m->strtab);
	wsi_bytes_number(table, name.len ? wsi_bytes_string(strings, name) : 0, 4);
	wsi_bytes_number(table, binding << STB_SHIFT | type, 1);
	wsi_bytes_number(table, other, 1);
	wsi_bytes_number(table, section, 2);
	wsi_bytes_number(table, value, 8);
	wsi_bytes_number(table, size, 8);
	return m->n_symbols++;
}

static uint32_t add_section_symbol(struct asm_image *m, uint32_t section)
{
	return add_symbol(m, (struct ws_str){ "", 0 }, WSI_ASM_LOCAL, WSI_STT_SECTION, 0, section,
			  0, 0);
}

/* Functions of one binding. */
static void add_functions(struct asm_image *m, bool local)
{
	struct wsi_asm *a = m->a;
	for (size_t i = 0; i < a->n_functions; i++) {
		struct wsi_asm_function *f = &a->functions[i];
		if ((f->binding == WSI_ASM_LOCAL) != local)
			continue;
		f->symbol =
			add_symbol(m, f->symbol_name, f->binding, WSI_STT_FUNC,
				   f->is_kernel ? WSI_STO_CUDA_ENTRY : 0, f->text, 0, f->code.len);
		wsi_asm_find(a, WSI_ASM_FILE, f->name)->symbol = f->symbol;
	}
}

/* The symbol of a variable. An object's have a type of their own, and tell where they lie. */
static uint32_t add_variable_symbol(struct asm_image *m, const struct wsi_asm_name *name,
				    unsigned binding, unsigned other, uint32_t section,
				    uint64_t value, uint64_t size)
{
	return add_symbol(m, name->symbol_name, binding,
			  other ? WSI_STT_CUDA_OBJECT : WSI_STT_OBJECT, other, section, value,
			  size);
}

/* Shared memory, whose symbols have their alignment as value: it is the linker that places them. */
static void add_shared(struct asm_image *m)
{
	struct wsi_asm *a = m->a;
	for (size_t i = 0; i < a->n_names; i++) {
		struct wsi_asm_name *name = &a->names[i];
		if (name->kind == WSI_ASM_SHARED && a->functions[name->scope].shared)
			name->symbol = add_variable_symbol(
				m, name, WSI_ASM_LOCAL, WSI_STO_CUDA_SHARED,
				a->functions[name->scope].shared, name->item, name->size);
	}
}

static void add_objects(struct asm_image *m, bool local)
{
	struct wsi_asm *a = m->a;
	for (size_t i = 0; i < a->n_names; i++) {
		struct wsi_asm_name *name = &a->names[i];
		if (name->kind != WSI_ASM_DATA || a->objects[name->item].is_local != local)
			continue;
		const struct wsi_asm_object *object = &a->objects[name->item];
		unsigned other = object->is_constant ? WSI_STO_CUDA_CONSTANT : WSI_STO_CUDA_GLOBAL;
		name->symbol =
			add_variable_symbol(m, name, local ? WSI_ASM_LOCAL : WSI_ASM_GLOBAL,
					    m->a->is_object ? other : 0, m->area[object->area],
					    object->offset, object->size);
	}
}

static void add_local_symbols(struct asm_image *m)
{
	struct wsi_asm *a = m->a;
	wsi_bytes_number(bytes_of(m, m->strtab), 0, 1);
	add_symbol(m, (struct ws_str){ "", 0 }, 0, 0, 0, 0, 0, 0);
	for (size_t i = 0; i < a->n_functions; i++) {
		struct wsi_asm_function *f = &a->functions[i];
		add_section_symbol(m, f->text);
		if (f->constant0)
			f->constant0_symbol = add_section_symbol(m, f->constant0);
		if (f->shared)
			add_section_symbol(m, f->shared);
	}
	for (unsigned i = 0; i < WSI_ASM_N_AREAS; i++)
		if (m->area[i])
			add_section_symbol(m, m->area[i]);
	for (size_t i = 0; i < a->n_names; i++) {
		struct wsi_asm_name *name = &a->names[i];
		if (name->kind == WSI_ASM_INNER)
			name->symbol =
				add_symbol(m, name->symbol_name, WSI_ASM_LOCAL, WSI_STT_FUNC, 0,
					   a->functions[name->scope].text, name->value, name->size);
	}
	if (a->is_object)
		add_shared(m);
	add_functions(m, true);
	add_objects(m, true);
}

static void add_symbols(struct asm_image *m)
{
	struct wsi_asm *a = m->a;
	add_local_symbols(m);
	m->n_local = m->n_symbols;
	add_functions(m, false);
	add_objects(m, false);
	for (size_t i = 0; i < a->n_names; i++) {
		struct wsi_asm_name *name = &a->names[i];
		if (name->kind == WSI_ASM_EXTERN)
			name->symbol = add_symbol(m, name->symbol_name, WSI_ASM_GLOBAL,
						  WSI_STT_FUNC, 0, 0, 0, 0);
		else if (name->kind == WSI_ASM_EXTERN_DATA)
			name->symbol = add_symbol(m, name->symbol_name, WSI_ASM_GLOBAL, name->type,
						  name->other, 0, 0, 0);
	}
}

/* ---- contents ---- */

static void set_links(struct asm_image *m, uint32_t section, uint32_t link, uint32_t info,
		      uint32_t entry_bytes)
{
	m->sections[section].header.link = link;
	m->sections[section].header.info = info;
	m->sections[section].header.entsize = entry_bytes;
}

static void put_relocs(struct asm_image *m, uint32_t section, uint32_t relocated,
		       uint32_t own_symbol, const struct wsi_asm_reloc *relocs, size_t n)
{
	struct wsi_bytes *out = bytes_of(m, section);
	for (size_t i = 0; i < n; i++) {
		uint64_t symbol = relocs[i].is_own ? own_symbol
				  : relocs[i].name == WSI_ASM_NO_NAME
					  ? 0
					  : m->a->names[relocs[i].name].symbol;
		wsi_bytes_number(out, relocs[i].off, 8);
		wsi_bytes_number(out, symbol << 32 | relocs[i].type, 8);
		wsi_bytes_number(out, (uint64_t)relocs[i].addend, 8);
	}
	set_links(m, section, m->symtab, relocated, WSI_RELA_BYTES);
}

static void fill_function(struct asm_image *m, struct wsi_asm_function *f)
{
	struct wsi_asm *a = m->a;
	uint32_t regs = a->sm < 90 ? f->regs << 24 : 0; /* later only .nv.info has them */
	wsi_bytes_put(bytes_of(m, f->text), f->code.ptr, f->code.len);
	set_links(m, f->text, m->symtab, f->symbol | regs, 0);
	wsi_asm_function_info(a, f, bytes_of(m, f->info));
	set_links(m, f->info, m->symtab, f->text, 0);
	if (f->constant0) {
		const struct wsi_asm_reloc *relocs =
			f->n_bank_relocs ? &a->relocs[f->first_bank_reloc] : NULL;
		uint32_t size = f->param_base + f->param_bytes;
		for (size_t i = 0; i < f->n_bank_relocs; i++)
			size = relocs[i].off + 4 > size ? relocs[i].off + 4 : size;
		wsi_bytes_zero(bytes_of(m, f->constant0), size);
		set_links(m, f->constant0, 0, f->text, 0);
		if (f->bank_rela)
			put_relocs(m, f->bank_rela, f->constant0, f->symbol, relocs,
				   f->n_bank_relocs);
	}
	if (f->shared) {
		m->sections[f->shared].header.size = f->shared_bytes;
		set_links(m, f->shared, 0, f->text, 0);
	}
	if (f->rela)
		put_relocs(m, f->rela, f->text, f->symbol, &a->relocs[f->first_reloc], f->n_relocs);
}

static void fill_sections(struct asm_image *m)
{
	struct wsi_asm *a = m->a;
	set_links(m, m->symtab, m->strtab, m->n_local, WSI_SYM_BYTES);
	wsi_asm_tkinfo(a, bytes_of(m, m->tkinfo));
	wsi_asm_cuinfo(a, bytes_of(m, m->cuinfo));
	set_links(m, m->cuinfo, m->tkinfo, m->compat, 0);
	wsi_asm_info(a, bytes_of(m, m->info));
	set_links(m, m->info, m->symtab, 0, 0);
	if (m->compat)
		wsi_asm_compat(a, bytes_of(m, m->compat));
	wsi_asm_callgraph(a, bytes_of(m, m->callgraph));
	set_links(m, m->callgraph, m->symtab, 0, 8);
	if (m->action) { /* the same in every image that was looked at */
		wsi_bytes_number(bytes_of(m, m->action), 0x73, 8);
		wsi_bytes_number(bytes_of(m, m->action), 0x3605002511000000, 8);
		set_links(m, m->action, 0, 0, 8);
	}
	for (size_t i = 0; i < a->n_functions; i++)
		fill_function(m, &a->functions[i]);
	for (unsigned i = 0; i < WSI_ASM_N_AREAS; i++) {
		const struct wsi_asm_area_data *data = &a->areas[i];
		if (!m->area[i])
			continue;
		wsi_bytes_put(bytes_of(m, m->area[i]), data->bytes.ptr, data->bytes.len);
		if (i == WSI_ASM_ZERO)
			m->sections[m->area[i]].header.size = data->size;
		if (m->area_rela[i])
			put_relocs(m, m->area_rela[i], m->area[i], 0, data->relocs, data->n_relocs);
	}
}

/* ---- the file ---- */

static void put_header(struct asm_image *m, uint64_t section_headers, uint64_t program_headers,
		       unsigned n_segments)
{
	static const uint8_t ident[16] = { 0x7f, 'E', 'L', 'F', 2, 1, 1, WSI_ELFOSABI_CUDA_V8, 8 };
	struct wsi_bytes head = { .ptr = NULL };
	uint32_t flags = m->cuinfo << 24 | m->a->sm << 8 | (m->a->sm >= 100 ? 2 : 4);
	wsi_bytes_put(&head, ident, sizeof ident);
	wsi_bytes_number(&head, m->a->is_object ? WSI_ET_REL : WSI_ET_EXEC, 2);
	wsi_bytes_number(&head, WSI_EM_CUDA, 2);
	wsi_bytes_number(&head, 1, 4);
	wsi_bytes_number(&head, 0, 8);
	wsi_bytes_number(&head, program_headers, 8);
	wsi_bytes_number(&head, section_headers, 8);
	wsi_bytes_number(&head, flags, 4);
	wsi_bytes_number(&head, WSI_ELF_HEADER_BYTES, 2);
	wsi_bytes_number(&head, n_segments ? PHDR_BYTES : 0, 2);
	wsi_bytes_number(&head, n_segments, 2);
	wsi_bytes_number(&head, WSI_SHDR_BYTES, 2);
	wsi_bytes_number(&head, m->n, 2);
	wsi_bytes_number(&head, m->shstrtab, 2);
	m->out->failed |= head.failed;
	if (!m->out->failed)
		memcpy(m->out->ptr, head.ptr, WSI_ELF_HEADER_BYTES);
	wsi_bytes_fini(&head);
}

static void put_sections(struct asm_image *m)
{
	for (size_t i = 1; i < m->n; i++) {
		struct section *section = &m->sections[i];
		wsi_bytes_align(m->out, section->header.addralign);
		section->header.offset = m->out->len;
		m->out->failed |= section->bytes.failed;
		if (section->bytes.len) /* of a section without bytes the size is known */
			section->header.size = section->bytes.len;
		wsi_bytes_put(m->out, section->bytes.ptr, section->bytes.len);
	}
}

static void put_section_headers(struct asm_image *m)
{
	for (size_t i = 0; i < m->n; i++) {
		uint8_t header[WSI_SHDR_BYTES];
		wsi_shdr_store(header, &m->sections[i].header);
		wsi_bytes_put(m->out, header, sizeof header);
	}
}

static void put_segment(struct asm_image *m, uint32_t type, uint32_t flags, uint64_t offset,
			uint64_t file_bytes, uint64_t memory_bytes)
{
	wsi_bytes_number(m->out, type, 4);
	wsi_bytes_number(m->out, flags, 4);
	wsi_bytes_number(m->out, offset, 8);
	wsi_bytes_number(m->out, 0, 8);
	wsi_bytes_number(m->out, 0, 8);
	wsi_bytes_number(m->out, file_bytes, 8);
	wsi_bytes_number(m->out, memory_bytes, 8);
	wsi_bytes_number(m->out, 8, 8);
}

/* The segment of the sections from `first` to before `end`; those from `unwritten` on have no
 * bytes. */
static void put_load(struct asm_image *m, uint32_t flags, uint32_t first, uint32_t unwritten,
		     uint32_t end)
{
	const struct wsi_shdr *at = &m->sections[first].header;
	uint64_t bytes = 0, memory;
	if (unwritten > first) {
		const struct wsi_shdr *last = &m->sections[unwritten - 1].header;
		bytes = last->offset + last->size - at->offset;
	}
	memory = bytes;
	for (uint32_t i = unwritten; i < end; i++)
		memory += m->sections[i].header.size;
	put_segment(m, PT_LOAD, flags, at->offset, bytes, memory);
}

static void put_file(struct asm_image *m)
{
	uint32_t end = (uint32_t)m->n;
	bool has_code = m->first_writable > m->first_loaded, has_data = end > m->first_writable;
	unsigned n_segments = 2u + has_code + has_data;
	wsi_bytes_zero(m->out, WSI_ELF_HEADER_BYTES);
	put_sections(m);
	wsi_bytes_align(m->out, 8);
	uint64_t section_headers = m->out->len;
	put_section_headers(m);
	if (m->a->is_object) {
		put_header(m, section_headers, 0, 0);
		return;
	}
	uint64_t program_headers = m->out->len, bytes = (uint64_t)n_segments * PHDR_BYTES;
	put_segment(m, PT_PHDR, PF_R | PF_X, program_headers, bytes, bytes);
	if (has_code)
		put_load(m, PF_R | PF_X, m->first_loaded, m->first_writable, m->first_writable);
	if (has_data)
		put_load(m, PF_R | PF_W, m->first_writable, m->first_unwritten, end);
	put_segment(m, PT_LOAD, PF_R | PF_X, program_headers, bytes, bytes);
	put_header(m, section_headers, program_headers, n_segments);
}

void wsi_asm_image(struct wsi_asm *a, struct wsi_bytes *ret_image)
{
	struct asm_image m = { .a = a, .out = ret_image };
	number_descriptions(&m);
	number_contents(&m);
	if (!a->no_memory) {
		add_symbols(&m);
		fill_sections(&m);
		put_file(&m);
	}
	for (size_t i = 0; i < m.n; i++)
		wsi_bytes_fini(&m.sections[i].bytes);
	wsi_free(m.sections);
}
