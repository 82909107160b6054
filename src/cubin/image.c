/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that hold images. The first bytes say what a file is; then
 *
 *   cubin      one entry
 *   fatbin     its entries
 *   host ELF   the entries of its fatbin sections
 *   archive    the same of each member
 */
#include "cubin/fatbin.h"
#include "cubin/internal.h"

#include "base/file.h"
#include "base/unpack.h"

struct embedded_image {
	struct ws_image_entry entry;
	struct ws_span packed;  /* borrowed from the file */
	struct ws_span bytes;   /* unpacked */
	bool is_unpacked;       /* `bytes` was asked for and is there */
	uint8_t *unpacked;      /* owned; NULL for what is stored */
	struct ws_cubin *cubin; /* owned */
};

struct ws_image_file {
	struct wsi_file mapping;       /* owned; empty when opened over memory */
	struct embedded_image *images; /* owned */
	size_t n_images, cap_images;
	struct ws_error damage;        /* WS_OK: none */
	struct wsi_line_account lines; /* of all images */
	pthread_mutex_t lock;          /* held while an image is unpacked or opened */
};

/* What entries found now are in. */
struct image_listing {
	struct ws_image_file *file;
	struct ws_str container;
	bool relocatable;
};

static bool image_entry_take(void *user, const struct ws_image_entry *entry, struct ws_span packed)
{
	struct image_listing *in = user;
	struct ws_image_file *file = in->file;
	if (!wsi_grow(&file->images, &file->cap_images, file->n_images, sizeof *file->images,
		      SIZE_MAX / sizeof *file->images))
		return false;
	struct embedded_image *image = &file->images[file->n_images++];
	*image = (struct embedded_image){ .entry = *entry, .packed = packed };
	image->entry.container = in->container;
	image->entry.relocatable = in->relocatable;
	return true;
}

static enum ws_status out_of_memory(struct ws_error *err)
{
	return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "images of a file");
}

static enum ws_status cubin_list(struct image_listing *in, struct ws_span bytes,
				 struct ws_error *err)
{
	struct ws_cubin *cubin;
	enum ws_status st = ws_cubin_open(bytes, &cubin, err);
	if (st != WS_OK)
		return st;
	struct ws_cubin_facts facts;
	ws_cubin_facts(cubin, &facts);
	struct ws_image_entry entry = {
		.kind = WS_IMAGE_CUBIN,
		.sm = facts.sm,
		.source = { "", 0 },
		.file_off = bytes.origin,
		.packed_bytes = bytes.len,
		.image_bytes = bytes.len,
	};
	in->relocatable = facts.relocatable;
	if (!image_entry_take(in, &entry, bytes)) {
		ws_cubin_close(cubin);
		return out_of_memory(err);
	}
	cubin->line_account = &in->file->lines;
	in->file->images[in->file->n_images - 1].cubin = cubin;
	return WS_OK;
}

/* Sections that hold fatbins; the second kind has code that is still to be linked [measured]. */
static bool is_fatbin_section(const char *name, bool *ret_relocatable)
{
	*ret_relocatable = strstr(name, "relfatbin") != NULL;
	return strcmp(name, ".nv_fatbin") == 0 || strcmp(name, "__nv_relfatbin") == 0 ||
	       strcmp(name, "nv_fatbin") == 0;
}

static enum ws_status elf_list(struct image_listing *in, struct ws_span bytes, struct ws_error *err)
{
	struct wsi_elf elf;
	enum ws_status st = wsi_elf_open(bytes, &elf, err);
	if (st != WS_OK)
		return st;
	if (elf.machine == WSI_EM_CUDA)
		return cubin_list(in, bytes, err);
	bool named = in->container.len > 0;
	struct ws_error *damage = &in->file->damage;
	if (elf.n_present < elf.n_sections && damage->status == WS_OK)
		wsi_fail(damage, WS_TRUNCATED, bytes.origin + bytes.len,
			 "the file is cut: %" PRIu64 " of %" PRIu64 " section headers are there",
			 elf.n_present, elf.n_sections);
	for (uint64_t i = 1; i < elf.n_present; i++) {
		struct wsi_shdr shdr = wsi_elf_shdr(&elf, i);
		char name[WSI_NAME_HEAD];
		struct ws_span section;
		wsi_elf_name_head(&elf, &shdr, name);
		if (!is_fatbin_section(name, &in->relocatable))
			continue;
		if (!named)
			in->container = wsi_elf_name(&elf, &shdr);
		if (!wsi_elf_bytes(&elf, &shdr, &section) && damage->status == WS_OK)
			wsi_fail(damage, WS_TRUNCATED, section.origin + section.len,
				 "section %s is cut off", name);
		if (!wsi_fatbin_list(section, image_entry_take, in, damage))
			return out_of_memory(err);
	}
	return WS_OK;
}

