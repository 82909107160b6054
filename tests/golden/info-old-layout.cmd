# what old drivers did not write is absent, not zero
warpscope info --json $DUMPS/layout-r346.nvcudmp warps | head -60 && warpscope info --wide $DUMPS/layout-r346.nvcudmp devices
