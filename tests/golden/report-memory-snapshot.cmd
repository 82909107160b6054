warpscope report examples/dumps/illegal-address.nvcudmp --no-source --memory-snapshot tests/data/torch/snapshot.pickle | sed -n "/^PyTorch's memory/,/^Call stack/p"
