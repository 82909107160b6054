#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A memory snapshot of PyTorch of 300,000 events, as Python and as the writer in C++ makes them: snapshot.py PROGRAM DUMP

CPU time of `report --memory-snapshot` against Python's pickle.load of the same file, without its garbage collector: at most LIMIT times. The two
alternate, and the shortest of ROUNDS counts.
"""

import os
import random
import sys
import tempfile

from seconds import cpu

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/builders"))
import snapshots  # noqa: E402  pylint: disable=wrong-import-position

ROUNDS, LIMIT, EVENTS = 5, 0.8, 300000
LOAD = "import gc, pickle, sys; gc.disable(); pickle.load(open(sys.argv[1], 'rb'))"


def made():
    rng = random.Random(1)
    value = snapshots.example()
    stacks = [[snapshots.frame(f"/opt/m{i % 50}.py", rng.randrange(2000), f"f{rng.randrange(500)}") for _ in range(20)] for i in range(2000)]
    actions = ("alloc", "free_requested", "free_completed")
    value["device_traces"].append([
        snapshots.event(actions[i % 3], 0x7e0000000000 + rng.randrange(1 << 24) * 512, rng.randrange(1 << 22), 1751371190000000 + i,
                        stacks[rng.randrange(len(stacks))]) for i in range(EVENTS)])
    return value


def main():
    program, dump = sys.argv[1:3]
    value = made()
    for name, write in (("Python's", snapshots.python_pickle), ("C++'s", snapshots.cpp_pickle)):
        with tempfile.NamedTemporaryFile(suffix=".pickle") as file:
            size = file.write(write(value))
            file.flush()
            report = [program, "report", dump, "--brief", "--no-source", "--memory-snapshot", file.name]
            pairs = [(cpu(*report), cpu(sys.executable, "-c", LOAD, file.name)) for _ in range(ROUNDS)]
        ours, floor = (min(times) for times in zip(*pairs))
        print(f"  snapshot  {name}, {size / 1e6:.0f} MB: {ours * 1e3:.0f} ms, {size / ours / 1e6:.0f} MB/s; pickle.load {floor * 1e3:.0f} ms; "
              f"{ours / floor:.2f}x (at most {LIMIT})  {'good' if ours <= LIMIT * floor else 'TOO SLOW'}", flush=True)


main()
