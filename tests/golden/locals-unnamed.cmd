# a kernel without -G: parameters, and what registers hold of them
warpscope locals examples/dumps/hang.nvcudmp
