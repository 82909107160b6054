# threads and blocks of three dimensions, x fastest
warpscope info $DUMPS/three-dimensions.nvcudmp threads; warpscope info $DUMPS/three-dimensions.nvcudmp blocks
