/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Likely causes of an exception and what to run next. The rules are data (data/causes.txt) and ask
 * for facts. Facts about the access, the place and the dump are established here, those about one
 * kind of exception earlier (finding.c).
 */
#include "explain/explain.h"

/* A row of data/causes.txt. Facts end with WSI_FACT_NONE, those that are better evidence first. */
struct rule {
	bool is_next;      /* what to run next, not a cause */
	uint32_t families; /* mask */
	bool trap;
	uint32_t codes[4]; /* 0: none */
	enum wsi_fact when[WSI_MAX_RULE_FACTS], unless[WSI_MAX_RULE_FACTS];
	enum ws_confidence confidence;
	const char *text;
};

#include "causes.inc"

enum {
	MAX_CAUSES = 3,
	MAX_COMMANDS = 4,
	NEAR_ELEMENTS = 256, /* this far from known memory an index is a little off, else far */
};

/* ---- facts about the access ---- */

static bool tells(const struct ws_report_access *access)
{
	return access->lane != WS_NONE &&
	       (access->lanes_known | access->lanes_guess) >> access->lane & 1;
}

static const char *address_text(struct wsi_scene *scene, const struct ws_report_access *access,
				const char *format)
{
	char text[200];
	wsi_format(text, "lane %u: address 0x%" PRIx64, access->lane,
		   access->address[access->lane]);
	return wsi_build_text(scene->build, "%s%s", text, format);
}

static void facts_of_lanes(struct wsi_scene *scene, const struct ws_report_access *access)
{
	uint32_t bad = access->unmapped | access->null_like | access->noncanonical |
		       access->outside | access->misaligned;
	uint32_t all = access->suspects | access->cleared;
	uint32_t right = all & (access->lanes_known | access->lanes_likely) & ~bad;
	if (!bad)
		return;
	const char *text =
		wsi_build_text(scene->build, "the address is wrong in %u of %u lanes",
			       wsi_count_bits(bad & access->suspects), wsi_count_bits(all));
	if (access->cleared | right)
		wsi_fact(scene, WSI_FACT_SOME_LANES, text);
	else if (!(all & ~bad) && !(scene->warp.active_lanes & scene->lanes & ~all))
		wsi_fact(scene, WSI_FACT_ALL_LANES, text);
}

/* How far an index goes past the end may depend on the block, what is wrong does not: the address
 * of the same thread in the first block, where that is past the end, too. */
static uint64_t past_in_first_block(struct wsi_scene *scene, const struct ws_report_access *access,
				    uint64_t end)
{
	uint64_t address = access->address[access->lane], first;
	struct ws_dim3 idx = scene->block.idx;
	unsigned uses = 0;
	if (scene->e->n_accesses != 1 || !scene->have_slice)
		return address;
	scene->block.idx = (struct ws_dim3){ 0, 0, 0 };
	bool known = wsi_eval(scene, scene->slice, 0, access->lane, 0, &first, &uses);
	scene->block.idx = idx;
	return known && !(uses & WSI_EVAL_MEMORY) && first >= end ? wsi_min_u64(first, address)
								  : address;
}

static void facts_of_distance(struct wsi_scene *scene, const struct ws_report_access *access)
{
	const struct ws_report_owner *owner = &access->owner;
	uint64_t address = access->address[access->lane], start, end;
	const char *where = access->where ? access->where : "";
	bool index = access->index.value_known && access->index.claim.text;
	const char *text = wsi_build_text(scene->build, "lane %u: %s%s%s", access->lane, where,
					  index ? "; " : "", index ? access->index.claim.text : "");
	bool bad = (access->unmapped | access->outside) >> access->lane & 1;
	if (!bad || !access->where)
		return;
	if (owner->range_status == WS_OK) {
		start = owner->range_start;
		end = start + owner->range_size;
	} else if (access->below.status == WS_OK && !owner->value_known) {
		start = 0; /* what lies below says nothing of what was meant */
		end = access->below.start + access->below.size;
	} else {
		return;
	}
	if (address < start) {
		wsi_fact(scene, WSI_FACT_BEFORE, text);
		return;
	}
	uint64_t first = past_in_first_block(scene, access, end);
	uint64_t elements = first > end ? (first - end) / (access->width ? access->width : 1) : 0;
	if (first != address)
		text = first == end
			       ? wsi_build_text(scene->build,
						"%s; in the first block just past that end", text)
			       : wsi_build_text(scene->build,
						"%s; in the first block %" PRIu64
						" byte%s past that end",
						text, first - end, first - end == 1 ? "" : "s");
	wsi_fact(scene, elements < NEAR_ELEMENTS ? WSI_FACT_PAST_NEAR : WSI_FACT_PAST_FAR, text);
}

