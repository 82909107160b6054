/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sections of pages say of a report that is filled by hand: of one thing and of several,
 * of what is cut, and of what is not known.
 */
#include "report_page.h"

static void plant_access(struct planted *p)
{
	plant(p);
	p->e.accesses = &p->access;
	p->e.n_accesses = 1;
}

/* ---- the fault ---- */

static void an_assertion_is_told_as_far_as_it_is_known(void **state)
{
	(void)state;
	struct planted p;
	plant(&p);
	says_not(&p.report, TEXT, "assertion");
	p.e.assertion = (struct ws_report_assertion){ .status = WS_OK, .why = "no image has it" };
	says(&p.report, TEXT, "    assertion  its text is not known: no image has it\n");
	p.e.assertion = (struct ws_report_assertion){ .function = ws_str_of("int f(int)") };
	says(&p.report, TEXT, "    assertion  (message not known)\n               in int f(int)\n");
	says_not(&p.report, TEXT, "               at ?");
	p.e.assertion = (struct ws_report_assertion){ .message = ws_str_of("x < 1"), .line = 12 };
	says(&p.report, TEXT, "    assertion  x < 1\n               at ?:12\n");
	p.e.assertion = (struct ws_report_assertion){ .file = ws_str_of("/src/a.cu") };
	says(&p.report, TEXT, "(message not known)\n               at /src/a.cu\n");
	says_not(&p.report, TEXT, "               in ");
}

static void the_place_of_a_fault_is_told_as_far_as_it_is_known(void **state)
{
	(void)state;
	struct planted p;
	plant(&p);
	says(&p.report, TEXT,
	     "    focus      block (1,2,3), thread (6,0,0), device 0, sm 4, warp 5, lane 6\n");
	p.e.at.block_status = WS_ABSENT;
	says(&p.report, TEXT, "    focus      thread (6,0,0), device 0, sm 4");
	p.e.at = nobody;
	p.e.at.sm = 4;
	says(&p.report, TEXT, "    focus      sm 4\n");
	says_not(&p.report, TEXT, "    lanes ");
	plant(&p);
	p.e.lanes_active = 3;
	p.e.lanes_valid = 0xff;
	says(&p.report, TEXT, "    lanes      active 0x00000003 of 0x000000ff\n");
	p.e.lanes_blamed = 0x40;
	says(&p.report, TEXT,
	     "    lanes      faulted 0x00000040, active 0x00000003 of 0x000000ff\n");
	says(&p.report, TEXT, "lane 6; this lane cannot be guilty\n");
	p.e.lanes_suspect = 0x40;
	says_not(&p.report, TEXT, "cannot be guilty");
	says(&p.report, HTML, "1 thread in 1 warp on 1 SM<");
	p.e.n_lanes = p.e.n_warps = p.e.n_sms = 2;
	says(&p.report, HTML, "2 threads in 2 warps on 2 SMs<");
	p.e.kernel = 0;
	p.kernel.grid.id = 7;
	says(&p.report, TEXT, "    focus      kernel 0, grid 7, block");
	p.e.at.have_cluster = true;
	p.e.at.cluster = (struct ws_dim3){ 0, 2, 1 };
	says_not(&p.report, TEXT, "cluster");
	p.kernel.grid.have = WS_GRID_CLUSTER;
	p.kernel.grid.cluster_dim = (struct ws_dim3){ 1, 1, 1 };
	says_not(&p.report, TEXT, "cluster");
	for (unsigned axis = 0; axis < 3; axis++) {
		p.kernel.grid.cluster_dim =
			(struct ws_dim3){ 1 + (axis == 0), 1 + (axis == 1), 1 + (axis == 2) };
		says(&p.report, TEXT, "grid 7, cluster (0,2,1), block");
	}
}

