/* SPDX-License-Identifier: Apache-2.0 */
/* Memory snapshots of PyTorch, and the machine that reads pickles: what holds for any input. */
#include "unit.h"

#include "text/pickle_read.h"
#include "torch/memory.h"

/* ---- pickles, made by hand (tests/cli/test_snapshot.py has those of Python) ---- */

struct made {
	char at[4096];
	size_t n;
};

static void put(struct made *m, const char *bytes, size_t n)
{
	assert_true(m->n + n <= sizeof m->at);
	memcpy(m->at + m->n, bytes, n);
	m->n += n;
}

#define PUT(m, literal) put(m, literal, sizeof(literal) - 1)

static void put_text(struct made *m, const char *text)
{
	char head[2] = { (char)0x8c, (char)strlen(text) };
	put(m, head, 2);
	put(m, text, strlen(text));
}

static void put_number(struct made *m, const char *key, uint64_t number)
{
	uint8_t bytes[10] = { 0x8a, 8 };
	put_text(m, key);
	store_le(bytes + 2, number, 8);
	put(m, (const char *)bytes, sizeof bytes);
}

static void put_word(struct made *m, const char *key, const char *word)
{
	put_text(m, key);
	put_text(m, word);
}

static void put_frames(struct made *m, const char *file, uint64_t line)
{
	put_text(m, "frames");
	PUT(m, "](}(");
	put_word(m, "filename", file);
	put_word(m, "name", "f");
	put_number(m, "line", line);
	PUT(m, "ue");
}

static void put_block(struct made *m, uint64_t address, uint64_t size, const char *state)
{
	PUT(m, "}(");
	put_number(m, "address", address);
	put_number(m, "size", size);
	put_number(m, "requested_size", size - 4);
	put_word(m, "state", state);
	put_frames(m, "block.py", address);
	PUT(m, "u");
}

static void put_event(struct made *m, const char *action, uint64_t address, uint64_t time)
{
	PUT(m, "}(");
	put_word(m, "action", action);
	put_number(m, "addr", address);
	put_number(m, "size", 60);
	put_number(m, "time_us", time);
	put_frames(m, action, time);
	PUT(m, "u");
}

static void put_segment(struct made *m, uint64_t address)
{
	PUT(m, "}(");
	put_number(m, "address", address);
	put_number(m, "total_size", 0x300);
	put_text(m, "blocks");
	PUT(m, "](");
	put_block(m, address, 0x100, "active_allocated");
	put_block(m, address + 0x100, 0x100, "inactive");
	put_block(m, address + 0x200, 0x100, "active_pending_free");
	PUT(m, "eu");
}

static void put_snapshot(struct made *m)
{
	PUT(m, "}(");
	put_text(m, "segments");
	PUT(m, "](");
	put_segment(m, 0x9000);
	put_segment(m, 0x5000);
	PUT(m, "e");
	put_text(m, "device_traces");
	PUT(m, "](](");
	put_event(m, "alloc", 0x5100, 10);
	put_event(m, "free_requested", 0x5100, 20);
	put_event(m, "free_completed", 0x5100, 21);
	put_event(m, "segment_free", 0x100, 30);
	PUT(m, "e]eu");
}

static struct made snapshot(void)
{
	struct made m = { .n = 0 };
	PUT(&m, "\x80\x04");
	put_snapshot(&m);
	PUT(&m, ".");
	return m;
}

static enum ws_status read_made(struct wsi_torch_memory *memory, const struct made *m,
				struct wsi_torch_place *places, size_t n, struct ws_error *err)
{
	/* exactly as many bytes as promised */
	uint8_t *bytes = wsi_zalloc(m->n);
	if (!bytes)
		return WS_NO_MEMORY;
	memcpy(bytes, m->at, m->n);
	enum ws_status st =
		wsi_torch_memory_read(memory, (struct ws_span){ bytes, m->n, 0 }, places, n, err);
	wsi_free(bytes);
	return st;
}

/* ---- what is told ---- */

