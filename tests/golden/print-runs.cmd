# lanes in a row that have one value or numbers of one step are one run
D=examples/dumps/illegal-address.nvcudmp
RUN='[.runs[] | [.lane, .to_lane, .count, .value, .to_value, .step, .outlier, .current]], [.min, .max, .usual, .lanes, .without_value]'
for e in "threadIdx.x % 16 / 8" "threadIdx.x == 45 ? 7 : 2" "threadIdx.x < 47 ? 7 : 2" "threadIdx.x < 48 ? 7 : 2" "threadIdx.x & 7 ? 3.5 : -1" "threadIdx.x > 60 ? threadIdx.x : 0" "threadIdx.x > 61 ? threadIdx.x : 0" "(threadIdx.x & 7) * (threadIdx.x & 7)" "threadIdx.x & 1 ? 5 : threadIdx.x" "threadIdx.x - 40" "(int)threadIdx.x - 40" "(threadIdx.x & 15) * -3.25" "arg0"; do echo "$e"; warpscope print --lanes --json $D "$e" | jq -c "$RUN"; done
warpscope print --lanes --json $D "blockIdx.x * 1000 + threadIdx.x" kernel 0 | jq -c '.runs[] | [.blockIdx, .threadIdx, .to_blockIdx, .to_threadIdx, .count, .value, .to_value]'
warpscope print --lanes $D "threadIdx.x & 24 ? -1.5 : 8"
warpscope print --lanes $D "(int)threadIdx.x == 40 ? -1 : 9"
warpscope print --lanes $D "threadIdx.x == 40 ? -1 : 9u"
warpscope print --lanes $D /x threadIdx.x warp 0
warpscope print --lanes --json examples/dumps/misaligned-G.nvcudmp at | jq -c "$RUN"
warpscope print --lanes examples/dumps/misaligned-G.nvcudmp total --frame 3
for w in "1 sm 77" "1 nothing" "nobody"; do warpscope print --lanes $D $w; echo "exit status $?"; done
