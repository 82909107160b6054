# A dump in which nothing ran.
warpscope $DUMPS/empty.nvcudmp