static void an_address_has_its_block_and_neighbours(void **state)
{
	struct wsi_torch_place places[] = { { .address = 0x5010 },
					    { .address = 0x5110 },
					    { .address = 0x92ff },
					    { .address = 0x9300 },
					    { .address = 0x110 } };
	struct made m = snapshot();
	struct wsi_torch_memory memory;
	(void)state;
	assert_int_equal(wsi_torch_memory_read(&memory, (struct ws_span){ (uint8_t *)m.at, m.n, 0 },
					       places, WSI_COUNT(places), NULL),
			 WS_OK);
	assert_true(memory.n_segments == 2 && memory.n_blocks == 6 && memory.n_events == 4);
	assert_true(memory.has_time && memory.last_time_us == 30);

	assert_true(places[0].in.there && places[0].in.state == WSI_BLOCK_ALLOCATED);
	assert_true(places[0].in.start == 0x5000 && places[0].in.requested == 0xfc);
	const struct wsi_torch_frame *frame = wsi_torch_frame(&memory, places[0].in.stack, 0);
	assert_true(ws_str_equal(frame->file, ws_str_of("block.py")) && frame->line == 0x5000);
	assert_true(!places[0].below.there && places[0].above.start == 0x5200);

	assert_int_equal(places[1].in.state, WSI_BLOCK_INACTIVE);
	assert_true(places[1].below.start == 0x5000 && places[1].above.start == 0x5200);
	assert_int_equal(places[1].last[WSI_EVENT_ALLOC].number, 1);
	assert_int_equal(places[1].last[WSI_EVENT_FREE_REQUESTED].time_us, 20);
	assert_int_equal(places[1].last[WSI_EVENT_FREE_COMPLETED].number, 3);
	assert_int_equal(places[1].last[WSI_EVENT_SEGMENT_OUT].number, 0);

	assert_int_equal(places[2].in.state, WSI_BLOCK_PENDING);
	assert_true(!places[3].in.there && places[3].below.start == 0x9200);
	assert_int_equal(places[4].last[WSI_EVENT_SEGMENT_OUT].number, 4);

	assert_int_equal(wsi_torch_segment_at(&memory, 0x52ff)->start, 0x5000);
	assert_null(wsi_torch_segment_at(&memory, 0x5300));
	assert_null(wsi_torch_segment_at(&memory, 0x4fff));
	wsi_torch_memory_fini(&memory);
}

/* ---- what is refused ---- */

static enum ws_status status_of(const struct made *m, struct ws_error *err)
{
	struct wsi_torch_place place = { .address = 0x5110 };
	struct wsi_torch_memory memory;
	enum ws_status st = read_made(&memory, m, &place, 1, err);
	wsi_torch_memory_fini(&memory);
	return st;
}

static void what_runs_code_is_named(void **state)
{
	static const struct {
		const char *bytes, *name;
	} cases[] = {
		{ "cos\nmkdir\n.", "GLOBAL" },
		{ "}R.", "REDUCE" },
		{ "}b.", "BUILD" },
		{ "(ios\nmkdir\n.", "INST" },
		{ "(o.", "OBJ" },
		{ "}\x81.", "NEWOBJ" },
		{ "}\x92.", "NEWOBJ_EX" },
		{ "}\x93.", "STACK_GLOBAL" },
		{ "\x82\1.", "EXT1" },
		{ "P1\n.", "PERSID" },
		{ "}Q.", "BINPERSID" },
	};
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct ws_error err;
		char words[64];
		struct made m = { .n = 0 };
		put(&m, cases[i].bytes, strlen(cases[i].bytes));
		snprintf(words, sizeof words, "would run code (%s): not read", cases[i].name);
		assert_int_equal(status_of(&m, &err), WS_UNSUPPORTED);
		assert_non_null(strstr(err.message, words));
	}
}