/* ---- archives [public doc: ar(5)] ---- */

static const char archive_magic[] = "!<arch>\n";

enum { MEMBER_HEADER = 60 };

static uint64_t decimal(struct ws_span text)
{
	uint64_t value = 0;
	for (size_t i = 0; i < text.len && wsi_at_u8(text, i) >= '0' && wsi_at_u8(text, i) <= '9';
	     i++)
		value = value * 10 + (uint64_t)(wsi_at_u8(text, i) - '0'); /* 10 digits at most */
	return value;
}

/* "name/", or "/12": the offset of "name/\n" in the member "//". */
static struct ws_str member_name(struct ws_span header, struct ws_span long_names)
{
	struct ws_span text = { header.ptr, 16, header.origin };
	if (wsi_at_u8(text, 0) == '/' && wsi_at_u8(text, 1) >= '0' && wsi_at_u8(text, 1) <= '9') {
		struct ws_span number = { text.ptr + 1, 15, 0 };
		uint64_t off = decimal(number);
		if (off >= long_names.len ||
		    !ws_span_sub(long_names, off, wsi_min_u64(long_names.len - off, 4096), &text))
			return (struct ws_str){ "", 0 };
	}
	size_t len = 0;
	while (len < text.len && wsi_at_u8(text, len) != '/' && wsi_at_u8(text, len) != '\n')
		len++;
	return (struct ws_str){ (const char *)text.ptr, len };
}

static enum ws_status archive_list(struct image_listing *in, struct ws_span bytes,
				   struct ws_error *err)
{
	struct ws_span long_names = { 0 };
	uint64_t at = sizeof archive_magic - 1;
	while (at <= bytes.len && bytes.len - at >= MEMBER_HEADER) {
		struct ws_span header, size_text, member;
		bool inside = ws_span_sub(bytes, at, MEMBER_HEADER, &header) &&
			      ws_span_sub(header, 48, 10, &size_text);
		assert(inside);
		(void)inside;
		uint64_t size = decimal(size_text);
		at += MEMBER_HEADER;
		if (!ws_span_sub(bytes, at, size, &member)) {
			if (in->file->damage.status == WS_OK)
				wsi_fail(&in->file->damage, WS_TRUNCATED, header.origin,
					 "an archive member of %" PRIu64 " bytes is cut off", size);
			break;
		}
		at += size + size % 2;
		if (memcmp(header.ptr, "// ", 3) == 0) {
			long_names = member;
			continue;
		}
		struct image_listing inner = { .file = in->file,
					       .container = member_name(header, long_names) };
		/* what is no ELF file, as the table of symbols, has no code */
		if (member.len >= WSI_ELF_HEADER_BYTES &&
		    elf_list(&inner, member, err) == WS_NO_MEMORY)
			return WS_NO_MEMORY;
	}
	return WS_OK;
}

/* ---- opening ---- */

static enum ws_status file_list(struct ws_image_file *file, struct ws_span bytes,
				struct ws_error *err)
{
	struct image_listing in = { .file = file, .container = { "", 0 } };
	size_t n_magic = sizeof archive_magic - 1;
	enum ws_status st = WS_OK;
	if (bytes.len >= n_magic && memcmp(bytes.ptr, archive_magic, n_magic) == 0)
		st = archive_list(&in, bytes, err);
	else if (wsi_cubin_is_fatbin(bytes))
		st = wsi_fatbin_list(bytes, image_entry_take, &in, &file->damage)
			     ? WS_OK
			     : out_of_memory(err);
	else
		st = elf_list(&in, bytes, err);
	if (st == WS_OK && file->n_images == 0) {
		if (file->damage.status == WS_OK)
			return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no GPU code inside");
		if (err)
			*err = file->damage;
		return file->damage.status;
	}
	return st;
}

enum ws_status ws_image_file_open_memory(struct ws_span bytes, struct ws_image_file **ret_file,
					 struct ws_error *err)
{
	struct ws_image_file *file = wsi_zalloc(sizeof *file);
	if (!file || pthread_mutex_init(&file->lock, NULL) != 0) {
		wsi_free(file);
		return out_of_memory(err);
	}
	wsi_line_account_init(&file->lines);
	enum ws_status st = file_list(file, bytes, err);
	if (st != WS_OK) {
		ws_image_file_close(file);
		return st;
	}
	*ret_file = file;
	return WS_OK;
}