static void facts_of_base(struct wsi_scene *scene, const struct ws_report_access *access)
{
	const struct ws_report_owner *owner = &access->owner;
	const char *base = owner->claim.text;
	if (owner->kind == WS_OWNER_PARAMETER)
		wsi_fact(scene, WSI_FACT_BASE_PARAM, base);
	if (owner->kind == WS_OWNER_LOADED)
		wsi_fact(scene, WSI_FACT_BASE_LOADED, base);
	bool judged =
		tells(access) && (access->null_like | access->noncanonical) >> access->lane & 1;
	if (owner->value_known && owner->value == 0) {
		judged = true;
		wsi_fact(scene, WSI_FACT_NULL,
			 wsi_build_text(scene->build, "%s is null", base ? base : "the base"));
	}
	if (owner->value_known && owner->range_status != WS_OK && !judged &&
	    wsi_global_is_mapped(scene, owner->value, 1) == WSI_MAPPED_NO)
		wsi_fact(scene, WSI_FACT_BASE_LOST,
			 wsi_build_text(scene->build,
					"%s is 0x%" PRIx64 ", which is in no known range",
					base ? base : "the base", owner->value));
}

static void facts_of_space(struct wsi_scene *scene, const struct ws_report_access *access)
{
	const char *text = access->text;
	if (access->space == WS_SPACE_SHARED)
		wsi_fact(scene, WSI_FACT_SHARED, text);
	if (access->space == WS_SPACE_LOCAL)
		wsi_fact(scene, WSI_FACT_LOCAL, text);
	if (access->space == WS_SPACE_CONST)
		wsi_fact(scene, WSI_FACT_CONST, text);
	if (access->generic)
		wsi_fact(scene, WSI_FACT_GENERIC, text);
	if (access->async)
		wsi_fact(scene, WSI_FACT_ASYNC, text);
}

/* Whether the pointer itself is aligned, or only what is added to it is not. */
static void facts_of_alignment(struct wsi_scene *scene, const struct ws_report_access *access)
{
	const struct ws_report_owner *owner = &access->owner;
	uint64_t off = owner->value & (access->width - 1);
	const char *base = owner->claim.text ? owner->claim.text : "the base";
	if (!owner->value_known)
		return;
	if (off)
		wsi_fact(scene, WSI_FACT_BASE_ODD,
			 wsi_build_text(
				 scene->build,
				 "%s is 0x%" PRIx64 ", %" PRIu64 " byte%s off a multiple of %u",
				 base, owner->value, off, off == 1 ? "" : "s", access->width));
	else
		wsi_fact(scene, WSI_FACT_BASE_EVEN,
			 wsi_build_text(scene->build,
					"%s is 0x%" PRIx64 ", a multiple of %u; the offset is not",
					base, owner->value, access->width));
}

