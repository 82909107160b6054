# Rows that are folded.
warpscope info --columns 60 examples/dumps/illegal-address.nvcudmp threads && warpscope info --columns 80 examples/dumps/hang.nvcudmp kernels
