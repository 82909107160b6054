/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <unistd.h>

#include <warpscope/cubin.h>
#include <warpscope/image.h>

#include "base/file.h"
#include "base/reader.h"

static void path_of(const char *folder_variable, const char *name, char path[1000])
{
	const char *folder = getenv(folder_variable);
	assert_non_null(folder);
	assert_true(wsi_format_(path, 1000, "%s/%s", folder, name));
}

static struct ws_image_file *open_in(const char *folder_variable, const char *name)
{
	char path[1000];
	struct ws_image_file *file = NULL;
	struct ws_error err;
	path_of(folder_variable, name, path);
	assert_int_equal(ws_image_file_open(path, &file, &err), WS_OK);
	return file;
}

static bool is(struct ws_str text, const char *wanted)
{
	return ws_str_equal(text, ws_str_of(wanted));
}

/* The cubin has the two functions of bare.cu. */
static void expect_bare(struct ws_image_file *file, size_t index, uint32_t sm)
{
	const struct ws_image_entry *entry = ws_image_file_at(file, index);
	struct ws_cubin *cubin;
	struct ws_error err;
	assert_int_equal(entry->kind, WS_IMAGE_CUBIN);
	assert_int_equal(entry->sm, sm);
	assert_int_equal(ws_image_file_cubin(file, index, &cubin, &err), WS_OK);
	assert_int_equal(ws_cubin_image(cubin).len, entry->image_bytes);
	struct ws_cubin_facts facts;
	ws_cubin_facts(cubin, &facts);
	assert_int_equal(facts.sm, sm);
	const struct ws_function *f;
	assert_int_equal(ws_cubin_find_function(cubin, ws_str_of("_Z8no_linesPKiS0_Pi"), &f, &err),
			 WS_OK);
	struct ws_cubin *again;
	assert_int_equal(ws_image_file_cubin(file, index, &again, &err), WS_OK);
	assert_ptr_equal(again, cubin);
}

/* Builds without a library skip what needs it. */
static void need(bool have)
{
	if (!have)
		skip();
}

static void fatbin_entries_are_listed_and_unpacked_by_zstd(void **state)
{
	(void)state;
	need(WSI_HAVE_ZSTD);
	struct ws_image_file *file = open_in("WS_TEST_FATBINS", "bare.li.zstd.fatbin");
	assert_int_equal(ws_image_file_count(file), 3);
	expect_bare(file, 0, 80);
	expect_bare(file, 1, 90);
	const struct ws_image_entry *ptx = ws_image_file_at(file, 2);
	assert_int_equal(ptx->kind, WS_IMAGE_PTX);
	assert_int_equal(ptx->packing, WS_IMAGE_ZSTD);
	assert_true(is(ptx->source, "/src/ws/tests/kernels/bare.cu"));
	struct ws_span text;
	struct ws_error err;
	assert_int_equal(ws_image_file_bytes(file, 2, &text, &err), WS_OK);
	assert_int_equal(text.len, ptx->image_bytes);
	assert_non_null(strstr((const char *)text.ptr, ".target sm_90"));
	struct ws_cubin *cubin;
	assert_int_equal(ws_image_file_cubin(file, 2, &cubin, &err), WS_UNSUPPORTED);
	assert_int_equal(ws_image_file_cubin(file, 3, &cubin, &err), WS_ARGUMENT);
	assert_false(ws_image_file_damage(file, NULL));
	ws_image_file_close(file);
}

static void fatbin_entries_are_unpacked_by_lz4(void **state)
{
	(void)state;
	need(WSI_HAVE_LZ4);
	struct ws_image_file *file = open_in("WS_TEST_FATBINS", "bare.G.lz4.fatbin");
	assert_int_equal(ws_image_file_count(file), 2);
	assert_int_equal(ws_image_file_at(file, 0)->packing, WS_IMAGE_LZ4);
	expect_bare(file, 0, 90);
	ws_image_file_close(file);
}

static void released_images_are_there_again(void **state)
{
	(void)state;
	need(WSI_HAVE_ZSTD);
	struct ws_image_file *file = open_in("WS_TEST_FATBINS", "bare.li.zstd.fatbin");
	expect_bare(file, 0, 80);
	ws_image_file_release(file, 0);
	ws_image_file_release(file, 0);
	ws_image_file_release(file, 1); /* was never asked for */
	expect_bare(file, 0, 80);
	expect_bare(file, 1, 90);
	ws_image_file_close(file);
	file = open_in("WS_TEST_CUBINS", "bare.none.sm_80.cubin");
	ws_image_file_release(file, 0);
	expect_bare(file, 0, 80);
	ws_image_file_close(file);
}

static void cubin_is_one_image(void **state)
{
	(void)state;
	struct ws_image_file *file = open_in("WS_TEST_CUBINS", "bare.none.sm_80.cubin");
	assert_int_equal(ws_image_file_count(file), 1);
	expect_bare(file, 0, 80);
	assert_false(ws_image_file_at(file, 0)->relocatable);
	ws_image_file_close(file);
	file = open_in("WS_TEST_CUBINS", "link_a.li.sm_90.cubin");
	assert_true(ws_image_file_at(file, 0)->relocatable);
	ws_image_file_close(file);
}

