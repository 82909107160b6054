/* SPDX-License-Identifier: Apache-2.0 */
/* The table of exceptions, and the map that groups them. */
#include "unit.h"

#include <warpscope/exception.h>

#include "base/map.h"

static void every_kind_is_complete_and_listed_once(void **state)
{
	(void)state;
	const struct ws_exception *kind;
	for (size_t i = 0; (kind = ws_exception_at(i)); i++) {
		assert_ptr_equal(ws_exception_find(kind->code), kind);
		assert_true(*kind->name && *kind->label && *kind->headline);

		size_t end = strlen(kind->meaning) - 1;
		assert_true(kind->meaning[end] == '.' || kind->meaning[end] == ')');
		assert_true(*kind->causes && *kind->checks);
		assert_true(*ws_exception_family_text(kind->family));
	}
}

static void codes_1_to_36_and_the_unknown_one_are_known(void **state)
{
	(void)state;
	for (uint32_t code = 1; code <= 36; code++)
		assert_non_null(ws_exception_find(code));
	assert_string_equal(ws_exception_find(WS_EXCEPTION_UNKNOWN)->cuda_gdb, "CUDA_EXCEPTION_0");
	assert_null(ws_exception_find(0));
	assert_null(ws_exception_find(37));
	assert_non_null(ws_exception_at(36));
	assert_null(ws_exception_at(37));
}

/* { code in the dump, cuda-gdb's, why } */
static void cuda_gdb_numbers_some_kinds_otherwise(void **state)
{
	(void)state;
	static const struct {
		uint32_t code;
		const char *cuda_gdb;
	} rows[] = {
		{ 15, "CUDA_EXCEPTION_16" }, { 16, NULL }, { 17, "CUDA_EXCEPTION_18" },
		{ 18, "CUDA_EXCEPTION_17" }, { 36, NULL },
	};
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		const char *is = ws_exception_find(rows[i].code)->cuda_gdb;
		if (rows[i].cuda_gdb)
			assert_string_equal(is, rows[i].cuda_gdb);
		else
			assert_null(is);
	}
	for (uint32_t code = 1; code <= 36; code++) { /* the others as the dump does */
		char same[40];
		snprintf(same, sizeof same, "CUDA_EXCEPTION_%u", code);
		if (code < 15 || (code > 18 && code < 36))
			assert_string_equal(ws_exception_find(code)->cuda_gdb, same);
	}
}

/* A name begins with what the exception is of: the manual's table of precision follows from it. */
static void what_is_known_follows_from_the_name(void **state)
{
	(void)state;
	static const struct {
		const char *prefix;
		enum ws_exception_scope scope;
	} rows[] = { { "LANE_", WS_SCOPE_LANE },       { "WARP_", WS_SCOPE_WARP },
		     { "CLUSTER_", WS_SCOPE_CLUSTER }, { "DEVICE_", WS_SCOPE_DEVICE },
		     { "TMA_", WS_SCOPE_WARP },        { "UNKNOWN", WS_SCOPE_UNKNOWN } };
	const struct ws_exception *kind;
	for (size_t i = 0; (kind = ws_exception_at(i)); i++) {
		size_t row = 0;
		while (row < WSI_COUNT(rows) &&
		       strncmp(kind->name, rows[row].prefix, strlen(rows[row].prefix)) != 0)
			row++;
		assert_true(row < WSI_COUNT(rows));
		assert_int_equal(kind->scope, rows[row].scope);
		assert_int_equal(kind->knows_lane, kind->scope == WS_SCOPE_LANE);
		/* jumps: the error PC may be where they led; 36 is a call of the driver */
		bool doubtful = kind->code == 8 || kind->code == 24 || kind->code == 36;
		bool local = kind->scope == WS_SCOPE_LANE || kind->scope == WS_SCOPE_WARP;
		assert_int_equal(kind->knows_instruction, local && !doubtful);
		/* of a lane: only the checker of old drivers; of the device: one of two */
		assert_int_equal(kind->retired, kind->scope == WS_SCOPE_LANE || kind->code == 3);
	}
}

static void cluster_faults_know_neither_instruction_nor_lane(void **state)
{
	(void)state;
	static const uint32_t codes[] = { 17, 18, 32 };
	for (size_t i = 0; i < WSI_COUNT(codes); i++) {
		const struct ws_exception *kind = ws_exception_find(codes[i]);
		assert_int_equal(kind->scope, WS_SCOPE_CLUSTER);
		assert_false(kind->knows_instruction || kind->knows_lane);
	}
}

static void map_keeps_every_key(void **state)
{
	(void)state;
	struct wsi_map map = { 0 };
	bool is_new;
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 5000; i++) {
			struct wsi_map_key key = { { i % 7, i, 0, i / 1000 } };
			uint32_t *value = wsi_map_put(&map, &key, i, &is_new);
			assert_non_null(value);
			assert_int_equal(*value, i);
			assert_int_equal(is_new, round == 0);
		}
	}
	for (uint32_t i = 0; i < 6000; i++) {
		struct wsi_map_key key = { { i % 7, i, 0, i / 1000 } };
		const uint32_t *value = wsi_map_find(&map, &key);
		assert_int_equal(value != NULL, i < 5000);
		assert_true(!value || *value == i);
	}
	wsi_map_fini(&map);
	assert_null(wsi_map_find(&map, &(struct wsi_map_key){ { 0 } }));
	wsi_map_fini(&map);
}

static void maps_free_all_they_have(void **state)
{
	(void)state;
	assert_frees_all(map_keeps_every_key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_is_complete_and_listed_once),
		cmocka_unit_test(codes_1_to_36_and_the_unknown_one_are_known),
		cmocka_unit_test(cuda_gdb_numbers_some_kinds_otherwise),
		cmocka_unit_test(what_is_known_follows_from_the_name),
		cmocka_unit_test(cluster_faults_know_neither_instruction_nor_lane),
		cmocka_unit_test(map_keeps_every_key),
		cmocka_unit_test(maps_free_all_they_have),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
