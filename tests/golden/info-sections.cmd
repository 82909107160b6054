# kinds, links, sizes
warpscope info examples/dumps/exited.nvcudmp sections | head -20
