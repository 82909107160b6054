# host addresses: the kernel is known by its entry
warpscope bt $DUMPS/classic.nvcudmp; warpscope info $DUMPS/classic.nvcudmp symbol '$pc'
