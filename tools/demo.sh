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

    $program --help                     every verb
    $program $dump --json
    $program $dump --all --full-names
    $program info $dump kernels         cuda-gdb's tables; without a table: their names
    $program YOUR.nvcudmp               a dump of your own:
                                        CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 ./your-program
    make check                          the tests
    make install                        PREFIX=/usr/local by default; DESTDIR is honoured
END
