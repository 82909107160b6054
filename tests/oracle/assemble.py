#!/usr/bin/env python3
"""What `warpscope as` makes, read by NVIDIA's tools (12.4): nvdisasm shows the instructions and names that were written,
cuobjdump the resources. Prints TAP.

usage: assemble.py WARPSCOPE

Needs the peers script (README.md). Architectures newer than sm_90 are newer than the tools: skipped.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import peer  # noqa: E402

SOURCE = os.path.join(HERE, '../data/assembly/everything.s')
ARCHS = (70, 72, 75, 80, 86, 89, 90)
# What differs by architecture: start of the parameters and of shared variables.
PARAMS = {90: 0x210}
SHARED = {90: 0x400}


def wanted_code(sm):
    """{function: [text of each instruction written]}"""
    params, shared = PARAMS.get(sm, 0x160), SHARED.get(sm, 0)
    return {
        'saxpy': [
            'S2R R0, SR_CTAID.X', 'S2R R3, SR_TID.X', 'IMAD R0, R0, c[0x0][0x0], R3',
            f'ISETP.GE.AND P0, PT, R0, c[0x0][{params:#x}], PT', '@P0 BRA `(LABEL)',
            f'LDS R4, [{shared + 4:#x}]', f'LDS R5, [{shared + 0x200:#x}]', 'MOV R6, c[0x3][0x4]',
            'MOV R8, 32@lo((table + 0x8))', 'MOV R9, 32@hi((table + 0x8))', 'MOV R20, 32@lo((saxpy + LABEL@srel))',
            'MOV R21, 32@hi((saxpy + LABEL@srel))', 'CALL.ABS.NOINC `(leaf)', 'MOV R20, 0xf0',
            'CALL.REL.NOINC `($saxpy$inner)', 'NOP', 'MOV R4, 32@lo(vprintf)', 'DEPBAR.LE SB0, 0x0, {5,2}', 'EXIT',
            'BRA `(LABEL)', 'RET.REL.NODEC R20 `(saxpy)', *['NOP'] * 3],
        'leaf': ['FADD.FTZ R4, R4, -1', 'RET.ABS.NODEC R20 0x0', *['NOP'] * 6],
        'helper': ['EXIT', *['NOP'] * 7],
        'hidden': ['EXIT', *['NOP'] * 7],
    }


def code(text):
    """{function: instructions} of nvdisasm's text, labels without their numbers."""
    out, function = {}, None
    for row in text.splitlines():
        start = re.match(r'\s*\.section\s+\.text\.([^,\s]+),', row)
        insn = re.match(r'\s*/\*[0-9a-f]{4,}\*/\s*(.*?)\s*;', row)
        if start:
            function = out.setdefault(start[1], [])
        elif insn:
            function.append(re.sub(r'\.L_x_\d+', 'LABEL', re.sub(r'\s+', ' ', insn[1])))
    return out


def resources(text):
    """{function: {what: number}} of cuobjdump -res-usage."""
    return {name: {k: int(v) for k, v in re.findall(r'([A-Z]+(?:\[\d\])?):(\d+)', usage)}
            for name, usage in re.findall(r'Function (\S+):\n(.*)', text)}


def check(peers, program, sm, folder):
    """[(what, None or why not)]"""
    done = subprocess.run([program, 'as', SOURCE, '--arch', f'sm_{sm}', '-o', os.path.join(folder, 'x.cubin')],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return [('assembles', done.stderr[:300])]

    def tool(*command):
        return subprocess.run([peers, *command, 'x.cubin'], cwd=folder, capture_output=True, text=True, check=False).stdout
    have, want = code(tool('nvdisasm', '-c')), wanted_code(sm)
    difference = next((f'{name}: {have.get(name)}' for name in want if have.get(name) != want[name]), None)
    used = resources(tool('cuobjdump', '-res-usage')).get('saxpy')
    wanted = {'REG': 16, 'STACK': 48, 'SHARED': SHARED.get(sm, 0) + 517, 'CONSTANT[0]': PARAMS.get(sm, 0x160) + 48}
    same = used and {k: used.get(k) for k in wanted} == wanted
    dump = tool('cuobjdump', '-elf')
    sizes = [int(n, 16) for n in re.findall(r'Ordinal : \S+\s+Offset\s+: \S+\s+Size\s+: (\S+)', dump)]
    exits = re.search(r'EIATTR_EXIT_INSTR_OFFSETS\s+Format:\s+EIFMT_SVAL\s+Value:\s+(.*)', dump)
    return [
        ('nvdisasm shows what was written', difference),
        ('cuobjdump shows its resources', None if same else f'{used}, wanted {wanted}'),
        ('cuobjdump shows its parameters', None if sizes == [8, 12, 8, 4, 4] else str(sizes)),
        ('cuobjdump shows its exits', None if exits and exits[1].split() == ['0x120'] else str(exits)),
    ]


def main(program):
    peers, why = peer.find()
    if not peers:
        print(f'1..0 # SKIP {why}')
        return 0
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for sm in ARCHS:
            results += [(f'sm_{sm}: {what}', why) for what, why in check(peers, os.path.abspath(program), sm, folder)]
    print(f'1..{len(results)}')
    for number, (what, why) in enumerate(results, 1):
        print(f'{"not ok" if why else "ok"} {number} - {what}')
        if why:
            print(f'# {why[:500]}')
    return 1 if any(why for _, why in results) else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
