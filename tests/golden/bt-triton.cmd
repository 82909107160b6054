# Triton's build with local variables: the helper is a frame, named as Triton names it, and the kernel's arguments have their values
S=$(mktemp -d) && trap 'rm -r "$S"' EXIT
CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 CUDA_COREDUMP_FILE=$S/dump warpscope run tests/data/cubins/vars.triton.sm_80.cubin --arch sm_80 --kernel add --block 128 --buffer 'x=f32[16]:1' --buffer 'y=f32[128]' --arg '&x' --arg '&y' --arg 0 --arg 0 --arg 0 > $S/page 2>&1
warpscope bt --full $S/dump
warpscope locals $S/dump --frame 1
warpscope symbolize tests/data/cubins/vars.triton.sm_80.cubin add+0x2f0
warpscope report $S/dump | sed -n '1p; /^Call stack/,/^Machine code/p; /^Signature/{n;n;p}'
