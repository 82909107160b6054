#!/bin/sh
# Rebuilds the example dumps of this folder from the builder's scenarios.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
names="illegal-address misaligned-G hang exited"
python3 "$here/../../tests/builders/build.py" "$work" $names
for name in $names; do
	cp "$work/$name.nvcudmp" "$here"
done
