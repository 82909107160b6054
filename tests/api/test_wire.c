/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two tables over the same target, one of them through a socket, must not be told apart: each call,
 * with good, bad and missing arguments, has the same result, changes the same bytes and fails with
 * the same words. Then what only a table through a socket has: events, threads, its end.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <warpscope/core.h>

#include "base/base.h"
#include "harness.h"
#include "route.h"
#include "target/fake.h"

static struct fake fakes[2];
static CUDBGAPI tables[2]; /* direct, through a socket */

static void start(void (*init)(struct fake *fake))
{
	for (int i = 0; i < 2; i++)
		init(&fakes[i]);
	assert_int_equal(ws_cudbg_api(&fakes[0].target, &tables[0], NULL), WS_OK);
	assert_int_equal(route_open_socket(&fakes[1].target, &tables[1]), WS_OK);
}

static void initialize(void)
{
	for (int i = 0; i < 2; i++)
		assert_int_equal(tables[i]->initialize(), CUDBG_SUCCESS);
}

static int stop(void **state)
{
	(void)state;
	ws_cudbg_release(tables[0]);
	route_close(tables[1]);
	for (int i = 0; i < 2; i++) {
		tables[i] = NULL;
		ws_target_close(&fakes[i].target);
	}
	cudbgDebuggerCapabilities = 0;
	return 0;
}

/* ---- no difference ---- */

/* Images are elsewhere, but the same. */
static void compare_images(const struct wsi_api_fn *fn, struct api_call *calls, unsigned i)
{
	const struct wsi_api_arg *arg = &fn->args[i];
	for (size_t f = 0; f < arg->n_fields; f++) {
		const struct wsi_api_field *field = &arg->fields[f];
		uint8_t *image[2];
		uint64_t n = 0;
		uint32_t kind;
		memcpy(&kind, calls[0].v[i].pointer, sizeof kind);
		if (field->handle != WSI_API_ADDRESS || field->when != (int32_t)kind)
			continue;
		const struct wsi_api_field *size = &arg->fields[field->image];
		memcpy(&n, (uint8_t *)calls[0].v[i].pointer + size->offset, size->size);
		for (int k = 0; k < 2; k++) {
			uint8_t *place = (uint8_t *)calls[k].v[i].pointer + field->offset;
			memcpy(&image[k], place, sizeof image[k]);
			memset(place, 0, field->size);
		}
		assert_int_equal(!image[0], !image[1]);
		if (image[0])
			assert_memory_equal(image[0], image[1], n);
	}
	if (arg->image >= 0) {
		uint64_t n = 0;
		void *image[2];
		memcpy(&n, calls[0].v[arg->image].pointer, fn->args[arg->image].size);
		for (int k = 0; k < 2; k++)
			memcpy(&image[k], calls[k].v[i].pointer, sizeof image[k]);
		assert_memory_equal(image[0], image[1], n);
		memcpy(calls[1].v[i].pointer, &image[0], sizeof image[0]);
	}
}

static void compare_words(void)
{
	char words[2][400];
	CUDBGResult result[2];
	for (int i = 0; i < 2; i++) {
		memset(words[i], 0, sizeof words[i]);
		result[i] = tables[i]->getErrorStringEx(words[i], sizeof words[i], NULL);
	}
	assert_int_equal(result[0], result[1]);
	assert_string_equal(words[0], words[1]);
}

/* The same call on both; `null`: an argument that is NULL. */
static void compare(unsigned slot, int edge, uint64_t value, int null)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[slot];
	struct api_call calls[2];
	CUDBGResult result[2];
	const char *wrong;
	for (int k = 0; k < 2; k++) {
		api_call_init(&calls[k], slot);
		if (edge >= 0)
			calls[k].v[edge].number = value;
		api_call_buffers(&calls[k]);
		if (null >= 0)
			calls[k].v[null].pointer = NULL;
		wrong = api_call_run(&calls[k], tables[k], &result[k]);
		if (wrong)
			fail_msg("%s", wrong);
	}
	if (result[0] != result[1])
		fail_msg("%s(%s): %s, through a socket %s", fn->name,
			 edge >= 0 ? fn->args[edge].name : "", cudbgGetErrorString(result[0]),
			 cudbgGetErrorString(result[1]));
	for (unsigned i = 0; i < fn->n_args; i++) {
		if (result[0] == CUDBG_SUCCESS && calls[0].v[i].pointer && calls[0].block[i])
			compare_images(fn, calls, i);
		if (calls[0].block[i] && memcmp(calls[0].block[i], calls[1].block[i],
						calls[0].bytes[i] + 2 * HARNESS_GUARD) != 0)
			fail_msg("%s: %s differs through a socket", fn->name, fn->args[i].name);
	}
	compare_words();
	for (int k = 0; k < 2; k++)
		api_call_fini(&calls[k]);
}

