# one lane, chosen registers as data
warpscope regs --json examples/dumps/illegal-address.nvcudmp R4 P0 UR9 R77
