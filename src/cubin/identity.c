/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which machine code is this, and is it the same as that? docs/formats/code-identity.md is the
 * specification of the identity; its version is in the strings that each hash begins with.
 *
 * A loader writes addresses into code. In an image on disk the relocations tell where, in the
 * relocated image of a dump they may be gone. The identity must not depend on that, so it masks the
 * operand of every instruction of the kinds that carry relocations: MOV and UMOV of a 32-bit
 * immediate, and absolute calls and jumps [measured: 5 programs, sm_75 to sm_120, all 905
 * relocations of code are on these]. Two kernels that differ in such an immediate only have the
 * same identity, and so the comparison, which has the relocations of at least one side, proves.
 */
#include "cubin/internal.h"

#include "base/sha256.h"

static const char code_domain[] = "warpscope code 1";
static const char image_domain[] = "warpscope image 1";

/* Operation in bits 0-11 of an instruction [measured: docs/formats/sass.md]. */
enum {
	OP_JMP_ABS = 0x343,
	OP_MOV_IMM = 0x802,
	OP_UMOV_IMM = 0x882,
	OP_CALL_ABS = 0x943,
};

/* Bits 32-63: a 32-bit immediate. */
static const uint8_t mask_immediate[WSI_INSTRUCTION_BYTES] = {
	0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
};
/* Bits 16-23 and 34-80: an address / 4 [measured: relocations 58, 75, 114]. */
static const uint8_t mask_address[WSI_INSTRUCTION_BYTES] = {
	0xff, 0xff, 0, 0xff, 0x03, 0, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff,
};
/* Any relocation of code: both. */
static const uint8_t mask_relocated[WSI_INSTRUCTION_BYTES] = {
	0xff, 0xff, 0, 0xff, 0, 0, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff,
};

/* What to keep of an instruction by its kind; NULL: all. */
static const uint8_t *kind_mask(struct ws_span code, size_t off)
{
	switch (wsi_at_u16(code, off) & 0xfff) {
	case OP_MOV_IMM:
	case OP_UMOV_IMM:
		return mask_immediate;
	case OP_CALL_ABS:
	case OP_JMP_ABS:
		return mask_address;
	default:
		return NULL;
	}
}

/* Code of a whole section. */
static enum ws_status section_code(const struct ws_cubin *cubin, const struct wsi_cubin_code *code,
				   struct ws_span *ret_bytes, struct ws_error *err)
{
	struct ws_span bytes = wsi_cubin_bytes(cubin, code->section);
	if (bytes.len != code->size_bytes)
		return wsi_fail(err, WS_TRUNCATED, bytes.origin + bytes.len,
				"the code is cut off after %zu of %" PRIu64 " bytes", bytes.len,
				code->size_bytes);
	*ret_bytes = bytes;
	return WS_OK;
}

static void hash_u64(struct wsi_sha256 *hash, uint64_t value)
{
	uint8_t bytes[8];
	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	wsi_sha256_add(hash, bytes, sizeof bytes);
}

static void code_hash(struct ws_str name, struct ws_span code, struct ws_code_id *ret_id)
{
	struct wsi_sha256 hash;
	wsi_sha256_init(&hash);
	wsi_sha256_add(&hash, code_domain, sizeof code_domain);
	hash_u64(&hash, name.len);
	wsi_sha256_add(&hash, name.ptr, name.len);
	hash_u64(&hash, code.len);
	size_t plain = 0; /* from here on nothing needs a mask */
	size_t off = 0;
	for (; code.len - off >= WSI_INSTRUCTION_BYTES; off += WSI_INSTRUCTION_BYTES) {
		const uint8_t *mask = kind_mask(code, off);
		if (!mask)
			continue;
		uint8_t masked[WSI_INSTRUCTION_BYTES];
		for (unsigned i = 0; i < WSI_INSTRUCTION_BYTES; i++)
			masked[i] = wsi_at_u8(code, off + i) & mask[i];
		wsi_sha256_add(&hash, wsi_at(code, plain, off - plain), off - plain);
		wsi_sha256_add(&hash, masked, sizeof masked);
		plain = off + WSI_INSTRUCTION_BYTES;
	}
	wsi_sha256_add(&hash, wsi_at(code, plain, code.len - plain), code.len - plain);
	wsi_sha256_final(&hash, ret_id->bytes);
}

