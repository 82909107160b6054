#!/usr/bin/env python3
"""The last part of make demo: a program of the CUDA API fails on the software GPU, and is explained. Prints TAP.

usage: test_demo.py DEMO.SH WARPSCOPE PROGRAM
"""
import os
import subprocess
import sys

from processes import PATIENCE

demo, warpscope, program = map(os.path.abspath, sys.argv[1:4])
top = os.path.dirname(os.path.dirname(demo))
said = subprocess.run([demo, warpscope, program], cwd=top, capture_output=True, text=True, timeout=PATIENCE, check=False)
wanted = ['Illegal memory access in kernel `store` at `driver.cu:30`', 'just past the end of the 4096 bytes', 'What to try next']
lost = [text for text in wanted if text not in said.stdout + said.stderr]
good = said.returncode == 0 and not lost
print('1..1')
print(f'{"ok" if good else "not ok"} 1 - a program without a GPU fails, and is explained')
if not good:
    print(''.join(f'# {line}\n' for line in [*lost, *(said.stdout + said.stderr).splitlines()[:20]]), end='')
sys.exit(not good)
