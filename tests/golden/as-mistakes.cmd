# every mistake of a text, with its line and column
warpscope as tests/data/assembly/mistakes.s -o /dev/null