static void compare_all(void)
{
	static const uint64_t edges[] = { 0,       1,          2,   7,           64,        255,
					  1 << 20, UINT32_MAX, 513, FAKE_GLOBAL, UINT64_MAX };
	for (unsigned slot = 0; slot < WSI_API_SLOTS; slot++) {
		const struct wsi_api_fn *fn = &wsi_api_functions[slot];
		if (slot == SLOT(initialize) || slot == SLOT(finalize) ||
		    slot == SLOT(generateCoredump)) /* it names the time */
			continue;
		compare(slot, -1, 0, -1);
		for (unsigned i = 0; i < fn->n_args; i++) {
			bool is_value = fn->args[i].way == WSI_API_VALUE;
			bool is_callback = wsi_api_is_callback(&fn->args[i]);
			if (!is_value)
				compare(slot, -1, 0, (int)i);
			for (size_t e = 0; is_value && !is_callback && e < WSI_COUNT(edges); e++)
				compare(slot, (int)i, edges[e], -1);
		}
	}
}

static void no_call_tells_the_two_apart(void **state)
{
	(void)state;
	static void (*const inits[])(struct fake *) = { fake_init_still, fake_init_running };
	for (size_t i = 0; i < WSI_COUNT(inits); i++) {
		start(inits[i]);
		cudbgDebuggerCapabilities = CUDBG_DEBUGGER_CAPABILITY_LAZY_FUNCTION_LOADING;
		compare_all(); /* before `initialize` */
		initialize();
		compare_all();
		for (int k = 0; k < 2; k++)
			assert_int_equal(tables[k]->finalize(), CUDBG_SUCCESS);
		compare_all();
		initialize(); /* events again */
		compare_all();
		stop(NULL);
	}
}

static void nor_does_a_failing_target(void **state)
{
	(void)state;
	for (int op = 1; op < FAKE_OPS; op++) {
		start(fake_init_running);
		initialize();
		for (int k = 0; k < 2; k++) {
			fakes[k].fail_op = (enum fake_op)op;
			fakes[k].fail_status = WS_MALFORMED;
		}
		for (unsigned slot = 2; slot < WSI_API_SLOTS; slot++)
			if (slot != SLOT(generateCoredump))
				compare(slot, -1, 0, -1);
		stop(NULL);
	}
}

/* ---- images that are lent ---- */

/* The image as it was compiled, `less` bytes shorter than the relocated one. */
static void give_both_forms(size_t less)
{
	static uint8_t bytes[1 << 16];
	for (int k = 0; k < 2; k++) {
		struct ws_module *module = &fakes[k].module[0];
		assert_in_range(module->relocated.len, less + 1, sizeof bytes);
		memset(bytes, 0x5e, sizeof bytes);
		module->original = (struct ws_span){ bytes, module->relocated.len - less, 0 };
		module->original_status = WS_OK;
	}
}

static void an_image_stays_until_the_end_of_the_session(void **state)
{
	(void)state;
	void *image[3] = { NULL };
	uint64_t size[3];
	start(fake_init_still);
	give_both_forms(4);
	initialize();
	CUDBGAPI api = tables[1];
	for (int i = 0; i < 3; i++)
		assert_int_equal(api->getElfImage(0, 1, 0, i != 1, &image[i], &size[i]),
				 CUDBG_SUCCESS);
	assert_ptr_equal(image[0], image[2]);
	assert_int_equal(size[0], size[2]);
	assert_ptr_not_equal(image[0], image[1]);
	for (int i = 0; i < 2; i++)
		assert_memory_equal(image[i],
				    i ? fakes[1].module[0].original.ptr
				      : fakes[1].module[0].relocated.ptr,
				    size[i]);
}

