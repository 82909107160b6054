/* SPDX-License-Identifier: Apache-2.0 */
/* Where relocations of machine code put what they are about. */
#ifndef WSI_CUBIN_RELOCS_H
#define WSI_CUBIN_RELOCS_H

#include <warpscope/cubin.h>

struct wsi_code_reloc {
	uint32_t type;
	enum ws_reloc_kind kind;
	uint8_t lo, len;     /* bits of the instruction; 0: not known */
	uint8_t low_byte_at; /* the 8 lowest bits of the number are there, not at `lo`; 0: they are
				not apart */
};

/* WS_RELOC_OTHER for types that are not known, or fill data. */
struct wsi_code_reloc wsi_cubin_code_reloc(uint32_t type);

#endif
