# structures that clang 22 passes by value: in a function at a generic address, in a kernel among its parameters
S=$(mktemp -d) && trap 'rm -r "$S"' EXIT
printf '\7\0\0\0\0\0\300\77' > $S/given
CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 CUDA_COREDUMP_FILE=$S/dump warpscope run tests/data/cubins/byvalue.clang.sm_80.cubin --arch sm_80 --kernel by_value --block 32 --buffer 'out=f32[32]' --arg '&out' --arg @$S/given --arg 5 > /dev/null 2>&1
warpscope bt --full $S/dump
warpscope print $S/dump own
warpscope print --lanes $S/dump own.a
warpscope print $S/dump --frame 1 given
cd $S && warpscope shell dump <<'END'
info address own
up
info address given
END
