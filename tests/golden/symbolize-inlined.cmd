# calls that only the debug information tells: nvcc -G, and clang
warpscope symbolize --arch sm_90 tests/data/sim/inlined.G.fatbin scaled+0x300 inlined+0x900 inlined+0x0
warpscope symbolize tests/data/cubins/inlined.clang.sm_80.cubin fetches+0xa00 fetches+0x8a0 fetches+0xc70
