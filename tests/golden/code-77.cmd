# A code that this version does not know is shown, not dropped.
warpscope --no-source $DUMPS/code-77.nvcudmp
