#!/usr/bin/env python3
"""The PATH of the tests has the commands of listed packages and no others. Prints TAP.

usage: test_listed_commands.py SOURCE_ROOT
"""
import os
import shutil
import subprocess
import sys
import tempfile

# Commands: whether they are there when nothing is listed; and the package that brings them.
WITHOUT = {'sh': True, 'git': True, 'ninja': False, 'xz': False, 'cc': False}
WITH = {'ninja': 'ninja-build', 'cc': 'gcc', 'xz': 'xz-utils'}


def commands(tool, folder, packages):
    lists = os.path.join(folder, 'packages.txt')
    with open(lists, 'w', encoding='utf-8') as out:
        out.write('# a comment\n' + ''.join(f'{name}\n' for name in packages))
    made = os.path.join(folder, 'commands')
    path = subprocess.run([tool, made, lists], capture_output=True, check=True, text=True).stdout.strip()
    return set(os.listdir(made)) if path == made else None


def main():
    tool = os.path.join(sys.argv[1], 'tools', 'listed-commands.py')
    if not shutil.which('dpkg-query'):
        print('1..0 # SKIP no dpkg: the PATH is as it was')
        return 0
    results = []
    with tempfile.TemporaryDirectory() as folder:
        bare = commands(tool, folder, [])
        for name, wanted in WITHOUT.items():
            results.append((f'{name} is {"there" if wanted else "not there"} when nothing is listed', (name in bare) == wanted))
        for name, package in WITH.items():
            results.append((f'{name} is there when {package} is listed', name in commands(tool, folder, [package])))
    print(f'1..{len(results)}')
    for number, (name, good) in enumerate(results, 1):
        print(f'{"ok" if good else "not ok"} {number} - {name}')
    return 0 if all(good for _, good in results) else 1


if __name__ == '__main__':
    sys.exit(main())
