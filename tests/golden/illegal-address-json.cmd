# The same as JSON, without sources.
warpscope report --json --no-source examples/dumps/illegal-address.nvcudmp
