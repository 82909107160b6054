/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the state shows about the kind of an exception, apart from the access that access.c judges.
 * Each family has a file of its own. A finding is a sentence with its evidence; if it decides
 * between causes, it is also a fact for the rules of data/causes.txt.
 */
#include "explain/explain.h"

/* ---- the list ---- */

void wsi_fact(struct wsi_scene *scene, enum wsi_fact fact, const char *evidence)
{
	struct wsi_findings *found = &scene->found;
	if (!found->fact[fact])
		found->doubted[fact] = found->doubt;
	found->fact[fact] = true;
	if (!found->evidence[fact])
		found->evidence[fact] = evidence;
}

const char *wsi_found(struct wsi_scene *scene, enum ws_confidence confidence, const char *evidence,
		      const char *format, ...)
{
	struct wsi_findings *found = &scene->found;
	va_list args;
	va_start(args, format);
	const char *kept = wsi_arena_format(scene->build->arena, format, args);
	va_end(args);
	if (!kept)
		found->no_memory = true;
	else if (found->n < WSI_MAX_FINDINGS)
		found->claim[found->n++] = (struct ws_report_claim){ kept, evidence, confidence };
	return kept;
}

uint32_t wsi_scene_lane(const struct wsi_scene *scene)
{
	const struct ws_report_exception *e = scene->e;
	uint32_t lane = e->suspect.lane;
	for (uint32_t i = 0; lane == WS_NONE && i < WS_MAX_LANES; i++) {
		if ((e->lanes_blamed | e->lanes_active) & scene->lanes & 1u << i)
			lane = i;
	}
	return lane;
}

const char *wsi_lost_words(enum ws_status status)
{
	return status == WS_EXCLUDED ? "left out of the dump" : "not recorded";
}

/* ---- what needs no file of its own ---- */

/* The driver that wrote the dump against what built the code. */
static void find_driver(struct wsi_scene *scene)
{
	const struct ws_report *report = scene->build->report;
	const struct ws_dump_facts *dump = &report->dump;
	struct ws_cubin_facts cubin;
	uint32_t driver = dump->cuda_major * 10 + dump->cuda_minor;
	bool known = report->dump_status == WS_OK && dump->have_metadata && driver;
	if (!scene->code.place.cubin)
		return;
	ws_cubin_facts(scene->code.place.cubin, &cubin);
	if (cubin.toolkit == WS_UNKNOWN || !known) {
		wsi_found(scene, WS_CONFIDENCE_CERTAIN,
			  report->dump_status == WS_OK ? "metadata of the dump, notes of the image"
						       : "notes of the image",
			  "%s is not recorded: versions cannot be compared",
			  known ? "the toolkit that built the code" : "the driver's version");
		return;
	}
	const char *text = wsi_found(
		scene, WS_CONFIDENCE_CERTAIN, "metadata of the dump, notes of the image",
		"the code was built by CUDA %u.%u; the driver %u.%u belongs to CUDA %u.%u",
		cubin.toolkit / 10, cubin.toolkit % 10, dump->driver_major, dump->driver_minor,
		dump->cuda_major, dump->cuda_minor);
	wsi_fact(scene, cubin.toolkit > driver ? WSI_FACT_DRIVER_OLDER : WSI_FACT_DRIVER_NEWER,
		 text);
}

/* The kind of memory behind a system-wide atomic. */
static void find_atomic(struct wsi_scene *scene)
{
	const struct ws_report_access *access =
		scene->e->n_accesses ? &scene->e->accesses[0] : NULL;
	uint32_t known = 0, managed = 0;
	if (!access || access->space != WS_SPACE_GLOBAL)
		return;
	uint32_t have = access->suspects & (access->lanes_known | access->lanes_guess);
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++) {
		bool is_managed;
		if (!(have >> lane & 1) ||
		    !wsi_global_is_managed(scene->build, access->address[lane], &is_managed))
			continue;
		known |= 1u << lane;
		managed |= is_managed ? 1u << lane : 0;
	}
	if (!known)
		return;
	uint32_t n = wsi_count_bits(managed ? managed : known);
	uint32_t all = wsi_count_bits(access->suspects);
	const char *text = wsi_found(
		scene, WS_CONFIDENCE_CERTAIN,
		scene->build->report->dump_status == WS_OK ? "the dump's list of memory"
							   : "the device's list of memory",
		"the memory that %u of %u suspect%s access%s is %smanaged memory", n, all,
		all == 1 ? "" : "s", n == 1 ? "es" : "", managed ? "" : "not ");
	if (managed)
		wsi_fact(scene, WSI_FACT_MANAGED, text);
}

