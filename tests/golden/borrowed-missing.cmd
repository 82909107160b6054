# A debug image that is not there.
warpscope --debug-image no-such-file examples/dumps/hang.nvcudmp
