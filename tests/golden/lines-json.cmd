# Rows as data.
warpscope lines --json tests/data/cubins/longname.li.sm_90.cubin
