/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sentence at the top of the page, what was missing to say more, and what to try next. It says
 * only what the model holds.
 */
#include "report/build.h"
#include "target/internal.h"

/* ---- lists ---- */

static enum ws_status missing_add(struct wsi_build *build, const char *what, enum ws_status why,
				  const char *advice)
{
	if (!what || !wsi_grow(&build->missing, &build->cap_missing, build->n_missing,
			       sizeof *build->missing, UINT32_MAX - 1))
		return WS_NO_MEMORY;
	build->missing[build->n_missing++] = (struct ws_report_missing){ what, why, advice };
	return WS_OK;
}

static enum ws_status next_add(struct wsi_build *build, const char *what)
{
	if (!what || !wsi_grow(&build->next, &build->cap_next, build->n_next, sizeof *build->next,
			       UINT32_MAX - 1))
		return WS_NO_MEMORY;
	build->next[build->n_next++] = what;
	return WS_OK;
}

/* ---- the sentence ---- */

static void capitalize(char *text)
{
	if (*text >= 'a' && *text <= 'z')
		*text = (char)(*text - 'a' + 'A');
}

/* A sentence that grows; what does not fit is left out. */
struct sentence {
	char text[4000]; /* more than its names can take */
	size_t len;
	size_t head; /* of `len`: what happened, before where; 0: not said yet */
};

static void say_sentence(struct sentence *sentence, const char *format, ...) WS_PRINTF(2, 3);
static void say_sentence(struct sentence *sentence, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int len = vsnprintf(sentence->text + sentence->len, sizeof sentence->text - sentence->len,
			    format, args);
	va_end(args);
	if (len > 0)
		sentence->len = wsi_min_u64(sentence->len + (size_t)len, sizeof sentence->text - 1);
}

/* File name without its folders, and the line. */
static void say_line(struct sentence *sentence, struct wsi_build *build,
		     const struct ws_report_frame *frame)
{
	struct ws_str name = frame->file;
	for (size_t i = name.len; i > 0; i--) {
		if (name.ptr[i - 1] == '/') {
			name = (struct ws_str){ name.ptr + i, name.len - i };
			break;
		}
	}
	const char *quoted = wsi_build_name(build, name);
	if (frame->line)
		say_sentence(sentence, "%.*s:%u`", (int)strlen(quoted) - 1, quoted, frame->line);
	else
		say_sentence(sentence, "%s", quoted);
}

/* Frames of a place, and whose they are. */
struct verdict_place {
	const struct ws_report_frame *frames;
	uint32_t n_frames, user_frame, kernel;
};

/* Whether the driver launched its own kernel for a call of the host. */
static bool is_system(const struct ws_report_kernel *kernel)
{
	return kernel && kernel->grid_status == WS_OK && kernel->grid.type == WS_GRID_TYPE_SYSTEM;
}

/* " in kernel KERNEL at FILE:LINE, called from FILE:LINE"; ", in FUNCTION" where it has no line */
static void say_frames(struct sentence *sentence, struct wsi_build *build,
		       const struct verdict_place *place)
{
	const struct ws_report_frame *inner = place->n_frames ? &place->frames[0] : NULL;
	const struct ws_report_frame *user =
		place->user_frame != WS_NONE ? &place->frames[place->user_frame] : NULL;
	const struct ws_report_kernel *kernel =
		place->kernel != WS_NONE ? &build->kernels[place->kernel] : NULL;
	bool system = is_system(kernel);
	if (kernel && kernel->name_status == WS_OK) {
		say_sentence(sentence, " in %skernel %s", system ? "the driver's own " : "",
			     wsi_build_name(build, kernel->name_short));
	} else if (system) {
		say_sentence(sentence, " in a kernel of the driver's own");
	} else if (inner && inner->function_status == WS_OK) {
		say_sentence(
			sentence, " in %s",
			wsi_build_name(build, place->frames[place->n_frames - 1].function_short));
	}
	if (inner && inner->line_status == WS_OK) {
		say_sentence(sentence, " at ");
		say_line(sentence, build, inner);
	} else if (inner && user && user != inner && inner->function_status == WS_OK) {
		say_sentence(sentence, ", in %s", wsi_build_name(build, inner->function_short));
	}
	if (user && user != inner && user->line_status == WS_OK) {
		say_sentence(sentence, ", called from ");
		say_line(sentence, build, user);
	}
}

