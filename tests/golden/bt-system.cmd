# frames of a system call are not shown
warpscope bt $DUMPS/assert.nvcudmp; warpscope print $DUMPS/assert.nvcudmp /x '$pc'; warpscope info $DUMPS/assert.nvcudmp line
