#!/usr/bin/env python3
"""The sample in README.md is what the program prints: the golden page brief. Prints TAP.

usage: check-readme.py ROOT
"""
import os
import sys


def read(*parts):
    with open(os.path.join(*parts), encoding='utf-8') as text:
        return text.read()


def main():
    root = sys.argv[1]
    readme = read(root, 'README.md')
    command = read(root, 'tests/golden/brief.cmd').splitlines()[-1]
    sample = f'```\n$ {command}\n{read(root, "tests/golden/brief.out")}```\n'
    good = sample in readme
    print(f'1..1\n{"ok" if good else "not ok"} 1 - the sample in README.md is real')
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
