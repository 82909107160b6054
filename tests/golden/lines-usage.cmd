# Questions that exclude each other.
warpscope lines --raw --pc 4 tests/data/cubins/pair.li.sm_90.cubin
