#!/bin/bash
# Captures what a real GPU, its driver and cuda-gdb do. usage: OUT=FOLDER tools/capture/run.sh A|B|C|D|E   (README.md)
#
# A  the machine, dumps of all faults (-G and -lineinfo), a transcript of cuda-gdb on each
# B  generation flags, user trigger, file names, FIFO, gzip, control API, two contexts, many modules
# C  live sessions of cuda-gdb with every trace domain on
# D  our own client on the driver's debugger library
# E  attach, detach, attach again; MPS
#
# Each stage ends within 600 s and leaves at most 8 archives of at most 16 MiB in $OUT; what does not fit is left out, and told.
# No stage changes a setting of the GPU.
set -u
SECONDS=0
here=$(cd "$(dirname "$0")" && pwd)
: "${OUT:?the folder for the results}"
work=$(mktemp -d)
cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc) || { echo "capture: no nvcc" >&2; exit 1; }
root=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
gdb=$(command -v cuda-gdb || ls "$root/bin/cuda-gdb") || { echo "capture: no cuda-gdb" >&2; exit 1; }
arch=${ARCH:-sm_90}
cases=${CASES:-"1 2 3 4 5 7 8 10 11 12 13 14 15 16 17 19 21"}
shorter=${SHORTER:-1}              # divides every time limit, for tests
most=${MOST_BYTES:-$((16 << 20))} # of an archive
ulimit -c 0
export CUDA_COREDUMP_SHOW_PROGRESS=1

say() {
	echo "== $(date +%T) ${SECONDS}s $*"
}

within() { # SECONDS COMMAND...
	local seconds=$(($1 / shorter))
	shift
	timeout $((seconds ? seconds : 1)) "$@"
}

build_one() { # CASE
	local more=
	[ "$1" = 15 ] && more="-rdc=true -lcudadevrt"
	# shellcheck disable=SC2086  # $more is a list
	"$nvcc" -arch="$arch" -G -g -DCASE="$1" $more -o "c$1G" "$here/faults.cu" -ldl 2>"c$1G.log" &
	# shellcheck disable=SC2086
	"$nvcc" -arch="$arch" -O3 -lineinfo -DCASE="$1" $more -o "c$1L" "$here/faults.cu" -ldl 2>"c$1L.log" &
	[ "$1" = 15 ] || "$nvcc" -arch="$arch" -G -cubin -DCASE="$1" -o "c$1.cubin" "$here/faults.cu" 2>/dev/null &
}

build() { # CASE...
	local one
	for one; do
		build_one "$one"
		while [ "$(jobs -r | wc -l)" -ge 16 ]; do wait -n; done
	done
	wait
	for one; do
		[ -x "c${one}G" ] || { say "case $one was not built"; head -5 "c${one}G.log"; }
	done
}

build_host() { # NAME
	gcc -I"$root/include" -o "$1" "$here/$1.c" -L"$root/lib64/stubs" -lcuda || say "$1 was not built"
}

transcript() { # DUMP COMMANDS...
	local arguments=(-nx -batch -ex "set pagination off" -ex "set width 0" -ex "set confirm off") dump=$1 line
	shift
	[ -n "${BEFORE:-}" ] && arguments+=(-ex "$BEFORE")
	arguments+=(-ex "target cudacore $dump")
	while IFS= read -r line; do
		arguments+=(-ex "echo \\n>>> $line\\n" -ex "$line")
	done < <(cat "$@")
	within 100 "$gdb" "${arguments[@]}" 2>&1
}

faulting() { # DUMP COMMAND...: runs it with a dump on a fault
	local dump=$1
	shift
	CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 CUDA_COREDUMP_FILE="$work/$dump" within 60 "$@"
	echo "exit $?"
}

left_out() { # ARCHIVE FILE
	say "$1: $2 is left out: $(stat -c %s "$2") bytes, sha256 $(sha256sum <"$2" | cut -d' ' -f1)"
}

