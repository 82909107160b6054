#!/bin/sh
# Builds the benchmark dumps once and runs the benchmarks over them. usage: bench/run.sh BUILD [--smoke]
set -eu
here=$(dirname "$0")
dumps=$1/bench/dumps
mkdir -p "$dumps"
functions() { # a dump of 3,000 functions: for look-ups of symbols and code
	dump functions --busy-sms 1 --ctas-per-sm 1 --memory 1 --functions 300 --modules 11
	"$bench/bench-cudbg" "$dumps/functions.nvcudmp"
}
dump() { # NAME GENERATOR-ARGUMENTS...
	name=$1
	shift
	[ -e "$dumps/$name.nvcudmp" ] || "$here/gen_huge.py" "$@" "$dumps/$name.nvcudmp"
}
ninja -C "$1" bench/bench-core bench/bench-info bench/bench-report bench/module-lookup bench/bench-cudbg bench/bench-sass >/dev/null
run() { # DUMP-NAME...
	for name; do
		"$bench/bench-core" "$dumps/$name.nvcudmp"
		"$bench/bench-report" "$dumps/$name.nvcudmp"
		"$bench/bench-cudbg" "$dumps/$name.nvcudmp"
	done
}
tables() { # DUMP-NAME...: those that take longer than starting a process
	for name; do
		"$bench/bench-info" "$program" "$dumps/$name.nvcudmp"
	done
}
bench=$1/bench
program=$1/warpscope
"$bench/module-lookup"
"$here/line.py" "$1" ${2:+"$2"}
"$here/dwarf.py" "$1"
"$bench/bench-sass" "$here/../tests/data/cubins/calls.G.sm_80.cubin"
"$here/sass.py" "$1"
if [ "${2:-}" = --smoke ]; then
	dump 270k
	dump memory --busy-sms 4 --memory 600
	sync # pages of a file that are not written yet would count as memory of the reader
	run 270k
	functions
	tables 270k
	"$here/write.py" "$program" "$dumps/memory.nvcudmp" "$dumps/270k.nvcudmp"
	"$here/beside.py" "$program" "$dumps/270k.nvcudmp"
	exit
fi
dump 1k --busy-sms 1 --ctas-per-sm 4
dump 10k --busy-sms 5
dump 100k --busy-sms 49
dump 270k
dump 2.1M --devices 8
dump memory --busy-sms 4 --memory 600
sync
run 1k 10k 100k 270k 2.1M
functions
tables 100k 270k 2.1M
"$here/write.py" "$program" "$dumps/memory.nvcudmp" "$dumps/100k.nvcudmp" "$dumps/270k.nvcudmp" "$dumps/2.1M.nvcudmp"
"$here/beside.py" "$program" "$dumps/100k.nvcudmp" "$dumps/270k.nvcudmp"