/* A form that is shorter than the one size that an event tells is not lent. */
static void an_event_lends_what_it_tells_of(void **state)
{
	(void)state;
	for (size_t less = 0; less < 2; less++) {
		start(fake_init_still);
		give_both_forms(less);
		initialize();
		for (int k = 0; k < 2; k++) {
			CUDBGEvent42 event;
			do
				assert_int_equal(tables[k]->getNextEvent42(&event), CUDBG_SUCCESS);
			while (event.kind != CUDBG_EVENT_ELF_IMAGE_LOADED);
			const struct ws_span relocated = fakes[k].module[0].relocated;
			assert_int_equal(event.cases.elfImageLoaded.size, relocated.len);
			assert_memory_equal(event.cases.elfImageLoaded.relocatedElfImage,
					    relocated.ptr, relocated.len);
			if (less)
				assert_null(event.cases.elfImageLoaded.nonRelocatedElfImage);
			else
				assert_memory_equal(event.cases.elfImageLoaded.nonRelocatedElfImage,
						    fakes[k].module[0].original.ptr, relocated.len);
		}
		stop(NULL);
	}
}

/* ---- events ---- */

struct told {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned n;
	uint32_t tid;
	CUDBGResult inside; /* of a call that is not allowed */
	char words[200];
};
static struct told told = { .lock = PTHREAD_MUTEX_INITIALIZER,
			    .changed = PTHREAD_COND_INITIALIZER };

static void note_event(CUDBGEventCallbackData *data)
{
	struct told *t = data->userData;
	uint32_t n;
	CUDBGResult result = tables[1]->getNumDevices(&n);
	pthread_mutex_lock(&t->lock);
	t->n++;
	t->tid = data->tid;
	t->inside = result;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

/* Until so many were told of; checks what is known of the last, and that there were no more. */
static void expect_told(unsigned n, uint32_t tid)
{
	pthread_mutex_lock(&told.lock);
	while (told.n < n)
		pthread_cond_wait(&told.changed, &told.lock);
	const unsigned now = told.n;
	const uint32_t last = told.tid;
	const CUDBGResult inside = told.inside;
	pthread_mutex_unlock(&told.lock);
	assert_int_equal(now, n);
	assert_int_equal(last, tid);
	assert_int_equal(inside, CUDBG_ERROR_RECURSIVE_API_CALL);
}

static void events_are_told_one_by_one(void **state)
{
	(void)state;
	CUDBGEvent event;
	start(fake_init_running);
	initialize();
	CUDBGAPI api = tables[1];
	while (api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_SYNC, &event) == CUDBG_SUCCESS)
		continue;
	told.n = 0;
	assert_int_equal(api->setNotifyNewEventCallback(note_event, &told), CUDBG_SUCCESS);
	for (uint32_t i = 1; i <= 5; i++) {
		const struct ws_event created = { .kind = WS_EVENT_CONTEXT_CREATED,
						  .sync = true,
						  .host_tid = 100 + i,
						  .context_id = 5 };
		fake_event(&fakes[1], &created);
		expect_told(i, 100 + i);
	}
	assert_int_equal(api->setNotifyNewEventCallback(NULL, NULL), CUDBG_SUCCESS);
	for (uint32_t i = 1; i <= 5; i++)
		assert_int_equal(api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_SYNC, &event),
				 CUDBG_SUCCESS);
	expect_told(5, 105);
}

