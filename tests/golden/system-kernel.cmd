# A fault in a kernel that the driver launched itself; what only the grid's row and a lane's tell; two dumps that differ in a field.
warpscope report --brief --no-source $DUMPS/system-kernel.nvcudmp
warpscope info --json $DUMPS/system-kernel.nvcudmp kernels | jq -c '.kernels[] | [.function, .type, .launch_blocking, .parent_grid, .params_offset, .preferred_clusterDim]'
warpscope info --json $DUMPS/system-kernel.nvcudmp lanes | jq -c '[.lanes[].cc_register] | unique'
warpscope diff $DUMPS/illegal-address.nvcudmp $DUMPS/system-kernel.nvcudmp
