# newest first, as cuda-gdb; those without a block last
warpscope info $DUMPS/two-kernels.nvcudmp kernels && warpscope info --wide $DUMPS/two-kernels.nvcudmp kernels kernel 0
