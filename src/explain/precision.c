/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How precisely an exception is known. This has two parts, which must not be confused: whether the
 * instruction is known, and whether the thread is.
 */
#include "explain/explain.h"

static struct ws_report_claim instruction_claim(const struct wsi_scene *scene)
{
	const struct ws_report_exception *e = scene->e;
	struct ws_report_claim claim = { .evidence = "the error PC and the kind of exception",
					 .confidence = WS_CONFIDENCE_CERTAIN };
	bool warp = !e->kind || e->kind->scope == WS_SCOPE_WARP || e->kind->scope == WS_SCOPE_LANE;
	if (e->blame == WS_BLAME_TRAP) {
		claim.text = "the instruction is known: the warp stopped there";
		claim.evidence = "the warp's state";
	} else if (e->errorpc_status != WS_OK) {
		claim.text = e->blame == WS_BLAME_SM
				     ? "the instruction is not known"
				     : "the instruction is not known: at or before pc";
		claim.evidence = "there is no valid error PC";
	} else if (e->errorpc - scene->code.base_pc >= scene->code.bytes.len &&
		   (!e->kind || e->kind->family != WS_FAMILY_CONTROL_FLOW)) {
		claim.text = scene->build->code_lost
				     ? "the code at errorpc is not known: no available image has it"
			     : scene->build->report->dump_status == WS_OK
				     ? "errorpc is outside the code in the dump: in a system "
				       "routine, or where a wrong jump led"
				     : "errorpc is outside the code on the device: in a system "
				       "routine, or where a wrong jump led";
	} else if (!e->kind || e->kind->knows_instruction) {
		claim.text = "the instruction is known (errorpc)";
	} else if (e->kind->family == WS_FAMILY_CONTROL_FLOW) {
		claim.text = "errorpc may be where the code jumped to, not where it came from";
	} else if (warp) {
		claim.text = "errorpc may lie in a helper of the driver, not at the instruction";
	} else {
		claim.text = "there is an errorpc, but this kind of exception does not guarantee "
			     "that it is the faulting instruction";
	}
	return claim;
}

/* NULL: memory is out. */
static const char *thread_text(struct wsi_build *build, const struct ws_report_exception *e)
{
	bool exact = e->kind && e->kind->knows_lane;
	if (e->blame == WS_BLAME_TRAP)
		return wsi_build_text(build, "%" PRIu64 " thread%s stopped", e->n_lanes,
				      e->n_lanes == 1 ? "" : "s");
	if (e->blame == WS_BLAME_SM)
		return wsi_first_loss(build, WS_HIDES_FAULT)
			       ? "the threads are lost, or had exited before the fault was detected"
			       : "the threads had exited before the fault was detected";
	if (e->blame == WS_BLAME_SUSPECT)
		return e->n_lanes == 1
			       ? "the thread is the one that was active"
			       : wsi_build_text(build,
						"the thread is one of %" PRIu64 " that were active",
						e->n_lanes);
	if (e->n_lanes == 1)
		return exact ? "the thread is known: it carries the exception"
			     : "one thread carries the exception";
	return wsi_build_text(build, "%" PRIu64 " threads carry the exception%s", e->n_lanes,
			      exact ? "" : ": the guilty ones are among them");
}

enum ws_status wsi_precision(struct wsi_scene *scene)
{
	struct ws_report_exception *e = scene->e;
	struct wsi_build *build = scene->build;
	if (e->blame == WS_BLAME_NOBODY)
		return WS_OK;
	struct ws_report_claim *thread = &e->precision_thread;
	e->precision_instruction = instruction_claim(scene);
	*thread = (struct ws_report_claim){ thread_text(build, e),
					    "the exceptions of lanes, warp and SM",
					    WS_CONFIDENCE_CERTAIN };
	unsigned cleared = wsi_count_bits(e->lanes_blamed & ~e->lanes_suspect);
	if (cleared)
		thread->text = wsi_build_text(build,
					      "%s; %u lane%s of the first warp cannot be guilty, "
					      "judging by address or guard",
					      thread->text, cleared, cleared == 1 ? "" : "s");
	if (e->elsewhere && thread->text)
		thread->text = wsi_build_text(build, "%s or among %s", thread->text, e->elsewhere);
	e->precision = (struct ws_report_claim){
		wsi_build_text(build, "%s; %s", e->precision_instruction.text, thread->text),
		wsi_build_text(build, "%s; %s", e->precision_instruction.evidence,
			       thread->evidence),
		WS_CONFIDENCE_CERTAIN,
	};
	return thread->text && e->precision.text && e->precision.evidence ? WS_OK : WS_NO_MEMORY;
}
