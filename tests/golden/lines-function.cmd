# A callee that was not inlined lies inside its kernel's section and sequence.
warpscope lines --function fold tests/data/cubins/calls.li.sm_90.cubin
