/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which registers each class of instruction reads and writes, over words of our own kernels. An
 * expectation lists the registers in the order of the text: class, first number, ':', how many, and
 * a letter for the role (r read, w written, u both, a address, b bank, d descriptor).
 */
#include "unit.h"

#include <warpscope/sass.h>

static const struct {
	unsigned sm;
	uint64_t word[2];
	const char *text, *operands;
} cases[] = {
	{ 75,
	  { 0x00005a0002027629, 0x000fe20000000000 },
	  "DADD R2, R2, c[0x0][0x168]",
	  "R2:2w R2:2r" },
	{ 75,
	  { 0x0000000608027c2b, 0x000fe20008000002 },
	  "DFMA R2, R8, UR6, R2",
	  "R2:2w R8:2r UR6:2r R2:2r" },
	{ 75,
	  { 0x40005a000400762a, 0x000fe20000f29400 },
	  "DSETP.LTU.OR P1, PT, R4, |c[0x0][0x168]|, P1",
	  "P1:1w P7:1w R4:2r P1:1r" },
	{ 75, { 0x0000000202047228, 0x000fe20000000000 }, "DMUL R4, R2, R2", "R4:2w R2:2r R2:2r" },
	{ 75, { 0x0000000200027310, 0x000fe20000300800 }, "F2F.F16.F64 R2, R2", "R2:1w R2:2r" },
	{ 75, { 0x0000000400047310, 0x000fe20000101800 }, "F2F.F64.F16 R4, R4", "R4:2w R4:1r" },
	{ 75,
	  { 0x0000000400047311, 0x000fe20000305900 },
	  "F2I.S64.F64.FLOOR R4, R4",
	  "R4:2w R4:2r" },
	{ 75, { 0x0000000600067311, 0x000fe20000301000 }, "F2I.U32.F64 R6, R6", "R6:1w R6:2r" },
	{ 75, { 0x0000000300087312, 0x000fe20000101800 }, "I2F.F64.U16 R8, R3", "R8:2w R3:1r" },
	{ 75, { 0x0000000400087d12, 0x000fe20008309000 }, "I2F.U64.RP R8, UR4", "R8:1w UR4:2r" },
	{ 75, { 0x0000000200027313, 0x000fe20000301800 }, "FRND.F64 R2, R2", "R2:2w R2:2r" },
	{ 75,
	  { 0x000000021a047225, 0x000fe20007800004 },
	  "IMAD.WIDE.U32 R4, P0, R26, R2, R4",
	  "R4:2w P0:1w R26:1r R2:1r R4:2r" },
	{ 75,
	  { 0x0000060002028625, 0x000fe200078e0003 },
	  "@!P0 IMAD.WIDE.U32 R2, R2, R3, c[0x0][0x18]",
	  "R2:2w R2:1r R3:1r" },
	{ 75,
	  { 0x0000000219027225, 0x000fe200008e0404 },
	  "IMAD.WIDE.U32.X R2, R25, R2, R4, P1",
	  "R2:2w R25:1r R2:1r R4:2r P1:1r" },
	{ 75,
	  { 0x0000001817047227, 0x000fe200078e0204 },
	  "IMAD.HI R4, R23, R24, R4",
	  "R4:1w R23:1r R24:1r R4:2r" },
	{ 75,
	  { 0x0000000109077824, 0x000fe200000e0605 },
	  "IMAD.X R7, R9, 0x1, R5, P0",
	  "R7:1w R9:1r R5:1r P0:1r" },
	{ 75,
	  { 0x00000008060472a5, 0x000fe2000f8e0004 },
	  "UIMAD.WIDE.U32 UR4, UR6, UR8, UR4",
	  "UR4:2w UR6:1r UR8:1r UR4:2r" },
	{ 120,
	  { 0x0000000402ff7235, 0x000fe20007800200 },
	  "IADD.64 RZ, P0, R2, R4",
	  "R255:2w P0:1w R2:2r R4:2r" },
	{ 120,
	  { 0x00000008ff087235, 0x000fe200010e0600 },
	  "IADD.64.X R8, RZ, R8, P2",
	  "R8:2w R255:2r R8:2r P2:1r" },
	{ 120,
	  { 0x000000060400720c, 0x000fe20003f15270 },
	  "ISETP.NE.S64.AND P0, PT, R4, R6, PT",
	  "P0:1w P7:1w R4:2r R6:2r P7:1r" },
	{ 120,
	  { 0x000000fd0200780c, 0x000fe20000704470 },
	  "ISETP.GT.U32.OR P0, PT, R2, 0xfd, P0",
	  "P0:1w P7:1w R2:1r P0:1r" },
	{ 120,
	  { 0x0000000604047217, 0x000fe20003ffe600 },
	  "IMNMX.S64 PT, PT, R4, R4, R6, PT, !PT",
	  "P7:1w P7:1w R4:2w R4:2r R6:2r P7:1r P7:1r" },
	{ 120, { 0x0000000400067c02, 0x000fe20008010f00 }, "MOV.64 R6, UR4", "R6:2w UR4:2r" },
	{ 120,
	  { 0x0000000406047607, 0x000fe20000000000 },
	  "SEL.64 R4, R6, R4, P0",
	  "R4:2w R6:2r R4:2r P0:1r" },
	{ 120,
	  { 0x0000000604047297, 0x000fe2000fffe0ff },
	  "UIADD3.64 UR4, UPT, UPT, UR4, UR6, URZ",
	  "UR4:2w UP7:1w UP7:1w UR4:2r UR6:2r UR255:2r" },
	{ 120, { 0x000000ff00047c82, 0x000fe20008010000 }, "UMOV.64 UR4, URZ", "UR4:2w UR255:2r" },
	{ 120,
	  { 0x0000000c04047c87, 0x000fe2000c000000 },
	  "USEL.64 UR4, UR4, UR12, !UP0",
	  "UR4:2w UR4:2r UR12:2r UP0:1r" },
	{ 120,
	  { 0x00009c400600788c, 0x000fe2000bf16270 },
	  "UISETP.GE.S64.AND UP0, UPT, UR6, 0x9c40, UPT",
	  "UP0:1w UP7:1w UR6:2r UP7:1r" },
	{ 75, { 0x00000000020673a1, 0x000fe200000e8200 }, "MATCH.ANY.U64 R6, R2", "R6:1w R2:2r" },
	{ 75,
	  { 0x0000000603027211, 0x000fe20001018cff },
	  "LEA.HI.X R2, P0, R3, R6, RZ, 0x11, P2",
	  "R2:1w P0:1w R3:1r R6:1r R255:1r P2:1r" },
	{ 75,
	  { 0x0000000405047299, 0x000fe2000800063f },
	  "USHF.L.U32 UR4, UR5, UR4, URZ",
	  "UR4:1w UR5:1r UR4:1r UR255:1r" },
	{ 100,
	  { 0x00000008020a724b, 0x000fe20000000000 },
	  "FADD2 R10, R2.F32x2.HI_LO, R8.F32x2.HI_LO",
	  "R10:2w R2:2r R8:2r" },
	{ 100,
	  { 0x0000000806067249, 0x000fe2000000000a },
	  "FFMA2 R6, R6.F32x2.HI_LO, R8.F32x2.HI_LO, R10.F32x2.HI_LO",
	  "R6:2w R6:2r R8:2r R10:2r" },
	{ 75, { 0x0000000000027805, 0x000fe20000015000 }, "CS2R R2, SR_CLOCKLO", "R2:2w" },
	{ 75, { 0x0000000000007805, 0x000fe20000005000 }, "CS2R.32 R0, SR_CLOCKLO", "R0:1w" },
	{ 75, { 0x000000000002734e, 0x000fe20000000000 }, "LEPC R2", "R2:2w" },
	{ 75, { 0xfffff36002007949, 0x000fe2000383ffff }, "BRX R2 -0xca0", "R2:2r" },
	{ 75, { 0xffffbd9002007950, 0x000fe20003c3ffff }, "RET.REL.NODEC R2 -0x4260", "R2:2r" },
	{ 75, { 0x0000000002007343, 0x000fe20003c00000 }, "CALL.ABS.NOINC R2", "R2:2r" },
	{ 75, { 0x0000002000067945, 0x000fe20003800000 }, "BSSY B6, 0x30", "B6:1w" },
	{ 75, { 0x0000000000000942, 0x000fe20003800000 }, "@P0 BREAK B0", "B0:1u" },
	{ 75, { 0x0000000206007356, 0x000fe20000000000 }, "BMOV.32 B6, R2", "B6:1w R2:1r" },
	{ 75, { 0x0000000000ff7355, 0x000fe20000100000 }, "BMOV.32.CLEAR RZ, B0", "R255:1w B0:1w" },
	{ 75, { 0x0000000300007804, 0x000fe20000000000 }, "R2P PR, R0, 0x3", "P0:7w R0:1r" },
	{ 75,
	  { 0x00000001ff127803, 0x000fe20000000000 },
	  "P2R R18, PR, RZ, 0x1",
	  "R18:1w P0:7r R255:1r" },
	{ 75,
	  { 0x000000000000781c, 0x000fe20000702072 },
	  "PLOP3.LUT P0, PT, P0, P1, PT, 0x2, 0x0",
	  "P0:1w P7:1w P0:1r P1:1r P7:1r" },
	{ 75,
	  { 0x0400000504ff7389, 0x000fe20000000006 },
	  "SHFL.UP P0, RZ, R4, R5, R6",
	  "P0:1w R255:1w R4:1r R5:1r R6:1r" },
	{ 75,
	  { 0x0000000000047886, 0x000fe200008e0100 },
	  "VOTEU.ANY UR4, UPT, P1",
	  "UR4:1w UP7:1w P1:1r" },
	{ 80,
	  { 0x00000000003f73c2, 0x000fe20000000000 },
	  "R2UR P0, URZ, R0",
	  "P0:1w UR255:1w R0:1r" },
	{ 75, { 0x0000000002027980, 0x000fe2000010e100 }, "LD.E.U8.SYS R2, [R2]", "R2:1w R2:2a" },
	{ 75,
	  { 0x0000000618187981, 0x000fe200081e6900 },
	  "LDG.E.CONSTANT.SYS R24, [R24.U32+UR6]",
	  "R24:1w R24:1a UR6:2a" },
	{ 75,
	  { 0x0000000402037981, 0x000fe2000c1ee100 },
	  "LDG.E.U8.SYS R3, [R2.64+UR4]",
	  "R3:1w R2:2a UR4:2a" },
	{ 75,
	  { 0x00000008ff027981, 0x000fe2000c1eeb00 },
	  "LDG.E.64.SYS R2, [UR8]",
	  "R2:2w UR8:2a" },
	{ 75,
	  { 0x00000000060c7381, 0x000fe200001e6d00 },
	  "LDG.E.128.CONSTANT.SYS R12, [R6]",
	  "R12:4w R6:2a" },
	{ 90,
	  { 0x0000000404047981, 0x000fe2000c1e1d00 },
	  "LDG.E.128 R4, desc[UR4][R4.64]",
	  "R4:4w UR4:2d R4:2a" },
	{ 100,
	  { 0xfe0000040c0c797e, 0x000fe20008121910 },
	  "LDG.E.ENL2.256 R16, R12, desc[UR4][R12.64]",
	  "R16:4w R12:4w UR4:2d R12:2a" },
	{ 100,
	  { 0xf800000c1410797f, 0x000fe2000f121804 },
	  "STG.E.ENL2.256 desc[UR4][R20.64], R12, R16",
	  "UR4:2d R20:2a R12:4r R16:4r" },
	{ 90,
	  { 0x0000000206007986, 0x000fe2000c101b04 },
	  "STG.E.64 desc[UR4][R6.64], R2",
	  "UR4:2d R6:2a R2:2r" },
	{ 75,
	  { 0x00000004ff007986, 0x000fe2000c10ed04 },
	  "STG.E.128.SYS [UR4], R4",
	  "UR4:2a R4:4r" },
	{ 75, { 0x00000000000c7984, 0x000fe20000001c00 }, "LDS.U.128 R12, [R0]", "R12:4w R0:1a" },
	{ 90,
	  { 0x0000000b04007988, 0x000fe20008000006 },
	  "STS.U8 [R4+UR6], R11",
	  "R4:1a UR6:1a R11:1r" },
	{ 75,
	  { 0x0000580002027b82, 0x000fe20000000a00 },
	  "LDC.64 R2, c[0x0][R2+0x160]",
	  "R2:2w R2:1a" },
	{ 100,
	  { 0x00c03200040477ac, 0x000fe20008000000 },
	  "LDCU.U8 UR4, c[0x3][UR4+0x190]",
	  "UR4:1w UR4:1a" },
	{ 100,
	  { 0x00007000ff0877ac, 0x000fe20008000c00 },
	  "LDCU.128 UR8, c[0x0][0x380]",
	  "UR8:4w" },
	{ 75, { 0x0000040000087ab9, 0x000fe20000000a00 }, "ULDC.64 UR8, c[0x0][0x10]", "UR8:2w" },
	{ 80,
	  { 0x0000000004077fae, 0x000fe20008941d48 },
	  "LDGSTS.E.BYPASS.LTC128B.128.ZFILL [R7], [R4.64], P1",
	  "R7:1a R4:2a P1:1r" },
	{ 75,
	  { 0x000000040a08738b, 0x000fe20000114506 },
	  "ATOM.E.CAS.64.STRONG.GPU P0, R8, [R10], R4, R6",
	  "P0:1w R8:2w R10:2a R4:2r R6:2r" },
	{ 90,
	  { 0x00000004080479a3, 0x000fe200081ef7c4 },
	  "ATOMG.E.ADD.F32x4.FTZ.RN.STRONG.GPU PT, R4, desc[UR4][R8.64], R4",
	  "P7:1w R4:4w UR4:2d R8:2a R4:4r" },
	{ 90,
	  { 0x0000000802ff73a9, 0x000fe200001ee90c },
	  "ATOMG.E.CAS.128.STRONG.GPU PT, RZ, [R2], R8, R12",
	  "P7:1w R255:4w R2:2a R8:4r R12:4r" },
	{ 75,
	  { 0x0001000400ff738d, 0x000fe20000008406 },
	  "ATOMS.CAS.64 RZ, [R0.X8+0x100], R4, R6",
	  "R255:2w R0:1a R4:2r R6:2r" },
	{ 90,
	  { 0x00000004080079a6, 0x000fe2000c10e584 },
	  "REDG.E.ADD.F16x8.RN.STRONG.GPU desc[UR4][R8.64], R4",
	  "UR4:2d R8:2a R4:4r" },
	{ 90,
	  { 0x00000004063f75b2, 0x000fe20008000100 },
	  "SYNCS.EXCH.64 URZ, [UR6], UR4",
	  "UR255:2w UR6:1a UR4:2r" },
	{ 75, { 0x000000000004783b, 0x000fe20000000200 }, "LDSM.16.M88.4 R4, [R0]", "R4:4w R0:1a" },
	{ 90,
	  { 0x0000000403007844, 0x000fe20000004100 },
	  "STSM.16.MT88.2 [R3], R4",
	  "R3:1a R4:2r" },
	{ 80,
	  { 0x0000000a0404723c, 0x000fe20000000808 },
	  "HMMA.16816.F16 R4, R4, R10, R8",
	  "R4:2w R4:4r R10:2r R8:2r" },
	{ 80,
	  { 0x0000000e0404723c, 0x000fe20000001808 },
	  "HMMA.16816.F32 R4, R4, R14, R8",
	  "R4:4w R4:4r R14:2r R8:4r" },
	{ 80,
	  { 0x0001130c0404723c, 0x000fe20000045a08 },
	  "HMMA.SP.16832.F32.BF16 R4, R4, R12, R8, R19, 0x1",
	  "R4:4w R4:4r R12:4r R8:4r R19:1r" },
	{ 75,
	  { 0x000000080b087237, 0x000fe2000000540c },
	  "IMMA.8816.S8.S8 R8, R11.ROW, R8.COL, R12",
	  "R8:2w R11:1r R8:1r R12:2r" },
	{ 80,
	  { 0x0000000e04047237, 0x000fe20000401c08 },
	  "IMMA.16832.S8.U8 R4, R4.ROW, R14.COL, R8",
	  "R4:4w R4:4r R14:2r R8:4r" },
	{ 80,
	  { 0x0000020c04087237, 0x000fe20000601508 },
	  "IMMA.SP.16864.S8.U8 R8, R4.ROW, R12.COL, R8, R2, 0x0",
	  "R8:4w R4:4r R12:4r R8:4r R2:1r" },
	{ 80,
	  { 0x0000000e0404723d, 0x000fe20000015408 },
	  "BMMA.168256.AND.POPC R4, R4.ROW, R14.COL, R8",
	  "R4:4w R4:4r R14:2r R8:4r" },
	{ 80,
	  { 0x000000181604723f, 0x000fe20000000004 },
	  "DMMA.884 R4, R22, R24, R4",
	  "R4:4w R22:2r R24:2r R4:4r" },
	{ 90,
	  { 0x000000201008723f, 0x000fe20000003008 },
	  "DMMA.16x8x16 R8, R16, R32, R8",
	  "R8:8w R16:16r R32:8r R8:8r" },
	{ 89,
	  { 0x000000020408727a, 0x000fe20000008c08 },
	  "QMMA.16832.F16.E4M3.E5M2 R8, R4.ROW, R2.COL, R8",
	  "R8:2w R4:4r R2:2r R8:2r" },
	{ 89,
	  { 0x0000020c0404727a, 0x000fe2000001b408 },
	  "QMMA.SP.16864.F32.E4M3.E5M2 R4, R4.ROW, R12.COL, R8, R2, 0x0",
	  "R4:4w R4:4r R12:4r R8:4r R2:1r" },
	{ 120,
	  { 0x7060060a0810747f, 0x000fe20000043e10 },
	  "OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X R16, R8, R10, R16, R6, R6, URZ",
	  "R16:4w R8:4r R10:2r R16:4r R6:1r R6:1r UR255:1r" },
	{ 90,
	  { 0x00000000081c79f3, 0x000fe2000b80281c },
	  "QGMMA.64x8x32.F32.E4M3.E5M2 R28, gdesc[UR8], R28, UP0, gsb0",
	  "R28:4w UR8:4d R28:4r UP0:1r" },
	{ 100,
	  { 0x0000000a000279ee, 0x000fe20008000000 },
	  "LDTM.16dp128bit R2, tmem[UR10]",
	  "R2:2w UR10:1a" },
	{ 100,
	  { 0x0000000c000079ed, 0x000fe2000802000a },
	  "STTM.16dp256bit tmem[UR10], R12",
	  "UR10:1a R12:4r" },
	{ 75,
	  { 0x380000080c087361, 0x000fe200019e01ff },
	  "TEX.SCR.B.LL RZ, R8, R12, R8, 2D, 0x1",
	  "R255:1w R8:1w R12:0r R8:0r" },
	{ 75,
	  { 0x7000580010027b99, 0x000fe200001f0b00 },
	  "SULD.D.BA.2D.64.STRONG.CTA.TRAP R2, [R16], 0x0, 0x58",
	  "R2:2w R16:2a" },
	{ 100,
	  { 0x00000000000a723a, 0x000fe20000004800 },
	  "MOVM.U4TO8.M832 R10, R0",
	  "R10:2w R0:1r" },
	{ 75,
	  { 0x900000000c06799a, 0x000fe200001f0905 },
	  "SULD.D.BA.2D_ARRAY.STRONG.CTA.TRAP R6, [R12], R5",
	  "R6:1w R12:3a R5:1r" },
	{ 90,
	  { 0x7000050f02007f9b, 0x000fe2000810a100 },
	  "SUST.P.2D.STRONG.SM.R.TRAP [R2], R15, UR5, 0x0",
	  "R2:2a R15:1r UR5:1r" },
	{ 120,
	  { 0x20ff04ff0c0c7f60, 0x000fe200081e03ff },
	  "TEX RZ, R12, R12, UR4, 2D, 0x3",
	  "R255:1w R12:2w R12:0r UR4:1r" },
	{ 80,
	  { 0x2000580818187b6c, 0x000fe200001e0f0a },
	  "TXD R10, R24, R24, R8, 0x0, 0x58, 2D",
	  "R10:2w R24:2w R24:0r R8:0r" },
	{ 80,
	  { 0x0000580000007b6f, 0x000fe200000001ff },
	  "TXQ RZ, R0, R0, TEX_HEADER_DIMENSION, 0x0, 0x58, 0x1",
	  "R255:1w R0:1w R0:0r" },
	{ 90,
	  { 0xe0000000081c79f0, 0x000fe2000bf0091c },
	  "HGMMA.64x8x16.F32 R28, gdesc[UR8].negA.negB.tnspA.tnspB, R28, UP0",
	  "R28:4w UR8:4d R28:4r UP0:1r" },
	{ 90,
	  { 0x00000008201c7df0, 0x000fe2000bf0181c },
	  "HGMMA.64x8x16.F32.BF16 R28, R32, gdesc[UR8], R28, UP0",
	  "R28:4w R32:4r UR8:2d R28:4r UP0:1r" },
	{ 90,
	  { 0x00000000081879f1, 0x000fe2000c7018ff },
	  "IGMMA.64x8x32.S8.U8.SAT R24, gdesc[UR8], RZ, !UPT",
	  "R24:4w UR8:4d R255:4r UP7:1r" },
	{ 90,
	  { 0x00000000040479a5, 0x000fe2000801597f },
	  "LDGMC.E.ADD.F32.RN.STRONG.SYS R4, [R4.64+URZ]",
	  "R4:1w R4:2a UR255:1a" },
	{ 100,
	  { 0x00ff0410060079ea, 0x000fe2000820000c },
	  "UTCHMMA.2CTA tmem[UR6], gdesc[UR16], tmem[UR12], tmem[UR4], idesc[UR5], UP0",
	  "UR6:1a UR16:2d UR12:1a UR4:1a UR5:1d UP0:1r" },
	{ 100,
	  { 0x0006041412007dea, 0x000fe2000800030a },
	  "UTCQMMA gdesc[UR18], gdesc[UR20], tmem[UR10], tmem[UR4], idesc[UR5], tmem[UR6], UP0",
	  "UR18:2d UR20:2d UR10:1a UR4:1a UR5:1d UR6:0a UP0:1r" },
	{ 100,
	  { 0x00000000040073ca, 0x000fe20008000000 },
	  "UGETNEXTWORKID.SELFCAST [UR4], [UR5]",
	  "UR4:1a UR5:1a" },
	{ 100, { 0x01000000ff0477ac, 0x000fe20008000a00 }, "LDCU.64 UR4, c[0x4][URZ]", "UR4:2w" },
};

