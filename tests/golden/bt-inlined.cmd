# inlined functions have numbers of their own
warpscope bt --limit 4 examples/dumps/illegal-address.nvcudmp
