# Host addresses: the kernel's entry and the offset tell the place.
warpscope --no-source $DUMPS/classic.nvcudmp
