#!/bin/sh
# Shows in one screen or two what the program says: the verdict on each example dump, the first screen of one report, and a program
# that runs without a GPU until it fails. demo.sh WARPSCOPE CUDA-PROGRAM DUMP...
set -eu
program=$1
example=$2
shift 2
folder=$(dirname "$1")

echo
echo "The first line of each report in $folder:"
echo
for dump in "$@"; do
	"$program" "$dump" | sed '1s/^/* /; 1q'
done

dump=$folder/illegal-address.nvcudmp
printf '\n$ %s --brief %s\n\n' "$program" "$dump"
"$program" --brief "$dump"

printf '\n$ %s exec --software-gpu -- %s ...      (no GPU here)\n\n' "$program" "$example"
dumps=$(mktemp -d)
trap 'rm -rf "$dumps"' EXIT
# the program is aborted: that is what the demonstration shows
status=0
"$program" exec --software-gpu --for full --dumps "$dumps" -- "$example" tests/data/sim/driver.O3.fatbin >"$dumps/said" 2>&1 || status=$?
[ "$status" -gt 128 ] || { cat "$dumps/said"; exit 1; }
grep -A 1 '^warpscope exec: ' "$dumps/said"

cat <<END

Shown: reports of dumps that were made elsewhere, and a fault that was found, dumped and explained here, without a GPU.
Next: the whole page, with its sources; many dumps, and which one to read; your own program on a GPU, explained when it fails:

    $program --source-map /src/ws=. $dump
    $program triage $folder
    $program exec -- YOUR-PROGRAM
END
