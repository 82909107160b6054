# records of other machines: jobs, GPUs, bugs that are known, and lines that a CI runner reads
S=$(mktemp -d) && trap 'rm -r "$S"' EXIT
n=0; while read -r path verdict signature rank host pci more; do n=$((n + 1)); printf '{"schema":"warpscope-triage-1","key":"%032x","path":"%s","status":"read","verdict":"%s","signature":"%s","signature_what":"%s","complete":true,"rank":%s,"host":"%s","pci":"%s"%s}\n' $n $path $verdict $signature $signature $rank $host $pci "$more"; done <<'END' | sed '/"verdict":"none"/s/"signature.*"complete"/"complete"/' > $S/records
a/0 fault 100%_bad 0 h 1b:00 ,"kernel":"k%S","file":"/x/k.cu","line":7,"time":1751371200
a/1 hang waits 1 h 1c:00 ,"collective":"NCCL all-reduce","time":1751371260
b/0 fault other 0 h 1b:00 ,"kernel":"other"
b/1 fault other 1 g 1b:00
c/0 none none null h 1b:00
END
printf '# known\nother\n' > $S/known
warpscope triage --merge $S/records
warpscope triage --merge --limit 1 --baseline $S/known $S/records
for b in /dev/null $S/known; do warpscope triage --merge --format github --baseline $b $S/records; done
warpscope triage --merge --json --limit 1 $S/records | jq -c '.dumps, .groups[].signature, .gpus[], [.jobs[].name]'
warpscope triage --merge --name 'a/%r' --json $S/records | jq -c '.jobs[].rows[] | [.name, .rank_why]'
warpscope triage --merge -o $S/page $S/records; head -c 60 $S/page
