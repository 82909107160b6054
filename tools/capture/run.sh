#!/bin/bash
# Captures what a real GPU, its driver and cuda-gdb do. usage: OUT=FOLDER tools/capture/run.sh A|B|C|D|E   (README.md)
#
# A  the machine, dumps of all faults (-G and -lineinfo), a transcript of cuda-gdb on each
# B  generation flags, user trigger, file names, FIFO, gzip, control API, two contexts, many modules
# C  live sessions of cuda-gdb with every trace domain on
# D  our own client on the driver's debugger library; its header against ours
# E  attach, detach, attach again; MPS
#
# Each stage ends within BUDGET seconds (by default 480, 330, 300, 200, 160) and leaves at most 8 files of at most 16 MiB in $OUT;
# what does not fit is left out, and told, in manifest-STAGE.tsv too. A step that fails or hangs stops no other one.
# No stage changes a setting of the GPU.
set -u
SECONDS=0
here=$(cd "$(dirname "$0")" && pwd)
stage=${1-}
declare -A budgets=([A]=480 [B]=330 [C]=300 [D]=200 [E]=160)
if [ -z "${budgets[$stage]-}" ]; then
	sed -n '2,12s/^# \{0,1\}//p' "$0"
	exit 2
fi
: "${OUT:?the folder for the results}"
work=$(mktemp -d)
cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc) || { echo "capture: no nvcc" >&2; exit 1; }
root=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
gdb=$(command -v cuda-gdb || ls "$root/bin/cuda-gdb" 2>/dev/null || echo no-cuda-gdb) # without it there are dumps, no transcripts
arch=${ARCH:-sm_90}
cases=${CASES:-"1 2 3 4 5 7 8 10 11 12 13 14 15 16 17 19 21"}
shorter=${SHORTER:-1} # divides every time limit, for tests
budget=$((${BUDGET:-${budgets[$stage]}} / shorter))
packing=$((budget / 6 + 3))    # seconds kept for the archives
deadline=$((budget - packing))  # no step begins or runs on after it
most=${MOST_BYTES:-$((16 << 20))} # of an archive
ulimit -c 0
export CUDA_COREDUMP_SHOW_PROGRESS=1

say() {
	echo "== $(date +%T) ${SECONDS}s $*"
}

within() { # SECONDS COMMAND...: ends the command after that, or at the deadline
	local seconds=$(($1 / shorter)) left=$((deadline - SECONDS))
	shift
	[ $seconds -gt 0 ] || seconds=1
	[ $left -gt 0 ] || return 124
	timeout -k 5 $((seconds < left ? seconds : left)) "$@"
}

step() { # WHAT FUNCTION ARGUMENT...: in a shell of its own, so that nothing that fails in it stops the next step
	local what=$1 status
	shift
	if [ $SECONDS -ge $deadline ]; then
		say "no time left for: $what"
		return
	fi
	say "$what"
	("$@")
	status=$?
	[ $status = 0 ] || say "$what: status $status"
}

made() { # FILE COMMAND...: how a file came to be, for the manifest
	local file=$1
	shift
	printf '%s\t%s\n' "$file" "$*" >>commands
}

row() { # FILE ARCHIVE: a line of the manifest
	printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$(stat -c %s "$1")" "$(sha256sum <"$1" | cut -d' ' -f1)" \
		"$(awk -F '\t' -v file="$1" '$1 == file { how = $2 } END { print how }' commands)" >>rows
}

build_one() { # CASE
	local more=
	[ "$1" = 15 ] && more="-rdc=true -lcudadevrt"
	# shellcheck disable=SC2086  # $more is a list
	within 150 "$nvcc" -arch="$arch" -G -g -DCASE="$1" $more -o "c$1G" "$here/faults.cu" -ldl 2>"c$1G.log" &
	# shellcheck disable=SC2086
	within 150 "$nvcc" -arch="$arch" -O3 -lineinfo -DCASE="$1" $more -o "c$1L" "$here/faults.cu" -ldl 2>"c$1L.log" &
	[ "$1" = 15 ] || within 150 "$nvcc" -arch="$arch" -G -cubin -DCASE="$1" -o "c$1.cubin" "$here/faults.cu" 2>/dev/null &
	made "c$1.cubin" "$nvcc -arch=$arch -G -cubin -DCASE=$1 faults.cu"
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
	within 60 gcc -I"$root/include" -o "$1" "$here/$1.c" -L"$root/lib64/stubs" -lcuda || say "$1 was not built"
}

