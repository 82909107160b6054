#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the program says of every planted dump is what it said before. Prints TAP.

usage: test_answers.py PROGRAM TESTS [--all] [--update | --against OTHER_PROGRAM]

Golden pages show a few dumps to a reader; here the rest is held, as hashes: tests/data/answers/answers.tsv has a row for each dump
and a column for each part of its report, its pages and its tables. A difference is a fact that a page no longer says, or says anew:
`--against` an older build prints it in full; when it is wanted, `--update` writes the new rows. Without --all: the examples and the
scenarios of builders/build.py, reports only.
"""
import concurrent.futures
import difflib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

TESTS = os.path.abspath(sys.argv[2])
ROWS = os.path.join(TESTS, 'data', 'answers', 'answers.tsv')
HUGE = ('many-modules', 'many-sections')  # seconds each
PARTS = ('verdict', 'exceptions', 'focus', 'groups', 'waits', 'kernels', 'image', 'map', 'next', 'missing', 'diagnostics')
TABLES = ('devices', 'contexts', 'modules', 'kernels', 'launch_trace', 'launch_children', 'sms', 'blocks', 'clusters', 'warps', 'lanes', 'threads', 'barriers', 'exceptions',
          'memory', 'sections', 'metadata')


def say(program, folder, *words):
    done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, errors='surrogateescape', check=False,
                          env={**os.environ, 'LC_ALL': 'C.UTF-8', 'COLUMNS': '100', 'NO_COLOR': '1'})
    return f'{done.stdout}{done.stderr}(exit status {done.returncode})\n'


def answers(program, folder, dump, tables):
    """{column: text} of one dump."""
    report = ('report', '--no-source', '--all', '--format')
    text = say(program, folder, *report, 'json', dump)
    out = {'text': say(program, folder, *report, 'text', dump), 'md': say(program, folder, *report, 'md', dump),
           'html': say(program, folder, *report, 'html', dump)}
    try:
        page = json.loads(text.rpartition('(exit status')[0])
        out.update({part: json.dumps(page.pop(part, None), indent=1) for part in PARTS})
        out['rest'] = json.dumps(page, indent=1)
    except ValueError:
        out['rest'] = text
    if tables:
        out['tables'] = ''.join(say(program, folder, 'info', dump, table, '--json', '--wide') + say(program, folder, 'info', dump, table)
                                for table in TABLES)
        out['check'] = say(program, folder, 'check', dump)
    return out


def hashed(found):
    return {column: hashlib.sha256(text.encode(errors='surrogateescape')).hexdigest()[:6] for column, text in found.items()}


def build(folder, everything):
    """Makes the dumps; their names."""
    builders = os.path.join(TESTS, 'builders')
    for name in os.listdir(os.path.join(TESTS, '..', 'examples', 'dumps')):
        if name.endswith('.nvcudmp'):
            shutil.copy(os.path.join(TESTS, '..', 'examples', 'dumps', name), folder)
    listed = subprocess.run([sys.executable, os.path.join(builders, 'build.py'), '--list'], capture_output=True, text=True, check=True)
    names = [name for name in listed.stdout.split() if name not in HUGE]
    subprocess.run([sys.executable, os.path.join(builders, 'build.py'), folder, *names], check=True, stdout=subprocess.DEVNULL)
    for more in ('faults.py', 'hangs.py') if everything else ():
        subprocess.run([sys.executable, os.path.join(builders, more), folder], check=True, stdout=subprocess.DEVNULL)
    return sorted(name for name in os.listdir(folder) if name.endswith('.nvcudmp'))


def read_rows():
    with open(ROWS, encoding='utf-8') as file:
        head, *rows = [line.rstrip('\n').split('\t') for line in file if not line.startswith('#')]
    return {row[0]: dict(zip(head[1:], row[1:])) for row in rows}


def write_rows(rows):
    columns = ['text', 'md', 'html', *PARTS, 'rest', 'tables', 'check']
    with open(ROWS, 'w', encoding='utf-8') as file:
        file.write('# What the program says of each planted dump, as hashes. Written by tests/cli/test_answers.py PROGRAM tests --all --update\n')
        file.write('\t'.join(['dump', *columns]) + '\n')
        for name, row in sorted(rows.items()):
            file.write('\t'.join([name, *(row.get(column, '-') for column in columns)]) + '\n')


def main():
    program, options = os.path.abspath(sys.argv[1]), sys.argv[3:]
    everything = '--all' in options or '--update' in options
    other = os.path.abspath(options[options.index('--against') + 1]) if '--against' in options else None
    known = read_rows() if '--update' not in options else {}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        names = build(folder, everything)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = dict(zip(names, pool.map(lambda name: answers(program, folder, name, everything), names)))
            before = dict(zip(names, pool.map(lambda name: answers(other, folder, name, everything), names))) if other else {}
    if '--update' in options:
        write_rows({name: hashed(answer) for name, answer in found.items()})
        return 0
    if not other:
        print(f'1..{len(names)}')
    for number, name in enumerate(names, 1):
        if other:
            for column, text in found[name].items():
                sys.stdout.writelines(difflib.unified_diff(before[name][column].splitlines(True), text.splitlines(True),
                                                           f'{name}: {column} before', f'{name}: {column} now', n=1))
            continue
        differ = [column for column, value in hashed(found[name]).items() if known.get(name, {}).get(column) != value]
        failed += bool(differ)
        print(f'{"not ok" if differ else "ok"} {number} - {name}')
        if differ:
            print(f'# differs in: {", ".join(differ)}; --against an older build shows it')
    return int(failed > 0)


if __name__ == '__main__':
    sys.exit(main())
