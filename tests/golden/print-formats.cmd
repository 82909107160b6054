# formats before the expression, and what is no expression
D=examples/dumps/misaligned-G.nvcudmp
for f in /x "/x " /d /u /o /t /c /a /z /f /r /s; do echo "$f: $(warpscope print --frame 2 $D $f rows) $(warpscope print --frame 2 $D "$f total")"; done
for e in /q /xx "/xx 1" /x "/ 1" "1 +" ""; do warpscope print $D "$e"; echo "exit status $?"; done
warpscope print; warpscope print $D
warpscope print --frame 2 --pretty $D cursor
warpscope print --frame 2 --json --pretty $D cursor | jq -c '[.expression, .type, .value]'
warpscope print --json --frame 3 $D total | jq -c '[.expression, .type, .value, .value_why]'
warpscope print --json --frame 3 $D "*(@global int *)8" | jq -c '[.expression, .type, .value, .value_why]'
warpscope print $D total --frame 9
