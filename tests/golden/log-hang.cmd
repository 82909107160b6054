# ranks that waited in vain, at 80 columns and as JSON
warpscope log --columns 80 tests/data/logs/hang.log; echo "exit status $?"
warpscope log --json - < tests/data/logs/hang.log; echo "exit status $?"
