# Return addresses become caller frames.
warpscope --source-dir . examples/dumps/misaligned-G.nvcudmp
