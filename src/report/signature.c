/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signature: one line that is the same for every dump of one bug.
 *
 *   illegal memory access | _Z6gatherPf | load < gather | global load
 *
 * What happened (the family of the exception: the same bug has other numbers on other drivers; of a
 * hang, what is waited for), the kernel's mangled name, the innermost functions that tell something
 * (data/signature.txt), and the kind of instruction, or the text of the assertion. No address,
 * coordinate or path is in it, and a line only of an assertion whose text is not known.
 * docs/signature.md has the rules; whoever changes what a signature says counts up
 * WS_SIGNATURE_VERSION.
 */
#include "base/sha256.h"
#include "cubin/cubin.h"
#include "report/build.h"
#include "report/library.h"

enum {
	MAX_NAME = 100, /* longer names are cut there, and end in a hash of the whole */
	MAX_FRAMES = 3,
	HASH_BYTES = 4,
	MAX_SIGNATURE = 900,
};

static const char *const rules[] = {
#include "signature.inc"
};

struct signature_line {
	char text[MAX_SIGNATURE];
	size_t len;
	const char *rule;
	uint32_t n_functions, n_left_out;
	size_t start[WS_SIGNATURE_PARTS]; /* of each part */
	uint32_t n_parts;
};

static void put_signature_text(struct signature_line *line, const char *text, size_t len)
{
	len = wsi_min_u64(len, sizeof line->text - 1 - line->len);
	memcpy(line->text + line->len, text, len);
	line->len += len;
	line->text[line->len] = '\0';
}

static void put_text(struct signature_line *line, const char *text)
{
	put_signature_text(line, text, strlen(text));
}

/* Starts the next part. */
static void put_part(struct signature_line *line)
{
	if (line->n_parts)
		put_text(line, " | ");
	line->start[line->n_parts++] = line->len;
}

/* A name, or its start with a hash of all of it. */
static void put_signature_name(struct signature_line *line, struct ws_str name)
{
	if (name.len <= MAX_NAME) {
		put_signature_text(line, name.len ? name.ptr : "", name.len);
		return;
	}
	struct wsi_sha256 hash;
	uint8_t digest[WSI_SHA256_BYTES];
	char hex[2 * HASH_BYTES + 2] = "~";
	wsi_sha256_init(&hash);
	wsi_sha256_add(&hash, name.ptr, name.len);
	wsi_sha256_final(&hash, digest);
	wsi_sha256_text(digest, HASH_BYTES, hex + 1);
	put_signature_text(line, name.ptr, MAX_NAME);
	put_text(line, hex);
}

/* A mangled name without what differs between builds. */
static void put_mangled(struct signature_line *line, struct ws_str name)
{
	char text[1 << 13];
	if (name.len <= sizeof text)
		name = (struct ws_str){ text, wsi_name_plain(name, "", text) };
	put_signature_name(line, name);
}

/* ---- frames ---- */

enum frame_kind { FRAME_TELLS, FRAME_PREFIX, FRAME_IRRELEVANT };

static enum frame_kind kind_of(const struct ws_report_frame *frame, const char **ret_rule)
{
	static const char irrelevant[] = "irrelevant ", prefix[] = "prefix ";
	for (size_t i = 0; i < WSI_COUNT(rules); i++) {
		bool out = strncmp(rules[i], irrelevant, sizeof irrelevant - 1) == 0;
		size_t skip = out ? sizeof irrelevant - 1 : sizeof prefix - 1;
		if (!out && strncmp(rules[i], prefix, skip) != 0)
			continue;
		if (!wsi_report_name_matches(frame->function, ws_str_of(rules[i] + skip)))
			continue;
		*ret_rule = rules[i];
		return out ? FRAME_IRRELEVANT : FRAME_PREFIX;
	}
	return FRAME_TELLS;
}

static void put_frames(struct signature_line *line, const struct ws_report_frame *frames,
		       uint32_t n)
{
	bool user = false;
	size_t shown = 0;
	for (uint32_t i = 0; i < n; i++)
		user |= !frames[i].library && frames[i].function_status == WS_OK;
	for (uint32_t i = 0; i < n && shown < MAX_FRAMES; i++) {
		const struct ws_report_frame *frame = &frames[i];
		const char *rule = NULL;
		bool out = frame->function_status != WS_OK || (user && frame->library);
		enum frame_kind kind = out ? FRAME_IRRELEVANT : kind_of(frame, &rule);
		if (rule && !line->rule)
			line->rule = rule;
		if (out || (kind == FRAME_IRRELEVANT && i + 1 < n)) {
			line->n_left_out++;
			continue;
		}
		put_text(line, shown++ ? " < " : "");
		put_signature_name(line, frame->function_short);
		if (kind == FRAME_TELLS)
			break;
	}
	if (!shown)
		put_text(line, "?");
	line->n_functions = (uint32_t)shown;
}

/* ---- instructions ---- */

/* The memory space is not told: -G code loads by a generic address what other code loads from
 * shared memory [measured: shared_overrun, local_overrun, shared_atomic of tests/data/faults]. */
static const char *kind_of_insn(const struct ws_insn *insn)
{
	static const struct {
		uint32_t all;
		const char *words;
	} kinds[] = {
		{ WS_SASS_CALL, "call" },
		{ WS_SASS_RET, "return" },
		{ WS_SASS_EXIT, "exit" },
		{ WS_SASS_TRAP, "trap" },
		{ WS_SASS_TEXTURE, "texture access" },
		{ WS_SASS_ATOMIC, "atomic" },
		{ WS_SASS_ASYNC, "asynchronous copy" },
		{ WS_SASS_LOAD, "load" },
		{ WS_SASS_STORE, "store" },
		{ WS_SASS_BRANCH, "branch" },
		{ WS_SASS_BARRIER, "barrier" },
		{ WS_SASS_SYNC, "convergence" },
	};
	for (size_t i = 0; i < WSI_COUNT(kinds) && insn->known; i++)
		if ((insn->flags & kinds[i].all) == kinds[i].all)
			return kinds[i].words;
	return insn->known ? "other instruction" : "unknown instruction";
}

