# PCI, architecture, mask of the SMs that have a block
warpscope info $DUMPS/two-devices.nvcudmp devices && warpscope info --wide $DUMPS/two-devices.nvcudmp devices
