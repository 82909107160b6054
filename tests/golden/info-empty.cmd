# the sentences of empty tables
for t in devices contexts modules kernels sms blocks clusters warps lanes threads barriers exceptions; do warpscope info $DUMPS/empty.nvcudmp $t; done
