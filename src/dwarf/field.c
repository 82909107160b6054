/* SPDX-License-Identifier: Apache-2.0 */
/* From a byte of a structure to the field that it belongs to. */
#include "dwarf/dwarf.h"

struct finder {
	struct wsi_dwarf_look look;
	char *text;
	size_t size, len;
	uint64_t start;  /* of `type` in the outermost structure */
	uint64_t offset; /* of the byte in `type` */
	uint64_t type;
	bool named; /* the path says something */
};

static bool path_put(struct finder *f, struct ws_str part)
{
	if (part.len > f->size - 1 - f->len)
		return false;
	memcpy(f->text + f->len, part.ptr, part.len);
	f->len += part.len;
	f->text[f->len] = '\0';
	return true;
}

static enum ws_status too_long(struct ws_error *err)
{
	return wsi_fail(err, WS_LIMIT, WS_NO_OFFSET, "the path of a field is too long");
}

/* Whether a member covers the byte. A structure without members covers none: the byte of an empty
 * base class is that of the member behind it. */
static enum ws_status covers(struct finder *f, const struct ws_dwarf_member *member,
			     bool *ret_covers, struct ws_error *err)
{
	struct wsi_dwarf_at at;
	struct wsi_dwarf_entry entry;
	struct wsi_dwarf_attrs attrs;
	struct ws_dwarf_member inner;
	uint64_t plain, size;
	*ret_covers = false;
	if (member->bit_size || f->offset < member->offset)
		return WS_OK;
	enum ws_status st = wsi_dwarf_plain_at(&f->look, member->type, &plain, &at, err);
	if (st != WS_OK || plain == WS_TYPE_VOID)
		return st;
	struct wsi_dwarf_at sized = at;
	st = wsi_dwarf_size(&sized, &size, err);
	if (st != WS_OK || size == WS_SIZE_UNKNOWN || f->offset - member->offset >= size)
		return st;
	if (wsi_dwarf_kind(&at) != WS_KIND_STRUCT) {
		*ret_covers = true;
		return WS_OK;
	}
	while (!*ret_covers && wsi_dwarf_child(&at, &entry, &attrs))
		*ret_covers = wsi_dwarf_member(&at, &entry, &attrs, &inner);
	return at.walk.status == WS_OK ? WS_OK : wsi_dwarf_walk_fail(&at.walk, err);
}

/* The only member that covers the byte. `*ret_n`: how many do. */
static enum ws_status member_at(struct finder *f, struct wsi_dwarf_at *at,
				struct ws_dwarf_member *ret_member, unsigned *ret_n,
				struct ws_error *err)
{
	struct wsi_dwarf_entry entry;
	struct wsi_dwarf_attrs attrs;
	*ret_n = 0;
	while (wsi_dwarf_child(at, &entry, &attrs)) {
		struct ws_dwarf_member member;
		bool here;
		if (!wsi_dwarf_member(at, &entry, &attrs, &member))
			continue;
		enum ws_status st = covers(f, &member, &here, err);
		if (st != WS_OK)
			return st;
		if (here) {
			*ret_member = member;
			++*ret_n;
		}
	}
	return at->walk.status == WS_OK ? WS_OK : wsi_dwarf_walk_fail(&at->walk, err);
}

/* One step down. `*ret_done`: there is none. */
static enum ws_status into_structure(struct finder *f, struct wsi_dwarf_at *at, bool *ret_done,
				     struct ws_error *err)
{
	struct ws_dwarf_member member;
	unsigned n;
	enum ws_status st = member_at(f, at, &member, &n, err);
	if (st != WS_OK)
		return st;
	*ret_done = n != 1;
	if (n == 0)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the byte belongs to no field");
	if (n > 1)
		return WS_OK;
	if (member.name.len) {
		if ((f->len && !path_put(f, ws_str_of("."))) || !path_put(f, member.name))
			return too_long(err);
		f->named = true;
	}
	f->type = member.type;
	f->start += member.offset;
	f->offset -= member.offset;
	return WS_OK;
}

