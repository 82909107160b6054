#!/usr/bin/env python3
"""Line maps: ours against libdw, and how ours scale. usage: line.py BUILD [--smoke]

Each figure is the best of RUNS processes, ours and libdw's in turn, in CPU time.
"""
import os
import subprocess
import sys

RUNS = 5
ROWS = 600000
KERNELS = 1000


def measure(program, *args):
    done = subprocess.run([program, *map(str, args)], capture_output=True, text=True, check=True)
    return {key: float(value) for key, value in (line.split() for line in done.stdout.splitlines())}


def best(answers):
    return {key: min(answer[key] for answer in answers) for key in answers[0]}


def both(ours, libdw, *args):
    """The best of both sides; runs alternate, so that both see the same machine."""
    mine, theirs = [], []
    for _ in range(RUNS):
        mine.append(measure(ours, *args))
        if libdw:
            theirs.append(measure(libdw, *args))
    return best(mine), best(theirs) if theirs else None


def show(what, mine, theirs, unit, limit):
    if theirs is None:
        print(f'  {what:15} ours {mine:10.3f} {unit}  SKIP: no libdw')
        return
    ratio = mine / theirs
    verdict = 'good' if ratio <= limit else 'TOO SLOW' if unit != 'MiB' else 'TOO MUCH'
    print(f'  {what:15} libdw {theirs:10.3f} {unit}  ours {mine:10.3f} {unit}  ratio {ratio:6.3f}  '
          f'(at most {limit}) {verdict}')


def main():
    build = sys.argv[1]
    smoke = '--smoke' in sys.argv
    subprocess.run(['ninja', '-C', build, 'bench/bench-line'], check=True, stdout=subprocess.DEVNULL)
    libdw = os.path.join(build, 'bench', 'line-libdw')
    built = subprocess.run(['ninja', '-C', build, 'bench/line-libdw'], check=False, capture_output=True)
    if built.returncode:
        libdw = None
    ours = os.path.join(build, 'bench', 'bench-line')
    print(f'line map of {ROWS} rows')
    mine, theirs = both(ours, libdw, 'decode', ROWS, 1)
    show('line-decode', mine['seconds'] * 1e3, theirs and theirs['seconds'] * 1e3, 'ms', 0.2)
    show('line-memory', mine['mib'], theirs and theirs['mib'], 'MiB', 0.3)
    for question in ('lookup', 'hot'):
        mine, theirs = both(ours, libdw, question, ROWS)
        if theirs and mine['sum'] != theirs['sum']:
            sys.exit('line.py: the two sides answer differently')
        show('line-' + question, mine['nanoseconds'], theirs and theirs['nanoseconds'], 'ns', 0.05)
    print(f'  line-floor      {mine["floor_nanoseconds"]:.3f} ns to look at the positions of line-hot without finding them')
    first = best([measure(ours, 'first', ROWS, KERNELS) for _ in range(RUNS)])
    ratio = first['seconds'] / first['rest_seconds']
    print(f'  line-first      {first["seconds"] * 1e3:.3f} ms of {first["rest_seconds"] * 1e3:.3f} ms for all of {KERNELS} kernels'
          f'  ratio {ratio:6.3f}  (at most 0.02) {"good" if ratio <= 0.02 else "TOO SLOW"}')
    for rows in () if smoke else (10000, 100000, 1000000, 5000000):
        one = best([measure(ours, 'decode', rows, 1) for _ in range(RUNS)])
        print(f'  {rows:8} rows   {one["seconds"] * 1e3:9.3f} ms  {one["seconds"] * 1e9 / rows:6.1f} ns a row  '
              f'{one["bytes"] / one["seconds"] / 1e6:6.0f} MB/s  {one["mib"]:7.1f} MiB')


if __name__ == '__main__':
    main()
