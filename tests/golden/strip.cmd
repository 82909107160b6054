# What a dump to share keeps, and what was taken away; the verdict stays.
O=$(mktemp -d) && trap 'rm -r "$O"' EXIT
warpscope strip --for-issue -o "$O/issue" $DUMPS/illegal-address.nvcudmp
warpscope report --no-source "$O/issue" | sed -n "1p;/^    memory/p"
warpscope strip --lightweight --keep global:0x7f3000000008+16 --json -o "$O/light" $DUMPS/memory.nvcudmp | sed "s,$O,OUT,"
warpscope info "$O/light" memory
