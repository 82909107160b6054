#!/usr/bin/env python3
"""warpscope debug: whole sessions, as transcripts. Prints TAP.

usage: test_debug.py WARPSCOPE IMAGES [--update]

IMAGES has the fatbins of tests/sim/kernels (tests/data/sim). Transcripts (tests/cli/debug/*.txt): sessions.py. With --update they
are made anew from their commands: read the difference.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

import sessions
from sessions import PROMPT

PROGRAM, IMAGES = (os.path.abspath(p) for p in sys.argv[1:3])
UPDATE = '--update' in sys.argv[3:]


def session(words, commands):
    """What the program prints, both streams, and its exit status."""
    return sessions.session(PROGRAM, 'debug', words, commands, IMAGES)


def after_ctrl_c(commands):
    """What is printed once Ctrl-C has come, some time after the last of the commands was begun."""
    words = ['--kernel', 'spins', '--block', '32', '--buffer', 'go=u32[1]', '--buffer', 'out=u32[32]', '--arg', '&go', '--arg',
             '&out', 'live.G.fatbin']
    with subprocess.Popen([PROGRAM, 'debug', *words], cwd=IMAGES, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        child.stdin.write(''.join(command + '\n' for command in commands))
        child.stdin.flush()
        while commands[-1] not in (child.stdout.readline() or commands[-1]):
            pass
        try:
            child.wait(0.1)
        except subprocess.TimeoutExpired:
            pass
        child.send_signal(2)
        child.stdin.write('p 1 + 1\nquit\n')
        child.stdin.flush()
        rest = child.stdout.read()
        child.wait(30)
    return rest


def interrupted():
    """Ctrl-C stops a kernel that never ends; then it is looked at, and thrown away."""
    rest = after_ctrl_c(['run'])
    if not rest.startswith('Interrupted.\n[Current focus set to CUDA kernel 0, grid 1,') or '\n$1 = 2\n' not in rest:
        return f'it printed {rest!r}'
    return None


def steps_interrupted():
    """Ctrl-C ends all steps that are left."""
    rest = after_ctrl_c(['start', 'step 100000000'])
    if rest.count('Interrupted.\n') != 1 or not rest.endswith(f'{PROMPT}p 1 + 1\n$1 = 2\n{PROMPT}quit\n'):
        return f'it printed {rest[-2000:]!r}'
    return None


def refusals():
    """What is no command, location or value is said, and changes nothing."""
    words = ['--kernel', 'calls', '--block', '32', '--buffer', 'out=u32[64]', '--buffer', 'in=u32[64]', '--arg', '&out', '--arg',
             '&in', 'debug.O3.fatbin']
    for command, answer in [
            ('bla', 'Undefined command: "bla".  Try "help".'), ('break', 'Where? FILE:LINE, LINE, FUNCTION or *ADDRESS is expected.'),
            ('break nowhere', 'Function "nowhere" not defined.'), ('break *0x10', 'no instruction'), ('delete 3', 'There is no breakpoint 3.'),
            ('stepi', 'There is no thread: nothing runs yet (run, or start).'), ('print $R1', 'there is no thread.'),
            ('print 1 +', "A syntax error in expression, near `'."), ('print 1 / 0', 'Division by zero.'), ('print (1', "')' is missing."),
            ('print ' + '-' * 200 + '1', 'too many operators are nested.'), ('set $R1', 'VARIABLE = VALUE, $NAME = VALUE'), ('set $R1 = 2', 'There is no thread'),
            ('print ~1.5', 'this operator is for whole numbers.'),
            ('print/q 1', "A format is one of x, z, d, u, o, t, c, f, a and s, not 'q'."),
            ('continue', 'Nothing runs yet (run, or start).'), ('cuda thread 1', 'There is no thread'),
    ]:
        got, status = session(words, [command])
        if status != 0 or answer not in got:
            return f'{command!r}: {status}, {got!r}'
    return None


def values():
    """Expressions have C's precedence and meaning."""
    words = ['--kernel', 'calls', '--block', '32', '--buffer', 'out=u32[64]', '--buffer', 'in=u32[64]', '--arg', '&out', '--arg',
             '&in', 'debug.O3.fatbin']
    cases = [('1 + 2 * 3', '7'), ('(1 + 2) * 3', '9'), ('1 << 4 | 3', '19'), ('7 & 3 == 3', '1'), ('-7 / 2', '-3'), ('-7 % 3', '-1'),
             ('10 - 4 - 3', '3'), ('0x10', '16'), ('!0 && 2 > 1', 'true'), ('1 || 1 / 1', 'true'), ('~0', '-1'), ('1.5 * 2', '3'),
             ('3 >= 4', 'false'), ('5 ^ 1', '4'), ('1.0 / 4 == 0.25', 'true'), ('9223372036854775807 + 1', '-9223372036854775808')]
    got, status = session(words, [f'print {text}' for text, _ in cases])
    lines = [line for line in got.splitlines() if not line.startswith(PROMPT)]
    want = [f'${number} = {value}' for number, (_, value) in enumerate(cases, 1)]
    return None if status == 0 and lines == want else f'{status}, {lines} instead of {want}'


