# formats of gdb over the spaces
D=examples/dumps/misaligned-G.nvcudmp
for a in "global:0x7f3a12000002 /4xw" "global:0x7f3a12000000 /2dg" "param:0x160 /3a" "const:0x160 /2xg" "local:0xfffb80 /4tb" "code:0x7f2b4c0000a0 /2xg" "0x7f0402fffb80 /2uh" "global:0x7f3a12000000 /3f" "global:0x7f3a12000000 /4c" "global:0x7f3a12000000 /2s" "global:0x7f3a12000000 /o 3" "local:0xfffb80 /xw 2 lane 5"; do
	echo "> $a"; warpscope mem $D $a
done
