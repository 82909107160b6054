/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope regs DUMP [FILTER...]: registers of the focus, or of every lane that a filter lets
 * through. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "session.h"
#include "symbols.h"

enum {
	MAX_REGS = 256, /* of one kind: more than any GPU has */
};

/* A kind of register: what was recorded, and how many there should be. */
static const struct kind {
	enum ws_reg_kind kind;
	const char *name; /* of register 0, without the number */
	bool is_bool;
} kinds[] = {
	{ WS_REG_R, "R", false },  { WS_REG_P, "P", true },        { WS_REG_UR, "UR", false },
	{ WS_REG_UP, "UP", true }, { WS_REG_BARRIER, "B", false },
};

enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

struct registers {
	enum ws_status status; /* why not even the first was recorded */
	uint32_t value[MAX_REGS];
	uint32_t n;        /* recorded */
	uint32_t expected; /* the hardware or the kernel has so many; 0: not known */
};

const char verb_regs_help[] =
	"Prints pc, errorpc, R, P, UR, UP and the convergence barriers of the focus (the first\n"
	"thread with an exception), or of every lane that the filter lets through: regs DUMP warp\n"
	"current, regs DUMP kernel 0 block (1,0,0) thread 3. Registers that were not saved are\n"
	"named with the reason.\n";

struct regs {
	struct session session;
	struct symbols *symbols;
	struct ws_json *json; /* NULL in text */
	uint32_t n_lanes;     /* shown so far */
};

static uint32_t expected(const struct place *place, enum ws_reg_kind kind)
{
	const struct ws_device *device = place->device;
	switch (kind) {
	case WS_REG_R:
		if (place->warp.have & WS_WARP_N_REGS)
			return place->warp.n_regs;
		return place->grid ? place->grid->n_regs : 0;
	case WS_REG_P:
		return device->n_preds_per_lane;
	case WS_REG_UR:
		return device->n_uniform_regs;
	case WS_REG_UP:
		return device->n_uniform_preds;
	case WS_REG_BARRIER:
		return device->n_convergence_barriers;
	}
	return 0;
}

static void registers_read(const struct regs *regs, const struct place *place, uint32_t lane,
			   enum ws_reg_kind kind, struct registers *ret_registers)
{
	struct registers *registers = ret_registers;
	registers->n = 0;
	registers->expected = expected(place, kind);
	registers->status = ws_target_registers(regs->session.target, place->warp_index, lane, kind,
						0, MAX_REGS, registers->value, &registers->n, NULL);
	if (registers->status != WS_OK)
		registers->n = 0;
	if (registers->n > MAX_REGS)
		registers->n = MAX_REGS;
}

/* ---- text ---- */

static void print_pc(struct regs *regs, const struct place *place, const char *name, uint64_t pc)
{
	struct ws_out *out = &regs->session.cli->out;
	const struct symbol *symbol =
		symbols_find(regs->symbols, place->warp.device_index, place->grid, pc);
	ws_out_printf(out, "%-8s 0x%016" PRIx64, name, pc);
	if (symbol->function_status == WS_OK) {
		ws_out_text(out, "  ");
		ws_out_escaped(out, ws_str_of(symbol->function));
	}
	if (symbol->line_status == WS_OK) {
		ws_out_text(out, " at ");
		ws_out_escaped(out, ws_str_of(symbol->path));
		ws_out_printf(out, ":%u", symbol->line);
	}
	ws_out_text(out, "\n");
}

/* "R32-R39  not saved", with why. */
static void print_missing(struct ws_out *out, const struct kind *kind,
			  const struct registers *registers)
{
	char name[40];
	if (registers->n >= registers->expected && registers->status == WS_OK)
		return;
	if (registers->expected > registers->n + 1)
		snprintf(name, sizeof name, "%s%u-%s%u", kind->name, registers->n, kind->name,
			 registers->expected - 1);
	else if (registers->expected)
		snprintf(name, sizeof name, "%s%u", kind->name, registers->n);
	else
		snprintf(name, sizeof name, "%s", kind->name);
	ws_out_printf(out, "%-8s not saved (%s)\n", name,
		      ws_missing_word(registers->status == WS_OK ? WS_ABSENT : registers->status));
}

static void print_kind(struct ws_out *out, const struct kind *kind,
		       const struct registers *registers)
{
	for (uint32_t i = 0; i < registers->n; i++) {
		char name[16];
		snprintf(name, sizeof name, "%s%u", kind->name, i);
		if (kind->is_bool)
			ws_out_printf(out, "%-8s %u\n", name, registers->value[i]);
		else
			ws_out_printf(out, "%-8s 0x%08" PRIx32 "  %" PRIu32 "\n", name,
				      registers->value[i], registers->value[i]);
	}
	print_missing(out, kind, registers);
}

static void print_dim3(struct ws_out *out, const char *name, struct ws_dim3 dim)
{
	ws_out_printf(out, ", %s (%u,%u,%u)", name, dim.x, dim.y, dim.z);
}

