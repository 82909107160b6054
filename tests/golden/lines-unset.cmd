# A linker left the base of names at 0, and it cannot be found: the names are lost, not those of another object.
for ask in lines 'lines --raw'; do warpscope $ask tests/data/cubins/unset.li.sm_90.cubin | grep -E 'kernel|unset_b.cu:|base of|inlined'; done
warpscope symbolize tests/data/cubins/unset.li.sm_90.cubin second+0x60
warpscope symbolize --json tests/data/cubins/unset.li.sm_90.cubin second+0x60
warpscope run tests/data/cubins/unset.li.sm_90.cubin --kernel second --grid 1 --block 32 --arg 0 --arg 0 --arg 1 | grep -A 12 'Call stack'
