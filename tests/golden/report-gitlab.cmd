# a finding of a hang, and none of a dump in which nothing ran
warpscope report --format gitlab examples/dumps/hang.nvcudmp; warpscope report --format gitlab $DUMPS/empty.nvcudmp
