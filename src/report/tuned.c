/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration that a kernel of Triton was compiled with, which its image does not have: from
 * the files beside images of the same code, as its cache has them: `KEY/scale.cubin` with
 * `KEY/scale.json` [measured: Triton 3.5.1, 3.9.0]. Several configurations may give one code; then
 * all are told. What the kernel's own constants were is not recorded there.
 */
#include "report/build.h"

#include "base/file.h"
#include "cubin/cubin.h"
#include "text/json_read.h"

enum {
	MAX_TUNED = 16,
	MAX_PATH = 4096,
	MAX_BYTES = 1 << 16, /* of a file; those of Triton have 2,000 */
};

const char *const wsi_report_tuned_options[WS_TUNED_OPTIONS] = { "num_warps", "num_stages",
								 "num_ctas", "maxnreg" };

struct tuned_list {
	struct wsi_build *build;
	struct ws_report_tuned at[MAX_TUNED];
	uint32_t n;
	bool no_memory;
};

/* What a file says; false: it is none of Triton's. */
static bool tuned_parse(struct ws_span text, struct ws_report_tuned *ret_tuned)
{
	struct wsi_json_reader reader;
	struct wsi_json_value value;
	struct ws_str key;
	wsi_text_json_reader_init_raw(&reader, (const char *)text.ptr, text.len);
	if (!wsi_text_json_read(&reader, &value) || value.kind != WSI_JSON_OBJECT)
		return false;
	while (wsi_text_json_member(&reader, &key, &value)) {
		bool taken = false;
		for (size_t i = 0; i < WS_TUNED_OPTIONS && !taken; i++)
			taken = ws_str_equal(key, ws_str_of(wsi_report_tuned_options[i])) &&
				wsi_text_json_u64(&value, &ret_tuned->option[i]);
		if (!taken)
			wsi_text_json_skip(&reader, &value);
	}
	return !reader.bad && ret_tuned->option[0] > 0;
}

/* A `wsi_borrow_equal_fn`. */
static void tuned_take(void *user, const char *path)
{
	struct tuned_list *list = user;
	struct ws_report_tuned tuned = { .n_files = 1 };
	struct wsi_file file;
	char beside[MAX_PATH];
	const size_t len = strlen(path), tail = sizeof ".cubin" - 1;
	if (!wsi_str_ends(ws_str_of(path), ".cubin") || len >= sizeof beside)
		return;
	snprintf(beside, sizeof beside, "%.*s.json", (int)(len - tail), path);
	if (wsi_file_open(beside, &file, NULL) != WS_OK)
		return;
	bool read = file.bytes.len <= MAX_BYTES && tuned_parse(file.bytes, &tuned);
	wsi_file_close(&file);
	for (uint32_t i = 0; i < list->n && read; i++) {
		if (memcmp(list->at[i].option, tuned.option, sizeof tuned.option) == 0) {
			list->at[i].n_files++;
			return;
		}
	}
	if (!read || list->n == MAX_TUNED)
		return;
	tuned.path = wsi_arena_str(list->build->arena, beside, strlen(beside));
	list->no_memory |= !tuned.path;
	list->at[list->n++] = tuned;
}

enum ws_status wsi_report_tuned(struct wsi_build *build, const struct ws_place *place,
				struct ws_report_image *image)
{
	struct tuned_list list = { .build = build };
	if (!build->pool || !place->function || !wsi_cubin_is_triton(place->cubin))
		return WS_OK;
	wsi_borrow_each_equal(build->pool, place->cubin, place->function, tuned_take, &list);
	struct ws_report_tuned *copy = wsi_arena_zalloc_array(build->arena, list.n, sizeof *copy);
	if (!copy || list.no_memory)
		return WS_NO_MEMORY;
	if (list.n)
		memcpy(copy, list.at, list.n * sizeof *copy);
	image->tuned = copy;
	image->n_tuned = list.n;
	return WS_OK;
}
