# What is wrong with dumps that were cut, a few findings of each kind; what was found again where section headers are gone; a sound dump.
warpscope check --limit 2 $DUMPS/cut-half.nvcudmp
head -c 100000 $DUMPS/headers-last.nvcudmp > "$DUMPS.cut"; warpscope check --limit 3 "$DUMPS.cut"; warpscope check --limit 1 --json "$DUMPS.cut"; rm "$DUMPS.cut"
warpscope check $DUMPS/empty.nvcudmp
