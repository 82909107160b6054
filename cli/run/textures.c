/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments that are textures or surfaces: tex:BUFFER,WORD... and surf:BUFFER,WORD... */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

enum { TEX = 4, SURF = 5 }; /* characters before the name of the buffer */

/* Type of a buffer's numbers as that of a texel's components. */
static bool texel_find(const struct run_type *type, enum ws_sim_texel *ret)
{
	static const char *const names[] = {
		[WS_SIM_TEXEL_U8] = "u8",   [WS_SIM_TEXEL_S8] = "s8",   [WS_SIM_TEXEL_U16] = "u16",
		[WS_SIM_TEXEL_S16] = "s16", [WS_SIM_TEXEL_U32] = "u32", [WS_SIM_TEXEL_S32] = "s32",
		[WS_SIM_TEXEL_F32] = "f32",
	};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (names[i] && strcmp(names[i], type->name) == 0) {
			*ret = (enum ws_sim_texel)i;
			return true;
		}
	}
	return false;
}

static bool take_texture_number(const char *text, uint32_t *ret)
{
	uint64_t value;
	if (!cli_number(text, &value) || value > UINT32_MAX)
		return false;
	*ret = (uint32_t)value;
	return true;
}

/* 8, 8x4 or 8x4x2: also the shape, as far as it follows from that. */
static bool take_size(char *text, struct ws_sim_image *image)
{
	uint32_t *const extents[] = { &image->width, &image->height, &image->depth };
	static const enum ws_sim_shape shapes[] = { WS_SIM_IMAGE_1D, WS_SIM_IMAGE_2D,
						    WS_SIM_IMAGE_3D };
	size_t n = 0;
	for (char *save, *word = strtok_r(text, "x", &save); word;
	     word = strtok_r(NULL, "x", &save))
		if (n == 3 || !take_texture_number(word, extents[n++]))
			return false;
	if (n > 0)
		image->shape = shapes[n - 1];
	return n > 0;
}

static bool take_mode(const char *word, struct ws_sim_texture *t)
{
	static const char *const names[] = {
		[WS_SIM_ADDRESS_WRAP] = "wrap",
		[WS_SIM_ADDRESS_CLAMP] = "clamp",
		[WS_SIM_ADDRESS_MIRROR] = "mirror",
		[WS_SIM_ADDRESS_BORDER] = "border",
	};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (strcmp(names[i], word) != 0)
			continue;
		for (size_t k = 0; k < 3; k++)
			t->mode[k] = (enum ws_sim_address_mode)i;
		return true;
	}
	return false;
}

/* What a word asks for; false: it is none. */
static bool take_texture_word(char *word, struct ws_sim_texture *t, bool *ret_cube)
{
	struct ws_sim_image *image = &t->image;
	uint64_t bytes = 0;
	if (strncmp(word, "size=", 5) == 0)
		return take_size(word + 5, image);
	if (strncmp(word, "components=", 11) == 0)
		return take_texture_number(word + 11, &image->n_components);
	if (strncmp(word, "layers=", 7) == 0)
		return take_texture_number(word + 7, &image->n_layers) && image->n_layers > 0;
	if (strncmp(word, "pitch=", 6) == 0 && cli_number(word + 6, &bytes)) {
		image->row_bytes = bytes;
		return bytes > 0;
	}
	if (strcmp(word, "half") == 0 && image->texel == WS_SIM_TEXEL_U16)
		image->texel = WS_SIM_TEXEL_F16;
	else if (strcmp(word, "cube") == 0)
		*ret_cube = true;
	else if (strcmp(word, "linear") == 0)
		t->linear = true;
	else if (strcmp(word, "normalized") == 0)
		t->normalized = true;
	else if (strcmp(word, "float") == 0)
		t->as_float = true;
	else
		return take_mode(word, t);
	return true;
}

/* The shape, when all words are known. False: there is none like that. */
static bool finish_shape(struct ws_sim_image *image, bool cube)
{
	bool layers = image->n_layers > 0;
	if (cube) {
		bool flat = image->shape == WS_SIM_IMAGE_2D;
		image->shape = layers ? WS_SIM_IMAGE_CUBE_LAYERED : WS_SIM_IMAGE_CUBE;
		return flat;
	}
	if (!layers)
		return true;
	bool line = image->shape == WS_SIM_IMAGE_1D, solid = image->shape == WS_SIM_IMAGE_3D;
	image->shape = line ? WS_SIM_IMAGE_1D_LAYERED : WS_SIM_IMAGE_2D_LAYERED;
	return !solid;
}

bool run_is_texture(const char *text)
{
	return strncmp(text, "tex:", TEX) == 0 || strncmp(text, "surf:", SURF) == 0;
}

bool run_texture_make(const char *text, struct ws_sim *sim, const struct run_buffers *buffers,
		      uint64_t *ret_handle)
{
	bool surface = text[0] == 's', cube = false;
	const char *name = text + (surface ? SURF : TEX);
	size_t n = strcspn(name, ",");
	const struct run_buffer *buffer = run_buffer_find(buffers, name, n);
	struct ws_sim_texture t = { .size = sizeof t, .image.n_components = 1 };
	struct ws_error err;
	for (size_t i = 0; i < 3; i++)
		t.mode[i] = WS_SIM_ADDRESS_CLAMP;
	if (!buffer || !texel_find(buffer->type, &t.image.texel)) {
		cli_warn(buffer ? "'%s': a texel has no numbers of 64 bits"
				: "'%s': there is no such buffer",
			 text);
		return false;
	}
	t.image.address = buffer->address;
	char *words = cli_copy(name + n, strlen(name + n)), *save, *word;
	for (word = strtok_r(words, ",", &save); word; word = strtok_r(NULL, ",", &save))
		if (!take_texture_word(word, &t, &cube))
			break;
	bool ok = !word && t.image.width > 0 && finish_shape(&t.image, cube);
	free(words);
	if (!ok) {
		cli_warn("'%s' is not an image: size=WxHxD and other words are expected, see "
			 "warpscope-run(1)",
			 text);
		return false;
	}
	enum ws_status st = surface ? ws_sim_surface(sim, &t.image, ret_handle, &err)
				    : ws_sim_texture(sim, &t, ret_handle, &err);
	return st == WS_OK || run_fail(text, &err) == CLI_ANSWERED;
}
