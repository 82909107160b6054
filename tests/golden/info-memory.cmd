# what the focus sees; everything of one SM
warpscope info examples/dumps/misaligned-G.nvcudmp memory && warpscope info examples/dumps/misaligned-G.nvcudmp memory sm 0 lane 3
