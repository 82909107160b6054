#!/usr/bin/env python3
"""Names in cubins against the vendor's disassembler, and their code and relocations through our assembler and back. Prints TAP.

usage: names.py WARPSCOPE FOLDER...   (with .cubin files; objects of -rdc=true have most names)

Compared with the disassembler ($NVDISASM, else on PATH) is each operand that a linker or loader fills in. Places in a function are
labels there and numbers here, and it numbers symbols that share a name: these are left out. An IMAD that only moves such a constant is
IMAD.U32 there and IMAD.MOV.U32 here. Without the disassembler, that part is skipped.
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', '..', 'builders')]

import cubin  # noqa: E402
import nvdis  # noqa: E402


def run(*command, **more):
    return subprocess.run(command, capture_output=True, check=False, timeout=120, **more).stdout.decode(errors='replace')


def theirs(path):
    """Counter of (offset in the section, text)"""
    found = collections.Counter()
    for row in run(nvdis.tool(), '-c', path).splitlines():
        insn = re.match(r'\s*/\*([0-9a-f]{4,})\*/\s*(.*?)\s*;', row)
        if insn and ('`(' in insn[2] or '32@' in insn[2]) and not re.search(r'\.L_x|\.text\.|@srel|__\d+\)|\.REL', insn[2]):
            found[int(insn[1], 16), nvdis.normalise(insn[2]).replace('IMAD.MOV.U32' if 'c[`(' in insn[2] else '\0', 'IMAD.U32')] += 1
    return found


def ours(program, path):
    """The same, in their spelling: a sum has parentheses of its own."""
    found = collections.Counter()
    for image in json.loads(run(program, 'disas', '--json', path))['images']:
        for function in image['functions']:
            base = function.get('inside', {}).get('offset', 0)
            for insn in function['instructions']:
                text = re.sub(r'\(([^()]*)([+-])0x([0-9a-f]+)\)', lambda m: f'(({m[1]} + {"-" if m[2] == "-" else ""}0x{m[3]}))',
                              insn['text'].split(' /*')[0])
                if 'c[`(' in text:
                    text = text.replace('IMAD.MOV.U32', 'IMAD.U32')
                found[base + insn['offset'], text] += 1
    return found


def through(program, path, folder):
    """None, or what the image made of the disassembly lacks: code by name, relocations of code."""
    made = os.path.join(folder, 'made.cubin')
    text = subprocess.run([program, 'disas', '--asm', path], capture_output=True, check=False).stdout
    done = subprocess.run([program, 'as', '-', '-o', made], input=text, capture_output=True, check=False)
    if done.returncode:
        return done.stderr.decode(errors='replace')[:300]
    if b'.word' in text:
        return re.search(rb'.*\.word.*', text)[0].decode(errors='replace')
    facts = []
    for name in (path, made):
        with open(name, 'rb') as data:
            image = cubin.Cubin(data.read())
        code = sorted((f.name, image.bytes_of(image.sections[f.shndx])[f.value:f.value + f.size]) for f in image.functions)
        facts.append((code, sorted((image.sections[r.target].name, r.offset, r.kind, image.symbols[r.symbol].name, r.addend or 0)
                                   for r in image.relocs if image.sections[r.target].name.startswith('.text'))))
    return None if facts[0] == facts[1] else 'other code' if facts[0][0] != facts[1][0] else 'other relocations'


def main(program, *folders):
    paths = sorted(path for folder in folders for path in glob.glob(os.path.join(folder, '*.cubin')))
    print(f'1..{2 * len(paths)}')
    failed = equal = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, path in enumerate(paths):
            why = through(program, path, folder)
            failed += why is not None
            print(f'{"ok" if why is None else "not ok"} {2 * number + 1} - {os.path.basename(path)} through its text')
            if why:
                print(f'# {why}')
            if not nvdis.tool():
                print(f'ok {2 * number + 2} - {os.path.basename(path)} names # SKIP no nvdisasm')
                continue
            wanted = theirs(path)
            missing = wanted - ours(program, path)
            equal += sum((wanted - missing).values())
            failed += bool(missing)
            print(f'{"not ok" if missing else "ok"} {2 * number + 2} - {os.path.basename(path)} names')
            if missing:
                print(f'# {len(missing)} differ: {list(missing)[:2]}')
    print(f'# {equal} operands are equal')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
