/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpscope info FILE: the images in a program, library, object, archive, fatbin or cubin, one
 * after the other, each with its kernels and what they take. One image is open at a time.
 */
#include <warpscope/rows.h>

#include "images.h"
#include "info/info.h"
#include "info/ptx.h"
#include "names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_ARCHS = 64,
	ARCH_BYTES = 24,
	MOST_SEQUENCES = 16, /* of one kernel; real ones have one */
};

struct info_listing {
	struct cli *cli;
	const char *path;
	const struct info_images_query *query;
	struct ws_image_file *file;
	struct arch arch;
	struct ws_json json;
	uint64_t left; /* rows that may still be shown; an image is one, a kernel is one */
	size_t n_shown, n_images, n_kernels, n_left_out;
	/* how many images there are for each architecture, as far as there is room */
	struct {
		char name[ARCH_BYTES];
		size_t n;
	} archs[MOST_ARCHS];
	size_t n_archs;
};

/* One image, and what was found in it. */
struct one {
	struct info_listing *list;
	size_t index;
	const struct ws_image_entry *entry;
	enum ws_status status; /* WS_OK, or why nothing is known of what is inside */
	struct ws_error err;   /* then; else the first damage inside, or WS_OK */
	struct ws_cubin *cubin;
	struct ws_cubin_facts facts; /* of PTX the architecture alone */
	const struct ws_function *functions;
	size_t n_functions, n_kernels, n_others; /* kernels that are wanted; other functions */
	size_t most;                             /* of these kernels are shown */
	struct ws_line_map *lines;               /* NULL: none */
	struct ptx ptx;
};

/* ---- kernels ---- */

static bool is_wanted(const struct info_listing *list, const struct ws_function *function)
{
	return !list->query->kernel || ws_name_is(function, list->query->kernel);
}

static void name_cells(struct ws_rows *rows, const struct info_listing *list, struct ws_str mangled)
{
	enum name_form form = rows->json || list->query->full_names ? NAME_FULL : NAME_KERNEL;
	char *name = name_copy(mangled, form);
	ws_rows_text(rows, name);
	ws_rows_str(rows, mangled);
	free(name);
}

static const struct ws_rows_column kernel_columns[] = {
	{ "Regs", "registers", 0 },
	{ "Shared", "shared_bytes", 0 },
	{ "Reserved", "reserved_shared_bytes", WS_ROWS_WIDE },
	{ "Stack", "stack_bytes", 0 },
	{ "Frame", "frame_bytes", WS_ROWS_WIDE },
	{ "Barriers", "barriers", WS_ROWS_WIDE },
	{ "Threads", "max_threads", 0 },
	{ "Block", "required_block", WS_ROWS_WIDE },
	{ "Cluster", "cluster_dim", WS_ROWS_WIDE },
	{ "Params", "num_params", 0 },
	{ "Bytes", "param_bytes", 0 },
	{ "Code", "code_bytes", 0 },
	{ "Lines", "lines", 0 },
	{ "Inlined", "inlined_calls", 0 },
	{ "Kernel", "function", WS_ROWS_LEFT },
	{ NULL, "function_mangled", WS_ROWS_DATA },
};

static void number_cell(struct ws_rows *rows, uint32_t value)
{
	ws_rows_if(rows, 1, value != WS_UNKNOWN);
	ws_rows_number(rows, value);
}

static uint64_t product(struct ws_dim3 dim)
{
	return (uint64_t)dim.x * dim.y * dim.z;
}