/* What is lost that hides a fault, or at least a hang, in words; NULL: nothing is. */
const char *wsi_first_loss(const struct wsi_build *build, enum ws_hides least)
{
	for (size_t i = 0; i < build->n_diagnostics; i++)
		if (build->diagnostics[i].hides >= least)
			return build->diagnostics[i].message;
	return NULL;
}

/* An assertion is where its text says, not in the functions that it called: an optimised build may
 * give the call the line of another. */
static void say_assertion_place(struct sentence *sentence, struct wsi_build *build,
				const struct ws_report_exception *e, uint32_t at)
{
	struct ws_report_frame frames[2] = { e->frames[at], e->frames[at] };
	const bool is_outside = e->user_frame != WS_NONE && e->user_frame > at;
	if (is_outside)
		frames[1] = e->frames[e->user_frame];
	if (e->assertion.line && e->assertion.file.len) {
		frames[0].file = e->assertion.file;
		frames[0].line = e->assertion.line;
	}
	say_frames(sentence, build,
		   &(struct verdict_place){ frames, is_outside ? 2 : 1, is_outside ? 1 : WS_NONE,
					    e->kernel });
}

static void say_place(struct sentence *sentence, struct wsi_build *build,
		      const struct ws_report_exception *e)
{
	uint32_t lined = 0;
	while (lined < e->n_frames && e->frames[lined].line_status != WS_OK)
		lined++;
	if (e->assertion.message.len && lined < e->n_frames)
		say_assertion_place(sentence, build, e, lined);
	else
		say_frames(sentence, build,
			   &(struct verdict_place){ e->frames, e->n_frames, e->user_frame,
						    e->kernel });
}

static void say_dim(struct sentence *sentence, const char *word, struct ws_dim3 dim)
{
	say_sentence(sentence, "%s (%u,%u,%u)", word, dim.x, dim.y, dim.z);
}

/* The thread that stands out, with how many others can be guilty; else the range of those. */
static void say_suspects(struct sentence *sentence, const struct ws_report_exception *e)
{
	bool each = e->blame == WS_BLAME_TRAP || (e->kind && e->kind->knows_lane);
	const struct ws_dim3 *first = &e->first_suspect.thread, *last = &e->last_suspect.thread;
	unsigned here = wsi_count_bits(e->lanes_suspect);
	bool several = here > 1 && memcmp(first, last, sizeof *first) != 0;
	if (e->elsewhere) {
		say_dim(sentence, several ? ", among threads" : ", thread", *first);
		if (several)
			say_dim(sentence, " to", e->last_suspect.thread);
		say_sentence(sentence, " or %s", e->elsewhere);
		return;
	}
	if (each || e->suspect_stands_out || !several) {
		say_dim(sentence, ", thread", e->suspect.thread);
		if (!each && e->blame == WS_BLAME_SUSPECT && e->n_suspects > 1)
			say_sentence(sentence, " or another of %" PRIu64 " suspects",
				     e->n_suspects);
		else if (e->n_suspects > 1)
			say_sentence(sentence, " and %" PRIu64 " more", e->n_suspects - 1);
		return;
	}
	say_dim(sentence, ", among threads", e->first_suspect.thread);
	say_dim(sentence, " to", e->last_suspect.thread);
	if (e->n_warps > 1)
		say_sentence(sentence, " and %" PRIu64 " more in %" PRIu64 " other warp%s",
			     e->n_suspects - here, e->n_warps - 1, e->n_warps == 2 ? "" : "s");
}

static void say_thread(struct sentence *sentence, const struct wsi_build *build,
		       const struct ws_report_exception *e)
{
	if (e->at.device == WS_NONE)
		say_sentence(sentence, "; an unknown device");
	else
		say_sentence(sentence, "; device %u", e->at.device);
	if (e->blame == WS_BLAME_SM) {
		say_sentence(sentence, ", SM %u", e->at.sm);
		if (e->n_sms > 1)
			say_sentence(sentence, " and %" PRIu64 " more", e->n_sms - 1);
		say_sentence(sentence, wsi_first_loss(build, WS_HIDES_FAULT)
					       ? "; its threads are lost or had exited"
					       : "; the threads had already exited");
		return;
	}
	if (e->at.block_status == WS_OK)
		say_dim(sentence, e->is_program ? ", program" : ", block", e->at.block);
	else if (e->at.sm != WS_NONE)
		say_sentence(sentence, ", SM %u", e->at.sm);
	if (e->at.block_status != WS_OK && e->at.warp != WS_NONE)
		say_sentence(sentence, ", warp %u", e->at.warp);
	if (e->suspect.lane != WS_NONE)
		say_suspects(sentence, e);
}

