#!/usr/bin/env python3
"""`warpscope disas`: text and JSON say the same, blocks cover the code, marks and values are those of the thread, calls have
names. Prints TAP.

usage: test_disas.py WARPSCOPE SOURCE_ROOT
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import schemas

ENDS = {'BRA', 'EXIT', 'RET', 'BRX', 'JMP', 'CALL', 'BSYNC', 'BREAK', 'WARPSYNC', 'KILL'}


class Tests:
    def __init__(self, program, root):
        self.program, self.root, self.number, self.failed = program, root, 0, 0

    def result(self, name, why):
        """`why`: None when it is as it should be."""
        self.number += 1
        self.failed += why is not None
        print(f'{"ok" if why is None else "not ok"} {self.number} - {name}')
        if why is not None:
            print(f'# {why}')

    def run(self, *arguments, verb='disas'):
        return subprocess.run([self.program, verb, *arguments], cwd=self.root, capture_output=True, text=True, check=False,
                              timeout=60)

    def json(self, name, *arguments):
        """The answer, checked against the schema."""
        answer = json.loads(self.run('--json', *arguments).stdout)
        if schemas.INSTALLED:
            self.result(f'{name} fits the schema', schemas.misfit(answer))
        else:
            self.number += 1
            print(f'ok {self.number} - {name} fits the schema # SKIP {schemas.SKIPPED}')
        return answer


def lines(text):
    """[(mark, offset, text)] of the instructions of a page."""
    return [(m[1].strip(), int(m[2], 16), m[3]) for m in re.finditer(r'^(...)/\*([0-9a-f]{4,})\*/  (.*)$', text, re.M)]


def functions(answer):
    return [f for image in answer['images'] for f in image['functions']]


def whole_file(tests, path):
    name = os.path.basename(path)
    answer = tests.json(name, path)
    said = [(i['offset'], i['text']) for f in functions(answer) for i in f['instructions']]
    shown = [(off, text) for _, off, text in lines(tests.run(path).stdout)]
    tests.result(f'{name}: JSON and text say the same', None if said == shown and said else f'{said[:3]} {shown[:3]}')
    tests.result(f'{name}: all are counted', None if len(said) == answer['instructions'] else str(len(said)))


def blocks_of(tests, path):
    name = os.path.basename(path)
    answer = tests.json(f'{name} --cfg', '--cfg', path)
    why = None
    for f in functions(answer):
        code = {i['offset']: i['text'] for i in f['instructions']}
        at = 0
        for number, block in enumerate(f['blocks']):
            last = re.sub(r'^@\S+ ', '', code[block['end'] - 16]).split()[0].split('.')[0]
            if block['offset'] != at or block['end'] <= at:
                why = f'{f["function"]}: block {number} starts at {block["offset"]}, not {at}'
            if len(block['successors']) > 1 and last not in ENDS | {'BSSY'}:
                why = f'{f["function"]}: block {number} branches with {last}'
            if any(number not in f['blocks'][s]['predecessors'] for s in block['successors']):
                why = f'{f["function"]}: block {number} has successors that do not know it'
            at = block['end']
        if at != 16 * len(code):
            why = f'{f["function"]}: blocks end at {at} of {16 * len(code)}'
    tests.result(f'{name}: blocks cover the code', why)
    graph = tests.run('--cfg', '-Tdot', path).stdout
    nodes, edges = len(re.findall(r'^  b\d+ \[label', graph, re.M)), len(re.findall(r'^  b\d+ -> b\d+', graph, re.M))
    wanted = (sum(len(f['blocks']) for f in functions(answer)),
              sum(len(b['successors']) + ('callee' in b) for f in functions(answer) for b in f['blocks']))
    tests.result(f'{name}: the graph has the same', None if (nodes, edges) == wanted else f'{nodes}, {edges}, not {wanted}')
    text = tests.run('--cfg', path).stdout
    headings, names = re.findall(r'^([^ \n].*):$', text, re.M), [f['function'] for f in functions(answer)]
    tests.result(f'{name}: the text names each function', None if len(headings) == len(names) else f'{headings} {names}')
    tests.result(f'{name}: the text has the same', None if len(re.findall('^block', text, re.M)) == wanted[0] else text[:300])


def thread(tests, path, lane, *words):
    """The values at the pc are those that `regs` prints of the same thread."""
    name = f'{os.path.basename(path)} lane {lane} {" ".join(words)}'
    answer = tests.json(name, '--regs', str(lane), path, *words)
    place = answer['thread']
    if lane != 'current':
        tests.result(f'{name}: it is that lane', None if place['lane'] == lane else str(place))
    regs = json.loads(tests.run('--json', path, 'device', str(place['device']), 'sm', str(place['sm']), 'warp',
                                str(place['warp']), 'lane', str(place['lane']), verb='regs').stdout)['lanes'][0]
    found = [i for i in answer['function']['instructions'] if i['pc']]
    why = None if len(found) == 1 and place['pc'] == regs['pc'] else f'{len(found)} marked as pc'
    for value in found[0]['registers'] if found else []:
        kind, number = re.match(r'(\D+)(\d+)', value['name']).groups()
        if value['value'] != regs[kind][int(number)]:
            why = f'{value}, regs says {regs[kind][int(number)]}'
    tests.result(f'{name}: values at the pc', why)
    error = [i['offset'] for i in answer['function']['instructions'] if i['errorpc']]
    distance = int(regs['pc'], 16) - int(regs['errorpc'], 16) if regs['errorpc'] else None
    wanted = [found[0]['offset'] - distance] if distance is not None else []
    tests.result(f'{name}: errorpc', None if error == wanted else f'{error}, not {wanted}')
    marks = {mark: off for mark, off, _ in lines(tests.run('--regs', str(lane), path, *words).stdout) if mark}
    wanted = {'=>': found[0]['offset'], **({'*>': error[0]} if error else {})}
    tests.result(f'{name}: marks', None if marks == wanted else f'{marks}, not {wanted}')


def overwritten(tests):
    """-G code: R4 is the address and the result of the faulting load; the neighbour R5 is not written."""
    answer = json.loads(tests.run('--json', '--regs', 'current', 'examples/dumps/misaligned-G.nvcudmp').stdout)
    load = next(i for i in answer['function']['instructions'] if i['errorpc'])
    values = {r['name']: r for r in load['registers']}
    good = load['text'] == 'LD.E R4, [R4.64]' and values['R4']['value'] is None and \
        values['R4']['value_why'] == 'absent' and isinstance(values['R5']['value'], int)
    tests.result('a value that was overwritten since is not shown', None if good else str(load))


def inner(tests):
    """calls.cu: three functions inside the kernel's section. Every instruction is listed once, each with the kernel's offset."""
    path = 'tests/data/cubins/calls.li.sm_80.cubin'
    answer = tests.json('functions inside a kernel', path)
    whole = tests.json('the same in blocks', '--cfg', path)
    kernel = next(f for f in functions(whole) if f['function_mangled'] == '_Z8checksumPKciiPi')
    words = {i['offset']: i['word'] for i in kernel['instructions']}
    seen, why = {}, None
    for f in functions(answer):
        inside = f.get('inside', {'function_mangled': f['function_mangled'], 'offset': 0, 'kernel': True})
        if (inside['function_mangled'], inside['kernel']) != ('_Z8checksumPKciiPi', True):
            why = str(inside)
        for insn in f['instructions']:
            at = inside['offset'] + insn['offset']
            if at in seen:
                why = f'{at:#x} is listed twice'
            seen[at] = insn['word']
    found = sorted(f['function'] for f in functions(answer))
    wanted = ['checksum(char const*, int, int, int*)', 'fold(Cursor, int)', 'read_word(char const*)', 'sum_row(Cursor, int)']
    tests.result('each is listed, with its kernel', None if found == wanted and not why else f'{found}, {why}')
    tests.result('each instruction once', None if seen == words else f'{len(seen)} of {len(words)}')
    code = b''.join(int(words[off], 16).to_bytes(16, 'little') for off in sorted(words))
    with open(os.path.join(tests.root, path), 'rb') as handle:
        tests.result('words are those of the file', None if code and code in handle.read() else f'{len(words)} words')
    tests.result('blocks show all in the kernel', None if len(functions(whole)) == 1 else str(len(functions(whole))))
    text = tests.run(path).stdout
    tests.result('the heading names the kernel', None if '\nsum_row (inside checksum, at 0x5f0):\n' in text else text[:300])
    around = tests.run('--function', 'checksum', '--pc', '0x600', path).stdout
    tests.result('an offset in the kernel may lie in one of them', None if '=> /*0600*/' in around else around[:300])


def names(tests):
    cubins = 'tests/data/cubins'
    for path, function, wanted in (
            ('bare.none.sm_80.cubin', 'no_lines', '/*0090*/  CALL.REL.NOINC `(_Z6lookupPKii)'),
            ('bare.none.sm_80.cubin', 'lookup', '/*0050*/  RET.REL.NODEC R4 `(_Z8no_linesPKiS0_Pi)'),
            ('linked.li.sm_80.cubin', 'linked', 'CALL.ABS.NOINC `(_Z7outsidePKfi)'),
            ('linked.li.sm_90.cubin', 'linked', 'CALL.ABS.NOINC `(_Z7outsidePKfi)'),
            ('linked.li.sm_90.cubin', 'linked', '32@hi(_Z6linkedPfPKfi+0x'),
            ('names.none.sm_80.cubin', 'names', '/*0090*/  FADD R0, R2, c[`(kMetric+0xc)]'),
            ('names.none.sm_80.cubin', 'names', '/*00a0*/  STS [R5.X4+`($___ZZ5namesPfPKfiE4tile__38)], R0'),
            ('names.none.sm_80.cubin', 'names', 'LDC R2, c[R6+`(_Z5namesPfPKfi.const_opt.0.16-0x8000)]'),
            ('names.none.sm_80.cubin', 'names', '/*0140*/  BRX R2 -0x150  // to 0x150, 0x210, 0x250, 0x3c0\n'),
            ('names.none.sm_80.cubin', 'names', 'CALL.ABS.NOINC `(_Z7outsidefi)'),
            ('names.none.sm_80.cubin', 'names', '/*0470*/  MOV R3, c[`(kElsewhere+0xc)]'),
            ('names.none.sm_90.cubin', 'names', 'UMOV UR4, `($___ZZ5namesPfPKfiE4tile__38)'),
            ('names.none.sm_90.cubin', 'names', 'ULDC UR6, c[`(kMetric+0xc)]'),
            ('names.none.sm_90.cubin', 'names', 'LDC R3, c[`(kElsewhere+0xc)]'),
            ('names.none.sm_90.cubin', 'names', 'UMOV UR6, `(dynamic)'),
            ('textures-object.none.sm_80.cubin', 'textures', ', 0x0, `(colours), 2D'),
            ('textures-object.none.sm_80.cubin', 'textures', ', 0x0, `(picture)'),
            ('textures.none.sm_80.cubin', 'textures', ', 0x0, 0x5b, 2D, 0x1  // colours\n'),
            ('textures.none.sm_80.cubin', 'textures', ', 0x0, 0x5d  // picture\n'),
            ('textures.none.sm_80.cubin', 'textures', 'c[0x3][0x14], R'),
            ('textures.none.sm_80.cubin', 'textures', '  // kScale+0x14\n'),
            ('textures.none.sm_90.cubin', 'textures', 'c[0x0][0x21c]  // colours\n'),
            ('stop.li.sm_90.cubin', '_Z11check_indexii', '/*0070*/  ULDC.64 UR4, c[0x4][0x8]  // address of $str\n'),
            ('names.none.sm_100.cubin', 'names', 'LDCU UR6, c[`(kMetric+0xc)]'),
            ('names.none.sm_100.cubin', 'names', 'UMOV UR4, 32@lo(gElsewhere)'),
            ('../sim/child.O3.fatbin', 'parent_of_bad', 'UMOV UR5, 32@hi(fun@fdesc(bad_child))')):
        text = tests.run('--function', function, os.path.join(cubins, path)).stdout
        tests.result(f'{path}: {wanted!r}', None if wanted in text else text[:2000].replace('\n', '\n# '))
    insns = [i for f in functions(tests.json('constants', os.path.join(cubins, 'textures.none.sm_80.cubin'))) for i in f['instructions']]
    found = sorted((i['constant']['symbol'], i['constant']['offset'], i['constant']['address']) for i in insns if 'constant' in i)
    wanted = [('colours', 0, False), ('heights', 0, False), ('heights', 0, False), ('kScale', 20, False), ('picture', 0, False)]
    tests.result('constants in JSON', None if found == wanted else str(found))
    insns = [i for f in functions(tests.json('an object', os.path.join(cubins, 'names.none.sm_90.cubin'))) for i in f['instructions']]
    tests.result('no places in an object', None if not any('constant' in i for i in insns) else 'a place that a linker moves has a name')


def relocations(tests):
    """JSON of an object: all of the image's relocations of code, and the targets of branches."""
    import cubin  # pylint: disable=import-outside-toplevel,import-error
    for sm in (80, 90, 100):
        path = f'tests/data/cubins/names.none.sm_{sm}.cubin'
        with open(os.path.join(tests.root, path), 'rb') as data:
            image = cubin.Cubin(data.read())
        code = image.section('.text._Z5namesPfPKfi')
        wanted = sorted((r.offset, r.kind, image.symbols[r.symbol].name, r.addend or 0) for r in image.relocs
                        if r.target == code.index)
        insns = functions(tests.json(f'names sm_{sm}', path))[0]['instructions']
        found = sorted((i['offset'], r['type'], r.get('symbol', ''), r['addend']) for i in insns for r in i.get('relocations', []))
        tests.result(f'sm_{sm}: relocations', None if found == wanted and len(found) > 10 else f'{found}, not {wanted}')
        branches = [i for i in insns if i['text'].startswith('BRX')]
        good = len(branches) == 2 and all(len(i['targets']) > 2 and i['offset'] + 16 in i['targets'] for i in branches)
        tests.result(f'sm_{sm}: targets', None if good else str(branches))


