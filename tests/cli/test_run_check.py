#!/usr/bin/env python3
"""warpscope run --check: finds what is planted in check.cu, with both lines and threads, and nothing else. Prints TAP.

usage: test_run_check.py WARPSCOPE FOLDER SOURCE [--all]

FOLDER has check.O3.fatbin and check.G.fatbin (tests/data/sim), SOURCE is check.cu. Without --all each kernel runs under one schedule
on each architecture.
"""
import itertools
import json
import os
import re
import subprocess
import sys

import schemas

PROGRAM, IMAGES, SOURCE = (os.path.abspath(p) for p in sys.argv[1:4])
EVERYTHING = '--all' in sys.argv
DEVICES = ['sm_75', 'sm_80', 'sm_86', 'sm_89', 'sm_90', 'sm_100', 'sm_120']
SCHEDULES = ['round-robin', 'oldest', 'random', 'adversarial']
# What is found in each kernel: one of these at the marked lines. What may follow from it comes after the bar.
RACE = 'raw war'
PLANTED = {
    'raw_bad': (RACE, 'uninitialized'),
    'war_bad': (RACE, ''),
    'waw_bad': ('waw', ''),
    'lanes_bad': ('waw', ''),
    'warp_bad': (RACE, 'uninitialized'),
    'named_bad': (RACE, 'uninitialized'),
    'blocks_bad': ('waw', ''),
    'fence_bad': (RACE, ''),
    'early_bad': (RACE, ''),
    'chain_bad': (RACE, ''),
    'shared_unwritten_bad': ('uninitialized', ''),
    'global_unwritten_bad': ('uninitialized', ''),
    'barrier_bad': ('divergent-barrier', ''),
    'missing_bad': ('missing-at-barrier', ''),
    'zeros_bad': ('waw', ''),
    'mmio_bad': (RACE, ''),
    'sum_bad': (RACE, ''),
    'wide_bad': ('out-of-bounds', RACE),
    'neighbour_bad': ('out-of-bounds', ''),
    'variable_bad': ('out-of-bounds', ''),
    'register_bad': ('uninitialized', ''),
    'local_bad': ('uninitialized', ''),
    'overflow_bad': ('overflow', ''),
    'overflow_shift_bad': ('overflow', ''),
    'overflow_struct_bad': ('overflow', ''),
    'overflow_called_bad': ('overflow', ''),
    'overflow_division_bad': ('overflow', ''),
    'overflow_atomic_bad': ('overflow', ''),
}
SPACES = {'blocks_bad': 'global', 'fence_bad': 'global', 'early_bad': 'global', 'chain_bad': 'global', 'global_unwritten_bad': 'global', 'barrier_bad': None,
          'missing_bad': None, 'neighbour_bad': 'global', 'variable_bad': 'global', 'register_bad': 'register', 'local_bad': 'local',
          'mmio_bad': 'global', 'sum_bad': 'global', 'wide_bad': 'global'}
TOOLS = {'raw': 'racecheck', 'war': 'racecheck', 'waw': 'racecheck', 'uninitialized': 'initcheck', 'divergent-barrier': 'synccheck',
         'missing-at-barrier': 'synccheck', 'out-of-bounds': 'memcheck', 'overflow': 'none'}

with open(SOURCE, encoding='utf-8') as file:
    LINES = file.read().splitlines()
KERNELS = [match[1] for match in (re.match(r'KERNEL (\w+)', line) for line in LINES) if match]
FINDING = schemas.load('run')['properties']['findings']['items']


def marks(kernel, word):
    return {n for n, line in enumerate(LINES, 1) if re.search(rf'// .*\b{kernel}\b.*\b{word}\b', line)}


def command(kernel, kind, device, schedule, *more):
    wide = 128 if kernel.startswith('named') else 64
    flag = 'flag=u32[100]' if kernel.startswith('global_unwritten') else 'flag=u32[100]:zeros'
    blocks = '4' if kernel.split('_')[0] in ('blocks', 'fence', 'early', 'chain') else '1'
    return [PROGRAM, 'run', '--check', f'{IMAGES}/check.{kind}.fatbin', '--kernel', kernel, '--arch', device, '--schedule', schedule,
            '--grid', blocks, '--block', str(wide), '--buffer', 'out=u32[1024]:zeros', '--buffer', 'in=u32[1024]:index', '--buffer', flag,
            '--arg', '&out', '--arg', '&in', '--arg', '&flag', *more]


