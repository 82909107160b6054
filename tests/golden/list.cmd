# sources, and the code of a line without one
warpscope list --source-map /src/ws=. examples/dumps/misaligned-G.nvcudmp; warpscope list examples/dumps/misaligned-G.nvcudmp calls.cu:12 --json | head -40
