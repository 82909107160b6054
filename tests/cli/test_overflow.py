#!/usr/bin/env python3
"""What the report calls the cause of addresses that arithmetic made: of overflow.cu, on four architectures, with lines, with -G and
without either, on the stopped device and in dumps without memory. Prints TAP.

usage: test_overflow.py WARPSCOPE FOLDER

FOLDER has overflow.KIND.fatbin (tests/data/overflow).
"""
import itertools
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

PROGRAM, IMAGES = (os.path.abspath(p) for p in sys.argv[1:3])
ARCHS = ['sm_80', 'sm_90', 'sm_100', 'sm_120']
KINDS = ['li', 'G', 'none']
BIG = '--memory 12000000000 --buffer in=f32[2300000000] --buffer out=f32[64] --arg &in'
SMALL = '--buffer in=f32[64] --buffer out=f32[64] --arg &in'

CUT = 'a pointer was cut to 32 bits'
OVERFLOW = 'an index overflowed 32 bits: compute it in 64 bits'
PLAIN = OVERFLOW + ', as `int64_t(row) * stride`'
# kernel: (how it is run, how sure, what the cause is, what its evidence says)
PLANTED = {
    'row_times_pitch': (f'--grid 3 {BIG} --arg &out --arg 1100000000', 'certain', OVERFLOW, r'= 2200000000 does not fit .*-2094967296'),
    'thread_times_pitch': ('--grid 70 --memory 4000000000 --buffer in=u8[3000000000] --arg &in --arg 1000000', 'certain', OVERFLOW,
                           r'2148 \* 1000000.* = 2148000000 does not fit'),
    'four_sizes': (f'{BIG} --arg &out --arg 3 --arg 32 --arg 200000 --arg 112', 'certain', OVERFLOW, r'= 2150400000 does not fit'),
    'in_template': (f'--grid 3 {BIG} --arg &out --arg 1100000000', 'certain', OVERFLOW, r'= 2200000000 does not fit'),
    'in_caller': (f'--grid 3 {BIG} --arg &out --arg 1100000000', 'certain', OVERFLOW, r'= 2200000000 does not fit'),
    'row_from_memory': (f'{BIG} --buffer rows=s32[32]:1080000000 --arg &rows --arg &out --arg 2', 'certain', OVERFLOW,
                        r'1080000000 .*= 2160000000 does not fit'),
    'row_from_division': (f'{BIG} --arg &out --arg 100 --arg 1000000 --arg 215000', 'likely certain', OVERFLOW, r'-2144967296'),
    'below_zero': (f'{SMALL} --arg &out --arg 8', 'likely', 'an unsigned index went below zero', r'4294967295|-1 does not fit'),
    'too_large': (f'--grid 3 {SMALL} --arg &out --arg 1100000000', 'likely',
                  'an index is far too large, and overflowed 32 bits as well', r'= 2200000000 does not fit .*outside'),
    'hashed': (f'{SMALL} --arg &out --arg 1000000 --arg 7', None, None, None),
    'negative': (f'{SMALL} --arg &out --arg 3', 'likely', 'a negative index', ''),
    'picked': (f'{SMALL} --buffer which=s32[32]:100000 --arg &which --arg &out', 'certain', 'an index read from memory is garbage',
               r'element 0: it is 100000'),
    'picked_row': (f'{SMALL} --buffer which=s32[1]:100000 --arg &which --arg &out --arg 8', 'likely', 'an index read from memory',
                   r'element 0: it is 100000'),
    'cut_here': (f'{SMALL} --arg &out', 'certain', CUT, r'lower 32 bits of kernel parameter 0|with the upper half of known memory'),
    'cut_by_host': ('--buffer in=f32[64] --buffer pad=f32[100000] --buffer more=f32[64] --buffer out=f32[64] --arg LOW --arg &out', 'certain',
                    CUT, r'with the upper half of known memory'),
}


