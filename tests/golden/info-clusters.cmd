# blocks of a cluster
warpscope info $DUMPS/cluster-block-gone.nvcudmp clusters && warpscope info $DUMPS/illegal-address.nvcudmp clusters