static void facts_of_address(struct wsi_scene *scene, const struct ws_report_access *access)
{
	uint32_t bit = 1u << access->lane;
	uint64_t off = access->width ? access->address[access->lane] & (access->width - 1) : 0;
	if (access->null_like & bit)
		wsi_fact(scene, WSI_FACT_NULL,
			 address_text(scene, access, ", as from a null pointer"));
	if (access->noncanonical & bit)
		wsi_fact(scene, WSI_FACT_WILD,
			 address_text(scene, access, ", which cannot be a GPU pointer"));
	if (access->misaligned & bit) {
		wsi_fact(scene, WSI_FACT_MISALIGNED,
			 address_text(scene, access,
				      wsi_build_text(scene->build,
						     ", %" PRIu64 " byte%s off a multiple of %u",
						     off, off == 1 ? "" : "s", access->width)));
		if (access->width)
			facts_of_alignment(scene, access);
	}
	if (access->outside & bit)
		wsi_fact(scene, WSI_FACT_OUTSIDE,
			 wsi_build_text(scene->build, "lane %u: %s", access->lane, access->where));
}

static enum wsi_fact overflow_fact(const struct ws_report_access *access)
{
	const struct ws_report_overflow *overflow = &access->overflow;
	bool known = access->owner.range_status == WS_OK;
	if (overflow->below_zero)
		return WSI_FACT_BELOW_ZERO;
	if (!overflow->pc)
		return overflow->claim.confidence == WS_CONFIDENCE_LIKELY
			       ? WSI_FACT_FAR_BELOW
			       : WSI_FACT_FAR_BELOW_ALONE;
	if (known && !overflow->inside)
		return WSI_FACT_OVERFLOW_FAR;
	return known && overflow->claim.confidence == WS_CONFIDENCE_CERTAIN
		       ? WSI_FACT_OVERFLOW
		       : WSI_FACT_OVERFLOW_ALONE;
}

/* An index that did not fit in 32 bits. If the base points nowhere, that is not what is wrong. */
static void facts_of_overflow(struct wsi_scene *scene, const struct ws_report_access *access)
{
	const struct ws_report_claim *claim = &access->overflow.claim;
	bool known = access->owner.range_status == WS_OK || wsi_global_is_partial(scene->build);
	if (claim->text && known)
		wsi_fact(scene, overflow_fact(access),
			 wsi_build_text(scene->build, "%s; %s", claim->text, claim->evidence));
}

/* What is known of the memory of the suspects. */
static void facts_of_memory(struct wsi_scene *scene, const struct ws_report_access *access)
{
	uint32_t sure = access->lanes_known | access->lanes_likely;
	if (access->space != WS_SPACE_GLOBAL || !(access->suspects & sure))
		return;
	if (access->suspects & sure & ~(access->mapped | access->unmapped))
		wsi_fact(scene, WSI_FACT_NO_MEMORY,
			 wsi_global_is_partial(scene->build)
				 ? "global memory was left out of the dump"
				 : "what was at the addresses is not known");
	else if (!access->wrong && !(access->suspects & ~sure))
		wsi_fact(scene, WSI_FACT_INSIDE,
			 "the addresses of all suspects are in memory that is known");
}

static void facts_of_access(struct wsi_scene *scene)
{
	if (scene->e->n_accesses == 0)
		return;
	const struct ws_report_access *access = &scene->e->accesses[0];
	facts_of_space(scene, access);
	facts_of_base(scene, access);
	if (access->index.claim.text) {
		const struct ws_report_index *index = &access->index;
		wsi_fact(scene, WSI_FACT_INDEX_LOADED, index->claim.text);
		if (index->alone)
			wsi_fact(scene, WSI_FACT_INDEX_ALONE, index->claim.text);
		if (index->steps_out)
			wsi_fact(scene, WSI_FACT_STEP_BEYOND,
				 "even the index 1 gives an address outside");
	}
	facts_of_memory(scene, access);
	facts_of_overflow(scene, access);
	if (!tells(access))
		return;
	/* that a shared or local address is out of range, the exception says as well */
	bool said = scene->e->kind && scene->e->kind->family == WS_FAMILY_SPACE &&
		    access->space != WS_SPACE_GLOBAL && access->outside >> access->lane & 1;
	uint32_t sure = access->lanes_known | access->lanes_likely;
	scene->found.doubt = !said && !(sure >> access->lane & 1);
	facts_of_address(scene, access);
	facts_of_lanes(scene, access);
	bool certain;
	const char *cut = wsi_cut_find(scene, access, &certain);
	if (cut)
		wsi_fact(scene, certain ? WSI_FACT_CUT : WSI_FACT_CUT_LIKELY, cut);
	facts_of_distance(scene, access);
	wsi_facts_of_program(scene, access);
	scene->found.doubt = false;
}

