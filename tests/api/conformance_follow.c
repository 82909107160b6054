/* SPDX-License-Identifier: Apache-2.0 */
/* A session follows a target that runs, at the cost of what changed. */
#include "conformance.h"

enum { SMS = 5, WARPS = 6, LANES = 8, ALL = SMS * WARPS };

static uint32_t seed;

static uint32_t pick(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static void start_plain(void)
{
	fake_init(&fake, SMS, WARPS, LANES);
	fake_may_run(&fake);
	assert_int_equal(route_open(&fake.target, &api), WS_OK);
	assert_int_equal(CALL0(initialize), CUDBG_SUCCESS);
}

/* All that the stock of a session holds, through a table. */
struct seen {
	uint64_t valid[SMS], broken[SMS], faulted;
	uint32_t active[ALL];
	CUDBGBreakpointHandle hit[ALL];
};

static void look(CUDBGAPI table, struct seen *ret)
{
	memset(ret, 0, sizeof *ret);
	assert_int_equal(table->readDeviceExceptionState80(0, &ret->faulted), CUDBG_SUCCESS);
	for (uint32_t sm = 0; sm < SMS; sm++) {
		assert_int_equal(table->readValidWarps(0, sm, &ret->valid[sm]), CUDBG_SUCCESS);
		assert_int_equal(table->readBrokenWarps(0, sm, &ret->broken[sm]), CUDBG_SUCCESS);
		for (uint32_t wp = 0; wp < WARPS; wp++) {
			uint32_t i = sm * WARPS + wp;
			assert_int_equal(table->readActiveLanes(0, sm, wp, &ret->active[i]),
					 CUDBG_SUCCESS);
			if (ret->broken[sm] >> wp & 1)
				assert_int_equal(
					table->getWarpHitBreakpoint(0, sm, wp, &ret->hit[i]),
					CUDBG_SUCCESS);
		}
	}
}

static void alter(uint32_t index, struct ws_change *ret)
{
	struct ws_warp *warp = &fake.warp[index];
	warp->active_lanes = 1 + pick(255);
	warp->broken = pick(2);
	warp->have = WS_WARP_BROKEN | WS_WARP_STOP;
	warp->stop = pick(2) ? WS_STOP_LAUNCH : WS_STOP_INTERNAL;
	warp->error_pc_valid = pick(2);
	fake.lane[index][0].exception = pick(9) ? 0 : 14;
	fake.sm[warp->sm_index].exception = pick(2) ? 0 : 6;
	*ret = (struct ws_change){ warp->sm_index, UINT64_C(1) << warp->id };
}

/* After any changes a session that followed answers as one that starts then. */
void a_session_follows_what_changed(void **state)
{
	(void)state;
	struct seen ours, fresh;
	seed = 7;
	start_plain();
	for (int round = 0; round < 300; round++) {
		struct ws_change changes[4];
		uint32_t n = pick(4);
		CUDBGAPI other;
		for (uint32_t i = 0; i < n; i++)
			alter(pick(ALL), &changes[i]);
		if (pick(10))
			ws_target_changed_warps(&fake.target, changes, n);
		else
			ws_target_changed(&fake.target, &fake.target.counts);
		if (!pick(3))
			continue; /* several at once */
		look(api, &ours);
		assert_int_equal(route_open(&fake.target, &other), WS_OK);
		assert_int_equal(other->initialize(), CUDBG_SUCCESS);
		look(other, &fresh);
		assert_int_equal(other->finalize(), CUDBG_SUCCESS);
		route_close(other);
		assert_memory_equal(&ours, &fresh, sizeof ours);
	}
	stop();
}

/* The kind, mask of SMs and bytes of the response to an update request. */
static uint32_t update(CUDBGDeviceInfoQueryType_t *ret_type, uint64_t *ret_sms)
{
	static uint8_t buffer[1 << 20];
	CUDBGDeviceInfo info;
	uint32_t length = 0;
	assert_int_equal(
		CALL(getDeviceInfo, 0, CUDBG_RESPONSE_TYPE_UPDATE, buffer, sizeof buffer, &length),
		CUDBG_SUCCESS);
	memcpy(&info, buffer, sizeof info);
	memcpy(ret_sms, buffer + sizeof info, sizeof *ret_sms);
	*ret_type = info.responseType;
	return length;
}

void a_step_costs_what_it_changed(void **state)
{
	(void)state;
	CUDBGDeviceInfoQueryType_t type;
	uint64_t sms, mask;
	start_plain();
	uint32_t whole = update(&type, &sms);
	assert_int_equal(type, CUDBG_RESPONSE_TYPE_FULL);
	uint32_t nothing = update(&type, &sms);
	assert_true(type == CUDBG_RESPONSE_TYPE_UPDATE && sms == 0 && nothing < whole / 10);
	(void)CALL(readDeviceExceptionState80, 0, &mask);
	uint64_t before = fake.n_read;
	assert_int_equal(CALL(singleStepWarp41, 0, 3, 2, &mask), CUDBG_SUCCESS);
	assert_int_equal(CALL(readValidWarps, 0, 3, &mask), CUDBG_SUCCESS);
	assert_int_equal(CALL(readDeviceExceptionState80, 0, &mask), CUDBG_SUCCESS);
	uint32_t one = update(&type, &sms);
	assert_true(type == CUDBG_RESPONSE_TYPE_UPDATE && sms == 1u << 3);
	assert_true(one > nothing && one < whole / 10);
	assert_in_range(fake.n_read - before, 1, 4); /* rows of warps, of 30 */
	assert_int_equal(update(&type, &sms), nothing);
	assert_int_equal(sms, 0);
	ws_target_changed(&fake.target, &fake.target.counts);
	assert_int_equal(update(&type, &sms), whole);
	assert_int_equal(type, CUDBG_RESPONSE_TYPE_FULL);
	assert_int_equal(CALL0(resumeAllDevices), CUDBG_SUCCESS);
	assert_int_equal(CALL(readValidWarps, 0, 3, &mask), CUDBG_ERROR_RUNNING_DEVICE);
	before = fake.n_read;
	assert_int_equal(CALL(suspendAllDevices, 0), CUDBG_SUCCESS);
	assert_int_equal(CALL(readValidWarps, 0, 3, &mask), CUDBG_SUCCESS);
	assert_true(fake.n_read == before); /* nothing moved */
	assert_int_equal(CALL0(resumeAllDevices), CUDBG_SUCCESS);
	assert_int_equal(CALL0(finalize), CUDBG_SUCCESS);
	assert_int_equal(CALL0(initialize), CUDBG_SUCCESS); /* to a device that runs */
	assert_int_equal(CALL(suspendAllDevices, 0), CUDBG_SUCCESS);
	assert_int_equal(CALL(readValidWarps, 0, 3, &mask), CUDBG_SUCCESS);
	assert_int_equal(mask, 0x3f);
	stop();
}

void changes_are_forgotten_oldest_first(void **state)
{
	(void)state;
	struct ws_change many[WS_MAX_CHANGES + 1] = { { 0 } }, got[WS_MAX_CHANGES];
	uint32_t n = 0;
	start_plain();
	struct ws_target *target = &fake.target;
	uint64_t first = target->generation;
	for (uint32_t i = 1; i <= WS_MAX_CHANGES; i++) {
		const struct ws_change change = { i % SMS, i };
		ws_target_changed_warps(target, &change, 1);
	}
	assert_true(ws_target_changes(target, first, got, &n));
	assert_int_equal(n, WS_MAX_CHANGES);
	ws_target_changed_warps(target, &(struct ws_change){ 2, 99 }, 1);
	assert_false(ws_target_changes(target, first, got, &n));
	assert_true(ws_target_changes(target, first + 1, got, &n));
	assert_int_equal(n, WS_MAX_CHANGES);
	assert_true(got[0].warps == 2 && got[n - 1].sm_index == 2 && got[n - 1].warps == 99);
	ws_target_changed_warps(target, many, WS_MAX_CHANGES); /* all that there is room for */
	assert_true(ws_target_changes(target, target->generation - 1, got, &n));
	assert_int_equal(n, WS_MAX_CHANGES);
	assert_false(ws_target_changes(target, target->generation - 2, got, &n));
	ws_target_changed_warps(target, many, WS_MAX_CHANGES + 1);
	assert_false(ws_target_changes(target, target->generation - 1, got, &n));
	assert_true(ws_target_changes(target, target->generation, got, &n));
	assert_int_equal(n, 0);
	ws_target_changed_warps(target, many, 0);
	assert_true(ws_target_changes(target, target->generation - 1, got, &n));
	ws_target_changed(target, &target->counts);
	assert_false(ws_target_changes(target, target->generation - 1, got, &n));
	stop();
}
