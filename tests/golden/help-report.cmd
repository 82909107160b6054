# Every option of the verb.
warpscope report --help
