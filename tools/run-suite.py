#!/usr/bin/env python3
"""Runs Meson test suites and counts single test cases.

usage: run-suite.py BUILD [--slow N] [--counts FILE] SUITE...      (no SUITE: all; --slow: N times the time limit)

Every test prints TAP, so one program counts as many cases. The last line printed is
"N passed, N failed, N skipped"; the exit status is 1 when anything failed or nothing ran. Before it
come the cases that failed, with what they say about it: Meson keeps that in a file, which may be on
a machine that is gone. With --counts the three numbers are also appended to FILE, for a caller that
sums several runs.
"""
import json
import os
import re
import subprocess
import sys

MOST_LINES = 40  # of one test


def count_tap(text):
    passed = failed = skipped = 0
    for line in text.splitlines():
        if re.match(r'(not )?ok\b', line):
            if re.search(r'#\s*skip', line, re.I):
                skipped += 1
            elif line.startswith('not'):
                failed += 1
            else:
                passed += 1
        elif re.match(r'1\.\.0\s*#\s*skip', line, re.I):
            skipped += 1
    return passed, failed, skipped


def failures(text):
    """The lines of the cases that failed, and the comments after each; at most MOST_LINES."""
    lines, is_told = [], False
    for line in text.splitlines():
        is_told = line.startswith('not ok') or (is_told and line.startswith('#'))
        if is_told:
            lines.append(line)
    return lines[:MOST_LINES]


def main():
    args = sys.argv[1:]
    build = args.pop(0)
    counts_file = None
    slow = '1'
    if args[:1] == ['--slow']:
        slow = args[1]
        args = args[2:]
    if args[:1] == ['--counts']:
        counts_file = args[1]
        args = args[2:]
    places = len(os.sched_getaffinity(0)) + 1  # some tests mostly wait
    command = ['meson', 'test', '-C', build, '--print-errorlogs', '--no-rebuild', '--timeout-multiplier', slow, '--num-processes', str(places)]
    for suite in args:
        command += ['--suite', suite]
    status = subprocess.run(command, check=False).returncode
    passed = failed = skipped = 0
    try:
        with open(build + '/meson-logs/testlog.json', encoding='utf-8') as log:
            for line in log:
                test = json.loads(line)
                p, f, s = count_tap(test.get('stdout', ''))
                # A program that died or broke its own TAP is a failure even if each line it printed was ok.
                if test['result'] not in ('OK', 'SKIP') and f == 0:
                    f = 1
                for said in failures(test.get('stdout', '')):
                    print(f"{test['name']}: {said}")
                passed, failed, skipped = passed + p, failed + f, skipped + s
    except FileNotFoundError:
        failed += 1
    if status != 0 and failed == 0:
        failed = 1
    if counts_file:
        with open(counts_file, 'a', encoding='utf-8') as out:
            out.write(f'{passed} {failed} {skipped}\n')
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed or passed + skipped == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
