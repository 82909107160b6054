/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stays of an image in a dump to share. One table: clean.c works by it, and
 * tests/write/test_rules.py holds docs/trust.md to it.
 *
 * What no row names goes: its bytes are zeros and its section header is empty. So do the bytes
 * between sections, and within a section what its rule does not recognise.
 */
#ifndef WSI_WRITE_RULES_H
#define WSI_WRITE_RULES_H

#include <warpscope/write.h>

/* Shape of a section: its type and flags. */
enum wsi_section_shape {
	WSI_SHAPE_CODE,    /* PROGBITS, executable */
	WSI_SHAPE_DATA,    /* PROGBITS, loaded; NVIDIA's types of global and constant data */
	WSI_SHAPE_PLAIN,   /* PROGBITS, not loaded, not compressed */
	WSI_SHAPE_NOBITS,  /* no bytes in the file */
	WSI_SHAPE_SYMTAB,  /* symbols */
	WSI_SHAPE_ESCAPES, /* SYMTAB_SHNDX */
	WSI_SHAPE_STRTAB,  /* strings */
	WSI_SHAPE_REL,     /* REL, RELA */
	WSI_SHAPE_INFO,    /* NVIDIA's attributes */
	WSI_SHAPE_NOTE,    /* notes */
	WSI_SHAPE_OTHER,
};

enum wsi_rule {
	WSI_RULE_DROP,
	WSI_RULE_KEEP,
	WSI_RULE_ZERO,
	WSI_RULE_HEADER,
	WSI_RULE_SYMBOLS,
	WSI_RULE_ESCAPES,
	WSI_RULE_STRINGS,
	WSI_RULE_RELOCS,
	WSI_RULE_ATTRIBUTES,
	WSI_RULE_TOOLS,
	WSI_RULE_TARGET,
	WSI_RULE_LINES,
	WSI_RULE_DEBUG,
	WSI_RULE_ABBREVS,
	WSI_RULE_FRAMES,
};

/* What a section may hold, as the ws_strip_flags that its rule is for: without any of them it stays
 * as it is. */
enum {
	WSI_HOLDS_NONE = 0,
	WSI_HOLDS_VALUES = WS_STRIP_VALUES,
	WSI_HOLDS_DATA = WS_STRIP_VALUES | WS_STRIP_PATHS,
	WSI_HOLDS_ALL = WS_STRIP_VALUES | WS_STRIP_PTX | WS_STRIP_PATHS,
};

/*
 * X(name, SHAPE, HOLDS, RULE, what stays, why). The first row that fits decides. In names "#"
 * stands for digits, "F" for the name of a function of the image, "@" for the name of the section
 * that is relocated, and "*" for any name, which then goes. A name without these counts once in an
 * image.
 */
#define WSI_RULE_LIST(X)                                                                           \
	X(".text.F", CODE, NONE, KEEP, "all", "the verdict rests on the code")                     \
	X("*", CODE, NONE, KEEP, "all", "the verdict rests on the code")                           \
	X(".symtab", SYMTAB, ALL, SYMBOLS, "symbols of functions, variables and sections",         \
	  "which function a pc is in")                                                             \
	X(".symtab_shndx", ESCAPES, ALL, ESCAPES, "section numbers", "more than 65,279 sections")  \
	X(".strtab", STRTAB, ALL, STRINGS, "names of those symbols", "names of functions")         \
	X(".shstrtab", STRTAB, ALL, STRINGS, "section names of this table",                        \
	  "sections are found by name")                                                            \
	X(".rel@", REL, ALL, RELOCS, "places, types, symbols, for what stays",                     \
	  "lines of code that was not linked")                                                     \
	X(".rela@", REL, ALL, RELOCS, "the same, addends", "lines of code that was not linked")    \
	X(".nv.info", INFO, ALL, ATTRIBUTES, "attributes of known numbers",                        \
	  "registers and stack of a function")                                                     \
	X(".nv.info.F", INFO, ALL, ATTRIBUTES, "attributes of known numbers",                      \
	  "parameters, exits, branch targets")                                                     \
	X(".nv.shared.F", NOBITS, NONE, HEADER, "its size", "size of shared memory")               \
	X(".nv.shared.reserved.#", NOBITS, NONE, HEADER, "its size", "size of shared memory")      \
	X(".nv_debug.shared", NOBITS, NONE, HEADER, "its size", "size of shared memory")           \
	X(".nv.global", NOBITS, NONE, HEADER, "its size", "places of variables")                   \
	X("*", NOBITS, NONE, HEADER, "its size", "places of variables")                            \
	X(".nv.constant#", DATA, DATA, ZERO, "its size", "constants, and literals with paths")     \
	X(".nv.constant#.F", DATA, DATA, ZERO, "its size", "constants, and literals with paths")   \
	X(".nv.global", DATA, DATA, ZERO, "its size", "initial values")                            \
	X(".nv.global.init", DATA, DATA, ZERO, "its size", "initial values, literals with paths")  \
	X("*", DATA, DATA, ZERO, "its size", "initial values")                                     \
	X(".note.nv.tkinfo", NOTE, ALL, TOOLS,                                                     \
	  "tool, version and build; options of data/compiler-options.txt", "how it was compiled")  \
	X(".note.nv.cuinfo", NOTE, ALL, TARGET, "virtual architecture, toolkit",                   \
	  "how it was compiled")                                                                   \
	X(".debug_line", PLAIN, ALL, LINES,                                                        \
	  "rows, names of files, folders of libraries; other folders are x", "lines")              \
	X(".nv_debug_line_sass", PLAIN, ALL, LINES, "the same", "lines of PTX")                    \
	X(".debug_str", PLAIN, ALL, STRINGS, "names that kept lines and debug information use",    \
	  "inlined functions")                                                                     \
	X(".debug_info", PLAIN, ALL, DEBUG,                                                        \
	  "names, types, sizes and places of functions, parameters and fields; no constants",      \
	  "parameters with their types")                                                           \
	X(".debug_abbrev", PLAIN, ALL, ABBREVS, "declarations of known forms",                     \
	  "how .debug_info is read")                                                               \
	X(".debug_frame", PLAIN, ALL, FRAMES, "rules of known opcodes", "debuggers unwind by it")  \
	X(".debug_loc", PLAIN, VALUES, DROP, "nothing", "where variables were: their values went") \
	X(".nv_debug_info_reg_sass", PLAIN, VALUES, DROP, "nothing", "the same")                   \
	X(".nv_debug_info_reg_type", PLAIN, VALUES, DROP, "nothing", "the same")                   \
	X(".nv_debug_ptx_txt", PLAIN, ALL, ZERO, "its size", "program text, with constants")       \
	X(".nv_debug_ptx_txt.#", PLAIN, ALL, ZERO, "its size", "program text, with constants")     \
	X("*", OTHER, ALL, DROP, "nothing", "not needed, or not known")

#endif
