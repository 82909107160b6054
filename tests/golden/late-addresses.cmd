# a fault that is reported late: the address register has another value, and the code before tells what it had
S=$(mktemp -d) && trap 'rm -r "$S"' EXIT
printf '.arch sm_80\n.kernel k\n\t.param p 8\n\tS2R R0, SR_TID.X\n\tMOV R2, c[0x0][0x160]\n\tMOV R3, c[0x0][0x164]\n\tIMAD.WIDE.U32 R4, R0, 0x8, R2\n\tLDG.E R6, [R4.64+0x10]\n\tMOV R4, 0x1\n\tMOV R5, 0x2\n\tMOV R7, 0x2\n\tEXIT\n.end\n' > $S/k.s
warpscope as -o $S/k.cubin $S/k.s
CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 CUDA_COREDUMP_FILE=$S/dump warpscope run $S/k.cubin --arch sm_80 --kernel k --arg 0x10 --block 4 --late 3 > $S/page 2>&1
grep '^    \(address\|base\|suspects\|addresses\) ' $S/page
warpscope report --json $S/dump | jq -c '.exceptions[0].accesses[0] | .lanes_known, .lanes_guess, .address'
