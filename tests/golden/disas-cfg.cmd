# basic blocks as text and as a graph
warpscope disas --cfg --function no_lines tests/data/cubins/bare.none.sm_80.cubin; warpscope disas --cfg -Tdot --function no_lines tests/data/cubins/bare.none.sm_80.cubin