static void attribute_cells(struct ws_rows *rows, const struct one *one,
			    const struct ws_function *function)
{
	struct ws_function_info info;
	enum ws_status st =
		ws_cubin_function_info(one->cubin, function, &info, NULL, 0, NULL, 0, NULL);
	if (st != WS_OK)
		info = (struct ws_function_info){ .shared_bytes = WS_UNKNOWN };
	if (st == WS_OK && info.param_bytes == WS_UNKNOWN && info.n_params == 0)
		info.param_bytes = 0; /* then the image says nothing of them */
	struct ws_dim3 most = info.required_block.x ? info.required_block : info.max_block;
	number_cell(rows, function->n_regs);
	ws_rows_given(rows, 2, st);
	ws_rows_if(rows, 2, info.shared_bytes != WS_UNKNOWN);
	ws_rows_number(rows, info.shared_bytes - info.reserved_shared_bytes);
	ws_rows_number(rows, info.reserved_shared_bytes);
	number_cell(rows, function->min_stack_bytes);
	number_cell(rows, function->frame_bytes);
	ws_rows_given(rows, 6, st);
	number_cell(rows, info.n_barriers);
	ws_rows_or_none(rows, 1, most.x);
	ws_rows_number(rows, product(most));
	ws_rows_or_none(rows, 1, info.required_block.x);
	ws_rows_dim3(rows, info.required_block);
	ws_rows_or_none(rows, 1, info.cluster_dim.x);
	ws_rows_dim3(rows, info.cluster_dim);
	ws_rows_number(rows, info.n_params);
	number_cell(rows, info.param_bytes);
}

/* Whether a kernel has lines, and whether they tell calls that were inlined. */
static void line_cells(struct ws_rows *rows, const struct one *one,
		       const struct ws_function *function)
{
	struct ws_line_seq seq;
	bool has_lines = false, has_calls = false;
	for (size_t nth = 0; one->lines && !has_calls && nth < MOST_SEQUENCES; nth++) {
		if (ws_line_owner_seq(one->lines, function->section, nth, &seq, NULL) != WS_OK)
			break;
		has_lines |= seq.n_rows > 0;
		for (uint32_t i = 1; i <= seq.n_rows && !has_calls; i++)
			has_calls = ws_line_row_at(one->lines, &seq, i).depth > 0;
	}
	ws_rows_bool(rows, has_lines);
	ws_rows_bool(rows, has_calls);
}

static void produce_listed_kernels(struct ws_rows *rows, void *user)
{
	const struct one *one = user;
	for (size_t i = 0, n = 0; i < one->n_functions && n < one->most; i++) {
		const struct ws_function *function = &one->functions[i];
		if (!function->is_kernel || !function->section || !is_wanted(one->list, function))
			continue;
		n++;
		ws_rows_begin(rows, false);
		attribute_cells(rows, one, function);
		ws_rows_number(rows, function->size_bytes);
		line_cells(rows, one, function);
		name_cells(rows, one->list, function->name);
		ws_rows_end(rows);
	}
}

static const struct ws_rows_column ptx_columns[] = { { "Kernel", "function", WS_ROWS_LEFT },
						     { NULL, "function_mangled", WS_ROWS_DATA } };

static void produce_ptx_kernels(struct ws_rows *rows, void *user)
{
	const struct one *one = user;
	struct ws_str name;
	for (size_t at = 0, n = 0; n < one->most && ptx_kernel(&one->ptx, &at, &name);) {
		if (!is_wanted(one->list, &(struct ws_function){ .symbol = name, .name = name }))
			continue;
		n++;
		ws_rows_begin(rows, false);
		name_cells(rows, one->list, name);
		ws_rows_end(rows);
	}
}

/* ---- an image ---- */

static void open_ptx(struct one *one)
{
	struct ws_image_file *file = one->list->file;
	struct ws_span bytes;
	struct ws_str name;
	one->status = ws_image_file_bytes(file, one->index, &bytes, &one->err);
	if (one->status != WS_OK)
		return;
	one->list->cli->input_bytes += bytes.len;
	ptx_read((struct ws_str){ (const char *)bytes.ptr, bytes.len }, &one->ptx);
	one->facts.sm = one->ptx.sm;
	one->facts.variant = one->ptx.variant;
	for (size_t at = 0; ptx_kernel(&one->ptx, &at, &name);)
		one->n_kernels +=
			is_wanted(one->list, &(struct ws_function){ .symbol = name, .name = name });
}

