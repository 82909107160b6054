# a row that contradicts others is marked, in text and as data
warpscope info $DUMPS/sparse-levels.nvcudmp warps sm 22 && warpscope info --json $DUMPS/sparse-levels.nvcudmp warps sm 22
