/* SPDX-License-Identifier: Apache-2.0 */
/* What a program or a shared library of the host exports, and needs. */
#ifndef WSI_ELF_EXPORTED_H
#define WSI_ELF_EXPORTED_H

#include <warpscope/base.h>

/* Value of a symbol, an address relative to where the file is mapped; 0: it is not there. */
uint64_t wsi_elf_exported(struct ws_span file, const char *name);
/* Whether it needs a shared library whose name begins so. */
bool wsi_elf_needs(struct ws_span file, const char *library);
bool wsi_elf_has_section(struct ws_span file, const char *name);

#endif
