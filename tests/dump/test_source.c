/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dumps that are read in windows, by functions that fail, hand out little or lie, and by several
 * threads. That all answers are those of a mapped dump is in windows.c. usage: test_source FOLDER
 */
#include "seed.h"

#include <pthread.h>
#include <warpscope/report.h>

#include "walk.h"

/* A file in memory, behind a function. */
struct device {
	uint8_t *bytes; /* owned */
	size_t len;
	unsigned calls, fail_from, fail_to; /* the calls that fail */
	uint64_t bad_from, bad_to;          /* bytes that cannot be read */
	size_t most;                        /* bytes handed out at a time; 0: all */
	bool lies;                          /* says that it copied more than was wanted */
};

static size_t device_read(void *user, uint64_t off, void *buffer, size_t n)
{
	struct device *device = user;
	unsigned call = device->calls++;
	if (call >= device->fail_from && call < device->fail_to)
		return 0;
	assert_true(n > 0 && off <= device->len && n <= device->len - off);
	if (device->most && n > device->most)
		n = device->most;
	if (off < device->bad_to && off + n > device->bad_from) {
		if (off >= device->bad_from)
			return 0;
		n = (size_t)(device->bad_from - off);
	}
	memcpy(buffer, device->bytes + off, n);
	return device->lies ? n + 1 : n;
}

static struct device example(const char *name)
{
	struct device device = { 0 };
	char path[4096];
	assert_true(wsi_format(path, "%s/../../../examples/dumps/%s", seeds, name));
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	device.bytes = wsi_zalloc(1 << 20);
	assert_non_null(device.bytes);
	device.len = fread(device.bytes, 1, 1 << 20, file);
	fclose(file);
	return device;
}

static enum ws_status device_open(struct device *device, uint32_t window_bytes,
				  struct ws_target **ret_target, struct ws_error *err)
{
	struct ws_core_source source = { .size = sizeof source,
					 .n_bytes = device->len,
					 .read = device_read,
					 .user = device,
					 .window_bytes = window_bytes };
	return ws_core_open_source(&source, "a dump", NULL, ret_target, err);
}

/* ---- the source itself ---- */

static struct wsi_input source_of(struct device *device, uint32_t window_bytes)
{
	struct wsi_input source;
	struct wsi_window_options options = { .read = device_read,
					      .user = device,
					      .size = device->len,
					      .window_bytes = window_bytes };
	assert_int_equal(wsi_input_open(&options, &source, NULL), WS_OK);
	return source;
}

static void bytes_come_through_windows(void **state)
{
	(void)state;
	struct device device = example("hang.nvcudmp");
	for (uint32_t window = 1; window <= 65536; window *= 4) {
		struct wsi_input source = source_of(&device, window);
		struct wsi_input part = wsi_input_part(&source, (struct wsi_slice){ 1000, 50000 });
		uint8_t buffer[300];
		for (uint64_t off = 0; off + sizeof buffer < device.len; off += 3301) {
			assert_int_equal(wsi_input_read(&source, off, buffer, sizeof buffer, NULL),
					 WS_OK);
			assert_memory_equal(buffer, device.bytes + off, sizeof buffer);
		}
		assert_memory_equal(wsi_input_view(&part, 17, 100, buffer), device.bytes + 1017,
				    100);
		assert_int_equal(wsi_input_origin(&part), 1000);
		struct wsi_slice cut = wsi_input_clip(&part, 49990, UINT64_MAX);
		assert_int_equal(cut.len, 10);
		wsi_input_close(&source);
	}
	wsi_free(device.bytes);
}

static void what_is_held_is_read_once(void **state)
{
	(void)state;
	struct device device = example("hang.nvcudmp");
	struct wsi_input source = source_of(&device, 512);
	struct ws_span first, again, none;
	assert_int_equal(wsi_input_hold(&source, (struct wsi_slice){ 100, 70000 }, &first, NULL),
			 WS_OK);
	assert_memory_equal(first.ptr, device.bytes + 100, 70000);
	assert_int_equal(first.origin, 100);
	unsigned calls = device.calls;
	assert_int_equal(wsi_input_hold(&source, (struct wsi_slice){ 100, 70000 }, &again, NULL),
			 WS_OK);
	assert_ptr_equal(again.ptr, first.ptr);
	assert_int_equal(device.calls, calls);
	assert_int_equal(wsi_input_hold(&source, (struct wsi_slice){ 7, 0 }, &none, NULL), WS_OK);
	assert_int_equal(none.len, 0);
	/* so is what cannot be read */
	device.bad_to = UINT64_MAX;
	assert_int_equal(wsi_input_hold(&source, (struct wsi_slice){ 0, 2000 }, &none, NULL),
			 WS_IO);
	calls = device.calls;
	assert_int_equal(wsi_input_hold(&source, (struct wsi_slice){ 0, 2000 }, &none, NULL),
			 WS_IO);
	assert_int_equal(device.calls, calls);
	wsi_input_close(&source);
	wsi_free(device.bytes);
}

static void little_at_a_time_is_enough_and_too_much_is_refused(void **state)
{
	(void)state;
	struct device device = example("hang.nvcudmp");
	struct wsi_input source = source_of(&device, 4096);
	uint8_t buffer[600];
	struct ws_error err;
	device.most = 1;
	assert_int_equal(wsi_input_read(&source, 5000, buffer, sizeof buffer, &err), WS_OK);
	assert_memory_equal(buffer, device.bytes + 5000, sizeof buffer);
	device.most = 0;
	device.lies = true;
	assert_int_equal(wsi_input_read(&source, 20000, buffer, sizeof buffer, &err), WS_IO);
	assert_int_equal(err.file_off, 20000);
	assert_string_equal(err.message, "600 bytes at 0x4e20 of the file cannot be read");
	wsi_input_close(&source);
	wsi_free(device.bytes);
}

