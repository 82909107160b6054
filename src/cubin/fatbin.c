/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fatbin container [measured: nvcc 13.0; docs/formats/fatbin.md].
 *
 *   container: u32 magic, u16 version, u16 header size, u64 size of what follows
 *     entry: header (64 bytes and options), payload; the next entry follows
 *     ...
 *   padding to 8 bytes; the next container
 */
#include "cubin/fatbin.h"

static const uint32_t magic = 0xba55ed50;

enum {
	CONTAINER_BYTES = 16,
	ENTRY_BYTES = 64,
	KIND_PTX = 1,
	KIND_ELF = 2,
	FLAG_LZ4 = 0x2000,
	FLAG_ZSTD = 0x8000,
};

bool wsi_cubin_is_fatbin(struct ws_span bytes)
{
	return bytes.len >= 4 && wsi_at_u32(bytes, 0) == magic;
}

static void damage_note(struct ws_error *damage, uint64_t file_off, const char *what)
{
	if (damage->status == WS_OK)
		wsi_fail(damage, WS_MALFORMED, file_off, "%s", what);
}

static enum ws_image_kind kind_of(uint16_t kind)
{
	return kind == KIND_ELF ? WS_IMAGE_CUBIN : kind == KIND_PTX ? WS_IMAGE_PTX : WS_IMAGE_OTHER;
}

/* Names of sources that were compiled twice end in a space. [measured: nvcc 13.0, the image of
 * linked code] */
static struct ws_str trimmed(struct ws_span name)
{
	struct ws_str text = { (const char *)name.ptr, name.len };
	while (text.len > 0 && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\0'))
		text.len--;
	return text;
}

/* The entry at `bytes` with its payload; its length, or 0 when it is broken. */
static uint64_t entry_parse(struct ws_span bytes, struct ws_image_entry *ret,
			    struct ws_span *ret_packed)
{
	if (bytes.len < ENTRY_BYTES)
		return 0;
	uint64_t header = wsi_at_u32(bytes, 4), payload = wsi_at_u64(bytes, 8);
	uint64_t packed_bytes = wsi_at_u32(bytes, 16), flags = wsi_at_u64(bytes, 40);
	if (header < ENTRY_BYTES || header > bytes.len || payload > bytes.len - header)
		return 0;
	struct ws_image_entry entry = {
		.kind = kind_of(wsi_at_u16(bytes, 0)),
		.sm = wsi_at_u32(bytes, 28),
		.flags = flags,
		.packed_bytes = payload,
		.image_bytes = payload,
		.file_off = bytes.origin + header,
		.source = { "", 0 },
	};
	if (flags & (FLAG_LZ4 | FLAG_ZSTD)) {
		entry.packing = flags & FLAG_ZSTD ? WS_IMAGE_ZSTD : WS_IMAGE_LZ4;
		if ((flags & FLAG_ZSTD) && (flags & FLAG_LZ4))
			entry.packing = WS_IMAGE_UNKNOWN_PACKING;
		entry.packed_bytes = wsi_min_u64(packed_bytes, payload);
		entry.image_bytes = wsi_at_u64(bytes, 56);
	}
	struct ws_span source;
	if (ws_span_sub(bytes, wsi_at_u32(bytes, 32), wsi_at_u32(bytes, 36), &source) &&
	    source.len > 0)
		entry.source = trimmed(source);
	if (!ws_span_sub(bytes, header, entry.packed_bytes, ret_packed))
		return 0;
	*ret = entry;
	return header + payload;
}

static bool container_list(struct ws_span entries, wsi_fatbin_take_fn *take, void *user,
			   struct ws_error *damage)
{
	while (entries.len > 0) {
		struct ws_image_entry entry;
		struct ws_span packed;
		uint64_t len = entry_parse(entries, &entry, &packed);
		if (len == 0) {
			damage_note(damage, entries.origin, "a fatbin entry is broken");
			return true;
		}
		if (!take(user, &entry, packed))
			return false;
		bool rest = ws_span_sub(entries, len, entries.len - len, &entries);
		assert(rest);
		(void)rest;
	}
	return true;
}

bool wsi_fatbin_list(struct ws_span bytes, wsi_fatbin_take_fn *take, void *user,
		     struct ws_error *ret_damage)
{
	uint64_t at = 0;
	while (bytes.len - at >= CONTAINER_BYTES) {
		if (wsi_at_u32(bytes, at) != magic) { /* padding, or what a linker put between */
			at += 8;
			if (at > bytes.len)
				break;
			continue;
		}
		uint64_t header = wsi_at_u16(bytes, at + 6), size = wsi_at_u64(bytes, at + 8);
		uint64_t room = bytes.len - at;
		if (header < CONTAINER_BYTES || header > room) {
			damage_note(ret_damage, bytes.origin + at, "a fatbin header is broken");
			at += 8;
			continue;
		}
		if (size > room - header) {
			damage_note(ret_damage, bytes.origin + at,
				    "a fatbin is longer than what holds it");
			size = room - header;
		}
		struct ws_span entries;
		bool inside = ws_span_sub(bytes, at + header, size, &entries);
		assert(inside);
		(void)inside;
		if (!container_list(entries, take, user, ret_damage))
			return false;
		at += header + size;
		at = wsi_min_u64(at + (8 - at % 8) % 8, bytes.len);
	}
	return true;
}
