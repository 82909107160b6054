# Places on the command line, as data.
warpscope symbolize --json tests/data/cubins/nested.li.sm_80.cubin nested+0x20 nowhere