/* ---- other facts ---- */

static bool calls_assert(const struct ws_report_exception *e)
{
	for (uint32_t i = 0; i < e->n_frames; i++) {
		struct ws_str name = e->frames[i].function_mangled;
		if (wsi_str_begins(name, "__assertfail"))
			return true;
	}
	return e->kind && e->kind->code == CUDBG_EXCEPTION_WARP_ASSERT;
}

/* What the flags of whoever took the dump left out, as far as they were set: not what strip took
 * away, nor what a file lacks that was cut. Older drivers did not record them. */
static void facts_of_flags(struct wsi_scene *scene, const struct ws_dump_facts *dump)
{
	static const struct {
		uint32_t flag;
		enum wsi_fact fact;
	} flags[] = {
		{ WS_WRITE_SKIP_IMAGES, WSI_FACT_FLAG_IMAGES },
		{ WS_WRITE_SKIP_GLOBAL, WSI_FACT_FLAG_GLOBAL },
		{ WS_WRITE_SKIP_SHARED, WSI_FACT_FLAG_SHARED },
		{ WS_WRITE_SKIP_LOCAL, WSI_FACT_FLAG_LOCAL },
		{ WS_WRITE_SKIP_BANKS, WSI_FACT_FLAG_BANKS },
	};
	uint32_t set = dump->have_flags ? dump->flags : dump->cut ? 0 : WS_WRITE_LIGHTWEIGHT;
	for (size_t i = 0; i < WSI_COUNT(flags); i++)
		if (set & ~dump->left_out & flags[i].flag)
			wsi_fact(scene, flags[i].fact, "the flags of the dump");
	if (dump->left_out || dump->stripped)
		wsi_fact(scene, WSI_FACT_STRIPPED, "the dump says what was taken out of it");
}

static void dump_facts_of(struct wsi_scene *scene)
{
	const struct ws_report_exception *e = scene->e;
	const struct ws_report_kernel *kernel =
		e->kernel == WS_NONE ? NULL : &scene->build->kernels[e->kernel];
	if (scene->build->report->dump_status == WS_OK) {
		wsi_fact(scene, WSI_FACT_DUMP, "the state comes from a dump");
		facts_of_flags(scene, &scene->build->report->dump);
	}
	if (kernel && kernel->n_params && kernel->params[0].value_status == WS_EXCLUDED)
		wsi_fact(scene, WSI_FACT_NO_PARAMS, "constant banks were left out of the dump");
}

static void facts_of_place(struct wsi_scene *scene)
{
	const struct ws_report_exception *e = scene->e;
	struct ws_insn insn;
	if (e->errorpc_status != WS_OK)
		wsi_fact(scene, WSI_FACT_NO_ERRORPC, "there is no error PC");
	if (!scene->code.place.cubin)
		wsi_fact(scene, WSI_FACT_PC_OUTSIDE,
			 scene->build->report->dump_status == WS_OK
				 ? "the pc is outside every function in the dump"
				 : "the pc is outside every function on the device");
	else if (e->errorpc_status == WS_OK && wsi_code_insn(&scene->code, e->errorpc, &insn) &&
		 !insn.known)
		wsi_fact(scene, WSI_FACT_INSN_UNKNOWN,
			 "no known instruction is encoded at the error PC");
	if (calls_assert(e))
		wsi_fact(scene, WSI_FACT_ASSERT, "the exception, or a frame of `__assertfail`");
}

/* ---- rules ---- */

static bool all_of(const enum wsi_fact *facts, const bool *have)
{
	for (; *facts; facts++)
		if (!have[*facts])
			return false;
	return true;
}

