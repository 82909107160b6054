/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Likely causes of an exception, how exactly it is known, and what to run next. The rules are data
 * (data/causes.txt); here the facts are found that they ask for, each with a sentence that shows
 * it.
 */
#include "analyze/explain.h"

/* A row of data/causes.txt. */
struct rule {
	bool is_next;      /* what to run next, not a cause */
	uint32_t families; /* mask */
	bool trap;
	uint32_t codes[2]; /* 0: none */
	uint32_t when, unless;
	enum ws_confidence confidence;
	const char *text;
};

#include "causes.inc"

enum {
	MAX_CAUSES = 3,
	MAX_COMMANDS = 4,
	NEAR_ELEMENTS = 256, /* this far from known memory an index is a little off, else far */
	DEEP_STACK = 32,     /* return addresses */
};

/* What is known of an exception, with a sentence for each fact. */
struct facts {
	struct wsi_scene *scene;
	uint32_t have;    /* enum fact */
	uint32_t doubted; /* of these, what rests on an address that may not be that of the fault */
	bool doubt;       /* what is added now does */
	const char *evidence[32];
};

static void fact(struct facts *facts, enum fact bit, const char *evidence)
{
	if (facts->doubt)
		facts->doubted |= bit & ~facts->have;
	facts->have |= bit;
	for (unsigned i = 0; i < WSI_COUNT(facts->evidence); i++) {
		if (bit >> i & 1)
			facts->evidence[i] = evidence;
	}
}