static void program_object_and_archive_give_what_they_hold(void **state)
{
	(void)state;
	need(WSI_HAVE_ZSTD && WSI_HAVE_LZ4);
	struct ws_image_file *file = open_in("WS_TEST_BUILT", "host.program");
	assert_int_equal(ws_image_file_count(file), 5);
	expect_bare(file, 1, 90);
	expect_bare(file, 3, 90);
	assert_true(is(ws_image_file_at(file, 3)->container, ".nv_fatbin"));
	assert_false(ws_image_file_at(file, 3)->relocatable);
	ws_image_file_close(file);
	file = open_in("WS_TEST_BUILT", "host.object");
	assert_int_equal(ws_image_file_count(file), 3);
	assert_true(is(ws_image_file_at(file, 0)->container, "__nv_relfatbin"));
	assert_true(ws_image_file_at(file, 0)->relocatable);
	ws_image_file_close(file);
	file = open_in("WS_TEST_BUILT", "host.archive");
	assert_int_equal(ws_image_file_count(file), 8);
	assert_true(is(ws_image_file_at(file, 5)->container, "a-long-member-name-of-host.object"));
	expect_bare(file, 5, 80);
	assert_false(ws_image_file_damage(file, NULL));
	ws_image_file_close(file);
}

static void files_without_gpu_code_are_told_apart(void **state)
{
	(void)state;
	struct ws_image_file *file;
	struct ws_error err;
	assert_int_equal(ws_image_file_open("/nonexistent", &file, &err), WS_IO);
	assert_int_equal(ws_image_file_open("/proc/self/exe", &file, &err), WS_ABSENT);
	assert_string_equal(err.message, "no GPU code inside");
	static const uint8_t text[] = "hello";
	assert_int_equal(ws_image_file_open_memory((struct ws_span){ text, 5, 0 }, &file, &err),
			 WS_UNSUPPORTED);
	assert_int_equal(ws_image_file_open_memory((struct ws_span){ NULL, 0, 0 }, &file, &err),
			 WS_TRUNCATED);
}

static void exercise(struct ws_span bytes)
{
	struct ws_image_file *file;
	struct ws_error err;
	if (ws_image_file_open_memory(bytes, &file, &err) != WS_OK)
		return;
	for (size_t i = 0; i < ws_image_file_count(file); i++) {
		struct ws_cubin *cubin;
		struct ws_span image;
		const struct ws_function *f;
		size_t n;
		(void)!ws_image_file_bytes(file, i, &image, &err);
		if (ws_image_file_cubin(file, i, &cubin, &err) == WS_OK)
			assert_int_equal(ws_cubin_functions(cubin, &f, &n, &err), WS_OK);
	}
	ws_image_file_close(file);
}

static void damaged_files_are_survived(void **state)
{
	(void)state;
	static const struct {
		const char *variable, *name;
		size_t step;
	} cases[] = { { "WS_TEST_FATBINS", "bare.li.zstd.fatbin", 1 },
		      { "WS_TEST_FATBINS", "bare.G.lz4.fatbin", 1 },
		      { "WS_TEST_BUILT", "host.object", 1 },
		      { "WS_TEST_BUILT", "host.archive", 17 } };
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		char path[1000];
		struct wsi_file f;
		path_of(cases[i].variable, cases[i].name, path);
		assert_int_equal(wsi_file_open(path, &f, NULL), WS_OK);
		for (size_t at = 0; at < f.bytes.len; at += cases[i].step) {
			uint8_t *copy = wsi_zalloc(at ? at : 1);
			assert_non_null(copy);
			memcpy(copy, f.bytes.ptr, at);
			exercise((struct ws_span){ copy, at, 0 });
			wsi_free(copy);
		}
		uint8_t *copy = wsi_zalloc(f.bytes.len);
		assert_non_null(copy);
		memcpy(copy, f.bytes.ptr, f.bytes.len);
		for (size_t at = 0; at < f.bytes.len; at += cases[i].step) {
			copy[at] ^= (uint8_t)(1 << at % 8);
			exercise((struct ws_span){ copy, f.bytes.len, 0 });
			copy[at] = f.bytes.ptr[at];
		}
		wsi_free(copy);
		wsi_file_close(&f);
	}
}

static void entry_that_claims_too_much_is_refused(void **state)
{
	(void)state;
	char path[1000];
	struct wsi_file f;
	struct ws_error err;
	path_of("WS_TEST_FATBINS", "bare.li.zstd.fatbin", path);
	assert_int_equal(wsi_file_open(path, &f, NULL), WS_OK);
	uint8_t *copy = wsi_zalloc(f.bytes.len);
	assert_non_null(copy);
	memcpy(copy, f.bytes.ptr, f.bytes.len);
	copy[16 + 56 + 6] = 1; /* unpacked size of the first entry: 2^48 more */
	struct ws_image_file *file;
	struct ws_span bytes;
	assert_int_equal(
		ws_image_file_open_memory((struct ws_span){ copy, f.bytes.len, 0 }, &file, &err),
		WS_OK);
	assert_int_equal(ws_image_file_bytes(file, 0, &bytes, &err), WS_LIMIT);
	ws_image_file_close(file);
	copy[16 + 56 + 6] = 0;
	copy[16 + 4] = 1; /* header size of the first entry */
	copy[16 + 5] = 0;
	enum ws_status st =
		ws_image_file_open_memory((struct ws_span){ copy, f.bytes.len, 0 }, &file, &err);
	assert_int_equal(st, WS_MALFORMED);
	assert_int_equal(err.file_off, 16);
	wsi_free(copy);
	wsi_file_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fatbin_entries_are_listed_and_unpacked_by_zstd),
		cmocka_unit_test(fatbin_entries_are_unpacked_by_lz4),
		cmocka_unit_test(released_images_are_there_again),
		cmocka_unit_test(cubin_is_one_image),
		cmocka_unit_test(program_object_and_archive_give_what_they_hold),
		cmocka_unit_test(files_without_gpu_code_are_told_apart),
		cmocka_unit_test(damaged_files_are_survived),
		cmocka_unit_test(entry_that_claims_too_much_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
