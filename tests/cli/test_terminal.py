#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""On a terminal every line fits, and nothing is lost: pages of dumps at five widths against the same pages in a pipe. Prints TAP.

usage: test_terminal.py PROGRAM TESTS [--all]

Without --all: the examples, and every third other dump at one of the widths, in turn.
"""
import concurrent.futures
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unicodedata

import test_answers

WIDTHS = (40, 60, 80, 100, 200)
PAGES = (('report', '--all'), ('check',), ('triage',))
TABLES = tuple(('info', '--wide', '{}', table) for table in test_answers.TABLES)
SEQUENCE = re.compile(r'\x1b\[[0-9;]*[A-Za-z]')
# Lines of code are left as they are: an address or the number of a line, two spaces, and the code.
CODE = re.compile(r'\s*(?:pc ->|error ->)?\s*0x[0-9a-f]+  \S|\s*>?\s*\d+  ')


def environment(**more):
    return {**{k: v for k, v in os.environ.items() if k not in ('COLUMNS', 'NO_COLOR')}, 'LC_ALL': 'C.UTF-8', 'TERM': 'xterm',
            'WARPSCOPE_PAGER': '', **more}


def in_pipe(program, folder, words):
    return subprocess.run([program, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                          env=environment(), check=False).stdout.decode(errors='replace')


def on_terminal(program, folder, words, width, stream='stdout', **more):
    """What a terminal of that width gets on one of the streams."""
    master, slave = pty.openpty()
    attributes = termios.tcgetattr(slave)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 50, width, 0, 0))
    streams = {'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL, stream: slave}
    with subprocess.Popen([program, *words], cwd=folder, stdin=subprocess.DEVNULL, env=environment(**more), **streams) as process:
        os.close(slave)
        out = b''
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            out += part
        process.wait()
    os.close(master)
    return SEQUENCE.sub('', out.decode(errors='replace'))


def width_of(text):
    return sum(0 if unicodedata.category(c) in ('Mn', 'Me') else 2 if unicodedata.east_asian_width(c) in ('W', 'F') else 1 for c in text)


def is_one_piece(line):
    """Whether a line has nothing to fold at: one word, behind a bullet, a label or the gap of a table."""
    text = re.sub(r'`[^`]*`', lambda code: code.group().replace(' ', '_'), line.strip())
    label = re.match(r'[-*+~] |\S[^`]{0,12}?(?:  +| (?=\S+$))', text)
    return ' ' not in text[label.end() if label else 0:]


def wrong(shown, whole, width):
    """What is wrong with a page as a terminal shows it; None: nothing."""
    if shown.split() != whole.split():
        a, b = shown.split(), whole.split()
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        return f'at width {width}: {" ".join(a[at - 2:at + 5])!r} for {" ".join(b[at - 2:at + 5])!r}'
    known = set(whole.splitlines())
    for line in shown.splitlines():
        if width_of(line) > width and not (line in known and CODE.match(line)) and not is_one_piece(line):
            return f'at width {width}: {line!r}'
    return None


def check_dump(program, folder, pages, widths):
    for words in pages:
        whole = in_pipe(program, folder, words)
        for width in widths:
            found = wrong(on_terminal(program, folder, words, width), whole, width)
            if found:
                return f'{" ".join(words)}: {found}'
    return None


def pages_of(name, is_example):
    tables = [tuple(name if word == '{}' else word for word in words) for words in TABLES] if is_example else []
    return [(*words, name) for words in PAGES] + tables


def others(program, folder):
    """(name, what is wrong) of the rest."""
    example, hang = 'illegal-address.nvcudmp', 'hang.nvcudmp'
    pages = [('diff', hang, example), ('diff', hang, 'exited.nvcudmp'), ('triage', '.'), ('regs', example), ('bt', example), ('store', 'list'),
             ('info', example, 'where', '0x7f3a003fff10'), ('help',), ('help', 'options'), ('report', '--help'), ('env',)]
    yield 'differences, triage of many and other pages', check_dump(program, folder, pages, WIDTHS)
    whole = in_pipe(program, folder, ('report', hang))
    yield 'COLUMNS comes before the size', wrong(on_terminal(program, folder, (hang,), 300, COLUMNS='60'), whole, 60)
    yield 'a pipe gets whole lines', None if max(map(len, whole.splitlines())) > 200 else whole
    folded = in_pipe(program, folder, ('report', '--columns', '60', hang))
    yield '--columns folds in a pipe', wrong(folded, whole, 60) or (None if folded != whole else 'it does not')
    yield '--columns 0 folds nothing', None if on_terminal(program, folder, ('--columns', '0', hang), 60) == whole else 'it does'
    for words in (('report', '--json', hang), ('report', '--format', 'md', hang), ('triage', '--format', 'github', hang), ('disas', example),
                  ('triage', '--jsonl', hang), ('mem', example, 'global:0x7f3a00000000', '/x', '64'), ('info', '--json', hang, 'warps')):
        yield f'{" ".join(words[:3])} is as in a pipe', None if on_terminal(program, folder, words, 40) == in_pipe(program, folder, words) else 'it is not'
    said = on_terminal(program, folder, ('report', 'a-file-that-is-not-there', 'and-another-one', 'and-more'), 40, 'stderr')
    long = [line for line in said.splitlines() if len(line) > 40]
    yield 'standard error fits, too', None if said.count('\n') > 1 and not long else said


def main():
    program, everything = os.path.abspath(sys.argv[1]), '--all' in sys.argv
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        names = test_answers.build(folder, everything)
        examples = [name for name in os.listdir(os.path.join(test_answers.TESTS, '..', 'examples', 'dumps')) if name.endswith('.nvcudmp')]
        names = names if everything else [name for number, name in enumerate(names) if number % 3 == 0 or name in examples]

        def look(numbered):
            number, name = numbered
            whole = everything or name in examples
            return f'{name} fits', check_dump(program, folder, pages_of(name, name in examples), WIDTHS if whole else WIDTHS[number % 5:][:1])
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            cases = list(pool.map(look, enumerate(names)))
        for name in names:
            if name not in examples:
                os.unlink(os.path.join(folder, name))
        cases += others(program, folder)
    print(f'1..{len(cases)}')
    for number, (name, why) in enumerate(cases, 1):
        print(f'{"not ok" if why else "ok"} {number} - {name}')
        if why:
            failed += 1
            print('\n'.join(f'# {line}' for line in why.splitlines()[:20]))
    return int(failed > 0)


if __name__ == '__main__':
    sys.exit(main())
