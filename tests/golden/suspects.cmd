# The exception is the SM's: the active lanes are suspects.
warpscope --no-source $DUMPS/illegal-address-sm-row.nvcudmp
