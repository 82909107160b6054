# windows with --wide
warpscope info --wide $DUMPS/two-devices.nvcudmp contexts
