# Constants of a bank, of a thread that is named, and a section by its number; places that are none.
D=examples/dumps/misaligned-G.nvcudmp; show() { warpscope extract -o - $D "$@" | od -An -tx1; }
show memory const0:0x160+8
show memory local:0xfffb80+4 sm 0 lane 3
show section 1 | wc -l
for place in const:0+4 constx:0+4 const4294967296:0+4 global0:0+4 code:0+4 global:0 global+4 nowhere:0+4 global:0x+4 global:0+0x; do show memory $place; done
show memory local:0xfffb80+4 sm 9
show memory global:0x7f3a12000000+4 sm x
show memory global:0x7f3a12000000+0x100000001
show section 4000
show section nothing
