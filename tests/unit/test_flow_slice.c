/* SPDX-License-Identifier: Apache-2.0 */
/* Where values come from: hand-made idioms of the compiler, and the committed cubins. */
#include "assemble.h"

#include <warpscope/cubin.h>
#include <warpscope/flow.h>

#include "base/file.h"

/* ---- expressions as text ---- */

struct text {
	char at[4096];
	size_t n;
};

static void put(struct text *text, const char *format, ...) WS_PRINTF(2, 3);
static void put(struct text *text, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text->at + text->n, sizeof text->at - text->n, format, args);
	va_end(args);
	text->n = wsi_min_u64(text->n + (size_t)n, sizeof text->at - 1);
}

static void put_node(struct text *text, const struct ws_flow_slice *slice, uint16_t at);

static void put_args(struct text *text, const struct ws_flow_slice *slice,
		     const struct ws_flow_node *node, const char *name)
{
	put(text, "%s%s(", name, node->bits == 64 ? "64" : "");
	for (unsigned i = 0; i < node->n_args; i++) {
		put(text, "%s", i ? "," : "");
		put_node(text, slice, node->arg[i]);
	}
	put(text, ")");
}

/* Recursive: node numbers only grow, so it ends. */
static void put_node(struct text *text, const struct ws_flow_slice *slice, uint16_t at)
{
	static const char *const names[] = {
		"?",    "",    "",     "",     "",       "load",  "atomic", "add",   "sub", "mul",
		"shl",  "shr", "sar",  "and",  "or",     "xor",   "not",    "min",   "max", "zext",
		"sext", "low", "high", "pair", "select", "merge", "again",  "other",
	};
	const struct ws_flow_node *node = &slice->node[at];
	char name[32];
	for (unsigned i = 0; i < node->n_args; i++)
		assert_true(node->arg[i] > at && node->arg[i] < slice->n);
	if (node->op == WS_FLOW_NOTHING) {
		put(text, "?");
		assert_non_null(node->why);
	} else if (node->op == WS_FLOW_ENTRY_REG) {
		put(text, "%s%u%s", node->kind == WS_OPERAND_REG ? "R" : "UR", node->number,
		    node->bits == 64 ? ".64" : "");
	} else if (node->op == WS_FLOW_IMMEDIATE) {
		put(text, "%" PRId64, node->value);
	} else if (node->op == WS_FLOW_CONSTANT) {
		put(text, "c%u[%#" PRIx64, node->number, (uint64_t)node->value);
		for (unsigned i = 0; i < node->n_args; i++) {
			put(text, "+");
			put_node(text, slice, node->arg[i]);
		}
		put(text, "]%s", node->bits == 64 ? ".64" : "");
	} else if (node->op == WS_FLOW_SPECIAL) {
		put(text, "sr%#x", node->number);
	} else {
		snprintf(name, sizeof name, "%s", names[node->op]);
		if (node->op == WS_FLOW_LOAD || node->op == WS_FLOW_ATOMIC)
			snprintf(name, sizeof name, "%s%s%u+%" PRId64 "_", names[node->op],
				 node->is_signed ? "s" : "", node->bytes, node->value);
		put_args(text, slice, node, name);
	}
}

static void put_address(struct text *text, const struct ws_flow_slice *slice)
{
	struct ws_flow_address address;
	ws_flow_address(slice, 0, &address);
	assert_true(address.complete);
	put(text, "[");
	if (address.base != UINT16_MAX)
		put_node(text, slice, address.base);
	for (size_t i = 0; i < address.n_terms; i++) {
		put(text, " + %" PRId64 "*", address.term[i].scale);
		put_node(text, slice, address.term[i].node);
	}
	put(text, " + %" PRId64 "]", address.offset);
}

/* ---- idioms ---- */

struct idiom {
	unsigned sm;
	const char *lines[14]; /* the last one is asked */
	unsigned number, bits; /* bits 0: the address of the last instruction */
	const char *text;
};

