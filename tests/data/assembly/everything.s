// Every directive and every kind of name. It need not do anything sensible.
.arch sm_80

.extern vprintf
.const factors align 16
	.u32 1, 2, 0xffffffff, -1
	.u8 7
.end
.global table
	.u16 0x1234
	.zero 6
	.u64 `(leaf+0x10), `(factors)
.end
.global zeros align 256
	.zero 1024
.end

.kernel saxpy			/* y[i] = a * x[i] + y[i] */
	.regs 16
	.barriers 2
	.param n 4
	.param a 4
	.param x 8
	.param odd 12
	.param y 8 at 40
	.shared tile 512
	.shared extra 5 align 32
	.frame 16
	.stack 48
	S2R R0, SR_CTAID.X /* stall 2 wr 0 */
	S2R R3, SR_TID.X /* stall 4 yield wr 0 */
	IMAD R0,R0,c[0x0][0x0],R3 ; /* stall 5 yield wait 0x1 */
	ISETP.GE.AND P0, PT, R0, c[0x0][`(n)], PT
	@P0 BRA `(out)
	LDS R4, [`(tile+4)]
	LDS R5, [ `(extra) ]
	MOV R6, c[0x3][`(factors+4)]
	MOV R8, 32@lo(table+8)
	MOV R9, 32@hi(table+8)
	MOV R20, 32@lo(back)
	MOV R21, 32@hi(back)
	CALL.ABS.NOINC `(leaf)
back:	MOV R20, `(again)
	CALL.REL.NOINC `($saxpy$inner)
again: here_too:
	/* a remark */ .word 0x000fc000000000000000000000007918 ; // NOP
	MOV R4, 32@lo(vprintf)
	DEPBAR.LE SB0, 0x0, {5,2}
out:	EXIT
spin:	BRA `(spin)
.inner $saxpy$inner
	.frame 8
	RET.REL.NODEC R20 `(saxpy)
.end

.func leaf
	FADD.FTZ R4, R4, -1 ;
	RET.ABS.NODEC R20 0x0
.end

.func helper weak
	EXIT
.end
.func hidden local
	EXIT
.end
