# The chain of one pc, with whole names.
warpscope lines --full-names --function nested --pc 0x50 tests/data/cubins/nested.li.sm_80.cubin