/* What the suspects did, where it is sure. */
static void say_access(struct sentence *sentence, const struct ws_report_exception *e)
{
	const struct ws_report_access *access = e->n_accesses ? &e->accesses[0] : NULL;
	if (!access || access->found.confidence != WS_CONFIDENCE_CERTAIN || !access->width)
		return;
	uint32_t suspects = access->suspects & e->lanes_suspect;
	uint32_t told = suspects & (access->lanes_known | access->lanes_likely);
	bool one = e->suspect_stands_out && access->lane == e->suspect.lane;
	bool single = one || wsi_count_bits(told) == 1;
	uint32_t lanes = one ? told & 1u << access->lane : told;
	if (!lanes)
		return;
	const struct wsi_direction *does = &wsi_directions[access->direction];
	if (one)
		say_sentence(sentence, "; lane %u", access->lane);
	else if (told != suspects)
		say_sentence(sentence, "; %u of the %u suspects", wsi_count_bits(told),
			     wsi_count_bits(suspects));
	else
		say_sentence(sentence, "; the %u suspects%s", wsi_count_bits(told),
			     e->n_warps > 1 ? " of the first warp" : "");
	say_sentence(sentence, " %s%s%s %u byte%s%s %s %s memory at 0x%" PRIx64,
		     lanes & ~access->lanes_known ? "probably " : "", does->verb, single ? "s" : "",
		     access->width, access->width == 1 ? "" : "s", single ? "" : " each", does->tie,
		     ws_space_text(access->space),
		     one ? access->address[access->lane] : access->first_address);
	if (!one && access->first_address != access->last_address)
		say_sentence(sentence, " to 0x%" PRIx64, access->last_address);
	if (access->where && (one || access->first_address == access->last_address))
		say_sentence(sentence, ", %s", access->where);
}

static const char *const waits_for[] = {
	[WS_WAIT_BARRIER] = "at a barrier of their block",
	[WS_WAIT_CLUSTER] = "at the barrier of their cluster",
	[WS_WAIT_CONVERGENCE] = "for lanes of their own warp",
	[WS_WAIT_MBARRIER] = "for a barrier object in shared memory",
	[WS_WAIT_GRID] = "for all blocks of the grid",
	[WS_WAIT_SPIN] = "for memory to change",
	[WS_WAIT_SLEEP] = "asleep",
	[WS_WAIT_REGISTERS] = "for registers of other warps",
};

/* Warps that wait by the hardware's word or by the code that they stand at. */
static uint32_t n_waiting(const struct ws_report *report)
{
	return report->n_waiting_warps > report->n_barrier_warps ? report->n_waiting_warps
								 : report->n_barrier_warps;
}

/* The collective operation that threads of the report wait in, or NULL. */
static const char *collective_of(const struct ws_report *report)
{
	return report->root_wait ? report->root_wait->collective : NULL;
}

/* "64 threads wait for ...: they wait until it is 1; it is 0" */
static void say_verdict_wait(struct sentence *sentence, const struct ws_report_wait *wait)
{
	say_sentence(sentence, ": %" PRIu64 " thread%s %s", wait->n_lanes,
		     wait->n_lanes == 1 ? "" : "s", wait->claim.text);
	if (wait->needs)
		say_sentence(sentence, " (%s)", wait->needs);
	else if (wait->missing_text)
		say_sentence(sentence, " (%s)", wait->missing_text);
}

/* Threads that wait for anything else, by what for. */
static void say_other_waits(struct sentence *sentence, const struct ws_report *report,
			    const struct ws_report_wait *root)
{
	const char *separator = "; others wait: ";
	for (size_t kind = 0; kind < WSI_COUNT(report->n_waiting_threads); kind++) {
		uint64_t n = report->n_waiting_threads[kind];
		if (root && root->kind == (enum ws_wait_kind)kind)
			n -= wsi_min_u64(n, root->n_lanes);
		if (n == 0)
			continue;
		say_sentence(sentence, "%s%" PRIu64 " %s", separator, n, waits_for[kind]);
		separator = ", ";
	}
}

