# SPDX-License-Identifier: Apache-2.0
"""exec and trigger as programs, with tests/cli/exec/program.py in the place of one that uses CUDA: what the tests of them share."""

import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time


class Bench:
    def __init__(self, program, root, folder):
        self.program, self.root, self.folder = os.path.abspath(program), os.path.abspath(root), folder
        self.double = [sys.executable, os.path.join(self.root, 'tests/cli/exec/program.py')]
        self.n = 0
        self.plain = {k: v for k, v in os.environ.items() if not re.match('CUDA_|SLURM_|OMPI_|PMI|RANK|WORLD_SIZE|TORCHELASTIC', k)}

    def dumps(self):
        self.n += 1
        return os.path.join(self.folder, f'dumps-{self.n}')

    def words(self, dumps, *options, what=()):
        return [self.program, 'exec', '--dumps', dumps, *options, '--', *self.double, *what]

    def run(self, *what, options=(), dumps=None, env=None, **more):
        """What exec did, and the folder of the job."""
        dumps = dumps or self.dumps()
        done = subprocess.run(self.words(dumps, *options, what=what), capture_output=True, check=False, timeout=60,
                              env={**self.plain, **(env or {})}, **more)
        jobs = glob.glob(os.path.join(dumps, '*'))
        return done, jobs[0] if len(jobs) == 1 else None

    def shell(self, script, *words, options=(), dumps=None, env=None, **more):
        """What exec did with a script of the shell."""
        return subprocess.run([self.program, 'exec', '--dumps', dumps or self.dumps(), *options, '--', 'sh', '-c', script, *words],
                              capture_output=True, check=False, timeout=60, env={**self.plain, **(env or {})}, **more)

    def start(self, *what, options=(), env=None, dumps=None, **more):
        mark = f'exec-test-{os.getpid()}-{self.n}'
        self.n += 1
        process = subprocess.Popen(self.words(dumps or self.dumps(), *options, what=what), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**self.plain, **(env or {}), 'EXEC_TEST_MARK': mark}, **more)
        process.mark = mark
        return process

    def triage(self, *paths):
        done = subprocess.run([self.program, 'triage', '--jsonl', *paths], capture_output=True, check=False, timeout=60)
        return [json.loads(line) for line in done.stdout.splitlines()]


def expect(condition, what):
    if not condition:
        raise AssertionError(str(what)[:3000])


def marked(mark):
    """Processes with that mark in their environment."""
    found = []
    for path in glob.glob('/proc/[0-9]*/environ'):
        try:
            with open(path, 'rb') as file:
                if f'EXEC_TEST_MARK={mark}'.encode() in file.read().split(b'\0'):
                    found.append(int(path.split('/')[2]))
        except OSError:
            pass
    return found


def gone_within(mark, seconds):
    end = time.monotonic() + seconds
    while marked(mark) and time.monotonic() < end:
        time.sleep(0.02)
    left = marked(mark)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return left


def command_of(pid):
    with open(f'/proc/{pid}/cmdline', 'rb') as file:
        return file.read().decode(errors='replace').split('\0')


def record_of(folder):
    lines = []
    for path in glob.glob(os.path.join(folder, 'exec_*.jsonl')):
        with open(path, 'rb') as file:
            lines += [json.loads(line) for line in file.read().splitlines()]
    return lines


def files_of(pid):
    try:
        return [os.readlink(path) for path in glob.glob(f'/proc/{pid}/fd/*')]
    except OSError:
        return []


def children_of(pid):
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as file:
        return [int(word) for word in file.read().split()]


def main(cases):
    """Runs the cases, or those whose names contain the third word; an exit status."""
    program, root = sys.argv[1:3]
    chosen = [case for case in cases if len(sys.argv) < 4 or sys.argv[3] == '--all' or sys.argv[3] in case.__name__]
    print(f'1..{len(chosen)}')
    failed = 0
    folder = tempfile.mkdtemp()
    try:
        bench = Bench(program, root, folder)
        for number, case in enumerate(chosen, 1):
            name, skipped = case.__name__.replace('_', ' '), None
            try:
                skipped = case(bench)
            except (AssertionError, subprocess.SubprocessError, OSError, ValueError, KeyError) as wrong:
                failed += 1
                print(f'not ok {number} - {name}\n# ' + f'{type(wrong).__name__}: {wrong}'.replace('\n', '\n# '))
                continue
            print(f'ok {number} - {name}' + (f' # SKIP {skipped}' if skipped else ''))
    finally:
        shutil.rmtree(folder)
    return 1 if failed else 0