def unknown_bits(tests):
    """An instruction that no table has is counted, whatever shows it."""
    import cubin  # pylint: disable=import-outside-toplevel,import-error
    with open(os.path.join(tests.root, 'tests/data/cubins/pair.li.sm_90.cubin'), 'rb') as file:
        data = bytearray(file.read())
    at = next(s.offset for s in cubin.Cubin(bytes(data)).sections if s.name.startswith('.text.'))
    data[at + 32:at + 48] = b'\xff' * 16
    with tempfile.NamedTemporaryFile(suffix='.cubin') as file:
        file.write(data)
        file.flush()
        for form in ((), ('--asm',), ('--cfg',), ('--cfg', '-Tdot')):
            said = tests.run(*form, file.name).stderr
            good = said == f'warpscope: {file.name}: 1 of 128 instructions have unknown bits\n'
            tests.result(f'unknown bits are counted {" ".join(form)}', None if good else said)


def refusals(tests):
    cubin, dump = 'tests/data/cubins/bare.none.sm_80.cubin', 'examples/dumps/hang.nvcudmp'
    for arguments, status in ((('--cfg', '-Tpng', cubin), 2), (('-Tdot', cubin), 2), (('--cfg', '--source', cubin), 2),
                              (('--regs', '32', dump), 2), (('--regs', '1', '--cfg', dump), 2), ((dump, 'wrap', '1'), 2),
                              ((dump, 'warp', '99'), 1), (('--regs', '0', cubin), 1)):
        done = tests.run(*arguments)
        good = done.returncode == status and not done.stdout and done.stderr.count('\n') == 1
        tests.result(' '.join(arguments), None if good else str(done))


def main(program, root):
    tests = Tests(os.path.abspath(program), root)
    cubins = [os.path.join('tests/data/cubins', n) for n in
              ('calls.li.sm_80.cubin', 'nested.li.sm_90.cubin', 'deep.li.sm_100.cubin', 'linked.li.sm_90.cubin')]
    for path in cubins:
        whole_file(tests, path)
        blocks_of(tests, path)
    for path, lane, *words in (('illegal-address', 'current'), ('illegal-address', 5), ('misaligned-G', 3), ('hang', 31, 'warp', '1'),
                               ('hang', 0, 'block', '(0,0,0)')):
        thread(tests, f'examples/dumps/{path}.nvcudmp', lane, *words)
    overwritten(tests)
    inner(tests)
    names(tests)
    sys.path.insert(0, os.path.join(root, 'tests/builders'))
    relocations(tests)
    unknown_bits(tests)
    refusals(tests)
    print(f'1..{tests.number}')
    return 1 if tests.failed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:3]))