def entries():
    """A breakpoint at a function without debug information, or at an address, is at its first instruction."""
    words = ['--kernel', 'calls', '--block', '32', '--buffer', 'out=u32[64]', '--buffer', 'in=u32[64]', '--arg', '&out', '--arg', '&in']
    for image, commands in (('debug.O3.fatbin', ['break calls']), ('debug.G.fatbin', ['start', 'break *$pc'])):
        at = session([*words, image], commands)[0].split('Breakpoint 1 at ')[1].split(':')[0]
        symbol = session([*words, image], ['info symbol ' + at])[0]
        if 'calls' not in symbol or '+' in symbol:
            return f'{image}: {at} is {symbol}'
    return None


def dumps():
    """A dump made at a stop answers as the stopped device does."""
    words = ['--kernel', 'parts_once', '--block', '64', '--buffer', 'out=u32[64]', '--buffer', 'in=u32[64]:index', '--arg', '&out',
             '--arg', '&in', os.path.join(IMAGES, 'debug.G.fatbin')]
    questions = ['info cuda lanes', 'info cuda warps', 'info cuda kernels', 'info cuda threads', 'info cuda modules', 'info cuda sms',
                 'regs warp 0', 'mem global:0x7f0000000000 /8xw', 'mem shared:0x0 /4xw', 'disassemble --function parts_once --hex']
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([PROGRAM, 'debug', *words], cwd=folder, text=True, capture_output=True, timeout=60, check=False,
                              input='\n'.join(['break debug.cu:41', 'run', 'gcore it.nvcudmp', *questions]))
        answers = done.stdout.split(PROMPT)[4:]
        if len(answers) != len(questions) or not os.path.exists(os.path.join(folder, 'it.nvcudmp')):
            return f'{done}'
        for question, answer in zip(questions, answers):
            verb, *rest = question.replace('info cuda', 'info').replace('disassemble', 'disas').split()
            of_dump = subprocess.run([PROGRAM, verb, 'it.nvcudmp', *rest], cwd=folder, text=True, capture_output=True, timeout=60,
                                     check=False)
            want = question + '\n' + of_dump.stdout
            if of_dump.returncode != 0 or answer != want:
                return f'{question}: {answer!r} of the device, {want!r} of the dump'
    return None


def no_source():
    """A line without its source is shown as code of the thread's own function, once; a line that is asked for as all its code."""
    words = ['--kernel', 'calls', '--block', '32', '--buffer', 'out=u32[64]', '--buffer', 'in=u32[64]:index', '--arg', '&out', '--arg', '&in', 'debug.O3.fatbin']
    done = subprocess.run([PROGRAM, 'debug', *words], cwd=IMAGES, text=True, capture_output=True, timeout=60, check=False,
                          input='start\nstepi\nlist\nlist kernel.h:13\n')
    answers = [re.findall(r'<(\w+\+\d+)>:', one) for one in done.stdout.split(PROMPT)[3:]]
    own = ['calls+16', 'calls+32', 'calls+48', 'calls+64']
    return None if answers[0] == own and answers[1] == ['parts_once+16', *own] else str(done)


def main():
    cases = [(os.path.basename(path), lambda path=path: sessions.transcript(PROGRAM, 'debug', path, IMAGES, UPDATE))
             for path in sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'debug', '*.txt')))]
    cases += [(f.__doc__.split('.')[0], f) for f in (interrupted, steps_interrupted, refusals, values, entries, dumps, no_source)]
    return sessions.run_cases(cases)


sys.exit(main())
