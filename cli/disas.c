/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope disas: machine code of GPU functions as text. */
#include "disas.h"
#include "lines.h"
#include "positions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char verb_disas_help[] =
	"Disassembles GPU code. FILE is a cubin, a fatbin, a program, shared object, object or "
	"archive\n"
	"with GPU code in it, or a dump.\n"
	"\n"
	"  --function NAME  only this function: its symbol, or its C++ name with or without\n"
	"                   parameters\n"
	"  --pc OFFSET      only around this offset of the function, which is marked with =>\n"
	"  --source         source lines and calls inlined, where they change\n"
	"  --hex            the 16 bytes of each instruction behind its text\n"
	"  --control        stall cycles, scoreboards and reuse, and every bit that the text does "
	"not\n"
	"                   show: this text can be encoded again\n"
	"  --asm            text that 'warpscope as' makes the same code of\n"
	"  --arch sm_NN     only images for this architecture\n"
	"  --full-names     C++ names with template arguments and parameters\n"
	"\n"
	"Bits that no rule explains are shown in a comment. Exits with 1 when there is nothing to "
	"show.\n";

enum {
	OPTION_FUNCTION = 'a',
	OPTION_PC,
	OPTION_SOURCE,
	OPTION_HEX,
	OPTION_CONTROL,
	OPTION_ASM,
	OPTION_ARCH,
	OPTION_FULL_NAMES,
};

enum { AROUND = 8 * WS_SASS_BYTES }; /* shown before and after --pc */

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	{ "function", required_argument, NULL, OPTION_FUNCTION },
	{ "pc", required_argument, NULL, OPTION_PC },
	{ "source", no_argument, NULL, OPTION_SOURCE },
	{ "hex", no_argument, NULL, OPTION_HEX },
	{ "control", no_argument, NULL, OPTION_CONTROL },
	{ "asm", no_argument, NULL, OPTION_ASM },
	{ "arch", required_argument, NULL, OPTION_ARCH },
	{ "full-names", no_argument, NULL, OPTION_FULL_NAMES },
	{ NULL, 0, NULL, 0 },
};

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
	case OPTION_ARCH:
		d->arch = optarg;
		return CLI_ANSWERED;
	case OPTION_FULL_NAMES:
		d->full_names = true;
		return CLI_ANSWERED;
	default:
		return cli_common_option(d->cli, "disas", option);
	}
}

/* ---- one instruction ---- */

static bool same_chain(const struct ws_line_pos *a, size_t n_a, const struct ws_line_pos *b,
		       size_t n_b)
{
	if (n_a != n_b)
		return false;
	for (size_t i = 0; i < n_a; i++)
		if (a[i].line != b[i].line || a[i].file != b[i].file)
			return false;
	return true;
}

struct chain {
	struct ws_line_pos pos[POSITIONS_MAX];
	size_t n;
};

/* The source position, when it is another than that of the instruction before. */
static void show_source(struct disas *d, const struct image *image,
			const struct ws_function *function, uint64_t rel_pc, struct chain *last)
{
	struct chain now = { .n = 0 };
	if (ws_module_line_find(image->module, function->section, function->sec_off + rel_pc,
				now.pos, POSITIONS_MAX, &now.n, NULL) != WS_OK)
		now.n = 0;
	if (now.n > POSITIONS_MAX)
		now.n = POSITIONS_MAX;
	if (now.n && !same_chain(now.pos, now.n, last->pos, last->n))
		print_chain(d->cli, now.pos, now.n, d->full_names);
	*last = now;
}

static void json_insn(struct disas *d, uint64_t rel_pc, const struct ws_insn *insn,
		      const char *text)
{
	char word[40];
	snprintf(word, sizeof word, "0x%016llx%016llx", (unsigned long long)insn->word[1],
		 (unsigned long long)insn->word[0]);
	ws_json_object(&d->json);
	ws_json_key(&d->json, "offset");
	ws_json_u64(&d->json, rel_pc);
	ws_json_key(&d->json, "text");
	ws_json_text(&d->json, text);
	ws_json_key(&d->json, "word");
	ws_json_text(&d->json, word);
	ws_json_key(&d->json, "known");
	ws_json_bool(&d->json, insn->known && !(insn->unknown[0] | insn->unknown[1]));
	ws_json_end(&d->json);
}

// "=> / *0040* /  " (without the inner spaces) not by printf: a big file has a million of these.
// At most 25 bytes.
static size_t line_start(char *to, bool marked, uint64_t rel_pc)
{
	unsigned digits = 4;
	while (digits < 16 && rel_pc >> 4 * digits)
		digits++;
	size_t n = 0;
	memcpy(to, marked ? "=> /*" : "   /*", 5);
	for (n = 5; digits-- > 0; n++)
		to[n] = "0123456789abcdef"[rel_pc >> 4 * digits & 15];
	memcpy(to + n, "*/  ", 4);
	return n + 4;
}