static void say_hang(struct sentence *sentence, struct wsi_build *build)
{
	const struct ws_report *report = build->report;
	const struct ws_report_wait *root = report->root_wait;
	uint32_t waiting = n_waiting(report);
	say_sentence(sentence, "hang suspected");
	if (root) {
		say_frames(sentence, build,
			   &(struct verdict_place){ root->frames, root->n_frames, root->user_frame,
						    root->kernel });
		sentence->head = sentence->len;
		say_verdict_wait(sentence, root);
	} else if (build->have_calm) {
		say_place(sentence, build, &build->calm.e);
		sentence->head = sentence->len;
		say_sentence(sentence, ": warps wait at a barrier");
	}
	say_other_waits(sentence, report, root);
	say_sentence(sentence, "; %u of %u resident warp%s wait%s; no %sexception", waiting,
		     report->n_warps, report->n_warps == 1 ? "" : "s", waiting == 1 ? "s" : "",
		     build->sms_untold ? "resident thread has an " : "");
	if (collective_of(report))
		say_sentence(sentence, "; another rank may be the cause");
}

/* What decides is missing: of a fault, of threads that have left, or of a hang. */
static void say_unknown(struct sentence *sentence, const struct wsi_build *build, bool is_dump)
{
	const char *what = is_dump ? "this dump" : "any device", *in = is_dump ? "in" : "on";
	const char *fault = wsi_first_loss(build, WS_HIDES_FAULT);
	const char *hang = wsi_first_loss(build, WS_HIDES_HANG);
	if (fault || build->counts.sms == 0) {
		say_sentence(sentence, "Cannot tell whether %s holds a fault", what);
		sentence->head = sentence->len;
		say_sentence(sentence, ": %s", fault ? fault : "it holds no GPU state");
	} else if (build->sms_untold) {
		say_sentence(sentence,
			     "No thread %s %s has an exception; cannot tell whether one that has "
			     "left had",
			     in, what);
		sentence->head = sentence->len;
		say_sentence(
			sentence, ": %s",
			is_dump ? "drivers before 555 (CUDA 12.5) do not record exceptions of SMs"
				: "no function of this provider tells of exceptions of SMs");
	} else {
		say_sentence(sentence, "No exception %s %s; cannot tell whether %s hangs", in, what,
			     is_dump ? "it" : "one");
		sentence->head = sentence->len;
		say_sentence(sentence, ": %s", hang);
	}
}

static void say_calm(struct sentence *sentence, const struct wsi_build *build)
{
	const struct ws_report *report = build->report;
	bool is_dump = report->dump_status == WS_OK; /* else one or more devices that run */
	if (report->verdict == WS_VERDICT_UNKNOWN) {
		say_unknown(sentence, build, is_dump);
		return;
	}
	const char *what = is_dump ? "this dump" : "any device", *in = is_dump ? "in" : "on";
	say_sentence(sentence, "No fault %s %s", in, what);
	sentence->head = sentence->len;
	if (report->n_warps == 0)
		say_sentence(sentence, "; no thread is resident");
	else
		say_sentence(sentence, "; %u warp%s resident", report->n_warps,
			     report->n_warps == 1 ? " is" : "s are");
}

static enum ws_status summarize(struct wsi_build *build)
{
	struct sentence sentence = { .len = 0 };
	const struct ws_report *report = build->report;
	if (report->verdict == WS_VERDICT_FAULT) {
		const struct ws_report_exception *e = report->focus;
		say_sentence(&sentence, "%s", e->headline);
		if (e->assertion.message.len)
			say_sentence(&sentence, ": %s;",
				     wsi_build_name(build, e->assertion.message));
		say_place(&sentence, build, e);
		sentence.head = sentence.len;
		say_thread(&sentence, build, e);
		say_access(&sentence, e);
		capitalize(sentence.text);
	} else if (report->verdict == WS_VERDICT_HANG) {
		say_hang(&sentence, build);
		capitalize(sentence.text);
	} else {
		say_calm(&sentence, build);
	}
	if (report->doubt)
		say_sentence(&sentence, "; in doubt: %s", report->doubt);
	build->report->summary = wsi_arena_str(build->arena, sentence.text, sentence.len);
	build->report->summary_head = sentence.head ? sentence.head : sentence.len;
	return build->report->summary ? WS_OK : WS_NO_MEMORY;
}

/* ---- what is missing ---- */