enum { LONGEST_SECTION_NAME = 4096 }; /* that an identity takes in */

/* Name of a code section: of its owner, else what follows ".text.". */
static struct ws_str code_name(const struct ws_cubin *cubin, const struct wsi_cubin_code *code)
{
	if (code->owner != WS_UNKNOWN)
		return cubin->functions[code->owner].name;
	static const char prefix[] = ".text.";
	struct ws_span names = cubin->elf.shstrtab, rest;
	uint64_t off = wsi_min_u64(wsi_cubin_shdr(cubin, code->section).name, names.len);
	bool inside =
		ws_span_sub(names, off, wsi_min_u64(names.len - off, LONGEST_SECTION_NAME), &rest);
	assert(inside);
	(void)inside;
	struct ws_str name;
	if (!wsi_span_cstr(rest, 0, &name))
		name = (struct ws_str){ (const char *)rest.ptr, rest.len };
	return wsi_str_begins(name, prefix) ? wsi_str_skip(name, sizeof prefix - 1) : name;
}

static enum ws_status section_id(const struct ws_cubin *cubin, const struct wsi_cubin_code *code,
				 struct ws_code_id *ret_id, struct ws_error *err)
{
	struct ws_span bytes;
	enum ws_status st = section_code(cubin, code, &bytes, err);
	if (st == WS_OK)
		code_hash(code_name(cubin, code), bytes, ret_id);
	return st;
}

enum ws_status ws_cubin_code_id(struct ws_cubin *cubin, const struct ws_function *function,
				struct ws_code_id *ret_id, struct ws_error *err)
{
	const struct wsi_cubin_code *code = wsi_cubin_code_of(cubin, function->section);
	if (!code)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"the function is not defined in the image");
	return section_id(cubin, code, ret_id, err);
}

static int id_order(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct ws_code_id));
}

enum ws_status ws_cubin_image_id(struct ws_cubin *cubin, struct ws_code_id *ret_id,
				 struct ws_error *err)
{
	enum ws_status st = wsi_cubin_need_symbols(cubin, err);
	if (st != WS_OK)
		return st;
	if (cubin->n_code == 0)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the image has no code");
	if (cubin->code_overlaps)
		return wsi_fail(err, WS_MALFORMED, cubin->image.origin,
				"the image has more code than bytes");
	wsi_scoped_free struct ws_code_id *ids = wsi_zalloc_array(cubin->n_code, sizeof *ids);
	if (!ids)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "code identities");
	for (uint32_t i = 0; i < cubin->n_code && st == WS_OK; i++)
		st = section_id(cubin, &cubin->code[i], &ids[i], err);
	if (st != WS_OK)
		return st;
	qsort(ids, cubin->n_code, sizeof *ids, id_order);
	struct wsi_sha256 hash;
	wsi_sha256_init(&hash);
	wsi_sha256_add(&hash, image_domain, sizeof image_domain);
	wsi_sha256_add(&hash, ids, cubin->n_code * sizeof *ids);
	wsi_sha256_final(&hash, ret_id->bytes);
	return WS_OK;
}

void ws_code_id_text(const struct ws_code_id *id, char ret_text[WS_CODE_ID_TEXT])
{
	static const char digits[] = "0123456789abcdef";
	for (unsigned i = 0; i < sizeof id->bytes; i++) {
		ret_text[2 * i] = digits[id->bytes[i] >> 4];
		ret_text[2 * i + 1] = digits[id->bytes[i] & 15];
	}
	ret_text[2 * sizeof id->bytes] = 0;
}

bool ws_code_id_parse(const char *text, struct ws_code_id *ret_id)
{
	struct ws_code_id id;
	if (strlen(text) != WS_CODE_ID_TEXT - 1)
		return false;
	for (unsigned i = 0; i < sizeof id.bytes; i++) {
		unsigned high = wsi_hex_digit(wsi_lower(text[2 * i]));
		unsigned low = wsi_hex_digit(wsi_lower(text[2 * i + 1]));
		if (high > 15 || low > 15)
			return false;
		id.bytes[i] = (uint8_t)(high << 4 | low);
	}
	*ret_id = id;
	return true;
}

/* ---- comparing ---- */

