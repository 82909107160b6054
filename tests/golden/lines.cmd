# Two sequences, one of them with inlined calls; rows that cover nothing are call sites.
warpscope lines tests/data/cubins/pair.li.sm_90.cubin