def causes_of(report):
    return [(c['confidence'], c['text'], c['evidence']) for c in report['exceptions'][0]['likely_causes']]


def run(arch, kind, kernel, words, dump=None):
    environment = dict(os.environ)
    if dump:
        environment.update(CUDA_ENABLE_COREDUMP_ON_EXCEPTION='1', CUDA_COREDUMP_FILE=dump,
                           CUDA_COREDUMP_GENERATION_FLAGS='skip_global_memory')
    done = subprocess.run([PROGRAM, 'run', os.path.join(IMAGES, f'overflow.{kind}.fatbin'), '--arch', arch, '--kernel', kernel, '--block',
                           '32', '--json', *words.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, check=False)
    return json.loads(done.stdout)


def low_half(arch, kind):
    """The lower half of the address of `more` in a run of cut_by_host, signed: addresses are the same in each run."""
    words = PLANTED['cut_by_host'][0].replace('--arg LOW', '--arg &more')
    whole = bytes.fromhex(run(arch, kind, 'cut_here', words)['kernels'][0]['params'][0]['bytes'])
    low = int.from_bytes(whole[:4], 'little')
    return str(low - (1 << 32) if low >> 31 else low)


def forget_ranges(path):
    """Takes the list of ranges out of a dump: no driver writes one of memory that it leaves out."""
    with open(path, 'r+b') as file:
        data = file.read()
        start, size, count = struct.unpack_from('<Q', data, 40)[0], *struct.unpack_from('<HH', data, 58)
        count = count or struct.unpack_from('<Q', data, start + 32)[0]
        notes = [at for at in range(start, start + count * size, size) if struct.unpack_from('<I', data, at + 4)[0] == 7]
        for at in notes:
            file.seek(at + 4)
            file.write(bytes(4))
    assert len(notes) == 1, notes


def told(causes, sure, text, evidence):
    if sure is None:
        return not any('overflow' in c[1] and 'or 32-bit' not in c[1] and c[0] != 'possible' for c in causes)
    first = causes[0]
    return first[0] in sure.split() and text in first[1] and re.search(evidence, first[2]) is not None and \
        (first[0] != 'certain' or len(causes) == 1)


def main():
    number = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for kernel, (words, sure, text, evidence) in PLANTED.items():
            for kind, arch in itertools.product(KINDS, ARCHS):
                number += 1
                here = words.replace('LOW', low_half(arch, kind)) if 'LOW' in words else words
                causes = causes_of(run(arch, kind, kernel, here))
                ok = told(causes, sure, text, evidence)
                failed += not ok
                print(f'{"ok" if ok else "not ok"} {number} - {kernel}, {kind}, {arch}')
                if not ok:
                    for one in causes:
                        print('#', *one)
        for (kind, arch), ranges in itertools.product(itertools.product(KINDS, ARCHS), (True, False)):
            number += 1
            path = os.path.join(folder, f'{kind}.{arch}')
            if ranges:  # those that a run leaves out are in its dump
                run(arch, kind, 'row_times_pitch', PLANTED['row_times_pitch'][0], path)
            else:
                forget_ranges(path)
            done = subprocess.run([PROGRAM, 'report', '--json', path], stdout=subprocess.PIPE, check=True)
            causes = causes_of(json.loads(done.stdout))
            where = 'it lies in the memory that the base points into' if ranges else 'which memory is there is not known'
            ok = causes[0][:2] == ('certain' if ranges else 'likely', PLAIN) and '= 2200000000 does not fit' in causes[0][2] and \
                where in causes[0][2] and not any('certain' in c[0] for c in causes[ranges:])
            failed += not ok
            print(f'{"ok" if ok else "not ok"} {number} - row_times_pitch, {kind}, {arch}, in a dump without memory'
                  f'{"" if ranges else " and its ranges"}')
            if not ok:
                for one in causes:
                    print('#', *one)
    print(f'1..{number}')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
