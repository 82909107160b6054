#!/usr/bin/env python3
"""Golden tests: runs NAME.cmd of this folder and compares what it prints with NAME.out. Prints TAP.

usage: run.py WARPSCOPE SOURCE_ROOT [--update] [NAME...]

NAME.cmd is one shell command, run in the root of the repository; "warpscope" is the program under test, "$DUMPS" a
folder with every dump of tests/builders (made when a command asks for it). Lines that start with # are comments: the
first says why the case exists. NAME.out is standard output, then standard error and the exit status when there is
something to say of them. --update rewrites the .out files: read the difference before you commit it.
"""
import difflib
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def command_of(name):
    with open(os.path.join(HERE, name + '.cmd'), encoding='utf-8') as text:
        return '\n'.join(line for line in text.read().splitlines() if not line.startswith('#'))


def output_of(command, root, environment):
    done = subprocess.run(['sh', '-c', command], cwd=root, env=environment, capture_output=True, check=False,
                          timeout=120)
    text = done.stdout.decode(errors='backslashreplace')
    error = done.stderr.decode(errors='backslashreplace')
    if error:
        text += f'--- standard error\n{error}'
    if done.returncode:
        text += f'--- exit status {done.returncode}\n'
    return text.replace(environment['DUMPS'], '$DUMPS')


def build_dumps(root, folder, names):
    wanted = [n for n in names if '$DUMPS' in command_of(n)]
    scenarios = sorted({word.split('/')[1].split('.')[0] for n in wanted for word in command_of(n).split()
                        if word.startswith('$DUMPS/')})
    if scenarios:
        subprocess.run([sys.executable, os.path.join(root, 'tests/builders/build.py'), folder, *scenarios], check=True)


def main():
    program, root = (os.path.abspath(p) for p in sys.argv[1:3])
    rest = sys.argv[3:]
    update = '--update' in rest
    chosen = [a for a in rest if not a.startswith('-')]
    names = chosen or sorted(f[:-4] for f in os.listdir(HERE) if f.endswith('.cmd'))
    failed = 0
    print(f'1..{len(names)}')
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(program, os.path.join(folder, 'warpscope'))
        dumps = os.path.join(folder, 'dumps')
        build_dumps(root, dumps, names)
        environment = {**os.environ, 'PATH': folder + os.pathsep + os.environ['PATH'], 'DUMPS': dumps, 'LC_ALL': 'C',
                       'TZ': 'UTC'}
        environment.pop('NO_COLOR', None)
        for number, name in enumerate(names, 1):
            path = os.path.join(HERE, name + '.out')
            got = output_of(command_of(name), root, environment)
            if update:
                with open(path, 'w', encoding='utf-8') as out:
                    out.write(got)
            expected = ''
            if os.path.exists(path):
                with open(path, encoding='utf-8') as out:
                    expected = out.read()
            if got == expected:
                print(f'ok {number} - {name}')
                continue
            failed += 1
            print(f'not ok {number} - {name}')
            for line in difflib.unified_diff(expected.splitlines(), got.splitlines(), 'expected', 'got', lineterm=''):
                print(f'# {line}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
