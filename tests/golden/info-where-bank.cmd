# a constant bank that is in the file, one that is not; managed memory; two ranges that overlap
for a in 0x7f0500010004 0x7f0500014010 0x7f6000000010 0x7f3000010104; do warpscope info $DUMPS/memory.nvcudmp where $a 2>&1; done
