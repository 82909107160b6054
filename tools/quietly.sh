#!/bin/sh
# Says in one line what is done, and shows the output only when it fails: quietly.sh WHAT COMMAND...
set -u
echo "$1"
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$@" >"$log" 2>&1 </dev/null && exit 0
status=$?
cat "$log" >&2
echo "failed: $*" >&2
exit $status
