#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cli -> target/api -> cudbg -> target/sim prints what cli -> target/sim prints, at every stop. Prints TAP.

usage: test_live_loop.py PROGRAM IMAGES TRANSCRIPTS PROVIDER

IMAGES has the fatbins of tests/sim/kernels. A session of `warpscope debug` runs twice, the second time with --api: the same commands
go through the function table of the debugger API. The sessions are those of the transcripts, which must come out byte for byte, and
those of SESSIONS, where every verb is asked at several stops. Then PROVIDER, a library whose device runs (device_provider.c), is
debugged with --api-lib by the same commands as the program's own device with the same kernel. What the API cannot say is taken out of both by STRIPPED of
test_loop.py and by MORE, and by nothing else.
"""
import glob
import os
import re
import shlex
import subprocess
import sys

import test_loop

PROMPT = '(warpscope) '
OUT, IN = "--buffer out=u32[1024] --arg '&out'", "--buffer in=u32[1024]:index --arg '&in'"
# Words of the command line, commands that come to a stop each.
SESSIONS = [
    (f'--kernel parts_once --block 64 {OUT} {IN} debug.G.fatbin', ['break debug.cu:41', 'run', 'next', 'stepi 7']),
    (f'--kernel parts_once --grid 3 --block 96 {OUT} {IN} debug.O3.fatbin', ['start', 'stepi 9', 'cuda block 1 thread 40', 'stepi 3']),
    (f'--kernel calls --block 40 {OUT} {IN} debug.G.fatbin', ['break debug.cu:17', 'run', 'backtrace', 'finish', 'step 3']),
    (f'--kernel calls --block 40 {OUT} {IN} debug.O3.fatbin', ['break debug.cu:29', 'run', 'backtrace', 'next 2', 'until']),
    (f'--kernel shifts --block 64 {OUT} {IN} debug.G.fatbin', ['break debug.cu:54', 'run', 'next 2', 'set $R4 = 77', 'next']),
    (f"--kernel chain --block 32 {OUT} --buffer in=u32[64]:1000000 --arg '&in' --arg 3 debug.O3.fatbin", ['run', 'backtrace']),
    (f'--kernel recursion --block 32 {OUT} --arg 6 diverge.G.fatbin', ['break fibonacci if $R4 == 2', 'run', 'backtrace', 'continue']),
    (f'--kernel queens --grid 2 --block 32 {OUT} --arg 5 whole.G.fatbin', ['start', 'next 3', 'backtrace', 'step 20']),
    (f'--kernel meets --grid 2 --block 128 {OUT} --arg 9 live.G.fatbin', ['start', 'next 6', 'stepi 60', 'finish']),
    (f"--kernel never_meets --block 64 --buffer flag=u32[4] --arg '&flag' {OUT} live.O3.fatbin", ['start', 'stepi 30', 'stepi 30']),
    (f'--kernel faults --grid 2 --block 64 {OUT} {IN} --arg 40 live.G.fatbin', ['run', 'print $errorpc != 0', 'backtrace']),
    (f'--kernel cluster_ring --grid 8 --block 64 {OUT} {IN} cluster.O3.fatbin', ['start', 'stepi 12', 'stepi 12']),
]
VERBS = ['report', 'report --json', 'report --all'] + \
    ['info cuda ' + t for t in ('devices', 'contexts', 'modules', 'kernels', 'sms', 'blocks', 'clusters', 'warps', 'lanes', 'threads',
                                'barriers', 'exceptions')] + \
    ['info cuda warps --wide --json', 'info cuda lanes --wide --json', 'info cuda warps sm any', 'info cuda lanes sm any warp any', 'regs',
     'regs --json', 'regs sm any warp any lane any', 'mem global:0x7f0000000000 /64xw', 'mem shared:0x0 /16xw', 'mem local:0x0 /16xw',
     'mem param:0x210 /4xg', 'disassemble', 'disassemble --hex --regs', 'print $pc', 'print threadIdx.x + blockIdx.x * blockDim.x',
     'print/x $R1', 'ptype out', 'whatis out', 'whatis $pc', 'list', 'why', 'groups', 'backtrace full', 'where', 'frame', 'x/5i $pc',
     'x/4xw 0x7f0000000000', 'x/2xg &out', 'thread', 'cuda', 'faas print $pc', 'printf "%x %d\\n", $pc, threadIdx.x'] + \
    ['info ' + t for t in ('breakpoints', 'args', 'locals', 'registers', 'registers system', 'line', 'symbol $pc', 'source', 'sources', 'functions',
                           'types', 'variables', 'frame', 'scope', 'address out', 'cuda managed', 'cuda sections', 'cuda metadata',
                           'cuda launch children')]
# The verbs of the command line: those that the prompt has, by the command that is among VERBS, and those that are about files or programs.
# Not compared are `info cuda memory` and `where ADDRESS`, whose subject is the list of memory, which the API does not have.
PROMPTED = {'report': 'report', 'info': 'info cuda', 'mem': 'mem', 'regs': 'regs', 'bt': 'backtrace', 'locals': 'info locals', 'print': 'print',
            'ptype': 'ptype', 'whatis': 'whatis', 'list': 'list', 'disas': 'disassemble'}
OF_FILES = 'check lines symbolize as diff extract strip store shell run debug triage exec trigger env trace log'.split()
# What only the software GPU offers: refused() holds what is said of it elsewhere. The API lists no kernels that have not begun.
OWN = re.compile(r'[ra]?watch |reverse-|last-write |info cuda launch')
# Causes follow from the list of memory, which the API does not have.
NO_REPORT = ('chain', 'faults')
# What else the API cannot say: how many convergence barriers a warp has; it shows the masks of 16.
test_loop.FILE_MEMBERS += ('B_expected',)

# A library says that its API is 13.2, which has no calls for the RPC.
RPC = re.compile(r'"rpc(?:_why)?": (?:"\w+"|null),?\n\s*')

# The same reason, with what the API has around it: "memory: readGlobalMemory: nothing is there (CUDBG_ERROR_...)".
AROUND = re.compile(r'\b(?:memory: \w+|setBreakpoint|singleStepWarp|resumeWarpsUntilPC): (?:0x[0-9a-f]+: )?(.*) \(CUDBG_ERROR_\w+\)')


def session(program, images, words, commands, more=None):
    """What a session prints for each of its commands."""
    environment = {**{k: v for k, v in os.environ.items() if not k.startswith('CUDA_')}, **(more or {})}
    done = subprocess.run([program, 'debug', *words], cwd=images, env=environment, input='\n'.join(commands) + '\n', text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
    answers = re.split('^' + re.escape(PROMPT), done.stdout, flags=re.M)
    return answers[0], answers[1:], done.returncode


def plain(command, answer):
    """An answer without what the API cannot say. The transcripts are compared as they are."""
    text = AROUND.sub(r'\1', answer.partition('\n')[2])
    try:
        return test_loop.strip(text, '--json' in command)
    except ValueError:
        return text


def difference(command, one, other):
    for a, b in zip(one.splitlines() + [''] * 999, other.splitlines() + [''] * 999):
        if a != b:
            return [f'after {command!r}:', f'straight: {a}', f'through the API: {b}']
    return []


def compare(program, images, words, commands, other_words=None, more=None):
    straight = session(program, images, words, commands)
    around = session(program, images, other_words or ['--api', *words], commands, more)
    if straight[0] or around[0] or straight[2] != 0 or around[2] != 0 or len(straight[1]) != len(commands):
        return [f'it ended with {straight[2]} and {around[2]}, {len(straight[1])} answers of {len(commands)}: {straight[0]}']
    for command, one, other in zip(commands, straight[1], around[1]):
        if '--api-lib' in (other_words or []):
            one, other = RPC.sub('', one), RPC.sub('', other)
        if one != other and plain(command, one) != plain(command, other):
            return difference(command, plain(command, one), plain(command, other))
    return []


def cases(transcripts):
    for path in sorted(glob.glob(os.path.join(transcripts, '*.txt'))):
        with open(path, encoding='utf-8') as file:
            head, *lines = file.read().splitlines()
        commands = []
        for line in lines:
            if line.startswith(PROMPT):
                commands.append(line[len(PROMPT):])
            elif line.startswith('>'):  # of a command's own lines, up to end
                commands[-1] += '\n' + line[1:]
        if not any(OWN.match(command) for command in commands):
            yield os.path.basename(path), shlex.split(head[2:]), commands
    for words, stops in SESSIONS:
        commands = []
        kernel = re.search(r'--kernel (\w+).* (\S+)\.fatbin', words)
        for stop in stops:
            commands += [stop, *(verb for verb in VERBS if not stop.startswith('break ') and
                                 (kernel.group(1) not in NO_REPORT or not verb.startswith(('report', 'why'))))]
        yield f'every verb at {len(stops)} stops of {kernel.group(1)} of {kernel.group(2)}', shlex.split(words), commands


def refused(program, images):
    """A command that only the software GPU offers is refused, and changes nothing."""
    words = shlex.split(f'--kernel calls --block 32 {OUT} {IN} debug.O3.fatbin')
    commands = ['start', 'watch *(u32 *)0x7f0000004c08']
    answers = session(program, images, ['--api', *words], commands)[1]
    return [line for line in answers[1:] if 'not offered by this provider' not in line]


def of_provider(provider):
    """Another library's device, and the program's own with the same kernel."""
    for image, kernel, threads, stops in [('debug.G', 'parts_once', 64, ['break parts_once', 'run', 'next', 'stepi 7', 'backtrace']),
                                          ('debug.O3', 'calls', 40, ['start', 'stepi 5', 'break debug.cu:29', 'continue', 'next 2'])]:
        commands = [command for stop in stops for command in ([stop] if stop.startswith('break') else [stop, *VERBS])]
        words = shlex.split(f'--kernel {kernel} --block {threads} {OUT} {IN} {image}.fatbin')
        more = {'WARPSCOPE_TEST_IMAGE': image + '.fatbin', 'WARPSCOPE_TEST_KERNEL': kernel, 'WARPSCOPE_TEST_THREADS': str(threads)}
        # its second buffer holds zeros
        words = [word.replace(':index', '') for word in words]
        yield f'{kernel} of {image} on the device of another library', words, commands, ['--api-lib', provider + ':device_api'], more


def unplaced(program):
    """Verbs that nobody decided whether to compare, and commands that are said to be compared and are not."""
    help_text = subprocess.run([program, '--help'], stdout=subprocess.PIPE, text=True, check=True).stdout
    verbs = set(re.findall(r'^  ([a-z]+) ', help_text, re.M))
    return sorted(verbs ^ {*PROMPTED, *OF_FILES}) + [c for c in PROMPTED.values() if not any(verb.startswith(c) for verb in VERBS)]


def main():
    program, images, transcripts, provider = (os.path.abspath(path) for path in sys.argv[1:5])
    listed = list(cases(transcripts)) + list(of_provider(provider))
    print(f'1..{len(listed) + 2}')
    failed = False
    for number, name, wrong in [(1, 'what only the software GPU offers is refused', refused(program, images)),
                                (2, 'every verb is compared, or is about files', unplaced(program))]:
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {number} - {name}")
        for line in wrong:
            print('# ' + line)
    for number, (name, *session_of) in enumerate(listed, 3):
        wrong = compare(program, images, *session_of)
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {number} - {name}")
        for line in wrong:
            print('# ' + line)
    return 1 if failed else 0


sys.exit(main())
