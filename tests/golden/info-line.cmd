# what gdb's info says of code and names
for w in "line" "line calls.cu:30" "symbol 0x7f2b4c000a60" "scope fold" "address step --frame 3" "types ^C" "functions s" "source"; do warpscope info examples/dumps/misaligned-G.nvcudmp $w; done; warpscope info --json examples/dumps/misaligned-G.nvcudmp line
