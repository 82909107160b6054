#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `strip --for-issue` keeps of the verdict, and what it says of it: test_issue.py PROGRAM TESTS EVERY. Prints TAP.

The first line of the report stays the same for all example dumps, and for at least SAME of the planted faults and hangs (each
EVERYth); where it does not, the tool says so, with both lines. Pages of stripped and of cut dumps advise to change no flag that was
not set; of a cut one only to have less written. The names of enumerators that the tool lists are those in the new dump.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

PROGRAM, TESTS, EVERY = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3])
sys.path.insert(0, os.path.join(TESTS, 'builders'))

import coredump  # noqa: E402
import dwarf  # noqa: E402
import everything  # noqa: E402
import test_planted  # noqa: E402
from build import SCENARIOS  # noqa: E402

SAME = 0.6
EXAMPLES = os.path.join(TESTS, '..', 'examples', 'dumps')


def run(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f'{words}: {done.stderr}'
    return done.stdout


def report(path):
    return json.loads(run('report', '--json', '--no-source', path))


def stripped(path, work):
    """(what the tool says, path of the new dump)"""
    out = os.path.join(work, 'issue.nvcudmp')
    return json.loads(run('strip', '--json', '--for-issue', path, '-o', out)), out


def told_lines(said, before, after):
    """What is wrong with the lines that the tool tells."""
    if (said['verdict_before'], said['verdict_after']) != (before['verdict']['summary'], after['verdict']['summary']):
        return [f'the lines told are {said["verdict_before"]} and {said["verdict_after"]}']
    return []


def examples(work):
    for name in sorted(os.listdir(EXAMPLES)):
        if name.endswith('.nvcudmp'):
            said, out = stripped(os.path.join(EXAMPLES, name), work)
            before, after = report(os.path.join(EXAMPLES, name)), report(out)
            yield from told_lines(said, before, after)
            if before['verdict']['summary'] != after['verdict']['summary']:
                yield f'{name}: {after["verdict"]["summary"]}'
            text = run('strip', '--for-issue', os.path.join(EXAMPLES, name), '-o', out)
            if 'first line of the report: the same\n' not in text:
                yield f'{name}: {text}'


def planted(work):
    bad, same, dumps = [], 0, [path for path in everything.dumps(work, EVERY) if '/scenarios/' not in path]
    for path in dumps:
        said, out = stripped(path, work)
        before, after = report(path), report(out)
        bad += told_lines(said, before, after)
        same += before['verdict']['summary'] == after['verdict']['summary']
        if before['verdict']['kind'] != after['verdict']['kind'] or before['signature'] != after['signature']:
            bad.append(f'{path}: {after["verdict"]["kind"]}, {after["signature"]}')
        bad += [f'{path}: {line}' for line in after['next'] if 'GENERATION_FLAGS' in line]
    print(f'# {same} of {len(dumps)} first lines are the same')
    return bad + ([] if same >= SAME * len(dumps) else ['too few are the same'])


def advice(work):
    """Of a dump that was cut, and of one that a driver made without global memory."""
    path = os.path.join(work, 'd.nvcudmp')
    made = SCENARIOS['illegal-address'][0]()
    whole = coredump.write(made.model, coredump.Options())
    for size in range(len(whole) // 2, len(whole), len(whole) // 20):
        with open(path, 'wb') as handle:
            handle.write(whole[:size])
        yield from (f'cut at {size}: {line}' for line in report(path)['next'] if 'GENERATION_FLAGS' in line and 'have less written' not in line)
    with open(path, 'wb') as handle:
        handle.write(coredump.write(made.model, coredump.Options(flags=coredump.FLAG_SKIP_GLOBAL)))
    if not any('without `skip_global_memory`' in line for line in report(path)['next']):
        yield f'a flag was set: {report(path)["next"]}'


def with_enumerators(image):
    """The image with debug information of an enumeration, in both forms of strings."""
    one = dwarf.Unit()
    one.add(dwarf.Die('enumeration_type', ('name', 'string', 'Color'), ('byte_size', 'data1', 1), children=[
        dwarf.Die('enumerator', ('name', 'string', 'RED'), ('const_value', 'sdata', 1)),
        dwarf.Die('enumerator', ('name', 'strp', 'BLUE_BIRD'), ('const_value', 'sdata', 77))]))
    packed = dwarf.packed([one])
    sizes = struct.unpack_from('<III', packed)
    parts = [packed[12 + sum(sizes[:i]):12 + sum(sizes[:i + 1])] for i in range(3)]
    return test_planted.with_debug(image, *parts)


def enumerators(work):
    said, out = stripped(os.path.join(EXAMPLES, 'misaligned-G.nvcudmp'), work)
    with open(out, 'rb') as handle:
        data = handle.read()
    yield from (f'{name} is not there' for name in said['enumerators_kept'] if name.encode() not in data)
    made = SCENARIOS['illegal-address'][0]()
    module = made.model.devices[0].contexts[0].modules[0]
    module.relocated = with_enumerators(module.relocated)
    with open(os.path.join(work, 'd.nvcudmp'), 'wb') as handle:
        handle.write(coredump.write(made.model, made.options))
    said, out = stripped(os.path.join(work, 'd.nvcudmp'), work)
    if said['enumerators_kept'] != ['RED', 'BLUE_BIRD']:
        yield f'listed are {said["enumerators_kept"]}'
    names = 'names of enumerators that stay: ' + ', '.join(said['enumerators_kept'])
    if names not in run('strip', '--for-issue', os.path.join(work, 'd.nvcudmp'), '-o', out):
        yield 'the text does not list them'


def main():
    with tempfile.TemporaryDirectory(prefix='ws-issue-') as work:
        cases = (('the first line of example dumps stays', list(examples(work))),
                 ('planted dumps keep it, or the tool says that they do not', planted(work)),
                 ('no flag is to be changed that was not set', list(advice(work))),
                 ('names of enumerators that stay are listed', list(enumerators(work))))
    for number, (name, bad) in enumerate(cases, 1):
        for line in bad[:10]:
            print('#', line)
        print(f'{"not ok" if bad else "ok"} {number} - {name}')
    print(f'1..{len(cases)}')
    return 1 if any(bad for _, bad in cases) else 0


if __name__ == '__main__':
    sys.exit(main())
