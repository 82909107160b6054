# A relocatable object: offsets count in sections that nvlink has not placed yet.
warpscope lines --function other tests/data/cubins/link_b.li.sm_80.cubin
