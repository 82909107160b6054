# an address in a range, one between ranges, one in a window, none
for a in 0x7f3a12000002 0x7f3a12000200 0x7f0402fffb84 0x1; do warpscope info examples/dumps/misaligned-G.nvcudmp where $a; done
