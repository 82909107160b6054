# the spelling of cuda-gdb; divergent lanes; no active lane is no pc
warpscope info examples/dumps/hang.nvcudmp cuda warps && warpscope info examples/dumps/hang.nvcudmp cuda warps sm 2 warp 0
