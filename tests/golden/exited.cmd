# No thread is left: the report works from the SM row alone.
warpscope --no-source examples/dumps/exited.nvcudmp
