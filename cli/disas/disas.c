/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope disas: machine code of GPU functions as text. */
#include "disas/disas.h"
#include "lines/lines.h"

#include <string.h>

const char verb_disas_help[] =
	"Disassembles GPU code. FILE is a cubin, a fatbin, a program, shared object, object or "
	"archive\n"
	"with GPU code in it, or a dump.\n"
	"\n"
	"  --function NAME  only this function: its symbol, or its C++ name with or without\n"
	"                   parameters\n"
	"  --pc OFFSET      only around this offset in the function, which is marked with =>\n"
	"  --cfg            basic blocks; with -Tdot as graphs for dot(1)\n"
	"  --regs [LANE]    for a dump: the code around the pc of one thread, with the register "
	"values\n"
	"                   that each instruction reads. LANE is a lane of the focus's warp or of "
	"the\n"
	"                   warp that FILTER chooses, or 'current'; without it, the first thread "
	"that\n"
	"                   can be guilty\n"
	"  --source         source lines and inlined calls, where they change\n"
	"  --hex            the 16 bytes of each instruction after its text\n"
	"  --control        stall cycles, scoreboards and reuse, and every bit that the text does "
	"not\n"
	"                   show: this text can be encoded again\n"
	"  --asm            text that 'warpscope as' assembles into the same code\n"
	"  --arch sm_NN     only images for this architecture\n"
	"  --full-names     C++ names with template arguments and parameters\n"
	"\n"
	"Bits that the disassembler does not know are shown in a comment. Exits with 1 when there "
	"is\n"
	"nothing to show.\n";

enum {
	OPTION_FUNCTION = 'a',
	OPTION_PC,
	OPTION_SOURCE,
	OPTION_HEX,
	OPTION_CONTROL,
	OPTION_ASM,
	OPTION_CFG,
	OPTION_REGS,
	OPTION_ARCH,
	OPTION_FULL_NAMES,
};

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	{ "function", required_argument, NULL, OPTION_FUNCTION },
	{ "pc", required_argument, NULL, OPTION_PC },
	{ "source", no_argument, NULL, OPTION_SOURCE },
	{ "hex", no_argument, NULL, OPTION_HEX },
	{ "control", no_argument, NULL, OPTION_CONTROL },
	{ "asm", no_argument, NULL, OPTION_ASM },
	{ "cfg", no_argument, NULL, OPTION_CFG },
	{ "regs", optional_argument, NULL, OPTION_REGS },
	{ "arch", required_argument, NULL, OPTION_ARCH },
	{ "full-names", no_argument, NULL, OPTION_FULL_NAMES },
	{ NULL, 0, NULL, 0 },
};
const struct cli_options verb_disas_options = { "T:", options };

static int take_option(struct disas *d, int option)
{
	switch (option) {
	case OPTION_FUNCTION:
		d->function = optarg;
		return CLI_ANSWERED;
	case OPTION_PC:
		d->has_pc = true;
		if (!cli_number(optarg, &d->pc))
			return cli_usage("disas", "--pc takes a number, not '%s'", optarg);
		return CLI_ANSWERED;
	case OPTION_SOURCE:
		d->source = true;
		return CLI_ANSWERED;
	case OPTION_HEX:
		d->hex = true;
		return CLI_ANSWERED;
	case OPTION_CONTROL:
		d->control = true;
		return CLI_ANSWERED;
	case OPTION_ASM:
		d->as_source = true;
		return CLI_ANSWERED;
	case OPTION_CFG:
		d->cfg = true;
		return CLI_ANSWERED;
	case 'T':
		d->dot = true;
		if (strcmp(optarg, "dot") != 0)
			return cli_usage("disas", "-T takes dot, not '%s'", optarg);
		return CLI_ANSWERED;
	case OPTION_REGS:
		d->with_values = true;
		d->lane = optarg;
		return CLI_ANSWERED;
	case OPTION_ARCH:
		d->arch = optarg;
		return CLI_ANSWERED;
	case OPTION_FULL_NAMES:
		d->form = NAME_FULL;
		return CLI_ANSWERED;
	default:
		return cli_common_option(d->cli, "disas", option);
	}
}

/* ---- functions and images ---- */

