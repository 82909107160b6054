# Places on standard input, in every way a person writes them; three are unknown.
printf 'nested+0x50\nscale\n_Z5otherPfi+0x100\nsymbol+1\nother(float*, int)+256\n' | warpscope symbolize tests/data/cubins/link_b.li.sm_90.cubin
