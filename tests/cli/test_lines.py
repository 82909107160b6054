#!/usr/bin/env python3
"""`warpscope lines` and `symbolize`: every question's JSON fits its schema, over cubins, a fatbin, a program, an object, an archive
and a damaged cubin, and says what the text says. Prints TAP.

usage: test_lines.py WARPSCOPE SOURCE_ROOT BUILT (the folder with host.program, host.object, host.archive)
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import schemas


class Tests:
    def __init__(self, program):
        self.program, self.number, self.failed = program, 0, 0

    def result(self, name, why):
        """`why`: None when it is as it should be."""
        self.number += 1
        self.failed += why is not None
        print(f'{"ok" if why is None else "not ok"} {self.number} - {name}')
        if why is not None:
            print(f'# {why}')

    def run(self, verb, *arguments):
        return subprocess.run([self.program, verb, *arguments], capture_output=True, text=True, check=False, timeout=60).stdout

    def fits(self, name, answers):
        if not schemas.INSTALLED:
            self.number += 1
            print(f'ok {self.number} - {name} fit the schema # SKIP {schemas.SKIPPED}')
            return
        why = next((f'{what}: {why}' for what, answer in answers if (why := schemas.misfit(answer))), None)
        self.result(f'{name} fit the schema', why)

    def json(self, verb, *arguments):
        return json.loads(self.run(verb, '--json', *arguments))


QUESTIONS = {
    'rows': [],
    'opcodes': ['--raw'],
    'chains of a pc': ['--pc', '0x20'],
    'code of a line': ['--source', 'nested.h:12'],
}


def inputs(root, built, folder):
    cubins = os.path.join(root, 'tests/data/cubins')
    files = [os.path.join(cubins, f) for f in sorted(os.listdir(cubins)) if f.endswith('.cubin')]
    files += [os.path.join(root, 'tests/data/fatbins', f) for f in ('bare.li.zstd.fatbin', 'bare.G.lz4.fatbin')]
    files += [os.path.join(built, f) for f in ('host.program', 'host.object', 'host.archive')]
    damaged = os.path.join(folder, 'damaged.cubin')
    with open(os.path.join(cubins, 'nested.li.sm_80.cubin'), 'rb') as file:
        data = bytearray(file.read())
    at = data.index(b'\x00\x03\x90')  # the first inlined call, from now on at a row that is not there
    data[at + 3] = 0x7f
    with open(damaged, 'wb') as file:
        file.write(data)
    return files + [damaged]


def same_rows(tests, path):
    """Offsets of the rows in the text are those of the JSON."""
    rows = [row['offset'] for image in tests.json('lines', path)['images'] for f in image['functions'] for row in f['rows']]
    shown = [line.split()[1] for line in tests.run('lines', path).splitlines() if line[:6].strip().isdigit()]
    tests.result(f'{os.path.basename(path)}: text and JSON have the same rows', None if rows == shown and rows else
                 f'{len(rows)} {len(shown)}')


def same_sizes(tests, path, sizes, *words):
    """Bytes of each function in both forms; an inner one begins inside its section."""
    said = {f['function'].split('(')[0]: f['bytes'] for image in tests.json('lines', *words, path)['images'] for f in image['functions']}
    shown = {name: int(size) for name, size in re.findall(r'^(?:kernel|function) (.*), (\d+) bytes$', tests.run('lines', *words, path), re.M)}
    tests.result(f'{os.path.basename(path)}: functions have their sizes', None if said == shown == sizes else f'{said} {shown}')


def same_opcodes(tests, path):
    """The opcodes in the text are those of the JSON, with the rows that they make."""
    tables = [table for image in tests.json('lines', '--raw', path)['images'] for table in image['tables']]
    said = [(int(op['offset'], 16), op.get('row')) for table in tables for op in table['program']]
    shown = [(int(m[1], 16), int(m[2]) if m[2] else None) for m in
             re.finditer(r'^  \[ *([0-9a-f]+)\]  .*?(?:-> row (\d+))?$', tests.run('lines', '--raw', path), re.M)]
    tests.result(f'{os.path.basename(path)}: text and JSON have the same opcodes', None if said == shown and any(row for _, row in said) else
                 f'{said[:5]} {shown[:5]}')
    lost = [op for table in tables for op in table['program'] if len({'row', 'address', 'line'} & set(op)) not in (0, 3)]
    tests.result(f'{os.path.basename(path)}: an opcode that makes a row says where', str(lost[:3]) if lost else None)


def every_opcode(tests, root, folder, version):
    """A line table of our own in the place of another: each standard and extended opcode is told with its operands."""
    with open(os.path.join(root, 'tests/data/cubins/nested.li.sm_80.cubin'), 'rb') as file:
        data = bytearray(file.read())
    at = data.index((537).to_bytes(4, 'little') + b'\2\0')
    more = version >= 4  # one byte: operations per instruction
    head = bytes([4] + [1] * more + [1, 0xfd, 10, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + b'dir\0\0one.cu\0\1\2\3\0'
    program = b'\0\x09\2' + (0x1000).to_bytes(8, 'little')
    program += bytes([1, 2, 5, 3, 7, 4, 1, 5, 9, 6, 7, 8, 9, 0x34, 0x12, 10, 11, 12, 3, 33])
    program += b'\0\x08\3two\0\1\5\7' + b'\0\3\4\x85\1' + b'\0\1\1'
    rest = 537 - 2 - 4 - len(head) - len(program) - 3
    program += bytes([0, rest & 0x7f | 0x80, rest >> 7, 0x70]) + bytes(rest - 1)
    unit = version.to_bytes(2, 'little') + len(head).to_bytes(4, 'little') + head + program
    data[at + 4:at + 4 + 537] = unit
    path = os.path.join(folder, 'opcodes.cubin')
    with open(path, 'wb') as file:
        file.write(data)
    want = """  length: 537
  version: 2
  header length: 33
  minimum instruction length: 4
  initial is_stmt: 1
  line base: -3
  line range: 10
  opcode base: 13
  operands of opcodes: 0 1 1 1 1 0 0 0 1 0 0 1
  directories:
    1  dir
  files:
    1  time 2, size 3, dir/one.cu
  program:
  [    2b]  extended opcode 2: set address to 0x1000
  [    36]  copy  -> row 1
  [    37]  advance address by 20 to 0x1014
  [    39]  advance line by 7 to 8
  [    3b]  set file to 1
  [    3d]  set column to 9
  [    3f]  set is_stmt to 0
  [    40]  set basic block
  [    41]  advance address by 96 to 0x1074 (constant)
  [    42]  advance address by 4660 to 0x22a8 (fixed)
  [    45]  set prologue end
  [    46]  set epilogue begin
  [    47]  set isa to 3
  [    49]  special opcode 33: address+8 = 0x22b0, line-3 = 5  -> row 2
  [    4a]  extended opcode 3: define file two
  [    54]  extended opcode 4: set discriminator to 133
  [    59]  extended opcode 1: end of sequence  -> row 3
  [    5c]  extended opcode 112: unknown, 449 bytes
