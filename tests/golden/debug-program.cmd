# a program of the driver API under the prompt: pending breakpoint, fault, the call that fails, its end
build=$(dirname "$(readlink -f "$(command -v warpscope)")")
warpscope debug --software-gpu --source-map=/src/ws=. -- env ASAN_OPTIONS=detect_leaks=0 "$build/examples/example-program" tests/data/sim/driver.O3.fatbin <<'END'
info cuda devices
break store
info breakpoints
run
info cuda kernels
info registers R1
delete 1
continue
why
continue
continue
info breakpoints
quit
END