static void the_pc_is_told_beside_the_error_pc(void **state)
{
	(void)state;
	struct planted p;
	plant(&p);
	says(&p.report, TEXT, "    errorpc    0x0000000000001000  not in this dump's code\n");
	says(&p.report, TEXT, "    pc         0x0000000000001000, the same as errorpc\n");
	p.frames[0].pc = 0x1000;
	p.frames[0].owner_short = ws_str_of("f");
	p.frames[0].rel_pc = 0x80;
	p.e.n_frames = 1;
	says(&p.report, TEXT, "    errorpc    0x0000000000001000  f+0x80\n");
	p.e.pc_status = WS_ABSENT;
	says_not(&p.report, TEXT, "the same as");
	p.e.errorpc_status = WS_ABSENT;
	says_not(&p.report, TEXT, "0x0000000000001000  f");
	p.report.dump_status = WS_UNSUPPORTED;
	p.e.errorpc_status = WS_OK;
	p.e.n_frames = 0;
	says(&p.report, TEXT, "    errorpc    0x0000000000001000  not in this device's code\n");
}

/* ---- the access ---- */

static void an_access_is_told_by_what_it_does(void **state)
{
	(void)state;
	struct planted p;
	plant_access(&p);
	says(&p.report, TEXT, "    does       loads 4 bytes from global memory\n");
	p.access.width = 1;
	p.access.direction = WS_DIRECTION_STORE;
	p.access.generic = true;
	says(&p.report, TEXT,
	     "    does       stores 1 byte to global memory, through a generic address\n");
	p.access.width = 0;
	p.access.direction = WS_DIRECTION_ATOMIC;
	p.access.space = WS_SPACE_GENERIC;
	says(&p.report, TEXT, "    does       atomically updates through a generic address\n");
	p.access.generic = false;
	p.access.space = WS_SPACE_SHARED;
	p.access.rank = 0;
	p.access.async = true;
	says(&p.report, TEXT,
	     "    does       atomically updates in shared memory, block 0 of the cluster, "
	     "asynchronously\n");
	p.access.bank = 0;
	says(&p.report, TEXT, "in shared memory, bank 0, block 0");
}

static void addresses_are_told_of_a_lane_or_of_all(void **state)
{
	(void)state;
	struct planted p;
	plant_access(&p);
	says_not(&p.report, TEXT, "    address ");
	p.access.lanes_known = 1;
	p.access.first_address = p.access.last_address = 0x100;
	says(&p.report, TEXT, "    address    0x100, of 1 suspect\n");
	p.access.lanes_likely = 6;
	says(&p.report, TEXT, "    address    0x100, of 3 suspects\n");
	p.access.last_address = 0x108;
	says(&p.report, TEXT, "    address    0x100 to 0x108, of 3 suspects\n");
	p.access.suspects = 0xf8;
	says_not(&p.report, TEXT, "    address ");
	p.access.lane = 1;
	p.access.address[1] = 0x104;
	says_not(&p.report, TEXT, "    address ");
	p.access.lanes_guess = 2;
	says(&p.report, TEXT, "    address    lane 1: 0x104\n");
	p.access.noncanonical = 2;
	p.access.where = "far away";
	says(&p.report, TEXT,
	     "    address    lane 1: 0x104, which cannot be a GPU pointer, far away\n");
	p.access.null_like = 2;
	says(&p.report, TEXT, "    address    lane 1: 0x104, as from a null pointer, far away\n");
}

static void suspects_are_told_with_their_reasons(void **state)
{
	(void)state;
	struct planted p;
	plant_access(&p);
	says(&p.report, TEXT, "    suspects   8 of 8 lanes, 0x000000ff\n");
	p.access.lanes = p.access.suspects = 0x10;
	says(&p.report, TEXT, "    suspects   1 of 1 lane, 0x00000010\n");
	p.access.lanes = 0xff;
	p.access.unmapped = 0x30;
	p.access.misaligned = 0x10;
	p.access.cleared = 0x0f;
	says(&p.report, TEXT,
	     "    suspects   1 of 8 lanes, 0x00000010: 2 outside the dump's memory, 1 misaligned; "
	     "4 cleared by address or guard\n");
	p.report.dump_status = WS_UNSUPPORTED;
	says(&p.report, TEXT, "2 outside the device's memory, 1 mis");
	p.access.suspects = 0;
	says_not(&p.report, TEXT, "    suspects ");
}

