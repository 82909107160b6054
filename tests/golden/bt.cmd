# frames with their arguments
warpscope bt examples/dumps/misaligned-G.nvcudmp