# DUMP FILE COMMANDS...: what cuda-gdb says of a dump, into FILE; no more than 32 MiB.
transcript() {
	local arguments=(-nx -batch -ex "set pagination off" -ex "set width 0" -ex "set confirm off") dump=$1 file=$2 line
	shift 2
	[ -n "${BEFORE:-}" ] && arguments+=(-ex "$BEFORE")
	arguments+=(-ex "target cudacore $dump")
	while IFS= read -r line; do
		arguments+=(-ex "echo \\n>>> $line\\n" -ex "$line")
	done < <(cat "$@")
	made "$file" "cuda-gdb -batch, ${BEFORE:-no settings}, target cudacore $dump, then $(basename -a "$@" | xargs)"
	within 100 "$gdb" "${arguments[@]}" 2>&1 </dev/null | head -c $((32 << 20)) >"$file"
}

# DUMP RUN-LOG COMMAND...: runs it with a dump on a fault; the environment's CUDA_* count too.
faulting() {
	local dump=$1 log=$2
	shift 2
	made "$dump" "$(env | grep '^CUDA_' | sort | xargs) CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 $*"
	CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 CUDA_COREDUMP_FILE="${DUMP_TO:-$work/$dump}" within 30 "$@" >>"$log" 2>&1
	echo "exit $?" >>"$log"
}

left_out() { # ARCHIVE FILE
	say "$1: $2 is left out: $(stat -c %s "$2") bytes, sha256 $(sha256sum <"$2" | cut -d' ' -f1)"
	row "$2" "left out"
}

# NAME FILE|FOLDER...: texts and images in one archive. What makes it too large is left out, largest first.
pack() {
	local name=$1 biggest file
	shift
	until tar -cf - --ignore-failed-read "$@" 2>/dev/null | within 60 xz -T0 -6 >archive
		[ "${PIPESTATUS[1]}" = 0 ] && [ "$(stat -c %s archive)" -le "$most" ]; do
		biggest=$(find "$@" -type f -size +0 -printf '%s %p\n' | sort -n | tail -1 | cut -d' ' -f2-)
		[ -n "$biggest" ] || return 1
		left_out "$name" "$biggest"
		rm -f "$biggest"
	done
	mv archive "$OUT/$name.tar.xz"
	for file in $(find "$@" -type f 2>/dev/null | sort); do row "$file" "$name.tar.xz"; done
	say "$name.tar.xz: $(stat -c %s "$OUT/$name.tar.xz") bytes"
}

