# Two tables of a linked cubin: headers and every opcode.
warpscope lines --raw tests/data/cubins/linked.li.sm_90.cubin
