# A file that no table names.
warpscope lines --source nested.hpp:12 tests/data/cubins/nested.li.sm_80.cubin
