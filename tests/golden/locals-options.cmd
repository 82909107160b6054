# which variables
D=examples/dumps/misaligned-G.nvcudmp
for o in "--only args" "--only locals" "--only none" "--name ^c" "--type int" "--name ^c --type int" "--only args --name zz" "--only locals --name zz" "--pretty --only args" "--frame 3 --only locals"; do echo "$o:"; warpscope locals --frame 2 $o $D; done
for o in "--frame 4" "--frame 3 --only locals"; do echo "$o:"; warpscope locals $o $D; done
for o in "--only args" "--only locals" "--frame 1 --only args" "--frame 2"; do echo "$o:"; warpscope locals $o examples/dumps/hang.nvcudmp; done
warpscope locals --json --name ^c --frame 2 $D | jq -c '[.frame.args[].name], [.locals[].name]'
for w in "" "sm 99" "nonsense"; do warpscope locals examples/dumps/exited.nvcudmp $w; echo "exit status $?"; done
