# the same as data
warpscope locals --json examples/dumps/misaligned-G.nvcudmp --frame 2
