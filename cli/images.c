/* SPDX-License-Identifier: Apache-2.0 */
#include "images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- architectures ---- */

bool arch_parse(const char *text, struct arch *ret_arch)
{
	char digits[8];
	const char *number = strncmp(text, "sm_", 3) == 0 ? text + 3 : text;
	size_t len = strlen(number);
	*ret_arch = (struct arch){ 0 };
	if (len > 0 && (number[len - 1] == 'a' || number[len - 1] == 'f'))
		ret_arch->variant = number[--len];
	if (len == 0 || len >= sizeof digits)
		return false;
	memcpy(digits, number, len);
	digits[len] = '\0';
	return cli_number(digits, &ret_arch->sm);
}

bool arch_fits(const struct arch *arch, uint32_t sm, char variant)
{
	return !arch || (arch->sm == sm && (!arch->variant || arch->variant == variant));
}

/* ---- opening ---- */

static void disas_images_add(struct images *images, struct ws_cubin *cubin, size_t index,
			     const struct arch *arch)
{
	struct ws_code_image image = { .cubin = cubin, .index = index };
	ws_cubin_facts(cubin, &image.facts);
	if (!arch_fits(arch, image.facts.sm, image.facts.variant))
		return;
	images->code.item =
		cli_realloc(images->code.item, images->code.n + 1, sizeof *images->code.item);
	images->code.item[images->code.n++] = image;
}

static void open_file_images(struct images *images, const char *path, const struct arch *arch)
{
	for (size_t i = 0; i < ws_image_file_count(images->file); i++) {
		const struct ws_image_entry *entry = ws_image_file_at(images->file, i);
		struct ws_cubin *cubin;
		struct ws_error err;
		if (entry->kind != WS_IMAGE_CUBIN || (arch && entry->sm && entry->sm != arch->sm))
			continue;
		if (ws_image_file_cubin(images->file, i, &cubin, &err) == WS_OK)
			disas_images_add(images, cubin, i, arch);
		else
			cli_fail(path, &err);
	}
	struct ws_error damage;
	if (ws_image_file_damage(images->file, &damage))
		cli_fail(path, &damage);
}

static void open_dump_images(struct images *images, const char *path, const struct arch *arch)
{
	struct ws_module module;
	struct ws_error err;
	if (ws_cubin_set_create(&images->set, NULL) != WS_OK)
		cli_out_of_memory();
	for (uint32_t i = 0; ws_target_module(images->target, i, &module, NULL) == WS_OK; i++) {
		struct ws_cubin_entry entry = { 0 };
		struct ws_cubin *cubin;
		if (module.relocated_status == WS_OK)
			entry.relocated = module.relocated;
		else if (module.original_status == WS_OK)
			entry.original = module.original;
		else
			continue;
		uint32_t added = ws_cubin_set_count(images->set);
		if (ws_cubin_set_add(images->set, &entry, NULL) != WS_OK)
			cli_out_of_memory();
		if (ws_cubin_set_cubin(images->set, added, &cubin, &err) != WS_OK)
			cli_fail(path, &err);
		else
			disas_images_add(images, cubin, i, arch);
	}
}

int images_open(struct cli *cli, const char *verb, const char *path, const char *arch_text,
		struct images *ret_images)
{
	struct arch arch;
	*ret_images = (struct images){ .cli = cli, .code.path = path };
	if (arch_text && !arch_parse(arch_text, &arch))
		return cli_usage(verb, "--arch takes sm_NN, not '%s'", arch_text);
	const struct arch *wanted = arch_text ? &arch : NULL;
	struct ws_error err;
	enum ws_status st =
		cli->live ? WS_UNSUPPORTED : ws_image_file_open(path, &ret_images->file, &err);
	if (st == WS_OK) {
		open_file_images(ret_images, path, wanted);
		for (size_t i = 0; i < ret_images->code.n; i++)
			cli->input_bytes += ws_cubin_image(ret_images->code.item[i].cubin).len;
	} else if (st == WS_UNSUPPORTED) { /* a dump, or nothing that we read */
		int status = cli_target_open_last(cli, path, &ret_images->target);
		if (status != CLI_ANSWERED)
			return status;
		open_dump_images(ret_images, path, wanted);
	} else {
		return cli_open_fail(path, &err);
	}
	if (ret_images->code.n > 0)
		return CLI_ANSWERED;
	cli_warn("%s: no GPU code%s%s", path, arch_text ? " for " : "", arch_text ? arch_text : "");
	return CLI_NO_ANSWER;
}

void images_close(struct images *images)
{
	ws_cubin_set_destroy(images->set);
	ws_image_file_close(images->file);
	cli_target_close(images->cli, images->target);
	free(images->code.item);
	*images = (struct images){ 0 };
}
