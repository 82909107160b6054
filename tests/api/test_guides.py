#!/usr/bin/env python3
"""The guides of the library say what is so: their programs build as they stand there and print what is shown; what they show of an
example is in it. Prints TAP.

usage: test_guides.py SOURCE_ROOT BUILD PROGRAM FATBIN CC... [--update]       PROGRAM: launches a kernel for each line that it reads

A block of C that begins with the name of a file is that file; any other is a part of the example that the page links. A block of
the console has commands and what they print; with --update, what they print now is written there.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../cli'))
from tap import tell

UPDATE = '--update' in sys.argv
ROOT, BUILD, PROGRAM, FATBIN = map(os.path.abspath, sys.argv[1:5])
CC = [word for word in sys.argv[5:] if word != '--update']
GUIDES = ('first-tool', 'first-live-client')
PATIENCE = 60


def read(*path):
    with open(os.path.join(ROOT, *path), encoding='utf-8') as file:
        return file.read()


def blocks(text, language):
    return re.findall(rf'^```{language}\n(.*?)^```$', text, re.DOTALL | re.MULTILINE)


class Desk:
    """A folder where the commands of a page run, and what they find there."""

    def __init__(self, folder, text):
        self.folder = folder
        for name in ('examples', 'tests'):
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
        os.symlink(os.path.join(BUILD, 'examples/example-program'), os.path.join(folder, 'example-program'))
        for code in blocks(text, 'c'):
            name = re.match(r'/\* (\S+\.c) \*/\n', code)
            if name:
                with open(os.path.join(folder, name[1]), 'w', encoding='utf-8') as file:
                    file.write(code)
        self.flags = [f'-I{ROOT}/include', f'-I{BUILD}/include', f'-L{BUILD}/src', '-lwarpscope', f'-Wl,-rpath,{BUILD}/src',
                      '-Wall', '-Wextra', '-Wpedantic', '-Werror']
        self.environment = {**os.environ, 'PATH': BUILD + ':' + os.environ['PATH'], 'ASAN_OPTIONS': 'detect_leaks=0'}

    def run(self, command):
        """What a command prints, in words that a page has."""
        if command.startswith('cc '):
            words = shlex.split(command.split(' $(', 1)[0])
            command = shlex.join([*CC, *words[1:], *self.flags])
        if '--pid 4711' in command:
            return self.attach(command)
        done = subprocess.run(command, shell=True, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=PATIENCE,
                              check=False)
        return done.stdout + (f'status {done.returncode}: {done.stderr}' if done.returncode else '')

    def attach(self, command):
        """With a program that runs in place of that process."""
        environment = {**self.environment, 'LD_LIBRARY_PATH': os.path.join(BUILD, 'cuda')}
        with subprocess.Popen([PROGRAM, FATBIN, 'lines'], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
            program.stdout.readline()
            words = shlex.split(command.replace('4711', str(program.pid)))
            with subprocess.Popen(words, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as client:
                end = time.monotonic() + PATIENCE
                while client.poll() is None and time.monotonic() < end:
                    program.stdin.write('a line\n')
                    program.stdin.flush()
                    time.sleep(0.2)
                client.kill()
                said = client.stdout.read()
            lines, _ = program.communicate('the last line\n')
        return said + ('' if program.returncode == 0 and lines.endswith('done\n') else f'the program ended with {program.returncode}')


def commands(block):
    """Each command with what is shown below it."""
    return [(part.split('\n', 1)[0], part.split('\n', 1)[1]) for part in re.split(r'^\$ ', block, flags=re.MULTILINE)[1:]]


def of_page(name, folder):
    text = read('docs', name + '.md')
    desk = Desk(folder, text)
    for block in blocks(text, 'console'):
        now = ''
        for command, shown in commands(block):
            said = desk.run(command)
            now += f'$ {command}\n{said}'
            yield f'{name}: {command}', UPDATE or said == shown, said
        if UPDATE:
            text = text.replace(block, now)
    if UPDATE:
        with open(os.path.join(ROOT, 'docs', name + '.md'), 'w', encoding='utf-8') as file:
            file.write(text)
    example = re.search(r'`(examples/\S+\.c)` is the whole', text)
    for code in blocks(text, 'c'):
        if not code.startswith('/* '):
            yield f'{name}: {code.strip().splitlines()[0]}', example and code in read(example[1]), code


def variables():
    """The order in which a debugger introduces itself is that of ours."""
    told = re.findall(r'^\| \d \| `(\w+)`', read('docs/first-live-client.md'), re.MULTILINE)
    function = re.search(r'^static bool introduce_debugger.*?^}', read('src/debug/program.c'), re.DOTALL | re.MULTILINE)[0]
    done = re.findall(r'set_variable\(p, "(\w+)"', function)
    return told == done and len(done) == 6, f'{told}\n{done}'


def cases():
    for name in GUIDES:
        with tempfile.TemporaryDirectory() as folder:
            yield from of_page(name, folder)
    good, text = variables()
    yield 'variables are in the order in which our debugger writes them', good, text
    for name in ('exceptions', 'symbolize'):
        lines = len(re.search(rf'/\* {name}\.c \*/.*?^{{\n(.*?)^}}$', read('docs/first-tool.md'), re.DOTALL | re.MULTILINE)[1].splitlines())
        yield f'{name}.c is short', lines <= 20, f'{lines} lines'


if __name__ == '__main__':
    sys.exit(tell(cases()))