static bool any_fact_of(const enum wsi_fact *facts, const bool *have)
{
	for (; *facts; facts++)
		if (have[*facts])
			return true;
	return false;
}

static bool rule_fits(const struct rule *rule, const struct ws_report_exception *e,
		      const bool *have)
{
	bool kind = e->blame == WS_BLAME_TRAP ? rule->trap
		    : e->kind                 ? rule->families >> e->kind->family & 1
					      : rule->families & 1; /* a code that is not known */
	for (size_t i = 0; i < WSI_COUNT(rule->codes) && e->kind; i++)
		kind |= rule->codes[i] && rule->codes[i] == e->code;
	return kind && all_of(rule->when, have) && !any_fact_of(rule->unless, have);
}

static const char *evidence_of(const struct wsi_scene *scene, const struct rule *rule)
{
	for (const enum wsi_fact *fact = rule->when; *fact; fact++) {
		if (scene->found.evidence[*fact])
			return scene->found.evidence[*fact];
	}
	return rule->confidence == WS_CONFIDENCE_POSSIBLE ? "common for this exception"
							  : "the kind of exception says so";
}

/* Whether a rule that rests on the same facts and more was told already. */
static bool is_told(const struct rule *const *told, size_t n, const struct rule *rule)
{
	for (size_t i = 0; i < n && !rule->is_next && rule->when[0]; i++) {
		bool rests[WSI_N_FACTS] = { false };
		for (const enum wsi_fact *fact = told[i]->when; *fact; fact++)
			rests[*fact] = true;
		if (!told[i]->is_next && all_of(rule->when, rests))
			return true;
	}
	return false;
}

/* The confidence of a rule that fits. */
static enum ws_confidence confidence_of(const struct wsi_scene *scene, const struct rule *rule)
{
	return any_fact_of(rule->when, scene->found.doubted) ? WS_CONFIDENCE_POSSIBLE
							     : rule->confidence;
}

static enum ws_status apply_rules(struct wsi_scene *scene)
{
	struct ws_report_exception *e = scene->e;
	struct wsi_arena *arena = scene->build->arena;
	struct ws_report_claim *causes = wsi_arena_zalloc_array(arena, MAX_CAUSES, sizeof *causes);
	const char **commands = wsi_arena_zalloc_array(arena, MAX_COMMANDS, sizeof *commands);
	if (!causes || !commands)
		return WS_NO_MEMORY;
	const struct rule *told[MAX_CAUSES + MAX_COMMANDS];
	size_t n_told = 0;
	bool proved = false; /* a cause: others are no causes then */
	e->causes = causes;
	e->commands = commands;
	for (size_t i = 0; i < WSI_COUNT(rules); i++) {
		const struct rule *rule = &rules[i];
		enum ws_confidence confidence = confidence_of(scene, rule);
		if (!rule_fits(rule, e, scene->found.fact) || is_told(told, n_told, rule) ||
		    (proved && !rule->is_next && confidence != WS_CONFIDENCE_CERTAIN))
			continue;
		proved |= !rule->is_next && confidence == WS_CONFIDENCE_CERTAIN;
		if (n_told < WSI_COUNT(told))
			told[n_told++] = rule;
		if (rule->is_next && e->n_commands < MAX_COMMANDS)
			commands[e->n_commands++] = rule->text;
		else if (!rule->is_next && e->n_causes < MAX_CAUSES)
			causes[e->n_causes++] =
				(struct ws_report_claim){ rule->text, evidence_of(scene, rule),
							  confidence };
	}
	return WS_OK;
}

enum ws_status wsi_causes(struct wsi_scene *scene)
{
	if (scene->e->blame == WS_BLAME_NOBODY)
		return WS_OK;
	if (scene->e->is_program)
		wsi_fact(scene, WSI_FACT_TRITON, "the kernel is Triton's");
	facts_of_access(scene);
	facts_of_place(scene);
	dump_facts_of(scene);
	return apply_rules(scene);
}