static void each_lane_has_its_finding(void **state)
{
	(void)state;
	struct planted p;
	plant_access(&p);
	p.access.lanes = 0x1ff;
	p.access.suspects = 0x1bf;
	p.access.cleared = 0x40;
	p.access.lanes_known = 0x7f;
	p.access.lanes_guess = 0x100;
	p.access.address[8] = 0x80;
	p.access.unmapped = 0x1f;
	p.access.outside = 0x0f;
	p.access.misaligned = 0x07;
	p.access.noncanonical = 0x03;
	p.access.null_like = 0x01;
	static const char *const rows[] = {
		"0  0x0      near null\n",
		"1  0x0      not a valid address\n",
		"2  0x0      misaligned\n",
		"3  0x0      outside the window\n",
		"4  0x0      outside the dump's memory\n",
		"5  0x0      can be the cause\n",
		"6  0x0      cannot be the cause\n",
		"7  -        address not known\n",
		"8  0x80 ?   can be the cause\n",
	};
	page_of(&p.report, TEXT, true);
	for (size_t i = 0; i < WSI_COUNT(rows); i++)
		if (!strstr(written.bytes, rows[i]))
			fail_msg("the page does not say \"%s\"", rows[i]);
	says_not(&p.report, TEXT, "near null\n");
}

static void memory_beside_an_address_is_told_with_its_distance(void **state)
{
	(void)state;
	struct planted p;
	plant_access(&p);
	p.access.below = (struct ws_report_neighbour){ .start = 0x1000, .size = 64, .distance = 1 };
	says(&p.report, HTML,
	     " + 64 bytes, 1 byte before the access<span class=\"soft\"> (0 elements)");
	p.access.below.distance = 4;
	p.access.below.elements = 1;
	says(&p.report, HTML, ", 4 bytes before the access<span class=\"soft\"> (1 element)");
	p.access.below.distance = 0;
	p.access.below.symbol = ws_str_of("table");
	says(&p.report, HTML, " + 64 bytes (<code>table</code>), touching the access");
	says(&p.report, HTML, "<dt>Below</dt>");
	p.access.inside = true;
	says(&p.report, HTML, "), which holds the address");
	says(&p.report, HTML, "<dt>In range</dt>");
	p.access.above = (struct ws_report_neighbour){ .start = 0x2000, .size = 8, .distance = 9 };
	says(&p.report, HTML, " + 8 bytes, 9 bytes after the access");
}

static void an_access_is_drawn_with_the_memory_of_its_space(void **state)
{
	(void)state;
	static const struct {
		enum ws_space space;
		uint64_t start, address;
		const char *words[2];
	} cases[] = {
		{ WS_SPACE_SHARED, 0, 0x300, { ">0x0</text>", ">192 bytes</text>" } },
		{ WS_SPACE_SHARED, 0, 0x240, { ">0x0</text>", ">0x240</text>" } },
		{ WS_SPACE_SHARED, 0, 0x23f, { ">0x0</text>", ">0x23f</text>" } },
		{ WS_SPACE_LOCAL, 0xfffb80, 0xfffb00, { ">0xfffb80</text>", ">124 bytes</text>" } },
		{ WS_SPACE_LOCAL, 0xfffb80, 0xfffb7e, { ">0xfffb80</text>", ">0xfffb7e</text>" } },
		{ WS_SPACE_LOCAL, 0xfffb80, 0xfffb80, { ">0xfffb80</text>", ">0xfffb80</text>" } },
		{ WS_SPACE_LOCAL, 0xfffb80, 0xfffdc8, { ">0xfffb80</text>", ">8 bytes</text>" } },
	};
	struct planted p;
	plant_access(&p);
	p.access.lane = 0;
	p.access.lanes_known = 1;
	p.access.space = WS_SPACE_LOCAL;
	says_not(&p.report, HTML, "class=\"ruler\"");
	p.access.window_size = 576;
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		bool far = strstr(cases[i].words[1], "bytes");
		p.access.space = cases[i].space;
		p.access.window_start = cases[i].start;
		p.access.address[0] = cases[i].address;
		says(&p.report, HTML, ">576 bytes</text>");
		says(&p.report, HTML, cases[i].words[0]);
		says(&p.report, HTML, cases[i].words[1]);
		assert_true((strstr(written.bytes, "class=\"gap\"") != NULL) == far);
	}
	p.access.space = WS_SPACE_CONST;
	says_not(&p.report, HTML, "class=\"ruler\"");
}

