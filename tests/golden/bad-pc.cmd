# The pc leads nowhere: the caller is the first known frame.
warpscope --no-source $DUMPS/bad-pc.nvcudmp
