# What cuda-gdb's info has and is a verb of its own here.
for table in locals args frame stack registers warp; do warpscope info examples/dumps/hang.nvcudmp $table; done
