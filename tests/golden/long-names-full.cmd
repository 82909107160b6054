# ... and is whole with --full-names.
warpscope --no-source --full-names $DUMPS/long-names.nvcudmp | grep '^    kernel' | wc -c
