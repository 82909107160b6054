# control words, and code of a program in a fatbin
warpscope disas tests/data/cubins/bare.none.sm_80.cubin --control
