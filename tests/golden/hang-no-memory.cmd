# The word that all wait for is known, its value is not: global memory was left out. The heading of a triage page.
warpscope strip --skip global -o "$DUMPS.out" examples/dumps/hang.nvcudmp > "$DUMPS.txt"; warpscope report --no-source "$DUMPS.out" | grep "^    address"
warpscope triage --format html examples/dumps/hang.nvcudmp examples/dumps/exited.nvcudmp | sed -n '/<header/,/<\/header>/p'; rm "$DUMPS.out" "$DUMPS.txt"
