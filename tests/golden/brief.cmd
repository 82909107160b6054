# The first screen of the page: the sample in README.md.
warpscope --brief examples/dumps/illegal-address.nvcudmp
