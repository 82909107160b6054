#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""exec in front of and behind real launchers, as far as they are installed: torchrun (python3-torch), mpirun (openmpi-bin), srun with a Slurm
of one node. tests/cli/exec/program.py plays the program that uses CUDA. Prints TAP.

usage: test_launchers.py PROGRAM SOURCE_ROOT
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

RANKS = 4
# torch 1.13 as Debian 12 has it does not start with Python 3.11 and the defaults of these.
REDIRECT = ['--redirects', '1', '--tee', '1']


class Bench:
    def __init__(self, program, root, folder):
        self.program, self.folder, self.n = os.path.abspath(program), folder, 0
        self.root = os.path.abspath(root)
        self.double = [sys.executable, os.path.join(self.root, 'tests/cli/exec/program.py')]
        self.plain = {k: v for k, v in os.environ.items() if not re.match('CUDA_|SLURM_|OMPI_|PMI|RANK|WORLD_SIZE|TORCHELASTIC', k)}

    def exec(self, *options):
        return [self.program, 'exec', '--dumps', os.path.join(self.folder, f'dumps-{self.n}'), *options, '--']

    def run(self, words, **env):
        self.n += 1
        done = subprocess.run(words, capture_output=True, check=False, timeout=120, cwd=self.folder, env={**self.plain, **env})
        jobs = glob.glob(os.path.join(self.folder, f'dumps-{self.n - 1}', '*'))
        return done, jobs

    def triage(self, job):
        done = subprocess.run([self.program, 'triage', '--jsonl', job], capture_output=True, check=False, timeout=60)
        return [json.loads(line) for line in done.stdout.splitlines()]


def expect(condition, what):
    if not condition:
        raise AssertionError(str(what)[:3000])


def all_ranks(bench, done, jobs, source):
    expect(len(jobs) == 1, (jobs, done))
    records = bench.triage(jobs[0])
    expect(sorted(r['rank'] if r['rank'] is not None else -1 for r in records) == list(range(RANKS)), (records, done))
    expect({r['rank_from'] for r in records} == {source} and {r['status'] for r in records} == {'read'}, records)
    expect({r['ranks'] for r in records} == {RANKS}, records)


def torchrun_below(bench):
    """warpscope exec torchrun: the record tells the ranks."""
    launcher = ['torchrun', *REDIRECT, '--standalone', '--nproc_per_node', str(RANKS), '--no_python']
    done, jobs = bench.run([*bench.exec(), *launcher, *bench.double, 'faults', str(RANKS)])
    expect(done.returncode == 1 and b'GPU dumps' in done.stderr, done)
    all_ranks(bench, done, jobs, 'exec')


def torchrun_above(bench):
    """torchrun warpscope exec: the rank is in the names, and all ranks share a folder."""
    launcher = ['torchrun', *REDIRECT, '--standalone', '--nproc_per_node', str(RANKS), '--no_python']
    done, jobs = bench.run([*launcher, *bench.exec('--job', 'one'), *bench.double, 'faults', str(RANKS)])
    expect(done.returncode == 1, done)
    all_ranks(bench, done, jobs, 'name')


def torchrun_restarts(bench):
    """Dumps of two attempts are two jobs."""
    launcher = ['torchrun', *REDIRECT, '--standalone', '--nproc_per_node', '1', '--max_restarts', '1', '--no_python']
    done, jobs = bench.run([*bench.exec(), *launcher, *bench.double, 'faults', '1'])
    records = bench.triage(jobs[0])
    expect({(r['rank'], r['job']) for r in records} == {(0, None), (0, 'attempt 1')} and len(records) == 2, (records, done))


def mpirun_above(bench):
    words = ['mpirun', '--allow-run-as-root', '--oversubscribe', '-n', str(RANKS), *bench.exec(), *bench.double, 'faults', str(RANKS)]
    done, jobs = bench.run(words)
    expect(done.returncode != 0, done)
    all_ranks(bench, done, jobs, 'name')


def mpirun_below(bench):
    words = [*bench.exec(), 'mpirun', '--allow-run-as-root', '--oversubscribe', '-n', str(RANKS), *bench.double, 'faults', str(RANKS)]
    done, jobs = bench.run(words)
    expect(done.returncode != 0, done)
    all_ranks(bench, done, jobs, 'exec')


def mpirun_passes_the_status(bench):
    """A rank that ends with a status, and one that a signal ends, look as without exec."""
    for what, words in (('say 7 x', b'exit status 7|Exit code: +7|non-zero status|exit code 7'), ('fault', b'signal 6')):
        without = bench.run(['mpirun', '--allow-run-as-root', '-n', '1', *bench.double, *what.split()])[0]
        within = bench.run(['mpirun', '--allow-run-as-root', '-n', '1', *bench.exec(), *bench.double, *what.split()])[0]
        expect(without.returncode == within.returncode and re.search(words, within.stderr + within.stdout) is not None or
               re.search(words, without.stderr + without.stdout) is None, (without, within))


NEEDS = {torchrun_below: 'torchrun', torchrun_above: 'torchrun', torchrun_restarts: 'torchrun', mpirun_above: 'mpirun', mpirun_below: 'mpirun',
         mpirun_passes_the_status: 'mpirun'}


def main():
    program, root = sys.argv[1:3]
    failed = 0
    print(f'1..{len(NEEDS)}')
    folder = tempfile.mkdtemp()
    try:
        bench = Bench(program, root, folder)
        for number, (case, needs) in enumerate(NEEDS.items(), 1):
            name = case.__name__.replace('_', ' ')
            if not shutil.which(needs):
                print(f'ok {number} - {name} # SKIP there is no {needs}')
                continue
            try:
                case(bench)
                print(f'ok {number} - {name}')
            except (AssertionError, subprocess.SubprocessError, OSError, ValueError, KeyError, IndexError) as wrong:
                failed += 1
                print(f'not ok {number} - {name}\n# ' + f'{type(wrong).__name__}: {wrong}'.replace('\n', '\n# '))
    finally:
        shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
