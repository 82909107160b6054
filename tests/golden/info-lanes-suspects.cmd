# an exception that only the SM has is that of the active lanes
warpscope info $DUMPS/illegal-address-sm-row.nvcudmp lanes