/* Kind of the instruction at an address; "?" where its code is not there. */
static const char *kind_at(struct wsi_build *build, uint64_t pc)
{
	struct ws_cubin_hint hint = { WS_NONE, WS_NONE, WS_NONE };
	struct ws_cubin_facts facts;
	struct ws_place place;
	struct ws_span code, bytes;
	struct ws_insn insn;
	if (ws_cubin_set_find_address(build->cubins, pc, &hint, &place, NULL) != WS_OK ||
	    !place.function || ws_cubin_code(place.cubin, place.function, &code, NULL) != WS_OK ||
	    !ws_span_sub(code, place.rel_pc, WS_SASS_BYTES, &bytes))
		return "?";
	ws_cubin_facts(place.cubin, &facts);
	ws_sass_decode(facts.sm, bytes.ptr, &insn);
	return kind_of_insn(&insn);
}

/* ---- the line ---- */

static void put_kernel(struct signature_line *line, const struct wsi_build *build, uint32_t kernel,
		       const struct ws_report_frame *frames, uint32_t n)
{
	put_part(line);
	if (kernel < build->report->n_kernels && build->kernels[kernel].name_status == WS_OK)
		put_mangled(line, build->kernels[kernel].name_mangled);
	else if (n && frames[n - 1].function_status == WS_OK)
		put_mangled(line, frames[n - 1].function_mangled);
	else
		put_text(line, "?");
	put_part(line);
}

/* Several assertions of one function are several bugs: by their text, which stays the same between
 * builds; without it, by the line. */
static void put_assertion(struct signature_line *line, const struct ws_report_exception *e)
{
	uint32_t number = e->assertion.line;
	char text[32];
	for (uint32_t i = 0; i < e->n_frames && !number; i++)
		if (e->frames[i].line_status == WS_OK)
			number = e->frames[i].line;
	if (e->assertion.message.len) {
		put_signature_name(line, e->assertion.message);
	} else if (number) {
		wsi_format(text, "line %" PRIu32, number);
		put_text(line, text);
	} else {
		put_text(line, "?");
	}
}

static void sign_fault(struct wsi_build *build, struct signature_line *line)
{
	const struct ws_report_exception *e = build->report->focus;
	put_part(line);
	put_text(line, e->kind ? ws_exception_family_text(e->kind->family) : e->label);
	put_kernel(line, build, e->kernel, e->frames, e->n_frames);
	put_frames(line, e->frames, e->n_frames);
	put_part(line);
	if (e->assertion.status == WS_OK)
		put_assertion(line, e);
	else if (e->errorpc_status == WS_OK)
		put_text(line, kind_at(build, e->errorpc));
	else
		put_text(line, "?"); /* the pc lies behind the instruction */
}

static void sign_hang(struct wsi_build *build, struct signature_line *line)
{
	const struct ws_report_wait *wait = build->report->root_wait;
	put_part(line);
	put_text(line, "hang");
	if (!wait)
		return;
	put_kernel(line, build, wait->kernel, wait->frames, wait->n_frames);
	put_frames(line, wait->frames, wait->n_frames);
	put_part(line);
	put_text(line, wait->collective ? wait->collective : ws_wait_kind_text(wait->kind));
}

/* What the parts are, in their order. */
static const char *describe_parts(struct wsi_build *build, const struct signature_line *line)
{
	bool hang = build->report->verdict == WS_VERDICT_HANG;
	bool assertion = !hang && build->report->focus->assertion.status == WS_OK;
	char left_out[100] = "";
	if (line->n_left_out)
		wsi_format(left_out,
			   " (without %" PRIu32 " frame%s of libraries, helpers or unknown code)",
			   line->n_left_out, line->n_left_out == 1 ? "" : "s");
	return wsi_build_text(build, "%s | the kernel | the innermost function%s%s | %s",
			      hang ? "a hang" : "what happened", line->n_functions > 1 ? "s" : "",
			      left_out,
			      hang        ? "what is waited for"
			      : assertion ? "the text of the assertion"
					  : "the kind of instruction");
}

/* Slices of the signature. */
static void keep_parts(struct ws_report *report, const struct signature_line *line)
{
	static const size_t between = sizeof " | " - 1;
	for (uint32_t i = 0; i < line->n_parts; i++) {
		size_t start = line->start[i];
		size_t end = i + 1 < line->n_parts ? line->start[i + 1] - between : line->len;
		report->signature_part[i] =
			(struct ws_str){ report->signature + start, end > start ? end - start : 0 };
	}
}

enum ws_status wsi_signature(struct wsi_build *build)
{
	struct signature_line line = { .len = 0 };
	struct ws_report *report = build->report;
	if (report->verdict == WS_VERDICT_FAULT)
		sign_fault(build, &line);
	else if (report->verdict == WS_VERDICT_HANG)
		sign_hang(build, &line);
	else
		return WS_OK;
	report->signature = wsi_arena_str(build->arena, line.text, line.len);
	if (report->signature)
		keep_parts(report, &line);
	report->signature_rule = line.rule;
	report->signature_parts = describe_parts(build, &line);
	return report->signature && report->signature_parts ? WS_OK : WS_NO_MEMORY;
}
