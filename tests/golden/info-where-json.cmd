# Code, a range with its neighbours, a window and registers of addresses, as data.
for a in 0x7f2b4c0000a0 0x7f3a12000006 0x7f0402fffb84; do warpscope info --json --limit 1 examples/dumps/misaligned-G.nvcudmp where $a; done
