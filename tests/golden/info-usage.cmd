# wrong words are named; exit status 2
warpscope info examples/dumps/hang.nvcudmp warps foo 3; warpscope info examples/dumps/hang.nvcudmp tables; warpscope info examples/dumps/hang.nvcudmp; warpscope info examples/dumps/hang.nvcudmp where x
