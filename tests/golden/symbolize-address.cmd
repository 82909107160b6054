# A device address in an image of a dump.
warpscope symbolize $DUMPS/illegal-address.nvcudmp $(warpscope --json $DUMPS/illegal-address.nvcudmp | sed -n 's/.*"pc": "\(0x[0-9a-f]*\)".*/\1/p' | head -n 1)
