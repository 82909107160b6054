# a job of four ranks of which two left a dump
S=$(mktemp -d) && trap 'rm -r "$S"' EXIT
cp examples/dumps/illegal-address.nvcudmp "$S/core_r2_1751371200_node0_77.nvcudmp"
cp examples/dumps/hang.nvcudmp "$S/core_r3_1751371200_node0_78.nvcudmp"
warpscope triage "$S" | sed "s,$S,JOB,"
