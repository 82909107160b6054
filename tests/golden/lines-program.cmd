# A program of the host with two images, one chosen by its architecture; the line that both were made from.
tests/builders/host.py program "$DUMPS.host" tests/data/fatbins/bare.li.zstd.fatbin tests/data/fatbins/bare.G.lz4.fatbin; warpscope lines --source bare.cu:11 "$DUMPS.host"; warpscope lines --pc 0x20 --arch sm_90 "$DUMPS.host"; rm "$DUMPS.host"
