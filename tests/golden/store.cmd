# Lines are found by code: the build with lines replaces the one without, other code is refused with a count.
S=$(mktemp -d) && trap 'rm -r "$S"' EXIT
warpscope store --store "$S" list
warpscope store --store "$S" add tests/data/cubins/bare.none.sm_90.cubin
warpscope store --store "$S" find tests/data/cubins/bare.none.sm_90.cubin | sed "s,$S,STORE,"
warpscope store --store "$S" add tests/data/fatbins/bare.li.zstd.fatbin tests/data/fatbins/bare.G.lz4.fatbin
warpscope store --store "$S" add tests/data/cubins/bare.none.sm_90.cubin
(warpscope store --store "$S" list; warpscope store --store "$S" find tests/data/cubins/bare.none.sm_90.cubin) | sed "s,$S,STORE,"
warpscope store --store "$S" find --with tests/data/cubins tests/data/cubins/calls.G.sm_80.cubin
warpscope store --store "$S" find --json tests/data/cubins/pair.G.sm_90.cubin | sed "s,$S,STORE,"