# NAME DUMP...: each packed for itself, so that none is packed twice; smallest first, as many as fit.
pack_dumps() {
	local name=$1 dump size sum=10240
	local -a kept=()
	shift
	[ $# -gt 0 ] || return 0
	for dump; do
		[ "$(stat -c %s "$dump")" -lt $((1 << 30)) ] && within 60 xz -4 -k "$dump" &
		while [ "$(jobs -r | wc -l)" -ge 8 ]; do wait -n; done
	done
	wait
	while read -r size dump; do
		sum=$((sum + size + 1024))
		if [ -e "$dump.xz" ] && [ $sum -le "$most" ]; then
			kept+=("$dump.xz")
			row "$dump" "$name.tar"
		else
			left_out "$name" "$dump"
		fi
	done < <(for dump; do echo "$(stat -c %s "$dump.xz" 2>/dev/null || echo "$most") $dump"; done | sort -n)
	[ ${#kept[@]} -gt 0 ] && tar -cf "$OUT/$name.tar" "${kept[@]}" && say "$name.tar: ${#kept[@]} of $# dumps"
}

versions() {
	echo "# stage $stage, $(date -u +%FT%TZ)"
	echo "# $(uname -srm)"
	echo "# $(within 20 nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>&1 | head -1)"
	echo "# $(within 20 "$nvcc" --version 2>&1 | tail -1)"
	echo "# $(within 20 "$gdb" --version 2>&1 | head -1)"
}

dumps() { # FIND-EXPRESSION...
	find d -type f ! -name '*.xz' "$@" | sort
}

library_facts() {
	uname -a
	within 20 nvidia-smi
	within 20 "$nvcc" --version
	within 20 "$gdb" --version | head -3
	ls -l "$root/extras/Debugger/include"
	library_facts libcuda.so.1
	library_facts libcudadebugger.so.1
	env | grep -i cuda
}

all_facts() {
	facts >facts.txt 2>&1
	made facts.txt "facts, in run.sh"
	head -5 facts.txt
}

# A dump of each fault, until 45 % of the time is used.
fault_dumps() { # G|L
	local one until=$((budget * 45 / 100))
	for one in $cases; do
		[ $SECONDS -gt $until ] && say "skipped c$one$1" && continue
		faulting "d/c$one$1.core" "t/c$one$1.run" "./c$one$1"
	done
}

invalid_instruction() {
	"$here/patch-cubin.py" c22.cubin c18.cubin && faulting d/c18G.core t/c18G.run ./load c18.cubin
}

all_transcripts() {
	local dump
	for dump in d/*.core; do
		transcript "$dump" "t/$(basename "$dump" .core).txt" "$here/oracle.cmds" &
		while [ "$(jobs -r | wc -l)" -ge 8 ]; do wait -n; done
	done
	wait
	transcript d/c11G.core t/c11G.vars.txt "$here/vars.cmds"
}

api_traces() {
	printf 'bt\ninfo cuda warps\ninfo locals\n' >few.cmds
	BEFORE="set debug cuda trace all" transcript d/c10G.core t/api-c10G.log few.cmds
	BEFORE="set debug cuda trace all" transcript d/c11G.core t/api-c11G.log "$here/vars.cmds"
}

section_lists() {
	local dump
	for dump in d/*; do
		within 20 readelf -hSW "$dump" >"t/$(basename "$dump").readelf" 2>&1
	done
	true
}

stage_A() {
	step facts all_facts
	# shellcheck disable=SC2086
	step build build $cases 6 20 22
	step "build load" build_host load
	step "dumps -G" fault_dumps G
	step "dumps -lineinfo" fault_dumps L
	step "invalid instruction" invalid_instruction
	step transcripts all_transcripts
	step "API traces" api_traces
	step sections section_lists
	deadline=$budget
	step "pack text" pack text facts.txt t
	step "pack cubins" pack cubins c*.cubin
	# shellcheck disable=SC2046  # names without spaces
	step "pack dumps" pack_dumps dumpsG $(dumps -name '*G.core' ! -name 'c17*')
	# shellcheck disable=SC2046
	step "pack dump 17" pack_dumps dump17 $(dumps -name c17G.core)
	# shellcheck disable=SC2046
	step "pack dumps" pack_dumps dumpsL $(dumps -name '*L.core')
}

# Words of the variable as the driver lists them (README.md); a driver names those that it does not know, and ignores them. With
# gzip_compress it appends .gz to the name.
flag_words="skip_nonrelocated_elf_images skip_global_memory skip_shared_memory skip_local_memory skip_constbank_memory
	skip_abort gzip_compress faulted_contexts_only no_errbar_at_exit log_only"

flags_run() {
	local flags name dump all=skip_nonrelocated_elf_images,skip_global_memory,skip_shared_memory,skip_local_memory,skip_constbank_memory
	for flags in $all $flag_words; do
		name=v-$flags
		[ "$flags" = $all ] && name=v-all
		CUDA_COREDUMP_GENERATION_FLAGS=$flags faulting "d/$name.core" "t/$name.run" ./c11G
		for dump in "d/$name".core*; do
			[ -e "$dump" ] && transcript "$dump" "t/$name.txt" "$here/vars.cmds"
		done
	done
}

user_trigger() {
	local process pipe
	export CUDA_ENABLE_USER_TRIGGERED_COREDUMP=1 CUDA_COREDUMP_PIPE="$work/pipe.%h.%p.%t" CUDA_COREDUMP_FILE="$work/d/user.%h.%p.%t.%%"
	within 60 ./c6G >t/user.run 2>&1 &
	process=$!
	sleep 3
	ls -l "$work"/pipe.* d >>t/user.run 2>&1
	for pipe in "$work"/pipe.*; do
		within 5 dd if=/dev/zero of="$pipe" bs=1M count=1 >>t/user.run 2>&1 # a few bytes may not come through
	done
	sleep 4
	ls -l d >>t/user.run
	kill -0 $process 2>/dev/null && echo "still alive" >>t/user.run
	kill $process 2>/dev/null
	wait $process 2>/dev/null
	for pipe in d/user.*; do
		mv "$pipe" d/user.core
		made d/user.core "CUDA_ENABLE_USER_TRIGGERED_COREDUMP=1 ./c6G, dd into the pipe; it was ${pipe#d/}"
	done
	transcript d/user.core t/user.txt "$here/oracle.cmds"
}

# The dump goes into a FIFO, which somebody reads, and into a command.
into_fifo() {
	mkfifo "$work/fifo"
	within 40 cat "$work/fifo" >d/fifo.core &
	DUMP_TO=$work/fifo faulting d/fifo.core t/fifo.run ./c1G
	kill %1 2>/dev/null # where nobody wrote
	wait
}

into_command() {
	DUMP_TO="| cat > $work/d/piped.core" faulting d/piped.core t/piped.run ./c1G
}

default_name() {
	mkdir -p default
	(cd default && CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 within 30 ../c1G; ls -l) >t/default-name.run 2>&1
}

other_variables() {
	CUDA_ENABLE_LIGHTWEIGHT_COREDUMP=1 faulting d/light.core t/light.run ./c1G # gone since 13.0
	CUDA_ENABLE_CPU_COREDUMP_ON_EXCEPTION=0 faulting d/no-abort.core t/no-abort.run ./c1G
	CUDA_MODULE_LOADING=EAGER faulting d/eager.core t/eager.run ./c1G
}

two_contexts() {
	faulting d/multi.core t/multi.run ./multictx c6.cubin c1.cubin
	transcript d/multi.core t/multi.txt "$here/oracle.cmds"
	made d/capi.core "CAPI=... ./multictx c6.cubin c1.cubin: file and flags by cuCoredumpSetAttributeGlobal"
	CAPI="$work/d/capi.core" within 30 ./multictx c6.cubin c1.cubin >t/capi.run 2>&1
	transcript d/capi.core t/capi.txt "$here/oracle.cmds"
}

many_modules() {
	faulting d/many.core t/many.run ./load c1.cubin 400
	transcript d/many.core t/many.txt "$here/oracle.cmds"
}

stage_B() {
	step build build 1 6 11
	step "build multictx" build_host multictx
	step "build load" build_host load
	step flags flags_run
	step trigger user_trigger
	step FIFO into_fifo
	step command into_command
	step "default name" default_name
	step "other variables" other_variables
	step contexts two_contexts
	step modules many_modules
	step sections section_lists
	tail -n 40 t/*.run
	deadline=$budget
	step "pack text" pack textB t
	# shellcheck disable=SC2046
	step "pack dumps" pack_dumps dumpsB $(dumps)
}

live() { # FILE PROGRAM COMMANDS SETTING...
	local file=$1 program=$2 commands=$3 setting line arguments=(-nx -batch -ex "set pagination off" -ex "set width 0")
	shift 3
	for setting; do arguments+=(-ex "$setting"); done
	while IFS= read -r line; do
		arguments+=(-ex "echo \\n>>> $line\\n" -ex "$line")
	done <"$commands"
	made "$file" "cuda-gdb -batch $program, $(basename "$commands"), with $*"
	within 80 "$gdb" "${arguments[@]}" "$program" 2>&1 </dev/null | head -c $((32 << 20)) >"$file"
}

live_modes() {
	local mode
	for mode in LAZY EAGER; do
		CUDA_MODULE_LOADING=$mode live "t/live.$mode.log" ./c20G "$here/live.cmds" "set debug cuda trace all" \
			"set debug cuda notifications 1" "set debug cuda libcudbg 1" "set cuda api_failures stop"
	done
	grep -h -E 'cudbg|EVENT|legacy' t/live.LAZY.log | head -60
}

live_faults() {
	local one
	printf 'run\nbt\ninfo cuda kernels\nhelp generate-core-file\ngenerate-core-file d/gcore.core\nkill\n' >fault.cmds
	made d/gcore.core "cuda-gdb on ./c10G at its fault: generate-core-file"
	for one in 1 10; do
		live "t/live-fault.$one.log" "./c${one}G" fault.cmds "set debug cuda trace api,event"
	done
}

live_launch() {
	# shellcheck disable=SC2016
	printf 'run\nbt\ninfo cuda kernels\nstepi\nx/4i $pc\nkill\n' >launch.cmds
	live t/live-launch.log ./c20G launch.cmds "set cuda break_on_launch application"
}

stage_C() {
	step build build 1 10 20
	step "break, step, finish" live_modes
	step faults live_faults
	step "break on launch" live_launch
	wc -l t/*
	deadline=$budget
	step "pack text" pack textC t
	# shellcheck disable=SC2046
	step "pack dumps" pack_dumps dumpsC $(dumps)
}

vendor_include=$root/extras/Debugger/include

build_drive() {
	local include=$vendor_include
	if [ ! -e "$include/cudadebugger.h" ]; then # our own declaration of the same API
		include=.
		within 60 python3 "$here/../apigen.py" "$here/../../src/cudbg/api" header cudadebugger.h
	fi
	within 60 gcc -std=gnu11 -I"$include" -o drive "$here/drive.c" -ldl
}

drive_all() {
	local mode capabilities
	for mode in EAGER LAZY; do
		for capabilities in 10 2 3 11; do
			made "t/drive.$mode.$capabilities.log" "CUDA_MODULE_LOADING=$mode CAPS=$capabilities ./drive ./c20G"
			KEEP=images CAPS=$capabilities CUDA_MODULE_LOADING=$mode within 25 ./drive ./c20G >"t/drive.$mode.$capabilities.log" 2>&1
		done
	done
	head -120 t/drive.EAGER.10.log
}

drive_fault() {
	made t/drive.fault.log "./drive ./c1G"
	KEEP=images within 30 ./drive ./c1G >t/drive.fault.log 2>&1
}

# Our header against the vendor's, and our format tables against its cudacoredump.h.
headers() {
	within 60 python3 "$here/../../tests/oracle/headers.py" "$vendor_include" >t/headers.log 2>&1
	cat t/headers.log
}

stage_D() {
	step build build 1 20
	step "build drive" build_drive
	step headers headers
	step "client on a fault" drive_fault
	step client drive_all
	deadline=$budget
	step "pack text" pack textD t images
}

attach() { # PROCESS NAME
	made "t/$2.log" "cuda-gdb -batch -p ..., info cuda, bt, detach"
	within 40 "$gdb" -nx -batch -ex "set pagination off" -ex "set width 0" -ex "set debug cuda trace api,event" -p "$1" \
		-ex "info cuda devices" -ex "info cuda kernels" -ex "info cuda warps" -ex bt -ex "info registers R0 R1 R2 R3" -ex detach \
		>"t/$2.log" 2>&1 </dev/null
}

attach_twice() {
	local process
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
	true
}

# Two clients of one server: one faults; the other's dump is that of a victim.
mps() {
	local victim
	command -v nvidia-cuda-mps-control >/dev/null || { say "no nvidia-cuda-mps-control"; return; }
	export CUDA_MPS_PIPE_DIRECTORY=$work/mps CUDA_MPS_LOG_DIRECTORY=$work/mps-log
	mkdir -p mps mps-log
	within 20 nvidia-cuda-mps-control -d >t/mps.run 2>&1
	faulting d/mps-victim.core t/mps-victim.run ./c6G &
	victim=$!
	sleep 3
	faulting d/mps.core t/mps.run ./c1G
	wait $victim
	echo quit | timeout -k 5 20 nvidia-cuda-mps-control >>t/mps.run 2>&1
	cp mps-log/* t/ 2>/dev/null
	transcript d/mps.core t/mps.txt "$here/oracle.cmds"
	transcript d/mps-victim.core t/mps-victim.txt "$here/oracle.cmds"
}

stage_E() {
	step build build 1 6
	step attach attach_twice
	step MPS mps
	deadline=$budget
	step "pack text" pack textE t
	# shellcheck disable=SC2046
	step "pack dumps" pack_dumps dumpsE $(dumps)
}

mkdir -p d t images
: >commands
: >rows
versions >about
"stage_$stage"
# The versions, then a line per file: name, archive or "left out", bytes, sha256, how it was made.
cat about rows >"$OUT/manifest-$stage.tsv"
say "end of $stage"
