#!/bin/sh
# Builds the benchmark dumps once and runs the benchmarks over them. usage: bench/run.sh BUILD [--smoke]
set -eu
here=$(dirname "$0")
dumps=$1/bench/dumps
mkdir -p "$dumps"
dump() { # NAME GENERATOR-ARGUMENTS...
	name=$1
	shift
	[ -e "$dumps/$name.nvcudmp" ] || "$here/gen_huge.py" "$@" "$dumps/$name.nvcudmp"
}
ninja -C "$1" bench/bench-core >/dev/null
dump 1k --busy-sms 1 --ctas-per-sm 4
dump 10k --busy-sms 5
sync # pages of a file that are not written yet would count as memory of the reader
if [ "${2:-}" = --smoke ]; then
	exec "$1/bench/bench-core" "$dumps/1k.nvcudmp" "$dumps/10k.nvcudmp"
fi
dump 100k --busy-sms 49
dump 270k
dump 2.1M --devices 8
exec "$1/bench/bench-core" "$dumps/1k.nvcudmp" "$dumps/10k.nvcudmp" "$dumps/100k.nvcudmp" "$dumps/270k.nvcudmp" \
	"$dumps/2.1M.nvcudmp"
