# expressions of variables, memory, registers
for e in cursor 'cursor.step' '&cursor' '*&cursor' '$pc' '/x $R1' 'rows * 2 + 1' 'blockIdx' 'sizeof(cursor)' '(char)rows' '*(@local int *)$R1'; do warpscope print examples/dumps/misaligned-G.nvcudmp "$e" --frame 2; done