static void operands_are_told_with_their_values(void **state)
{
	(void)state;
	struct ws_report_operand op = {
		.name = "R2.64", .use = WS_USE_ADDRESS, .lanes = 6, .value = { 0, 0x10, 0x20 }
	};
	struct planted p;
	plant_access(&p);
	p.access.operands = &op;
	p.access.n_operands = 1;
	p.access.lane = 1;
	says(&p.report, TEXT, "    operands   R2.64 = 0x10\n");
	says(&p.report, HTML, "<code>0x10</code><span class=\"soft\"> lane 1; others below</span>");
	p.access.lane = 0;
	says_not(&p.report, TEXT, "    operands ");
	p.access.lane = WS_NONE;
	p.access.suspects = 4;
	says_not(&p.report, TEXT, "    operands ");
	says(&p.report, HTML, "<code>0x20</code><span class=\"soft\"> lane 2; others below</span>");
	op.uniform = true;
	says(&p.report, HTML, "<code>0x20</code></td>");
	op.trust = WS_TRUST_OVERWRITTEN;
	says(&p.report, HTML, ">gone</span>");
	op.use = WS_USE_DATA;
	says(&p.report, HTML, ">data, not shown</span>");
	op.use = WS_USE_RESULT;
	says(&p.report, HTML, ">written by the instruction</span>");
	op.use = WS_USE_DESCRIPTOR;
	op.trust = WS_TRUST_AT_FAULT;
	p.access.lane = 1;
	says_not(&p.report, TEXT, "    operands ");
}

/* ---- the stack ---- */

static void frames_that_repeat_are_folded(void **state)
{
	(void)state;
	static const struct {
		uint32_t period, n;
		const char *words; /* NULL: not folded */
	} cases[] = {
		{ 1, 3, NULL },
		{ 1, 4, "         (3 more frames repeat the last one; --all)\n" },
		{ 2, 6, NULL },
		{ 2, 7, NULL },
		{ 2, 8, "         (6 more frames repeat the last ones; --all)\n" },
		{ 2, 9, "         (6 more frames repeat the last ones; --all)\n" },
		{ 8, 32, "         (24 more frames repeat the last ones; --all)\n" },
		{ 9, 36, NULL },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct planted p;
		plant(&p);
		p.e.n_frames = cases[i].n;
		for (uint32_t k = 0; k < cases[i].n; k++)
			p.frames[k].pc = 0x2000 + 16 * (k % cases[i].period);
		if (cases[i].words)
			says(&p.report, TEXT, cases[i].words);
		else
			says_not(&p.report, TEXT, "more frames");
		assert_null(strstr(page_of(&p.report, TEXT, true), "more frames"));
		p.e.pc_frames_from = cases[i].n - 1; /* that one is of another stack */
		if (cases[i].words && cases[i].n == 4)
			says_not(&p.report, TEXT, "more frames");
	}
}

static void callers_that_are_left_out_are_counted(void **state)
{
	(void)state;
	struct planted p;
	plant(&p);
	p.e.n_frames = 100;
	says_not(&p.report, HTML, "more caller");
	p.e.n_frames = 101;
	says(&p.report, HTML, ">1 more caller<");
	says_not(&p.report, TEXT, "more caller");
	p.e.n_callers_left_out = 1;
	says(&p.report, HTML, ">2 more callers<");
	says(&p.report, TEXT, "         (1 more caller)\n");
	assert_non_null(strstr(page_of(&p.report, HTML, true), ">1 more caller<"));
	says_not(&p.report, TEXT, "return addresses: ");
	p.e.stack_status = WS_TRUNCATED;
	says(&p.report, TEXT, "         (return addresses: ");
}

static void frames_without_lines_say_why(void **state)
{
	(void)state;
	struct planted p;
	plant(&p);
	p.e.n_frames = 1;
	says(&p.report, TEXT,
	     "    #0   f(int)\n         at 0x0000000000002000, line information: none\n");
	p.frames[0].function_status = WS_ABSENT;
	says(&p.report, TEXT,
	     "    #0   ?? (not in this dump's code)\n         at 0x0000000000002000\n");
	p.frames[0].function_status = WS_UNSUPPORTED;
	says(&p.report, TEXT, "?? (a host address)");
	p.frames[0] = (struct ws_report_frame){ .function = ws_str_of("f(int)"),
						.file = ws_str_of("/src/a.cu"),
						.line = 3 };
	says(&p.report, TEXT, "    #0   f(int)\n         at /src/a.cu:3\n");
	p.frames[0].inlined = p.frames[0].library = true;
	p.frames[0].line = 0;
	says(&p.report, TEXT, "         at /src/a.cu, inlined, library\n");
}