static void open_cubin(struct one *one)
{
	struct ws_image_file *file = one->list->file;
	one->status = ws_image_file_cubin(file, one->index, &one->cubin, &one->err);
	if (one->status == WS_OK)
		one->status = ws_cubin_functions(one->cubin, &one->functions, &one->n_functions,
						 &one->err);
	if (one->status != WS_OK)
		return;
	one->list->cli->input_bytes += ws_cubin_image(one->cubin).len;
	ws_cubin_facts(one->cubin, &one->facts);
	(void)ws_cubin_damage(one->cubin, &one->err);
	if (ws_cubin_line_map(one->cubin, &one->lines, NULL) != WS_OK)
		one->lines = NULL;
	for (size_t i = 0; i < one->n_functions; i++) {
		const struct ws_function *function = &one->functions[i];
		if (!function->section)
			continue;
		if (!function->is_kernel)
			one->n_others++;
		else
			one->n_kernels += is_wanted(one->list, function);
	}
}

static void arch_text(const struct one *one, char text[ARCH_BYTES])
{
	const char *prefix = one->entry->kind == WS_IMAGE_PTX ? "compute" : "sm";
	const char variant[2] = { one->facts.variant, '\0' };
	uint32_t sm = one->facts.sm ? one->facts.sm : one->entry->sm;
	if (sm)
		snprintf(text, ARCH_BYTES, "%s_%u%s", prefix, (unsigned)sm, variant);
	else
		snprintf(text, ARCH_BYTES, "%s_?", prefix);
}

/* Whether an image is listed. */
static bool is_listed(const struct one *one)
{
	const struct info_listing *list = one->list;
	uint32_t sm = one->facts.sm ? one->facts.sm : one->entry->sm;
	if (list->query->arch && !arch_fits(&list->arch, sm, one->facts.variant))
		return false;
	return !list->query->kernel || one->n_kernels > 0;
}

static const char *kind_word(enum ws_image_kind kind)
{
	return kind == WS_IMAGE_CUBIN ? "cubin" : kind == WS_IMAGE_PTX ? "ptx" : "other";
}

static const char *packing_word(enum ws_image_packing packing)
{
	static const char *const words[] = { [WS_IMAGE_STORED] = "stored",
					     [WS_IMAGE_LZ4] = "lz4",
					     [WS_IMAGE_ZSTD] = "zstd",
					     [WS_IMAGE_UNKNOWN_PACKING] = "unknown" };
	return words[packing];
}

static void toolkit_text(const struct one *one, char text[ARCH_BYTES])
{
	snprintf(text, ARCH_BYTES, "%u.%u", one->facts.toolkit / 10, one->facts.toolkit % 10);
}

static bool knows_toolkit(const struct one *one)
{
	return one->cubin && one->status == WS_OK && one->facts.toolkit != WS_UNKNOWN;
}

/* ---- as text ---- */

static void heading(const struct one *one)
{
	const struct ws_image_entry *entry = one->entry;
	struct ws_out *out = &one->list->cli->out;
	char text[ARCH_BYTES];
	arch_text(one, text);
	ws_out_text(out, one->list->n_shown ? "\n" : "");
	ws_out_printf(out, "image %zu, %s: ", one->index, text);
	if (entry->kind == WS_IMAGE_CUBIN)
		ws_out_text(out, entry->relocatable ? "unlinked cubin" : "cubin");
	else if (entry->kind == WS_IMAGE_PTX)
		ws_out_printf(out, "PTX %.*s", (int)one->ptx.version.len, one->ptx.version.ptr);
	else
		ws_out_text(out, "of a kind that is not known");
	ws_out_printf(out, " of %llu bytes", (unsigned long long)entry->image_bytes);
	if (entry->packing == WS_IMAGE_UNKNOWN_PACKING)
		ws_out_printf(out, " (packed in an unknown way)");
	else if (entry->packing != WS_IMAGE_STORED)
		ws_out_printf(out, " (%llu packed, %s)", (unsigned long long)entry->packed_bytes,
			      packing_word(entry->packing));
	if (entry->container.len)
		ws_out_printf(out, ", in %.*s", (int)entry->container.len, entry->container.ptr);
	if (entry->source.len)
		ws_out_printf(out, ", from %.*s", (int)entry->source.len, entry->source.ptr);
	toolkit_text(one, text);
	if (knows_toolkit(one))
		ws_out_printf(out, ", CUDA %s", text);
	if (one->cubin && one->status == WS_OK)
		ws_out_printf(out, ", lines: %s", ws_cubin_lines_word(one->cubin));
	ws_out_text(out, "\n");
	if (one->err.status != WS_OK)
		ws_out_printf(out, "  damaged: %s\n", one->err.message);
}

