# several lanes as data
warpscope regs --json $DUMPS/two-devices.nvcudmp warp current lane 0
