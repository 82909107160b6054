/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of cubins that ELF itself does not have: section types and flags, relocations, attributes
 * of `.nv.info`. For readers and writers of cubins. [measured: nvcc 13.0;
 * docs/formats/cubin.md]
 */
#ifndef WSI_ELF_CUBIN_H
#define WSI_ELF_CUBIN_H

enum {
	WSI_SHT_NV_INFO = 0x70000000,
	WSI_SHT_NV_CALLGRAPH = 0x70000001,
	WSI_SHT_NV_GLOBAL_REL = 0x70000007, /* .nv.global of an object */
	WSI_SHT_NV_REL_ACTION = 0x7000000b,
	WSI_SHT_NV_CONSTANT0_REL = 0x70000064, /* .nv.constantN of an object: + N */
	WSI_SHT_NV_COMPAT = 0x70000086,
};

enum {
	WSI_SHF_WRITE = 1, /* this and the next three: ELF's own */
	WSI_SHF_ALLOC = 2,
	WSI_SHF_EXECINSTR = 4,
	WSI_SHF_INFO_LINK = 0x40,
	WSI_SHF_NV_CUINFO = 0x1000000,
	WSI_SHF_NV_TKINFO = 0x2000000,
};

enum {
	WSI_STO_CUDA_ENTRY = 0x10, /* st_other of a kernel */
};

/* Relocations. Those of code: the field they fill, counted in bits of the instruction. */
enum {
	WSI_R_CUDA_32 = 1,
	WSI_R_CUDA_64 = 2,
	WSI_R_CUDA_ABS32_LO_32 = 56, /* lower half of an address, at 32 */
	WSI_R_CUDA_ABS32_HI_32 = 57, /* upper half, at 32 */
	WSI_R_CUDA_ABS47_34 = 58,    /* address / 4 of CALL.ABS, at 34; up to sm_89 */
	WSI_R_CUDA_ABS55_16_34 = 75, /* the same, at 16 (8 bits) and 34; from sm_90 */
};

/* Attributes. The format (1 none, 2 and 3 a value in two bytes, 4 bytes with their length) goes
 * with the number. */
enum {
	WSI_NV_PARAM_CBANK = 0x0a,
	WSI_NV_EXTERNS = 0x0f,
	WSI_NV_FRAME_SIZE = 0x11,
	WSI_NV_MIN_STACK_SIZE = 0x12,
	WSI_NV_KPARAM_INFO = 0x17,
	WSI_NV_CBANK_PARAM_SIZE = 0x19,
	WSI_NV_MAXREG_COUNT = 0x1b,
	WSI_NV_EXIT_OFFSETS = 0x1c,
	WSI_NV_CRS_STACK_SIZE = 0x1e,
	WSI_NV_MAX_STACK_SIZE = 0x23,
	WSI_NV_REGCOUNT = 0x2f,
	WSI_NV_BRANCH_TARGETS = 0x34,
	WSI_NV_API_VERSION = 0x37,
	WSI_NV_NUM_BARRIERS = 0x4c,
};

enum {
	WSI_NOTE_TKINFO = 2000,
	WSI_NOTE_CUINFO = 1000,
};

#endif