# NAME FILE|FOLDER...: texts and images in one archive. What makes it too large is left out, largest first.
pack() {
	local name=$1 biggest
	shift
	while tar -cf - "$@" | xz -T0 -6 >archive && [ "$(stat -c %s archive)" -gt $most ]; do
		biggest=$(find "$@" -type f -printf '%s %p\n' | sort -n | tail -1 | cut -d' ' -f2-)
		left_out "$name" "$biggest"
		: >"$biggest"
	done
	mv archive "$OUT/$name.tar.xz"
	say "$name.tar.xz: $(stat -c %s "$OUT/$name.tar.xz") bytes"
}

# NAME DUMP...: each packed for itself, so that none is packed twice; smallest first, as many as fit.
pack_dumps() {
	local name=$1 dump size sum=10240
	local -a kept=()
	shift
	for dump; do
		xz -6 -k "$dump" &
		while [ "$(jobs -r | wc -l)" -ge 8 ]; do wait -n; done
	done
	wait
	while read -r size dump; do
		sum=$((sum + size + 1024))
		if [ $sum -le $most ]; then
			kept+=("$dump")
		else
			left_out "$name" "${dump%.xz}"
		fi
	done < <(for dump; do stat -c '%s %n' "$dump.xz"; done | sort -n)
	[ ${#kept[@]} -gt 0 ] && tar -cf "$OUT/$name.tar" "${kept[@]}" && say "$name.tar: ${#kept[@]} of $# dumps"
}

dumps() { # FIND-EXPRESSION...
	find d -type f ! -name '*.xz' "$@" | sort
}

library_facts() { # NAME: path, needed libraries and the symbols that matter of a driver library
	local path
	path=$(ldconfig -p 2>/dev/null | awk -v name="$1" '$1 == name { print $NF; exit }')
	echo "$1 $path"
	[ -e "$path" ] || return
	readelf -d "$path" | grep -E 'SONAME|NEEDED'
	readelf --dyn-syms -W "$path" | awk -v name="$1" '$7 != "UND" && ($8 ~ /cudbg/ || name ~ /debugger/) { print $3, $4, $8 }'
}

facts() {
	uname -a
	nvidia-smi
	"$nvcc" --version
	"$gdb" --version | head -3
	ls -l "$root/extras/Debugger/include"
	library_facts libcuda.so.1
	library_facts libcudadebugger.so.1
	env | grep -i cuda
}

stage_A() {
	local kind one dump
	say facts
	facts >facts.txt 2>&1
	head -5 facts.txt
	say build
	# shellcheck disable=SC2086
	build $cases 6 20 22
	build_host load
	say dumps
	mkdir -p d t
	for kind in G L; do
		for one in $cases; do
			[ $SECONDS -gt 270 ] && say "skipped c$one$kind" && continue
			faulting "d/c$one$kind.core" "./c$one$kind" >"t/c$one$kind.run" 2>&1
		done
	done
	if "$here/patch-cubin.py" c22.cubin c18.cubin; then
		faulting d/c18G.core ./load c18.cubin >t/c18G.run 2>&1
	fi
	say transcripts
	for dump in d/*.core; do
		[ $SECONDS -gt 430 ] && say "no transcript of $dump" && continue
		one=$(basename "$dump" .core)
		transcript "$dump" "$here/oracle.cmds" >"t/$one.txt" &
		while [ "$(jobs -r | wc -l)" -ge 8 ]; do wait -n; done
	done
	wait
	transcript d/c11G.core "$here/vars.cmds" >t/vars.txt
	BEFORE="set debug cuda trace all" transcript d/c10G.core <(printf 'bt\ninfo cuda warps\ninfo locals\n') >t/api-c10G.txt
	BEFORE="set debug cuda trace all" transcript d/c11G.core "$here/vars.cmds" >t/api-c11G.txt
	for dump in d/*.core; do
		readelf -hSW "$dump" >"t/$(basename "$dump").readelf" 2>&1
	done
	pack text facts.txt t
	pack cubins ./*.cubin
	# shellcheck disable=SC2046  # names without spaces
	pack_dumps dumpsG $(dumps -name '*G.core' ! -name 'c17*')
	# shellcheck disable=SC2046
	pack_dumps dump17 $(dumps -name c17G.core)
	# shellcheck disable=SC2046
	pack_dumps dumpsL $(dumps -name '*L.core' ! -name 'c17*')
}

# gzip_compress and faulted_contexts_only are guesses at the names of bits 6 and 7.
flags_run() {
	local flags name all=skip_nonrelocated_elf_images,skip_global_memory,skip_shared_memory,skip_local_memory,skip_constbank_memory
	for flags in ${all//,/ } skip_abort gzip_compress faulted_contexts_only $all; do
		name=$flags
		[ "$flags" = $all ] && name=all
		CUDA_COREDUMP_GENERATION_FLAGS=$flags faulting "d/v.$name.core" ./c11G >"t/v.$name.run" 2>&1
		transcript "d/v.$name.core" "$here/vars.cmds" >"t/v.$name.txt"
		readelf -SW "d/v.$name.core" >"t/v.$name.readelf" 2>&1
	done
}

user_trigger() {
	local process pipe
	export CUDA_ENABLE_USER_TRIGGERED_COREDUMP=1 CUDA_COREDUMP_PIPE="$work/pipe.%h.%p.%t" CUDA_COREDUMP_FILE="$work/d/user.%h.%p.%t.%%"
	./c6G >t/user.run 2>&1 &
	process=$!
	sleep 3
	ls -l "$work"/pipe.* d >>t/user.run 2>&1
	for pipe in "$work"/pipe.*; do
		within 5 dd if=/dev/zero of="$pipe" bs=64k count=1 >>t/user.run 2>&1
	done
	sleep 4
	ls -l d >>t/user.run
	kill -0 $process 2>/dev/null && echo "still alive" >>t/user.run
	kill -9 $process 2>/dev/null
	wait $process 2>/dev/null
	transcript "$(find d -name 'user.*' | head -1)" "$here/oracle.cmds" >t/user.txt
	unset CUDA_ENABLE_USER_TRIGGERED_COREDUMP CUDA_COREDUMP_PIPE CUDA_COREDUMP_FILE
}

# The dump goes into a FIFO, which somebody reads.
into_fifo() {
	mkfifo "$work/fifo"
	within 60 cat "$work/fifo" >d/fifo.core &
	CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 CUDA_COREDUMP_FILE="$work/fifo" within 60 ./c1G >t/fifo.run 2>&1
	echo "exit $?" >>t/fifo.run
	wait
}

stage_B() {
	say build
	build 1 6 11 20
	build_host multictx
	build_host load
	mkdir -p d t default
	say flags
	flags_run
	say trigger
	user_trigger
	say "FIFO, names"
	into_fifo
	(cd default && CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 within 60 ../c1G; ls -l) >t/default-name.run 2>&1
	CUDA_ENABLE_LIGHTWEIGHT_COREDUMP=1 faulting d/light.core ./c1G >t/light.run 2>&1
	CUDA_MODULE_LOADING=EAGER faulting d/eager.core ./c20G >t/eager.run 2>&1
	say contexts
	faulting d/multi.core ./multictx c6.cubin c1.cubin >t/multi.run 2>&1
	transcript d/multi.core "$here/oracle.cmds" >t/multi.txt
	CAPI="$work/d/capi.%p.core" within 60 ./multictx c6.cubin c1.cubin >t/capi.run 2>&1
	say modules
	faulting d/many.core ./load c1.cubin 400 >t/many.run 2>&1
	transcript d/many.core "$here/oracle.cmds" >t/many.txt
	ls -l d >t/ls
	tail -n 40 t/*.run
	pack textB t
	# shellcheck disable=SC2046
	pack_dumps dumpsB $(dumps)
}

live() { # PROGRAM COMMANDS SETTING...
	local program=$1 commands=$2 setting line arguments=(-nx -batch -ex "set pagination off" -ex "set width 0")
	shift 2
	for setting; do arguments+=(-ex "$setting"); done
	while IFS= read -r line; do
		arguments+=(-ex "echo \\n>>> $line\\n" -ex "$line")
	done <"$commands"
	within 150 "$gdb" "${arguments[@]}" "$program" 2>&1
}

stage_C() {
	local mode one
	say build
	build 1 10 20
	mkdir -p t
	for mode in LAZY EAGER; do
		CUDA_MODULE_LOADING=$mode live ./c20G "$here/live.cmds" "set debug cuda trace all" "set debug cuda notifications 1" \
			"set debug cuda libcudbg 1" "set cuda api_failures stop" >"t/live.$mode.txt"
	done
	printf 'run\nbt\ninfo cuda kernels\nkill\n' >fault.cmds
	for one in 1 10; do
		live "./c${one}G" fault.cmds "set debug cuda trace api,event" >"t/live-fault.$one.txt"
	done
	printf 'run\nbt\ninfo cuda kernels\nstepi\nx/4i $pc\nkill\n' >launch.cmds
	live ./c20G launch.cmds "set cuda break_on_launch application" >t/live-launch.txt
	wc -l t/*
	grep -h -E 'cudbg|EVENT|legacy' t/live.LAZY.txt | head -60
	pack textC t
}

stage_D() {
	local include="$root/extras/Debugger/include" mode capabilities
	say build
	build 1 20
	if [ ! -e "$include/cudadebugger.h" ]; then
		include=$here/../../include/warpscope # our own declaration of the same API
	fi
	gcc -std=gnu11 -I"$include" -o drive "$here/drive.c" -ldl || { say "drive was not built"; return; }
	mkdir -p t images
	for mode in LAZY EAGER; do
		for capabilities in 2 3 10 11; do
			KEEP=images CAPS=$capabilities CUDA_MODULE_LOADING=$mode within 50 ./drive ./c20G >"t/drive.$mode.$capabilities.txt" 2>&1
		done
	done
	KEEP=images within 50 ./drive ./c1G >t/drive.fault.txt 2>&1
	head -120 t/drive.EAGER.10.txt
	pack textD t images
}

attach() { # PROCESS NAME
	within 60 "$gdb" -nx -batch -ex "set pagination off" -ex "set width 0" -ex "set debug cuda trace api,event" -p "$1" \
		-ex "info cuda devices" -ex "info cuda kernels" -ex "info cuda warps" -ex bt -ex "info registers R0 R1 R2 R3" -ex detach \
		>"t/$2.txt" 2>&1
}

stage_E() {
	local process
	say build
	build 1 6
	mkdir -p d t
	say attach
	./c6G >t/attached.run 2>&1 &
	process=$!
	sleep 3
	readelf --dyn-syms -W "/proc/$process/exe" 2>/dev/null | grep -i cudbg >t/attached.symbols
	attach $process attach-1
	sleep 1
	attach $process attach-2
	kill -0 $process 2>/dev/null && echo "alive after two attaches" >>t/attached.run
	kill -9 $process 2>/dev/null
	wait $process 2>/dev/null
	say MPS
	if command -v nvidia-cuda-mps-control >/dev/null; then
		export CUDA_MPS_PIPE_DIRECTORY=$work/mps CUDA_MPS_LOG_DIRECTORY=$work/mps-log
		mkdir -p mps mps-log
		within 20 nvidia-cuda-mps-control -d >t/mps.run 2>&1
		faulting d/mps.core ./c1G >>t/mps.run 2>&1
		echo quit | within 20 nvidia-cuda-mps-control >>t/mps.run 2>&1
		cp mps-log/* t/ 2>/dev/null
		[ -e d/mps.core ] && transcript d/mps.core "$here/oracle.cmds" >t/mps.txt
	else
		say "no nvidia-cuda-mps-control"
	fi
	pack textE t
	# shellcheck disable=SC2046
	pack_dumps dumpsE $(dumps)
}

case ${1-} in
A | B | C | D | E) "stage_$1" ;;
*) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
say done
