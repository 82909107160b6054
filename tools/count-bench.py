#!/usr/bin/env python3
"""Passes the output of bench/run.sh through and counts its verdicts: a line that names a limit ends in "good", in "TOO SLOW" or the
like, or in "SKIP:" and why it could not be measured; a benchmark that ended early has a line with "FAILED". A line that names a limit
and has no verdict counts as one that is not kept.

usage: bench/run.sh BUILD [--smoke] | count-bench.py [--counts FILE]
"""
import re
import sys

VERDICT = re.compile(r'\s(?:(good)|(TOO [A-Z]+|FAILED: .*)|(SKIP: .*))$')
LIMIT, AGAIN = re.compile(r'\bat (?:most|least) [0-9]'), 'once more:\n'  # run.sh measures it again


def main():
    counts = [0, 0, 0]
    unmet = []
    for line in sys.stdin:
        print(line, end='', flush=True)
        found = VERDICT.search(line)
        is_silent = not found and LIMIT.search(line) and not line.endswith(AGAIN)
        if found:
            counts[found.lastindex - 1] += 1
        counts[1] += bool(is_silent)
        unmet += [line] if is_silent or found and found.group(2) else []
    passed, failed, skipped = counts
    if sys.argv[1:2] == ['--counts']:
        with open(sys.argv[2], 'a', encoding='utf-8') as out:
            out.write(f'{passed} {failed} {skipped}\n')
    print(''.join(['not kept:\n', *unmet]) if unmet else '', f'{passed} passed, {failed} failed, {skipped} skipped', sep='')
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
