#!/usr/bin/env python3
"""Runs Meson test suites and counts single test cases.

usage: run-suite.py BUILD [--build] [--slow N] [--counts FILE] [--without SUITE] SUITE...

No SUITE: all. --slow: N times the time limit. --build: first builds what these tests need, and nothing else.

Every test prints TAP, so one program counts as many cases. The last line printed is
"N passed, N failed, N skipped"; the exit status is 1 when anything failed or nothing ran. Before it
come the tests that failed: first each with what it said about the cases that failed and how to run
it again, because Meson keeps that in a file, which may be on a machine that is gone; then a list.
With --counts the three numbers are also appended to FILE, for a caller that sums several runs.
"""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys

MOST_LINES = 300  # of what one test said; more are left out in the middle
RESULT = re.compile(r'(not )?ok\b|1\.\.\d')  # a line of TAP that is no comment


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
    """The cases that failed: of each the line that says so, and all lines around it up to the results of other cases."""
    cases, before = [], []
    case = None
    for line in text.splitlines():
        if not RESULT.match(line):
            (before if case is None else case).append(line)
        elif line.startswith('not ok'):
            case = before + [line]
            cases.append(case)
            before = []
        else:
            case, before = None, []
    return cases


def name_of(case):
    return next(line for line in case if line.startswith('not ok'))


def shortened(lines, build):
    left_out = len(lines) - MOST_LINES
    if left_out <= 0:
        return lines
    half = MOST_LINES // 2
    return lines[:half] + [f'... {left_out} lines left out: {build}/meson-logs/testlog.txt ...'] + lines[-half:]


def told(test, build):
    """What stands at the end about a test that failed."""
    stdout, stderr = test.get('stdout', '').splitlines(), test.get('stderr', '').splitlines()
    cases = failures(test.get('stdout', ''))
    lines = ['', f"==== {test['name']}: {test['result']}, exit status {test.get('returncode')}, {test.get('duration', 0):.0f} s",
             f"again: meson test -C {build} --verbose {shlex.quote(test['name'].split(' / ')[-1])}"]
    lines += shortened([line for case in cases for line in case] or stdout, build)
    if stderr:
        lines += ['-- standard error:', *shortened(stderr, build)]
    return lines, [f"{test['name']}: {name_of(case)}" for case in cases] or [f"{test['name']}: {test['result']}"]


def build_for(build, suites, without):
    """Builds what the tests of some suites run and read. Configured again first: what Meson tells may be of an older state of the tree."""
    quietly = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'quietly.sh')
    status = subprocess.run([quietly, f'Configuring {build} ...', 'ninja', '-C', build, 'build.ninja'], check=False).returncode
    if status:
        return status
    said = subprocess.run(['meson', 'introspect', '--tests', '--targets', build], capture_output=True, check=True).stdout
    known = json.loads(said)
    needed = set()
    for test in known['tests']:
        own = {suite.split(':')[-1] for suite in test['suite']}
        if own & suites and without not in own:
            needed.update(test['depends'])
    files = [os.path.relpath(name, os.path.realpath(build)) for target in known['targets'] if target['id'] in needed for name in target['filename']]
    return subprocess.run([quietly, f'Building what runs in {build} ...', 'ninja', '-C', build, *files], check=False).returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('build')
    parser.add_argument('--build', action='store_true', dest='builds')
    parser.add_argument('--slow', default='1')
    parser.add_argument('--counts')
    parser.add_argument('--without')
    parser.add_argument('suites', nargs='*')
    arguments = parser.parse_intermixed_args()
    build = arguments.build
    if arguments.builds and build_for(build, set(arguments.suites), arguments.without):
        return 1
    places = len(os.sched_getaffinity(0)) + 1  # some tests mostly wait
    command = ['meson', 'test', '-C', build, '--no-rebuild', '--timeout-multiplier', arguments.slow, '--num-processes', str(places)]
    for suite in arguments.suites:
        command += ['--suite', suite]
    if arguments.without:
        command += ['--no-suite', arguments.without]
    status = subprocess.run(command, check=False).returncode
    passed = failed = skipped = 0
    names = []
    try:
        with open(build + '/meson-logs/testlog.json', encoding='utf-8') as log:
            for line in log:
                test = json.loads(line)
                p, f, s = count_tap(test.get('stdout', ''))
                # A program that died or broke its own TAP is a failure even if each line it printed was ok.
                if test['result'] not in ('OK', 'SKIP'):
                    f = f or 1
                    lines, failed_names = told(test, build)
                    print('\n'.join(lines))
                    names += failed_names
                passed, failed, skipped = passed + p, failed + f, skipped + s
    except FileNotFoundError:
        failed += 1
    if status != 0 and failed == 0:
        failed = 1
    if arguments.counts:
        with open(arguments.counts, 'a', encoding='utf-8') as out:
            out.write(f'{passed} {failed} {skipped}\n')
    if names:
        print('\nFailed:', *names, '', sep='\n')
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed or passed + skipped == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
