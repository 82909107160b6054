# The same as data.
warpscope diff --json --limit 1 $DUMPS/illegal-address.nvcudmp $DUMPS/memory.nvcudmp
