/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planted-report FORMAT [hostile|large]: prints a report that was filled by hand, with every field
 * that a page shows. "hostile" puts a text into every string that tries to become markup, script or
 * a mention; "large" is as many warps as eight GPUs hold, no two neighbours in one state. For tests
 * of the pages alone: they need no dump.
 */
#include <stdio.h>
#include <string.h>

#include <warpscope/report.h>

/* Markup, attributes, comments, entities, control characters, bytes that are not UTF-8, text that
 * turns its direction, Markdown of every kind. */
#define HOSTILE                                                                           \
	"</script><script>document.title='owned'</script><img src=x "                     \
	"onerror=\"document.title='owned'"                                                \
	"\">--><!-- ]]> &lt;b&gt; \"'><b>bold</b> `a` ``b`` **c** _d_ __e__ "             \
	"[f](http://g.example/) "                                                         \
	"| h | ~~i~~ $j$ @somebody #1 www.k.example \\ \x01\x1b[31m\n```\n</code></pre> " \
	"\xff\xfe \xe2\x80\xae \xc2\x9b end"

static const char *text(bool hostile, const char *plain)
{
	return hostile ? HOSTILE : plain;
}

static struct ws_str str(bool hostile, const char *plain)
{
	return ws_str_of(text(hostile, plain));
}

enum { N_SMS = 16, WARPS_PER_SM = 8, N_WARPS = N_SMS * WARPS_PER_SM };

/* Everything that the report points to. */
struct planted {
	struct ws_report report;
	struct ws_report_device device;
	struct ws_report_kernel kernel;
	struct ws_report_param params[3];
	struct ws_report_field field;
	struct ws_report_formal formal;
	struct ws_report_exception exceptions[2];
	struct ws_report_frame frames[3];
	struct ws_str lines[5];
	struct ws_report_access access;
	struct ws_report_operand operands[3];
	struct ws_report_insn insns[5];
	struct ws_report_claim causes[2], findings[2];
	const char *commands[1];
	struct ws_report_group groups[4];
	struct ws_report_sm sms[N_SMS];
	struct ws_report_warp warps[N_WARPS];
	struct ws_report_block blocks[N_WARPS / 4];
	struct ws_report_wait waits[2];
	struct ws_report_absentee absentees[2];
	struct ws_diagnostic diagnostic;
	struct ws_report_missing missing;
	const char *next[2];
	struct ws_str code[1];
};

static void plant_frames(struct planted *p, bool hostile)
{
	static const char *const source[] = { "	int i = blockIdx.x * blockDim.x + threadIdx.x;",
					      "	if (i <= n)", "		out[i] = in[i] * scale;",
					      "}", "" };
	for (uint32_t i = 0; i < 5; i++)
		p->lines[i] = str(hostile, source[i]);
	p->formal = (struct ws_report_formal){ str(hostile, "in"), str(hostile, "float const*") };
	for (uint32_t i = 0; i < 3; i++)
		p->frames[i] = (struct ws_report_frame){
			.level = i,
			.inlined = i < 2,
			.library = i == 0,
			.pc = 0x7f2b4c0009f0,
			.function =
				str(hostile, "void scale_rows<float>(float const*, float*, int)"),
			.function_short = str(hostile, "scale_rows"),
			.function_mangled = str(hostile, "_Z10scale_rowsIfEvPKfPfi"),
			.owner_short = str(hostile, "scale_rows"),
			.rel_pc = 0xf0,
			.file = str(hostile, "/build/app/scale.cu"),
			.line = 12 + i,
			.borrowed_from = i == 2 ? text(hostile, "/images/scale.cubin") : NULL,
			.formals_status = i == 2 ? WS_OK : WS_ABSENT,
			.formals = &p->formal,
			.n_formals = 1,
			.source = { .path = text(hostile, "/home/me/app/scale.cu"),
				    .changed = i == 1,
				    .first_line = 11,
				    .n_lines = 5,
				    .lines = p->lines },
		};
}

