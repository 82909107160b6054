# A fatbin as data.
warpscope symbolize --json tests/data/fatbins/bare.G.lz4.fatbin lookup+0x20
