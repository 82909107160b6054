# a function around an offset, with lines and words
warpscope disas tests/data/cubins/pair.li.sm_90.cubin --pc 0x40 --source --hex
