#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the triage takes from its workers, and from which it protects itself: a worker that a dump took over sends what it wants. Prints TAP.

usage: test_triage_workers.py PROGRAM       with tests/cli/wild_worker.c as its worker
"""
import json
import os
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
NO_RECORD, LATE = 'its reader sent no record', 'it took too long (--timeout)'
CRASH = 'its reader crashed (signal 6); please report this dump'


def rows(names, *options):
    """By name of file: its record, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            with open(os.path.join(folder, name), 'wb') as file:
                file.write(b'a dump')
        done = subprocess.run([PROGRAM, 'triage', '--jsonl', *options, *[os.path.join(folder, name) for name in names]], capture_output=True,
                              check=False, timeout=60)
    found = {}
    for line in done.stdout.splitlines(True):
        row = json.loads(line)
        name = row['of'].rstrip() if 'of' in row else os.path.basename(row['path'])
        found.setdefault(name, []).append(len(line) if 'of' in row else row['why'])
    return found


def expect(found, wanted):
    if found != {name: [row] for name, row in wanted.items()}:
        raise AssertionError(f'{found}, not {wanted}')


def records_are_taken_whole():
    """In pieces too, the end of one with the start of the next one, and up to the largest size."""
    names = {'plain': 64, 'torn': 64, 'most': 1 << 24}
    expect(rows(names, '-j', '1'), names)
    names = {'held': 64, **{f'plain{i}': 64 for i in range(8)}}
    expect(rows(names, '-j', '1'), names)


def what_is_no_record_is_refused():
    """Of each size and form; the rows of other dumps are not lost by it."""
    names = {'over': NO_RECORD, 'none': NO_RECORD, 'open': NO_RECORD, 'early': NO_RECORD, 'plain1': 64, 'plain2': 64}
    for workers in '12':
        expect(rows(names, '-j', workers), names)


def a_worker_that_ends_costs_its_row():
    """Where others wait for it, they are read by the next one."""
    plain = {f'plain{i}': 64 for i in range(150)}
    names = {'crash1': CRASH, 'crash2': CRASH, 'exit': 'its reader ended early (status 3)', **plain}
    for workers in '12':
        expect(rows(names, '-j', workers), names)
    few = {name: plain[name] for name in list(plain)[:9]}
    expect(rows(['slow', *few], '-j', '1', '--timeout', '2'), {'slow': LATE, **few})


def files_that_are_none_have_no_row():
    expect(rows(['other1', 'plain', 'other2'], '-j', '1'), {'plain': 64})


def nothing_is_taken_that_nobody_asked_for():
    """A second record of one dump is of no dump, and the half of one is none."""
    expect(rows(['twice'], '-j', '1'), {'twice': 64})
    expect(rows(['half'], '-j', '1'), {'half': 'its reader ended early (status 0)'})


def main():
    cases = [records_are_taken_whole, what_is_no_record_is_refused, a_worker_that_ends_costs_its_row, files_that_are_none_have_no_row,
             nothing_is_taken_that_nobody_asked_for]
    failed = 0
    print(f'1..{len(cases)}')
    for number, case in enumerate(cases, 1):
        name, wrong = case.__name__.replace('_', ' '), None
        try:
            case()
        except (AssertionError, OSError, KeyError, ValueError, subprocess.SubprocessError) as problem:
            wrong = f'{type(problem).__name__}: {problem}'.replace('\n', '\n# ')
        failed += wrong is not None
        print(f'ok {number} - {name}' if wrong is None else f'not ok {number} - {name}\n# {wrong[:3000]}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
