#!/usr/bin/env python3
"""Writing a dump again against `cp` of the result: write.py WARPSCOPE DUMP...

Alternating runs, each as a process of its own, warm cache, wall time, medians of 5; the floor is `cp`, which copies the same
bytes. Asked for: at least half the speed of cp (told when missed), and memory of its own (RssAnon) that does not grow with the
dump (fails when missed).
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS, SPEED, MEMORY_KIB = 5, 0.5, 32 * 1024


def run(*command):
    """(seconds, most private memory in KiB seen) of a command."""
    start, most = time.monotonic(), 0
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while running.poll() is None:
        try:
            with open(f"/proc/{running.pid}/status", encoding="ascii") as status:
                for line in status:
                    if line.startswith("RssAnon:"):
                        most = max(most, int(line.split()[1]))
        except OSError:
            pass
        time.sleep(0.002)
    if running.returncode:
        sys.exit(f"{command[0]}: status {running.returncode}")
    return time.monotonic() - start, most


def measure(program, dump, folder):
    out, copy = os.path.join(folder, "out"), os.path.join(folder, "copy")
    ours, floor, memory = [], [], 0
    for _ in range(ROUNDS):
        for old in (out, copy):
            if os.path.exists(old):
                os.unlink(old)
        seconds, most = run(program, "strip", "-o", out, dump)
        ours.append(seconds)
        memory = max(memory, most)
        floor.append(run("cp", "--reflink=never", out, copy)[0])
    ours, floor = statistics.median(ours), statistics.median(floor)
    size = os.path.getsize(out)
    missed = [what for what, is_missed in (("speed", floor / ours < SPEED), ("memory", memory > MEMORY_KIB)) if is_missed]
    print(f"write  {os.path.basename(dump)}: {size / 1e6:.0f} MB in {ours * 1e3:.0f} ms, {size / ours / 1e6:.0f} MB/s; "
          f"cp {floor * 1e3:.0f} ms; {floor / ours:.2f} of its speed (asked for {SPEED}); "
          f"{memory / 1024:.1f} MiB of its own{'  MISSED: ' + ', '.join(missed) if missed else ''}")
    return "memory" not in missed


def main(arguments):
    program, dumps = arguments[0], arguments[1:]
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(dumps[0]))) as folder:
        return 0 if all([measure(program, dump, folder) for dump in dumps]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
