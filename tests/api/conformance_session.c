/* SPDX-License-Identifier: Apache-2.0 */
/* The session: callback, errors, several tables, versions. */
#include "conformance.h"

/* ---- the callback ---- */

enum generation { OF_NEWEST, OF_31, OF_40, OF_41, GENERATIONS };

static CUDBGResult in_callback[WSI_API_SLOTS];
static CUDBGEvent read_in_callback;
static unsigned callbacks[GENERATIONS];
static pthread_t callback_thread;
static pthread_mutex_t callback_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t callback_cond = PTHREAD_COND_INITIALIZER;

static void count_callback(enum generation generation)
{
	pthread_mutex_lock(&callback_lock);
	callback_thread = pthread_self();
	callbacks[generation]++;
	pthread_cond_broadcast(&callback_cond);
	pthread_mutex_unlock(&callback_lock);
}

/* Until it was called; returns the thread. */
static pthread_t wait_for_callback(enum generation generation)
{
	pthread_mutex_lock(&callback_lock);
	while (callbacks[generation] == 0)
		pthread_cond_wait(&callback_cond, &callback_lock);
	pthread_t thread = callback_thread;
	pthread_mutex_unlock(&callback_lock);
	return thread;
}

static void call_everything(CUDBGEventCallbackData *data)
{
	if (data->userData == &fake && callbacks[OF_NEWEST] == 0)
		for (unsigned slot = 0; slot < WSI_API_SLOTS; slot++) {
			struct api_call call;
			api_call_init(&call, slot);
			api_call_buffers(&call);
			(void)api_call_run(&call, api, &in_callback[slot]);
			if (slot == SLOT(getNextEvent))
				memcpy(&read_in_callback, call.v[1].pointer,
				       sizeof read_in_callback);
			api_call_fini(&call);
		}
	count_callback(OF_NEWEST);
}

void inside_the_callback_only_events_are_served(void **state)
{
	(void)state;
	start(false);
	memset(callbacks, 0, sizeof callbacks);
	assert_int_equal(CALL(setNotifyNewEventCallback, call_everything, &fake), CUDBG_SUCCESS);
	assert_int_equal(CALL0(initialize), CUDBG_SUCCESS);
	(void)wait_for_callback(OF_NEWEST);
	stop(); /* joins the thread */
	for (unsigned slot = 0; slot < WSI_API_SLOTS; slot++) {
		const struct wsi_api_fn *fn = &wsi_api_functions[slot];
		if (fn->in_callback == (in_callback[slot] == CUDBG_ERROR_RECURSIVE_API_CALL))
			fail_msg("%s inside the callback: %s", fn->name,
				 cudbgGetErrorString(in_callback[slot]));
	}
}

static void callback31(void *data)
{
	if (data == &fake)
		count_callback(OF_31);
}

static void callback40(CUDBGEventCallbackData40 *data)
{
	if (data->tid == 4711)
		count_callback(OF_40);
}

static void callback41(CUDBGEventCallbackData41 *data)
{
	if (data->tid == 4711 && data->timeout == 0)
		count_callback(OF_41);
}

void old_callbacks_run_on_one_thread(void **state)
{
	(void)state;
	start_ready(true, 0);
	memset(callbacks, 0, sizeof callbacks);
	assert_int_equal(CALL(setNotifyNewEventCallback31, callback31, &fake), CUDBG_SUCCESS);
	pthread_t first = wait_for_callback(OF_31); /* for what initialize queued */
	CUDBGEvent event;
	while (CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_SYNC, &event) == CUDBG_SUCCESS)
		continue;
	const struct ws_event created = {
		.kind = WS_EVENT_CONTEXT_CREATED, .sync = true, .host_tid = 4711, .context_id = 5
	};
	assert_int_equal(CALL(setNotifyNewEventCallback40, callback40), CUDBG_SUCCESS);
	fake_event(&fake, &created);
	assert_true(pthread_equal(first, wait_for_callback(OF_40)));
	assert_int_equal(CALL(setNotifyNewEventCallback41, callback41), CUDBG_SUCCESS);
	fake_event(&fake, &created);
	assert_true(pthread_equal(first, wait_for_callback(OF_41)));
	assert_int_equal(CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_SYNC, &event), CUDBG_SUCCESS);
	assert_int_equal(event.kind, CUDBG_EVENT_CTX_CREATE);
	stop();
}

/* ---- session ---- */

void initialize_reports_what_it_lacks(void **state)
{
	(void)state;
	start(false);
	fake.target.counts.devices = 0;
	assert_int_equal(CALL0(initialize), CUDBG_ERROR_NO_DEVICE_AVAILABLE);
	fake.target.counts.devices = 2;
	fake.fail_op = FAKE_SM;
	fake.fail_status = WS_MALFORMED;
	assert_int_equal(CALL0(initialize), CUDBG_ERROR_INITIALIZATION_FAILURE);
	fake.fail_op = FAKE_NOTHING;
	assert_int_equal(CALL0(initialize), CUDBG_SUCCESS);
	assert_int_equal(CALL0(initialize), CUDBG_SUCCESS);
	assert_int_equal(CALL0(finalize), CUDBG_SUCCESS);
	assert_int_equal(CALL0(finalize), CUDBG_ERROR_UNINITIALIZED);
	stop();
}

