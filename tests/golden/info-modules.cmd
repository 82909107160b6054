# what each image can tell
warpscope info $DUMPS/no-lines.nvcudmp modules && warpscope info $DUMPS/illegal-address.nvcudmp modules
