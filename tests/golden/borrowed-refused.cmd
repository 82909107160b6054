# A debug image that does not help, and why.
warpscope --no-source --debug-image tests/data/cubins/bare.none.sm_80.cubin $DUMPS/no-lines.nvcudmp | grep missing
