# Wrong use: no output, the input as output, a range that is none.
warpscope strip $DUMPS/bad-pc.nvcudmp
warpscope strip -o $DUMPS/bad-pc.nvcudmp $DUMPS/bad-pc.nvcudmp
warpscope strip -o /dev/null $DUMPS/bad-pc.nvcudmp
warpscope strip -o x --keep global:5 $DUMPS/bad-pc.nvcudmp