def line_of(party):
    """The line in check.cu: of the access, or of the call of a function of CUDA's headers."""
    return next((p['line'] for p in party['positions'] if p.get('file', '').endswith('check.cu')), None)


def said_well(kernel, finding):
    """Every finding names threads that exist, and is what the schema says."""
    assert set(FINDING['required']) <= set(finding) <= set(FINDING['properties']), finding
    assert finding['kind'] in FINDING['properties']['kind']['enum'] and finding['tool'] == TOOLS[finding['kind']], finding
    for party in filter(None, (finding['who'], finding.get('other'))):
        assert party['thread'][0] < (128 if kernel.startswith('named') else 64) and party['thread'][1:] == [0, 0], finding
        assert party['block'][0] < 4, finding
    if 'other' in finding:
        who, other = finding['who'], finding['other']
        own = finding.get('space') in ('local', 'register', 'predicate') or finding['kind'] == 'overflow'
        assert ((who['block'], who['thread']) == (other['block'], other['thread'])) == own, finding


def at_marks(kernel, finding, kind):
    lines = [line_of(party) for party in (finding['who'], finding.get('other')) if party]
    if kind == 'G' and None in lines:  # code of CUDA's headers that is called, not inlined
        lines = [line for line in lines if line]
    return all(line in marks(kernel, 'now') | marks(kernel, 'before') for line in lines) and lines


def check(kernel, kind, device, schedule):
    done = subprocess.run(command(kernel, kind, device, schedule, '--json'), capture_output=True, text=True, timeout=60, check=False)
    page = json.loads(done.stdout)
    found = page['findings']
    assert page['unchecked'] == 0 and done.returncode == (10 if found else 0), done
    for finding in found:
        said_well(kernel, finding)
    if kernel not in PLANTED:
        assert found == [] and page['stopped'] is None, found
        return
    planted, follows = (words.split() for words in PLANTED[kernel])
    assert all(f['kind'] in planted + follows for f in found), found
    space = 'global' if kernel.startswith('overflow') else SPACES.get(kernel, 'shared')
    hits = [f for f in found if f['kind'] in planted and f.get('space') == space]
    assert hits and all(at_marks(kernel, f, kind) for f in hits), found
    assert (page['stopped'] is not None) == (kernel == 'missing_bad'), page['stopped']
    for finding in hits if kernel.startswith('overflow') else []:
        row, stride = sorted(finding['factors'])  # of whichever thread was first
        assert (row, stride) == (3002, 1 << 20) if kernel == 'overflow_shift_bad' else row in range(40000, 40010) and stride == 60000, finding
        assert (finding['exact'], finding['value'], finding['addend']) == (row * stride, row * stride - (1 << 32), 0), finding
    if kernel == 'variable_bad':
        assert all(f['variable'] == 'row' and f['buffer_bytes'] == 256 for f in hits), hits


# Unoptimised code has written every register by then, and multiplies by 12 in 64 bits, by parts.
OPTIMISED = {'register_bad', 'overflow_struct_bad'}


