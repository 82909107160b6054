#!/usr/bin/env python3
"""What front ends other than nvcc get wrong is put right or told, and pages speak of their code in their words. Prints TAP.

usage: test_front_ends.py WARPSCOPE FOLDER

FOLDER has cubins of Python kernels (tests/data/front-ends).
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import tap

PROGRAM, IMAGES = (os.path.abspath(p) for p in sys.argv[1:3])
TRITON = 'triton-3.9.0.sm_90.cubin'


def image(name):
    return os.path.join(IMAGES, name)


def ask(*words):
    return subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True).stdout


def run(name, kernel, words, *options):
    """The page of a kernel that fails."""
    return ask('run', image(name), '--kernel', kernel, '--block', '128', *words.split(), *options)


def lines_at(name, kernel, operation):
    """The innermost lines of a kernel's instructions with this operation."""
    instructions = json.loads(ask('disas', image(name), '--json'))['images'][0]['functions'][0]['instructions']
    places = [f'{kernel}+{insn["offset"]:#x}' for insn in instructions if operation in insn['text']]
    return {answer['positions'][0]['line'] for answer in json.loads(ask('symbolize', image(name), '--json', *places))['answers']}


def lines():
    for name, kernel, operation, line in (
            (f'scale-{TRITON}', 'scale', 'LDG', 16),  # the image says 17
            ('scale-triton-3.5.1.sm_90.cubin', 'scale', 'LDG', 16),
            (f'quads-{TRITON}', 'quads', 'LDG', 23),  # 27
            (f'masked-{TRITON}', 'masked', 'LDG', 31),
            (f'waits-{TRITON}', 'waits', 'PHASECHK', 46),  # 50
            (f'waits-{TRITON}', 'waits', 'LDS.128', 46)):
        found = lines_at(name, kernel, operation)
        yield f'{operation} in {name} is line {line}', found == {line}, str(found)


def mistakes():
    page = run(f'scale-{TRITON}', 'scale', '--grid 4 --buffer x=f32[900]:1 --buffer y=f32[900] --arg &x --arg &y --arg 900 --arg 0 --arg 0')
    good = 'at `programs.py:16`' in page.splitlines()[0] and 'the image has line 17 for #0: Triton 3.9 adds' in page
    yield 'the page names the line of tl.load, and what the image has', good, page
    page = run(f'helped-{TRITON}', 'helped', '--grid 4 --buffer x=f32[900]:1 --buffer y=f32[900] --arg &x --arg &y --arg 0 --arg 0')
    good = 'at `programs.py:54`; device 0, program (3,0,0)' in page.splitlines()[0] and \
        '#0 is a function that was inlined into the kernel' in page and '#1 is a function' not in page
    yield 'the page says that a function that was inlined has the name of the kernel', good, page


BUFFERS = '--buffer x=f32[900]:1 --buffer y=f32[900] --arg &x --arg &y'
HUGE = '--memory 12000000000 --buffer x=f32[2300000000] --buffer y=f32[900] --arg &x --arg &y'
# kernel: (how it is run, its first line, its first cause)
PLANTED = {
    'scale': (f'--grid 4 {BUFFERS} --arg 900', 'at `programs.py:16`; device 0, program (3,0,0), thread (4,0,0)',
              'likely: a mask is missing.*byte 3600 from the pointer, 3072 by the program.s ids and 528 by the element.*number 132 of 4 bytes'),
    'masked': (f'--grid 4 {BUFFERS} --arg 1000', 'at `programs.py:31`; device 0, program (3,0,0), thread (4,0,0)',
               'likely: the mask is wrong, or the tensor smaller.*which is true for lane 4'),
    'quads': (f'--grid 2 {BUFFERS}', 'at `programs.py:23`; device 0, program (1,0,0), thread (97,0,0)', 'likely: a mask is missing'),
    'rows': (f'--grid 3 {HUGE} --arg 1100000000 --arg 100', 'at `programs.py:39`; device 0, program (2,0,0)',
             'certain: an index overflowed 32 bits: compute it in 64 bits, as `row.to.tl.int64. [*] stride` .2 .*2200000000 does not fit'),
}


