# the same as data, and a kernel whose registers do not have what the code says
warpscope locals --json examples/dumps/hang.nvcudmp
warpscope locals examples/dumps/illegal-address.nvcudmp --frame 8
