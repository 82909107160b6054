# A packed fatbin: the lines of the image in it.
warpscope lines tests/data/fatbins/bare.li.zstd.fatbin
