#!/usr/bin/env python3
"""One variable in all lanes: lanes.py PROGRAM DUMP

DUMP has code of -G and all lanes in its kernel (gen_huge.py --debug). `print --lanes` of a parameter, of a variable that is in a register
where it is live (46,000 values that differ), and of threadIdx, against `info threads` of the same dump: at most LIMIT times its CPU time. The
two alternate, and the shortest of ROUNDS counts.
"""

import json
import subprocess
import sys

from seconds import cpu

ROUNDS, LIMIT = 7, 4


def main():
    program, dump = sys.argv[1:3]
    for text in ("step", "total", "threadIdx.x"):
        command = [program, "print", "--lanes", dump, text, "kernel", "0"]
        lanes = json.loads(subprocess.run([*command, "--json"], capture_output=True, check=True).stdout)["lanes"]
        pairs = [(cpu(*command), cpu(program, "info", dump, "threads")) for _ in range(ROUNDS)]
        ours, floor = (min(times) for times in zip(*pairs))
        ratio = ours / floor
        print(f"  lanes     {text} of {lanes} lanes {ours * 1e3:.0f} ms, info threads {floor * 1e3:.0f} ms; {ratio:.2f}x (at most {LIMIT})  "
              f"{'good' if ratio <= LIMIT else 'TOO SLOW'}")


main()
