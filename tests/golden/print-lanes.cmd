# one expression in all lanes of a warp
warpscope print --lanes examples/dumps/illegal-address.nvcudmp 'threadIdx.x % 8'; warpscope print --lanes --json examples/dumps/misaligned-G.nvcudmp 'step' --frame 3