/* Why the debug images that were given did not help; NULL when there are none. */
static const char *explain_borrowing(struct wsi_build *build, const struct ws_place *place)
{
	struct ws_borrowed found;
	if (!build->pool)
		return NULL;
	wsi_report_lines_of(build, place, &found);
	switch (found.verdict) {
	case WS_BORROW_DIFFERS:
		return wsi_build_text(build,
				      "The code in %s is different: %" PRIu64
				      " instruction%s, the first at offset 0x%" PRIx64 ".",
				      found.path, found.diff.n_instructions,
				      found.diff.n_instructions == 1 ? " differs" : "s differ",
				      found.diff.first_off);
	case WS_BORROW_NO_LINES:
		return "The debug images that have this function have no lines either.";
	case WS_BORROW_NO_FUNCTION:
		return "None of the debug images has this function.";
	case WS_BORROW_EQUAL:
		return "The debug image with this code has no line for this instruction.";
	}
	return NULL;
}

/* The frame whose line a reader looks for. */
static const struct ws_report_frame *frame_of_user(const struct ws_report_exception *e)
{
	bool inner = e->frames[0].function_status != WS_OK || e->user_frame == WS_NONE;
	return &e->frames[inner ? 0 : e->user_frame];
}

/* Lines of the focus's code. */
static enum ws_status missing_lines(struct wsi_build *build, const struct ws_report_exception *e)
{
	const struct ws_report_frame *frame = frame_of_user(e);
	struct ws_place place;
	if (frame->line_status == WS_OK)
		return WS_OK;
	if (frame->function_status != WS_OK)
		return missing_add(build,
				   wsi_build_text(build, "the function at 0x%" PRIx64, frame->pc),
				   frame->function_status,
				   frame->function_status == WS_UNSUPPORTED
					   ? "The classic back end recorded host addresses; only "
					     "the kernel's own code can be looked up."
				   : build->report->dump_status == WS_OK
					   ? "No module image in this dump contains that address."
					   : "No module image of this device contains that "
					     "address.");
	struct ws_cubin_hint hint = { WS_NONE, WS_NONE, WS_NONE };
	const char *text = NULL;
	if (ws_cubin_set_find_address(build->cubins, frame->pc, &hint, &place, NULL) == WS_OK)
		text = explain_borrowing(build, &place);
	if (!text)
		text = "What to try next says how to get it.";
	return missing_add(build,
			   wsi_build_text(build, "line information of %.*s",
					  (int)frame->function_short.len,
					  frame->function_short.ptr),
			   frame->line_status, text);
}

/* Source files of the focus's frames. Only the first is named. */
static enum ws_status missing_sources(struct wsi_build *build, const struct ws_report_exception *e,
				      bool *ret_any)
{
	if (build->options.no_source)
		return WS_OK;
	for (uint32_t i = 0; i < e->n_frames; i++) {
		const struct ws_report_frame *frame = &e->frames[i];
		if (frame->line_status != WS_OK || frame->library || frame->source.path)
			continue;
		*ret_any = true;
		return missing_add(
			build,
			wsi_build_text(build, "source file %.*s",
				       (int)wsi_min_u64(frame->file.len, 900), frame->file.ptr),
			frame->source.why ? WS_EXCLUDED : WS_ABSENT,
			frame->source.why
				? frame->source.why
				: "Not on this machine: --source-map FROM=TO or --source-dir DIR.");
	}
	return WS_OK;
}

/* Kernels whose image is not there. */
static enum ws_status missing_images(struct wsi_build *build)
{
	uint32_t n = 0, first = WS_NONE;
	enum ws_status why = WS_ABSENT;
	for (uint32_t i = 0; i < build->report->n_kernels; i++) {
		const struct ws_report_kernel *kernel = &build->kernels[i];
		struct ws_module module;
		if (kernel->name_status == WS_OK)
			continue;
		if (n++ > 0)
			continue;
		first = kernel->id;
		if (kernel->grid.module_index != WS_NONE &&
		    ws_target_module(build->target, kernel->grid.module_index, &module, NULL) ==
			    WS_OK &&
		    module.relocated_status != WS_OK)
			why = module.relocated_status;
	}
	if (n == 0)
		return WS_OK;
	const char *what =
		n == 1 ? wsi_build_text(build, "the name of kernel %u", first)
		       : wsi_build_text(build, "the names of kernel %u and %u more", first, n - 1);
	return missing_add(build, what, why,
			   why == WS_IO ? "The module image that holds its code cannot be read."
			   : build->report->dump_status == WS_OK
				   ? "The module image that holds its code is not in this dump."
				   : "The module image that holds its code is not there.");
}

