# The cause, and the section of its own.
warpscope report examples/dumps/illegal-address.nvcudmp --no-source --memory-snapshot tests/data/torch/snapshot.pickle | sed -n "/^- likely/p;/^PyTorch's memory/,/^Call stack/p"