static const struct idiom idioms[] = {
	/* numbers and copies */
	{ 80, { "MOV R2, 0x10", "MOV R3, R2", "NOP" }, 3, 32, "16" },
	{ 80, { "IMAD.MOV.U32 R3, RZ, RZ, c[0x0][0x160]", "NOP" }, 3, 32, "c0[0x160]" },
	{ 80, { "HFMA2.MMA R5, -RZ, RZ, 0, 2.384185791015625e-07", "NOP" }, 5, 32, "4" },
	{ 80, { "IADD3 R3, R2, RZ, RZ", "NOP" }, 3, 32, "R2" },
	{ 80, { "CS2R R2, SRZ", "NOP" }, 2, 64, "0" },
	{ 80, { "S2R R2, SR_TID.X", "NOP" }, 2, 32, "sr0x21" },
	{ 80, { "MOV R4, c[0x0][0x160]", "MOV R5, c[0x0][0x164]", "NOP" }, 4, 64, "c0[0x160].64" },
	{ 80,
	  { "MOV R9, c[0x0][0x164]", "MOV R4, c[0x0][0x160]", "MOV R5, R9", "NOP" },
	  4,
	  64,
	  "c0[0x160].64" },
	{ 90, { "LDC.64 R2, c[0x0][0x210]", "NOP" }, 2, 64, "c0[0x210].64" },
	{ 90, { "LDC.64 R2, c[0x0][0x210]", "NOP" }, 3, 32, "c0[0x214]" },
	{ 100,
	  { "LDCU.64 UR4, c[0x0][0x358]", "MOV R2, UR4", "MOV R3, UR5", "NOP" },
	  2,
	  64,
	  "c0[0x358].64" },
	{ 100,
	  { "LDCU.128 UR4, c[0x0][0x380]", "MOV R2, UR6", "MOV R3, UR7", "NOP" },
	  2,
	  64,
	  "c0[0x388].64" },
	{ 90, { "LDC R2, c[0x3][R4+0x8]", "NOP" }, 2, 32, "c3[0x8+R4]" },
	{ 80, { "NOP" }, 4, 64, "R4.64" },
	{ 80, { "MOV R5, RZ", "NOP" }, 4, 64, "zext64(R4)" },
	{ 80, { "NOP" }, 255, 64, "0" },
	/* arithmetic */
	{ 80, { "IADD3 R2, R3, -0x10, R4", "NOP" }, 2, 32, "add(R3,R4,-16)" },
	{ 80, { "IADD3 R2, R3, 0x5, -R4", "NOP" }, 2, 32, "sub(add(R3,5),R4)" },
	{ 80, { "IMAD R2, R3, R4, R5", "NOP" }, 2, 32, "add(mul(R3,R4),R5)" },
	{ 80, { "IMAD.SHL.U32 R2, R3, 0x4, RZ", "NOP" }, 2, 32, "mul(R3,4)" },
	{ 80, { "IMAD.IADD R2, R3, 0x1, R4", "NOP" }, 2, 32, "add(R3,R4)" },
	{ 80, { "SHF.L.U32 R2, R3, 0x4, RZ", "NOP" }, 2, 32, "shl(R3,4)" },
	{ 80, { "SHF.R.U32.HI R2, RZ, 0x5, R3", "NOP" }, 2, 32, "shr(R3,5)" },
	{ 80, { "SHF.R.S32.HI R2, RZ, 0x1f, R3", "NOP" }, 2, 32, "sar(R3,31)" },
	{ 80, { "LOP3.LUT R2, R3, 0x1f, RZ, 0xc0, !PT", "NOP" }, 2, 32, "and(R3,31)" },
	{ 80, { "LOP3.LUT R2, RZ, R3, RZ, 0x33, !PT", "NOP" }, 2, 32, "not(R3)" },
	{ 80, { "SEL R2, R3, R4, P0", "NOP" }, 2, 32, "select(R3,R4)" },
	{ 80, { "IMNMX R2, R3, 0x7, PT", "NOP" }, 2, 32, "min(R3,7)" },
	{ 80, { "LEA R2, R3, R4, 0x3", "NOP" }, 2, 32, "add(shl(R3,3),R4)" },
	{ 80, { "FADD R2, R3, R4", "NOP" }, 2, 32, "other(R3,R4)" },
	{ 90, { "VIADD R2, R3, 0x1", "NOP" }, 2, 32, "add(R3,1)" },
	/* numbers that are known */
	{ 80, { "MOV R2, 0xc", "LOP3.LUT R3, R2, 0xa, RZ, 0xc0, !PT", "NOP" }, 3, 32, "8" },
	{ 80, { "MOV R2, 0xc", "LOP3.LUT R3, R2, 0xa, RZ, 0xfc, !PT", "NOP" }, 3, 32, "14" },
	{ 80, { "MOV R2, 0xc", "LOP3.LUT R3, R2, 0xa, RZ, 0x3c, !PT", "NOP" }, 3, 32, "6" },
	{ 80, { "MOV R2, 0xc", "SHF.L.U32 R3, R2, 0x4, RZ", "NOP" }, 3, 32, "192" },
	{ 80, { "MOV R2, 0x5", "SHF.L.U32 R3, R2, 0x1e, RZ", "NOP" }, 3, 32, "1073741824" },
	{ 80, { "MOV R2, 0xc", "SHF.R.U32.HI R3, RZ, 0x2, R2", "NOP" }, 3, 32, "3" },
	{ 80, { "MOV R2, 0xc", "MOV R4, 0x5", "IADD3 R3, R2, RZ, -R4", "NOP" }, 3, 32, "7" },
	{ 80, { "MOV R2, 0xc", "MOV R4, 0x5", "IMAD R3, R2, R4, RZ", "NOP" }, 3, 32, "60" },
	{ 80,
	  { "MOV R2, 0x5", "IMAD.WIDE.U32 R4, R2, 0x40000000, RZ", "NOP" },
	  4,
	  64,
	  "5368709120" },
	{ 80, { "MOV R2, 0x5", "IMAD.WIDE.U32 R4, R2, 0x40000000, RZ", "NOP" }, 5, 32, "1" },
	{ 80,
	  { "MOV R2, 0x5", "IMAD.WIDE.U32 R4, R2, 0x40000000, RZ", "NOP" },
	  4,
	  32,
	  "1073741824" },
	{ 80, { "MOV R2, 0xffffffff", "IMAD.WIDE R4, R2, 0x4, RZ", "NOP" }, 4, 64, "-4" },
	{ 80,
	  { "MOV R2, 0xffffffff", "IMAD.WIDE.U32 R4, R2, 0x4, RZ", "NOP" },
	  4,
	  64,
	  "17179869180" },
	{ 80, { "MOV R4, 0x1", "IMAD R2, R3, R4, RZ", "NOP" }, 2, 32, "R3" },
	{ 80, { "LOP3.LUT R2, R3, RZ, RZ, 0xfc, !PT", "NOP" }, 2, 32, "R3" },
	{ 80, { "SHF.L.U32 R2, R3, RZ, RZ", "NOP" }, 2, 32, "R3" },
	/* 64 bits */
	{ 80, { "IMAD.WIDE R2, R3, 0x4, R4", "NOP" }, 2, 64, "add64(mul64(sext64(R3),4),R4.64)" },
	{ 80,
	  { "MOV R7, 0x8", "IMAD.WIDE.U32 R2, R3, R7, c[0x0][0x160]", "NOP" },
	  2,
	  64,
	  "add64(mul64(zext64(R3),8),c0[0x160].64)" },
	{ 80,
	  { "IMAD.WIDE R2, R3, 0x4, R4", "NOP" },
	  3,
	  32,
	  "high(add64(mul64(sext64(R3),4),R4.64))" },
	{ 80,
	  { "IADD3 R2, P0, R4, 0x8, RZ", "IADD3.X R3, RZ, R5, RZ, P0, !PT", "NOP" },
	  2,
	  64,
	  "add64(R4.64,8)" },
	{ 80,
	  { "IADD3 R2, P0, R4, -0x8, RZ", "IADD3.X R3, R5, -0x1, RZ, P0, !PT", "NOP" },
	  2,
	  64,
	  "add64(R4.64,-8)" },
	{ 80,
	  { "IADD3 R2, P0, R4, c[0x0][0x160], RZ", "IADD3.X R3, R9, c[0x0][0x164], RZ, P0, !PT",
	    "NOP" },
	  2,
	  64,
	  "add64(pair64(R4,R9),c0[0x160].64)" },
	{ 80,
	  { "IADD3 R2, P0, R4, -R6, RZ", "IADD3.X R3, R5, ~R7, RZ, P0, !PT", "NOP" },
	  2,
	  64,
	  "sub64(R4.64,R6.64)" },
	{ 80,
	  { "IADD3 R2, P0, R4, R6, RZ", "IMAD.X R3, R5, 0x1, R7, P0", "NOP" },
	  2,
	  64,
	  "add64(R4.64,R6.64)" },
	{ 80,
	  { "LEA R2, P0, R4, c[0x0][0x160], 0x2", "LEA.HI.X.SX32 R3, R4, c[0x0][0x164], 0x2, P0",
	    "NOP" },
	  2,
	  64,
	  "add64(shl64(sext64(R4),2),c0[0x160].64)" },
	{ 80, /* shifted by one, only the sign is left above */
	  { "IADD3 R2, P0, R4, c[0x0][0x160], RZ", "LEA.HI.X.SX32 R3, R4, c[0x0][0x164], 0x1, P0",
	    "NOP" },
	  2,
	  64,
	  "add64(sext64(R4),c0[0x160].64)" },
	{ 80, /* the compiler shifts twice what another shift is a part of */
	  { "SHF.L.U32 R0, R7, 0xc, RZ", "LEA R2, P0, R7, c[0x0][0x160], 0xd",
	    "LEA.HI.X.SX32 R3, R0, c[0x0][0x164], 0x1, P0", "NOP" },
	  2,
	  64,
	  "add64(shl64(sext64(shl(R7,12)),1),c0[0x160].64)" },
	{ 120, /* a product of 64 bits, as a product and as a shift */
	  { "IMAD.SHL.U32 R2, R4, 0x4, RZ", "IMAD.HI R3, R4, 0x4, RZ", "NOP" },
	  2,
	  64,
	  "mul64(sext64(R4),4)" },
	{ 120,
	  { "SHF.L.U32 R0, R7, 0xc, RZ", "SHF.L.U32 R2, R7, 0xd, RZ", "IMAD.HI R3, R0, 0x2, RZ",
	    "NOP" },
	  2,
	  64,
	  "mul64(sext64(shl(R7,12)),2)" },
	{ 120, /* not the half of this product */
	  { "SHF.L.U32 R0, R7, 0xc, RZ", "SHF.L.U32 R2, R7, 0xe, RZ", "IMAD.HI R3, R0, 0x2, RZ",
	    "NOP" },
	  2,
	  64,
	  "pair64(shl(R7,14),other(shl(R7,12)))" },
	{ 100, /* more above a product, added as a product by one */
	  { "IMAD.WIDE.U32 R4, R2, R7, RZ", "IMAD.IADD R10, R5, 0x1, R8", "MOV R20, R4",
	    "MOV R21, R10", "NOP" },
	  20,
	  64,
	  "add64(mul64(zext64(R2),zext64(R7)),pair64(0,R8))" },
	{ 120, { "SGXT.U32 R2, R3, 0x2", "NOP" }, 2, 32, "and(R3,3)" },
	{ 80, /* three XORs swap two registers */
	  { "LOP3.LUT R2, R2, R3, RZ, 0x3c, !PT", "LOP3.LUT R3, R2, R3, RZ, 0x3c, !PT",
	    "LOP3.LUT R2, R2, R3, RZ, 0x3c, !PT", "NOP" },
	  2,
	  32,
	  "R3" },
	{ 80,
	  { "MOV R3, c[0x0][0x160]", "MOV R2, c[0x0][0x164]", "LOP3.LUT R3, R3, R2, RZ, 0x3c, !PT",
	    "LOP3.LUT R2, R3, R2, RZ, 0x3c, !PT", "LOP3.LUT R3, R3, R2, RZ, 0x3c, !PT", "NOP" },
	  2,
	  64,
	  "c0[0x160].64" },
	{ 80, /* another register came in between: no swap */
	  { "LOP3.LUT R2, R2, R3, RZ, 0x3c, !PT", "MOV R3, R5",
	    "LOP3.LUT R3, R2, R3, RZ, 0x3c, !PT", "NOP" },
	  3,
	  32,
	  "xor(xor(R2,R3),R5)" },
	{ 80,
	  { "LEA R2, P0, R4, R6, 0x2", "LEA.HI.X R3, R4, R7, R5, 0x2, P0", "NOP" },
	  2,
	  64,
	  "add64(shl64(R4.64,2),R6.64)" },
	{ 90,
	  { "ULEA UR4, UP0, UR6, UR8, 0x2", "ULEA.HI.X UR5, UR6, UR9, UR7, 0x2, UP0", "MOV R2, UR4",
	    "MOV R3, UR5", "NOP" },
	  2,
	  64,
	  "add64(shl64(UR6.64,2),UR8.64)" },
	{ 80,
	  { "LEA R2, P0, R4, R6, 0x1", "SHF.L.U64.HI R4, R4, 0x1, R5",
	    "IADD3.X R3, R4, R7, RZ, P0, !PT", "NOP" },
	  2,
	  64,
	  "add64(shl64(R4.64,1),R6.64)" },
	{ 80, { "SHF.R.S32.HI R3, RZ, 0x1f, R2", "NOP" }, 2, 64, "sext64(R2)" },
	{ 80,
	  { "IMAD.SHL.U32 R2, R4, 0x8, RZ", "SHF.L.U64.HI R3, R4, 0x3, R5", "NOP" },
	  2,
	  64,
	  "shl64(R4.64,3)" },
	{ 80,
	  { "SHF.R.U64 R2, R4, 0x3, R5", "SHF.R.U32.HI R3, RZ, 0x3, R5", "NOP" },
	  2,
	  64,
	  "shr64(R4.64,3)" },
	{ 80,
	  { "SEL R2, R4, R6, P1", "SEL R3, R5, R7, P1", "NOP" },
	  2,
	  64,
	  "select64(R4.64,R6.64)" },
	{ 80,
	  { "LDG.E.64 R4, [R8.64]", "LOP3.LUT R4, R4, 0xfffffff0, RZ, 0xc0, !PT", "NOP" },
	  4,
	  64,
	  "and64(load8+0_64(R8.64),-16)" },
	{ 80,
	  { "IMAD.WIDE.U32 R2, R4, R5, RZ", "IMAD R3, R4, R6, R3", "NOP" },
	  2,
	  64,
	  "add64(mul64(zext64(R4),zext64(R5)),pair64(0,mul(R4,R6)))" },
	{ 100,
	  { "UIADD3.64 UR4, UPT, UPT, UR6, UR8, URZ", "MOV R2, UR4", "MOV R3, UR5", "NOP" },
	  2,
	  64,
	  "add64(UR6.64,UR8.64)" },
	{ 120, { "IADD.64 R2, R4, 0x10", "NOP" }, 2, 64, "add64(R4.64,16)" },
	/* as -G code has it: by way of copies, the halves in blocks of their own */
	{ 90,
	  { "IADD3 R6, R4, R5, RZ", "@P0 BRA 0x40", "NOP", "NOP", "MOV R7, R6", "MOV R9, R7",
	    "SHF.R.S32.HI R8, RZ, 0x1f, R9", "MOV R2, R7", "MOV R3, R8", "NOP" },
	  2,
	  64,
	  "sext64(add(R4,R5))" },
	{ 90,
	  { "MOV R6, R4", "@P0 BRA 0x30", "MOV R6, R5", "MOV R7, R6",
	    "SHF.R.S32.HI R8, RZ, 0x1f, R7", "MOV R2, R7", "MOV R3, R8", "NOP" },
	  2,
	  64,
	  "sext64(merge(R4,R5))" },
	/* what only looks like it */
	{ 80,
	  { "IADD3 R2, P0, R4, R6, RZ", "IADD3.X R3, R5, R7, RZ, P1, !PT", "NOP" },
	  2,
	  64,
	  "pair64(add(R4,R6),other(R5,R7))" },
	{ 80,
	  { "IADD3 R2, P0, R4, R6, RZ", "ISETP.GE.AND P0, PT, R8, R9, PT",
	    "IADD3.X R3, R5, R7, RZ, P0, !PT", "NOP" },
	  2,
	  64,
	  "pair64(add(R4,R6),other(R5,R7))" },
	{ 80,
	  { "LEA R2, P0, R4, R6, 0x1", "MOV R4, R9", "SHF.L.U64.HI R4, R4, 0x1, R5",
	    "IADD3.X R3, R4, R7, RZ, P0, !PT", "NOP" },
	  2,
	  64,
	  "add64(pair64(shl(R4,1),other(R9,R5)),R6.64)" },
	{ 80,
	  { "MOV R2, 0x1", "SHF.R.S32.HI R3, RZ, 0x1f, R9", "NOP" },
	  2,
	  64,
	  "pair64(1,sar(R9,31))" },
	/* memory */
	{ 80, { "LDG.E R2, [R4.64+0x10]", "NOP" }, 2, 32, "load4+0_(add64(R4.64,16))" },
	{ 80, { "LDG.E.128 R4, [R8.64]", "NOP" }, 6, 64, "load8+8_64(R8.64)" },
	{ 80,
	  { "LDG.E.128 R4, [R8.64]", "MOV R2, R4", "MOV R3, R5", "NOP" },
	  2,
	  64,
	  "load8+0_64(R8.64)" },
	{ 80, { "LDG.E.U8 R4, [R8.64]", "NOP" }, 4, 32, "load1+0_(R8.64)" },
	{ 80, { "LDS R2, [R3.X4+UR5+0x10]", "NOP" }, 2, 32, "load4+0_(add(mul(R3,4),UR5,16))" },
	{ 80, { "ATOMG.E.ADD.STRONG.GPU PT, R2, [R4.64], R6", "NOP" }, 2, 32, "atomic4+0_(R4.64)" },
	/* bytes of a register: of a load with no others they are the load */
	{ 90, { "PRMT R2, R4, 0x7770, RZ", "NOP" }, 2, 32, "and(R4,255)" },
	{ 90, { "PRMT R2, R4, 0x7772, RZ", "NOP" }, 2, 32, "and(shr(R4,16),255)" },
	{ 90, { "PRMT R2, R4, 0x7721, RZ", "NOP" }, 2, 32, "and(shr(R4,8),65535)" },
	{ 90, { "PRMT R2, RZ, 0x54, R4", "NOP" }, 2, 32, "and(R4,65535)" },
	{ 90, { "PRMT R2, R4, 0x9910, RZ", "NOP" }, 2, 32, "sar(shl(R4,16),16)" },
	{ 90, { "PRMT R2, R4, 0x9991, R6", "NOP" }, 2, 32, "sar(shl(R4,16),24)" },
	{ 90, { "PRMT R2, R4, 0x7610, R6", "NOP" }, 2, 32, "or(and(R4,65535),and(R6,-65536))" },
	{ 90,
	  { "PRMT R2, R4, 0x7610, R6", "PRMT R2, R2, 0x7710, RZ", "NOP" },
	  2,
	  32,
	  "and(R4,65535)" },
	{ 90,
	  { "PRMT R2, R4, 0x7610, R6", "PRMT R2, R2, 0x7732, RZ", "NOP" },
	  2,
	  32,
	  "and(shr(or(and(R4,65535),and(R6,-65536)),16),65535)" },
	{ 90, { "PRMT R2, R4, 0x4440, R6", "NOP" }, 2, 32, "other(R4,R6)" },
	{ 90, { "PRMT R2, R4, 0x8990, RZ", "NOP" }, 2, 32, "other(R4)" },
	{ 90, { "PRMT R2, R4, 0x770, RZ", "NOP" }, 2, 32, "other(R4)" },
	{ 80,
	  { "LD.E.U8 R4, [R8.64]", "PRMT R2, R4, 0x7770, RZ", "PRMT R2, R2, 0x7710, RZ",
	    "LOP3.LUT R2, R2, 0xff, RZ, 0xc0, !PT", "NOP" },
	  2,
	  32,
	  "load1+0_(R8.64)" },
	{ 80,
	  { "LD.E.U16 R4, [R8.64]", "PRMT R5, R4, 0x7610, R5", "PRMT R2, R5, 0x7710, RZ", "NOP" },
	  2,
	  32,
	  "load2+0_(R8.64)" },
	{ 80,
	  { "LD.E.U16 R4, [R8.64]", "PRMT R2, R4, 0x7770, RZ", "NOP" },
	  2,
	  32,
	  "and(load2+0_(R8.64),255)" },
	{ 80,
	  { "LD.E R4, [R8.64]", "PRMT R2, R4, 0x7710, RZ", "PRMT R2, R2, 0x7770, RZ", "NOP" },
	  2,
	  32,
	  "and(load4+0_(R8.64),255)" },
	{ 80,
	  { "LD.E.U8 R4, [R8.64]", "PRMT R2, R4, 0x8880, RZ", "NOP" },
	  2,
	  32,
	  "loads1+0_(R8.64)" },
	{ 80, { "STL [R1+0x8], R4", "MOV R4, RZ", "LDL R6, [R1+0x8]", "NOP" }, 6, 32, "R4" },
	{ 80,
	  { "STL.64 [R1+0x8], R4", "STL [R1+0x10], R9", "LDL.64 R6, [R1+0x8]", "NOP" },
	  6,
	  64,
	  "R4.64" },
	{ 80, { "STL.64 [R1+0x8], R4", "LDL R6, [R1+0xc]", "NOP" }, 6, 32, "R5" },
	{ 80,
	  { "STL.64 [R1+0x8], R4", "STL [R1+0xc], R9", "LDL.64 R6, [R1+0x8]", "NOP" },
	  6,
	  64,
	  "load8+0_64(add(R1,8))" },
	{ 80,
	  { "STL [R1+0x8], R4", "IADD3 R1, R1, 0x20, RZ", "LDL R6, [R1+0x8]", "NOP" },
	  6,
	  32,
	  "load4+0_(add(add(R1,32),8))" },
	/* paths and guards */
	{ 80, { "MOV R2, R4", "@P0 MOV R2, R5", "NOP" }, 2, 32, "merge(R4,R5)" },
	{ 80, { "@P0 MOV R2, R4", "@!P0 MOV R2, R5", "NOP" }, 2, 32, "merge(R4,R5)" },
	{ 80, { "MOV R2, R4", "@P0 MOV R2, R5", "@P0 FADD R9, R2, R2" }, 2, 32, "R5" },
	{ 80, { "MOV R2, R4", "@P0 MOV R2, R5", "@!P0 FADD R9, R2, R2" }, 2, 32, "R4" },
	{ 80,
	  { "MOV R2, R4", "@P0 MOV R2, R5", "ISETP.GE.AND P0, PT, R8, R9, PT",
	    "@P0 FADD R9, R2, R2" },
	  2,
	  32,
	  "merge(R4,R5)" },
	{ 80, { "MOV R2, R4", "@P0 BRA 0x40", "MOV R2, R5", "NOP", "NOP" }, 2, 32, "merge(R4,R5)" },
	{ 80,
	  { "MOV R2, R4", "MOV R3, R5", "@P0 BRA 0x60", "MOV R3, R7", "MOV R2, R6", "NOP", "NOP" },
	  2,
	  64,
	  "merge64(R4.64,R6.64)" },
	{ 80,
	  { "MOV R2, R4", "IADD3 R2, R2, 0x4, RZ", "@P0 BRA 0x10", "NOP" },
	  2,
	  32,
	  "add(merge(R4,again()),4)" },
	{ 80,
	  { "IADD3 R2, P1, R2, 0x4, RZ", "IADD3.X R3, RZ, R3, RZ, P1, !PT", "@P0 BRA 0x0", "NOP" },
	  2,
	  64,
	  "add64(merge64(R2.64,again64()),4)" },
	{ 80, { "BRA 0x20", "MOV R2, R4", "CALL.ABS.NOINC 0x0", "NOP" }, 2, 32, "R2" },
	{ 80, { "MOV R16, R3", "CALL.ABS.NOINC 0x0", "NOP" }, 16, 32, "R3" },
	{ 80, { "MOV R4, R3", "CALL.ABS.NOINC 0x0", "NOP" }, 4, 32, "?" },
	{ 80,
	  { "MOV R4, R3", "CALL.REL.NOINC 0x40", "NOP", "EXIT", "MOV R5, R3",
	    "RET.REL.NODEC R20 0x0" },
	  4,
	  32,
	  "R4" }, /* asked in the callee: its own entry */
	{ 80, { "BRA 0x20", "NOP", "NOP" }, 2, 32, "R2" },
	/* addresses */
	{ 80, { "LDS R0, [RZ]" }, 0, 0, "[ + 0]" },
	{ 80, { "ATOMS.ADD R0, [RZ], R2" }, 0, 0, "[ + 0]" },
	{ 80,
	  { "IMAD.WIDE R2, R3, 0x4, R4", "LDG.E R0, [R2.64+0x20]" },
	  0,
	  0,
	  "[R4.64 + 4*sext64(R3) + 32]" },
	{ 80,
	  { "IMAD.WIDE R2, R3, 0x4, R4", "IADD3 R2, P0, R2, -R6, RZ",
	    "IADD3.X R3, R3, ~R7, RZ, P0, !PT", "LDG.E R0, [R2.64+UR4]" },
	  0,
	  0,
	  "[ + 4*sext64(R3) + 1*R4.64 + -1*R6.64 + 1*UR4.64 + 0]" },
	{ 90, { "STS.64 [R4+UR5+0x40], R8" }, 0, 0, "[ + 1*R4 + 1*UR5 + 64]" },
	{ 90, { "LDG.E R0, desc[UR4][R2.64]" }, 0, 0, "[R2.64 + 0]" },
};

