# No line information: the page says how to get some.
warpscope $DUMPS/no-lines.nvcudmp
