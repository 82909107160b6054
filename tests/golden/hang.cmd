# No exception: the groups tell where everybody waits.
warpscope --source-map /src/ws=. examples/dumps/hang.nvcudmp