void errors_have_words_until_the_next_call(void **state)
{
	(void)state;
	char text[300];
	uint32_t size, n;
	start_ready(false, 0);
	assert_int_equal(CALL(getErrorStringEx, text, sizeof text, &size), CUDBG_SUCCESS);
	assert_int_equal(size, 1);
	assert_int_equal(CALL(getNumSMs, 9, &n), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(getErrorStringEx, NULL, 0, &size), CUDBG_SUCCESS);
	assert_int_equal(CALL(getErrorStringEx, text, size - 1, NULL),
			 CUDBG_ERROR_BUFFER_TOO_SMALL);
	assert_int_equal(CALL(getErrorStringEx, text, size, NULL), CUDBG_SUCCESS);
	assert_int_equal(strlen(text) + 1, size);
	assert_string_equal(text, "getNumSMs: there is no device 9 (CUDBG_ERROR_INVALID_ARGS)");
	assert_int_equal(CALL(getErrorStringEx, NULL, 0, NULL), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(getErrorStringEx, NULL, 5, &size), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(CALL(getErrorStringEx, text, sizeof text, &size), CUDBG_SUCCESS);
	assert_true(size > 1); /* its own failures do not count */
	assert_int_equal(CALL(getNumSMs, 0, &n), CUDBG_SUCCESS);
	assert_int_equal(CALL(getErrorStringEx, text, sizeof text, &size), CUDBG_SUCCESS);
	assert_int_equal(size, 1);
	stop();
}

void tables_do_not_disturb_each_other(void **state)
{
	(void)state;
	static struct fake fakes[WS_CUDBG_MAX_TABLES];
	CUDBGAPI tables[WS_CUDBG_MAX_TABLES], extra;
	uint32_t n;
	char text[300];
	for (unsigned i = 0; i < WS_CUDBG_MAX_TABLES; i++) {
		fake_init_still(&fakes[i]);
		fakes[i].registers[3] = i;
		assert_int_equal(ws_cudbg_api(&fakes[i].target, &tables[i], NULL), WS_OK);
		assert_int_equal(tables[i]->initialize(), CUDBG_SUCCESS);
	}
	struct ws_error err;
	assert_int_equal(ws_cudbg_api(&fakes[0].target, &extra, &err), WS_LIMIT);
	assert_int_equal(tables[1]->getNumSMs(7, &n), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(tables[2]->getNumSMs(8, &n), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(tables[1]->getErrorStringEx(text, sizeof text, NULL), CUDBG_SUCCESS);
	assert_non_null(strstr(text, "device 7"));
	for (unsigned i = 0; i < WS_CUDBG_MAX_TABLES; i++) {
		assert_int_equal(tables[i]->readRegister(0, 1, 0, 0, 3, &n), CUDBG_SUCCESS);
		assert_int_equal(n, i);
		ws_cudbg_release(tables[i]);
		ws_cudbg_release(NULL);
	}
	assert_int_equal(ws_cudbg_api(&fakes[0].target, &extra, NULL), WS_OK);
	ws_cudbg_release(extra);
	for (unsigned i = 0; i < WS_CUDBG_MAX_TABLES; i++)
		ws_target_close(&fakes[i].target);
	assert_int_equal(ws_cudbg_api(NULL, &extra, NULL), WS_ARGUMENT);
}

/* ---- the versions ---- */

void every_version_of_two_majors_is_served(void **state)
{
	(void)state;
	uint32_t major, minor, rev;
	CUDBGAPI table = NULL;
	assert_int_equal(cudbgGetAPIVersion(&major, &minor, &rev), CUDBG_SUCCESS);
	assert_true(major == 13 && minor == 2 && rev == 172);
	assert_int_equal(cudbgGetAPIVersion(NULL, &minor, &rev), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(cudbgGetAPIVersion(&major, NULL, &rev), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(cudbgGetAPIVersion(&major, &minor, NULL), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(cudbgGetAPI(13, 2, 172, NULL), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(cudbgGetAPI(11, 8, 132, &table), CUDBG_ERROR_INCOMPATIBLE_API);
	assert_int_equal(cudbgGetAPI(14, 0, 300, &table), CUDBG_ERROR_INCOMPATIBLE_API);
	assert_null(table);
	for (uint32_t m = 12; m <= 13; m++)
		for (uint32_t r = 0; r < 300; r += 50)
			assert_int_equal(cudbgGetAPI(m, r % 10, r, &table), CUDBG_SUCCESS);
	assert_int_equal(unsetenv("WARPSCOPE_CORE"), 0);
	assert_int_equal(table->initialize(), CUDBG_ERROR_INITIALIZATION_FAILURE);
	assert_int_equal(table->getNumDevices(&major), CUDBG_ERROR_UNINITIALIZED);
	assert_string_equal(cudbgGetErrorString(CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT),
			    "CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT");
	assert_string_equal(cudbgGetErrorString((CUDBGResult)0x30), "*UNDEFINED*");
}
