# of a new and of an old driver
warpscope info $DUMPS/illegal-address.nvcudmp metadata && warpscope info $DUMPS/layout-r346.nvcudmp metadata
