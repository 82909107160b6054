# several lanes: a table with a row for each, chosen registers; a register that is not there
warpscope regs examples/dumps/illegal-address.nvcudmp R4-R6 P0 UR4,R200 warp current
