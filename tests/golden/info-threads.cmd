# neighbours at one pc are one row; without coalescing each thread is
warpscope info examples/dumps/illegal-address.nvcudmp threads && warpscope info --coalescing off examples/dumps/illegal-address.nvcudmp threads block 1 thread 33
