# A driver that did not record exceptions of SMs: nothing tells whether a thread that has left had one.
warpscope --no-source $DUMPS/exited-r550.nvcudmp && warpscope info $DUMPS/exited-r550.nvcudmp exceptions
