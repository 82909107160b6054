# SMs of the focus's device; those of all; --wide tells of exceptions
warpscope info $DUMPS/two-devices.nvcudmp sms && warpscope info --wide $DUMPS/two-devices.nvcudmp sms device all
