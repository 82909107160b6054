#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes one line of C at random and sees whether the tests notice; again and again, over all rooms.

usage: mutants.py [--seed N] [--count N] [--room FOLDER] [--change FILE:LINE:TEXT]... [--suites "unit golden ..."] [--list]

Each change is made in a checkout of HEAD of its own (build-mutants/), which is built and tested until something fails. A change
that does not compile is replaced by the next. --change makes one that is given instead: TEXT replaces the line. --list only
shows what would be changed. The last line is "N of M changes noticed"; exit status 1 when it is under 85 %.

Kinds of change: a comparison or its bound, a Boolean or arithmetic operator, a condition, a constant, two arguments swapped, a
call left out.
"""
import argparse
import os
import random
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TREE = os.path.join(ROOT, 'build-mutants')
SUITES = 'unit golden api cli fuzz builders'
ENOUGH = 0.85
SECONDS = 900  # for one change: a test that hangs is noticed by its own time limit

SWAPS = [(r' < ', ' <= '), (r' <= ', ' < '), (r' > ', ' >= '), (r' >= ', ' > '), (r' == ', ' != '), (r' != ', ' == '),
         (r' && ', ' || '), (r' \|\| ', ' && '), (r' \+ ', ' - '), (r' - ', ' + '), (r' << ', ' >> '), (r' >> ', ' << '),
         (r' & ', ' | '), (r' \| ', ' & '), (r'\+\+', '--'), (r' \+= ', ' -= '), (r' \|= ', ' &= ')]


def without_text(line, in_comment):
    """The line with strings, characters and comments blanked, and whether a comment goes on after it."""
    out, at = [], 0
    while at < len(line):
        if in_comment:
            end = line.find('*/', at)
            stop = len(line) if end < 0 else end + 2
            in_comment = end < 0
        elif line.startswith('/*', at):
            in_comment, stop = True, at + 2
        elif line.startswith('//', at):
            stop = len(line)
        elif match := re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'').match(line, at):
            stop = match.end()
        else:
            out.append(line[at])
            at += 1
            continue
        out.append(' ' * (stop - at))
        at = stop
    return ''.join(out), in_comment


def changes_of(line, bare):
    """(kind, changed line) of all changes that one line allows; `bare` is the line without text."""
    found = []
    for old, new in SWAPS:
        found += [('operator', line[:m.start()] + new + line[m.end():]) for m in re.finditer(old, bare)]
    for match in re.finditer(r'(?<![\w.])(\d+)(?=u?\b)', bare):
        found.append(('constant', f'{line[:match.start()]}{int(match.group(1)) + 1}{line[match.end():]}'))
    if match := re.fullmatch(r'(\t+(?:\} else )?if \()(.+)(\)(?: \{)?)', bare):
        start, end = match.span(2)
        found.append(('condition', f'{line[:start]}!({line[start:end]}){line[end:]}'))
    for match in re.finditer(r'(\w+\()([\w.>&\[\]-]+), ([\w.>&\[\]-]+)(?=[,)])', bare):
        if match.group(2) != match.group(3):
            found.append(('arguments', f'{line[:match.start()]}{match[1]}{match[3]}, {match[2]}{line[match.end():]}'))
    if re.fullmatch(r'\t+[\w>.-]+\(.*\);', bare):
        found.append(('call', re.match(r'\t+', line)[0] + ';'))
    return found


def candidates(path):
    """(line number, line, [(kind, changed line)]) of a C file: lines in functions that can be changed."""
    in_comment, rows = False, []
    with open(os.path.join(ROOT, path), encoding='utf-8') as handle:
        for number, line in enumerate(handle.read().split('\n'), 1):
            bare, in_comment = without_text(line, in_comment)
            if line.startswith('\t') and not re.search(r'\bassert|WSI_PRINTF', bare) and (found := changes_of(line, bare)):
                rows.append((number, line, found))
    return rows


def rooms(only):
    listed = subprocess.run(['git', '-C', ROOT, 'ls-files', 'src/*.c', 'cli/*.c'], capture_output=True, text=True, check=True)
    by_room = {}
    for path in listed.stdout.split():
        room = os.path.dirname(path)
        if only in (None, room):
            by_room.setdefault(room, []).append(path)
    return by_room


def choose(seed, only):
    """An endless row of (path, line number, kind, line, changed line): rooms in turn, lines of a room alike likely."""
    rng, by_room = random.Random(seed), rooms(only)
    lines = {room: [(path, row) for path in paths for row in candidates(path)] for room, paths in by_room.items()}
    seen = set()
    while True:
        order = sorted(room for room in lines if lines[room])
        rng.shuffle(order)
        for room in order:
            path, (number, line, found) = rng.choice(lines[room])
            kind, text = rng.choice(found)
            if (path, number, text) not in seen:
                seen.add((path, number, text))
                yield path, number, kind, line, text


def run(*command, seconds=SECONDS):
    try:
        return subprocess.run(command, cwd=TREE, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(command, 1, str(late.stdout or ''), 'too slow')


def make_tree():
    head = subprocess.run(['git', '-C', ROOT, 'rev-parse', 'HEAD'], capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isdir(TREE):
        subprocess.run(['git', 'clone', '-q', '--shared', ROOT, TREE], check=True)
    subprocess.run(['git', '-C', TREE, 'fetch', '-q', 'origin', head], check=False)
    subprocess.run(['git', '-C', TREE, 'checkout', '-q', '--force', head], check=True)
    if not os.path.isdir(os.path.join(TREE, 'build')):
        subprocess.run(['meson', 'setup', 'build'], cwd=TREE, stdout=subprocess.DEVNULL, check=True)
    if run('ninja', '-C', 'build').returncode:
        sys.exit('mutants.py: the tree does not build as it is')


def first_failure(suites):
    """Which suite notices, or None."""
    for suite in suites:
        if run('meson', 'test', '-C', 'build', '--no-rebuild', '--maxfail', '1', '--suite', suite).returncode:
            return suite
    return None


def try_change(path, number, text, suites):
    """Name of the suite that notices; '' when none does, None when it does not compile."""
    file = os.path.join(TREE, path)
    with open(file, encoding='utf-8') as handle:
        before = handle.read()
    lines = before.split('\n')
    lines[number - 1] = text
    try:
        with open(file, 'w', encoding='utf-8') as handle:
            handle.write('\n'.join(lines))
        if run('ninja', '-C', 'build').returncode:
            return None
        return first_failure(suites) or ''
    finally:
        with open(file, 'w', encoding='utf-8') as handle:
            handle.write(before)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split('\n\n')[1][7:])
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--count', type=int, default=60)
    parser.add_argument('--room')
    parser.add_argument('--change', action='append', default=[])
    parser.add_argument('--suites', default=SUITES)
    parser.add_argument('--list', action='store_true')
    args = parser.parse_args()
    if args.change:
        given = [change.split(':', 2) for change in args.change]
        source = iter([(path, int(number), 'given', '...', text) for path, number, text in given])
        args.count = len(given)
    else:
        source = choose(args.seed, args.room)
    if not args.list:
        make_tree()
    done = noticed = 0
    for path, number, kind, line, text in source:
        if done == args.count:
            break
        where = f'{path}:{number}: {kind}: {line.strip()} -> {text.strip()}'
        suite = '' if args.list else try_change(path, number, text, args.suites.split())
        if suite is None:
            if args.change:
                sys.exit(f'mutants.py: {where}: does not compile')
            continue
        done += 1
        noticed += bool(suite)
        verdict = '' if args.list else f'noticed by {suite:10}' if suite else f'{"NOT NOTICED":21}'
        print(verdict + where, flush=True)
    if not args.list:
        print(f'{noticed} of {done} changes noticed')
    return int(not args.list and noticed < ENOUGH * done)


if __name__ == '__main__':
    sys.exit(main())
