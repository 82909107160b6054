# Another dump answers otherwise; a damaged line is told and costs that call only.
sed '7s/.*/{"n":6/' fuzz/seeds/trace/client.jsonl | warpscope trace replay - examples/dumps/hang.nvcudmp
