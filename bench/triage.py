#!/usr/bin/env python3
"""Many dumps: triage.py BUILD DUMP [--smoke]

triage  `warpscope triage --jsonl` over COUNT (10,000) links to a dump: CPU time of all its processes against COUNT times that of
        the report in one process (bench-report); at most 1.2. The wall time is shown beside it, by the cores, for orientation: other
        work on the machine adds to it.
loop    a shell loop of `warpscope report --json` over 50 of them, wall time for COUNT: at least 10 times as long.
smoke   2,000 dumps, and the time for orientation only: too few to tell on a machine that does other work; no memory.
memory  what the main process has at most, for COUNT dumps and for half of them, and so what a dump adds; both are
        more than one job has, whose ranks are kept.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

OVERHEAD, LOOP, PER_DUMP, SAMPLE, ROUNDS = 1.2, 10, 512, 50, 3


def run(*command):
    """(CPU seconds, wall seconds) of a command with all that it started."""
    before, start = os.times(), time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = os.times()
    if done.returncode not in (0, 10):
        sys.exit(f"{' '.join(command)}: status {done.returncode}")
    return (after.children_user + after.children_system - before.children_user - before.children_system, time.monotonic() - start)


def report_seconds(build, dump):
    """CPU seconds of opening the dump and its report, in a process that makes many."""
    done = subprocess.run([os.path.join(build, "bench", "bench-report"), dump], capture_output=True, text=True, check=True)
    return float(re.search(r"^ *report .* ours +([0-9.]+) ms", done.stdout, re.MULTILINE).group(1)) / 1e3


def most_memory(*command):
    """Bytes of the main process at its greatest, as the kernel tells while it runs."""
    most = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            try:
                with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
                    found = re.search(r"VmHWM:\s+(\d+) kB", status.read())
                most = max(most, int(found.group(1)) * 1024 if found else 0)
            except OSError:
                pass
            time.sleep(0.002)
    return most


def main():
    build, dump, smoke = sys.argv[1], sys.argv[2], "--smoke" in sys.argv
    count = 2000 if smoke else 10000
    program, cores = os.path.abspath(os.path.join(build, "warpscope")), len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        few, many = os.path.join(folder, "few"), os.path.join(folder, "many")
        for where, n in ((few, count // 2), (many, count)):
            os.mkdir(where)
            first = os.path.join(where, "0.nvcudmp")
            shutil.copy(dump, first)
            for i in range(1, n):
                os.link(first, os.path.join(where, f"{i}.nvcudmp"))
        times = [run(program, "triage", "--jsonl", many) for _ in range(ROUNDS)]
        cpu, wall = min(cpu for cpu, _ in times), min(wall for _, wall in times)
        floor = min(report_seconds(build, dump) for _ in range(ROUNDS)) * count
        loop = f'for f in "{many}"/[0-9].nvcudmp "{many}"/[1-4][0-9].nvcudmp; do "{program}" report --json "$f"; done >/dev/null'
        looped = min(run("sh", "-c", loop)[1] for _ in range(ROUNDS)) / SAMPLE * count
        least, most = (0, 0) if smoke else (most_memory(program, "triage", few), most_memory(program, "triage", many))
    added = (most - least) / (count - count // 2)
    verdict = "" if smoke else f" (at most {OVERHEAD})  {'good' if cpu <= OVERHEAD * floor else 'TOO SLOW'}"
    print(f"  triage    {count} dumps of {os.path.getsize(dump) >> 10} kB: {cpu:.2f} s of CPU; as many reports in one process {floor:.2f} s; "
          f"{cpu / floor:.2f}x{verdict}")
    print(f"  triage    wall {wall:.2f} s; reports by {cores} cores {floor / cores:.2f} s; {wall * cores / floor:.2f}x")
    print(f"  loop      wall {looped:.1f} s; {looped / wall:.0f}x (at least {LOOP})  {'good' if looped >= LOOP * wall else 'TOO SLOW'}")
    if smoke:
        return
    print(f"  memory    {least >> 10} kB for {count // 2} dumps, {most >> 10} kB for {count}: {added:.0f} bytes a dump (at most {PER_DUMP})  "
          f"{'good' if added <= PER_DUMP else 'TOO MUCH'}")


if __name__ == "__main__":
    main()
