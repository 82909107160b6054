# Further exceptions, grouped by kind and place.
warpscope --no-source $DUMPS/many-faults.nvcudmp
