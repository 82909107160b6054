# a trap has no code
warpscope info $DUMPS/trap.nvcudmp exceptions