static void other_data_is_no_snapshot(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		enum ws_status status;
	} cases[] = {
#define CASE(text, status) { text, sizeof(text) - 1, status }
		CASE("}.", WS_ABSENT),
		CASE("].", WS_ABSENT),
		CASE("K\1.", WS_ABSENT),
		CASE("}(X\10\0\0\0segmentsK\1u.", WS_ABSENT),
		CASE("}(X\10\0\0\0segments](K\1eu.", WS_ABSENT),
		CASE("}(X\10\0\0\0segments]u.", WS_OK),
		CASE("}X\10\0\0\0segments]s.", WS_OK),
		CASE("}(X\10\0\0\0segments]X\x0d\0\0\0device_traces](K\1eu.", WS_ABSENT),
		/* a list that grows after it went into another one, and one inside itself */
		CASE("]q\0]h\0ah\0K\1a.", WS_MALFORMED),
		CASE("]q\0h\0ah\0a.", WS_MALFORMED),
		/* a map that is known and gets more */
		CASE("}(X\10\0\0\0filenameNX\4\0\0\0lineK\1u(X\1\0\0\0aNu.", WS_MALFORMED),
		CASE("\x80\x06}.", WS_UNSUPPORTED),
		CASE("}", WS_TRUNCATED),
		CASE("}X\xff\xff\xff\xff", WS_TRUNCATED),
#undef CASE
	};
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct made m = { .n = 0 };
		put(&m, cases[i].bytes, cases[i].n);
		assert_int_equal(status_of(&m, NULL), cases[i].status);
	}
}

/* Two snapshots in one file are of two processes. */
static void two_snapshots_are_refused(void **state)
{
	struct made m = { .n = 0 };
	(void)state;
	PUT(&m, "\x80\x04}(");
	put_text(&m, "segments");
	PUT(&m, "](");
	put_segment(&m, 0x5000);
	PUT(&m, "e");
	put_text(&m, "other");
	put_snapshot(&m);
	PUT(&m, "u.");
	assert_int_equal(status_of(&m, NULL), WS_ABSENT);
}

/* Numbers that no memory has. */
static void impossible_blocks_are_refused(void **state)
{
	static const uint64_t starts[] = { UINT64_MAX, INT64_MAX, 0x8000000000000000 };
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(starts); i++) {
		struct made m = { .n = 0 };
		put_block(&m, starts[i], INT64_MAX, "inactive");
		PUT(&m, ".");
		enum ws_status st = status_of(&m, NULL);
		assert_int_equal(st, starts[i] <= INT64_MAX ? WS_ABSENT : WS_MALFORMED);
	}
}

/* Cut anywhere, and with any byte changed in three ways, it is refused or read. */
static void damage_is_harmless(void **state)
{
	const struct made whole = snapshot();
	(void)state;
	for (size_t n = 0; n < whole.n; n++) {
		struct made m = whole;
		m.n = n;
		assert_int_equal(status_of(&m, NULL), WS_TRUNCATED);
	}
	for (size_t at = 0; at < whole.n; at++) {
		static const uint8_t flips[] = { 0x01, 0x80, 0xff };
		for (size_t i = 0; i < WSI_COUNT(flips); i++) {
			struct made m = whole;
			m.at[at] = (char)((uint8_t)m.at[at] ^ flips[i]);
			enum ws_status st = status_of(&m, NULL);
			assert_true(st == WS_OK || st == WS_ABSENT || st == WS_TRUNCATED ||
				    st == WS_MALFORMED || st == WS_UNSUPPORTED);
		}
	}
}

/* ---- memory ---- */

static int allocations_left;

static bool fails_later(void)
{
	return allocations_left-- == 0;
}

static void missing_memory_is_told(void **state)
{
	struct made m = snapshot();
	enum ws_status st = WS_NO_MEMORY;
	(void)state;
	for (int n = 0; n < 1000 && st == WS_NO_MEMORY; n++) {
		allocations_left = n;
		wsi_alloc_should_fail = fails_later;
		st = status_of(&m, NULL);
		wsi_alloc_should_fail = NULL;
		assert_true(st == WS_OK || st == WS_NO_MEMORY);
	}
	assert_int_equal(st, WS_OK);
}

static void all_memory_is_freed(void **state)
{
	(void)state;
	assert_frees_all(an_address_has_its_block_and_neighbours);
	assert_frees_all(other_data_is_no_snapshot);
	assert_frees_all(missing_memory_is_told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_has_its_block_and_neighbours),
		cmocka_unit_test(what_runs_code_is_named),
		cmocka_unit_test(other_data_is_no_snapshot),
		cmocka_unit_test(two_snapshots_are_refused),
		cmocka_unit_test(impossible_blocks_are_refused),
		cmocka_unit_test(damage_is_harmless),
		cmocka_unit_test(missing_memory_is_told),
		cmocka_unit_test(all_memory_is_freed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