/* ---- the launch ---- */

static void parameters_are_cut_where_there_are_many(void **state)
{
	(void)state;
	static struct ws_report_param params[18];
	static const uint8_t bytes[WS_PARAM_BYTES] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	struct planted p;
	plant(&p);
	p.e.kernel = 0;
	p.kernel.params = params;
	p.kernel.params_status = WS_OK;
	for (uint32_t i = 0; i < WSI_COUNT(params); i++)
		params[i] = (struct ws_report_param){
			.ordinal = i, .offset = 8 * i, .size_bytes = 8, .value = { bytes, 8, 0 }
		};
	p.kernel.n_params = 16;
	says_not(&p.report, TEXT, "more (--all)");
	p.kernel.n_params = 17;
	says(&p.report, TEXT, "... and 1 more (--all)");
	assert_non_null(strstr(page_of(&p.report, TEXT, true), "16: 8 bytes at 0x1e0, 0x"));
	p.kernel.n_params = 1;
	says(&p.report, TEXT, "    parameters 0: 8 bytes at 0x160, 0x0807060504030201\n");
	params[0].value.len = params[0].size_bytes = 1;
	says(&p.report, TEXT, "    parameters 0: 1 byte at 0x160, 0x01\n");
	params[0].value.len = params[0].size_bytes = 9;
	says(&p.report, TEXT, "0: 9 bytes at 0x160, 010203040506070809\n");
	params[0].value.len = params[0].size_bytes = 32;
	says_not(&p.report, TEXT, "...");
	params[0].value.len = params[0].size_bytes = 33;
	says(&p.report, TEXT, "0: 33 bytes at 0x160, 010203040506070809");
	says(&p.report, TEXT, "00...\n");
	params[0] = (struct ws_report_param){ .size_bytes = 4, .value = { bytes, 4, 0 } };
	params[0].text = "67305985";
	says(&p.report, TEXT, ", 0x04030201 = 67305985\n");
	params[0].text = "0x4030201";
	says(&p.report, TEXT, ", 0x04030201\n");
	params[0].value_status = WS_EXCLUDED;
	says_not(&p.report, TEXT, "0x04030201");
}

static void fields_are_cut_where_there_are_many(void **state)
{
	(void)state;
	static struct ws_report_field fields[18];
	struct ws_report_param param = { .size_bytes = 4,
					 .type = ws_str_of("View"),
					 .value_status = WS_ABSENT,
					 .fields = fields };
	struct planted p;
	plant(&p);
	p.e.kernel = 0;
	p.kernel.params = &param;
	p.kernel.params_status = WS_OK;
	p.kernel.n_params = 1;
	for (uint32_t i = 0; i < WSI_COUNT(fields); i++)
		fields[i] = (struct ws_report_field){ .path = ws_str_of("a"),
						      .type = ws_str_of("int"),
						      .offset = i,
						      .size_bytes = 1 };
	fields[1].bit_size = 3;
	fields[1].text = "-1";
	param.n_fields = 16;
	says_not(&p.report, TEXT, "more field");
	says(&p.report, TEXT, "   +0 int a\n");
	says(&p.report, TEXT, "   +1 int a : 3 = -1\n");
	param.fields_cut = true;
	says(&p.report, TEXT, "   ... and more fields\n");
	param.n_fields = 17;
	says(&p.report, TEXT, "   ... and at least 1 more field (--all)\n");
	param.fields_cut = false;
	says(&p.report, TEXT, "   ... and 1 more field (--all)\n");
	param.n_fields = 18;
	says(&p.report, TEXT, "   ... and 2 more fields (--all)\n");
	assert_null(strstr(page_of(&p.report, TEXT, true), "more field"));
}