static void find_retired(struct wsi_scene *scene)
{
	const struct ws_dump_facts *dump = &scene->build->report->dump;
	bool known = scene->build->report->dump_status == WS_OK && dump->have_metadata;
	if (known)
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "metadata of the dump",
			  "current drivers no longer report this number; the dump is from driver "
			  "%u.%u",
			  dump->driver_major, dump->driver_minor);
	else
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the number",
			  "current drivers no longer report this number: the dump is from an old "
			  "one");
}

/* Kinds that the memory system raises: who else was there. */
static void find_bystanders(struct wsi_scene *scene)
{
	const struct ws_report *report = scene->build->report;
	if (!scene->e->kind || scene->e->kind->scope != WS_SCOPE_DEVICE ||
	    wsi_others_are_dropped(scene->build))
		return;
	uint32_t n = 0;
	for (uint32_t i = 0; i < report->n_kernels; i++)
		n += report->kernels[i].resident_warps > 0;
	if (n > 1)
		wsi_found(
			scene, WS_CONFIDENCE_CERTAIN, "the grids and warps that are resident",
			"%u kernels were running: any of them, a copy engine or a peer device may "
			"have made the access",
			n);
	else if (n == 1)
		wsi_found(scene, WS_CONFIDENCE_CERTAIN, "the grids and warps that are resident",
			  "one kernel was running: it, a copy engine or a peer device made the "
			  "access");
}

/* What a kind of exception is. */
static const char *meaning_of(struct wsi_build *build, const struct ws_report_exception *e)
{
	const struct ws_exception *last = NULL, *kind;
	if (e->kind)
		return e->kind->meaning;
	if (e->blame == WS_BLAME_TRAP)
		return "The warp stopped itself, at a trap or breakpoint instruction; there is no "
		       "exception number for that.";
	for (size_t i = 0; (kind = ws_exception_at(i)); i++) {
		if (kind->code != WS_EXCEPTION_UNKNOWN)
			last = kind;
	}
	return wsi_build_text(build,
			      "The list of exceptions of this version ends at %u: the driver is "
			      "newer, or the number is damaged. A newer cuda-gdb may name it.",
			      last ? last->code : 0);
}

static enum ws_status find_family(struct wsi_scene *scene)
{
	const struct ws_exception *kind = scene->e->kind;
	if (scene->e->blame == WS_BLAME_TRAP)
		return wsi_find_trap(scene);
	if (!kind)
		return WS_OK;
	switch (kind->family) {
	case WS_FAMILY_STOP:
		return wsi_find_assertion(scene);
	case WS_FAMILY_STACK:
		return wsi_find_stack(scene);
	case WS_FAMILY_CONTROL_FLOW:
		return wsi_find_jump(scene);
	case WS_FAMILY_INSTRUCTION:
		if (kind->code == CUDBG_EXCEPTION_WARP_CALL_REQUIRES_NEWER_DRIVER) {
			find_driver(scene);
			return WS_OK;
		}
		return wsi_find_instruction(scene);
	case WS_FAMILY_SPACE:
		return wsi_find_window(scene);
	case WS_FAMILY_CLUSTER:
		return wsi_find_cluster(scene);
	case WS_FAMILY_BARRIER:
		return wsi_find_barrier(scene);
	case WS_FAMILY_TENSOR:
		return wsi_find_tensor(scene);
	case WS_FAMILY_ATOMIC:
		find_atomic(scene);
		break;
	case WS_FAMILY_ADDRESS:
		find_bystanders(scene);
		break;
	case WS_FAMILY_ALIGNMENT:
	case WS_FAMILY_UNKNOWN:
		break;
	}
	return WS_OK;
}

enum ws_status wsi_findings(struct wsi_scene *scene)
{
	struct ws_report_exception *e = scene->e;
	e->assertion.status = WS_ABSENT;
	if (e->blame == WS_BLAME_NOBODY)
		return WS_OK;
	e->meaning = meaning_of(scene->build, e);
	enum ws_status st = e->meaning ? find_family(scene) : WS_NO_MEMORY;
	if (st != WS_OK)
		return st;
	if (e->kind && e->kind->retired)
		find_retired(scene);
	struct ws_report_claim *kept =
		wsi_arena_zalloc_array(scene->build->arena, scene->found.n, sizeof *kept);
	if (!kept || scene->found.no_memory)
		return WS_NO_MEMORY;
	memcpy(kept, scene->found.claim, scene->found.n * sizeof *kept);
	e->findings = kept;
	e->n_findings = scene->found.n;
	return WS_OK;
}
