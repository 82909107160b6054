# Library frames, the user's line further out, sources found.
warpscope --source-map /src/ws=. examples/dumps/illegal-address.nvcudmp
