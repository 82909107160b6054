# Two dumps of different faults, and one with itself.
warpscope diff --limit 3 $DUMPS/illegal-address.nvcudmp $DUMPS/memory.nvcudmp
warpscope diff $DUMPS/memory.nvcudmp $DUMPS/memory.nvcudmp