"""
    said = tests.run('lines', '--raw', path)
    if more:
        want = re.sub(r'\[ +([0-9a-f]+)\]', lambda m: f'[{int(m[1], 16) + 1:6x}]', want)
        want = want.replace('version: 2', 'version: 4').replace('header length: 33', 'header length: 34').replace(
            'length: 4\n', 'length: 4\n  operations per instruction: 1\n').replace('449 bytes', '448 bytes')
    tests.result(f'version {version}: every opcode is told with its operands', None if said == '\nline table at 0x0\n' + want else said.replace('\n', '|'))


def late_start(tests, root, folder):
    """A table that begins behind the function's first instruction, as ptxas 9 wrote: an opcode that says nothing becomes an advance
    of 0x20, and the next advance is as much shorter."""
    name = os.path.join(root, 'tests/data/cubins/wait.li.sm_90.cubin')
    with open(name, 'rb') as file:
        data = file.read()
    start = data.rindex(bytes.fromhex('0401 0303 01 f2 0302 02c000 01'))
    late = os.path.join(folder, 'late.cubin')
    with open(late, 'wb') as file:
        file.write(data[:start] + bytes([2, 0x20]) + data[start + 2:start + 8] + bytes([2, 0xa0]) + data[start + 10:])
    before, after = ([f for image in tests.json('lines', path)['images'] for f in image['functions']] for path in (name, late))
    changed = [pair for pair in zip(before, after) if pair[0] != pair[1]]
    why = None
    if len(before) != len(after) or len(changed) != 1:
        why = f'{len(changed)} functions changed'
    else:
        (old, new), = changed
        offsets = [[int(row['offset'], 16) for row in f['rows']] for f in (old, new)]
        if old['bytes'] != new['bytes'] or offsets[1] != [at + (0x20 if i < 2 else 0) for i, at in enumerate(offsets[0])]:
            why = f'{old["bytes"]}, {new["bytes"]} bytes; {offsets}'
        text = tests.run('lines', late, '--function', new['function_mangled'])
        if f', {new["bytes"]} bytes\n' not in text or f'     0x{offsets[1][0]:x} ' not in text:
            why = why or text
    tests.result('a table that begins late has its own offsets', why)


def unknown_code(tests, folder):
    """Rows of that table: nobody knows whose code it is; a column and is_stmt are told where the row has them."""
    path = os.path.join(folder, 'opcodes.cubin')
    text = tests.run('lines', path)
    tests.result('code of an unknown function', None if text == """
