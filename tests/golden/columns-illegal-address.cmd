# What a terminal of 80 columns shows.
warpscope --brief --columns 80 examples/dumps/illegal-address.nvcudmp
