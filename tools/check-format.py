#!/usr/bin/env python3
"""Every C file is as clang-format 14 writes it. Prints TAP; skipped where that version is not installed.

usage: check-format.py [ROOT]
"""
import os
import re
import shutil
import subprocess
import sys

FOLDERS = ('include', 'src', 'cli', 'cuda', 'examples', 'bench', 'fuzz', 'tests')
NOT_OURS = ('tests/kernels/',)  # sources of fixtures: their line numbers are part of committed cubins


def files(root):
    for folder in FOLDERS:
        for where, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                path = os.path.relpath(os.path.join(where, name), root)
                if name.endswith(('.c', '.h')) and not path.startswith(NOT_OURS):
                    yield path


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else '.'
    program = shutil.which('clang-format-14') or shutil.which('clang-format')
    version = subprocess.run([program, '--version'], capture_output=True, check=False, text=True).stdout if program else ''
    if not re.search(r'version 14\.', version):
        print('1..1\nok 1 - C files are formatted # SKIP clang-format 14 is not installed')
        return 0
    done = subprocess.run([program, '--dry-run', '-Werror', *sorted(files(root))], cwd=root, capture_output=True,
                          check=False, text=True)
    bad = sorted({line.split(':')[0] for line in done.stderr.splitlines() if 'clang-format-violations' in line})
    print(f'1..1\n{"not ok" if bad or done.returncode else "ok"} 1 - C files are formatted')
    for path in bad:
        print(f'# clang-format -i {path}')
    return 1 if bad or done.returncode else 0


if __name__ == '__main__':
    sys.exit(main())