/* The kernels of an image: as a value of JSON, or as text. */
static void kernels(struct one *one)
{
	struct info_listing *list = one->list;
	struct ws_rows_style style = { .out = &list->cli->out,
				       .json = list->cli->json ? &list->json : NULL,
				       .wide = list->query->wide,
				       .columns = list->cli->columns };
	char none[64];
	if (one->n_others)
		snprintf(none, sizeof none, "  No kernels; %zu other function%s.", one->n_others,
			 one->n_others == 1 ? "" : "s");
	else
		snprintf(none, sizeof none, "  No kernels.");
	if (one->entry->kind == WS_IMAGE_PTX)
		ws_rows_show(&style, ptx_columns, sizeof ptx_columns / sizeof *ptx_columns, none,
			     produce_ptx_kernels, one);
	else
		ws_rows_show(&style, kernel_columns, sizeof kernel_columns / sizeof *kernel_columns,
			     none, produce_listed_kernels, one);
}

/* ---- as data ---- */

static void json_text(struct ws_json *json, const char *key, struct ws_str text)
{
	if (ws_json_key_given(json, key, text.len ? WS_OK : WS_ABSENT))
		ws_json_str(json, text);
}

static void json_inside(struct one *one)
{
	struct ws_json *json = &one->list->json;
	char text[ARCH_BYTES];
	if (one->entry->kind == WS_IMAGE_PTX)
		json_text(json, "ptx_version", one->ptx.version);
	if (one->entry->kind == WS_IMAGE_CUBIN && one->status == WS_OK) {
		toolkit_text(one, text);
		if (ws_json_key_given(json, "toolkit", knows_toolkit(one) ? WS_OK : WS_ABSENT))
			ws_json_text(json, text);
		json_text(json, "tool_version", one->facts.tool_version);
		json_text(json, "options", one->facts.options);
		ws_json_key_text(json, "lines", ws_cubin_lines_word(one->cubin));
		ws_json_key_u64(json, "num_other_functions", one->n_others);
	}
	if (one->status == WS_OK) {
		ws_json_key(json, "kernels");
		kernels(one);
	} else {
		ws_json_missing(json, "kernels", one->status);
	}
}

static void json_image(struct one *one)
{
	const struct ws_image_entry *entry = one->entry;
	struct ws_json *json = &one->list->json;
	char text[ARCH_BYTES];
	arch_text(one, text);
	ws_json_object(json);
	ws_json_key_u64(json, "image", one->index);
	ws_json_key_text(json, "arch", text);
	ws_json_key_text(json, "kind", kind_word(entry->kind));
	ws_json_key_text(json, "packing", packing_word(entry->packing));
	ws_json_key_u64(json, "packed_bytes", entry->packed_bytes);
	ws_json_key_u64(json, "image_bytes", entry->image_bytes);
	ws_json_key_hex(json, "file_off", entry->file_off);
	json_text(json, "container", entry->container);
	json_text(json, "source", entry->source);
	ws_json_key_bool(json, "relocatable", entry->relocatable);
	if (one->err.status != WS_OK)
		ws_json_key_text(json, "damage", one->err.message);
	json_inside(one);
	ws_json_end(json);
}

/* ---- all images ---- */

static void count_arch(struct info_listing *list, const char *name)
{
	for (size_t i = 0; i < list->n_archs; i++) {
		if (strcmp(list->archs[i].name, name) == 0) {
			list->archs[i].n++;
			return;
		}
	}
	if (list->n_archs == MOST_ARCHS)
		return;
	memcpy(list->archs[list->n_archs].name, name, strlen(name) + 1);
	list->archs[list->n_archs++].n = 1;
}

