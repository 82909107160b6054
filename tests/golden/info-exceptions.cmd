# every exception; the row of an SM alone
warpscope info $DUMPS/two-devices.nvcudmp exceptions && warpscope info examples/dumps/exited.nvcudmp exceptions