static void plant_access(struct planted *p, bool hostile)
{
	p->operands[0] =
		(struct ws_report_operand){ .name = text(hostile, "R4.64"),
					    .use = WS_USE_ADDRESS,
					    .trust_why = text(hostile, "nothing writes it"),
					    .lanes = UINT32_MAX };
	p->operands[1] = (struct ws_report_operand){ .name = text(hostile, "0x10"),
						     .use = WS_USE_ADDRESS,
						     .uniform = true,
						     .constant = true,
						     .lanes = UINT32_MAX };
	p->operands[2] = (struct ws_report_operand){ .name = text(hostile, "R9"),
						     .use = WS_USE_DATA,
						     .status = WS_EXCLUDED };
	p->access = (struct ws_report_access){
		.pc = 0x7f2b4c0009f0,
		.text = text(hostile, "STG.E desc[UR4][R4.64+0x10], R9"),
		.found = { text(hostile, "the error PC names it"),
			   text(hostile, "errorpc is recorded for the warp"),
			   WS_CONFIDENCE_CERTAIN },
		.space = WS_SPACE_GLOBAL,
		.direction = WS_DIRECTION_STORE,
		.width = 4,
		.lanes = UINT32_MAX,
		.lanes_known = UINT32_MAX,
		.unmapped = 0xfffffff8,
		.suspects = 0xfffffff8,
		.cleared = 0x7,
		.lane = 3,
		.below = { .start = 0x7f3000000000,
			   .size = 4194304,
			   .distance = 20,
			   .elements = 5,
			   .symbol = str(hostile, "table") },
		.above = { .start = 0x7f3000600000,
			   .size = 512,
			   .distance = 2097108,
			   .elements = 524277 },
		.where = text(hostile,
			      "20 bytes past the end of the range that parameter 1 points to"),
		.owner = { .kind = WS_OWNER_PARAMETER,
			   .ordinal = 1,
			   .name = str(hostile, "out"),
			   .claim = { text(hostile, "parameter 1 (`out`)"),
				      text(hostile, "R4 was loaded from c[0x0][0x218]"),
				      WS_CONFIDENCE_LIKELY } },
		.operands = p->operands,
		.n_operands = 3,
	};
	for (uint32_t i = 0; i < WS_MAX_LANES; i++) {
		p->access.address[i] = 0x7f3000400008 + 4 * i;
		p->operands[0].value[i] = p->access.address[i] - 16;
		p->operands[1].value[i] = 16;
	}
	for (uint32_t i = 0; i < 5; i++)
		p->insns[i] = (struct ws_report_insn){
			.pc = 0x7f2b4c0009d0 + 16 * i,
			.text = text(hostile, "IMAD.WIDE R4, R9, 0x4, R2"),
			.mark = i == 2   ? "errorpc"
				: i == 4 ? "pc"
					 : NULL,
			.values = i == 2 ? text(hostile, "R4.64 = 0x7f3000400004") : NULL,
			.known = i != 1
		};
}

static void plant_exceptions(struct planted *p, bool hostile)
{
	p->causes[0] = (struct ws_report_claim){ text(hostile, "an index one past the last"),
						 text(hostile, "29 lanes lie past the end"),
						 WS_CONFIDENCE_LIKELY };
	p->causes[1] = (struct ws_report_claim){ text(hostile, "memory freed too early"), NULL,
						 WS_CONFIDENCE_POSSIBLE };
	p->findings[0] = (struct ws_report_claim){
		text(hostile, "each call of scale_rows takes 64 bytes of stack"),
		text(hostile, "attributes of the image"), WS_CONFIDENCE_CERTAIN
	};
	p->findings[1] = (struct ws_report_claim){ text(hostile, "the stack pointer is lost"), NULL,
						   WS_CONFIDENCE_POSSIBLE };
	p->commands[0] = text(hostile, "Run `compute-sanitizer --tool memcheck ./app`");
	for (uint32_t i = 0; i < 2; i++)
		p->exceptions[i] = (struct ws_report_exception){
			.code = 14,
			.kind = ws_exception_find(14),
			.name = "WARP_ILLEGAL_ADDRESS",
			.label = "Warp Illegal Address",
			.cuda_gdb = "CUDA_EXCEPTION_14",
			.headline = "illegal memory access",
			.at = { .sm = 2,
				.warp = 1,
				.lane = 3,
				.warp_index = 17,
				.block = { 4, 0, 0 },
				.thread = { 35, 0, 0 } },
			.pc = 0x7f2b4c000a10,
			.errorpc = 0x7f2b4c0009f0,
			.lanes_active = UINT32_MAX,
			.lanes_valid = UINT32_MAX,
			.lanes_blamed = 0xfffffff8,
			.n_lanes = 29,
			.n_warps = 1,
			.n_sms = 1,
			.text = str(hostile, "MMU fault"),
			.frames = p->frames,
			.n_frames = 3,
			.user_frame = 1,
			.pc_frames_from = 2,
			.accesses = &p->access,
			.n_accesses = 1,
			.insns = p->insns,
			.n_insns = 5,
			.precision = { "the instruction and the lanes are known",
				       text(hostile, "errorpc"), WS_CONFIDENCE_CERTAIN },
			.meaning = text(hostile, "A thread touched memory that is not mapped."),
			.assertion = { .message = str(hostile, "i < n"),
				       .file = str(hostile, "/build/app/scale.cu"),
				       .function = str(hostile, "void check(int)"),
				       .line = 12,
				       .claim = { text(hostile, "what the code hands over"),
						  text(hostile, "the image"),
						  WS_CONFIDENCE_CERTAIN } },
			.findings = p->findings,
			.n_findings = 2,
			.causes = p->causes,
			.n_causes = 2,
			.commands = p->commands,
			.n_commands = 1,
		};
}