static void show_insn(struct disas *d, unsigned sm, uint64_t rel_pc, const uint8_t *bytes)
{
	struct ws_insn insn;
	char text[WS_SASS_TEXT_MAX];
	struct ws_sass_style style = { .control = d->control };
	ws_sass_decode(sm, bytes, &insn);
	size_t n_text = ws_sass_format(&insn, rel_pc, &style, text, sizeof text);
	d->n_total++;
	d->n_unknown += !insn.known || insn.unknown[0] || insn.unknown[1];
	if (d->cli->json) {
		json_insn(d, rel_pc, &insn, text);
		return;
	}
	char start[32];
	size_t n = line_start(start, d->has_pc && rel_pc == d->pc, rel_pc);
	ws_out_bytes(&d->cli->out, start, n);
	ws_out_bytes(&d->cli->out, text, n_text);
	if (d->hex)
		ws_out_printf(&d->cli->out, "  /* 0x%016llx %016llx */",
			      (unsigned long long)insn.word[1], (unsigned long long)insn.word[0]);
	ws_out_text(&d->cli->out, "\n");
}

/* ---- functions and images ---- */

static void show_code(struct disas *d, const struct image *image,
		      const struct ws_function *function, struct ws_span code)
{
	struct chain last = { .n = 0 };
	uint64_t first = 0, end = code.len - code.len % WS_SASS_BYTES;
	if (d->has_pc) {
		uint64_t at = d->pc - d->pc % WS_SASS_BYTES;
		first = at > AROUND ? at - AROUND : 0;
		end = at + AROUND + WS_SASS_BYTES < end ? at + AROUND + WS_SASS_BYTES : end;
	}
	for (uint64_t at = first; at < end; at += WS_SASS_BYTES) {
		if (d->source && !d->cli->json)
			show_source(d, image, function, at, &last);
		show_insn(d, image->facts.sm, at, code.ptr + at);
	}
}

static void show_function(struct disas *d, const struct image *image,
			  const struct ws_function *function)
{
	struct ws_span code;
	struct ws_error err;
	enum ws_status st = ws_module_code(image->module, function, &code, &err);
	if (st != WS_OK) {
		if (st != WS_ABSENT)
			cli_fail(d->path, &err);
		return;
	}
	if (d->has_pc && d->pc >= code.len)
		return;
	char *name = cli_alloc(function->name.len + 1, 1);
	memcpy(name, function->name.ptr, function->name.len);
	if (d->cli->json) {
		ws_json_object(&d->json);
		json_function(&d->json, name);
		ws_json_key(&d->json, "instructions");
		ws_json_array(&d->json);
	} else {
		ws_out_text(&d->cli->out, d->shown ? "\n" : "");
		print_name(d->cli, name, d->full_names);
		ws_out_text(&d->cli->out, ":\n");
	}
	d->shown = true;
	show_code(d, image, function, code);
	if (d->cli->json) {
		ws_json_end(&d->json);
		ws_json_end(&d->json);
	}
	free(name);
}

static void show_image(struct disas *d, const struct images *images, const struct image *image)
{
	const struct ws_function *functions;
	size_t n = 0;
	struct ws_error err;
	char arch[16];
	image_arch(image, arch, sizeof arch);
	if (!ws_sass_supports(image->facts.sm)) {
		cli_warn("%s: no decoder for %s; its words are shown as they are", d->path, arch);
	}
	if (d->cli->json) {
		ws_json_object(&d->json);
		ws_json_key(&d->json, "image");
		ws_json_u64(&d->json, image->index);
		ws_json_key(&d->json, "arch");
		ws_json_text(&d->json, arch);
		ws_json_key(&d->json, "functions");
		ws_json_array(&d->json);
	} else if (images->n > 1) {
		ws_out_printf(&d->cli->out, "%simage %zu, %s\n", d->shown ? "\n" : "", image->index,
			      arch);
	}
	if (ws_module_functions(image->module, &functions, &n, &err) != WS_OK)
		cli_fail(d->path, &err);
	for (size_t i = 0; i < n; i++)
		if (functions[i].section &&
		    (!d->function || lines_is_function(&functions[i], d->function)))
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
		ws_json_key(&d->json, "schema");
		ws_json_text(&d->json, "warpscope-disas-1");
		ws_json_key(&d->json, "path");
		ws_json_text(&d->json, d->path);
		ws_json_key(&d->json, "images");
		ws_json_array(&d->json);
	}
	for (size_t i = 0; i < images.n; i++) {
		if (d->as_source)
			disas_asm(d, &images.item[i]);
		else
			show_image(d, &images, &images.item[i]);
	}
	if (status == CLI_ANSWERED && d->cli->json) {
		ws_json_end(&d->json);
		ws_json_key(&d->json, "instructions");
		ws_json_u64(&d->json, d->n_total);
		ws_json_key(&d->json, "unexplained");
		ws_json_u64(&d->json, d->n_unknown);
		ws_json_end(&d->json);
	}
	images_close(&images);
	if (status != CLI_ANSWERED)
		return status;
	if (d->n_unknown)
		cli_warn("%s: %llu of %llu instructions have bits that no rule explains", d->path,
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
	       (option = getopt_long(argc, argv, "", options, NULL)) != -1)
		status = take_option(&d, option);
	if (status != CLI_ANSWERED)
		return status;
	if (optind + 1 != argc)
		return cli_usage("disas", "one FILE is needed");
	if (d.as_source && (cli->json || d.has_pc || d.source || d.hex || d.control))
		return cli_usage("disas", "--asm goes with --function and --arch only");
	d.path = argv[optind];
	return run(&d);
}
