# One opcode of the first sequence claims to be longer than the table: the rows before it and the other sequence remain.
cp tests/data/cubins/pair.li.sm_90.cubin "$DUMPS.cubin"; printf '\377\377\003' | dd of="$DUMPS.cubin" bs=1 seek=2076 conv=notrunc status=none; warpscope lines "$DUMPS.cubin"; rm "$DUMPS.cubin"
