# No thread is left: the report works from the SM row alone.
warpscope examples/dumps/exited.nvcudmp
