# a type with its members, of words and of an expression
for t in Cursor cursor "cursor.base"; do warpscope ptype examples/dumps/misaligned-G.nvcudmp "$t" --frame 2; done; warpscope ptype --json examples/dumps/misaligned-G.nvcudmp Cursor