static void plant_map(struct planted *p)
{
	for (uint32_t i = 0; i < N_SMS; i++)
		p->sms[i] = (struct ws_report_sm){ .id = i,
						   .exception = i == 2 ? 14 : 0,
						   .first_warp = i * WARPS_PER_SM,
						   .n_warps = WARPS_PER_SM };
	for (uint32_t i = 0; i < N_WARPS; i++) {
		uint8_t state = (uint8_t)(i % 7 == 0 ? WS_THREAD_BARRIER : WS_THREAD_ACTIVE);
		p->warps[i] = (struct ws_report_warp){
			.known = true,
			.state = i == 17 ? WS_THREAD_FAULTED : state,
			.id = i % WARPS_PER_SM,
			.exception = i == 17 ? 14 : 0,
			.lanes_valid = UINT32_MAX,
			.lanes_active = i % 5 ? UINT32_MAX : 0x0000ffff,
			.lanes_faulted = i == 17 ? 0xfffffff8 : 0,
			.group = i == 17                      ? 0
				 : state == WS_THREAD_BARRIER ? 2
							      : 1,
			.block = i / 4,
			.first_thread = i % 4 * 32,
		};
	}
	for (uint32_t i = 0; i < N_WARPS / 4; i++)
		p->blocks[i] = (struct ws_report_block){ .idx = { i, 0, 0 } };
	p->report.map = (struct ws_report_map){ .sms = p->sms,
						.n_sms = N_SMS,
						.warps = p->warps,
						.n_warps = N_WARPS,
						.blocks = p->blocks,
						.n_blocks = N_WARPS / 4 };
}

static void plant_threads(struct planted *p, bool hostile)
{
	static const enum ws_thread_state states[] = { WS_THREAD_FAULTED, WS_THREAD_ACTIVE,
						       WS_THREAD_BARRIER, WS_THREAD_DIVERGENT };
	for (uint32_t i = 0; i < 4; i++)
		p->groups[i] = (struct ws_report_group){ .state = states[i],
							 .pc = 0x7f2b4c000a10 + 16 * i,
							 .frame = p->frames[0],
							 .user = p->frames[1],
							 .n_lanes = 29 + 512 * i,
							 .n_warps = 1 + 16 * i,
							 .example = p->exceptions[0].at };
	p->absentees[0] = (struct ws_report_absentee){ .state = WS_ABSENTEE_FAULTED,
						       .n_lanes = 29,
						       .n_warps = 1,
						       .example = p->exceptions[0].at,
						       .wait = WS_NONE };
	p->absentees[1] = (struct ws_report_absentee){ .state = WS_ABSENTEE_WAITS,
						       .n_lanes = 32,
						       .n_warps = 1,
						       .example = p->exceptions[0].at,
						       .group = 1,
						       .wait = 1 };
	for (uint32_t i = 0; i < 2; i++)
		p->waits[i] = (struct ws_report_wait){
			.kind = i ? WS_WAIT_SPIN : WS_WAIT_BARRIER,
			.claim = { text(hostile, "waits for barrier 0 of the block"),
				   text(hostile, "BAR.SYNC at the pc"), WS_CONFIDENCE_CERTAIN },
			.pc = 0x7f2b4c000a30,
			.instruction = text(hostile, "BAR.SYNC.DEFER_BLOCKING 0x0"),
			.frames = p->frames,
			.n_frames = 3,
			.user_frame = 1,
			.n_lanes = 576,
			.n_warps = 18,
			.n_blocks = 9,
			.example = p->exceptions[0].at,
			.collective = i ? text(hostile, "NCCL all-reduce") : NULL,
			.barrier_status = i ? WS_ABSENT : WS_OK,
			.address_status = i ? WS_OK : WS_ABSENT,
			.space = WS_SPACE_GLOBAL,
			.address = 0x7f3000700000,
			.one_address = true,
			.value_bytes = 4,
			.value = 15,
			.n_missing = 61,
			.n_never = 29,
			.absentees = p->absentees,
			.n_absentees = 2,
		};
}