def text_says_the_same():
    done = subprocess.run(command('war_bad', 'O3', 'sm_90', 'oldest'), capture_output=True, text=True, timeout=60, check=False)
    now, before = marks('war_bad', 'now').pop(), marks('war_bad', 'before').pop()
    assert done.returncode == 10 and 'race (read after write): shared memory at 0x' in done.stdout, done
    assert re.search(rf'  written by thread \(\d+,0,0\) of block \(0,0,0\), \S*check\.cu:{now}, in war_bad\+0x', done.stdout), done.stdout
    assert re.search(rf'  read by thread \(\d+,0,0\) of block \(0,0,0\), \S*check\.cu:{before}, in war_bad\+0x', done.stdout), done.stdout
    done = subprocess.run(command('variable_bad', 'O3', 'sm_90', 'oldest'), capture_output=True, text=True, timeout=60, check=False)
    assert '  that buffer is the variable row: the 256 bytes at 0x' in done.stdout, done.stdout
    done = subprocess.run(command('war_good', 'O3', 'sm_90', 'oldest'), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and done.stdout == '--check found nothing\n', done


def more_blocks_than_a_clock_tells_apart():
    """Clocks know 512 warps one by one; what they can no longer tell apart counts as known, so that no finding is made up."""
    for kernel in ('fence_good', 'chain_good'):
        words = command(kernel, 'O3', 'sm_90', 'oldest', '--json')
        words[words.index('--grid') + 1] = '600'
        words = [word.replace('out=u32[1024]', f'out=u32[{64 + 600 * 64}]') for word in words]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0 and json.loads(done.stdout)['findings'] == [], (kernel, done)


def texels_that_nobody_wrote():
    """Reads through textures and surfaces are seen, and what a surface writes is written."""
    def found(kernel, filling, block, *arguments):
        words = [PROGRAM, 'run', '--check', '--json', f'{IMAGES}/texture.O3.fatbin', '--kernel', kernel, '--arch', 'sm_90', '--block', block,
                 '--buffer', f'from=u8[1024]{filling}', '--buffer', 'to=u8[1024]', '--buffer', 'out=f32[32]', '--buffer', 'at=f32[32]:index']
        done = subprocess.run([*words, *arguments], capture_output=True, text=True, timeout=60, check=False)
        return sorted({(f['kind'], f['space']) for f in json.loads(done.stdout)['findings']})
    sample = ('sample_1d', '32', '--arg', '&out', '--arg', 'tex:from,float,size=32', '--arg', '&at', '--arg', '32')
    move = ('move_widths', '160', '--arg', 'surf:to,size=1024', '--arg', 'surf:from,size=1024')
    for kernel, *words in (sample, move):
        for filling, wanted in ((':zeros', []), ('', [('uninitialized', 'global')])):
            said = found(kernel, filling, *words)
            assert said == wanted, (kernel, filling, said)


def products_of_triton():
    """Triton's code, as in public reports; the report of the fault says the same of the product."""
    memory = '--memory 18000000000 --block 128'
    runs = {
        'flaggems_4153': ('--buffer o=f32[128] --buffer s=f32[3263823872] --buffer i=s32[1]:16385 --arg &o --arg &s --arg &i --arg 131072 --arg 128 '
                          '--arg 0 --arg 0', 16385 * 131072),
        'megablocks_185': ('--buffer a=u16[2457600000] --buffer b=s32[1]:530000 --buffer o=u16[4096] --arg &a --arg &b --arg &o --arg 0 --arg 0',
                           530000 * 4096),
        'triton_6748': ('--grid 8 --buffer p=f32[4294967296] --arg &p --arg 16777216 --arg 256 --arg 32 --arg 0 --arg 0', 128 * 16777216),
    }
    for (kernel, (words, exact)), arch in itertools.product(runs.items(), ('sm_80', 'sm_90', 'sm_100', 'sm_120')):
        image = os.path.join(os.path.dirname(IMAGES), 'reports', f'{kernel}.fatbin')
        command_words = [PROGRAM, 'run', '--check', image, '--kernel', kernel, '--arch', arch, *memory.split(), *words.split()]
        done = subprocess.run(command_words, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 10 and done.stdout.count(f'= {exact} does not fit in 32 bits') == 2, (kernel, arch, done.stdout)


def main():
    runs = []
    for n, kernel in enumerate(KERNELS):
        for k, (kind, device) in enumerate(itertools.product(('O3',) if kernel in OPTIMISED else ('O3', 'G'), DEVICES)):
            if EVERYTHING or (n + k) % 3 == 0:
                runs += [(kernel, kind, device, schedule) for schedule in (SCHEDULES if EVERYTHING else [SCHEDULES[(n + k) // 3 % 4]])]
    cases = [('text says the same', text_says_the_same, ()), ('texels that nobody wrote', texels_that_nobody_wrote, ()),
             ('products of triton', products_of_triton, ()),
             ('more blocks than a clock tells apart', more_blocks_than_a_clock_tells_apart, ())] + [(' '.join(run), check, run) for run in runs]
    failed = 0
    for number, (name, function, arguments) in enumerate(cases, 1):
        try:
            function(*arguments)
            print(f'ok {number} - {name}')
        except (AssertionError, KeyError, ValueError) as error:
            failed += 1
            print(f'not ok {number} - {name}\n# {type(error).__name__}: {str(error)[:1500]!r}')
    print(f'1..{len(cases)}')
    return failed != 0


sys.exit(main())
