/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file is. A dump is accepted if enough of it is recognisable, whatever else is damaged; any
 * other file is refused with one line that says what it seems to be and, for the host's core of a
 * program that used the GPU, where the GPU's dump is likely to be.
 */
#include "target/dump/dump.h"

#include "text/utf8.h"

enum { SHORTEST_TELLING = 20 }; /* the ELF identification and its type and machine */

/* Whether any section header is of the dump format. */
static bool has_dump_sections(const struct wsi_elf *elf)
{
	enum { LOOK = 1000 };
	uint64_t n = wsi_min_u64(elf->n_present, LOOK);
	for (uint64_t i = 1; i < n; i++) {
		if (wsi_kind_of(wsi_elf_shdr(elf, i).type) != WSI_KIND_NONE)
			return true;
	}
	return false;
}

/* First bytes are text when they are UTF-8 without control characters. */
static bool looks_like_text(struct ws_span bytes)
{
	size_t n = bytes.len < 512 ? bytes.len : 512;
	for (size_t at = 0; at < n;) {
		size_t len = wsi_utf8_len((const char *)bytes.ptr + at, bytes.len - at);
		uint8_t c = wsi_at_u8(bytes, at);
		if (len == 0 || (c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f'))
			return false;
		at += len;
	}
	return true;
}

static bool starts_with(struct ws_span bytes, const char *magic, size_t len)
{
	return bytes.len >= len && memcmp(bytes.ptr, magic, len) == 0;
}

static enum ws_status refuse_other(struct ws_span bytes, struct ws_error *err)
{
	static const struct {
		uint64_t off;
		const char *magic;
		size_t len;
		const char *words;
	} kinds[] = {
		{ 0, "\x50\xed\x55\xba", 4, "a fatbin (GPU code)" },
		{ 257, "ustar", 5, "a tar archive; unpack it first" },
		{ 0, "MDMP", 4, "a Windows minidump" },
		{ 0, "!<arch>\n", 8, "a static library (an ar archive)" },
		{ 0, "MZ", 2, "a Windows program or library" },
		{ 0, "SQLite format 3", 15, "an SQLite database" },
	};
	for (size_t i = 0; i < WSI_COUNT(kinds); i++) {
		struct ws_span at;
		if (ws_span_sub(bytes, kinds[i].off, kinds[i].len, &at) &&
		    memcmp(at.ptr, kinds[i].magic, kinds[i].len) == 0)
			return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
					"not a GPU core dump: this is %s", kinds[i].words);
	}
	if (looks_like_text(bytes))
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"not a GPU core dump: this is text");
	if (bytes.len < SHORTEST_TELLING)
		return wsi_fail(err, WS_TRUNCATED, WS_NO_OFFSET,
				"too short to tell what it is: %zu bytes", bytes.len);
	return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
			"not a GPU core dump: it does not begin like an ELF file");
}

static const char *machine_words(uint16_t machine)
{
	switch (machine) {
	case 3:
		return "x86";
	case 21:
		return "ppc64le";
	case 62:
		return "x86-64";
	case 183:
		return "arm64";
	default:
		return "unknown machine";
	}
}

/* Whether the notes and strings near the start of a host's core name the CUDA driver. */
static bool mentions_cuda(const struct wsi_input *source)
{
	static const char name[] = "libcuda.so";
	struct ws_span bytes;
	if (wsi_input_hold(source, wsi_input_clip(source, 0, 4u << 20), &bytes, NULL) != WS_OK)
		return false;
	size_t n = bytes.len;
	const uint8_t *at = bytes.ptr;
	while (n >= sizeof name - 1) {
		const uint8_t *hit = memchr(at, name[0], n - (sizeof name - 2));
		if (!hit)
			return false;
		if (memcmp(hit, name, sizeof name - 1) == 0)
			return true;
		n -= (size_t)(hit + 1 - at);
		at = hit + 1;
	}
	return false;
}

/* Whether an ELF file names a loader: programs do, also those that can be loaded anywhere, and
 * libraries do not [public doc: System V ABI, chapter 5, PT_INTERP]. */
