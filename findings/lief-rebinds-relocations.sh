#!/usr/bin/env bash
# Reading a cubin with LIEF 1.0.0 and writing it again, with no change, moves line tables and code to other symbols.
#
# Guess before the run: LIEF does not know CUDA's relocation types, says so, and either refuses to write or copies the tables as they
# are; the file that comes out is the file that went in, byte for byte or nearly.
#
# Seen (LIEF 1.0.0, ptxas 13.0.88, sm_90): the symbol table of a cubin has its local symbols behind global ones, and its sh_info counts
# all symbols as local, so ELF's rule "locals first" does not hold. LIEF's writer puts the locals first, which renumbers the symbols, but
# leaves the symbol numbers in relocations as they were: it skips relocations of a machine that it does not know. What the line table
# (.rela.debug_line) said of kernel `first` it says of a symbol of reserved shared memory afterwards. The write reports no error. Section
# types of the vendor (0x70000000 and above) come out as SHT_NULL in the same file.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check nvidia-cuda-nvcc==13.0.88 lief==1.0.0

cat >in.ptx <<'PTX'
.version 9.0
.target sm_90
.address_size 64
.visible .entry first(.param .u64 out)
{
	.reg .b64 %rd<3>;
	.reg .b32 %r<2>;
	.loc 1 3 0
	ld.param.u64 %rd1, [out];
	cvta.to.global.u64 %rd2, %rd1;
	mov.u32 %r1, %tid.x;
	.loc 1 4 0
	st.global.u32 [%rd2], %r1;
	ret;
}
.visible .entry second(.param .u64 out)
{
	.reg .b64 %rd<3>;
	.reg .b32 %r<2>;
	.loc 1 7 0
	ld.param.u64 %rd1, [out];
	cvta.to.global.u64 %rd2, %rd1;
	mov.u32 %r1, %ctaid.x;
	.loc 1 8 0
	st.global.u32 [%rd2+4], %r1;
	ret;
}
.file 1 "two.cu"
PTX
"$(find venv -path '*/bin/ptxas')" -arch=sm_90 -lineinfo in.ptx -o in.cubin

cat >look.py <<'PY'
import struct
import sys

import lief


def tables(path):
    """Section types of the vendor, sh_info of the symbol table, and the symbol that each row of .rela.debug_line names."""
    data = open(path, 'rb').read()
    shoff, = struct.unpack_from('<Q', data, 40)
    shnum, shstrndx = struct.unpack_from('<HH', data, 60)
    rows = [struct.unpack_from('<IIQQQQIIQQ', data, shoff + 64 * i) for i in range(shnum)]

    def text(table, off):
        start = table[4] + off
        return data[start:data.index(b'\0', start)].decode()
    named = {text(rows[shstrndx], row[0]): row for row in rows}
    sym = named['.symtab']
    strings = rows[sym[6]]
    symbols = []
    for off in range(sym[4], sym[4] + sym[5], 24):
        name, info = struct.unpack_from('<IB', data, off)
        symbols.append((text(strings, name), info >> 4))
    rela = named['.rela.debug_line']
    uses = [symbols[struct.unpack_from('<QQ', data, off)[1] >> 32][0] for off in range(rela[4], rela[4] + rela[5], 24)]
    return {'vendor': sorted(n for n, row in named.items() if row[1] >= 0x70000000), 'info': sym[7], 'symbols': symbols, 'uses': uses}


before = tables('in.cubin')
lief.logging.disable()
lief.ELF.parse('in.cubin').write('out.cubin')
after = tables('out.cubin')
locals_last = max(i for i, (_, bind) in enumerate(before['symbols']) if bind == 0)
globals_first = min(i for i, (_, bind) in enumerate(before['symbols']) if bind != 0)
print('in: ', len(before['symbols']), 'symbols, sh_info', before['info'], 'first global', globals_first, 'last local', locals_last)
print('in:  line table belongs to', before['uses'], 'vendor sections', len(before['vendor']))
print('out: line table belongs to', after['uses'], 'vendor sections', len(after['vendor']))
ok = (before['info'] == len(before['symbols']) and globals_first < locals_last and sorted(before['uses']) == ['first', 'second']
      and not {'first', 'second'} & set(after['uses']) and before['vendor'] and not after['vendor'])
print('as described' if ok else 'CHANGED')
sys.exit(not ok)
PY
venv/bin/python look.py