enum ws_status ws_image_file_open(const char *path, struct ws_image_file **ret_file,
				  struct ws_error *err)
{
	struct wsi_file mapping;
	enum ws_status st = wsi_file_open(path, &mapping, err);
	if (st != WS_OK)
		return st;
	struct ws_image_file *file;
	st = ws_image_file_open_memory(mapping.bytes, &file, err);
	if (st != WS_OK) {
		wsi_file_close(&mapping);
		return st;
	}
	file->mapping = mapping;
	*ret_file = file;
	return WS_OK;
}

void ws_image_file_release(struct ws_image_file *file, size_t index)
{
	assert(index < file->n_images);
	struct embedded_image *image = &file->images[index];
	ws_cubin_close(image->cubin);
	wsi_free(image->unpacked);
	image->cubin = NULL;
	image->unpacked = NULL;
	image->is_unpacked = false;
}

void ws_image_file_close(struct ws_image_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->n_images; i++)
		ws_image_file_release(file, i);
	wsi_free(file->images);
	wsi_file_close(&file->mapping);
	pthread_mutex_destroy(&file->lock);
	wsi_free(file);
}

size_t ws_image_file_count(const struct ws_image_file *file)
{
	return file->n_images;
}

const struct ws_image_entry *ws_image_file_at(const struct ws_image_file *file, size_t index)
{
	assert(index < file->n_images);
	return &file->images[index].entry;
}

bool ws_image_file_damage(const struct ws_image_file *file, struct ws_error *ret_err)
{
	if (file->damage.status != WS_OK && ret_err)
		*ret_err = file->damage;
	return file->damage.status != WS_OK;
}

/* ---- unpacking ---- */

/* The lock is held. */
static enum ws_status image_unpack(struct embedded_image *image, struct ws_error *err)
{
	const struct ws_image_entry *entry = &image->entry;
	if (entry->packing == WS_IMAGE_STORED) {
		image->bytes = image->packed;
		return WS_OK;
	}
	if (entry->packing == WS_IMAGE_UNKNOWN_PACKING)
		return wsi_fail(err, WS_UNSUPPORTED, entry->file_off,
				"an image packed in an unknown way");
	if (entry->image_bytes / WS_IMAGE_MAX_RATIO > entry->packed_bytes ||
	    entry->image_bytes > SIZE_MAX)
		return wsi_fail(err, WS_LIMIT, entry->file_off,
				"an image of %" PRIu64 " bytes claims to unpack to %" PRIu64,
				entry->packed_bytes, entry->image_bytes);
	size_t size = (size_t)entry->image_bytes;
	wsi_scoped_free uint8_t *bytes = wsi_zalloc(size);
	if (!bytes)
		return wsi_fail(err, WS_NO_MEMORY, entry->file_off, "an image of %zu bytes", size);
	enum ws_status st = entry->packing == WS_IMAGE_ZSTD
				    ? wsi_unpack_zstd(image->packed, bytes, size, err)
				    : wsi_unpack_lz4(image->packed, bytes, size, err);
	if (st != WS_OK)
		return st;
	image->unpacked = WSI_TAKE(bytes);
	image->bytes = (struct ws_span){ image->unpacked, size, 0 };
	return WS_OK;
}

static enum ws_status image_need(struct embedded_image *image, struct ws_error *err)
{
	if (image->is_unpacked)
		return WS_OK;
	enum ws_status st = image_unpack(image, err);
	image->is_unpacked = st == WS_OK;
	return st;
}

static enum ws_status index_check(const struct ws_image_file *file, size_t index,
				  struct ws_error *err)
{
	if (index < file->n_images)
		return WS_OK;
	return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "the file has no image %zu", index);
}

enum ws_status ws_image_file_bytes(struct ws_image_file *file, size_t index,
				   struct ws_span *ret_bytes, struct ws_error *err)
{
	enum ws_status st = index_check(file, index, err);
	if (st != WS_OK)
		return st;
	wsi_hold(&file->lock);
	st = image_need(&file->images[index], err);
	if (st == WS_OK)
		*ret_bytes = file->images[index].bytes;
	return st;
}

enum ws_status ws_image_file_cubin(struct ws_image_file *file, size_t index,
				   struct ws_cubin **ret_cubin, struct ws_error *err)
{
	enum ws_status st = index_check(file, index, err);
	if (st != WS_OK)
		return st;
	struct embedded_image *image = &file->images[index];
	if (image->entry.kind != WS_IMAGE_CUBIN)
		return wsi_fail(err, WS_UNSUPPORTED, image->entry.file_off, "not a cubin");
	wsi_hold(&file->lock);
	st = image_need(image, err);
	if (st == WS_OK && !image->cubin) {
		st = ws_cubin_open(image->bytes, &image->cubin, err);
		if (st == WS_OK)
			image->cubin->line_account = &file->lines;
	}
	if (st == WS_OK)
		*ret_cubin = image->cubin;
	return st;
}
