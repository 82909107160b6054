/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope disas: machine code of GPU functions as text. */
#include "disas/disas.h"
#include "lines/lines.h"

#include <stdlib.h>
#include <string.h>

static int take_graph(void *query, const char *text)
{
	((struct disas *)query)->dot = true;
	return strcmp(text, "dot") == 0 ? CLI_ANSWERED
					: cli_usage("disas", "-T takes dot, not '%s'", text);
}

static int take_lane(void *query, const char *text)
{
	struct disas *d = query;
	d->with_values = true;
	d->lane = text;
	return CLI_ANSWERED;
}

const struct cli_option verb_disas_options[] = {
	{ "function", 0, CLI_TEXT, .at = offsetof(struct disas, function) },
	{ "pc", 0, CLI_NUMBER, .at = offsetof(struct disas, pc) },
	{ "source", 0, CLI_FLAG, .at = offsetof(struct disas, source) },
	{ "hex", 0, CLI_FLAG, .at = offsetof(struct disas, hex) },
	{ "control", 0, CLI_FLAG, .at = offsetof(struct disas, control) },
	{ "asm", 0, CLI_FLAG, .at = offsetof(struct disas, as_source) },
	{ "cfg", 0, CLI_FLAG, .at = offsetof(struct disas, cfg) },
	{ "", 'T', CLI_TAKE, .take = take_graph },
	{ "regs", 0, CLI_MAY_TAKE, .take = take_lane },
	{ "arch", 0, CLI_TEXT, .at = offsetof(struct disas, arch) },
	{ "full-names", 0, CLI_FLAG, .at = offsetof(struct disas, full_names) },
	{ 0 },
};

/* ---- functions and images ---- */

/* Whether a function's code is part of another's listing: with --cfg, whose blocks lead into it. */
static bool is_part(const struct disas *d, const struct ws_function *functions,
		    const struct ws_function *function)
{
	return d->cfg && !d->function && function->is_inner && function->owner != WS_UNKNOWN &&
	       function->sec_off < functions[function->owner].size_bytes;
}

/* `has_inner`: for each function of the image, whether others lie in its section. */
static void show_function(struct disas *d, const struct ws_code_image *image,
			  const struct ws_function *function, const bool *has_inner,
			  const struct constants *constants)
{
	struct disas_code code;
	if (!disas_code_init(&code, d, image->cubin, function))
		return;
	if (constants->n > 0 && !image->facts.relocatable) /* a linker still moves them */
		code.constants = constants;
	if (d->pc.given) {
		code.marks[0].off = d->pc.value;
		code.marks[0].flags = DISAS_PC;
		code.n_marks = 1;
	}
	if (d->cfg) {
		disas_cfg_show(&code);
	} else if (!d->pc.given || d->pc.value < code.code.len) {
		code.without_inner = has_inner[function->index];
		disas_code_show(&code);
		disas_code_end(&code);
	}
	disas_code_fini(&code);
}

static void show_functions(struct disas *d, const struct ws_code_image *image)
{
	const struct ws_function *functions;
	struct constants constants;
	size_t n = 0;
	struct ws_error err;
	if (ws_cubin_functions(image->cubin, &functions, &n, &err) != WS_OK)
		cli_fail(d->path, &err);
	constants_init(&constants, image->cubin);
	bool *has_inner = cli_alloc(n, sizeof *has_inner);
	for (size_t i = 0; i < n; i++)
		if (functions[i].is_inner && functions[i].owner != WS_UNKNOWN)
			has_inner[functions[i].owner] = true;
	for (size_t i = 0; i < n; i++)
		if (functions[i].section &&
		    (!d->function || ws_name_is(&functions[i], d->function)) &&
		    !is_part(d, functions, &functions[i]))
			show_function(d, image, &functions[i], has_inner, &constants);
	constants_fini(&constants);
	free(has_inner);
}

static void show_image(struct disas *d, const struct images *images,
		       const struct ws_code_image *image)
{
	char arch[WS_ARCH_BYTES];
	ws_code_image_arch(image, arch);
	if (!ws_sass_supports(image->facts.sm))
		cli_warn("%s: no decoder for %s; its code is shown as raw words", d->path, arch);
	image_begin(d->cli, images, image, d->shown, d->cli->json ? &d->json : NULL);
	if (d->cli->json)
		ws_json_key_array(&d->json, "functions");
	show_functions(d, image);
	if (d->cli->json) {
		ws_json_end(&d->json);
		ws_json_end(&d->json);
	}
}

static int run_disas(struct disas *d)
{
	struct images images;
	int status = images_open(d->cli, "disas", d->path, d->arch, &images);
	if (status == CLI_ANSWERED && d->cli->json) {
		ws_json_begin(&d->json, &d->cli->out, "warpscope-disas-1");
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
	int status = cli_options_take(cli, verb_disas_options, &d, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	if (argc < 1)
		return cli_usage("disas", "one FILE is needed");
	d.path = argv[0];
	bool of_thread = d.with_values || argc > 1;
	if (d.as_source && (cli->json || d.pc.given || d.source || d.hex || d.control || d.cfg))
		return cli_usage("disas", "--asm goes with --function and --arch only");
	if (d.cfg && (d.pc.given || d.source))
		return cli_usage("disas", "--cfg shows whole functions, without lines");
	if (d.dot && (!d.cfg || cli->json))
		return cli_usage("disas", "-Tdot goes with --cfg, as text");
	if (of_thread && (d.as_source || d.cfg || d.pc.given || d.function || d.arch))
		return cli_usage("disas", "a thread already determines the code to show");
	return of_thread ? disas_thread_run(&d, argc - 1, argv + 1) : run_disas(&d);
}