static void plant_facts(struct planted *p, bool hostile)
{
	static const uint8_t bytes[] = { 0, 0, 0, 0, 0x30, 0x7f, 0, 0 };
	p->device =
		(struct ws_report_device){ .state = { .name = str(hostile, "NVIDIA H100 80GB HBM3"),
						      .sm_major = 9,
						      .n_sms = N_SMS,
						      .n_warps_per_sm = 64,
						      .instruction_bytes = 16 },
					   .resident_warps = N_WARPS,
					   .faulted_sms = 1 };
	for (uint32_t i = 0; i < 3; i++)
		p->params[i] =
			(struct ws_report_param){ .ordinal = i,
						  .offset = 8 * i,
						  .size_bytes = i < 2 ? 8 : 4,
						  .value_status = i == 1 ? WS_EXCLUDED : WS_OK,
						  .value = { .ptr = bytes, .len = i < 2 ? 8 : 4 },
						  .name = str(hostile, "out"),
						  .type = str(hostile, "float*"),
						  .text = text(hostile, "0x7f3000000000") };
	p->field = (struct ws_report_field){ .path = str(hostile, "shape.rows"),
					     .type = str(hostile, "int"),
					     .size_bytes = 4,
					     .bit_size = 3,
					     .text = text(hostile, "-3") };
	p->params[0].fields = &p->field;
	p->params[0].n_fields = 1;
	p->params[0].fields_cut = true;
	p->kernel = (struct ws_report_kernel){
		.grid = { .have = WS_GRID_CLUSTER | WS_GRID_N_REGS,
			  .id = 1,
			  .n_regs = 16,
			  .grid_dim = { 48, 1, 1 },
			  .block_dim = { 128, 1, 1 },
			  .cluster_dim = { 2, 1, 1 } },
		.name = p->frames[0].function,
		.name_short = p->frames[0].function_short,
		.name_mangled = p->frames[0].function_mangled,
		.resident_blocks = N_WARPS / 4,
		.resident_warps = N_WARPS,
		.params = p->params,
		.n_params = 3,
	};
	p->diagnostic = (struct ws_diagnostic){ .what = "section",
						.file_off = 0x40,
						.message = text(hostile, "a section has no end") };
	p->missing =
		(struct ws_report_missing){ text(hostile, "global memory"), WS_EXCLUDED,
					    text(hostile, "Dump without `skip_global_memory`.") };
	p->next[0] = p->commands[0]; /* as src/report/verdict.c does */
	p->next[1] = text(hostile, "Look at `warpscope info DUMP lanes`.");
	p->code[0] = str(hostile, "scale_rows");
}

static void plant_image(struct ws_report_image *image, bool hostile)
{
	*image = (struct ws_report_image){
		.facts = { .sm = 90,
			   .variant = 'a',
			   .virtual_sm = 90,
			   .toolkit = 130,
			   .tool = str(hostile, "ptxas"),
			   .tool_version = str(hostile, "release 13.0, V13.0.88"),
			   .options = str(hostile, "-O3 -o /home/jo/scale.cubin") },
		.lines = WS_LINES_NOT_BUILT,
		.lines_borrowed_from = text(hostile, "/store/scale.cubin"),
		.options_shown = str(hostile, "-O3"),
		.options_left_out = true,
	};
}

