# several lanes as data
warpscope regs --json $DUMPS/two-devices.nvcudmp warp 1 lane 0