static struct ws_insn decode(unsigned sm, const uint64_t word[2])
{
	uint8_t bytes[WS_SASS_BYTES];
	struct ws_insn insn;
	for (unsigned i = 0; i < WS_SASS_BYTES; i++)
		bytes[i] = (uint8_t)(word[i / 8] >> i % 8 * 8);
	ws_sass_decode(sm, bytes, &insn);
	return insn;
}

static size_t describe(const struct ws_operand *op, char *buffer, size_t size)
{
	static const char *const classes[] = {
		[WS_OPERAND_REG] = "R",    [WS_OPERAND_UREG] = "UR", [WS_OPERAND_PRED] = "P",
		[WS_OPERAND_UPRED] = "UP", [WS_OPERAND_BREG] = "B",  [WS_OPERAND_SCOREBOARD] = "SB"
	};
	static const char roles[] = {
		[WS_ROLE_READ] = 'r',         [WS_ROLE_WRITTEN] = 'w', [WS_ROLE_UPDATED] = 'u',
		[WS_ROLE_ADDRESS_BASE] = 'a', [WS_ROLE_BANK] = 'b',    [WS_ROLE_DESCRIPTOR] = 'd',
		[WS_ROLE_TARGET] = 't'
	};
	if (op->kind >= WSI_COUNT(classes))
		return 0;
	return (size_t)snprintf(buffer, size, " %s%u:%u%c", classes[op->kind], op->number,
				op->count, roles[op->role]);
}

