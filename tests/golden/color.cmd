# Escape sequences only when asked for.
warpscope --color always --no-source examples/dumps/exited.nvcudmp | head -6 | cat -v