static enum ws_status find_missing_sources(struct wsi_build *build, bool *ret_no_source)
{
	const struct ws_report_exception *e = build->report->focus;
	enum ws_status st = missing_images(build);
	if (st == WS_OK && e && e->n_frames)
		st = missing_lines(build, e);
	if (st == WS_OK && e && e->blame != WS_BLAME_NOBODY && e->blame != WS_BLAME_TRAP &&
	    e->errorpc_status != WS_OK)
		st = missing_add(build, "the error PC", e->errorpc_status,
				 "The place shown is that of the pc: the faulting instruction is "
				 "at or before it.");
	if (st == WS_OK && e && e->blame == WS_BLAME_SM)
		st = missing_add(build, "the faulting thread", WS_ABSENT,
				 wsi_first_loss(build, WS_HIDES_FAULT)
					 ? "Its warp had exited before the fault was detected, or "
					   "its row is lost: only the SM's row records it."
					 : "Its warp had exited before the fault was detected: "
					   "only the SM's row records it.");
	if (st == WS_OK && e && e->stack_status != WS_OK && e->stack_status != WS_ABSENT)
		st = missing_add(build, "the call stack", e->stack_status, NULL);
	if (st == WS_OK && e)
		st = missing_sources(build, e, ret_no_source);
	if (st == WS_OK && build->report->dump_status == WS_OK && !build->report->dump.complete)
		st = missing_add(build, "a part of the dump", WS_TRUNCATED,
				 "The file is truncated or damaged; see the diagnostics.");
	return st;
}

/* ---- what to try next ---- */

/* A kernel of the driver does what a call of the host asked for. */
static enum ws_status next_for_system(struct wsi_build *build, const struct ws_report_exception *e)
{
	const struct ws_report_access *access = e->n_accesses ? &e->accesses[0] : NULL;
	uint32_t known = access ? access->suspects & access->lanes_known : 0;
	const char *where = "";
	if (e->kernel == WS_NONE || !is_system(&build->kernels[e->kernel]))
		return WS_OK;
	if (known)
		where = wsi_build_text(build, " whose memory reaches 0x%" PRIx64,
				       access->address[wsi_first_bit(known)]);
	return next_add(build,
			wsi_build_text(build,
				       "The driver launched this kernel itself, for a call of "
				       "the host: look for the `cudaMemset`, `cudaMemcpy` or "
				       "node of a graph%s: its pointer or size is wrong, or "
				       "the memory was freed before it ran.",
				       where));
}

static enum ws_status next_for_fault(struct wsi_build *build, const struct ws_report_exception *e)
{
	enum ws_status st = next_for_system(build, e);
	for (uint32_t i = 0; i < e->n_commands && st == WS_OK; i++)
		st = next_add(build, e->commands[i]);
	const struct ws_report_frame *user = e->n_frames ? frame_of_user(e) : NULL;
	bool lines_wanted =
		user && user->function_status == WS_OK && user->line_status == WS_ABSENT;
	if (st == WS_OK && lines_wanted)
		st = next_add(
			build,
			wsi_build_text(build,
				       "Build the same source with `-lineinfo`, which does not "
				       "change the machine code, and add `--debug-image FILE` with "
				       "the result: the report then shows source lines for this "
				       "%s. `warpscope store add FILE` keeps it for later dumps.",
				       wsi_noun(build->report)));
	if (st == WS_OK && lines_wanted)
		st = next_add(
			build,
			"Where `-lineinfo` goes: `NVCC_APPEND_FLAGS=-lineinfo` in the "
			"environment for whatever runs nvcc (CMake, PyTorch extensions, TVM); "
			"`FLASHINFER_JIT_LINEINFO=1` for FlashInfer; Triton writes lines unless "
			"`TRITON_DISABLE_LINE_INFO=1` is set; NVRTC takes "
			"`--generate-line-info`. Empty their caches first.");
	if (st == WS_OK && e->blame == WS_BLAME_SM)
		st = next_add(build,
			      "Reproduce with `CUDA_LAUNCH_BLOCKING=1` to see which launch it is.");
	return st;
}

/* Whether blocks that a barrier of the grid waits for have surely ended. */
static bool has_ended_blocks(const struct ws_report_wait *wait)
{
	for (uint32_t i = 0; i < wait->n_absentees; i++)
		if (wait->absentees[i].state == WS_ABSENTEE_NOT_RESIDENT)
			return true;
	return false;
}

