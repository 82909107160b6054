#!/usr/bin/env python3
"""make demo: short, true about the dumps, and at its end a program of the CUDA API that fails on the software GPU and is explained.
Prints TAP.

usage: test_demo.py DEMO.SH WARPSCOPE PROGRAM DUMP...
"""
import os
import subprocess
import sys

from processes import PATIENCE

MOST_LINES = 57  # make says two more: that packages are installed and that the program is built


def main():
    demo, warpscope, program, *dumps = map(os.path.abspath, sys.argv[1:])
    top = os.path.dirname(os.path.dirname(demo))
    done = subprocess.run([demo, warpscope, program, *(os.path.relpath(dump, top) for dump in dumps)], cwd=top, capture_output=True, text=True,
                          timeout=PATIENCE, check=False)
    said, lines = done.stdout + done.stderr, done.stdout.splitlines()
    wanted = ['Illegal memory access in kernel `store` at `driver.cu:30`', 'just past the end of the 4096 bytes', 'What to try next']
    lost = [text for text in wanted if text not in said]
    first = [subprocess.run([warpscope, dump], capture_output=True, text=True, check=True).stdout.splitlines()[0] for dump in dumps]
    end = [line.split()[0] for line in lines[-6:] if line]
    cases = [('a program without a GPU fails, and is explained', done.returncode == 0 and not lost, lost + said.splitlines()[:20]),
             ('every example dump is shown by its verdict', all('* ' + line in lines for line in first), first),
             (f'it has at most {MOST_LINES} lines', len(lines) <= MOST_LINES, [len(lines)]),
             ('it ends with what was shown and three commands', end == ['Shown:', 'Next:'] + [warpscope] * 3, end)]
    print(f'1..{len(cases)}')
    for number, (name, good, facts) in enumerate(cases, 1):
        print(f'{"ok" if good else "not ok"} {number} - {name}')
        for fact in [] if good else facts:
            print(f'# {fact}')
    return 0 if all(good for _, good, _ in cases) else 1


if __name__ == '__main__':
    sys.exit(main())
