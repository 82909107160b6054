# What was written from a cut dump says that something is missing.
O=$(mktemp -d) && trap 'rm -r "$O"' EXIT
warpscope strip -o "$O/whole" $DUMPS/cut-late.nvcudmp
warpscope info "$O/whole" metadata 2>/dev/null | grep Complete
warpscope check "$O/whole" 2>&1 | sed "s,$O,OUT,"
