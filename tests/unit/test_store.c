/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* nftw */
#include "unit.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include <warpscope/image.h>
#include <warpscope/store.h>

static char folder[200];

static int folder_make(void **state)
{
	(void)state;
	const char *tmp = getenv("TMPDIR");
	if (!wsi_format(folder, "%s/ws-store-XXXXXX", tmp ? tmp : "/tmp"))
		return -1;
	return mkdtemp(folder) ? 0 : -1;
}

static int one_remove(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

static int folder_remove(void **state)
{
	(void)state;
	return nftw(folder, one_remove, 8, FTW_DEPTH | FTW_PHYS);
}

static void path_of(const char *folder_variable, const char *name, char path[1000])
{
	const char *where = getenv(folder_variable);
	assert_non_null(where);
	assert_true(wsi_format_(path, 1000, "%s/%s", where, name));
}

static struct ws_cubin *image(const char *folder_variable, const char *name, size_t index,
			      struct ws_image_file **ret_file)
{
	char path[1000];
	struct ws_cubin *cubin = NULL;
	struct ws_error err;
	path_of(folder_variable, name, path);
	assert_int_equal(ws_image_file_open(path, ret_file, &err), WS_OK);
	assert_int_equal(ws_image_file_cubin(*ret_file, index, &cubin, &err), WS_OK);
	return cubin;
}

static bool count_take(void *user, const struct ws_code_id *id, const char *path)
{
	(void)id;
	assert_non_null(strstr(path, folder));
	++*(unsigned *)user;
	return true;
}

static unsigned count(const struct ws_store *store)
{
	unsigned n = 0;
	assert_int_equal(ws_store_list(store, count_take, &n, NULL), WS_OK);
	return n;
}

static void same_code_is_stored_once_and_the_better_build_stays(void **state)
{
	(void)state;
#if !WSI_HAVE_ZSTD
	skip();
#endif
	struct ws_store *store;
	struct ws_image_file *a, *b;
	struct ws_error err;
	struct ws_cubin *plain = image("WS_TEST_CUBINS", "bare.none.sm_90.cubin", 0, &a);
	struct ws_cubin *lines = image("WS_TEST_FATBINS", "bare.li.zstd.fatbin", 1, &b);
	assert_int_equal(ws_store_open(folder, &store, &err), WS_OK);
	assert_int_equal(count(store), 0);
	struct ws_code_id id, other;
	enum ws_store_outcome outcome;
	assert_int_equal(ws_store_add(store, plain, NULL, &id, &outcome, &err), WS_OK);
	assert_int_equal(outcome, WS_STORE_ADDED);
	assert_int_equal(ws_store_add(store, plain, NULL, &id, &outcome, &err), WS_OK);
	assert_int_equal(outcome, WS_STORE_PRESENT);
	assert_int_equal(ws_store_add(store, lines, NULL, &other, &outcome, &err), WS_OK);
	assert_int_equal(outcome, WS_STORE_REPLACED);
	assert_memory_equal(&id, &other, sizeof id);
	assert_int_equal(ws_store_add(store, plain, NULL, &id, &outcome, &err), WS_OK);
	assert_int_equal(outcome, WS_STORE_PRESENT);
	assert_int_equal(count(store), 1);
	ws_image_file_close(a);
	struct ws_cubin *more = image("WS_TEST_CUBINS", "bare.none.sm_80.cubin", 0, &a);
	assert_int_equal(ws_store_add(store, more, NULL, &other, &outcome, &err), WS_OK);
	assert_memory_not_equal(&id, &other, sizeof id);
	assert_int_equal(count(store), 2);
	ws_store_close(store);
	ws_image_file_close(a);
	ws_image_file_close(b);
}

static void default_store_is_in_the_cache_folder(void **state)
{
	(void)state;
	struct ws_store *store;
	struct ws_error err;
	char wanted[300];
	setenv("XDG_CACHE_HOME", folder, 1);
	assert_int_equal(ws_store_open(NULL, &store, &err), WS_OK);
	assert_true(wsi_format(wanted, "%s/warpscope/store", folder));
	assert_string_equal(ws_store_folder(store), wanted);
	assert_int_equal(count(store), 0);
	ws_store_close(store);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	assert_int_equal(ws_store_open(NULL, &store, &err), WS_ABSENT);
}

static void unwritable_store_is_an_error(void **state)
{
	(void)state;
	struct ws_store *store;
	struct ws_image_file *a;
	struct ws_error err;
	struct ws_code_id id;
	enum ws_store_outcome outcome;
	struct ws_cubin *plain = image("WS_TEST_CUBINS", "bare.none.sm_90.cubin", 0, &a);
	assert_int_equal(ws_store_open("/proc/nowhere", &store, &err), WS_OK);
	assert_int_equal(ws_store_add(store, plain, NULL, &id, &outcome, &err), WS_IO);
	assert_int_equal(count(store), 0);
	ws_store_close(store);
	ws_image_file_close(a);
}

/* ---- borrowing ---- */

static const struct ws_function *kernel(struct ws_cubin *cubin)
{
	const struct ws_function *f = NULL;
	assert_int_equal(ws_cubin_find_function(cubin, ws_str_of("_Z8no_linesPKiS0_Pi"), &f, NULL),
			 WS_OK);
	return f;
}

static struct ws_borrowed borrow(struct ws_borrow_pool *pool, struct ws_cubin *cubin)
{
	struct ws_borrowed found;
	struct ws_error err;
	assert_int_equal(ws_borrow_find(pool, cubin, kernel(cubin), &found, &err), WS_OK);
	return found;
}

static void lines_are_borrowed_only_from_equal_code(void **state)
{
	(void)state;
#if !WSI_HAVE_ZSTD || !WSI_HAVE_LZ4
	skip();
#endif
	struct ws_image_file *a;
	struct ws_error err;
	char path[1000];
	struct ws_cubin *dead = image("WS_TEST_BUILT", "bare.none.sm_90.both.cubin", 0, &a);
	struct ws_borrow_pool *pool;
	assert_int_equal(ws_borrow_create(&pool, &err), WS_OK);
	assert_int_equal(borrow(pool, dead).verdict, WS_BORROW_NO_FUNCTION);
	path_of("WS_TEST_CUBINS", "pair.li.sm_90.cubin", path);
	assert_int_equal(ws_borrow_add_path(pool, path, &err), WS_OK);
	assert_int_equal(borrow(pool, dead).verdict, WS_BORROW_NO_FUNCTION);
	path_of("WS_TEST_CUBINS", "bare.none.sm_90.cubin", path);
	assert_int_equal(ws_borrow_add_path(pool, path, &err), WS_OK);
	assert_int_equal(borrow(pool, dead).verdict, WS_BORROW_NO_LINES);
	path_of("WS_TEST_FATBINS", "bare.G.lz4.fatbin", path);
	assert_int_equal(ws_borrow_add_path(pool, path, &err), WS_OK);
	struct ws_borrowed found = borrow(pool, dead);
	assert_int_equal(found.verdict, WS_BORROW_DIFFERS);
	assert_false(found.diff.equal);
	assert_true(found.diff.n_instructions > 0);
	path_of("WS_TEST_FATBINS", "bare.li.zstd.fatbin", path);
	assert_int_equal(ws_borrow_add_path(pool, path, &err), WS_OK);
	found = borrow(pool, dead);
	assert_int_equal(found.verdict, WS_BORROW_EQUAL);
	assert_true(found.diff.equal);
	assert_string_equal(found.path, path);
	struct ws_line_pos pos[4];
	size_t n;
	assert_int_equal(ws_cubin_line_find(found.cubin, found.section, 0x100, pos, 4, &n, &err),
			 WS_OK);
	assert_string_equal(pos[0].file->name, "bare.cu");
	assert_int_equal(borrow(pool, dead).verdict, WS_BORROW_EQUAL); /* remembered */
	ws_borrow_destroy(pool);
	ws_image_file_close(a);
}

static void folders_are_searched(void **state)
{
	(void)state;
#if !WSI_HAVE_ZSTD
	skip();
#endif
	struct ws_image_file *a;
	struct ws_error err;
	struct ws_cubin *dead = image("WS_TEST_CUBINS", "bare.none.sm_80.cubin", 0, &a);
	struct ws_borrow_pool *pool;
	assert_int_equal(ws_borrow_create(&pool, &err), WS_OK);
	char path[1000];
	path_of("WS_TEST_FATBINS", "..", path);
	assert_int_equal(ws_borrow_add_path(pool, path, &err), WS_OK);
	assert_int_equal(borrow(pool, dead).verdict, WS_BORROW_EQUAL);
	assert_int_equal(ws_borrow_add_path(pool, "/nonexistent", &err), WS_IO);
	ws_borrow_destroy(pool);
	ws_image_file_close(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(same_code_is_stored_once_and_the_better_build_stays,
						folder_make, folder_remove),
		cmocka_unit_test_setup_teardown(default_store_is_in_the_cache_folder, folder_make,
						folder_remove),
		cmocka_unit_test(unwritable_store_is_an_error),
		cmocka_unit_test(lines_are_borrowed_only_from_equal_code),
		cmocka_unit_test(folders_are_searched),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