static enum ws_status into_array(struct finder *f, struct wsi_dwarf_at *at, bool *ret_done,
				 struct ws_error *err)
{
	uint64_t counts[WS_DWARF_MAX_DIMENSIONS], size = WS_SIZE_UNKNOWN, element = at->attrs.type;
	unsigned n;
	struct wsi_dwarf_at inner;
	enum ws_status st = wsi_dwarf_dimensions(at, counts, &n, err);
	if (st == WS_OK && element != WS_TYPE_VOID)
		st = wsi_dwarf_entry_at(&f->look, element, &inner, err);
	if (st == WS_OK && element != WS_TYPE_VOID)
		st = wsi_dwarf_size(&inner, &size, err);
	if (st != WS_OK)
		return st;
	*ret_done = n == 0 || size == 0 || size == WS_SIZE_UNKNOWN;
	if (*ret_done)
		return WS_OK;
	uint64_t index = f->offset / size, below = 1;
	for (unsigned i = 1; i < n; i++)
		below *= counts[i]; /* fits, as the size of the whole does, and is not 0 */
	f->start += index * size;
	f->offset -= index * size;
	f->type = element;
	for (unsigned i = 0; i < n; i++) {
		char one[32];
		wsi_format(one, "[%" PRIu64 "]", index / below);
		if (!path_put(f, ws_str_of(one)))
			return too_long(err);
		index %= below;
		below /= i + 1 < n ? counts[i + 1] : 1;
	}
	f->named = true;
	return WS_OK;
}

/* Whether the byte is in the outermost type: then it is in all within, and sizes do not wrap. */
static enum ws_status check_inside(struct finder *f, struct ws_error *err)
{
	struct wsi_dwarf_at at;
	uint64_t size;
	enum ws_status st =
		f->type == WS_TYPE_VOID ? WS_OK : wsi_dwarf_entry_at(&f->look, f->type, &at, err);
	if (st == WS_OK && f->type != WS_TYPE_VOID)
		st = wsi_dwarf_size(&at, &size, err);
	if (st == WS_OK &&
	    (f->type == WS_TYPE_VOID || size == WS_SIZE_UNKNOWN || f->offset >= size))
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the byte is outside the type");
	return st;
}

static enum ws_status field_find(struct finder *f, struct ws_error *err)
{
	for (unsigned depth = 0; depth < WS_DWARF_MAX_DEPTH; depth++) {
		struct wsi_dwarf_at at;
		uint64_t plain;
		bool done = true;
		enum ws_status st = wsi_dwarf_plain_at(&f->look, f->type, &plain, &at, err);
		if (st == WS_OK && plain != WS_TYPE_VOID) {
			enum ws_type_kind kind = wsi_dwarf_kind(&at);
			if (kind == WS_KIND_STRUCT)
				st = into_structure(f, &at, &done, err);
			else if (kind == WS_KIND_ARRAY)
				st = into_array(f, &at, &done, err);
		}
		if (st != WS_OK)
			return st;
		if (done)
			return f->named ? WS_OK
					: wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
						   "the type has no field there");
	}
	return wsi_fail(err, WS_LIMIT, WS_NO_OFFSET, "fields within fields, too deep");
}

enum ws_status ws_dwarf_find_field(const struct ws_dwarf *dwarf, uint64_t type, uint64_t offset,
				   char *ret_path, size_t size, struct ws_dwarf_field *ret_field,
				   struct ws_error *err)
{
	struct finder f = { .look = wsi_dwarf_look(dwarf),
			    .text = ret_path,
			    .size = size,
			    .offset = offset,
			    .type = type };
	if (size == 0)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "no room for a path");
	ret_path[0] = '\0';
	enum ws_status st = check_inside(&f, err);
	if (st == WS_OK)
		st = field_find(&f, err);
	if (st == WS_OK)
		*ret_field = (struct ws_dwarf_field){ f.type, f.start };
	return st;
}
