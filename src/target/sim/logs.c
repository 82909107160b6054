/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a software GPU that runs: which records are kept, and what is told of them. */
#include <warpscope/cudadebugger.h>

#include "target/sim/live.h"

enum { MAX_LOGS = 1 << 24, MAX_RULES = 1 << 16 };

static void rules_free(struct sim_log_rule *rules, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (rules[i].rule.regex)
			regfree(&rules[i].regex);
	wsi_free(rules);
}

void sim_logs_fini(struct sim_live *live)
{
	rules_free(live->rules, live->n_rules);
	wsi_free(live->logs);
}

static bool matches(const struct sim_log_rule *rule, const struct ws_log *log)
{
	const struct ws_log_rule *r = &rule->rule;
	return (r->level == (uint32_t)CUDBG_CUDA_LOG_LEVEL_FILTER_ANY || r->level == log->level) &&
	       (r->host_tid == UINT64_MAX || r->host_tid == log->host_tid) &&
	       (!r->regex || regexec(&rule->regex, log->text, 0, NULL, 0) == 0);
}

/* What the first rule that matches says; a record that none matches is kept. */
static uint32_t action_of(const struct sim_live *live, struct ws_log *log)
{
	log->ruleset = live->n_rules ? live->ruleset : UINT32_MAX;
	log->rule = UINT32_MAX;
	for (uint32_t i = 0; i < live->n_rules; i++) {
		if (!matches(&live->rules[i], log))
			continue;
		log->rule = i;
		return live->rules[i].rule.action;
	}
	return CUDBG_CUDA_LOG_RULE_ACTION_SEND_ASYNC;
}

/* Queues what a new record causes: an event for the first one, one for many. */
static bool tell_log_record(struct sim_live *live, uint32_t action)
{
	uint64_t sequence;
	bool sync = action == CUDBG_CUDA_LOG_RULE_ACTION_SEND_SYNC;
	struct ws_event event = { .kind = WS_EVENT_LOGS_AVAILABLE, .sync = sync };
	if ((sync || live->n_logs == 0) && !sim_post(live, &event, false, sync, &sequence))
		return false;
	event = (struct ws_event){ .kind = WS_EVENT_LOGS_THRESHOLD, .sync = true };
	return live->n_logs + 1 != SIM_MANY_LOGS || sim_post(live, &event, false, true, &sequence);
}

bool sim_take_in_logs(struct sim_live *live)
{
	struct wsi_stub *debug = live->t->sim->debug;
	while (debug->logs) {
		struct wsi_log *from = debug->logs;
		struct ws_log log = {
			.time_ns = from->time_ns,
			.host_tid = from->host_tid,
			.level = from->level,
		};
		memcpy(log.text, from->text, sizeof log.text);
		uint32_t action = action_of(live, &log);
		if (live->wants & WS_WANT_LOGS &&
		    action != (uint32_t)CUDBG_CUDA_LOG_RULE_ACTION_EXCLUDE) {
			if (!wsi_grow(&live->logs, &live->cap_logs, live->n_logs,
				      sizeof *live->logs, MAX_LOGS) ||
			    !tell_log_record(live, action))
				return false;
			live->logs[live->n_logs++] = log;
		}
		debug->logs = from->next;
		wsi_free(from);
	}
	return true;
}

enum ws_status sim_take_logs(struct ws_target *target, struct ws_log *ret_logs, uint32_t cap,
			     uint32_t *ret_n, struct ws_error *err)
{
	struct sim_live *live = sim_of(target)->live;
	(void)err;
	pthread_mutex_lock(&live->lock);
	*ret_n = (uint32_t)wsi_min_u64(cap, live->n_logs);
	if (*ret_n > 0)
		memcpy(ret_logs, live->logs, *ret_n * sizeof *ret_logs);
	live->n_logs -= *ret_n;
	if (*ret_n > 0)
		memmove(live->logs, live->logs + *ret_n, live->n_logs * sizeof *live->logs);
	pthread_mutex_unlock(&live->lock);
	return WS_OK;
}

/* Compiles a rule. WS_ARGUMENT: it is not valid. */
static enum ws_status take_rule(const struct ws_log_rule *from, struct sim_log_rule *ret,
				struct ws_error *err)
{
	bool ok = from->action == (uint32_t)CUDBG_CUDA_LOG_RULE_ACTION_EXCLUDE ||
		  from->action <= CUDBG_CUDA_LOG_RULE_ACTION_SEND_SYNC;
	ok = ok && (from->level == (uint32_t)CUDBG_CUDA_LOG_LEVEL_FILTER_ANY ||
		    from->level <= CUDBG_CUDA_LOG_LEVEL_FILTER_WARNING);
	if (!ok)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "a rule with action %u, level %u",
				from->action, from->level);
	ret->rule = *from;
	ret->rule.regex = NULL;
	if (!from->regex)
		return WS_OK;
	if (regcomp(&ret->regex, from->regex, REG_EXTENDED | REG_NOSUB) != 0)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"'%.80s' is not a regular expression", from->regex);
	ret->rule.regex = ""; /* compiled: the client's text is not kept */
	return WS_OK;
}

enum ws_status sim_log_rules(struct ws_target *target, const struct ws_log_rule *rules, uint32_t n,
			     uint32_t *ret_ruleset, struct ws_error *err)
{
	struct sim_live *live = sim_of(target)->live;
	if (n > MAX_RULES)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "%u rules", n);
	struct sim_log_rule *compiled = wsi_zalloc_array(n + 1u, sizeof *compiled);
	enum ws_status st =
		compiled ? WS_OK : wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "%u rules", n);
	for (uint32_t i = 0; i < n && st == WS_OK; i++)
		st = take_rule(&rules[i], &compiled[i], err);
	pthread_mutex_lock(&live->lock);
	const struct ws_event event = { .kind = WS_EVENT_LOG_RULES, .ruleset = live->ruleset + 1 };
	uint64_t sequence;
	if (st == WS_OK && !sim_post(live, &event, false, false, &sequence))
		st = wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "an event");
	struct sim_log_rule *old = st == WS_OK ? live->rules : compiled;
	uint32_t n_old = st == WS_OK ? live->n_rules : n;
	if (st == WS_OK) {
		live->rules = compiled;
		live->n_rules = n;
		*ret_ruleset = ++live->ruleset;
	}
	pthread_mutex_unlock(&live->lock);
	if (old)
		rules_free(old, n_old);
	if (st == WS_OK)
		sim_wake(live);
	return st;
}
