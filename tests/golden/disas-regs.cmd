# around the pc and errorpc of one thread, with the values that each instruction finds
warpscope disas --regs current --source examples/dumps/illegal-address.nvcudmp
