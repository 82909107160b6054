# Lines of a -lineinfo build, proven to be the same code.
warpscope --source-map /src/ws=. --debug-image tests/data/fatbins/bare.li.zstd.fatbin $DUMPS/no-lines.nvcudmp
