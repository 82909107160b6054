# Traces of calls that differ: another answer, another result, calls that only one has, from both sides; a limit for each kind.
F=fuzz/seeds/trace/client.jsonl; B="$DUMPS.trace"
sed -e '8s/84000000/85000000/' -e '10s/ffffffff/0fffffff/' -e '6s/CUDBG_SUCCESS/CUDBG_ERROR_UNKNOWN/' -e '9d;11d' $F > "$B"
warpscope trace diff $F "$B"; warpscope trace diff "$B" $F; warpscope trace --limit 1 diff $F "$B"; rm "$B"
