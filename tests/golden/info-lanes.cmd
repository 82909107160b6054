# state, exception and thread of each lane
warpscope info examples/dumps/illegal-address.nvcudmp lanes && warpscope info examples/dumps/hang.nvcudmp lanes sm 2 warp 0 lane 1
