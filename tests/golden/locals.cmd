# a caller's variables, as saved
warpscope locals examples/dumps/misaligned-G.nvcudmp --frame 2
