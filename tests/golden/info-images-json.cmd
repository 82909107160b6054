# An image of a program as data, and PTX.
warpscope info --json --kernel no_lines tests/data/fatbins/bare.G.lz4.fatbin