static bool names_loader(const struct wsi_elf *elf)
{
	enum { PHDR_BYTES = 56, PT_INTERP = 3 };
	uint8_t scratch[PHDR_BYTES];
	for (uint32_t i = 0; i < elf->phnum; i++) {
		uint64_t off = wsi_add_sat(elf->phoff, (uint64_t)i * PHDR_BYTES);
		if (wsi_input_clip(&elf->file, off, PHDR_BYTES).len < PHDR_BYTES)
			return false;
		const uint8_t *at = wsi_input_view(&elf->file, off, PHDR_BYTES, scratch);
		if (!at || wsi_load_u32(at) == PT_INTERP)
			return at != NULL;
	}
	return false;
}

static const char *elf_words(const struct wsi_elf *elf)
{
	switch (elf->type) {
	case WSI_ET_REL:
		return "an object file";
	case WSI_ET_EXEC:
		return "a program";
	case WSI_ET_DYN:
		return names_loader(elf) ? "a program" : "a shared library";
	default:
		return "an ELF file";
	}
}

static enum ws_status refuse_elf(const struct wsi_elf *elf, struct ws_error *err)
{
	if (elf->type == WSI_ET_CORE && mentions_cuda(&elf->file))
		return wsi_fail(
			err, WS_UNSUPPORTED, WS_NO_OFFSET,
			"the host's core (%s) of a CUDA program, not the GPU's dump: look for "
			"core_*.nvcudmp (or CUDA_COREDUMP_FILE) in the program's working directory",
			machine_words(elf->machine));
	if (elf->type == WSI_ET_CORE)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"a core of a host process (%s), not of a GPU: set "
				"CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 to get a GPU's",
				machine_words(elf->machine));
	if (elf->machine == WSI_EM_CUDA)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"not a GPU core dump: this is a cubin (GPU code)");
	return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "not a GPU core dump: this is %s (%s)",
			elf_words(elf), machine_words(elf->machine));
}

bool wsi_core_has_magic(struct ws_span bytes)
{
	return starts_with(bytes,
			   "\x7f"
			   "ELF",
			   bytes.len < 4 ? bytes.len : 4);
}

enum ws_status wsi_core_identify(struct ws_core *core, struct ws_error *err)
{
	enum { LOOK = 1024 };
	struct ws_span bytes; /* the first ones */
	if (core->source.size == 0)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "the file is empty");
	enum ws_status st =
		wsi_input_hold(&core->source, wsi_input_clip(&core->source, 0, LOOK), &bytes, err);
	if (st != WS_OK)
		return st;
	if (!wsi_core_has_magic(bytes))
		return refuse_other(bytes, err);
	if (bytes.len < SHORTEST_TELLING)
		return wsi_fail(err, WS_TRUNCATED, WS_NO_OFFSET,
				"too short to tell what it is: %zu bytes", bytes.len);
	bool is_core = wsi_at_u16(bytes, 16) == WSI_ET_CORE && wsi_at_u16(bytes, 18) == WSI_EM_CUDA;
	st = wsi_elf_open_input(&core->source, &core->elf, err);
	if (st == WS_OK && core->source.windows)
		st = wsi_input_hold(&core->source, wsi_elf_headers(&core->elf), &core->elf.headers,
				    err);
	if (st == WS_IO || st == WS_LIMIT || st == WS_NO_MEMORY)
		return st;
	if (st != WS_OK && !is_core)
		return st;
	if (st != WS_OK) { /* a dump, but nothing of its headers can be read */
		core->elf = (struct wsi_elf){ .file = core->source, .shentsize = WSI_SHDR_BYTES };
		wsi_core_note(core, WSI_TOPIC_FILE, WS_HIDES_FAULT,
			      bytes.len < WSI_ELF_HEADER_BYTES ? bytes.len : 0,
			      "the ELF header is damaged: no section can be found");
		return WS_OK;
	}
	if (is_core)
		return WS_OK;
	if (core->elf.osabi != WSI_ELFOSABI_CUDA || !has_dump_sections(&core->elf))
		return refuse_elf(&core->elf, err);
	wsi_core_note(
		core, WSI_TOPIC_FILE, WS_HIDES_NOTHING, 16,
		"ELF type %u and machine %u are not those of a GPU core dump, its sections are",
		core->elf.type, core->elf.machine);
	return WS_OK;
}
