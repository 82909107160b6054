# an address in the shared window of another block of the cluster
warpscope info examples/dumps/hang.nvcudmp where 0x7f0401000010
