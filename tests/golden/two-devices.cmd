# The fault is on the second device.
warpscope --no-source $DUMPS/two-devices.nvcudmp