/* Bytes that cannot be read cost nothing but themselves: those of their window are still read. */
static void a_bad_byte_costs_only_what_has_it(void **state)
{
	(void)state;
	struct device device = example("hang.nvcudmp");
	struct wsi_input source = source_of(&device, 4096);
	uint8_t buffer[100];
	device.bad_from = 8300, device.bad_to = 8301;
	assert_int_equal(wsi_input_read(&source, 8200, buffer, 100, NULL), WS_OK);
	assert_memory_equal(buffer, device.bytes + 8200, 100);
	assert_int_equal(wsi_input_read(&source, 8201, buffer, 100, NULL), WS_IO);
	assert_int_equal(wsi_input_read(&source, 8301, buffer, 100, NULL), WS_OK);
	assert_memory_equal(buffer, device.bytes + 8301, 100);
	device.bad_to = 0;
	assert_int_equal(wsi_input_read(&source, 8201, buffer, 100, NULL), WS_OK);
	wsi_input_close(&source);
	wsi_free(device.bytes);
}

/* ---- dumps ---- */

struct page {
	char text[65536];
	size_t len;
};

static bool page_add(void *user, const char *bytes, size_t len)
{
	struct page *page = user;
	if (len > sizeof page->text - 1 - page->len)
		return false;
	memcpy(page->text + page->len, bytes, len);
	page->len += len;
	page->text[page->len] = 0;
	return true;
}

/* The report of a device, or why there is none. */
static void page_of(struct device *device, uint32_t window_bytes, struct page *page)
{
	struct ws_report_options options = { .size = sizeof options, .no_source = true };
	const struct ws_report *report;
	struct ws_target *target;
	struct ws_error err;
	struct ws_out out;
	page->len = 0;
	enum ws_status st = device_open(device, window_bytes, &target, &err);
	if (st == WS_OK) {
		assert_int_equal(ws_report_create(target, &options, &report, &err), WS_OK);
		ws_out_init(&out, page_add, page);
		assert_int_equal(ws_report_text(report, NULL, &out, &err), WS_OK);
		assert_int_equal(ws_out_flush(&out, &err), WS_OK);
		ws_report_destroy(report);
		ws_target_close(target);
		return;
	}
	assert_true(st == WS_IO);
	assert_true(page_add(page, err.message, strlen(err.message)));
}

/* Whichever read fails: the page is the same, or says what could not be read. */
static void a_read_that_fails_is_told(void **state)
{
	(void)state;
	static struct page whole, got;
	struct device device = example("illegal-address.nvcudmp");
	unsigned differ = 0;
	page_of(&device, 1024, &whole);
	unsigned calls = device.calls;
	assert_in_range(calls, 20, 2000);
	for (unsigned call = 0; call < calls; call++) {
		for (unsigned n = 2; n <= 100000; n += 99998) {
			device.calls = 0;
			device.fail_from = call;
			device.fail_to = call + n;
			page_of(&device, 1024, &got);
			if (strcmp(got.text, whole.text) == 0)
				continue;
			differ++;
			if (!strstr(got.text, "cannot be read"))
				fail_msg("reads %u to %u fail, and the page only says: %s", call,
					 call + n,
					 got.len > 1500 ? got.text + got.len - 1500 : got.text);
		}
	}
	assert_true(differ > 20);
	wsi_free(device.bytes);
}

static void a_file_that_shrinks_is_told(void **state)
{
	(void)state;
	static struct page whole, got;
	struct device device = example("illegal-address.nvcudmp");
	page_of(&device, 4096, &whole);
	device.bad_to = UINT64_MAX;
	for (device.bad_from = 0; device.bad_from < device.len; device.bad_from += 4999) {
		page_of(&device, 4096, &got);
		if (strcmp(got.text, whole.text) != 0 && !strstr(got.text, "cannot be read"))
			fail_msg("the file has %" PRIu64 " bytes, and the page only says: %s",
				 device.bad_from, got.text);
	}
	wsi_free(device.bytes);
}

static void *walk_it(void *target)
{
	uint64_t *hash = wsi_zalloc(sizeof *hash);
	if (hash)
		*hash = core_walk(target);
	return hash;
}

static void threads_share_the_windows(void **state)
{
	(void)state;
	struct device device = example("exited.nvcudmp");
	struct ws_target *target;
	pthread_t threads[4];
	assert_int_equal(device_open(&device, 256, &target, NULL), WS_OK);
	uint64_t hash = core_walk(target);
	for (size_t i = 0; i < WSI_COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, walk_it, target), 0);
	for (size_t i = 0; i < WSI_COUNT(threads); i++) {
		void *got = NULL;
		pthread_join(threads[i], &got);
		assert_non_null(got);
		assert_true(*(uint64_t *)got == hash);
		wsi_free(got);
	}
	ws_target_close(target);
	wsi_free(device.bytes);
}

int main(int argc, char **argv)
{
	assert_true(argc > 1);
	seeds = argv[1];
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_come_through_windows),
		cmocka_unit_test(what_is_held_is_read_once),
		cmocka_unit_test(little_at_a_time_is_enough_and_too_much_is_refused),
		cmocka_unit_test(a_bad_byte_costs_only_what_has_it),
		cmocka_unit_test(a_read_that_fails_is_told),
		cmocka_unit_test(a_file_that_shrinks_is_told),
		cmocka_unit_test(threads_share_the_windows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
