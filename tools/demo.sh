#!/bin/sh
# Opens the example dumps one after the other: demo.sh WARPSCOPE DUMP...
set -eu
program=$1
shift
for dump in "$@"; do
	printf '\n================ warpscope --source-map /src/ws=. %s\n\n' "$dump"
	"$program" --source-map /src/ws=. "$dump"
done
dump=${1:-DUMP}
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
