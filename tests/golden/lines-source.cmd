# Every instance of an inlined line, and code that was inlined into it.
warpscope lines --source nested.h:12 tests/data/cubins/nested.li.sm_80.cubin