code of an unknown function, 4784 bytes
   row   offset   bytes  position
     1      0x0    4784  one.cu:1
     2   0x12b0       -  one.cu:5
     3   0x12b0       -  end
""" else text.replace('\n', '|'))
    (function,) = tests.json('lines', path)['images'][0]['functions']
    rows = [(r['line'], r.get('column'), r['bytes'], r['is_stmt'], r['end_sequence']) for r in function['rows']]
    tests.result('its rows', None if rows == [(1, None, 4784, True, False), (5, 9, 0, False, False), (5, 9, 0, False, True)] and
                 function['function'] is None else str(function))
    text = tests.run('lines', '--source', 'one.cu:1', path)
    tests.result('code of its line', None if text == '?+0x0, 4784 bytes\n' else text)


def unnamed(tests, folder):
    """Columns, a file that the table does not have and names that the strings do not have, in each answer."""
    import bombs  # pylint: disable=import-outside-toplevel,import-error

    def named(opcode, *numbers):
        body = bytes([opcode]) + b''.join(bombs.uleb(number) for number in numbers)
        return b'\0' + bombs.uleb(len(body)) + body
    step = b'\2\x10\x14'  # 16 bytes, and a row that is 5 lines on
    program = bombs.set_address() + b'\x14\5\7' + step + b'\4\x09' + step + b'\4\1' + named(0x90, 1, 1) + step
    program += named(0x91, 1) + named(0x90, 2, 5000) + step + b'\2\x10' + bombs.END
    path = os.path.join(folder, 'unnamed.cubin')
    with open(path, 'wb') as out:
        out.write(bombs.line_image(bombs.line_table(program)))
    text = tests.run('lines', path)
    tests.result('rows without names', None if text == """
kernel kernel, 80 bytes
   row   offset   bytes  position
     1      0x0      16  a.cu:6
     2     0x10      16  a.cu:11
     3     0x20      16  ?:16
     4     0x30      16  a.cu:21  in inlined <- a.cu:6
     5     0x40      16  a.cu:26  in ? <- a.cu:11
     6     0x50       -  end
