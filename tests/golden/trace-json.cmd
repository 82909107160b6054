# The same as data, and what two traces have in common.
sed '7d' fuzz/seeds/trace/client.jsonl | warpscope trace --json diff fuzz/seeds/trace/client.jsonl -
