# a record a dump, without what only this file has
warpscope triage --jsonl examples/dumps/hang.nvcudmp examples/dumps/illegal-address.nvcudmp | jq -c "del(.key, .written)" | sort
