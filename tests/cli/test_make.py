#!/usr/bin/env python3
"""A checkout that was copied with its build builds and tests itself, not the first one; and what is built for some tests alone.
Prints TAP.

usage: test_make.py SOURCE_ROOT
"""
import os
import shutil
import subprocess
import sys
import tempfile

from tap import tell

PROJECT = '''project('copied', version: '1')
foreach name, suites : {'one': ['unit'], 'other': ['unit', 'apart']}
  file = custom_target(name, output: name, command: ['touch', '@OUTPUT@'], build_by_default: true)
  test(name, find_program('sh'), args: ['-c', 'echo 1..1; echo "ok 1 - ' + name + ' in $1"', file, meson.current_source_dir()],
    suite: suites, protocol: 'tap')
endforeach
'''


def said(folder, *command):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    log = os.path.join(folder, 'build/meson-logs/testlog.txt')
    if done.returncode or not os.path.exists(log):
        return f'status {done.returncode}: {done.stdout}'
    with open(log, encoding='utf-8') as file:
        return file.read()


def cases(root, folder):
    first, second = os.path.join(folder, 'first'), os.path.join(folder, 'second')
    os.mkdir(first)
    with open(os.path.join(first, 'meson.build'), 'w', encoding='utf-8') as file:
        file.write(PROJECT)
    shutil.copy(os.path.join(root, 'Makefile'), first)
    shutil.copytree(os.path.join(root, 'tools'), os.path.join(first, 'tools'))
    subprocess.run(['tools/configure.sh', 'build'], cwd=first, check=True, capture_output=True)
    text = said(first, 'tools/run-suite.py', 'build', '--build', '--without', 'apart', 'unit')
    yield 'a test that is asked for runs alone', f'one in {first}' in text and 'other in' not in text, text
    built = [name for name in ('one', 'other') if os.path.exists(os.path.join(first, 'build', name))]
    yield 'what it reads is built, and nothing else', built == ['one'], str(built)
    text = said(first, 'make', 'check')
    yield 'all run', f'one in {first}' in text and f'other in {first}' in text, text
    before = os.stat(os.path.join(first, 'build/build.ninja')).st_ino
    shutil.copytree(first, second)
    text = said(second, 'make', 'check')
    yield 'a copy tests itself', f'one in {second}' in text and first not in text, text
    said(first, 'make', 'check')
    yield 'a build that belongs to its checkout is kept', os.stat(os.path.join(first, 'build/build.ninja')).st_ino == before, ''


def main():
    with tempfile.TemporaryDirectory() as folder:
        return tell(cases(os.path.abspath(sys.argv[1]), os.path.realpath(folder)))


if __name__ == '__main__':
    sys.exit(main())
