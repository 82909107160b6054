# Xids of many kinds; only consequences; none at all
warpscope log tests/data/logs/hardware.log; echo "exit status $?"
head -n 6 tests/data/logs/hardware.log | tail -n 1 | warpscope log -; echo "exit status $?"
warpscope log tests/data/logs/README.md; echo "exit status $?"
