#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The module of warpscope.html: page.py WARPSCOPE SOURCE_ROOT PAGE DUMP

page  the report of a dump as HTML, by the module in Node, against the program: CPU time, at most 3 times, and the most memory, at most
      1.5 times, each without what starting takes (`--version`; a Node with the module). The shortest of ROUNDS.
"""
import json
import os
import subprocess
import sys

CPU_LIMIT, MEMORY_LIMIT, ROUNDS = 3, 1.5, 3


def peak_of(pid):
    with open(f'/proc/{pid}/status', encoding='ascii') as file:
        return next(int(line.split()[1]) for line in file if line.startswith('VmHWM')) / 1024


def native(program, *words):
    """CPU seconds, MiB at most."""
    with subprocess.Popen([program, *words], stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def module(root, page, dump):
    command = ['node', '--no-experimental-fetch', os.path.join(root, 'tests/page/ask.js'), os.path.join(page, 'build/page'),
               os.path.join(root, 'page/engine.js')]
    folder, name = os.path.split(os.path.abspath(dump))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as node:
        def call(**request):
            node.stdin.write(json.dumps(request) + '\n')
            node.stdin.flush()
            return json.loads(node.stdout.readline())

        call(folder=folder, names=[name])
        start = peak_of(node.pid)
        opened = call(open=name)
        report = call(words=['report', name, '--no-source', '--format', 'html'])
        if not opened['opened'] or report['status']:
            sys.exit(f'{dump}: {report}')
        return opened['cpu'] + report['cpu'], peak_of(node.pid) - start


def main(program, root, page, dump):
    words = ('report', dump, '--no-source', '--format', 'html')
    floor = [min(native(program, '--version')[i] for _ in range(ROUNDS)) for i in range(2)]
    theirs = [min(native(program, *words)[i] for _ in range(ROUNDS)) - floor[i] for i in range(2)]
    runs = [module(root, page, dump) for _ in range(ROUNDS)]
    ours = [min(run[i] for run in runs) for i in range(2)]
    for i, (unit, limit, bad) in enumerate((('s', CPU_LIMIT, 'TOO SLOW'), ('MiB', MEMORY_LIMIT, 'TOO MUCH'))):
        print(f'  page      {os.path.basename(dump)}: {ours[i]:.2f} {unit}; the program {theirs[i]:.2f} {unit}; {ours[i] / theirs[i]:.2f}x '
              f'(at most {limit})  {"good" if ours[i] <= limit * theirs[i] else bad}', flush=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
