# Images of a dump answer too; their addresses are device addresses.
warpscope lines --function reduce_tiles $DUMPS/classic.nvcudmp