/* A kernel that waits for memory and is not on the GPU with all of its blocks. */
static enum ws_status next_for_blocks(struct wsi_build *build)
{
	const struct ws_report *report = build->report;
	for (uint32_t i = 0; i < report->n_waits; i++) {
		const struct ws_report_wait *wait = &report->waits[i];
		bool word = wait->kind == WS_WAIT_GRID ||
			    (wait->kind == WS_WAIT_SPIN && wait->space != WS_SPACE_SHARED);
		if (!word || wait->collective || wait->kernel >= report->n_kernels ||
		    report->kernels[wait->kernel].grid_status != WS_OK)
			continue;
		const struct ws_report_kernel *kernel = &report->kernels[wait->kernel];
		uint64_t all = wsi_dim3_count(kernel->grid.grid_dim), resident = 0;
		for (uint32_t b = 0; b < report->map.n_blocks; b++)
			resident += report->map.blocks[b].status == WS_OK &&
				    report->map.blocks[b].kernel == wait->kernel;
		if (all > UINT32_MAX || resident >= all)
			continue;
		/* cooperative groups trap in any other launch [measured: nvcc 13.0] */
		if (wait->kind == WS_WAIT_GRID && !has_ended_blocks(wait))
			continue;
		if (wait->kind == WS_WAIT_GRID)
			return next_add(
				build,
				wsi_build_text(
					build,
					"Only %" PRIu64 " of %" PRIu64 " blocks of %s are "
					"on the GPU, and a cooperative launch starts with all "
					"of them: the others have left before the barrier of "
					"the grid. Look for a `return` in front of it, or for "
					"a loop that other blocks go through more often.",
					resident, all, wsi_build_name(build, kernel->name_short)));
		return next_add(
			build,
			wsi_build_text(build,
				       "Only %" PRIu64 " of %" PRIu64 " blocks of %s are on "
				       "the GPU. Blocks that wait for each other must all "
				       "be resident at once: use a cooperative launch.",
				       resident, all, wsi_build_name(build, kernel->name_short)));
	}
	return WS_OK;
}

/* The dump as a word of a command that can be pasted. */
static const char *dump_word(struct wsi_build *build)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./+-=:,@%";
	const char *path = build->options.path;
	size_t len = path ? strlen(path) : 0;
	if (len == 0 || path[0] == '-' || strpbrk(path, "'`"))
		return "DUMP";
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)path[i] < ' ' || path[i] == '\x7f')
			return "DUMP";
	const char *word = strspn(path, plain) == len ? path : wsi_build_text(build, "'%s'", path);
	return word ? word : "DUMP";
}

/* What is special about this hang first, then what to look at, then what is true of all. */
static enum ws_status next_for_hang(struct wsi_build *build)
{
	const char *collective = collective_of(build->report);
	enum ws_status st = WS_OK;
	if (collective)
		st = next_add(
			build,
			wsi_build_text(build,
				       "All ranks take part in the %s: a rank that is not in it, "
				       "or that faulted, holds up the others. Look at the "
				       "dumps of the other ranks first.",
				       collective));
	if (st == WS_OK)
		st = next_for_blocks(build);
	if (st == WS_OK)
		st = next_add(build,
			      wsi_build_text(build,
					     "See what each warp waits for: `warpscope info %s "
					     "warps`, then `barriers` in place of `warps`.",
					     dump_word(build)));
	return st;
}

static enum ws_status next_for_any(struct wsi_build *build, bool no_source)
{
	const struct ws_report *report = build->report;
	bool calm = report->verdict == WS_VERDICT_NONE ||
		    (report->verdict == WS_VERDICT_HANG && !collective_of(report));
	enum ws_status st = WS_OK;
	if (report->dump_status == WS_OK && calm)
		st = next_add(build,
			      "A requested dump normally has no exception. If ranks wait for each "
			      "other, look at their dumps.");
	if (st == WS_OK && report->dump_status == WS_OK && report->dump.cut)
		st = next_add(
			build,
			"A part of this file is missing or damaged. If it was cut while the driver "
			"wrote it: "
			"let the process live until the dump is whole "
			"(`CUDA_COREDUMP_SHOW_PROGRESS=1` tells), give the disk room for the "
			"memory of the GPU, or have less written: "
			"`CUDA_COREDUMP_GENERATION_FLAGS=skip_global_memory,skip_shared_memory,"
			"skip_local_memory`. If it was copied: compare the sizes.");
	if (st == WS_OK && no_source)
		st = next_add(build, "Add `--source-map FROM=TO` or `--source-dir DIR` to see the "
				     "source lines here.");
	return st;
}

