#!/usr/bin/env python3
"""What front ends other than nvcc get wrong is put right or told, and pages speak of their code in their words. Prints TAP.

usage: test_front_ends.py WARPSCOPE FOLDER

FOLDER has cubins of Python kernels (tests/data/front-ends).
"""
import json
import os
import subprocess
import sys

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


def main():
    return tap.tell([*lines(), *mistakes()])


if __name__ == '__main__':
    sys.exit(main())
