#!/usr/bin/env python3
"""What is named of code that was not compiled with -G: parameters of kernels, and what registers hold. Prints TAP.

usage: test_unnamed.py WARPSCOPE IMAGES CUBINS

Kernels fail on the software GPU with arguments that the test chose, and `locals` is asked of several lanes. The words for each register are
computed again here, of the arguments and of the place of the thread, and must give the number that the program has printed.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

PROGRAM, IMAGES, CUBINS = sys.argv[1], sys.argv[2], sys.argv[3]
ARCHITECTURES = '75 80 86 89 90 100 120'.split()
SPARSE = [0x100000, 0x200000, 0x300000, 0x400000, 0x500000, 100]
DEEP = [0x100000, 0x200000, 0x300000, 100]
GATHER = '_Z11gather_rowsIfLi4EEvPKT_PKiPS0_i'
BLOCK, GRID = 40, 3


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, errors='replace', timeout=60, check=False)


def make_dump(folder, image, arch, kernel, arguments, **more):
    path = os.path.join(folder, f'{kernel}-{arch}-{len(more)}.nvcudmp')
    environment = {**os.environ, 'CUDA_ENABLE_COREDUMP_ON_EXCEPTION': '1', 'CUDA_COREDUMP_FILE': path, **more}
    subprocess.run([PROGRAM, 'run', image, '--arch', f'sm_{arch}', '--kernel', kernel, '--grid', str(GRID), '--block', str(BLOCK),
                    *[word for one in arguments for word in ('--arg', hex(one))]], env=environment, capture_output=True, timeout=60, check=False)
    return path


def locals_of(dump, *words):
    done = run('locals', '--json', dump, *words)
    return json.loads(done.stdout) if done.returncode == 0 else None


def computed(text, arguments, block, thread):
    """The value of the words that say what a register holds."""
    text = re.sub(r'\b(blockIdx|threadIdx|blockDim|gridDim)\.([xyz])', r'\1["\2"]', text)
    size = {'x': BLOCK, 'y': 1, 'z': 1}
    # pylint: disable-next=eval-used
    return eval(text, {'__builtins__': {}}, {'blockIdx': dict(zip('xyz', block)), 'threadIdx': dict(zip('xyz', thread)), 'blockDim': size,
                                             'gridDim': {**size, 'x': GRID}, **{f'arg{i}': value for i, value in enumerate(arguments)}})


def check_registers(dump, arguments, wanted):
    """Every register has the value of its words, in several lanes; in those that failed `wanted` are among the words."""
    for words in (('warp', '0', 'lane', '0'), ('warp', '0', 'lane', '13'), ('warp', '0', 'lane', '31'), ('block', '2', 'thread', '37')):
        answer = locals_of(dump, *words)
        focus = answer['focus']
        for one in answer['registers']:
            value = computed(one['holds'], arguments, focus['blockIdx'], focus['threadIdx'])
            if value != int(one['value'], 0) or one['confidence'] != 'certain':
                return f'{words}: {one}, computed {value}'
            shown = run('print', dump, '/x', '$' + one['register'], *words).stdout.strip()
            if int(shown, 16) != int(one['value'], 0) & (2 ** 64 - 1 if 'D' in one['register'] else 2 ** 32 - 1):
                return f'{words}: {one}, but {shown}'
        plain = {re.sub(r'blockDim\.x\*blockIdx\.x', 'blockIdx.x*blockDim.x', one['holds']) for one in answer['registers']}
        if words[0] == 'warp' and not wanted <= plain:  # threads of other warps may not have come so far
            return f'{words}: {plain}'
    return None


def check_parameters(dump, arguments, types, sizes, *words):
    answer = locals_of(dump, *words)
    found = [(one['name'], one['signature_type'], one['size'], int(one['value'] or '-1', 0)) for one in answer['parameters']]
    if found != [(f'arg{i}', *row) for i, row in enumerate(zip(types, sizes, arguments))] or answer['locals'] or answer['locals_why'] != 'absent':
        return str(found)
    if [one['offset'] - answer['parameters'][0]['offset'] for one in answer['parameters']] != [8 * i for i in range(len(sizes))]:
        return str(answer['parameters'])
    for i, value in enumerate(arguments):
        if run('print', dump, '/d', f'arg{i} + 1', *words).stdout.strip() != str(value + (4 if '*' in (types[i] or '') else 1)):
            return f'arg{i} + 1'
    return None


CALLED = [0x100001, 6, 5, 0x200000]  # the first is misaligned


def check_called(dump):
    """A function that the kernel calls: its arguments are said to have no names, and where the kernel's are; these can be named from there."""
    kernel = len(json.loads(run('bt', '--json', dump).stdout)['frames']) - 1
    said = run('shell', '--batch', '--ex', 'echo ----\\n', '--ex', 'info args', '--ex', 'print checksum::arg1', '--ex', f'frame {kernel}', '--ex', 'info args', dump)
    lines = said.stdout.split('----\n')[1].split('\n')
    if lines[:3] != ['No arguments: without -G nothing tells which registers they are in.', f'Those of the kernel are in frame {kernel}.', '$1 = 6'] or said.stderr:
        return f'{lines} {said.stderr}'
    if not any(line.startswith('arg2 = 5  (int, 4 bytes') for line in lines):
        return str(lines)
    return None


