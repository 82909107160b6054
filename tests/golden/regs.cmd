# one lane: pc, errorpc, R, P, UR, UP, barriers
warpscope regs examples/dumps/misaligned-G.nvcudmp