static void the_launch_is_told_as_far_as_it_is_known(void **state)
{
	(void)state;
	struct planted p;
	plant(&p);
	says_not(&p.report, TEXT, "The launch:");
	p.e.kernel = 0;
	p.kernel.resident_blocks = 2;
	says(&p.report, TEXT,
	     "    kernel     void k<float>(int)\n    grid       (3,1,1) blocks of (32,1,1) "
	     "threads, 2 of 3 blocks resident\n");
	p.kernel.grid.grid_dim.x = 1;
	p.kernel.resident_blocks = 1;
	p.report.dump.stripped = WS_STRIP_OTHERS;
	says(&p.report, TEXT, ", 1 of 1 block kept in this dump\n");
	p.report.dump_status = WS_UNSUPPORTED;
	says(&p.report, TEXT, ", 1 of 1 block resident\n");
	p.kernel.grid.have = WS_GRID_N_REGS;
	p.kernel.grid.n_regs = 24;
	says(&p.report, TEXT, " threads, 24 registers, 1 of");
	p.kernel.grid_status = WS_ABSENT;
	says_not(&p.report, TEXT, "    grid ");
	p.kernel.name_status = WS_ABSENT;
	says(&p.report, TEXT, "    kernel     ? (");
}

static void blocks_are_drawn_of_a_grid_that_hardware_can_have(void **state)
{
	(void)state;
	static const struct {
		struct ws_dim3 dim;
		const char *words; /* NULL: it is not drawn */
	} cases[] = {
		{ { 1u << 31, 1, 1 }, ">2147483648 blocks, " },
		{ { (1u << 31) + 1, 1, 1 }, NULL },
		{ { 1, 65536, 1 }, ">65536 blocks, " },
		{ { 1, 65537, 1 }, NULL },
		{ { 1, 1, 65536 }, ">65536 blocks, " },
		{ { 1, 1, 65537 }, NULL },
		{ { 1, 65536, 32768 }, ">2147483648 blocks, " },
		{ { 1, 65536, 32769 }, NULL },
		{ { 1, 1, 1 }, ">1 block, " },
		{ { 0, 1, 1 }, NULL },
		{ { 1, 0, 1 }, NULL },
		{ { 1, 1, 0 }, NULL },
	};
	struct planted p;
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		plant(&p);
		p.e.kernel = 0;
		p.kernel.grid.grid_dim = cases[i].dim;
		if (cases[i].words)
			says(&p.report, HTML, cases[i].words);
		else
			says_not(&p.report, HTML, "class=\"blocks\"");
	}
}

static void blocks_of_a_state_are_counted(void **state)
{
	(void)state;
	struct ws_report_block blocks[2] = { { .status = WS_OK }, { .status = WS_OK } };
	struct ws_report_warp warps[2] = { { .known = true }, { .known = true, .block = 1 } };
	struct planted p;
	plant(&p);
	p.e.kernel = 0;
	blocks[1].idx.x = 1;
	p.report.map.blocks = blocks;
	p.report.map.warps = warps;
	p.report.map.n_blocks = p.report.map.n_warps = 2;
	says(&p.report, HTML, "<b>2</b> blocks</li>");
}

/* ---- threads ---- */

static void groups_that_are_left_out_are_counted(void **state)
{
	(void)state;
	static struct ws_report_group groups[22];
	struct planted p;
	plant(&p);
	for (uint32_t i = 0; i < WSI_COUNT(groups); i++)
		groups[i] = (struct ws_report_group){
			.pc = i, .n_lanes = 1, .n_warps = 1, .example = thread
		};
	p.report.groups = groups;
	p.report.n_groups = 20;
	says_not(&p.report, TEXT, "more group");
	p.report.n_groups = 21;
	says(&p.report, TEXT, "    ... and 1 thread in 1 more group (--all)\n");
	groups[20].n_lanes = 7;
	says(&p.report, TEXT, "    ... and 7 threads in 1 more group (--all)\n");
	p.report.n_groups = 22;
	says(&p.report, TEXT, "    ... and 8 threads in 2 more groups (--all)\n");
}

