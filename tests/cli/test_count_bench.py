#!/usr/bin/env python3
"""Every benchmark runs, whatever the others do, and every limit counts. Prints TAP.

usage: test_count_bench.py SOURCE_ROOT
"""
import os
import shutil
import subprocess
import sys
import tempfile

# What stands in for the benchmarks: in the build's folder, and beside run.sh.
PROGRAMS = ('cubin-lookup', 'bench-core', 'bench-info', 'bench-report', 'bench-cudbg', 'bench-sass', 'bench-sim', 'bench-step', 'bench-live',
            'bench-back', 'bench-driver', 'bench-wire')
SCRIPTS = ('line.py', 'dwarf.py', 'sass.py', 'snapshot.py', 'write.py', 'beside.py', 'lanes.py', 'log.py', 'triage.py')
LINES = (('  open       floor 1 ms  ours 1 ms  ratio 1.00  (at most 2) good\n', (1, 0, 0)),
         ('  look-up    floor 1 ns  ours 11 ns  ratio 11.00  (at most 10) TOO SLOW\n', (0, 1, 0)),
         ('  memory    99.0 MiB of its own (at most 32)  TOO MUCH\n', (0, 1, 0)),
         ('  dwarf-read      ours 1 ms  SKIP: no libdw\n', (0, 0, 1)),
         ('  bench-core  FAILED: status 1\n', (0, 1, 0)),
         ('  mute       4.2 of cp (at most 2)\n', (0, 1, 0)),
         ('  again      4.2 of cp (at most 2)  slow, once more:\n', (0, 0, 0)),
         ('  close      1.187 ms\n', (0, 0, 0)))


def counted(tool, text, folder):
    """(exit status, counts) of count-bench for this output of run.sh."""
    path = os.path.join(folder, 'counts')
    done = subprocess.run([sys.executable, tool, '--counts', path], input=text, capture_output=True, text=True, check=False)
    with open(path, encoding='utf-8') as handle:
        counts = tuple(int(n) for n in handle.read().split())
    os.unlink(path)
    return done.returncode, counts


def stand_in(path, line, status):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as out:
        out.write(f'#!/bin/sh\necho "  {os.path.basename(path)} {line}"\nexit {status}\n')
    os.chmod(path, 0o755)


def run_all(root, folder, ill):
    """What run.sh writes where the benchmarks named in `ill` end early."""
    bench, build = os.path.join(folder, 'bench'), os.path.join(folder, 'build')
    for name in PROGRAMS:
        stand_in(os.path.join(build, 'bench', name), *(('', 3) if name in ill else ('good', 0)))
    for name in SCRIPTS:
        stand_in(os.path.join(bench, name), *(('', 3) if name in ill else ('good', 0)))
    stand_in(os.path.join(folder, 'path', 'ninja'), '', 0)
    shutil.copy(os.path.join(root, 'bench', 'run.sh'), bench)
    os.makedirs(os.path.join(build, 'bench', 'dumps'), exist_ok=True)
    for name in ('270k', '270k-G', 'memory', 'functions'):
        with open(os.path.join(build, 'bench', 'dumps', name + '.nvcudmp'), 'wb'):
            pass
    path = os.path.join(folder, 'path') + os.pathsep + os.environ['PATH']
    return subprocess.run([os.path.join(bench, 'run.sh'), build, '--smoke'], capture_output=True, text=True, check=False,
                          env={**os.environ, 'PATH': path}).stdout


def main():
    root = os.path.abspath(sys.argv[1])
    tool = os.path.join(root, 'tools', 'count-bench.py')
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for line, wanted in LINES:
            status, counts = counted(tool, line, folder)
            results.append((line.split('  ')[1], counts == wanted and status == (0 if wanted[0] else 1)))
        status, counts = counted(tool, ''.join(line for line, _ in LINES), folder)
        results.append(('a limit that is kept does not make up for one that is not', (status, counts) == (1, (1, 4, 1))))
        n = len(PROGRAMS) + len(SCRIPTS) + 1 # bench-cudbg runs twice
        results.append(('all benchmarks run', counted(tool, run_all(root, folder, ()), folder) == (0, (n, 0, 0))))
        for start in (0, 1):
            ill = (PROGRAMS + SCRIPTS)[start::2]
            times = len(ill) + ('bench-cudbg' in ill)
            found = counted(tool, run_all(root, folder, ill), folder)
            results.append((f'all others run where {" ".join(ill)} end early', found == (1, (n - times, times, 0))))
    print(f'1..{len(results)}')
    for number, (name, good) in enumerate(results, 1):
        print(f'{"ok" if good else "not ok"} {number} - {name}')
    return 0 if all(good for _, good in results) else 1


if __name__ == '__main__':
    sys.exit(main())