""" else text.replace('\n', '|'))
    raw = [line.split('extended opcode ')[1] for line in tests.run('lines', '--raw', path).splitlines() if ': set function' in line or 'inlined call' in line]
    tests.result('opcodes with names', None if raw == ['144: inlined call: context 1, name at 0x1 inlined', '145: set function name at 0x1 inlined',
                                                       '144: inlined call: context 2, name at 0x1388 (outside .debug_str)'] else str(raw))
    chains = {f'kernel+{pc:#x}': chain for pc, chain in (
        (0, [('kernel', 'a.cu', 6, None)]), (0x1f, [('kernel', 'a.cu', 11, 7)]), (0x20, [('kernel', None, 16, 7)]),
        (0x30, [('inlined', 'a.cu', 21, 7), ('kernel', 'a.cu', 6, None)]), (0x40, [(None, 'a.cu', 26, 7), ('kernel', 'a.cu', 11, 7)]))}
    for (place, wanted), answer in zip(chains.items(), tests.json('symbolize', path, *chains)['answers']):
        found = [(p['function_mangled'], p['file'], p['line'], p.get('column')) for p in answer['positions']]
        why = {word: value for p in answer['positions'] for word, value in p.items() if word.endswith('_why')}
        said = {'file_why': 'absent'} if wanted[0][1] is None else {} if wanted[0][0] else {'function_why': 'damaged', 'function_mangled_why': 'damaged'}
        tests.result(f'positions of {place}', None if (found, why) == (wanted, said) else f'{found} {why}')
    text = tests.run('symbolize', path, 'kernel+0x20', 'kernel+0x40')
    tests.result('positions as text', None if re.findall(r'#.*', text) == ['#0 kernel at ?:16', '#0 ? at a.cu:26 (inlined)', '#1 kernel at a.cu:11'] else
                 text.replace('\n', '|'))


def same_answer(tests, path, place):
    """`symbolize FUNCTION+OFFSET` and `lines --function --pc` give the same chain."""
    function, offset = place.split('+')
    answer = tests.json('symbolize', path, place)['answers'][0]
    (image,) = (i for i in tests.json('lines', '--function', function, '--pc', offset, path)['images']
                if i['image'] == answer['image'])
    tests.result(f'{os.path.basename(path)}: {place} is the same to both verbs',
                 None if answer['positions'] == image['answers'][0]['positions'] else str(answer))


def dropped(tests, root, folder):
    """A function that nvlink dropped: its lines are left out and counted, unless relocations are lost."""
    path = os.path.join(root, 'tests/data/cubins/dropped.li.sm_90.cubin')
    image = tests.json('lines', path)['images'][0]
    names = [f.get('function_mangled', '?') for f in image['functions']]
    tests.result('no sequence without a function', None if sorted(names) == ['_Z4keepPi', '_Z4usedi'] and image['dropped'] == 1 else
                 f'{names}, {image.get("dropped")}')
    image = tests.json('lines', '--source', 'dropped.cu:9', path)['images'][0]
    tests.result('no code of a dropped line', None if image['code'] == [] and image['dropped'] > 0 else str(image))
    done = subprocess.run([tests.program, 'lines', path], capture_output=True, text=True, check=False, timeout=60)
    good = done.stderr.endswith('left out: 1 piece of functions that the linker dropped\n') and 'unknown' not in done.stdout
    tests.result('the page says so', None if good else str(done))
    sys.path.insert(0, os.path.join(root, 'tests/builders'))
    import cubin  # pylint: disable=import-outside-toplevel,import-error
    with open(path, 'rb') as data:
        whole = bytearray(data.read())
    found = cubin.Cubin(whole)
    relocs = next(r.section for r in found.relocs if found.sections[r.target].name == '.debug_line')
    at = found.shoff + 64 * relocs.index + 32  # sh_size
    size = int.from_bytes(whole[at:at + 8], 'little')
    whole[at:at + 8] = len(whole).to_bytes(8, 'little')  # cut off by the end of the file
    cut = os.path.join(folder, 'cut.cubin')
    with open(cut, 'wb') as out:
        out.write(whole)
    image = tests.json('lines', cut)['images'][0]
    unknown = [f for f in image['functions'] if f['function'] is None]
    tests.result('with relocations lost it is not known whose they are', None if unknown and 'dropped' not in image and size else str(image)[:300])


def architectures(tests, path):
    """--arch chooses images by the number, and by the letter of a variant if there is one; other words are refused."""
    for word, wanted in (('sm_90', ['sm_90', 'sm_90']), ('90', ['sm_90', 'sm_90']), ('sm_80', ['sm_80']), ('sm_90a', None), ('sm_9', None)):
        done = subprocess.run([tests.program, 'lines', '--json', '--arch', word, path], capture_output=True, text=True, check=False,
                              timeout=60)
        found = [image['arch'] for image in json.loads(done.stdout)['images']] if done.stdout else None
        tests.result(f'--arch {word}', None if found == wanted and (wanted or 'no GPU code for ' + word in done.stderr) else str(done))
    for word in ('sm_', 'a', 'x', 'sm_9x', '1234567', '12345678', '123456789'):
        done = subprocess.run([tests.program, 'lines', '--arch', word, path], capture_output=True, text=True, check=False, timeout=60)
        good = done.returncode == (1 if word == '1234567' else 2) and not done.stdout
        tests.result(f'--arch {word} is refused', None if good else str(done))


def several_images(tests, path):
    """Each image of several has a heading, the second and later ones behind an empty line."""
    text = tests.run('lines', path)
    found = re.findall(r'(\A|\n\n)image (\d+), (sm_\d+)\n', text)
    images = tests.json('lines', path)['images']
    wanted = [('' if i == 0 else '\n\n', str(image['image']), image['arch']) for i, image in enumerate(images)]
    tests.result('each image has a heading', None if found == wanted and len(found) > 2 else f'{found}, not {wanted}')


def main(program, root, built):
    tests = Tests(program)
    with tempfile.TemporaryDirectory() as folder:
        files = inputs(root, built, folder)
        for name, options in QUESTIONS.items():
            tests.fits(name, ((os.path.basename(f), tests.json('lines', *options, f)) for f in files))
        damage = tests.json('lines', files[-1])['images'][0]['diagnostics']
        tests.result('damage is told', None if damage else 'no diagnostics')
        places = ['nested+0x50', '_Z5otherPfi+0x100', 'nowhere', 'nested+0xfffffff0', '0x7f0000000000']
        tests.fits('answers', ((os.path.basename(f), tests.json('symbolize', f, *places)) for f in files))
        for path in (files[-1], os.path.join(built, 'host.program')):
            same_rows(tests, path)
            same_opcodes(tests, path)
        same_answer(tests, os.path.join(root, 'tests/data/cubins/nested.li.sm_80.cubin'), 'nested+0x50')
        dump = os.path.join(root, 'examples/dumps/misaligned-G.nvcudmp')
        same_rows(tests, dump)
        same_sizes(tests, dump, {'read_word': 0x200, 'sum_row': 0xb00, 'fold': 0xe80, 'checksum': 0xa80})
        same_sizes(tests, os.path.join(root, 'tests/data/cubins/calls.li.sm_80.cubin'), {'sum_row': 0x3a0}, '--function', 'sum_row')
        every_opcode(tests, root, folder, 2)
        every_opcode(tests, root, folder, 4)
        late_start(tests, root, folder)
        unknown_code(tests, folder)
        dropped(tests, root, folder)
        unnamed(tests, folder)
        architectures(tests, os.path.join(built, 'host.program'))
        several_images(tests, os.path.join(built, 'host.program'))
    print(f'1..{tests.number}')
    return 1 if tests.failed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