static void other_exceptions_are_told_as_far_as_they_are_known(void **state)
{
	(void)state;
	struct planted p;
	plant(&p);
	struct ws_report_exception all[2] = { p.e, p.e };
	p.report.exceptions = all;
	says_not(&p.report, TEXT, "Other exceptions");
	p.report.n_exceptions = 2;
	all[1].label = "Warp Trap";
	all[1].suspect.block_status = WS_ABSENT;
	all[1].suspect.device = 2;
	all[1].at.device = 2;
	all[1].n_warps = 7;
	says(&p.report, TEXT, "Other exceptions in this dump:\n");
	says(&p.report, TEXT,
	     "Warp Trap  ?   ?? (not in this dump's code)  device 2 sm 4 warp 5    2   4    1      "
	     "7        1\n");
	all[1].suspect.device = all[1].at.device = WS_NONE;
	says(&p.report, TEXT, "  sm 4                   ?   4    1      7        1\n");
	all[1].suspect = thread;
	all[1].n_frames = 1;
	p.frames[0].owner_short = ws_str_of("f");
	p.frames[0].rel_pc = 0x30;
	says(&p.report, TEXT, "Warp Trap  f+0x30  f         (1,2,3) (6,0,0)");
	says(&p.report, HTML, "(1,2,3) (6,0,0), device 0, sm 4, warp 5, lane 6");
	p.frames[0].owner_short = ws_str_of("");
	says(&p.report, TEXT, "Warp Trap  0x2000  f ");
	p.frames[0].line_status = WS_OK;
	p.frames[0].file = ws_str_of("/src/a.cu");
	says(&p.report, TEXT, "Warp Trap  a.cu  f ");
	p.frames[0].line = 9;
	says(&p.report, TEXT, "Warp Trap  a.cu:9  f ");
	p.report.dump_status = WS_UNSUPPORTED;
	says(&p.report, TEXT, "Other exceptions on this device:\n");
}

static void lists_that_are_long_are_cut(void **state)
{
	(void)state;
	static struct ws_report_exception exceptions[22];
	static struct ws_str code[21];
	struct planted p;
	plant(&p);
	for (size_t i = 0; i < WSI_COUNT(exceptions); i++)
		exceptions[i] = p.e;
	for (size_t i = 0; i < WSI_COUNT(code); i++)
		code[i] = ws_str_of("k");
	p.report.exceptions = exceptions;
	p.report.n_exceptions = 21;
	p.report.code = code;
	p.report.n_code = 20;
	says_not(&p.report, TEXT, "more (--all)");
	p.report.n_exceptions = 22;
	says(&p.report, TEXT, "    ... and 1 more (--all)\n");
	p.report.n_exceptions = 1;
	p.report.n_code = 21;
	says(&p.report, TEXT, "    ... and 1 more (--all)\n");
}

/* ---- the dump ---- */

static void the_dump_is_told_as_far_as_it_is_known(void **state)
{
	(void)state;
	struct planted p;
	plant(&p);
	says(&p.report, TEXT, "    dump       a.nvcudmp, 9 bytes, INCOMPLETE\n");
	says_not(&p.report, TEXT, "    driver ");
	says_not(&p.report, TEXT, "    written ");
	says_not(&p.report, TEXT, "    left out");
	p.report.dump.complete = true;
	p.report.dump.layout = "r590";
	p.report.dump.have_metadata = true;
	says(&p.report, TEXT, "9 bytes, complete, layout r590\n    driver     not recorded\n");
	p.report.dump.generator = ws_str_of("sim");
	says(&p.report, TEXT, "    driver     not recorded, written by sim\n");
	p.report.dump.driver_major = 590;
	p.report.dump.driver_minor = 48;
	p.report.dump.cuda_major = 13;
	p.report.dump.cuda_minor = 1;
	says(&p.report, TEXT, "    driver     590.48, CUDA 13.1\n");
	p.report.dump.have_flags = true;
	says(&p.report, TEXT, "    left out   nothing\n");
	p.report.dump.flags = 0x3f;
	says(&p.report, TEXT,
	     "    left out   module images as compiled, global memory, shared memory, local "
	     "memory, constant banks\n");
	p.report.dump.have_flags = false;
	p.report.dump.flags = 0;
	p.report.dump.left_out = 2;
	p.report.dump.stripped = WS_STRIP_OTHERS | WS_STRIP_PATHS;
	says(&p.report, TEXT,
	     "    left out   global memory\n    stripped   warps without a fault, folder names\n");
	p.report.dump.have_time = true;
	p.report.dump.timestamp = 86400;
	says(&p.report, TEXT, "    written    1970-01-02 00:00:00 UTC\n");
}