static void show_function(struct disas *d, const struct image *image,
			  const struct ws_function *function)
{
	struct disas_code code;
	if (!disas_code_init(&code, d, image->cubin, function))
		return;
	if (d->has_pc) {
		code.marks[0].off = d->pc;
		code.marks[0].flags = DISAS_PC;
		code.n_marks = 1;
	}
	if (d->cfg) {
		disas_cfg_show(&code);
	} else if (!d->has_pc || d->pc < code.code.len) {
		disas_code_show(&code);
		disas_code_end(&code);
	}
	disas_code_fini(&code);
}

static void show_image(struct disas *d, const struct images *images, const struct image *image)
{
	const struct ws_function *functions;
	size_t n = 0;
	struct ws_error err;
	char arch[16];
	image_arch(image, arch, sizeof arch);
	if (!ws_sass_supports(image->facts.sm)) {
		cli_warn("%s: no decoder for %s; its code is shown as raw words", d->path, arch);
	}
	if (d->cli->json) {
		ws_json_object(&d->json);
		ws_json_key_u64(&d->json, "image", image->index);
		ws_json_key_text(&d->json, "arch", arch);
		ws_json_key_array(&d->json, "functions");
	} else if (images->n > 1) {
		ws_out_text(&d->cli->out, d->shown ? "\n" : "");
		ws_out_printf(&d->cli->out, "image %zu, %s\n", image->index, arch);
	}
	if (ws_cubin_functions(image->cubin, &functions, &n, &err) != WS_OK)
		cli_fail(d->path, &err);
	for (size_t i = 0; i < n; i++)
		if (functions[i].section && (!d->function || name_is(&functions[i], d->function)))
			show_function(d, image, &functions[i]);
	if (d->cli->json) {
		ws_json_end(&d->json);
		ws_json_end(&d->json);
	}
}

static int run(struct disas *d)
{
	struct images images;
	int status = images_open(d->cli, "disas", d->path, d->arch, &images);
	if (status == CLI_ANSWERED && d->cli->json) {
		ws_json_init(&d->json, &d->cli->out, false);
		ws_json_object(&d->json);
		ws_json_key_text(&d->json, "schema", "warpscope-disas-1");
		ws_json_key_text(&d->json, "path", d->path);
		ws_json_key_array(&d->json, "images");
	}
	for (size_t i = 0; i < images.n; i++) {
		if (d->as_source)
			disas_asm(d, &images.item[i]);
		else
			show_image(d, &images, &images.item[i]);
	}
	if (status == CLI_ANSWERED && d->cli->json) {
		ws_json_end(&d->json);
		ws_json_key_u64(&d->json, "instructions", d->n_total);
		ws_json_key_u64(&d->json, "unexplained", d->n_unknown);
		ws_json_end(&d->json);
	}
	images_close(&images);
	if (status != CLI_ANSWERED)
		return status;
	if (d->n_unknown)
		cli_warn("%s: %llu of %llu instructions have unknown bits", d->path,
			 (unsigned long long)d->n_unknown, (unsigned long long)d->n_total);
	if (!d->shown)
		cli_warn("%s: no such code", d->path);
	return d->shown ? CLI_ANSWERED : CLI_NO_ANSWER;
}

int verb_disas(struct cli *cli, int argc, char **argv)
{
	struct disas d = { .cli = cli };
	int option, status = CLI_ANSWERED;
	while (status == CLI_ANSWERED &&
	       (option = cli_option(&verb_disas_options, argc, argv)) != -1) {
		bool lane = option == OPTION_REGS && !optarg && optind < argc;
		if (lane && cli_is_optional(argv[optind]))
			optarg = argv[optind++];
		status = take_option(&d, option);
	}
	if (status != CLI_ANSWERED)
		return status;
	if (optind >= argc)
		return cli_usage("disas", "one FILE is needed");
	d.path = argv[optind];
	bool of_thread = d.with_values || optind + 1 < argc;
	if (d.as_source && (cli->json || d.has_pc || d.source || d.hex || d.control || d.cfg))
		return cli_usage("disas", "--asm goes with --function and --arch only");
	if (d.cfg && (d.has_pc || d.source))
		return cli_usage("disas", "--cfg shows whole functions, without lines");
	if (d.dot && (!d.cfg || cli->json))
		return cli_usage("disas", "-Tdot goes with --cfg, as text");
	if (of_thread && (d.as_source || d.cfg || d.has_pc || d.function || d.arch))
		return cli_usage("disas", "a thread already determines the code to show");
	return of_thread ? disas_thread_run(&d, argc - optind - 1, argv + optind + 1) : run(&d);
}