static unsigned count_lanes(uint32_t mask)
{
	unsigned n = 0;
	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

/* ---- facts about the access ---- */

static bool tells(const struct ws_report_access *access)
{
	return access->lane != WS_NONE &&
	       (access->lanes_known | access->lanes_guess) >> access->lane & 1;
}

static const char *address_text(struct facts *facts, const struct ws_report_access *access,
				const char *format)
{
	char text[200];
	wsi_format(text, "lane %u: address 0x%" PRIx64, access->lane,
		   access->address[access->lane]);
	return wsi_build_text(facts->scene->build, "%s%s", text, format);
}

static void facts_of_lanes(struct facts *facts, const struct ws_report_access *access)
{
	uint32_t bad = access->unmapped | access->null_like | access->noncanonical |
		       access->outside | access->misaligned;
	uint32_t all = access->suspects | access->cleared;
	if (!bad)
		return;
	const char *text =
		wsi_build_text(facts->scene->build, "the address is wrong in %u of %u lanes",
			       count_lanes(bad & access->suspects), count_lanes(all));
	fact(facts, access->cleared ? FACT_SOME_LANES : FACT_ALL_LANES, text);
}

static void facts_of_distance(struct facts *facts, const struct ws_report_access *access)
{
	const struct ws_report_owner *owner = &access->owner;
	uint64_t address = access->address[access->lane], start, end;
	const char *where = access->where ? access->where : "";
	const char *text = wsi_build_text(facts->scene->build, "lane %u: %s", access->lane, where);
	bool bad = (access->unmapped | access->outside) >> access->lane & 1;
	if (!bad || !access->where)
		return;
	if (owner->range_status == WS_OK) {
		start = owner->range_start;
		end = start + owner->range_size;
	} else if (access->below.status == WS_OK) {
		start = 0; /* what lies below says nothing of what was meant */
		end = access->below.start + access->below.size;
	} else {
		return;
	}
	if (address < start) {
		fact(facts, FACT_BEFORE, text);
		return;
	}
	uint64_t elements =
		address > end ? (address - end) / (access->width ? access->width : 1) : 0;
	fact(facts, elements < NEAR_ELEMENTS ? FACT_PAST_NEAR : FACT_PAST_FAR, text);
}

static void facts_of_base(struct facts *facts, const struct ws_report_access *access)
{
	const struct ws_report_owner *owner = &access->owner;
	const char *base = owner->claim.text;
	if (owner->kind == WS_OWNER_PARAMETER)
		fact(facts, FACT_BASE_PARAM, base);
	if (owner->kind == WS_OWNER_LOADED)
		fact(facts, FACT_BASE_LOADED, base);
	bool judged =
		tells(access) && (access->null_like | access->noncanonical) >> access->lane & 1;
	if (owner->value_known && owner->value == 0) {
		judged = true;
		fact(facts, FACT_NULL,
		     wsi_build_text(facts->scene->build, "%s is null", base ? base : "the base"));
	}
	if (owner->value_known && owner->range_status != WS_OK && !judged &&
	    wsi_global_is_mapped(facts->scene, owner->value, 1) == WSI_MAPPED_NO)
		fact(facts, FACT_BASE_LOST,
		     wsi_build_text(facts->scene->build,
				    "%s is 0x%" PRIx64 ", which lies in no range that is known",
				    base ? base : "the base", owner->value));
}

static void facts_of_space(struct facts *facts, const struct ws_report_access *access)
{
	const char *text = access->text;
	if (access->space == WS_SPACE_SHARED)
		fact(facts, FACT_SHARED, text);
	if (access->space == WS_SPACE_LOCAL)
		fact(facts, FACT_LOCAL, text);
	if (access->space == WS_SPACE_CONST)
		fact(facts, FACT_CONST, text);
	if (access->generic)
		fact(facts, FACT_GENERIC, text);
	if (access->async)
		fact(facts, FACT_ASYNC, text);
}

static void facts_of_address(struct facts *facts, const struct ws_report_access *access)
{
	uint32_t bit = 1u << access->lane;
	if (access->null_like & bit)
		fact(facts, FACT_NULL, address_text(facts, access, ", as a null pointer gives"));
	if (access->noncanonical & bit)
		fact(facts, FACT_WILD,
		     address_text(facts, access, ", which no GPU pointer can be"));
	if (access->misaligned & bit)
		fact(facts, FACT_MISALIGNED,
		     address_text(
			     facts, access,
			     wsi_build_text(facts->scene->build,
					    ", %" PRIu64 " bytes off a multiple of %u",
					    access->address[access->lane] & (access->width - 1),
					    access->width)));
	if (access->outside & bit)
		fact(facts, FACT_OUTSIDE,
		     wsi_build_text(facts->scene->build, "lane %u: %s", access->lane,
				    access->where));
	if (access->inside && !(access->unmapped & bit))
		fact(facts, FACT_INSIDE,
		     address_text(facts, access, " is in memory that is known"));
}

static void facts_of_access(struct facts *facts)
{
	struct wsi_scene *scene = facts->scene;
	if (scene->e->n_accesses == 0)
		return;
	const struct ws_report_access *access = &scene->e->accesses[0];
	facts_of_space(facts, access);
	facts_of_base(facts, access);
	if (!tells(access))
		return;
	facts->doubt = !((access->lanes_known | access->lanes_likely) >> access->lane & 1);
	facts_of_address(facts, access);
	facts_of_lanes(facts, access);
	facts_of_distance(facts, access);
	facts->doubt = false;
	if (access->index.claim.text)
		fact(facts, FACT_INDEX_LOADED, access->index.claim.text);
}

/* ---- other facts ---- */

static bool calls_assert(const struct ws_report_exception *e)
{
	for (uint32_t i = 0; i < e->n_frames; i++) {
		struct ws_str name = e->frames[i].function_mangled;
		if (name.len >= 12 && memcmp(name.ptr, "__assertfail", 12) == 0)
			return true;
	}
	return e->kind && strcmp(e->kind->name, "WARP_ASSERT") == 0;
}

static bool target_is_gone(const struct wsi_scene *scene)
{
	struct ws_block block;
	if (!scene->e->have_target_block || !scene->have_block)
		return false;
	for (uint32_t i = 0; i < scene->build->counts.blocks; i++) {
		if (ws_target_block(scene->build->target, i, &block, NULL) == WS_OK &&
		    block.grid_index == scene->block.grid_index &&
		    memcmp(&block.idx, &scene->e->target_block, sizeof block.idx) == 0)
			return false;
	}
	return true;
}

static void facts_of_dump(struct facts *facts)
{
	struct wsi_scene *scene = facts->scene;
	const struct ws_report_exception *e = scene->e;
	const struct ws_report_kernel *kernel =
		e->kernel == WS_NONE ? NULL : &scene->build->kernels[e->kernel];
	const struct ws_report_access *access = e->n_accesses ? &e->accesses[0] : NULL;
	if (access && access->space == WS_SPACE_GLOBAL && tells(access) &&
	    wsi_global_is_mapped(scene, access->address[access->lane], 1) == WSI_MAPPED_UNKNOWN)
		fact(facts, FACT_NO_MEMORY, "global memory was left out of the dump");
	if (kernel && kernel->n_params && kernel->params[0].value_status == WS_EXCLUDED)
		fact(facts, FACT_NO_PARAMS, "constant banks were left out of the dump");
}

static void facts_of_place(struct facts *facts)
{
	struct wsi_scene *scene = facts->scene;
	const struct ws_report_exception *e = scene->e;
	struct ws_insn insn;
	if (e->errorpc_status != WS_OK)
		fact(facts, FACT_NO_ERRORPC, "there is no error PC");
	if (!scene->code.place.module)
		fact(facts, FACT_PC_OUTSIDE, "the pc lies in no function of the dump");
	else if (e->errorpc_status == WS_OK && wsi_code_insn(&scene->code, e->errorpc, &insn) &&
		 !insn.known)
		fact(facts, FACT_INSN_UNKNOWN, "no known instruction is encoded at the error PC");
	uint32_t n_callers = e->n_callers_left_out;
	for (uint32_t i = 0; i < e->n_frames; i++)
		n_callers += e->frames[i].caller;
	if (n_callers >= DEEP_STACK)
		fact(facts, FACT_RECURSION,
		     wsi_build_text(scene->build, "the call stack has %u return addresses",
				    n_callers));
	if (calls_assert(e))
		fact(facts, FACT_ASSERT, "the exception, or a frame of `__assertfail`");
	if (target_is_gone(scene))
		fact(facts, FACT_TARGET_GONE, "the target block is not resident any more");
}

/* ---- rules ---- */

static bool rule_fits(const struct rule *rule, const struct ws_report_exception *e, uint32_t have)
{
	bool kind = e->blame == WS_BLAME_TRAP ? rule->trap
		    : e->kind                 ? (rule->families >> e->kind->family & 1) ||
					(e->code &&
					 (rule->codes[0] == e->code || rule->codes[1] == e->code))
			      : rule->families & 1; /* a code that is not known */
	return kind && (have & rule->when) == rule->when && !(have & rule->unless);
}

static const char *evidence_of(const struct facts *facts, const struct rule *rule)
{
	for (unsigned i = 0; i < WSI_COUNT(facts->evidence); i++) {
		if (rule->when >> i & 1 && facts->evidence[i])
			return facts->evidence[i];
	}
	return rule->confidence == WS_CONFIDENCE_POSSIBLE ? "usual for this exception"
							  : "the kind of exception says so";
}

/* Whether a rule that rests on the same facts and more was told already. */
static bool is_told(const struct rule *const *told, size_t n, const struct rule *rule)
{
	for (size_t i = 0; i < n; i++) {
		if (!rule->is_next && !told[i]->is_next && rule->when &&
		    (told[i]->when & rule->when) == rule->when)
			return true;
	}
	return false;
}

static enum ws_status apply_rules(struct facts *facts)
{
	struct ws_report_exception *e = facts->scene->e;
	struct wsi_arena *arena = facts->scene->build->arena;
	struct ws_report_claim *causes = wsi_arena_zalloc_array(arena, MAX_CAUSES, sizeof *causes);
	const char **commands = wsi_arena_zalloc_array(arena, MAX_COMMANDS, sizeof *commands);
	if (!causes || !commands)
		return WS_NO_MEMORY;
	const struct rule *told[MAX_CAUSES + MAX_COMMANDS];
	size_t n_told = 0;
	e->causes = causes;
	e->commands = commands;
	for (size_t i = 0; i < WSI_COUNT(rules); i++) {
		const struct rule *rule = &rules[i];
		if (!rule_fits(rule, e, facts->have) || is_told(told, n_told, rule))
			continue;
		if (n_told < WSI_COUNT(told))
			told[n_told++] = rule;
		if (rule->is_next && e->n_commands < MAX_COMMANDS)
			commands[e->n_commands++] = rule->text;
		else if (!rule->is_next && e->n_causes < MAX_CAUSES)
			causes[e->n_causes++] =
				(struct ws_report_claim){ rule->text, evidence_of(facts, rule),
							  rule->when & facts->doubted
								  ? WS_CONFIDENCE_POSSIBLE
								  : rule->confidence };
	}
	return WS_OK;
}

/* ---- precision ---- */

static void claim_precision(struct wsi_scene *scene)
{
	struct ws_report_exception *e = scene->e;
	struct ws_report_claim *claim = &e->precision;
	bool instruction = e->errorpc_status == WS_OK && (!e->kind || e->kind->knows_instruction);
	bool one = e->n_accesses && e->accesses[0].cleared;
	claim->confidence = WS_CONFIDENCE_CERTAIN;
	switch (e->blame) {
	case WS_BLAME_SM:
		claim->text = instruction
				      ? "instruction known; the thread is not, its warp had left"
				      : "neither instruction nor thread is known";
		claim->evidence = "only the SM's row holds the exception";
		return;
	case WS_BLAME_TRAP:
		claim->text = "instruction and warp known: it stopped there";
		claim->evidence = "the warp's state";
		return;
	case WS_BLAME_NOBODY:
		return;
	case WS_BLAME_LANE:
	case WS_BLAME_SUSPECT:
		break;
	}
	claim->text = instruction ? one ? "instruction known; some lanes cleared by their addresses"
					: "instruction known; each lane told of may be the one"
				  : "instruction not known: at the pc or before it";
	claim->evidence = instruction ? "the warp's error PC" : "there is no valid error PC";
}

enum ws_status wsi_causes(struct wsi_scene *scene)
{
	struct facts facts = { .scene = scene };
	if (scene->e->blame == WS_BLAME_NOBODY)
		return WS_OK;
	claim_precision(scene);
	facts_of_access(&facts);
	facts_of_place(&facts);
	facts_of_dump(&facts);
	return apply_rules(&facts);
}