static enum ws_status find_next(struct wsi_build *build, bool no_source)
{
	enum ws_status st = WS_OK;
	if (build->report->verdict == WS_VERDICT_FAULT)
		st = next_for_fault(build, build->report->focus);
	if (st == WS_OK && build->report->verdict == WS_VERDICT_HANG)
		st = next_for_hang(build);
	return st == WS_OK ? next_for_any(build, no_source) : st;
}

static void verdict_decide(struct wsi_build *build)
{
	struct ws_report *report = build->report;
	report->dump.complete = report->dump.complete && build->n_diagnostics == 0;
	if (report->n_exceptions)
		report->verdict = WS_VERDICT_FAULT;
	else if (wsi_first_loss(build, WS_HIDES_FAULT) || build->counts.sms == 0)
		report->verdict = WS_VERDICT_UNKNOWN;
	else if (n_waiting(report) > report->n_warps / 2)
		report->verdict = WS_VERDICT_HANG;
	else if (build->sms_untold || (report->n_warps && wsi_first_loss(build, WS_HIDES_HANG)))
		report->verdict = WS_VERDICT_UNKNOWN;
	else
		report->verdict = WS_VERDICT_NONE;
}

/* A file that contradicts itself may do so in what the verdict rests on, without a sign of it
 * there. Only of one in which something is odd it is worth the time to look. */
static enum ws_status verdict_doubt(struct wsi_build *build)
{
	struct ws_report *report = build->report;
	uint64_t n = 0;
	if (report->verdict == WS_VERDICT_UNKNOWN || build->n_diagnostics == 0)
		return WS_OK;
	enum ws_status st = wsi_target_contradictions(build->target, &n, NULL);
	if (st != WS_OK || n == 0)
		return st == WS_NO_MEMORY ? st : WS_OK;
	report->doubt = wsi_build_text(
		build, "the dump contradicts itself in %" PRIu64 " place%s (`warpscope check`)", n,
		n == 1 ? "" : "s");
	return report->doubt ? WS_OK : WS_NO_MEMORY;
}

/* ---- what the images prove when the state is lost ---- */

enum {
	MAX_CODE = 100, /* kernels named */
	MAX_IMAGES = 1000,
};

static enum ws_status list_module(struct wsi_build *build, struct ws_cubin *cubin,
				  struct ws_str *names)
{
	const struct ws_function *functions;
	size_t n;
	if (ws_cubin_functions(cubin, &functions, &n, NULL) != WS_OK)
		return WS_OK;
	for (size_t i = 0; i < n && build->report->n_code < MAX_CODE; i++) {
		if (!functions[i].is_kernel || functions[i].section == 0)
			continue;
		const struct wsi_name *name = wsi_report_name_of(build, functions[i].name);
		if (!name)
			return WS_NO_MEMORY;
		names[build->report->n_code++] = name->full;
	}
	return WS_OK;
}

static enum ws_status list_verdict_code(struct wsi_build *build)
{
	if (build->report->verdict != WS_VERDICT_UNKNOWN)
		return WS_OK;
	struct ws_str *names = wsi_arena_zalloc_array(build->arena, MAX_CODE, sizeof *names);
	if (!names)
		return WS_NO_MEMORY;
	build->report->code = names;
	uint32_t n = ws_cubin_set_count(build->cubins);
	for (uint32_t i = 0; i < n && i < MAX_IMAGES; i++) {
		struct ws_cubin *cubin;
		enum ws_status st = ws_cubin_set_cubin(build->cubins, i, &cubin, NULL);
		if (st == WS_OK)
			st = list_module(build, cubin, names);
		if (st == WS_NO_MEMORY)
			return st;
	}
	return WS_OK;
}

enum ws_status wsi_verdict(struct wsi_build *build)
{
	bool no_source = false;
	verdict_decide(build);
	enum ws_status st = verdict_doubt(build);
	if (st == WS_OK)
		st = summarize(build);
	if (st == WS_OK)
		st = list_verdict_code(build);
	if (st == WS_OK)
		st = find_missing_sources(build, &no_source);
	if (st == WS_OK)
		st = find_next(build, no_source);
	return st;
}
