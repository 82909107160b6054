/* SPDX-License-Identifier: Apache-2.0 */
/* What a program or a shared library of the host exports. */
#ifndef WSI_ELF_EXPORTED_H
#define WSI_ELF_EXPORTED_H

#include <warpscope/base.h>

/* Value of a symbol, an address relative to where the file is mapped; 0: it is not there. */
uint64_t wsi_elf_exported(struct ws_span file, const char *name);

#endif
