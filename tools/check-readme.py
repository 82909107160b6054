#!/usr/bin/env python3
"""README.md is true: its sample is what the program prints (the golden page brief), the picture is there and small, and its commands
name verbs and options that exist. Prints TAP.

usage: check-readme.py ROOT [WARPSCOPE]
"""
import os
import re
import subprocess
import sys

MOST_BYTES = 200_000  # of the picture


def read(*parts):
    with open(os.path.join(*parts), encoding='utf-8') as text:
        return text.read()


def sample_is_real(root, readme):
    command = read(root, 'tests/golden/brief.cmd').splitlines()[-1]
    return f'```\n$ {command}\n{read(root, "tests/golden/brief.out")}```\n' in readme


def picture_is_small(root, readme):
    path = re.search(r'!\[[^]]+\]\(([^)]+)\)', readme)
    return path is not None and 0 < os.path.getsize(os.path.join(root, path.group(1))) <= MOST_BYTES


def commands_exist(program, readme):
    """Every option behind `warpscope` in README.md is in the help of its verb, or in that of all verbs."""
    def said(*words):
        return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout
    verbs = re.findall(r'^  ([a-z]+) ', said('--help'), re.MULTILINE)
    for line in re.findall(r'\bwarpscope +([^`\n#]+)', '\n'.join(re.findall(r'`[^`]+`', readme.replace('```', '`')))):
        words = line.split()
        verb = words[0] if words[0] in verbs else 'report'
        text = said(verb, '--help') + said('help', 'options')
        for option in re.findall(r'(?<!\S)--[a-z-]+', line):
            if not re.search(rf'(?<!\S){option}(?![a-z-])', text):
                print(f'# {verb} has no {option}')
                return False
    return True


def main():
    root = sys.argv[1]
    readme = read(root, 'README.md')
    cases = [('the sample in README.md is real', sample_is_real(root, readme)),
             ('the picture in README.md is there and small', picture_is_small(root, readme))]
    if len(sys.argv) > 2:
        cases.append(('the commands in README.md exist', commands_exist(sys.argv[2], readme)))
    print(f'1..{len(cases)}')
    for number, (name, good) in enumerate(cases, 1):
        print(f'{"ok" if good else "not ok"} {number} - {name}')
    return 0 if all(good for _, good in cases) else 1


if __name__ == '__main__':
    sys.exit(main())
