# The same as JSON: no lane, no kernel, and why.
warpscope report --json --no-source examples/dumps/exited.nvcudmp
