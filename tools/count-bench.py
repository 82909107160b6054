#!/usr/bin/env python3
"""Passes the output of bench/run.sh through and counts what the project promises of a full-size dump: the limits of
opening, of its memory, of the report, of the disassembler. Other limits are shown, not counted.

usage: bench/run.sh BUILD --smoke | count-bench.py [--counts FILE]
"""
import re
import sys

PROMISED = ('open', 'private', 'report', 'json', 'html', 'disas', 'sass')


def main():
    passed = failed = skipped = 0
    for line in sys.stdin:
        print(line, end='', flush=True)
        found = re.match(r'\s+(\w+) .*(good|TOO \w+|SKIP: .*)$', line)
        if found and found.group(1) in PROMISED:
            passed += found.group(2) == 'good'
            failed += found.group(2).startswith('TOO')
            skipped += found.group(2).startswith('SKIP')
    if sys.argv[1:2] == ['--counts']:
        with open(sys.argv[2], 'a', encoding='utf-8') as out:
            out.write(f'{passed} {failed} {skipped}\n')
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
