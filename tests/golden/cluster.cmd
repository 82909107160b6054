# Cluster faults know neither instruction nor lane; the two numberings differ.
warpscope --no-source $DUMPS/cluster-block-gone.nvcudmp