static void registers_have_their_widths_and_roles(void **state)
{
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct ws_insn insn = decode(cases[i].sm, cases[i].word);
		struct ws_sass_style style = { .hide_unknown = true };
		struct ws_operand ops[WS_SASS_MAX_OPERANDS];
		char text[WS_SASS_TEXT_MAX], have[256] = "";
		size_t at = 0;
		ws_sass_format(&insn, 0, &style, text, sizeof text);
		size_t n = ws_sass_operands(&insn, 0, ops, WSI_COUNT(ops));
		assert_in_range(n, 0, WSI_COUNT(ops));
		for (size_t k = 0; k < n; k++)
			at += describe(&ops[k], have + at, sizeof have - at);
		assert_string_equal(text, cases[i].text);
		assert_string_equal(have + (at != 0), cases[i].operands);
	}
}

/* What follows an operand, of a constant behind its last part, of an address not at all. */
static void operands_keep_what_follows_them(void **state)
{
	static const struct {
		unsigned sm;
		const char *text, *suffixes;
	} texts[] = {
		{ 80, "HADD2 R0, |R4|.H0_H0, -R6.H1_H1", "- H0_H0 H1_H1" },
		{ 80, "HMUL2 R0, R4.H0_H0, |c[0x0] [0x160].H1_H1|", "- H0_H0 - H1_H1" },
		{ 75, "PLOP3.LUT P0, P1, P2, R4.SIGN, P3, 0x80, 0x0", "- - - SIGN - - -" },
		{ 100, "FADD2 R0, R2.F32x2.HI_LO, R4.F32", "- F32x2 F32" },
		{ 80, "I2F.U8 R0, R4.B2", "- B2" },
		{ 80, "LDS R0, [R4.X4]", "- -" },
		{ 75, "IMMA.8816.S8.S8 R0, R4.ROW, R6.COL, R8", "- ROW COL -" },
	};
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(texts); i++) {
		uint8_t bytes[WS_SASS_BYTES];
		struct ws_insn insn;
		struct ws_error err;
		struct ws_operand ops[WS_SASS_MAX_OPERANDS];
		char have[128] = "";
		size_t at = 0;
		if (ws_sass_encode(texts[i].sm, texts[i].text, 0, bytes, &err) != WS_OK)
			fail_msg("%s: %s", texts[i].text, err.message);
		ws_sass_decode(texts[i].sm, bytes, &insn);
		size_t n = ws_sass_operands(&insn, 0, ops, WSI_COUNT(ops));
		for (size_t k = 0; k < n; k++) {
			enum ws_modifier suffix = (enum ws_modifier)ops[k].suffix[0];
			const char *name = suffix ? ws_sass_modifier_name(suffix) : "-";
			at += (size_t)snprintf(have + at, sizeof have - at, " %s", name);
		}
		assert_string_equal(have + 1, texts[i].suffixes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands_keep_what_follows_them),
		cmocka_unit_test(registers_have_their_widths_and_roles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