static void plant(struct planted *p, bool hostile)
{
	plant_frames(p, hostile);
	plant_access(p, hostile);
	plant_exceptions(p, hostile);
	plant_map(p);
	plant_threads(p, hostile);
	plant_facts(p, hostile);
	struct ws_report *r = &p->report;
	r->verdict = WS_VERDICT_FAULT;
	r->summary = text(hostile, "Illegal memory access in kernel scale_rows at scale.cu:13");
	r->summary_head = strlen(r->summary);
	r->dump = (struct ws_dump_facts){ .path = text(hostile, "core.nvcudmp"),
					  .bytes = 1024,
					  .have_metadata = true,
					  .driver_major = 590,
					  .have_flags = true,
					  .flags = 2,
					  .have_time = true,
					  .timestamp = 1751371200,
					  .layout = "r590" };
	r->devices = &p->device;
	r->kernels = &p->kernel;
	r->exceptions = p->exceptions;
	r->focus = &p->exceptions[0];
	r->groups = p->groups;
	r->waits = p->waits;
	r->signature = text(hostile, "WARP_ILLEGAL_ADDRESS | scale_rows | STG");
	r->signature_rule = text(hostile, "prefix *::load*");
	r->signature_parts = text(hostile, "what happened | the kernel");
	plant_image(&r->image, hostile);
	r->diagnostics = &p->diagnostic;
	r->missing = &p->missing;
	r->next = p->next;
	r->code = p->code;
	r->n_devices = r->n_kernels = r->n_diagnostics = r->n_missing = r->n_code = 1;
	r->n_exceptions = r->n_waits = r->n_next = 2;
	r->n_groups = 4;
	r->n_warps = N_WARPS;
}

enum { LARGE_DEVICES = 8, LARGE_SMS = 132, LARGE_SLOTS = 64 };

static void plant_large(struct planted *p)
{
	static struct ws_report_device devices[LARGE_DEVICES];
	static struct ws_report_sm sms[LARGE_DEVICES * LARGE_SMS];
	static struct ws_report_warp warps[LARGE_DEVICES * LARGE_SMS * LARGE_SLOTS];
	static struct ws_report_block blocks[LARGE_DEVICES * LARGE_SMS * LARGE_SLOTS];
	uint32_t n = LARGE_DEVICES * LARGE_SMS * LARGE_SLOTS;
	for (uint32_t i = 0; i < LARGE_DEVICES; i++) {
		devices[i] = p->device;
		devices[i].state.id = i;
		devices[i].state.n_sms = LARGE_SMS;
	}
	for (uint32_t i = 0; i < LARGE_DEVICES * LARGE_SMS; i++)
		sms[i] = (struct ws_report_sm){ .device_index = i / LARGE_SMS,
						.id = i % LARGE_SMS,
						.first_warp = i * LARGE_SLOTS,
						.n_warps = LARGE_SLOTS };
	for (uint32_t i = 0; i < n; i++) {
		warps[i] = p->warps[i % N_WARPS];
		warps[i].state = (uint8_t)(i % (WS_THREAD_DIVERGENT + 1));
		warps[i].id = i % LARGE_SLOTS;
		warps[i].group = i % 4;
		warps[i].block = i;
		blocks[i] = (struct ws_report_block){ .idx = { i, 0, 0 } };
	}
	p->kernel.grid.grid_dim = (struct ws_dim3){ n, 1, 1 };
	p->report.devices = devices;
	p->report.n_devices = LARGE_DEVICES;
	p->report.map = (struct ws_report_map){ .sms = sms,
						.n_sms = LARGE_DEVICES * LARGE_SMS,
						.warps = warps,
						.n_warps = n,
						.blocks = blocks,
						.n_blocks = n };
}

int main(int argc, char **argv)
{
	static struct planted planted;
	static int fd = 1;
	struct ws_out out;
	enum ws_status st = WS_OK;
	if (argc < 2)
		return 2;
	plant(&planted, argc > 2 && strcmp(argv[2], "hostile") == 0);
	if (argc > 2 && strcmp(argv[2], "large") == 0)
		plant_large(&planted);
	ws_out_init(&out, ws_write_fd, &fd);
	if (strcmp(argv[1], "html") == 0)
		st = ws_report_html(&planted.report, NULL, &out, NULL);
	else if (strcmp(argv[1], "md") == 0)
		st = ws_report_markdown(&planted.report, NULL, &out, NULL);
	else if (strcmp(argv[1], "json") == 0)
		ws_report_json(&planted.report, &out);
	else
		st = ws_report_text(&planted.report, NULL, &out, NULL);
	return st != WS_OK || ws_out_flush(&out, NULL) != WS_OK;
}
