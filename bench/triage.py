#!/usr/bin/env python3
"""Many dumps: triage.py WARPSCOPE DUMP [COUNT]

triage  `warpscope triage --jsonl` over COUNT links to a dump (default 2,000), wall time, against
        - COUNT times the report of it in one process, divided by the cores: the time of `--jsonl -j 1` less that of one dump (at most 1.2);
        - a shell loop of `warpscope report --json` over a sample of 50 (at least 10 times the speed, per dump and core).
memory  the greatest resident set of any of its processes, with COUNT dumps and with a tenth of them: what a dump adds.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

OVERHEAD, LOOP, PER_DUMP, SAMPLE = 1.2, 10, 512, 50


def run(*command):
    """Wall seconds of a command."""
    start = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 10):
        sys.exit(f"{' '.join(command)}: status {done.returncode}")
    return time.monotonic() - start


def most_memory(*command):
    """Bytes of the main process, at its greatest."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
    return usage.ru_maxrss * 1024


def main():
    program, dump, count = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 2000
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        few, many = os.path.join(folder, "few"), os.path.join(folder, "many")
        for where, n in ((few, count // 10), (many, count)):
            os.mkdir(where)
            first = os.path.join(where, "0.nvcudmp")
            shutil.copy(dump, first)
            for i in range(1, n):
                os.link(first, os.path.join(where, f"{i}.nvcudmp"))
        run(program, "triage", "--jsonl", few)
        one = min(run(program, "triage", "--jsonl", "-j", "1", os.path.join(few, "0.nvcudmp")) for _ in range(3))
        ours = min(run(program, "triage", "--jsonl", many) for _ in range(2))
        single = (min(run(program, "triage", "--jsonl", "-j", "1", many) for _ in range(2)) - one) / (count - 1)
        floor = single * count / cores
        loop = f'for f in "{many}"/[0-9].nvcudmp "{many}"/[1-4][0-9].nvcudmp; do "{program}" report --json "$f"; done >/dev/null'
        looped = min(run("sh", "-c", loop) for _ in range(2)) / SAMPLE * count
        grown = most_memory(program, "triage", many) - most_memory(program, "triage", few)
    print(f"  triage  {count} dumps of {os.path.getsize(dump) >> 10} kB, {cores} cores: {ours:.2f} s; in one process, by cores {floor:.2f} s; "
          f"{ours / floor:.2f}x (at most {OVERHEAD})  {'good' if ours <= OVERHEAD * floor else 'TOO SLOW'}")
    print(f"  triage  a shell loop {looped:.1f} s; {looped / ours:.1f}x the time, {looped / ours / cores:.1f}x on each core (at least "
          f"{LOOP} in all)  {'good' if looped >= LOOP * ours else 'TOO SLOW'}")
    print(f"  memory  {grown / (count - count // 10):.0f} bytes more for each dump (at most {PER_DUMP})  "
          f"{'good' if grown <= PER_DUMP * count else 'TOO MUCH'}")


if __name__ == "__main__":
    main()
