#!/usr/bin/env python3
"""Writing a dump again against `cp` of the result: write.py WARPSCOPE DUMP...

Alternating runs, each as a process of its own, warm cache, wall time (who writes has a second thread), the shortest of 15 on both
sides; the floor is `cp`, which copies the same bytes. At most three times that of cp, and memory of its own (RssAnon) that does not
grow with the dump.
"""

import os
import subprocess
import sys
import tempfile
import time

ROUNDS, TIMES, MEMORY_KIB = 15, 3, 32 * 1024


def seconds_of(*command):
    start = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        sys.exit(f"{command[0]}: status {done.returncode}")
    return time.monotonic() - start


def memory_of(*command):
    """The most private memory in KiB that a command was seen with, in a run that nobody times."""
    most = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
        while running.poll() is None:
            try:
                with open(f"/proc/{running.pid}/status", encoding="ascii") as status:
                    for line in status:
                        if line.startswith("RssAnon:"):
                            most = max(most, int(line.split()[1]))
            except OSError:
                pass
            time.sleep(0.002)
    return most


def measure(program, dump, folder):
    out, copy = os.path.join(folder, "out"), os.path.join(folder, "copy")
    strip = program, "strip", "-o", out, dump
    memory = memory_of(*strip)
    ours, floor = [], []
    for _ in range(ROUNDS):
        os.unlink(out)
        ours.append(seconds_of(*strip))
        floor.append(seconds_of("cp", "--reflink=never", out, copy))
        os.unlink(copy)
    ours, floor = min(ours), min(floor)
    size = os.path.getsize(out)
    print(f"write  {os.path.basename(dump)}: {size / 1e6:.0f} MB")
    print(f"  speed     {ours * 1e3:.0f} ms, {size / ours / 1e6:.0f} MB/s; cp {floor * 1e3:.0f} ms; {ours / floor:.2f}x (at most {TIMES})  "
          f"{'good' if ours <= TIMES * floor else 'TOO SLOW'}")
    print(f"  memory    {memory / 1024:.1f} MiB of its own (at most {MEMORY_KIB // 1024})  "
          f"{'good' if 0 < memory <= MEMORY_KIB else 'TOO MUCH'}")


def main(arguments):
    program, dumps = arguments[0], arguments[1:]
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(dumps[0]))) as folder:
        for dump in dumps:
            measure(program, dump, folder)


if __name__ == "__main__":
    main(sys.argv[1:])
