# frames as data, of one thread by its coordinates
warpscope bt --json examples/dumps/misaligned-G.nvcudmp block 1 thread 0