/* Whether an image tells which of its code a loader changes: on disk no table means nothing. */
static bool relocations_known(const struct ws_cubin *cubin, const struct wsi_cubin_code *code)
{
	return code->gpu_va == 0 || wsi_cubin_n_relocs(cubin, code->rel_section) > 0 ||
	       wsi_cubin_n_relocs(cubin, code->rela_section) > 0;
}

static void relocs_mark(const struct ws_cubin *cubin, uint32_t reloc_section, uint8_t *marks,
			uint64_t n_instructions)
{
	size_t n = wsi_cubin_n_relocs(cubin, reloc_section);
	for (size_t i = 0; i < n; i++) {
		uint64_t off = wsi_cubin_reloc(cubin, reloc_section, i).off;
		if (off / WSI_INSTRUCTION_BYTES < n_instructions)
			marks[off / WSI_INSTRUCTION_BYTES] = 1;
	}
}

/* Marks the instructions that have relocations. */
static void relocated_mark(const struct ws_cubin *cubin, const struct wsi_cubin_code *code,
			   uint8_t *marks, uint64_t n_instructions)
{
	relocs_mark(cubin, code->rel_section, marks, n_instructions);
	relocs_mark(cubin, code->rela_section, marks, n_instructions);
}

static unsigned instruction_compare(struct ws_span a, struct ws_span b, size_t off,
				    const uint8_t *mask)
{
	unsigned n = 0;
	for (unsigned i = 0; i < WSI_INSTRUCTION_BYTES && off + i < a.len; i++) {
		uint8_t changed = wsi_at_u8(a, off + i) ^ wsi_at_u8(b, off + i);
		n += (changed & (mask ? mask[i] : 0xff)) != 0;
	}
	return n;
}

/* `a` and `b` are of one length. */
static void code_bytes_compare(struct ws_span a, struct ws_span b, const uint8_t *marks,
			       struct ws_code_diff *diff)
{
	for (size_t off = 0; off < a.len; off += WSI_INSTRUCTION_BYTES) {
		const uint8_t *mask = NULL;
		if (marks[off / WSI_INSTRUCTION_BYTES])
			mask = mask_relocated;
		else if (!diff->addresses_known && a.len - off >= WSI_INSTRUCTION_BYTES)
			mask = kind_mask(a, off);
		diff->n_masked += mask != NULL;
		unsigned n = instruction_compare(a, b, off, mask);
		if (n > 0 && diff->n_instructions++ == 0)
			diff->first_off = off;
		diff->n_bytes += n;
	}
}

enum ws_status ws_code_compare(struct ws_cubin *cubin_a, const struct ws_function *function_a,
			       struct ws_cubin *cubin_b, const struct ws_function *function_b,
			       struct ws_code_diff *ret_diff, struct ws_error *err)
{
	const struct wsi_cubin_code *code_a = wsi_cubin_code_of(cubin_a, function_a->section);
	const struct wsi_cubin_code *code_b = wsi_cubin_code_of(cubin_b, function_b->section);
	if (!code_a || !code_b)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"the function is not defined in the image");
	struct ws_span a, b;
	enum ws_status st = section_code(cubin_a, code_a, &a, err);
	if (st == WS_OK)
		st = section_code(cubin_b, code_b, &b, err);
	if (st != WS_OK)
		return st;
	struct ws_code_diff diff = { .size_a = a.len, .size_b = b.len };
	diff.addresses_known =
		relocations_known(cubin_a, code_a) || relocations_known(cubin_b, code_b);
	size_t common = a.len < b.len ? a.len : b.len, longer = a.len < b.len ? b.len : a.len;
	size_t n_instructions = (common + WSI_INSTRUCTION_BYTES - 1) / WSI_INSTRUCTION_BYTES;
	wsi_scoped_free uint8_t *marks = wsi_zalloc(n_instructions);
	if (!marks)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "comparing code");
	relocated_mark(cubin_a, code_a, marks, n_instructions);
	relocated_mark(cubin_b, code_b, marks, n_instructions);
	a.len = b.len = common;
	code_bytes_compare(a, b, marks, &diff);
	if (diff.n_bytes == 0)
		diff.first_off = common;
	diff.n_bytes += longer - common;
	diff.n_instructions += (longer - common) / WSI_INSTRUCTION_BYTES;
	diff.equal = diff.n_bytes == 0 && diff.addresses_known;
	*ret_diff = diff;
	return WS_OK;
}
