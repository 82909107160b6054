# which frames, and what is shown of each
D=examples/dumps/misaligned-G.nvcudmp
for o in "--limit 2" "--limit 4" "--limit 3 --outer 2" "--outer 1" "--outer 9 --limit 1" "--limit 0" "--frame-arguments all --limit 2" "--frame-arguments none --limit 2" "--frame-arguments presence --limit 2" "--frame-arguments some"; do echo "$o:"; warpscope bt $o $D; done
warpscope bt --full --limit 2 $D
warpscope bt --full --outer 2 examples/dumps/illegal-address.nvcudmp
warpscope bt --json --full --limit 3 --outer 2 $D | jq -c '.frames[] | [.level, .locals[].name]'
warpscope bt --json --limit 3 $D | jq -c .left_out
warpscope bt --json --full --limit 1 examples/dumps/illegal-address.nvcudmp | jq -c '.frames[] | del(.pc)'
warpscope bt $DUMPS/bad-pc.nvcudmp
warpscope bt --json --full $DUMPS/bad-pc.nvcudmp | jq -c '.frames[]'
