# several dumps: bugs, and which dump to read
warpscope triage examples/dumps/exited.nvcudmp examples/dumps/hang.nvcudmp examples/dumps/illegal-address.nvcudmp examples/dumps/misaligned-G.nvcudmp
