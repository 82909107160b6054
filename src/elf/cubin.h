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
	WSI_SHT_NV_INIT_REL = 0x70000008,   /* .nv.global.init of an object */
	WSI_SHT_NV_SHARED_REL = 0x7000000a, /* .nv.shared.F of an object */
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
	WSI_STT_CUDA_TEXTURE = 10, /* types of symbols */
	WSI_STT_CUDA_SURFACE = 12,
	WSI_STT_CUDA_OBJECT = 13, /* a variable, before linking */
};

enum {
	WSI_STO_CUDA_MANAGED = 0x04, /* of a variable [measured: nvcc 13.0] */
	WSI_STO_CUDA_ENTRY = 0x10,   /* st_other of a kernel */
	WSI_STO_CUDA_GLOBAL = 0x20,  /* of a variable of an object */
	WSI_STO_CUDA_SHARED = 0x40,
	WSI_STO_CUDA_CONSTANT = 0x80,
};

/* Relocations. Those of code fill a field: its bits in the instruction are in src/cubin/relocs.c.
 */
enum {
	WSI_R_CUDA_32 = 1,
	WSI_R_CUDA_64 = 2,
	WSI_R_CUDA_G32 = 3, /* generic address of a variable */
	WSI_R_CUDA_G64 = 4,
	WSI_R_CUDA_ABS32 = 55,          /* offset in shared memory, or a size */
	WSI_R_CUDA_ABS32_LO_32 = 56,    /* lower half of an address */
	WSI_R_CUDA_ABS32_HI_32 = 57,    /* upper half */
	WSI_R_CUDA_ABS47_34 = 58,       /* address / 4 of CALL.ABS; up to sm_89 */
	WSI_R_CUDA_CONST_OFFSET = 59,   /* offset in constant bank 3 */
	WSI_R_CUDA_FUNC_DESC32_LO = 62, /* lower half of a kernel's descriptor */
	WSI_R_CUDA_FUNC_DESC32_HI = 63, /* upper half */
	WSI_R_CUDA_CONST19_40 = 64,     /* bank and offset / 4 of a constant operand */
	WSI_R_CUDA_TEXTURE14_40 = 65,   /* offset / 4 in constant bank 0, of a texture or surface */
	WSI_R_CUDA_CONST21_38 = 66,     /* bank and offset of LDC, ULDC */
	WSI_R_CUDA_ABS24_40 = 74,       /* offset in shared memory, in an address */
	WSI_R_CUDA_ABS55_16_34 = 75,    /* address / 4 of CALL.ABS; from sm_90 */
	WSI_R_CUDA_ABS20_44 = 100,      /* offset in shared memory, of LDGSTS */
	WSI_R_CUDA_UNIFIED_LO_32 = 112, /* lower half of a function's place in the unified table */
	WSI_R_CUDA_UNIFIED_HI_32 = 113, /* upper half */
	WSI_R_CUDA_UNIFIED_CALL = 114,  /* the table's own offset in CALL.ABS */
	WSI_R_CUDA_CONST22_37 = 115,    /* bank and offset of LDCU */
};

/* Attributes. The format (1 none, 2 and 3 a value in two bytes, 4 bytes with their length) goes
 * with the number. The names are those that cuobjdump prints. */
enum {
	WSI_NV_MAX_THREADS = 0x05, /* three dimensions */
	WSI_NV_PARAM_CBANK = 0x0a,
	WSI_NV_EXTERNS = 0x0f,
	WSI_NV_REQNTID = 0x10, /* the same */
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
	WSI_NV_CTA_PER_CLUSTER = 0x3d, /* three dimensions */
	WSI_NV_KPARAM_INFO_V2 = 0x45,
	WSI_NV_NUM_BARRIERS = 0x4c,
};

/* What a record of a parameter says of a pointer: the kind of memory, if PTX declares it. */
enum {
	WSI_NV_POINTER_LOCAL = 1,
	WSI_NV_POINTER_SHARED = 2,
	WSI_NV_POINTER_CONST = 3, /* up to sm_89; later 4 */
	WSI_NV_POINTER_GLOBAL = 4,
	WSI_NV_POINTER_GENERIC = 5,
};

/* Parameters of more bytes begin elsewhere in bank 0 up to sm_89, and have records of the second
 * kind. */
enum { WSI_NV_PARAMS_SHORT = 4352, WSI_NV_PARAMS_LONG_BASE = 0x1a80 };

enum {
	WSI_NOTE_TKINFO = 2000,
	WSI_NOTE_CUINFO = 1000,
};

#endif
