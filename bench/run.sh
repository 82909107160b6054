#!/bin/sh
# Builds the benchmark dumps once and runs the benchmarks over them. usage: bench/run.sh BUILD [--smoke]
# Every line that names a limit ends in its verdict; tools/count-bench.py counts them. A benchmark that cannot measure ends with
# another status than 0, which is told; the others run all the same.
set -u
here=$(dirname "$0")
bench=$1/bench
program=$1/warpscope
dumps=$1/bench/dumps
mkdir -p "$dumps"
once() { # COMMAND...
	"$@" || echo "  $(basename "$1")  FAILED: status $?"
}
# What is too slow is measured once more, as other work on the machine only ever adds to a time; the second time counts.
step() { # COMMAND...
	said=$(once "$@")
	if slow=$(printf '%s\n' "$said" | grep 'TOO SLOW$'); then
		printf '%s\n' "$slow" | sed 's/TOO SLOW$/slow, once more:/'
		said=$(once "$@")
	fi
	printf '%s\n' "$said"
}
dump() { # NAME GENERATOR-ARGUMENTS...
	path=$dumps/$1.nvcudmp
	shift
	[ -e "$path" ] || { step "$here/gen_huge.py" "$@" "$path.part" && mv "$path.part" "$path"; }
}
paths() { # DUMP-NAME...
	printf "$dumps/%s.nvcudmp\n" "$@"
}
programs='core info report cudbg sass sim step live back driver wire'
step ninja --quiet -C "$1" bench/cubin-lookup $(printf ' bench/bench-%s' $programs)
step "$bench/cubin-lookup"
step "$bench/bench-step"
step "$bench/bench-live" "$here/../tests/data/sim/live.O3.fatbin"
step "$bench/bench-back" "$here/../tests/data/sim/back.O3.fatbin"
step "$bench/bench-driver" "$here/../tests/data/sim/driver.O3.fatbin"
step "$bench/bench-wire" "$here/../examples/dumps/illegal-address.nvcudmp"
step "$here/line.py" "$1" ${2:+"$2"}
step "$here/dwarf.py" "$1"
step "$bench/bench-sass" "$here/../tests/data/cubins/calls.G.sm_80.cubin"
step "$bench/bench-sim" "$here/../tests/data/sim"
step "$here/sass.py" "$1"
step "$here/snapshot.py" "$program" "$here/../examples/dumps/illegal-address.nvcudmp"
all=270k full=270k # those whose tables take longer than starting a process
if [ "${2:-}" != --smoke ]; then
	all='1k 10k 100k 270k 2.1M' full='100k 270k 2.1M'
	dump 1k --busy-sms 1 --ctas-per-sm 4
	dump 10k --busy-sms 5
	dump 100k --busy-sms 49
	dump 2.1M --devices 8
	dump names1k --busy-sms 1 --functions 91 --modules 11 # for completion
	dump names100k --busy-sms 1 --functions 9100 --modules 11
fi
dump 270k
dump 270k-G --debug # variables
dump memory --busy-sms 4 --memory 600
dump functions --busy-sms 1 --ctas-per-sm 1 --memory 1 --functions 300 --modules 11 # for look-ups of symbols and code
sync # pages of a file that are not written yet would count as memory of the reader
for path in $(paths $all); do
	for name in core report cudbg; do
		step "$bench/bench-$name" "$path"
	done
done
step "$bench/bench-cudbg" $(paths functions)
step "$bench/bench-info" "$program" $(paths $full)
step "$here/write.py" "$program" $(paths memory $full)
step "$here/beside.py" "$program" $(paths $full)
step "$here/lanes.py" "$program" $(paths 270k-G)
[ "${2:-}" = --smoke ] || step "$here/prompt.py" "$program" $(paths names1k names100k 270k)
step "$here/log.py" "$program" "$dumps"
step "$here/triage.py" "$1" "$here/../examples/dumps/illegal-address.nvcudmp" ${2:+"$2"} --huge "$(paths 270k)"
