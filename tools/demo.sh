#!/bin/sh
# Opens the example dumps one after the other, then runs a program without a GPU until it fails, and explains that:
# demo.sh WARPSCOPE CUDA-PROGRAM DUMP...
set -eu
program=$1
example=$2
shift 2
for dump in "$@"; do
	printf '\n================ warpscope --source-map /src/ws=. %s\n\n' "$dump"
	"$program" --source-map /src/ws=. "$dump"
done
dump=${1:-DUMP}

run="exec --software-gpu --for full -- $example tests/data/sim/driver.O3.fatbin"
dumps=$(mktemp -d)
trap 'rm -rf "$dumps"' EXIT
printf '\n================ warpscope %s\n\n' "$run"
# the program is aborted: that is what the demonstration shows
status=0
"$program" exec --software-gpu --for full --dumps "$dumps" -- "$example" tests/data/sim/driver.O3.fatbin || status=$?
[ "$status" -gt 128 ]
cat <<END

================ What to try next

    $program --help
    $program $dump --json
    $program $dump --all --full-names
    $program info $dump kernels

and on a dump of your own, made by CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 ./your-program:

    $program YOUR.nvcudmp

The tests: make check. To install: make install (PREFIX=/usr/local by default; DESTDIR is honoured).
END
