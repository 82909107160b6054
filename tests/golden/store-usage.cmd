# What store cannot do is said in one line each.
warpscope store
warpscope store find
warpscope store list extra
warpscope store --store /proc/nowhere add tests/data/cubins/bare.none.sm_90.cubin
warpscope store --store /proc/nowhere add LICENSE
