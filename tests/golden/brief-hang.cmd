# Of a hang, who waits for what is the cause.
warpscope report --brief --format md examples/dumps/hang.nvcudmp
