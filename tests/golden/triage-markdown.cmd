# the same for an issue tracker
warpscope triage --format md examples/dumps/hang.nvcudmp examples/dumps/illegal-address.nvcudmp
