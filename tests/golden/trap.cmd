# A trap has no exception code.
warpscope --no-source $DUMPS/trap.nvcudmp