/* Who does not take the event of a stop is told of the stop all the same. */
static void a_stop_is_told_with_and_without_its_event(void **state)
{
	(void)state;
	static const uint32_t capabilities[] = { 0, CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS };
	const struct ws_event stopped = { .kind = WS_EVENT_STOPPED, .sync = true };
	for (size_t i = 0; i < WSI_COUNT(capabilities); i++) {
		CUDBGEvent event;
		start(fake_init_running);
		cudbgDebuggerCapabilities = capabilities[i];
		initialize();
		CUDBGAPI api = tables[1];
		while (api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_SYNC, &event) == CUDBG_SUCCESS)
			continue;
		told.n = 0;
		assert_int_equal(api->setNotifyNewEventCallback(note_event, &told), CUDBG_SUCCESS);
		fake_event(&fakes[1], &stopped);
		expect_told(1, 0);
		assert_int_equal(api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_SYNC, &event),
				 i ? CUDBG_SUCCESS : CUDBG_ERROR_NO_EVENT_AVAILABLE);
		stop(NULL);
	}
}

/* ---- threads ---- */

static void *fail_elsewhere(void *data)
{
	uint32_t n;
	(void)data;
	assert_int_equal(tables[1]->getNumSMs(8, &n), CUDBG_ERROR_INVALID_ARGS);
	return NULL;
}

static void words_are_those_of_the_thread(void **state)
{
	(void)state;
	pthread_t other;
	uint32_t n;
	char text[200];
	start(fake_init_still);
	initialize();
	assert_int_equal(tables[1]->getNumSMs(7, &n), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(pthread_create(&other, NULL, fail_elsewhere, NULL), 0);
	pthread_join(other, NULL);
	assert_int_equal(tables[1]->getErrorStringEx(text, sizeof text, NULL), CUDBG_SUCCESS);
	assert_string_equal(text, "getNumSMs: there is no device 7 (CUDBG_ERROR_INVALID_ARGS)");
}

static void *count_devices(void *data)
{
	uint32_t n = 0;
	for (int i = 0; i < 500; i++)
		if (tables[1]->getNumDevices(&n) != CUDBG_SUCCESS || n != *(uint32_t *)data)
			return NULL;
	return data;
}

static void threads_do_not_mix(void **state)
{
	(void)state;
	pthread_t threads[4];
	uint32_t n;
	start(fake_init_still);
	initialize();
	assert_int_equal(tables[1]->getNumDevices(&n), CUDBG_SUCCESS);
	for (size_t i = 0; i < WSI_COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count_devices, &n), 0);
	for (size_t i = 0; i < WSI_COUNT(threads); i++) {
		void *good;
		pthread_join(threads[i], &good);
		assert_non_null(good);
	}
}

/* ---- what is too much ---- */

static bool no_memory(void)
{
	return true;
}

static void more_than_can_be_carried_is_refused(void **state)
{
	(void)state;
	static uint8_t bytes[4096];
	char text[200];
	start(fake_init_still);
	initialize();
	CUDBGAPI api = tables[1];
	assert_int_equal(api->readGlobalMemory(FAKE_GLOBAL, bytes, UINT32_MAX),
			 CUDBG_ERROR_OS_RESOURCES);
	assert_int_equal(api->getErrorStringEx(text, sizeof text, NULL), CUDBG_SUCCESS);
	assert_string_equal(text, "readGlobalMemory: more than can be sent to the process with the "
				  "devices (CUDBG_ERROR_OS_RESOURCES)");
	wsi_alloc_should_fail = no_memory;
	CUDBGResult result = api->readGlobalMemory(FAKE_GLOBAL, bytes, sizeof bytes);
	wsi_alloc_should_fail = NULL;
	assert_int_equal(result, CUDBG_ERROR_OS_RESOURCES);
	assert_int_equal(api->readGlobalMemory(FAKE_GLOBAL, bytes, 16), CUDBG_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_call_tells_the_two_apart),
		cmocka_unit_test(nor_does_a_failing_target),
		cmocka_unit_test_teardown(an_image_stays_until_the_end_of_the_session, stop),
		cmocka_unit_test(an_event_lends_what_it_tells_of),
		cmocka_unit_test_teardown(events_are_told_one_by_one, stop),
		cmocka_unit_test(a_stop_is_told_with_and_without_its_event),
		cmocka_unit_test_teardown(words_are_those_of_the_thread, stop),
		cmocka_unit_test_teardown(threads_do_not_mix, stop),
		cmocka_unit_test_teardown(more_than_can_be_carried_is_refused, stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
