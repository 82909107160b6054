/* SPDX-License-Identifier: Apache-2.0 */
/* See 30-image.h. */
#include "image.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct image {
	uint64_t handle;
	uint8_t *bytes;
	size_t n;
};

static struct image *images;
static size_t n_images;

void image_add(uint64_t handle, void *bytes, size_t n)
{
	struct image *more = realloc(images, (n_images + 1) * sizeof *more);
	if (!more) {
		free(bytes);
		return;
	}
	images = more;
	images[n_images++] = (struct image){ handle, bytes, n };
}

void image_drop(uint64_t handle)
{
	for (size_t i = n_images; i > 0; i--) {
		if (images[i - 1].handle != handle)
			continue;
		free(images[i - 1].bytes);
		images[i - 1] = images[--n_images];
	}
}

/* Copies a part of the image, if it is there. */
static bool get(const struct image *image, uint64_t at, void *ret, size_t n)
{
	if (at > image->n || n > image->n - at)
		return false;
	memcpy(ret, image->bytes + at, n);
	return true;
}

static bool get_section(const struct image *image, const Elf64_Ehdr *head, uint64_t number,
			Elf64_Shdr *ret)
{
	return number < head->e_shnum && head->e_shoff <= image->n &&
	       get(image, head->e_shoff + number * sizeof *ret, ret, sizeof *ret);
}

/* A name of a table of them, which must end in the image. */
static const char *text_at(const struct image *image, const Elf64_Shdr *names, uint64_t offset)
{
	if (names->sh_offset > image->n || offset > image->n - names->sh_offset)
		return "";
	const char *text = (const char *)image->bytes + names->sh_offset + offset;
	size_t left = image->n - (size_t)(names->sh_offset + offset);
	return memchr(text, '\0', left) ? text : "";
}

/* A symbol of C++ has the length of a name before it. */
static bool is_named(const char *symbol, const char *name)
{
	char part[200];
	return !strcmp(symbol, name) ||
	       (snprintf(part, sizeof part, "%zu%s", strlen(name), name) < (int)sizeof part &&
		strstr(symbol, part));
}

/* The first function that has this name, or (NULL) in which the address is. */
static const char *find(const struct image *image, const char *name, uint64_t address,
			uint64_t *ret_begin)
{
	Elf64_Ehdr head;
	Elf64_Shdr table, names;
	Elf64_Sym symbol;
	if (!get(image, 0, &head, sizeof head))
		return NULL;
	for (uint64_t i = 0; get_section(image, &head, i, &table); i++) {
		if (table.sh_type != SHT_SYMTAB ||
		    !get_section(image, &head, table.sh_link, &names))
			continue;
		for (uint64_t at = 0;
		     at + sizeof symbol <= table.sh_size && table.sh_offset <= image->n &&
		     get(image, table.sh_offset + at, &symbol, sizeof symbol);
		     at += sizeof symbol) {
			const char *text = text_at(image, &names, symbol.st_name);
			if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_value == 0 ||
			    (name ? !is_named(text, name)
				  : address - symbol.st_value >= symbol.st_size))
				continue;
			*ret_begin = symbol.st_value;
			return text;
		}
	}
	return NULL;
}

uint64_t image_function(const char *name)
{
	uint64_t begin = 0;
	for (size_t i = 0; i < n_images; i++)
		if (find(&images[i], name, 0, &begin))
			break;
	return begin;
}

const char *image_name(uint64_t address, uint64_t *ret_begin)
{
	const char *name = NULL;
	for (size_t i = 0; i < n_images && !name; i++)
		name = find(&images[i], NULL, address, ret_begin);
	return name;
}
