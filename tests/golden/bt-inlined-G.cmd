# functions that -G code inlines are frames with variables of their own, above a call and below one
S=$(mktemp -d) && trap 'rm -r "$S"' EXIT
CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 CUDA_COREDUMP_FILE=$S/dump warpscope run tests/data/sim/inlined.G.fatbin --kernel inlined --block 32 --buffer 'out=f32[32]' --buffer 'in=f32[64]:1' --arg '&out' --arg '&in' --arg 3 2>&1 > $S/page | sed "s,$S,DUMPS,"
warpscope bt --full $S/dump
warpscope locals $S/dump --frame 3
warpscope report --source-map=/src/ws=. $S/dump | sed -n '1p; /^Call stack/,/^Machine code/p; /^Signature/{n;n;p}'
warpscope bt --json $S/dump | jq -c '.frames[] | [.level, .function, .line, .inlined, [.args[].name]]'
cd $S && warpscope shell dump <<'END'
print value
print half
up
print half
print at
up 2
print near
print load::at
print inlined::i
print pair::far
info frame
END
