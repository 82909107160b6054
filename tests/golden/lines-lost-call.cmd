# A row that claims to be inlined into a row that is not there: its chain ends where the call site is lost, in rows and in answers.
cp tests/data/cubins/nested.li.sm_80.cubin "$DUMPS.cubin"; printf '\177' | dd of="$DUMPS.cubin" bs=1 seek=1594 conv=notrunc status=none; warpscope lines "$DUMPS.cubin" | head -n 9; warpscope symbolize "$DUMPS.cubin" nested+0x20 nested+0x50; rm "$DUMPS.cubin"
