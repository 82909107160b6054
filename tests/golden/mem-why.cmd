# four answers: bytes, never mapped, left out by a flag, damaged
warpscope mem examples/dumps/misaligned-G.nvcudmp global:0x7f3a120001f8 /4xw
warpscope mem examples/dumps/misaligned-G.nvcudmp global:0x10
warpscope mem --json examples/dumps/misaligned-G.nvcudmp global:0x7f3a120001f8 /4xw
warpscope mem $DUMPS/lightweight.nvcudmp global:0x7f3a12000000
warpscope mem $DUMPS/lightweight.nvcudmp shared:0
warpscope mem $DUMPS/cut-late.nvcudmp local:0xfffb80