def words():
    for kernel, (how, first, cause) in PLANTED.items():
        page = run(f'{kernel}-{TRITON}', kernel, f'{how} --arg 0 --arg 0')
        causes = [line for line in page.splitlines() if line.startswith('- ')] or ['']
        yield f'the first line of {kernel} names the line and the program', first in page.split('\n')[0], page
        yield f'the first cause of {kernel}', re.search(cause, causes[0]) is not None, page
    page = run('scale-triton-3.5.1.sm_90.cubin', 'scale', f'--grid 4 {BUFFERS} --arg 900 --arg 0 --arg 0', '--json')
    yield 'JSON has the ids of the program', json.loads(page)['exceptions'][0].get('program_ids') == [3, 0, 0], page
    numba = os.path.join(IMAGES, '..', 'names', 'oob-v1.sm_90.cubin')
    page = ask(*f'run {numba} --kernel oob --grid 1 --block 32 --buffer x=s32[64]:100000000'.split(),
               *(3 * '--arg 0 --arg 0 --arg 64 --arg 4 --arg &x --arg 64 --arg 4 ').split())
    yield 'a block of Numba is no program', ', block (0,0,0)' in page.split('\n')[0] and 'rogram (' not in page, page


def tiles():
    name, whole = 'gathers-cutile-1.7.0.sm_90.cubin', 'gathers_Kt1_A1f32_1t1_A1i32_1t1_A1f32_1t1_I128'
    how = '--grid 2 --buffer x=f32[256]:1 --buffer i=s32[{}]:{} --buffer y=f32[256] --arg &x --arg 256 --arg 1 --arg &i --arg 256 --arg 1 ' \
          '--arg &y --arg 256 --arg 1'
    note = "cuTile 1.7 gives it to `ct.gather` with check_bounds=False"
    page = run(name, whole, how.format(256, 70000))
    yield 'the page of a gather at the line of the def says so', 'kernel `gathers` at `tiles.py:9`' in page and note in page, page
    page = run(name, whole, how.format(64, 0))
    yield 'the page of a load at its own line does not', 'kernel `gathers` at `tiles.py:11`' in page and note not in page, page
    names = subprocess.run([PROGRAM, 'run', image(name), '--kernel', 'gathers', '--grid', '1'], stderr=subprocess.PIPE, check=False, text=True).stderr
    yield 'two kernels of one name are listed with what they are for', whole in names and whole.replace('f32', 'f64') in names, names


def tuned():
    """Dumps beside folders like Triton's cache."""
    with tempfile.TemporaryDirectory() as folder:
        dump, cache = os.path.join(folder, 'a.nvcudmp'), os.path.join(folder, 'cache')
        environment = dict(os.environ, CUDA_ENABLE_COREDUMP_ON_EXCEPTION='1', CUDA_COREDUMP_FILE=dump)
        subprocess.run([PROGRAM, 'run', image(f'scale-{TRITON}'), '--kernel', 'scale', '--block', '128',
                        *f'--grid 4 {BUFFERS} --arg 900 --arg 0 --arg 0'.split()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env=environment, check=False)

        def put(key, name, text):
            os.makedirs(os.path.join(cache, key))
            shutil.copy(image(name), os.path.join(cache, key, 'scale.cubin'))
            with open(os.path.join(cache, key, 'scale.json'), 'w', encoding='ascii') as file:
                file.write(text)

        def found():
            page = ask('report', dump, '--debug-image', cache)
            tuned = json.loads(ask('report', dump, '--debug-image', cache, '--json'))['image'].get('tuned', [])
            return [(one['num_warps'], one['num_stages'], one['files']) for one in tuned], page

        put('A', f'scale-{TRITON}', '{"name": "scale", "num_warps": 4, "num_stages": 3, "maxnreg": null, "target": {"num_warps": 9}}')
        put('B', 'scale-triton-3.5.1.sm_90.cubin', '{"num_warps": 4, "num_stages": 5}')  # other code
        put('C', f'scale-{TRITON}', '{"num_warps": 4, "num_sta')
        tuned, page = found()
        good = tuned == [(4, 3, 1)] and 'num_warps 4, num_stages 3, as ' in page and 'one of these' not in page
        yield 'the configuration of a kernel is found by its code in a cache of Triton', good, f'{tuned}\n{page}'
        put('D', f'scale-{TRITON}', '{"num_warps": 4, "num_stages": 3}')
        put('E', f'scale-{TRITON}', '{"num_warps": 4, "num_stages": 2}')
        tuned, page = found()
        yield 'several that fit are all told', tuned == [(4, 3, 2), (4, 2, 1)] and 'one of these gave this code' in page, f'{tuned}\n{page}'


def main():
    return tap.tell([*lines(), *mistakes(), *words(), *tiles(), *tuned()])


if __name__ == '__main__':
    sys.exit(main())
