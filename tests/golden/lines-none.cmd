# No lines: why, and what to do.
warpscope lines tests/data/cubins/bare.none.sm_90.cubin
