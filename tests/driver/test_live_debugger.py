#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A debugger in LLDB's order of calls (lldb/debugger.c) debugs a program on the software GPU (TAP).

usage: test_live_debugger.py [--update] DEBUGGER DRIVER WALK FATBIN PROGRAM IMAGE

WALK, PROGRAM: walk.c, program.c, with what they load. --update writes live-debugger.txt anew, its transcript of a breakpoint and a fault.
"""
import difflib
import os
import re
import signal
import subprocess
import sys
import uuid

from processes import PATIENCE, agents, within

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'live-debugger.txt')
UPDATE = '--update' in sys.argv
DEBUGGER, DRIVER, WALK, FATBIN, PROGRAM, IMAGE = [os.path.abspath(name) for name in sys.argv[1:] if name != '--update']
KERNELS = ['calls', 'parts_once', 'shifts', 'chain']
MARK = uuid.uuid4().hex
results = []


def check(what, ok, story=''):
    results.append(ok)
    print(f'{"ok" if ok else "not ok"} {len(results)} - {what}', flush=True)
    if not ok:
        print(''.join(f'# {line}\n' for line in story.splitlines()[:60]), end='')


def environment():
    kept = {k: v for k, v in os.environ.items() if not k.startswith(('CUDA_', 'WARPSCOPE_'))}
    options = ':'.join(filter(None, [kept.get('ASAN_OPTIONS'), 'detect_leaks=0']))  # leaks are looked for by ptrace
    return {**kept, 'ASAN_OPTIONS': options, 'LD_LIBRARY_PATH': os.path.dirname(DRIVER), 'WARPSCOPE_TEST': MARK}


def debug(*words):
    """Status, what the debugger said, the program's lines (the two write at the same time), the grids that it was told have finished."""
    done = subprocess.run([DEBUGGER, *words], capture_output=True, text=True, timeout=PATIENCE, check=False, env=environment())
    lines = (done.stdout + done.stderr).splitlines()
    program = [line for line in lines if re.match(r'\w+: \d+ wrong$', line)]
    found = re.search(r'^    R0:(?: \w+){2} (\w+)', '\n'.join(lines), re.M)
    if found:  # half of a pointer to memory of the host, which a sanitizer has elsewhere; the next half, too, is in a register
        upper = int(found[1], 16)
        lines = [re.sub(f' {upper:#x}\\b', ' UPPER', re.sub(f' {upper + 1:#x}\\b', ' UPPER+1', line)) if line.startswith('    R') else line
                 for line in lines]
    finished = [line for line in lines if re.match(r'grid \d+ finished$', line)]  # told at any time, as nothing waits for it
    return done.returncode, [line for line in lines if line not in program + finished], program, finished


def test_transcript():
    status, said, program, finished = debug('folded', WALK, FATBIN, 'astray')
    if UPDATE:
        with open(GOLDEN, 'w', encoding='utf-8') as out:
            out.write(''.join(line + '\n' for line in said))
    with open(GOLDEN, encoding='utf-8') as known:
        bad = list(difflib.unified_diff(known.read().splitlines(), said, 'known', 'now', lineterm=''))
    check('a breakpoint in a function that is called, a fault, detach', status == 0 and not bad, '\n'.join(bad))
    check('... each grid that ended was told, and the program saw its results', finished[:3] == [f'grid {i} finished' for i in (1, 2, 3)] and
          program == [f'{name}: 0 wrong' for name in KERNELS[:3]], '\n'.join(finished + program))


def test_detach():
    status, said, program, _ = debug('-d', 'folded', WALK, FATBIN)
    check('detached from while it stands at a breakpoint, the program goes on to the right results',
          status == 0 and program == [f'{name}: 0 wrong' for name in KERNELS] and 'detached' in said and
          said[-1] == 'the program has ended with status 0', '\n'.join(said + program))


def test_others():
    status, said, program, finished = debug('no_such_function', WALK, FATBIN)
    check('without a breakpoint nothing stops', status == 0 and len(program) == 4 and len(finished) >= 3 and
          not [line for line in said if line.startswith('stopped')] and said[-1] == 'the program has ended with status 0', '\n'.join(said))
    status, said, _, _ = debug('calls', '/bin/true')
    check('a program that does not use CUDA', status == 2 and said == ['the program does not use the CUDA driver'], '\n'.join(said))
    status, said, _, _ = debug('calls', '/no/such/program')
    check('one that is not there', status == 2 and said == ['/no/such/program: No such file or directory'], '\n'.join(said))


def test_loss():
    debugger = subprocess.Popen([DEBUGGER, 'no_such_function', PROGRAM, IMAGE, 'wait'], env=environment(), stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = []
    while said[-1:] not in (['waits\n'], ['']):
        said.append(debugger.stdout.readline())
    for pid in agents(MARK):
        os.kill(pid, signal.SIGKILL)
    said += debugger.communicate(timeout=PATIENCE)[0].splitlines(keepends=True)
    check('the agent dies under a kernel that waits: the debugger is told once, and the program ends by itself', said.count('the device is lost\n') == 1 and
          said[-1] == 'the program has ended with status 1\n' and not [line for line in said if line.startswith('event ')], ''.join(said))


def main():
    test_transcript()
    test_detach()
    test_others()
    test_loss()
    check('no process is left', within(PATIENCE, lambda: not agents(MARK)))
    print(f'1..{len(results)}')
    return 0 if all(results) else 1


if __name__ == '__main__':
    sys.exit(main())
