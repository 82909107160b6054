/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: FOLDER/ab/REST-CODE.cubin, where abREST is the image's identity and CODE the first 16
 * digits of the SHA-256 of its machine code without any mask. Equal names mean equal code; two
 * images that differ only in immediates share an identity and are stored side by side.
 */
#include <warpscope/store.h>

#include "cubin/internal.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/sha256.h"

enum { CODE_DIGITS = 16 };
static const char suffix[] = ".cubin";

struct ws_store {
	char *folder; /* owned */
};

WSI_DEFINE_SCOPED(struct ws_store, ws_store_close);

/* "A/B", or NULL for no memory or no A. */
static char *path_under(const char *parent, const char *inner)
{
	size_t size = strlen(parent) + strlen(inner) + 2;
	char *path = wsi_zalloc(size);
	if (path)
		(void)wsi_format_(path, size, "%s/%s", parent, inner);
	return path;
}

enum ws_status ws_store_open(const char *folder, struct ws_store **ret_store, struct ws_error *err)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	wsi_scoped(ws_store_close) struct ws_store *store = wsi_zalloc(sizeof *store);
	if (!store)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a store");
	if (folder)
		store->folder = wsi_strdup(folder);
	else if (cache && cache[0] == '/') /* others are to be ignored, says the XDG rule */
		store->folder = path_under(cache, "warpscope/store");
	else if (home && home[0])
		store->folder = path_under(home, ".cache/warpscope/store");
	else
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"no folder for the store: neither XDG_CACHE_HOME nor HOME is set");
	if (!store->folder)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a store");
	*ret_store = WSI_TAKE(store);
	return WS_OK;
}

void ws_store_close(struct ws_store *store)
{
	if (!store)
		return;
	wsi_free(store->folder);
	wsi_free(store);
}

const char *ws_store_folder(const struct ws_store *store)
{
	return store->folder;
}

static void code_digits(const struct ws_cubin *cubin, char ret_digits[WS_CODE_ID_TEXT])
{
	struct wsi_sha256 hash;
	struct ws_code_id code;
	wsi_sha256_init(&hash);
	for (uint32_t i = 0; i < cubin->n_code; i++) {
		struct ws_span bytes = wsi_cubin_bytes(cubin, cubin->code[i].section);
		wsi_sha256_add(&hash, bytes.ptr, bytes.len);
	}
	wsi_sha256_final(&hash, code.bytes);
	ws_code_id_text(&code, ret_digits);
	ret_digits[CODE_DIGITS] = 0;
}

static char *image_path(const struct ws_store *store, const struct ws_cubin *cubin,
			const struct ws_code_id *id)
{
	char text[WS_CODE_ID_TEXT], code[WS_CODE_ID_TEXT], name[160];
	ws_code_id_text(id, text);
	code_digits(cubin, code);
	if (!wsi_format(name, "%.2s/%s-%s%s", text, text + 2, code, suffix))
		return NULL;
	return path_under(store->folder, name);
}

/* How much a debugger learns from an image. */
static unsigned worth(const struct ws_cubin *cubin)
{
	struct ws_cubin_facts facts;
	ws_cubin_facts(cubin, &facts);
	return facts.has_debug_info * 2u + facts.has_lines;
}

/* What is stored at `path`; WS_STORE_ADDED when that is nothing of use. */
static enum ws_store_outcome stored_compare(const char *path, const struct ws_cubin *cubin)
{
	struct wsi_file file;
	struct ws_cubin *stored;
	if (wsi_file_open(path, &file, NULL) != WS_OK)
		return WS_STORE_ADDED;
	enum ws_store_outcome outcome = WS_STORE_REPLACED;
	if (ws_cubin_open(file.bytes, &stored, NULL) == WS_OK) {
		if (worth(stored) >= worth(cubin) && !stored->damaged)
			outcome = WS_STORE_PRESENT;
		ws_cubin_close(stored);
	}
	wsi_file_close(&file);
	return outcome;
}

enum ws_status ws_store_add(struct ws_store *store, struct ws_cubin *cubin, const char *source,
			    struct ws_code_id *ret_id, enum ws_store_outcome *ret_outcome,
			    struct ws_error *err)
{
	struct ws_code_id id;
	enum ws_status st = ws_cubin_image_id(cubin, &id, err);
	if (st != WS_OK)
		return st;
	wsi_scoped_free char *path = image_path(store, cubin, &id);
	if (!path)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a path in the store");
	enum ws_store_outcome outcome = stored_compare(path, cubin);
	if (outcome != WS_STORE_PRESENT) {
		st = wsi_folder_make_for(path, err);
		if (st == WS_OK)
			st = ws_file_replace(path, cubin->image, source, err);
		if (st != WS_OK)
			return wsi_context(err, st, "store");
	}
	*ret_id = id;
	*ret_outcome = outcome;
	return WS_OK;
}

/* ---- listing ---- */

struct store_walk {
	ws_store_take_fn *take;
	void *user;
	bool stopped;
};

/* Whether a path ends as those that image_path() makes. */
static bool path_parse(const char *path, struct ws_code_id *ret_id)
{
	enum { DIGITS = WS_CODE_ID_TEXT - 1 };
	size_t len = strlen(path), tail = DIGITS + 1 + 1 + CODE_DIGITS + sizeof suffix - 1;
	char text[WS_CODE_ID_TEXT];
	if (len < tail)
		return false;
	const char *at = path + len - tail;
	if (at[2] != '/' || at[1 + DIGITS] != '-' ||
	    strcmp(path + len - (sizeof suffix - 1), suffix) != 0)
		return false;
	memcpy(text, at, 2);
	memcpy(text + 2, at + 3, DIGITS - 2);
	text[DIGITS] = 0;
	return ws_code_id_parse(text, ret_id);
}

static enum ws_status store_take(void *user, const char *path, struct ws_error *err)
{
	struct store_walk *walk = user;
	struct ws_code_id id;
	(void)err;
	if (!walk->stopped && path_parse(path, &id))
		walk->stopped = !walk->take(walk->user, &id, path);
	return WS_OK;
}

enum ws_status ws_store_list(const struct ws_store *store, ws_store_take_fn *take, void *user,
			     struct ws_error *err)
{
	struct store_walk walk = { .take = take, .user = user };
	if (!wsi_folder_exists(store->folder))
		return WS_OK;
	return wsi_folder_walk(store->folder, store_take, &walk, err);
}
