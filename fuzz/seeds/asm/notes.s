.arch sm_80
.extern "a b" data named "a\x20b"
.global "g@1" align 4 local named g
.u64 `("g@2"+8)
.end
.global "g@2" local named g
.zero 4
.end
.kernel k weak named "\xe9"
	.param p 8
	.bank0 0x170 6 "a b"
	.reloc 64 "a b"-0x10
	.reloc 68 +280
	.targets "x y", k
	BRX R2 -0x10
"x y":
	HFMA2.MMA R0, -RZ, RZ, -0.0 , +INF
	MOV R1, 32@hi("g@1"+4)
.inner "in\x5c" named n
	CALL.REL.NOINC `("in\x5c")
	EXIT
.end