static void ask(const struct idiom *idiom, struct text *text)
{
	static struct ws_flow_slice slice;
	struct assembled code;
	struct ws_flow *flow;
	struct ws_error err;
	struct ws_span span = assemble(&code, idiom->sm, 0, idiom->lines);
	assert_int_equal(ws_flow_create(idiom->sm, span, 0, NULL, 0, &flow, &err), WS_OK);
	uint64_t pc = (code.n - 1) * WS_SASS_BYTES;
	enum ws_status st = idiom->bits ? ws_flow_slice(flow, pc, WS_OPERAND_REG, idiom->number,
							idiom->bits, &slice, &err)
					: ws_flow_slice_address(flow, pc, 0, &slice, &err);
	assert_int_equal(st, WS_OK);
	text->n = 0;
	if (idiom->bits)
		put_node(text, &slice, 0);
	else
		put_address(text, &slice);
	ws_flow_destroy(flow);
}

static void idioms_are_understood(void **state)
{
	(void)state;
	unsigned wrong = 0;
	for (size_t i = 0; i < WSI_COUNT(idioms); i++) {
		static struct text text;
		ask(&idioms[i], &text);
		if (strcmp(text.at, idioms[i].text) == 0)
			continue;
		print_error("%s (sm_%u, R%u): %s, not %s\n", idioms[i].lines[0], idioms[i].sm,
			    idioms[i].number, text.at, idioms[i].text);
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

/* A slice that goes by an instruction of which not every bit is explained says so. */
static void doubt_is_told(void **state)
{
	(void)state;
	static const struct {
		const char *first, *last;
		bool partly;
	} cases[] = {
		{ "FADD R9, R8, R6", "LDG.E R0, desc[UR4][R2.64]", false },
		{ "FADD R9, R8, R6 /* unknown bits 0x4000000000000000000000 */",
		  "LDG.E R0, desc[UR4][R2.64]", true },
		{ "MEMBAR.SC.INVALID4", "LDG.E R0, desc[UR4][R2.64]", true },
		{ "FADD R9, R8, R6", "LDG.E.INVALID7 R0, desc[UR4][R2.64]", true },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		static struct ws_flow_slice slice;
		const char *const lines[] = { cases[i].first, "IMAD.WIDE R2, R3, 0x4, R4",
					      cases[i].last, NULL };
		struct assembled code;
		struct ws_flow *flow;
		struct ws_error err;
		struct ws_span span = assemble(&code, 90, 0, lines);
		assert_int_equal(ws_flow_create(90, span, 0, NULL, 0, &flow, &err), WS_OK);
		assert_int_equal(ws_flow_slice_address(flow, 2 * WS_SASS_BYTES, 0, &slice, &err),
				 WS_OK);
		assert_int_equal(slice.partly, cases[i].partly);
		ws_flow_destroy(flow);
	}
}

/* ---- values ---- */

/* The leaf of a constant is its place times 16; of memory its address, of a register nothing. */
static bool leaf_of(void *user, const struct ws_flow_node *node, const uint64_t *argument,
		    uint64_t *ret_value)
{
	(void)user;
	*ret_value = !argument                      ? node->keep_number
		     : node->op == WS_FLOW_CONSTANT ? (uint64_t)node->value * 16
						    : *argument;
	return argument ? node->op != WS_FLOW_ENTRY_REG : node->keep_number > 0;
}

static struct ws_flow_node number_node(uint8_t bits, uint64_t value)
{
	return (struct ws_flow_node){ .op = WS_FLOW_IMMEDIATE,
				      .bits = bits,
				      .value = (int64_t)value };
}

static void operations_have_the_values_of_the_hardware(void **state)
{
	(void)state;
	const uint64_t low = UINT32_MAX, all = UINT64_MAX;
	const struct {
		enum ws_flow_op op;
		uint8_t bits;
		bool is_signed;
		uint64_t a, b, wanted;
	} rows[] = {
		{ WS_FLOW_SUB, 32, false, 5, 7, low - 1 },
		{ WS_FLOW_SUB, 64, false, 5, 7, all - 1 },
		{ WS_FLOW_MUL, 32, false, 0x10000, 0x10003, 0x30000 },
		{ WS_FLOW_MUL, 64, false, 0x10000, 0x10003, 0x100030000 },
		{ WS_FLOW_SHL, 32, false, 3, 31, 0x80000000 },
		{ WS_FLOW_SHL, 32, false, 3, 32, 0 },
		{ WS_FLOW_SHL, 64, false, 3, 63, UINT64_C(1) << 63 },
		{ WS_FLOW_SHL, 64, false, 3, 64, 0 },
		{ WS_FLOW_SHL, 64, false, 3, 65, 0 },
		{ WS_FLOW_SHR, 32, false, 0x80000000, 31, 1 },
		{ WS_FLOW_SHR, 32, false, 0x80000000, 32, 0 },
		{ WS_FLOW_SHR, 64, false, all, 63, 1 },
		{ WS_FLOW_SHR, 64, false, all, 64, 0 },
		{ WS_FLOW_SAR, 32, false, 0x80000000, 31, low },
		{ WS_FLOW_SAR, 32, false, 0x80000000, 40, low },
		{ WS_FLOW_SAR, 32, false, 0x40000000, 30, 1 },
		{ WS_FLOW_SAR, 64, false, 0x80000000, 31, 1 },
		{ WS_FLOW_SAR, 64, false, UINT64_C(1) << 63, 64, all },
		{ WS_FLOW_AND, 32, false, 0xc, 0xa, 8 },
		{ WS_FLOW_OR, 32, false, 0xc, 0xa, 14 },
		{ WS_FLOW_XOR, 32, false, 0xc, 0xa, 6 },
		{ WS_FLOW_MIN, 32, false, 1, low, 1 },
		{ WS_FLOW_MIN, 32, true, 1, low, low },
		{ WS_FLOW_MAX, 32, false, 1, low, low },
		{ WS_FLOW_MAX, 32, true, 1, low, 1 },
		{ WS_FLOW_MIN, 64, true, 1, low, 1 },
		{ WS_FLOW_MIN, 64, true, 1, all, all },
		{ WS_FLOW_PAIR, 64, false, low, 3, 3 * (low + 1) + low },
		{ WS_FLOW_NOT, 32, false, 5, 0, low - 5 },
		{ WS_FLOW_NOT, 64, false, 5, 0, all - 5 },
		{ WS_FLOW_ZEXT, 64, false, 0x80000000, 0, 0x80000000 },
		{ WS_FLOW_SEXT, 64, false, 0x80000000, 0, all - 0x7fffffff },
		{ WS_FLOW_SEXT, 64, false, 0x7fffffff, 0, 0x7fffffff },
		{ WS_FLOW_LOW, 32, false, 0x123456789, 0, 0x23456789 },
		{ WS_FLOW_HIGH, 32, false, 0x123456789, 0, 1 },
		{ WS_FLOW_ADD, 32, false, low, 2, 1 },
		{ WS_FLOW_ADD, 64, false, low, 2, low + 2 },
		{ WS_FLOW_SELECT, 32, false, 4, 4, 4 },
		{ WS_FLOW_LOAD, 32, false, 0x80, 0, 0x80 },
		{ WS_FLOW_LOAD, 32, true, 0x80, 0, low - 0x7f },
		{ WS_FLOW_LOAD, 32, true, 0x7f, 0, 0x7f },
	};
	for (size_t i = 0; i < WSI_COUNT(rows); i++) {
		bool extends = rows[i].op == WS_FLOW_ZEXT || rows[i].op == WS_FLOW_SEXT ||
			       rows[i].op == WS_FLOW_PAIR;
		bool halves = rows[i].op == WS_FLOW_LOW || rows[i].op == WS_FLOW_HIGH;
		bool one = halves || extends != (rows[i].op == WS_FLOW_PAIR) ||
			   rows[i].op == WS_FLOW_NOT || rows[i].op == WS_FLOW_LOAD;
		uint8_t bits = halves ? 64 : extends ? 32 : rows[i].bits;
		static struct ws_flow_slice slice;
		slice = (struct ws_flow_slice){ .n = 3 };
		slice.node[0] = (struct ws_flow_node){ .op = rows[i].op,
						       .bits = rows[i].bits,
						       .is_signed = rows[i].is_signed,
						       .bytes = 1,
						       .n_args = one ? 1 : 2,
						       .arg = { 1, 2 } };
		slice.node[1] = number_node(bits, rows[i].a);
		slice.node[2] = number_node(bits, rows[i].b);
		uint64_t value = 0;
		assert_true(ws_flow_value(&slice, 0, leaf_of, NULL, &value));
		if (value != rows[i].wanted)
			fail_msg("row %zu: 0x%" PRIx64, i, value);
		slice.node[1].op = WS_FLOW_ENTRY_REG; /* of which nothing is known */
		assert_false(ws_flow_value(&slice, 0, leaf_of, NULL, &value));
		slice.node[1].op = WS_FLOW_IMMEDIATE;
		slice.node[2].op = WS_FLOW_ENTRY_REG;
		assert_int_equal(ws_flow_value(&slice, 0, leaf_of, NULL, &value), one);
		assert_false(ws_flow_value(&slice, 3, leaf_of, NULL, &value));
	}
}

static void ways_that_differ_have_no_value(void **state)
{
	(void)state;
	static struct ws_flow_slice slice = { .n = 4 };
	slice.node[0] = (struct ws_flow_node){
		.op = WS_FLOW_MERGE, .bits = 32, .n_args = 3, .arg = { 1, 2, 3 }
	};
	uint64_t value;
	for (unsigned i = 1; i < 4; i++)
		slice.node[i] = number_node(32, 7);
	assert_true(ws_flow_value(&slice, 0, leaf_of, NULL, &value));
	assert_int_equal(value, 7);
	slice.node[3].value = 8;
	assert_false(ws_flow_value(&slice, 0, leaf_of, NULL, &value));
	slice.node[3].op = WS_FLOW_ENTRY_REG;
	assert_false(ws_flow_value(&slice, 0, leaf_of, NULL, &value));
	slice.node[0].n_args = 2;
	assert_true(ws_flow_value(&slice, 0, leaf_of, NULL, &value));
	slice.node[0].n_args = 0;
	assert_false(ws_flow_value(&slice, 0, leaf_of, NULL, &value));
	slice.node[0] = (struct ws_flow_node){ .op = WS_FLOW_CONSTANT, .bits = 32, .value = 3 };
	assert_true(ws_flow_value(&slice, 0, leaf_of, NULL, &value));
	assert_int_equal(value, 48);
	slice.node[0].n_args = 1;
	slice.node[0].arg[0] = 3; /* an index that is not known */
	for (unsigned i = 0; i < 2; i++) {
		slice.node[0].op = i ? WS_FLOW_LOAD : WS_FLOW_CONSTANT;
		slice.node[0].keep_count = 0;
		assert_false(ws_flow_value(&slice, 0, leaf_of, NULL, &value));
		slice.node[0].keep_count = 1; /* but the register cannot be read */
		slice.node[0].keep_number = 0;
		assert_false(ws_flow_value(&slice, 0, leaf_of, NULL, &value));
		slice.node[0].keep_number = 9;
		assert_true(ws_flow_value(&slice, 0, leaf_of, NULL, &value));
		assert_int_equal(value, 9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idioms_are_understood),
		cmocka_unit_test(doubt_is_told),
		cmocka_unit_test(operations_have_the_values_of_the_hardware),
		cmocka_unit_test(ways_that_differ_have_no_value),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
