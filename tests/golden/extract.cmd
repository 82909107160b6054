# Parts of a dump as they are: an image by number and by identity, PTX, memory, a section; what is not there.
warpscope extract -o - $DUMPS/memory.nvcudmp image 0 | sha256sum
warpscope extract -o - $DUMPS/memory.nvcudmp image eeba751a | sha256sum
warpscope extract -o - $DUMPS/misaligned-G.nvcudmp ptx 0 | sed -n 1,14p
warpscope extract -o - $DUMPS/memory.nvcudmp memory global:0x7f3000001000+16 | od -An -tx1
warpscope extract -o - $DUMPS/memory.nvcudmp memory shared:0+16 | od -An -tx1
warpscope extract -o - $DUMPS/memory.nvcudmp section .cudbg.devtbl | wc -c
warpscope extract -o - $DUMPS/memory.nvcudmp image 7
warpscope extract -o - $DUMPS/memory.nvcudmp memory global:0x10+4
warpscope extract $DUMPS/memory.nvcudmp image 0
