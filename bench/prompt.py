#!/usr/bin/env python3
"""The prompt: prompt.py PROGRAM FEW MANY FULL

FEW and MANY are dumps with about 1,000 and 100,000 functions, FULL is one of full size (gen_huge.py). All times are CPU time of
one process; the two sides alternate, and the shortest of ROUNDS counts.

complete  the time of one completion of a function's name among MANY, by scripts that ask N times and twice as often, against the same
          among FEW: at most twice, which a search that halves needs for 100 times as many names (1.7), and one that looks at each
          of them misses by far.
start     opening FULL in the prompt, which then ends, against its report: at most 2.
"""

import os
import re
import subprocess
import sys
import tempfile

from seconds import cpu

ROUNDS, N, RATIO, START = 7, 20000, 2, 2


def names(program, dump):
    """How many functions there are, and the beginning of the name of one in the middle, which few share."""
    done = subprocess.run([program, "shell", "--batch", "-ex", "info functions", dump], capture_output=True, text=True, check=True)
    found = done.stdout.split("All defined functions:\n")[1].splitlines()
    return len(found), re.match(r"\w*?_\d+", found[len(found) // 2]).group(0)


def complete(program, dumps, folder):
    """Seconds of one completion among the functions of each dump, and how many they are."""
    scripts, counts = [], []
    for dump in dumps:
        count, name = names(program, dump)
        counts.append(count)
        for times in (N, 2 * N):
            scripts.append((dump, os.path.join(folder, f"{len(scripts)}")))
            with open(scripts[-1][1], "w", encoding="utf-8") as file:
                file.write(f"complete disas {name}\n" * times)
    least = [min(times) for times in zip(*([cpu(program, "shell", "--batch", "-x", script, dump) for dump, script in scripts]
                                           for _ in range(ROUNDS)))]
    return [(least[2 * i + 1] - least[2 * i]) / N for i in range(len(dumps))], counts


def main():
    program, few, many, full = sys.argv[1:5]
    with tempfile.TemporaryDirectory() as folder:
        (small, large), counts = complete(program, (few, many), folder)
    ratio = large / small
    print(f"  complete  among {counts[1]} functions {large * 1e6:.2f} us, among {counts[0]} {small * 1e6:.2f} us; {ratio:.2f}x (at most {RATIO})  "
          f"{'good' if ratio <= RATIO else 'TOO SLOW'}")
    pairs = [(cpu(program, "shell", "--batch", full), cpu(program, "report", full)) for _ in range(ROUNDS)]
    ours, floor = (min(times) for times in zip(*pairs))
    ratio = ours / floor
    print(f"  start     of the prompt {ours * 1e3:.0f} ms, the report {floor * 1e3:.0f} ms; {ratio:.2f}x (at most {START})  "
          f"{'good' if ratio <= START else 'TOO SLOW'}")


main()
