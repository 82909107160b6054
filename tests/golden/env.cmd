# CUDA's variables for dumps, and what each costs
for p in fault hang share full; do echo "$p:"; warpscope env --for $p; done
warpscope env --for full --dumps /scratch --json
long=/$(head -c 1000 /dev/zero | tr '\0' x)
warpscope env --dumps $long | grep -c "$long/core_%t_%h_%p.nvcudmp'"
for w in "--for some" "--dumps here" "--dumps /a%h" "--dumps ${long}y" "more"; do warpscope env $w | wc -c; done
