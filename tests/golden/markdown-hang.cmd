# The same without an exception, written to a file.
mkdir -p "$DUMPS" && warpscope report --format md -o "$DUMPS/page.md" examples/dumps/hang.nvcudmp && cat "$DUMPS/page.md"
