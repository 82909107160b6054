# joined and one by one
warpscope info examples/dumps/illegal-address.nvcudmp blocks && warpscope info --coalescing off examples/dumps/illegal-address.nvcudmp blocks sm 2