static void print_lane(struct regs *regs, const struct place *place, const struct ws_lane *lane)
{
	struct ws_out *out = &regs->session.cli->out;
	if (regs->n_lanes)
		ws_out_text(out, "\n");
	ws_out_printf(out, "Device %u SM %u Warp %u Lane %u", place->device->id, place->sm.id,
		      place->warp.id, lane->id);
	if (place->kernel != WS_NONE)
		ws_out_printf(out, ", kernel %u", place->kernel);
	if (place->block_status == WS_OK)
		print_dim3(out, "block", place->block.idx);
	print_dim3(out, "thread", lane->thread);
	ws_out_text(out, "\n");
	print_pc(regs, place, "pc", lane->pc);
	if (place->warp.error_pc_valid)
		print_pc(regs, place, "errorpc", place->warp.error_pc);
	else
		ws_out_printf(out, "%-8s none\n", "errorpc");
	for (size_t i = 0; i < N_KINDS; i++) {
		struct registers registers;
		registers_read(regs, place, lane->id, kinds[i].kind, &registers);
		print_kind(out, &kinds[i], &registers);
	}
}

/* ---- JSON ---- */

static void json_kind(struct ws_json *json, const struct kind *kind,
		      const struct registers *registers)
{
	char key[24];
	if (registers->status != WS_OK) {
		ws_json_missing(json, kind->name, registers->status);
	} else {
		ws_json_key(json, kind->name);
		ws_json_array_line(json);
		for (uint32_t i = 0; i < registers->n; i++)
			ws_json_u64(json, registers->value[i]);
		ws_json_end(json);
	}
	snprintf(key, sizeof key, "%s_expected", kind->name);
	ws_json_key(json, key);
	ws_json_u64(json, registers->expected);
}

static void json_lane(struct regs *regs, const struct place *place, const struct ws_lane *lane)
{
	struct ws_json *json = regs->json;
	ws_json_object(json);
	place_json(place, lane, json);
	ws_json_key(json, "errorpc");
	if (place->warp.error_pc_valid)
		ws_json_hex(json, place->warp.error_pc);
	else
		ws_json_null(json);
	for (size_t i = 0; i < N_KINDS; i++) {
		struct registers registers;
		registers_read(regs, place, lane->id, kinds[i].kind, &registers);
		json_kind(json, &kinds[i], &registers);
	}
	ws_json_end(json);
}

/* ---- the verb ---- */

static void visit(void *user, const struct place *place)
{
	struct regs *regs = user;
	for (uint32_t i = 0; i < place->n_lanes; i++) {
		if (regs->json)
			json_lane(regs, place, &place->lanes[i]);
		else
			print_lane(regs, place, &place->lanes[i]);
		regs->n_lanes++;
	}
	if (place->lanes_status != WS_OK)
		cli_warn("%s: device %u SM %u warp %u: the lanes could not be read (%s)",
			 regs->session.path, place->device->id, place->sm.id, place->warp.id,
			 ws_missing_word(place->lanes_status));
}

static int regs_run(struct regs *regs, int argc, char **argv)
{
	static const enum filter_word defaults[] = { FILTER_device, FILTER_sm, FILTER_warp,
						     FILTER_lane };
	const struct coords *focus = session_coords(&regs->session);
	struct filter filter;
	const char *bad = "";
	if (!filter_parse(&filter, focus, argc, argv, &bad))
		return cli_usage("regs", "incorrect filter '%s'", bad);
	for (size_t i = 0; argc == 0 && i < sizeof defaults / sizeof defaults[0]; i++)
		filter_current(&filter, focus, defaults[i]);
	struct ws_json json;
	struct ws_out *out = &regs->session.cli->out;
	if (regs->session.cli->json) {
		ws_json_init(&json, out, false);
		regs->json = &json;
		ws_json_object(&json);
		ws_json_key(&json, "schema");
		ws_json_text(&json, "warpscope-regs-1");
		ws_json_key(&json, "focus");
		session_json_focus(&regs->session, &json);
		ws_json_key(&json, "lanes");
		ws_json_array(&json);
	}
	regs->symbols = symbols_create(regs->session.target);
	walk(&regs->session, &filter, WALK_LANES, visit, regs);
	symbols_destroy(regs->symbols);
	if (regs->json) {
		ws_json_end(&json);
		ws_json_end(&json);
	} else if (regs->n_lanes == 0) {
		ws_out_text(out, "No CUDA Lanes.\n");
	}
	return CLI_ANSWERED;
}

static const struct option options[] = { CLI_COMMON_OPTIONS, { NULL, 0, NULL, 0 } };
const struct cli_options verb_regs_options = { "", options };

int verb_regs(struct cli *cli, int argc, char **argv)
{
	struct regs regs = { 0 };
	for (int option; (option = cli_option(&verb_regs_options, argc, argv)) != -1;) {
		int status = cli_common_option(cli, "regs", option);
		if (status != CLI_ANSWERED)
			return status;
	}
	if (optind >= argc)
		return cli_usage("regs", "which dump?");
	int status = session_open(&regs.session, cli, argv[optind]);
	if (status == CLI_ANSWERED)
		status = regs_run(&regs, argc - optind - 1, argv + optind + 1);
	session_close(&regs.session);
	return status;
}
