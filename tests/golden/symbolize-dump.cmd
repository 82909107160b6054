# Names and device addresses in a dump.
warpscope symbolize $DUMPS/classic.nvcudmp reduce_tiles+0x40 0x10
