# parameters of a kernel of which nobody knows the types
S=$(mktemp -d) && trap 'rm -r "$S"' EXIT
printf '.arch sm_80\n.kernel k\n\t.param c 1\n\t.param s 2\n\t.param p 8\n\tBPT.TRAP 0x1\n\tEXIT\n.end\n' > $S/k.s
warpscope as -o $S/k.cubin $S/k.s
CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 CUDA_COREDUMP_FILE=$S/dump warpscope run $S/k.cubin --arch sm_80 --kernel k --arg 7 --arg -2 --arg 0xfedcba9876543210 2>&1 > $S/page | sed "s,$S,DUMPS,"
warpscope locals $S/dump
warpscope locals --json $S/dump | jq -c '.locals_why, .parameters[], .registers'
