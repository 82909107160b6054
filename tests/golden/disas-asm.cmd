# text that can be assembled again: labels, functions in their kernel's section, relocations
warpscope disas --asm --function _Z6linkedPfPKfi tests/data/cubins/linked.li.sm_80.cubin; warpscope disas --asm tests/data/cubins/bare.none.sm_90.cubin | grep -v NOP
