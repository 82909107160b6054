# the same rows as data
warpscope info --json examples/dumps/hang.nvcudmp threads && warpscope info --json examples/dumps/exited.nvcudmp exceptions && warpscope info --json examples/dumps/hang.nvcudmp kernels
