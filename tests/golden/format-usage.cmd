# Formats that do not exist or contradict each other.
warpscope report --format pdf examples/dumps/hang.nvcudmp; warpscope report --json --format md examples/dumps/hang.nvcudmp
