#!/usr/bin/env bash
# On sm_90 alone, linking device objects gives the inlined functions of the second object the names of those of the first.
#
# Guess before the run: a linked cubin names the inlined functions of each object as the object did, on every architecture, or on none.
#
# Seen (nvcc, ptxas and nvlink 13.0.88): a line table with inlined code ends its header with the offset in .debug_str from which its
# names count. nvlink sets it to the size of the earlier objects' names for sm_80, sm_89, sm_100 and sm_120. For sm_90 it leaves 0 in both
# tables, as ptxas writes no relocation there: `second_helper`, inlined in `second`, is `first_helper` for whoever reads the file.
# Neither tool says a word.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 \
	nvidia-cuda-runtime==13.0.88

for name in first second; do
	cat >$name.cu <<CU
__device__ __forceinline__ float ${name}_helper(const float *p, int i)
{
	return p[3 * i] + 1.f;
}
extern "C" __global__ void $name(const float *p, float *o)
{
	o[threadIdx.x] = ${name}_helper(p, threadIdx.x);
}
CU
done

# Names of all inlined functions, table by table.
cat >names.py <<'PY'
import re
import struct
import sys


def uleb(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


with open(sys.argv[1], 'rb') as file:
    elf = file.read()
table, = struct.unpack_from('<Q', elf, 40)
number, strings = struct.unpack_from('<HH', elf, 60)
headers = [struct.unpack_from('<IIQQQQIIQQ', elf, table + 64 * i) for i in range(number)]
sections = {elf[headers[strings][4] + h[0]:].split(b'\0', 1)[0]: elf[h[4]:h[4] + h[5]] for h in headers}
lines, at = sections[b'.debug_line'], 0
while at < len(lines):
    length, _, header = struct.unpack_from('<IHI', lines, at)
    start, end = at + 10 + header, at + 4 + length
    base, = struct.unpack_from('<I', lines, start - 4)
    for inlined in re.finditer(b'\0[\3-\x0a]\x90', lines[start:end]):
        _, name = uleb(lines, start + inlined.end())
        offset = base + uleb(lines, name)[0]
        print(sections[b'.debug_str'][offset:].split(b'\0', 1)[0].decode())
    at = end
PY

nvcc=$(find venv -path '*bin/nvcc')
nvlink=$(find venv -path '*bin/nvlink')
for arch in sm_80 sm_89 sm_90 sm_100 sm_120; do
	for name in first second; do
		"$nvcc" -arch=$arch -rdc=true -lineinfo -cubin $name.cu -o $name.cubin
		[ "$(python3 names.py $name.cubin | sort -u)" = "_Z$((${#name} + 7))${name}_helperPKfi" ]
	done
	"$nvlink" -arch=$arch first.cubin second.cubin -o linked.cubin >said 2>&1
	[ ! -s said ]
	names=$(python3 names.py linked.cubin | sort -u | paste -sd' ')
	echo "$arch: $names"
	case $arch in
	sm_90) [ "$names" = '_Z12first_helperPKfi' ] ;;
	*) [ "$names" = '_Z12first_helperPKfi _Z13second_helperPKfi' ] ;;
	esac
done
