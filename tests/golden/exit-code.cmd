# Exit statuses for scripts.
for d in illegal-address hang exited; do warpscope --exit-code examples/dumps/$d.nvcudmp > /dev/null; echo $d $?; done