static void devices_are_told_with_what_is_on_them(void **state)
{
	(void)state;
	struct ws_report_device device = { .state = { .id = 3, .sm_major = 9, .n_sms = 132 },
					   .resident_warps = 1 };
	struct planted p;
	plant(&p);
	p.report.devices = &device;
	p.report.n_devices = 1;
	says(&p.report, TEXT, "    devices    3: (name lost), sm_90, 132 SMs, 1 warp resident\n");
	device.faulted_sms = 1;
	device.resident_warps = 0;
	says(&p.report, TEXT, ", 0 warps resident, 1 SM with an exception\n");
	device.faulted_sms = 2;
	says(&p.report, TEXT, ", 2 SMs with an exception\n");
	device.status = WS_TRUNCATED;
	says(&p.report, TEXT, "    devices    ? (");
}

static void what_is_missing_is_told_with_advice(void **state)
{
	(void)state;
	static const struct ws_str code[] = { { "k", 1 }, { "l", 1 } };
	static const struct ws_report_missing missing[] = {
		{ "the error PC", WS_ABSENT, "Look at the pc." }, { "a part", WS_ABSENT, NULL }
	};
	struct planted p;
	plant(&p);
	p.report.missing = missing;
	p.report.n_missing = 2;
	says(&p.report, TEXT, ". Look at the pc.\n               a part: ");
	says(&p.report, TEXT, "    missing    the error PC: ");
	says_not(&p.report, TEXT, "Kernels whose code");
	p.report.code = code;
	p.report.n_code = 2;
	says(&p.report, TEXT,
	     "Kernels whose code is in the dump (which of them ran is not known):\n\n    k\n    "
	     "l\n");
	p.report.dump_status = WS_UNSUPPORTED;
	says(&p.report, TEXT, "Kernels whose code is on the device (which");
}

static void diagnostics_are_told_with_their_place(void **state)
{
	(void)state;
	static struct ws_diagnostic all[21];
	struct planted p;
	plant(&p);
	for (size_t i = 0; i < WSI_COUNT(all); i++)
		all[i] = (struct ws_diagnostic){ .message = "it is cut", .file_off = WS_NO_OFFSET };
	p.report.diagnostics = all;
	p.report.n_diagnostics = 1;
	says(&p.report, TEXT, "    it is cut\n");
	all[0].file_off = 0;
	all[0].repeats = 2;
	says(&p.report, TEXT, "    it is cut (file offset 0x0), and 2 more\n");
	p.report.n_diagnostics = 20;
	says_not(&p.report, TEXT, "more (--all)");
	p.report.n_diagnostics = 21;
	says(&p.report, TEXT, "    ... and 1 more (--all)\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_assertion_is_told_as_far_as_it_is_known),
		cmocka_unit_test(the_place_of_a_fault_is_told_as_far_as_it_is_known),
		cmocka_unit_test(the_pc_is_told_beside_the_error_pc),
		cmocka_unit_test(an_access_is_told_by_what_it_does),
		cmocka_unit_test(addresses_are_told_of_a_lane_or_of_all),
		cmocka_unit_test(suspects_are_told_with_their_reasons),
		cmocka_unit_test(each_lane_has_its_finding),
		cmocka_unit_test(memory_beside_an_address_is_told_with_its_distance),
		cmocka_unit_test(an_access_is_drawn_with_the_memory_of_its_space),
		cmocka_unit_test(operands_are_told_with_their_values),
		cmocka_unit_test(frames_that_repeat_are_folded),
		cmocka_unit_test(callers_that_are_left_out_are_counted),
		cmocka_unit_test(frames_without_lines_say_why),
		cmocka_unit_test(parameters_are_cut_where_there_are_many),
		cmocka_unit_test(fields_are_cut_where_there_are_many),
		cmocka_unit_test(the_launch_is_told_as_far_as_it_is_known),
		cmocka_unit_test(blocks_are_drawn_of_a_grid_that_hardware_can_have),
		cmocka_unit_test(blocks_of_a_state_are_counted),
		cmocka_unit_test(groups_that_are_left_out_are_counted),
		cmocka_unit_test(other_exceptions_are_told_as_far_as_they_are_known),
		cmocka_unit_test(lists_that_are_long_are_cut),
		cmocka_unit_test(the_dump_is_told_as_far_as_it_is_known),
		cmocka_unit_test(devices_are_told_with_what_is_on_them),
		cmocka_unit_test(what_is_missing_is_told_with_advice),
		cmocka_unit_test(diagnostics_are_told_with_their_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