def check_missing(folder):
    """Parameters that a dump does not have are not made up, and what depends on them is less sure; one that was stripped has no registers."""
    dump = make_dump(folder, os.path.join(IMAGES, 'whole.O3.fatbin'), 90, 'sparse_product', SPARSE, CUDA_COREDUMP_GENERATION_FLAGS='skip_constbank_memory')
    answer = locals_of(dump)
    if {(one['value'], one['value_why']) for one in answer['parameters']} != {(None, 'excluded')}:
        return str(answer['parameters'])
    if {one['confidence'] for one in answer['registers'] if 'arg' in one['holds']} != {'likely'}:
        return str(answer['registers'])
    if 'arg0 = <left out of the dump>  (8 bytes at c[0x0][0x210])' not in run('locals', dump).stdout:
        return run('locals', dump).stdout
    full, small = make_dump(folder, os.path.join(IMAGES, 'whole.O3.fatbin'), 90, 'sparse_product', SPARSE), os.path.join(folder, 'small')
    run('strip', '--for-issue', '-o', small, full)
    answer = locals_of(small)
    return None if answer['registers'] == [] and {one['value_why'] for one in answer['parameters']} == {'excluded'} else str(answer)


def check_damaged(folder):
    """Whatever the bytes of the image are, there is an answer or a reason."""
    dump = make_dump(folder, os.path.join(IMAGES, 'whole.O3.fatbin'), 80, 'sparse_product', SPARSE)
    with open(dump, 'rb') as file:
        good = bytearray(file.read())
    places = [found.start() for found in re.finditer(b'\x04\x17\x0c\x00', good)]  # EIATTR_KPARAM_INFO
    if len(places) < 6:
        return f'{len(places)} parameters'
    chance = random.Random(19)
    path = os.path.join(folder, 'damaged')
    for _ in range(40):
        bad = bytearray(good)
        for _ in range(3):
            bad[chance.choice(places) + chance.randrange(16)] = chance.randrange(256)
        with open(path, 'wb') as file:
            file.write(bad)
        done = run('locals', path)
        if done.returncode not in (0, 1) or (done.returncode == 1 and not done.stderr):
            return f'{done.returncode} {done.stderr}'
    return None


def main():
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        index = 'blockIdx.x*blockDim.x + threadIdx.x'
        for arch in ARCHITECTURES:
            dump = make_dump(folder, os.path.join(IMAGES, 'whole.O3.fatbin'), arch, 'sparse_product', SPARSE)
            cases.append((f'sm_{arch}: parameters of a C function', check_parameters(dump, SPARSE, [None] * 6, [8] * 5 + [4])))
            cases.append((f'sm_{arch}: what registers hold', check_registers(dump, SPARSE, {index, f'arg1 + 4*({index})'})))
        for arch in (80, 90, 100):
            dump = make_dump(folder, os.path.join(CUBINS, f'deep.li.sm_{arch}.cubin'), arch, GATHER, DEEP)
            cases.append((f'sm_{arch}: parameters with the types of the signature',
                          check_parameters(dump, DEEP, ['float const*', 'int const*', 'float*', 'int'], [8, 8, 8, 4])))
            cases.append((f'sm_{arch}: what registers hold of a C++ kernel', check_registers(dump, DEEP, {f'arg1 + 4*({index})'})))
            dump = make_dump(folder, os.path.join(CUBINS, f'calls.li.sm_{arch}.cubin'), arch, '_Z8checksumPKciiPi', CALLED)
            cases.append((f'sm_{arch}: a function that the kernel calls', check_called(dump)))
        cases.append(('parameters that a dump does not have', check_missing(folder)))
        cases.append(('damaged images', check_damaged(folder)))
    print(f'1..{len(cases)}')
    for number, (name, problem) in enumerate(cases, 1):
        print(f'{"not ok" if problem else "ok"} {number} - {name}')
        if problem:
            print('# ' + problem.replace('\n', '\n# '))
    return 1 if any(problem for _, problem in cases) else 0


sys.exit(main())