static void show_listed(struct one *one)
{
	struct info_listing *list = one->list;
	char arch[ARCH_BYTES];
	arch_text(one, arch);
	count_arch(list, arch);
	list->n_images++;
	list->n_kernels += one->n_kernels;
	if (list->left == 0) {
		list->n_left_out += 1 + one->n_kernels;
		return;
	}
	list->left--;
	one->most = one->n_kernels < list->left ? one->n_kernels : (size_t)list->left;
	list->left -= one->most;
	list->n_left_out += one->n_kernels - one->most;
	if (list->cli->json) {
		json_image(one);
	} else {
		heading(one);
		if (one->status == WS_OK && (one->most || !one->n_kernels))
			kernels(one);
	}
	list->n_shown++;
}

static void list_image(struct info_listing *list, size_t index)
{
	struct one one = { .list = list,
			   .index = index,
			   .entry = ws_image_file_at(list->file, index),
			   .err = { .status = WS_OK } };
	one.facts.toolkit = WS_UNKNOWN;
	if (one.entry->kind == WS_IMAGE_CUBIN)
		open_cubin(&one);
	else if (one.entry->kind == WS_IMAGE_PTX)
		open_ptx(&one);
	else
		one.status = WS_UNSUPPORTED;
	if (is_listed(&one))
		show_listed(&one);
	ws_image_file_release(list->file, index);
}

static void summary(const struct info_listing *list)
{
	struct ws_out *out = &list->cli->out;
	if (list->n_left_out)
		ws_out_printf(out, "... and %zu more row%s; --limit 0 shows all\n",
			      list->n_left_out, list->n_left_out == 1 ? "" : "s");
	ws_out_printf(out, "\n%zu image%s", list->n_images, list->n_images == 1 ? "" : "s");
	for (size_t i = 0; i < list->n_archs; i++)
		ws_out_printf(out, "%s%zu for %s", i ? ", " : ": ", list->archs[i].n,
			      list->archs[i].name);
	ws_out_printf(out, "%s; %zu kernel%s\n", list->n_archs == MOST_ARCHS ? ", ..." : "",
		      list->n_kernels, list->n_kernels == 1 ? "" : "s");
}

static int nothing(const struct info_listing *list)
{
	const struct info_images_query *query = list->query;
	cli_warn("%s: no %s%s%s%s", list->path, query->kernel ? "kernel " : "GPU code",
		 query->kernel ? query->kernel : "", query->arch ? " for " : "",
		 query->arch ? query->arch : "");
	return CLI_NO_ANSWER;
}

int info_images(struct cli *cli, const char *path, struct ws_image_file *file,
		const struct info_images_query *query)
{
	struct info_listing list = { .cli = cli,
				     .path = path,
				     .query = query,
				     .file = file,
				     .left = query->limit ? query->limit : UINT64_MAX };
	struct ws_error damage;
	if (query->arch && !arch_parse(query->arch, &list.arch))
		return cli_usage("info", "--arch takes sm_NN, not '%s'", query->arch);
	if (cli->json) {
		ws_json_begin(&list.json, &cli->out, "warpscope-info-1");
		ws_json_key_text(&list.json, "table", "images");
		ws_json_key(&list.json, "focus");
		ws_json_null(&list.json);
		ws_json_key_text(&list.json, "path", path);
		ws_json_key_array(&list.json, "images");
	}
	for (size_t i = 0; i < ws_image_file_count(file); i++)
		list_image(&list, i);
	if (cli->json) {
		ws_json_end(&list.json);
		ws_json_key_u64(&list.json, "unreadable_warps", 0);
		if (query->limit)
			ws_json_key_u64(&list.json, "rows_left_out", list.n_left_out);
		ws_json_end(&list.json);
	} else if (list.n_images) {
		summary(&list);
	}
	if (ws_image_file_damage(file, &damage))
		cli_fail(path, &damage);
	return list.n_images ? CLI_ANSWERED : nothing(&list);
}
