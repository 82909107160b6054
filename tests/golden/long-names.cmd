# A name of 4 kB stays usable in the page.
warpscope --no-source $DUMPS/long-names.nvcudmp
