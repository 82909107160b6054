.regs 4
.arch sm_80x
.arch sm_80
.global g align 3
.end
.kernel k
	.param p 4 at 0x10000
	.shared s 4096k
	MOV R1, `(nowhere)
	FOO R1
	IADD3 R0, R1, R2, R3, R4
	MOV R1, R2 ; MOV R3, R4
	MOV R1, `(g)
	MOV R1, 32@lo(p)
	.frobnicate
	MOV R1, R2 /* not closed
again:
again:
	.end now
.func f
	.param q 4
.u32 1
.end
.func k
