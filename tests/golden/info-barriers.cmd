# who is blocked where
warpscope info examples/dumps/hang.nvcudmp barriers && warpscope info examples/dumps/hang.nvcudmp barriers sm all warp 1
