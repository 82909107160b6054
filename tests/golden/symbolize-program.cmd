# Places in a program of the host, as the lines of a trace; the first image that has the function answers.
tests/builders/host.py program "$DUMPS.host" tests/data/fatbins/bare.li.zstd.fatbin tests/data/fatbins/bare.G.lz4.fatbin; printf 'no_lines+0x10\nlookup\nno_lines+0x10000\nnothing\n' | warpscope symbolize "$DUMPS.host"; rm "$DUMPS.host"
