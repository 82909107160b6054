# logs of a job that left no dump: the driver's lines, and those of the ranks
warpscope log tests/data/logs/kernel.log tests/data/logs/train.log; echo "exit status $?"
