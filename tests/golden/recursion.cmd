# Repeating frames are folded.
warpscope --no-source $DUMPS/recursion.nvcudmp
