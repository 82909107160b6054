# a pc: module, function, line, chain, registers
warpscope info examples/dumps/illegal-address.nvcudmp where 0x7f2b4c0009f0
