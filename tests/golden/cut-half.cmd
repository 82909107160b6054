# A cut dump: what is left, what is lost.
warpscope --no-source $DUMPS/cut-half.nvcudmp
